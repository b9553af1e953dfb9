//! What tests and proofs claim to cover: comments in their sources.
//!
//! A line `// Covers: NDK-CLS-1, NDK-CLS-2` above a test of Rust, or above a named assertion of a proof, claims these
//! requirements for it. It stands with the test, so it is renamed, moved and deleted with it.

use std::ops::Range;
use std::path::Path;

use super::coverage::{Cover, Kind};
use super::error::{PlanError, Source, files};
use super::tables::Tables;
use crate::vector::Fault;

/// What makes a comment a claim.
const CLAIM: &str = "// Covers:";

/// Where tests and proofs are, and how their files end.
const PLACES: [(&str, &str); 4] = [
    ("model", ".rs"),
    ("cosim", ".rs"),
    ("testbench", ".rs"),
    ("rtl/formal", ".sv"),
];

/// All claims of a repository, each an id and what covers it.
///
/// # Errors
/// A claim of nothing known, or by nothing.
pub fn claims(root: &Path, tables: &Tables) -> Result<Vec<(String, Cover)>, PlanError> {
    let mut claims = Vec::new();
    for (place, end) in PLACES {
        let folder = root.join(place);
        if !folder.exists() {
            continue;
        }
        for path in files(&folder, &[end])? {
            let source = Source::read(&path)?;
            claims.extend(of(&source, tables)?);
        }
    }
    Ok(claims)
}

/// The claims of one file.
fn of(source: &Source, tables: &Tables) -> Result<Vec<(String, Cover)>, PlanError> {
    let lines = lines(&source.text);
    let mut claims = Vec::new();
    for (index, (span, line)) in lines.iter().enumerate() {
        let Some(ids) = line.strip_prefix(CLAIM) else {
            continue;
        };
        let wrong =
            |message: &str, help: &str| source.wrong(Fault::new(span.clone(), message).help(help));
        let (name, kind) = match source.path.extension() {
            Some(end) if end == "sv" => assertion(&lines, index).ok_or_else(|| {
                wrong(
                    "this claim is not above an assertion with a name",
                    "as `a_name: assert property`",
                )
            })?,
            _ => test(&lines, index).ok_or_else(|| {
                wrong(
                    "this claim is not above a test that runs",
                    "`#[test]` and its function must follow, not ignored",
                )
            })?,
        };
        for id in ids.split(',').map(str::trim) {
            if tables.get(id).is_none() {
                let start = span.start + line.find(id).unwrap_or_default();
                let fault = Fault::new(
                    start..start + id.len(),
                    format!("no requirement has the id `{id}`"),
                );
                let help = format!("known are {}", tables.similar(id).join(", "));
                return Err(source.wrong(fault.label("not in the plan").help(help)));
            }
            let cover = Cover {
                kind,
                name: name.into(),
                file: source.path.clone(),
                line: index + 1,
            };
            claims.push((id.to_owned(), cover));
        }
    }
    Ok(claims)
}

/// The lines of a text without the spaces around them, and where they are.
fn lines(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut start = 0;
    let line = |whole: &'_ str| whole.len() - whole.trim_start().len();
    text.split_inclusive('\n')
        .map(|whole| {
            let from = start + line(whole);
            start += whole.len();
            let trimmed = whole.trim();
            (from..from + trimmed.len(), trimmed)
        })
        .collect()
}

/// The test that a comment is part of: comments and attributes around it, then a function. With arguments it is a
/// property, tried with many of them.
fn test<'a>(lines: &[(Range<usize>, &'a str)], comment: usize) -> Option<(&'a str, Kind)> {
    let around =
        |line: &&(Range<usize>, &'a str)| line.1.starts_with("//") || line.1.starts_with("#[");
    let before = lines[..comment].iter().rev().take_while(around);
    let behind = lines[comment..].iter().take_while(around);
    let next = lines.get(comment + behind.clone().count())?.1;
    let attributes: Vec<&str> = before.chain(behind).map(|line| line.1).collect();
    if !attributes.contains(&"#[test]")
        || attributes.iter().any(|line| line.starts_with("#[ignore"))
    {
        return None;
    }
    let (name, rest) = next.strip_prefix("fn ")?.split_once('(')?;
    let kind = match rest.starts_with(')') {
        true => Kind::Test,
        false => Kind::Property,
    };
    Some((name, kind))
}

/// The assertion that a comment stands above.
fn assertion<'a>(lines: &[(Range<usize>, &'a str)], comment: usize) -> Option<(&'a str, Kind)> {
    let next = lines[comment..]
        .iter()
        .find(|line| !line.1.starts_with("//"))?
        .1;
    let (name, rest) = next.split_once(':')?;
    rest.trim_start()
        .starts_with("assert")
        .then_some((name.trim(), Kind::Proof))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Tables {
        let text = r#"
[[set]]
prefix = "WIRE-X"
about = "x"
source = "X"
rows = [[1, "wire", "provider", "one"], [2, "wire", "provider", "two"]]
"#;
        Tables::of(&[Source::new("x.toml", text)]).unwrap()
    }

    fn found(path: &str, text: &str) -> Result<Vec<String>, String> {
        let source = Source::new(path, text);
        let claims = of(&source, &tables()).map_err(|error| error.to_string())?;
        let claim = |(id, cover): (String, Cover)| {
            format!("{id} {} {} {}", cover.kind.word(), cover.name, cover.line)
        };
        Ok(claims.into_iter().map(claim).collect())
    }

    #[test]
    fn tests_properties_and_proofs_claim() {
        let test = "\n/// It works.\n// Covers: WIRE-X-1, WIRE-X-2\n#[test]\nfn works() {\n}\n";
        let expected = ["WIRE-X-1 test works 3", "WIRE-X-2 test works 3"];
        assert_eq!(found("x.rs", test).unwrap(), expected);
        let property = "#[test]\n    // Covers: WIRE-X-2\n    fn holds(x in any()) {";
        assert_eq!(
            found("x.rs", property).unwrap(),
            ["WIRE-X-2 property holds 2"]
        );
        let proof = "  // Covers: WIRE-X-1\n  a_holds: assert property (x);";
        assert_eq!(found("x.sv", proof).unwrap(), ["WIRE-X-1 proof a_holds 1"]);
    }

    #[test]
    fn claims_by_nothing_or_of_nothing_are_wrong() {
        let nothing = Err("this claim is not above a test that runs".to_owned());
        for text in [
            "// Covers: WIRE-X-1\nfn helper() {}",
            "// Covers: WIRE-X-1\n#[test]\n\nfn far() {}",
            "// Covers: WIRE-X-1\n#[test]\n#[ignore]\nfn never() {}",
            "#[test]\nfn behind() {}\n// Covers: WIRE-X-1\n",
        ] {
            assert_eq!(found("x.rs", text), nothing, "{text}");
        }
        let unknown = "// Covers: WIRE-X-3\n#[test]\nfn works() {}";
        let expected = "no requirement has the id `WIRE-X-3`".to_owned();
        assert_eq!(found("x.rs", unknown), Err(expected));
        let proof = "// Covers: WIRE-X-1\nassign x = 1;";
        let expected = "this claim is not above an assertion with a name".to_owned();
        assert_eq!(found("x.sv", proof), Err(expected));
    }
}
