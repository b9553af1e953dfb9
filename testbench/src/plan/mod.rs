//! The plan: which requirements there are, which faults of others are looked for, and which vectors cover them.

mod field_bugs;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub use field_bugs::{FieldBug, field_bugs};

/// Who owes a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// The provider must.
    Provider,
    /// The consumer must; the bench keeps to it.
    Consumer,
    /// Undefined, or permitted: nothing may depend on it.
    Open,
    /// Of a kind of request or object that comes later.
    Later,
}

impl Duty {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Consumer => "consumer",
            Self::Open => "open",
            Self::Later => "later",
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    prefix: String,
    #[serde(rename = "about")]
    _about: String,
    rows: Vec<(u16, String, Duty, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    prefix: String,
    last: u16,
    about: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    set: Vec<Set>,
    #[serde(default)]
    family: Vec<Family>,
}

/// The tables of the plan.
const FILES: [&str; 2] = [
    include_str!("../../plan/requirements.toml"),
    include_str!("../../plan/rocev2.toml"),
];

static FILE: LazyLock<File> = LazyLock::new(|| {
    let mut whole = File::default();
    for text in FILES {
        // A test makes sure that they parse.
        let part: File = toml::from_str(text).unwrap_or_default();
        whole.set.extend(part.set);
        whole.family.extend(part.family);
    }
    whole
});

/// The requirements listed one by one.
pub fn requirements() -> Vec<Requirement> {
    let rows = |set: &'static Set| {
        set.rows
            .iter()
            .map(|(number, layer, duty, title)| Requirement {
                id: format!("{}-{number}", set.prefix),
                layer: layer.clone(),
                duty: *duty,
                title: title.clone(),
            })
    };
    FILE.set.iter().flat_map(rows).collect()
}

/// Whether a requirement has that id.
pub fn knows(id: &str) -> bool {
    let Some((prefix, number)) = split(id) else {
        return false;
    };
    let listed = |set: &Set| set.prefix == prefix && set.rows.iter().any(|row| row.0 == number);
    let counted = |family: &Family| family.prefix == prefix && (1..=family.last).contains(&number);
    FILE.set.iter().any(listed)
        || FILE.family.iter().any(counted)
        || field_bugs().iter().any(|bug| bug.id == id)
}

/// `NDK-READ-5` is number 5 of `NDK-READ`; `C6`, a field fault, number 6 of `C`.
fn split(id: &str) -> Option<(&str, u16)> {
    let prefix = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = id.get(prefix.len()..)?.parse().ok()?;
    let prefix = prefix.strip_suffix('-').unwrap_or(prefix);
    Some((prefix, number))
}

/// The requirement with that id, in words: its title, or what its family is about.
pub fn title(id: &str) -> Option<String> {
    let listed = requirements()
        .into_iter()
        .find(|requirement| requirement.id == id);
    if let Some(requirement) = listed {
        return Some(requirement.title);
    }
    if let Some(bug) = field_bugs().iter().find(|bug| bug.id == id) {
        return Some(bug.title.clone());
    }
    let (prefix, _) = split(id)?;
    let family = FILE.family.iter().find(|family| family.prefix == prefix)?;
    Some(family.about.clone())
}

/// Ids like one that is not known.
pub fn similar(id: &str) -> Vec<String> {
    let prefix = split(id).map_or(id, |(prefix, _)| prefix);
    let bugs = field_bugs().iter().filter(|bug| bug.group == prefix);
    let bugs: Vec<String> = bugs.map(|bug| bug.id.clone()).collect();
    if !bugs.is_empty() {
        return bugs;
    }
    let sets = FILE.set.iter().map(|set| (&set.prefix, set.rows.len()));
    let families = FILE
        .family
        .iter()
        .map(|family| (&family.prefix, usize::from(family.last)));
    let all: BTreeMap<&String, usize> = sets.chain(families).collect();
    let range = |(prefix, last): (&&String, &usize)| format!("{prefix}-1 to {prefix}-{last}");
    let same: Vec<String> = all
        .iter()
        .filter(|(known, _)| known.as_str() == prefix)
        .map(range)
        .collect();
    if same.is_empty() {
        all.iter().map(range).collect()
    } else {
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_parses_and_is_complete() {
        for text in FILES {
            toml::from_str::<File>(text).unwrap();
        }
        let count = |prefix: &str| {
            let all = requirements();
            all.iter().filter(|row| row.id.starts_with(prefix)).count()
        };
        assert_eq!(
            (count("NDK-READ-"), count("NDK-SINV-"), count("NDK-LEP-")),
            (28, 29, 22)
        );
        let of = ["ACK", "NAK", "DUP", "RNR", "TMO", "RD", "PSN", "QP", "CNP"];
        let rows = of.map(|set| count(&format!("WIRE-{set}-")));
        assert_eq!(rows, [16, 16, 11, 11, 8, 8, 8, 7, 3]);
    }

    #[test]
    fn ids_are_known_by_row_or_by_family() {
        assert!(knows("NDK-READ-28") && knows("NDK-SEND-9") && knows("C6") && knows("WIRE-TMO-8"));
        assert!(!knows("C12") && title("B1").is_some() && similar("G9") == ["G2", "G3", "G4"]);
        assert!(
            !knows("NDK-READ-29") && !knows("NDK-SEND-10") && !knows("NDK-READ") && !knows("X")
        );
        assert_eq!(similar("NDK-READ-99"), ["NDK-READ-1 to NDK-READ-28"]);
    }
}
