//! Faults that other engines had in the field.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// A fault that some RDMA engine or stack had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldBug {
    /// Its id: the letter of the group, and a number.
    pub id: String,
    /// The letter of its group.
    pub group: String,
    /// What it was, in short.
    pub title: String,
    /// Why no vector shows it, if none does.
    pub reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    prefix: String,
    #[serde(rename = "about")]
    _about: String,
    rows: Vec<(u16, String)>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    group: Vec<Group>,
    reasons: BTreeMap<String, String>,
}

const TEXT: &str = include_str!("../../plan/field-bugs.toml");

static BUGS: LazyLock<Vec<FieldBug>> = LazyLock::new(|| {
    // A test makes sure that it parses.
    let file: File = toml::from_str(TEXT).unwrap_or_default();
    let rows = file.group.iter().flat_map(|group| {
        group.rows.iter().map(|(number, title)| {
            let id = format!("{}{number}", group.prefix);
            FieldBug {
                reason: file.reasons.get(&id).cloned(),
                id,
                group: group.prefix.clone(),
                title: title.clone(),
            }
        })
    });
    rows.collect()
});

/// All of them.
pub fn field_bugs() -> &'static [FieldBug] {
    &BUGS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_parses_and_is_complete() {
        let file: File = toml::from_str(TEXT).unwrap();
        assert_eq!(field_bugs().len(), 81);
        for id in file.reasons.keys() {
            assert!(field_bugs().iter().any(|bug| bug.id == *id), "{id}");
        }
    }
}
