//! What was begun in a folder: the first program writes it, and all others must be about the same.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::suite::hex;
use super::{Folder, RegressError, Result, Settings, Suite, at};
use crate::{files, revision};

/// Version of the files.
const FORMAT: u32 = 1;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begun {
    format: u32,
    /// When (RFC 3339).
    pub at: String,
    /// What makes the suite.
    pub settings: Settings,
    /// How many runs it has.
    pub runs: usize,
    /// Its fingerprint.
    pub suite: String,
    /// Fingerprint of the program, with the engine in it.
    pub program: String,
    /// Commit of the repository in which it was begun. What has changed since is in the fingerprints.
    pub commit: Option<String>,
}

impl Begun {
    /// What this program would begin.
    ///
    /// # Errors
    /// If it cannot read itself.
    pub fn now(suite: &Suite) -> Result<Self> {
        Ok(Self {
            format: FORMAT,
            at: now(),
            settings: suite.settings.clone(),
            runs: suite.len(),
            suite: suite.fingerprint.clone(),
            program: program()?,
            commit: revision::commit(Path::new(".")),
        })
    }

    /// Reads that of a folder.
    ///
    /// # Errors
    /// There is none, or it is of another version.
    pub fn read(folder: &Folder) -> Result<Self> {
        let path = folder.begun();
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(RegressError::NotBegun {
                    folder: folder.path().into(),
                });
            }
            other => other.map_err(at(&path))?,
        };
        serde_json::from_str(&text).map_err(|error| RegressError::Content {
            path,
            cause: error.to_string(),
        })
    }

    /// Begins in a folder, or goes on with what is there.
    ///
    /// # Errors
    /// If something else is there.
    pub fn begin(self, folder: &Folder) -> Result<Self> {
        folder.make()?;
        let path = folder.begun();
        let mut text = serde_json::to_string_pretty(&self).unwrap_or_default();
        text.push('\n');
        if files::create(&path, &text).map_err(at(&path))? {
            return Ok(self);
        }
        let there = Self::read(folder)?;
        let differences = self.differences(&there);
        match differences.is_empty() {
            true => Ok(there),
            false => Err(RegressError::Mixed {
                path: folder.path().into(),
                differences,
            }),
        }
    }

    /// What of others is not the same, in words.
    fn differences(&self, there: &Self) -> Vec<String> {
        let mut differences = self.settings.differences(&there.settings);
        if differences.is_empty() && self.suite != there.suite {
            let cause = match self.runs == there.runs {
                true => "the vectors are not the same, or have changed".into(),
                false => format!("it has {} runs, this is {}", there.runs, self.runs),
            };
            differences.push(cause);
        }
        if self.program != there.program {
            differences.push("it was begun by another build of this program".into());
        }
        // A machine of a farm may have no git.
        if let (Some(own), Some(theirs)) = (&self.commit, &there.commit)
            && own != theirs
        {
            differences.push(format!("it is of commit {theirs}, this is {own}"));
        }
        differences
    }
}

/// The time (RFC 3339).
pub(super) fn now() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The fingerprint of this program.
fn program() -> Result<String> {
    let path = std::env::current_exe().map_err(at(Path::new("this program")))?;
    let mut file = std::fs::File::open(&path).map_err(at(&path))?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file, &mut hash).map_err(at(&path))?;
    Ok(hex(&hash.finalize()))
}
