//! The tables of requirements: `plan/ndk/*.toml` and `plan/rocev2/*.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::error::{PlanError, Source, files};
use crate::vector::Fault;

/// Folders with tables.
pub(super) const FOLDERS: [&str; 2] = ["ndk", "rocev2"];

/// Who owes a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// The provider must.
    Provider,
    /// The consumer must; the bench keeps to it.
    Consumer,
    /// Undefined, or permitted: nothing may depend on it.
    Open,
}

impl Duty {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Consumer => "consumer",
            Self::Open => "open",
        }
    }
}

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Its id.
    pub id: String,
    /// Part of the NIC that it is about.
    pub layer: String,
    /// Who owes it.
    pub duty: Duty,
    /// What it says, in short.
    pub title: String,
    /// Where it comes from: a page of NDKPI, or a standard of the wire.
    pub source: String,
    /// Why nothing has to cover it, if that is so.
    pub reason: Option<String>,
    /// Its file, and the line there.
    pub place: (PathBuf, usize),
}

impl Requirement {
    /// Whether it is one of NDKPI, else it is one of the wire.
    pub fn is_ndk(&self) -> bool {
        self.id.starts_with("NDK-")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    prefix: Spanned<String>,
    #[serde(rename = "about")]
    _about: String,
    source: String,
    rows: Vec<(Spanned<u16>, String, Duty, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    set: Vec<Set>,
    #[serde(default)]
    reasons: BTreeMap<Spanned<String>, String>,
}

/// All requirements, in the order of their tables.
#[derive(Debug, Default)]
pub struct Tables {
    rows: Vec<Requirement>,
    /// For each prefix its greatest number.
    prefixes: BTreeMap<String, u16>,
    /// Where each reason stands.
    reasons: Vec<(String, Source, std::ops::Range<usize>)>,
}

impl Tables {
    /// Reads the tables in a folder.
    ///
    /// # Errors
    /// One of them cannot be read, or is wrong.
    pub fn read(folder: &Path) -> Result<Self, PlanError> {
        let mut sources = Vec::new();
        for part in FOLDERS {
            for path in files(&folder.join(part), &[".toml"])? {
                sources.push(Source::read(&path)?);
            }
        }
        Self::of(&sources)
    }

    /// The tables in these texts.
    pub(super) fn of(sources: &[Source]) -> Result<Self, PlanError> {
        let mut tables = Self::default();
        for source in sources {
            tables.add(source)?;
        }
        Ok(tables)
    }

    fn add(&mut self, source: &Source) -> Result<(), PlanError> {
        let file: File = source.parse()?;
        let wrong = |span, message: String| Err(source.wrong(Fault::new(span, message)));
        let first = self.rows.len();
        for set in file.set {
            let prefix = set.prefix.get_ref();
            if self.prefixes.contains_key(prefix) {
                let message = format!("there is a set `{prefix}` already");
                return wrong(set.prefix.span(), message);
            }
            for (row, next) in set.rows.iter().zip(1..) {
                let (number, layer, duty, title) = row;
                if *number.get_ref() != next {
                    let message = format!("row {next} of `{prefix}` must be here");
                    return wrong(number.span(), message);
                }
                self.rows.push(Requirement {
                    id: format!("{prefix}-{next}"),
                    layer: layer.clone(),
                    duty: *duty,
                    title: title.clone(),
                    source: set.source.trim().into(),
                    reason: None,
                    place: (source.path.clone(), source.line(&number.span())),
                });
            }
            let last = u16::try_from(set.rows.len()).unwrap_or(u16::MAX);
            self.prefixes.insert(prefix.clone(), last);
        }
        for (id, reason) in file.reasons {
            let rows = self.rows.iter_mut().skip(first);
            match rows
                .filter(|row| row.duty == Duty::Provider)
                .find(|row| row.id == *id.get_ref())
            {
                Some(row) => row.reason = Some(reason),
                None => {
                    let message = format!(
                        "no provider duty of this file has the id `{}`",
                        id.get_ref()
                    );
                    return wrong(id.span(), message);
                }
            }
            let span = id.span();
            self.reasons.push((id.into_inner(), source.clone(), span));
        }
        Ok(())
    }

    /// The requirements.
    pub fn rows(&self) -> &[Requirement] {
        &self.rows
    }

    /// The requirement with that id.
    pub fn get(&self, id: &str) -> Option<&Requirement> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// What the provider owes.
    pub fn duties(&self) -> impl Iterator<Item = &Requirement> {
        self.rows.iter().filter(|row| row.duty == Duty::Provider)
    }

    /// For each prefix the greatest number with it.
    pub fn prefixes(&self) -> &BTreeMap<String, u16> {
        &self.prefixes
    }

    /// Ids like one that is not known.
    pub fn similar(&self, id: &str) -> Vec<String> {
        let prefix = id
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_end_matches('-');
        let range = |(prefix, last): (&String, &u16)| format!("{prefix}-1 to {prefix}-{last}");
        match self.prefixes.get_key_value(prefix) {
            Some(same) => vec![range(same)],
            None => self.prefixes.iter().map(range).collect(),
        }
    }

    /// The reasons: the id, and where each stands.
    pub(super) fn reasons(&self) -> impl Iterator<Item = (&str, &Source, std::ops::Range<usize>)> {
        self.reasons
            .iter()
            .map(|(id, source, span)| (id.as_str(), source, span.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[[set]]
prefix = "NDK-X"
about = "x"
source = "X"
rows = [
    [1, "wire", "provider", "one"],
    [2, "oid", "open", "two"],
]

[reasons]
NDK-X-1 = "it is one"
"#;

    fn message(text: &str) -> String {
        let error = Tables::of(&[Source::new("x.toml", text)]).unwrap_err();
        let PlanError::Text { text, fault, .. } = &error else {
            panic!("{error}");
        };
        format!("{}: {error}", Source::new("x.toml", text).line(&fault.span))
    }

    #[test]
    fn rows_know_where_they_stand() {
        let tables = Tables::of(&[Source::new("x.toml", GOOD)]).unwrap();
        let [one, two] = tables.rows() else {
            panic!("{tables:?}");
        };
        assert_eq!((one.id.as_str(), one.place.1), ("NDK-X-1", 7));
        assert_eq!(one.reason.as_deref(), Some("it is one"));
        assert_eq!((two.duty, two.layer.as_str()), (Duty::Open, "oid"));
        assert_eq!(tables.similar("NDK-X-9"), ["NDK-X-1 to NDK-X-2"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let gap = GOOD.replace("[2, ", "[3, ");
        assert_eq!(message(&gap), "8: row 2 of `NDK-X` must be here");
        let reason = GOOD.replace("NDK-X-1 =", "NDK-X-2 =");
        let none = "12: no provider duty of this file has the id `NDK-X-2`";
        assert_eq!(message(&reason), none);
        let duty = GOOD.replace("open", "perhaps");
        assert!(message(&duty).starts_with("8: unknown variant `perhaps`"));
        let sources = [Source::new("x.toml", GOOD), Source::new("y.toml", GOOD)];
        let twice = Tables::of(&sources).unwrap_err().to_string();
        assert_eq!(twice, "there is a set `NDK-X` already");
    }
}
