//! The one error of this program: what did not work, in a line for the person who ran it.

use std::fmt::Display;
use std::path::Path;

/// What did not work, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

/// A result with a [`Failure`].
pub type Result<T = ()> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure from anything that can be said.
    pub fn new(message: impl Display) -> Self {
        Self(message.to_string())
    }

    /// Says which file or folder an error is about.
    pub fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self(format!("{}: {error}", path.display()))
    }
}

impl From<verilated_build::Error> for Failure {
    fn from(error: verilated_build::Error) -> Self {
        Self::new(error)
    }
}
