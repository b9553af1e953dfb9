//! The folder in which coverage is gathered: two files for each program that ran, `NAME.json` with what was seen and
//! `NAME.dat` with the code's points, if the engine was one that counts them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Cover;
use super::code::{CodeError, Points};
use super::functional::{Hits, Tally};
use crate::files;

/// Version of the files.
const FORMAT: u32 = 1;

/// What can be wrong with the folder.
#[derive(Debug, Error)]
pub enum DataError {
    /// A file or the folder cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not one of ours.
    #[error("{}: {cause}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// Code coverage.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// There is nothing in it.
    #[error("{}: no coverage data; `tandem run --cover` writes some", .0.display())]
    Nothing(PathBuf),
}

/// What is in a JSON file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    /// The command that made it.
    command: String,
    functional: Hits,
}

/// Coverage of several programs, added up.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// Cover points.
    pub functional: Tally,
    /// Points of the code; empty if no engine counted them.
    pub code: Points,
    /// The commands that it is of.
    pub commands: Vec<String>,
}

impl Data {
    /// Adds what lies in a folder.
    ///
    /// # Errors
    /// If something there cannot be read, or there is nothing.
    pub fn read(&mut self, folder: &Path) -> Result<(), DataError> {
        let wrong = |source| DataError::File {
            path: folder.into(),
            source,
        };
        let entries = std::fs::read_dir(folder).map_err(wrong)?;
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(wrong)?;
        paths.sort();
        let before = self.commands.len();
        for path in paths {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("json") => self.read_json(&path)?,
                Some("dat") => self.code.add(Points::read(&path)?),
                _ => {}
            }
        }
        match self.commands.len() == before {
            true => Err(DataError::Nothing(folder.into())),
            false => Ok(()),
        }
    }

    /// Adds what one program has left under a name.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_named(&mut self, folder: &Path, name: &str) -> Result<(), DataError> {
        self.read_json(&folder.join(format!("{name}.json")))?;
        let code = folder.join(format!("{name}.dat"));
        if code.is_file() {
            self.code.add(Points::read(&code)?);
        }
        Ok(())
    }

    /// Writes all of it under a name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path, name: &str) -> Result<(), DataError> {
        let command = self.commands.join("; ");
        write(folder, name, command, self.functional.hits(), &self.code)
    }

    fn read_json(&mut self, path: &Path) -> Result<(), DataError> {
        let content = |cause: String| DataError::Content {
            path: path.into(),
            cause,
        };
        let text = std::fs::read_to_string(path).map_err(|source| DataError::File {
            path: path.into(),
            source,
        })?;
        let file: File = serde_json::from_str(&text).map_err(|error| content(error.to_string()))?;
        if file.format != FORMAT {
            return Err(content(format!(
                "format {}, and this program reads {FORMAT}",
                file.format
            )));
        }
        self.functional.add(&file.functional).map_err(content)?;
        self.commands.push(file.command);
        Ok(())
    }
}

/// Where a program gathers what it covers.
#[derive(Clone, Debug)]
pub struct Gatherer {
    /// What was covered.
    pub cover: Arc<Cover>,
    folder: PathBuf,
    name: String,
    command: String,
}

impl Gatherer {
    /// Makes the folder, and finds a name that is free in it.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn new(folder: &Path, command: &str, words: &str) -> Result<Self, DataError> {
        let wrong = |path: &Path, source| DataError::File {
            path: path.into(),
            source,
        };
        std::fs::create_dir_all(folder).map_err(|source| wrong(folder, source))?;
        let mut number = 1;
        loop {
            let name = format!("{command}-{number}");
            let path = folder.join(format!("{name}.json"));
            let opened = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&path);
            match opened {
                Ok(_) => {
                    let gatherer = Self {
                        cover: Arc::default(),
                        folder: folder.into(),
                        name,
                        command: words.into(),
                    };
                    // What lies there is whole at every moment.
                    gatherer.write()?;
                    return Ok(gatherer);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(wrong(&path, error)),
            }
        }
    }

    /// Writes what has been covered so far.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self) -> Result<(), DataError> {
        let code = self.cover.code().map_err(|cause| DataError::Content {
            path: self.folder.join(format!("{}.dat", self.name)),
            cause,
        })?;
        let hits = self.cover.functional().hits();
        write(&self.folder, &self.name, self.command.clone(), hits, &code)
    }
}

/// Writes the two files of a name, the JSON file last and at once: if it is there, both are whole.
fn write(
    folder: &Path,
    name: &str,
    command: String,
    functional: Hits,
    code: &Points,
) -> Result<(), DataError> {
    if !code.is_empty() {
        code.write(&folder.join(format!("{name}.dat")))?;
    }
    let path = folder.join(format!("{name}.json"));
    let file = File {
        format: FORMAT,
        command,
        functional,
    };
    let text = serde_json::to_string_pretty(&file).map_err(|error| DataError::Content {
        path: path.clone(),
        cause: error.to_string(),
    })?;
    files::replace(&path, &(text + "\n")).map_err(|source| DataError::File { path, source })
}
