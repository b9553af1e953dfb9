//! A regression on a farm that Slurm runs: a job array with a task for each shard.
//!
//! What has been done is read from the results of the shards, never from the farm: a task counts as lost if it has left the queue
//! and runs of its shard have not ended, whatever the reason. Then its shard is submitted again, and goes on behind the last run
//! that has ended.

mod client;
mod collect;
mod jobs;

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

pub use collect::{Event, collect};

use super::Shard;

/// What to ask the farm for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Tasks of the array.
    pub shards: u32,
    /// Runs at the same time in each task, and processors that it asks for.
    pub jobs: usize,
    /// Options of `sbatch`, before those that are made here.
    pub options: Vec<String>,
    /// How often a shard is submitted again.
    pub resubmit: u32,
    /// Time between two looks at the queue.
    pub poll: Duration,
}

/// Why the farm cannot be used.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// A program is not there.
    #[error(
        "cannot run {program}: {source}; Slurm's commands are needed (Debian: apt-get install slurm-client)"
    )]
    Missing {
        /// Which.
        program: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// A program says no.
    #[error("{command} was refused: {message}")]
    Refused {
        /// What was asked for.
        command: String,
        /// What it said.
        message: String,
    },
    /// Jobs of another split are at it.
    #[error(
        "job {job} still runs this regression in {of} shards: wait for it, ask for --shards {of}, or scancel {job}"
    )]
    OtherSplit {
        /// The job.
        job: u64,
        /// Its shards.
        of: u32,
    },
    /// What is needed for jobs cannot be written or read.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The list of shards in words, as `sbatch` takes it.
fn list(shards: &[Shard]) -> String {
    let numbers = shards.iter().map(|shard| shard.index().to_string());
    numbers.collect::<Vec<_>>().join(",")
}
