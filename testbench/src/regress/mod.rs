//! Regressions: every vector with every seed, in shards that any number of programs run, on one machine or on a farm.
//!
//! A [`Suite`] is the list of all runs, each with its number. A [`Shard`] is every n-th of them. Whoever runs a shard
//! appends a line to a file of its own for each run that begins and ends ([`record`]), so that a program may be killed at any moment:
//! what has ended is known, what has not is run by the next one. [`Results`] reads the files of all shards and
//! counts each run once; [`Merged`] is what came of all of them.

mod again;
mod begun;
mod folder;
mod merge;
mod parts;
mod pool;
mod queue;
pub mod record;
mod results;
mod shard;
pub mod slurm;
mod suite;
mod work;

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::coverage::data::DataError;
use crate::failures::Failed;
use crate::vector::VectorError;

pub use again::{Retrace, run_again};
pub use begun::Begun;
pub use folder::Folder;
pub use merge::{Kind, Merged, RunRow, ShardRow, Verdict};
pub use pool::Utilisation;
pub use results::Results;
pub use shard::Shard;
pub use suite::{Seeds, Settings, Suite};
pub use work::{Work, run_shard};

/// What a person is told of a failed run; the first argument is where its vector stands.
pub type Words<'a> = dyn Fn(&Path, &Failed<'_>) -> String + Sync + 'a;

/// Why a regression cannot go on.
#[derive(Debug, Error)]
pub enum RegressError {
    /// A file or folder cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A vector cannot be loaded.
    #[error(transparent)]
    Vector(#[from] VectorError),
    /// Coverage cannot be kept, or put together.
    #[error(transparent)]
    Coverage(#[from] DataError),
    /// No run.
    #[error("there is nothing to run: no vector has a case with that name, or there is no seed")]
    Nothing,
    /// The folder has no regression.
    #[error("{}: no regression was begun here (there is no {})", folder.display(), folder::BEGUN)]
    NotBegun {
        /// The folder.
        folder: PathBuf,
    },
    /// A file says what this program does not understand.
    #[error("{}: {cause}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// What lies in the folder is of something else.
    #[error("{} holds another regression, and what came of both would be mixed: {}", path.display(), differences.join("; "))]
    Mixed {
        /// The folder, or a file in it.
        path: PathBuf,
        /// What is not the same.
        differences: Vec<String>,
    },
    /// Another program is at it.
    #[error("{} is being written by another program: {what} runs already", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// What runs.
        what: String,
    },
    /// The farm cannot be used.
    #[error(transparent)]
    Slurm(#[from] slurm::SlurmError),
}

/// What a result is here.
pub type Result<T, E = RegressError> = std::result::Result<T, E>;

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> RegressError {
    |source| RegressError::File {
        path: path.into(),
        source,
    }
}
