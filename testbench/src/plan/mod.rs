//! The plan: which requirements there are, which faults of others are looked for, and what covers them.

mod claims;
mod coverage;
mod error;
mod field_bugs;
mod matrix;
mod open;
mod tables;

use std::path::Path;
use std::sync::LazyLock;

pub use coverage::{Cover, Coverage, Kind, State};
pub use error::PlanError;
use error::Source;
pub use field_bugs::{FieldBug, field_bugs};
pub use matrix::{Cell, Matrix, Operation, Outcome, Place};
pub use open::Open;
pub use tables::{Duty, Requirement, Tables};

/// Where the plan is in the repository.
const FOLDER: &str = "testbench/plan";

/// The plan of a repository, and what covers it there.
#[derive(Debug)]
pub struct Plan {
    /// The requirements.
    pub tables: Tables,
    /// What covers them.
    pub coverage: Coverage,
    /// What is known to be open.
    pub open: Open,
}

impl Plan {
    /// Reads all of it.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(root: &Path) -> Result<Self, PlanError> {
        // Files of the folder here are named without it.
        let root = root.strip_prefix(".").unwrap_or(root);
        let folder = root.join(FOLDER);
        let tables = Tables::read(&folder)?;
        let coverage = Coverage::read(root, &tables)?;
        let open = Open::read(&folder, &tables, &coverage)?;
        Ok(Self {
            tables,
            coverage,
            open,
        })
    }
}

/// A table with its place in the repository.
macro_rules! tables {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../plan/", $name)))),+]
    };
}

/// The tables as they were when this was built, so that ids are known wherever it runs.
const BUILT_IN: [(&str, &str); 13] = tables![
    "ndk/completion.toml",
    "ndk/connection.toml",
    "ndk/memory.toml",
    "ndk/objects.toml",
    "ndk/oid.toml",
    "ndk/posting.toml",
    "ndk/transfers.toml",
    "ndk/windows.toml",
    "rocev2/connection.toml",
    "rocev2/frames.toml",
    "rocev2/memory.toml",
    "rocev2/messages.toml",
    "rocev2/transport.toml",
];

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    // A test makes sure that they parse.
    Tables::of(&BUILT_IN.map(|(name, text)| Source::new(name, text))).unwrap_or_default()
});

/// Whether a requirement, or a field fault, has that id.
pub fn knows(id: &str) -> bool {
    TABLES.get(id).is_some() || field_bugs().iter().any(|bug| bug.id == id)
}

/// The requirement or field fault with that id, in words.
pub fn title(id: &str) -> Option<&'static str> {
    let bug = || field_bugs().iter().find(|bug| bug.id == id);
    let row = TABLES.get(id).map(|row| row.title.as_str());
    row.or_else(|| bug().map(|bug| bug.title.as_str()))
}

/// Ids like one that is not known.
pub fn similar(id: &str) -> Vec<String> {
    let group = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let bugs = field_bugs().iter().filter(|bug| bug.group == group);
    let bugs: Vec<String> = bugs.map(|bug| bug.id.clone()).collect();
    match bugs.is_empty() {
        true => TABLES.similar(id),
        false => bugs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_built_in_are_those_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plan");
        let mut files: Vec<String> = tables::FOLDERS
            .iter()
            .flat_map(|part| error::files(&folder.join(part), &[".toml"]).unwrap())
            .map(|path| path.strip_prefix(&folder).unwrap().display().to_string())
            .collect();
        files.sort();
        assert_eq!(files, BUILT_IN.map(|(name, _)| name));
        assert_eq!(
            TABLES.rows().len(),
            Tables::read(&folder).unwrap().rows().len()
        );
    }

    #[test]
    fn ids_are_known_with_their_titles() {
        assert!(knows("NDK-READ-28") && knows("NDK-SEND-9") && knows("C6") && knows("WIRE-TMO-8"));
        assert!(!knows("C12") && title("B1").is_some() && similar("G9") == ["G2", "G3", "G4"]);
        for id in ["NDK-READ-29", "NDK-SEND-10", "NDK-READ", "NDK-READ-01", "X"] {
            assert!(!knows(id), "{id}");
        }
        assert_eq!(similar("NDK-READ-99"), ["NDK-READ-1 to NDK-READ-28"]);
        assert_eq!(
            title("NDK-OPT-1"),
            Some("types are bits: 1, 2, 4, 8, 16, 32, 64, and 0x8001")
        );
    }
}
