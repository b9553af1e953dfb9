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
    /// Tasks that run at the same time, at most.
    pub at_once: Option<u32>,
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

/// Shards as `sbatch` takes them: `1-3,7`.
fn ranges(shards: &[Shard]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for index in shards.iter().map(|shard| shard.index()) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => ranges.push((index, index)),
        }
    }
    let words = ranges.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_next_to_each_other_are_a_range() {
        let shards = |list: &[u32]| -> Vec<Shard> {
            let all = Shard::all(9).filter(|shard| list.contains(&shard.index()));
            all.collect()
        };
        assert_eq!(ranges(&shards(&[1, 2, 3, 7, 9])), "1-3,7,9");
        assert_eq!(ranges(&shards(&[4])), "4");
        assert_eq!(ranges(&Shard::all(1000).collect::<Vec<_>>()), "1-1000");
    }
}
