//! What is wrong with a vector, and where.

use std::ops::Range;
use std::path::PathBuf;

use thiserror::Error;

/// Something wrong at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// Words under the underlined text.
    pub label: String,
    /// The text, as bytes of the file.
    pub span: Range<usize>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Fault {
    /// A fault at a place.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            label: "here".into(),
            span,
            help: None,
        }
    }

    /// With words under the underlined text.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Why a vector cannot be loaded.
#[derive(Debug, Error)]
pub enum VectorError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory without vectors.
    #[error("no vectors (*.toml) in {}", path.display())]
    Empty {
        /// The directory.
        path: PathBuf,
    },
    /// The text is wrong.
    #[error("{}", fault.message)]
    Text {
        /// The file.
        path: PathBuf,
        /// What it says.
        text: String,
        /// What is wrong.
        fault: Box<Fault>,
    },
}
