//! The plan: which requirements there are, and which vectors cover them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

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
    family: Vec<Family>,
}

static FILE: LazyLock<File> = LazyLock::new(|| {
    // A test makes sure that it parses.
    toml::from_str(include_str!("../plan/requirements.toml")).unwrap_or_default()
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
    FILE.set.iter().any(listed) || FILE.family.iter().any(counted)
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
    let (prefix, _) = split(id)?;
    let family = FILE.family.iter().find(|family| family.prefix == prefix)?;
    Some(family.about.clone())
}

/// Ids like one that is not known.
pub fn similar(id: &str) -> Vec<String> {
    let prefix = split(id).map_or(id, |(prefix, _)| prefix);
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
        let file: Result<File, _> = toml::from_str(include_str!("../plan/requirements.toml"));
        file.unwrap();
        let count = |prefix: &str| {
            let all = requirements();
            all.iter().filter(|row| row.id.starts_with(prefix)).count()
        };
        assert_eq!(
            (count("NDK-READ-"), count("NDK-SINV-"), count("NDK-LEP-")),
            (28, 29, 22)
        );
    }

    #[test]
    fn ids_are_known_by_row_or_by_family() {
        assert!(knows("NDK-READ-28") && knows("NDK-SEND-9") && knows("C6"));
        assert!(
            !knows("NDK-READ-29") && !knows("NDK-SEND-10") && !knows("NDK-READ") && !knows("X")
        );
        assert_eq!(similar("NDK-READ-99"), ["NDK-READ-1 to NDK-READ-28"]);
    }
}
