//! The plan as the signoff sees it: what covers a requirement, and whether that passed.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::plan::{self, Duty, Kind, Plan, State};

/// How a requirement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Something covers it, and nothing that does has failed.
    Covered,
    /// A vector that covers it failed.
    Failed,
    /// Nothing covers it, for a reason.
    Reason,
    /// Nothing covers it yet, as is known.
    Open,
    /// Nothing covers it.
    Forgotten,
    /// It is the consumer's, or nothing may depend on it.
    NotOurs,
}

impl Standing {
    /// The word for tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::Failed => "failed",
            Self::Reason => "reason",
            Self::Open => "open",
            Self::Forgotten => "not covered",
            Self::NotOurs => "not ours",
        }
    }
}

/// What covers a requirement.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Line there.
    pub line: usize,
    /// Whether it passed, if it is a vector that ran.
    pub passed: Option<bool>,
}

/// A requirement.
#[derive(Clone, Debug, Serialize)]
pub struct PlanRow {
    /// Its id.
    pub id: String,
    /// Layer.
    pub layer: String,
    /// Who owes it.
    pub duty: Duty,
    /// What it says.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// How it stands.
    pub standing: Standing,
    /// Why nothing covers it, or what is missing.
    pub why: String,
    /// What covers it.
    pub claims: Vec<Claim>,
}

/// A fault of others.
#[derive(Clone, Debug, Serialize)]
pub struct BugRow {
    /// Its id.
    pub id: String,
    /// What it was.
    pub title: String,
    /// Why no vector shows it.
    pub reason: Option<String>,
    /// Vectors that show it.
    pub claims: Vec<Claim>,
}

impl BugRow {
    /// Whether nothing shows it, without a reason, or what does has failed.
    pub fn is_open(&self) -> bool {
        let failed = self.claims.iter().any(|claim| claim.passed == Some(false));
        failed || self.claims.is_empty() && self.reason.is_none()
    }
}

/// Whether all cases of each vector passed, by its file.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    /// Those of files with one name, which may be in several folders.
    by_name: HashMap<OsString, BTreeMap<PathBuf, bool>>,
}

impl FromIterator<(PathBuf, bool)> for Outcomes {
    fn from_iter<I: IntoIterator<Item = (PathBuf, bool)>>(runs: I) -> Self {
        let mut outcomes = Self::default();
        for (path, passed) in runs {
            let name = path.file_name().unwrap_or_default().to_owned();
            let files = outcomes.by_name.entry(name).or_default();
            *files.entry(path).or_insert(true) &= passed;
        }
        outcomes
    }
}

impl Outcomes {
    /// That of a file; it and those that ran may be named from different folders.
    fn of(&self, file: &Path) -> Option<bool> {
        let mut files = self.by_name.get(file.file_name()?)?.iter();
        let same = files.find(|(path, _)| path.ends_with(file) || file.ends_with(path));
        same.map(|(_, passed)| *passed)
    }
}

fn claims(plan: &Plan, id: &str, outcomes: &Outcomes) -> Vec<Claim> {
    let covers = plan.coverage.of(id).iter();
    let claims = covers.map(|cover| Claim {
        kind: cover.kind,
        name: cover.name.clone(),
        file: cover.file.clone(),
        line: cover.line,
        passed: outcomes.of(&cover.file),
    });
    claims.collect()
}

/// All requirements.
pub fn plan_rows(plan: &Plan, outcomes: &Outcomes) -> Vec<PlanRow> {
    let rows = plan.tables.rows().iter();
    let rows = rows.map(|row| {
        let claims = claims(plan, &row.id, outcomes);
        let missing = plan.open.missing(&row.id);
        let standing = match (row.duty, plan.coverage.state(row)) {
            _ if claims.iter().any(|claim| claim.passed == Some(false)) => Standing::Failed,
            (Duty::Provider, State::Covered(_)) => Standing::Covered,
            (Duty::Provider, State::Reason) => Standing::Reason,
            (Duty::Provider, State::Open) if missing.is_some() => Standing::Open,
            (Duty::Provider, State::Open) => Standing::Forgotten,
            _ => Standing::NotOurs,
        };
        let why = row.reason.as_deref().or(missing).unwrap_or_default();
        PlanRow {
            id: row.id.clone(),
            layer: row.layer.clone(),
            duty: row.duty,
            title: row.title.clone(),
            source: row.source.clone(),
            standing,
            why: why.to_owned(),
            claims,
        }
    });
    rows.collect()
}

/// All faults of others.
pub fn bug_rows(plan: &Plan, outcomes: &Outcomes) -> Vec<BugRow> {
    let bugs = plan::field_bugs().iter();
    let bugs = bugs.map(|bug| BugRow {
        id: bug.id.clone(),
        title: bug.title.clone(),
        reason: bug.reason.clone(),
        claims: claims(plan, &bug.id, outcomes),
    });
    bugs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_under_either_name_and_one_bad_case_counts() {
        let runs = [
            ("vectors/send/first.toml", true),
            ("vectors/read/first.toml", false),
            ("vectors/read/first.toml", true),
            ("other.toml", true),
        ];
        let runs = runs.map(|(path, passed)| (PathBuf::from(path), passed));
        let outcomes: Outcomes = runs.into_iter().collect();
        let of = |path: &str| outcomes.of(Path::new(path));
        assert_eq!(of("testbench/vectors/send/first.toml"), Some(true));
        assert_eq!(of("read/first.toml"), Some(false));
        assert_eq!(of("write/first.toml"), None);
        assert_eq!(of("vectors/none.toml"), None);
    }
}
