//! Provider duties that are known to be open: `plan/open.toml`. The list only shrinks: what is covered must not stand in
//! it, and when it is empty it goes, with this module.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::coverage::{Coverage, State};
use super::error::{PlanError, Source};
use super::tables::{Duty, Requirement, Tables};
use crate::vector::Fault;

/// Duties that wait for the same thing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    missing: String,
    ids: Spanned<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    open: Vec<Group>,
}

/// What is known to be open.
#[derive(Debug)]
pub struct Open {
    groups: Vec<(String, Vec<String>)>,
}

impl Open {
    /// Reads the list in a folder.
    ///
    /// # Errors
    /// It cannot be read, is wrong, or names what is not an open duty.
    pub fn read(folder: &Path, tables: &Tables, coverage: &Coverage) -> Result<Self, PlanError> {
        Self::of(&Source::read(&folder.join("open.toml"))?, tables, coverage)
    }

    fn of(source: &Source, tables: &Tables, coverage: &Coverage) -> Result<Self, PlanError> {
        let file: File = source.parse()?;
        let wrong = |span, message: &str, help: String| {
            Err(source.wrong(Fault::new(span, message).help(help)))
        };
        let delete = "delete it".to_owned();
        if file.open.is_empty() {
            let help = "delete plan/open.toml, and src/plan/open.rs which reads it".to_owned();
            return wrong(0..source.text.len(), "nothing is open any more", help);
        }
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for Group { missing, ids } in file.open {
            if ids.get_ref().is_empty() {
                return wrong(ids.span(), "this group is empty", delete);
            }
            let mut known = Vec::new();
            for id in ids.into_inner() {
                let (span, id) = (id.span(), id.into_inner());
                let Some(duty) = tables.get(&id) else {
                    let help = format!("known are {}", tables.similar(&id).join(", "));
                    return wrong(span, &format!("no requirement has the id `{id}`"), help);
                };
                if duty.duty != Duty::Provider {
                    return wrong(span, &format!("`{id}` is no duty of the provider"), delete);
                }
                match (coverage.state(duty), coverage.of(&id).first()) {
                    (State::Covered(_), Some(by)) => {
                        let message = format!("`{id}` is covered, and no longer open");
                        return wrong(span, &message, format!("{delete}: by {by}"));
                    }
                    (State::Reason, _) => {
                        return wrong(
                            span,
                            &format!("`{id}` has a reason, and is not open"),
                            delete,
                        );
                    }
                    _ => {}
                }
                let before = groups.iter().flat_map(|group| &group.1).chain(&known);
                if before.into_iter().any(|other| *other == id) {
                    return wrong(span, &format!("`{id}` is named twice"), delete);
                }
                known.push(id);
            }
            groups.push((missing, known));
        }
        Ok(Self { groups })
    }

    /// What is missing for a duty.
    pub fn missing(&self, id: &str) -> Option<&str> {
        let group = self
            .groups
            .iter()
            .find(|group| group.1.iter().any(|known| known == id));
        group.map(|(missing, _)| missing.as_str())
    }

    /// The groups: what is missing, and for which duties.
    pub fn groups(&self) -> &[(String, Vec<String>)] {
        &self.groups
    }

    /// Duties that nothing covers, and that are not known to be open.
    pub fn forgotten<'a>(&self, tables: &'a Tables, coverage: &Coverage) -> Vec<&'a Requirement> {
        tables
            .duties()
            .filter(|duty| coverage.state(duty) == State::Open && self.missing(&duty.id).is_none())
            .collect()
    }
}
