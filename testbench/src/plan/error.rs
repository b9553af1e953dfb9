//! What is wrong with the plan, or with what claims to cover it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::vector::{Fault, VectorError};

/// Why the plan cannot be used.
#[derive(Debug, Error)]
pub enum PlanError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A text is wrong.
    #[error("{}", fault.message)]
    Text {
        /// The file.
        path: PathBuf,
        /// What it says.
        text: String,
        /// What is wrong.
        fault: Box<Fault>,
    },
    /// A vector cannot be loaded.
    #[error(transparent)]
    Vector(#[from] VectorError),
}

/// A text of the repository, to be pointed into.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Where it stands.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        let text = std::fs::read_to_string(path).map_err(|source| PlanError::Read {
            path: path.into(),
            source,
        })?;
        Ok(Self {
            path: path.into(),
            text,
        })
    }

    /// The same without reading anything.
    pub fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }

    /// A fault of it.
    pub fn wrong(&self, fault: Fault) -> PlanError {
        PlanError::Text {
            path: self.path.clone(),
            text: self.text.clone(),
            fault: fault.into(),
        }
    }

    /// Its tables.
    ///
    /// # Errors
    /// It is no TOML, or not that of these tables.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, PlanError> {
        toml::from_str(&self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..self.text.len());
            self.wrong(Fault::new(span, error.message().trim().replace('\n', ", ")))
        })
    }

    /// Number of the line, counted from 1, in which a span begins.
    pub fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        before.matches('\n').count() + 1
    }
}

/// All files below a folder whose names have one of these ends, in order of their names. What is built, and what
/// begins with a dot, is left out.
///
/// # Errors
/// A folder cannot be read.
pub(super) fn files(folder: &Path, ends: &[&str]) -> Result<Vec<PathBuf>, PlanError> {
    let failed = |source| PlanError::Read {
        path: folder.into(),
        source,
    };
    let mut entries: Vec<PathBuf> = folder
        .read_dir()
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || name == "target" {
            continue;
        }
        if entry.is_dir() {
            found.extend(files(&entry, ends)?);
        } else if ends.iter().any(|end| name.ends_with(end)) {
            found.push(entry);
        }
    }
    Ok(found)
}
