//! `tandem regress --slurm`.

use std::time::Duration;

use miette::Result;
use tandem_testbench::regress::Shard;
use tandem_testbench::regress::slurm::{Event, Request, collect};

use super::{Regress, told};

/// What to ask the farm for.
#[derive(clap::Args)]
pub struct Options {
    /// Have Slurm run it, as a job array with a task for each shard, and collect the results
    #[arg(long)]
    pub slurm: bool,

    /// With --slurm: shards
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    shards: u32,

    /// With --slurm: tasks that run at the same time, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    at_once: Option<u32>,

    /// With --slurm: partition
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,

    /// With --slurm: time limit of a task, in Slurm's words
    #[arg(long, value_name = "TIME")]
    time: Option<String>,

    /// With --slurm: another option of sbatch, as `--sbatch=--mem=4G`; may be given more than once
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch: Vec<String>,

    /// With --slurm: how often a shard that was lost is submitted again
    #[arg(long, value_name = "N", default_value_t = 3)]
    resubmit: u32,

    /// With --slurm: seconds between two looks at the queue
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    poll: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds from 0.1 to 3600".into()),
    }
}

impl Regress<'_> {
    /// Has the farm run what is left.
    pub(super) fn farm(&self) -> Result<()> {
        let options = &self.arguments.farm;
        let named = [("partition", &options.partition), ("time", &options.time)];
        let named = named
            .into_iter()
            .filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
        let request = Request {
            shards: options.shards,
            at_once: options.at_once,
            jobs: self.arguments.jobs.unwrap_or(1).max(1),
            options: named.chain(options.sbatch.iter().cloned()).collect(),
            resubmit: options.resubmit,
            poll: Duration::from_secs_f64(options.poll),
        };
        let bar = self.bar(self.work.suite.len(), "runs, {eta} left  {msg}");
        let mut silent = String::new();
        let (folder, begun, suite) = (self.work.folder, self.work.begun, self.work.suite);
        let done = collect(folder, begun, suite, &request, &mut |event| match event {
            Event::Stands {
                ended,
                running,
                waiting,
                reason,
            } => {
                silent.clear();
                bar.set_position(ended as u64);
                let waiting = match waiting {
                    0 => String::new(),
                    waiting => format!(", {waiting} waiting ({reason})"),
                };
                bar.set_message(format!("{running} tasks running{waiting}"));
            }
            // Once is enough.
            Event::Silent(message) if message == silent => {}
            event => {
                if let Event::Silent(message) = &event {
                    silent.clone_from(message);
                }
                bar.suspend(|| self.say(&words(event)));
            }
        });
        bar.finish_and_clear();
        done.map_err(told)
    }
}

fn list<T: ToString>(items: &[T]) -> String {
    let words: Vec<String> = items.iter().map(T::to_string).collect();
    words.join(", ")
}

fn words(event: Event) -> String {
    match event {
        Event::Submitted { job, shards } => match shards.as_slice() {
            [] => String::new(),
            [shard] => format!("job {job}: shard {shard}"),
            [first, .., last] if whole(&shards) => format!("job {job}: shards {first} to {last}"),
            shards => format!("job {job}: shards {}", list(shards)),
        },
        Event::Found { jobs } => format!("in the queue already: jobs {}", list(&jobs)),
        Event::Lost {
            shard,
            missing,
            fate,
            printed,
            again,
        } => {
            let then = match again {
                true => "submitted again",
                false => "given up",
            };
            let printed = printed.map_or_else(String::new, |text| {
                let lines: Vec<String> = text.lines().map(|line| format!("\n    {line}")).collect();
                lines.concat()
            });
            format!("shard {shard} was lost with {missing} runs to do, {then}: {fate}{printed}")
        }
        Event::Silent(message) => format!("Slurm does not answer; still waiting: {message}"),
        Event::Cancelled(jobs) => format!("cancelled: jobs {}", list(&jobs)),
        Event::Stands { .. } => String::new(),
    }
}

/// Whether they are all of their split.
fn whole(shards: &[Shard]) -> bool {
    shards
        .first()
        .is_some_and(|first| first.of() as usize == shards.len())
}
