//! Evidence: what another program found out, left in a file for the signoff.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A file of evidence that cannot be used.
#[derive(Debug, Error)]
#[error("{}: {cause}", path.display())]
pub struct EvidenceError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub cause: String,
}

/// What a program found out: proofs, mutations, a netlist, a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// What was looked at, as `formal`.
    pub name: String,
    /// The command that made it.
    pub command: String,
    /// Commit that it is of, if it is known.
    pub commit: Option<String>,
    /// Whether all is well.
    pub passed: bool,
    /// In a sentence.
    pub summary: String,
    /// One by one.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What.
    pub name: String,
    /// Whether it is well.
    pub passed: bool,
    /// More about it.
    #[serde(default)]
    pub detail: String,
}

impl Evidence {
    /// All that lies in a folder as JSON, by name of the files. A folder that is not there has none.
    ///
    /// # Errors
    /// If a file is not as it should be.
    pub fn read(folder: &Path) -> Result<Vec<Self>, EvidenceError> {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return Ok(Vec::new());
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        });
        paths.sort();
        paths.iter().map(|path| Self::read_file(path)).collect()
    }

    fn read_file(path: &Path) -> Result<Self, EvidenceError> {
        let wrong = |cause: String| EvidenceError {
            path: path.into(),
            cause,
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
    }
}
