//! What can be wrong with data files of code coverage.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// A data file that cannot be used.
#[derive(Debug, Error)]
pub enum CodeError {
    /// It cannot be read, written or taken away.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not as Verilator writes them.
    #[error("{}:{line}: {cause}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        cause: String,
    },
}

impl CodeError {
    /// An error of the file system.
    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        let path = path.into();
        Self::File { path, source }
    }
}
