//! The data file that a Verilated model writes: a line for each point, `C '<fields>' <count>`, where a field is
//! `\x01<key>\x02<value>`.

use std::fmt::Write;

use super::{Kind, Points, Spot};

/// First line of a file.
const HEADER: &str = "# SystemC::Coverage-3";
const KEY: char = '\u{1}';
const VALUE: char = '\u{2}';

/// The first line that is wrong, and why.
pub(super) type Wrong = (usize, String);

/// The points of a file.
pub(super) fn parse(text: &str) -> Result<Points, Wrong> {
    let mut points = Points::default();
    for (number, line) in lines(text)? {
        let (fields, count) = split(line).map_err(|cause| (number, cause))?;
        let spot = spot(fields).map_err(|cause| (number, cause))?;
        points.count(spot, count);
    }
    Ok(points)
}

/// The fields of each point of a file as they stand there, and its count.
pub(super) fn counts(text: &str) -> Result<Vec<(&str, u64)>, Wrong> {
    lines(text)?
        .map(|(number, line)| split(line).map_err(|cause| (number, cause)))
        .collect()
}

/// Lines with points and their numbers.
fn lines(text: &str) -> Result<impl Iterator<Item = (usize, &str)>, Wrong> {
    match text.lines().next() {
        Some(header) if header.starts_with("# SystemC::Coverage") => {}
        Some(_) => return Err((1, format!("not coverage data: expected `{HEADER}`"))),
        None => return Err((1, "the file is empty".into())),
    }
    let lines = (1..).zip(text.lines());
    Ok(lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')))
}

/// The fields of a line, and its count.
fn split(line: &str) -> Result<(&str, u64), String> {
    let rest = line.strip_prefix("C '").ok_or("expected `C '`")?;
    let (fields, count) = rest.rsplit_once("' ").ok_or("no count after the fields")?;
    let count = count.trim();
    let number = count.parse();
    number
        .map(|number| (fields, number))
        .map_err(|_| format!("`{count}` is not a count"))
}

/// What the fields of a line say.
pub(super) fn spot(fields: &str) -> Result<Spot, String> {
    let mut spot = Spot {
        file: String::new(),
        line: 0,
        column: 0,
        kind: Kind::Line,
        what: String::new(),
        lines: String::new(),
    };
    let mut kind = None;
    for field in fields.split(KEY).filter(|field| !field.is_empty()) {
        let (key, value) = field
            .split_once(VALUE)
            .ok_or_else(|| format!("field `{field}` has no value"))?;
        let number = || {
            let parsed = value.parse();
            parsed.map_err(|_| format!("`{value}` is not a number (field `{key}`)"))
        };
        match key {
            "f" => spot.file = from_rtl(value).to_owned(),
            "l" => spot.line = number()?,
            "n" => spot.column = number()?,
            "o" => spot.what = value.to_owned(),
            "S" => spot.lines = value.to_owned(),
            "page" => kind = Some(kind_of(value)?),
            // The hierarchy is added up, the type is said by the page.
            _ => {}
        }
    }
    spot.kind = kind.ok_or("no field `page`")?;
    if spot.file.is_empty() || spot.line == 0 {
        return Err("no file or line".into());
    }
    Ok(spot)
}

/// `v_branch/nd_fifo` is a branch.
fn kind_of(page: &str) -> Result<Kind, String> {
    let word = page.strip_prefix("v_").unwrap_or(page);
    let word = word.split('/').next().unwrap_or_default();
    let found = Kind::ALL.into_iter().find(|kind| kind.word() == word);
    found.ok_or_else(|| format!("`{page}` is no page that is known"))
}

/// A path as the repository has it, wherever that lies.
fn from_rtl(path: &str) -> &str {
    let start = path.rfind("/rtl/").map_or(0, |at| at + 1);
    path.get(start..).unwrap_or(path)
}

/// A file with these points.
pub(super) fn emit(points: &Points) -> String {
    let mut text = format!("{HEADER}\n");
    for (spot, count) in points.iter() {
        let Spot {
            file,
            line,
            column,
            kind,
            what,
            lines,
        } = spot;
        let module = file.rsplit('/').next().unwrap_or_default();
        let module = module.trim_end_matches(".sv");
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "C '{KEY}f{VALUE}{file}{KEY}l{VALUE}{line}{KEY}n{VALUE}{column}\
             {KEY}t{VALUE}{kind}{KEY}page{VALUE}v_{kind}/{module}{KEY}o{VALUE}{what}"
        );
        if !lines.is_empty() {
            let _ = write!(text, "{KEY}S{VALUE}{lines}");
        }
        let _ = writeln!(text, "' {count}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(fields: &[(&str, &str)], count: &str) -> String {
        let fields: String = fields
            .iter()
            .map(|(key, value)| format!("{KEY}{key}{VALUE}{value}"))
            .collect();
        format!("C '{fields}' {count}\n")
    }

    fn file(points: &str) -> String {
        format!("{HEADER}\n{points}")
    }

    const FIFO: [(&str, &str); 6] = [
        ("f", "/somewhere/rtl/lib/nd_fifo.sv"),
        ("l", "12"),
        ("n", "5"),
        ("page", "v_branch/nd_fifo__W8"),
        ("o", "if"),
        ("S", "12-13,20"),
    ];

    #[test]
    fn points_of_all_instances_are_added_up() {
        let other = [("h", "top.b")];
        let text = line(&FIFO, "3") + &line(&[&FIFO[..], &other].concat(), "4");
        let points = parse(&file(&text)).unwrap();
        let all: Vec<_> = points.iter().collect();
        let [(spot, 7)] = all[..] else {
            panic!("{all:?}")
        };
        assert_eq!(
            (spot.file.as_str(), spot.room()),
            ("rtl/lib/nd_fifo.sv", "lib")
        );
        assert_eq!((spot.line, spot.column, spot.kind), (12, 5, Kind::Branch));
        assert_eq!(spot.lines().into_iter().collect::<Vec<_>>(), [12, 13, 20]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let points = parse(&file(&line(&FIFO, "3"))).unwrap();
        assert_eq!(parse(&emit(&points)), Ok(points));
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let count = file(&(line(&FIFO, "3") + &line(&FIFO, "many")));
        assert_eq!(parse(&count), Err((3, "`many` is not a count".into())));
        let page = file(&line(&[("f", "a"), ("l", "1"), ("page", "v_what/x")], "1"));
        assert_eq!(
            parse(&page),
            Err((2, "`v_what/x` is no page that is known".into()))
        );
        assert!(parse("").is_err() && parse("something else\n").is_err());
        let cut = file("C '\u{1}f\u{2}a");
        assert_eq!(parse(&cut), Err((2, "no count after the fields".into())));
    }
}
