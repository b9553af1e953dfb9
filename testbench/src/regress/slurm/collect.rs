//! Submitting shards, waiting for them, and submitting again what was lost.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::client::{self, Tasks};
use super::jobs::Jobs;
use super::{Request, SlurmError};
use crate::regress::{Begun, Folder, RegressError, Results, Shard, Suite};
use crate::stop;

/// Something to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Shards were submitted.
    Submitted {
        /// The job.
        job: u64,
        /// Its shards.
        shards: Vec<Shard>,
    },
    /// Jobs of an earlier collector are in the queue.
    Found {
        /// The jobs.
        jobs: Vec<u64>,
    },
    /// How it stands.
    Stands {
        /// Runs that have ended.
        ended: usize,
        /// Tasks that run.
        running: usize,
        /// Tasks that wait.
        waiting: usize,
        /// Why one of them waits.
        reason: String,
    },
    /// A task has left the queue, and runs of its shard have not ended.
    Lost {
        /// The shard.
        shard: Shard,
        /// How many.
        missing: usize,
        /// What became of the task.
        fate: String,
        /// The end of what it printed.
        printed: Option<String>,
        /// Whether it is submitted again.
        again: bool,
    },
    /// The farm does not answer.
    Silent(String),
    /// Jobs were taken out of the queue, because somebody asked to stop.
    Cancelled(Vec<u64>),
}

/// A shard whose runs have not all ended.
#[derive(Clone, Debug, Default)]
struct Open {
    /// How often this program has submitted it.
    submitted: u32,
    /// Its task had left the queue at the last look: what it wrote last may come late over a network.
    gone: bool,
    given_up: bool,
}

struct Collector<'a> {
    folder: &'a Folder,
    begun: &'a Begun,
    suite: &'a Suite,
    request: &'a Request,
    jobs: Jobs,
    open: BTreeMap<Shard, Open>,
    tell: &'a mut dyn FnMut(Event),
}

/// Has the farm run what is left of a suite. Ends when all has ended, shards have been submitted again too often, or somebody asks to
/// [`stop`].
///
/// # Errors
/// If the farm cannot be used or refuses, or results cannot be read.
pub fn collect(
    folder: &Folder,
    begun: &Begun,
    suite: &Suite,
    request: &Request,
    tell: &mut dyn FnMut(Event),
) -> Result<(), RegressError> {
    let shards = request
        .shards
        .clamp(1, u32::try_from(suite.len()).unwrap_or(u32::MAX));
    let request = &Request {
        shards,
        ..request.clone()
    };
    let mut collector = Collector {
        folder,
        begun,
        suite,
        request,
        jobs: Jobs::prepare(folder, request)?,
        open: Shard::all(shards)
            .map(|shard| (shard, Open::default()))
            .collect(),
        tell,
    };
    collector.adopt()?;
    let done = collector.run();
    // Nothing goes on in the queue after an error either.
    match stop::asked() || done.is_err() {
        true => done.and(collector.cancel()),
        false => done,
    }
}

impl Collector<'_> {
    fn run(&mut self) -> Result<(), RegressError> {
        while !stop::asked() {
            let results = Results::read(self.folder, self.begun)?;
            let (suite, open) = (self.suite, &mut self.open);
            open.retain(|shard, _| !results.missing(suite, *shard).is_empty());
            if self.open.values().all(|open| open.given_up) {
                return Ok(());
            }
            if let Some(tasks) = self.tasks()? {
                self.stands(&results, &tasks);
                let lost = self.lost(&results, &tasks);
                self.submit(&lost)?;
            }
            self.wait();
        }
        Ok(())
    }

    /// Takes over what an earlier collector has left in the queue.
    fn adopt(&mut self) -> Result<(), RegressError> {
        let Some(tasks) = self.tasks()? else {
            return Ok(());
        };
        let mut found = Vec::new();
        for submitted in &self.jobs.submitted {
            if !is_active(&tasks, submitted.job) {
                continue;
            }
            let of = submitted.shards.first().map_or(0, |shard| shard.of());
            if of != self.request.shards {
                return Err(SlurmError::OtherSplit {
                    job: submitted.job,
                    of,
                }
                .into());
            }
            found.push(submitted.job);
            for shard in &submitted.shards {
                let state = tasks.get(&(submitted.job, shard.index()));
                if let Some(open) = self.open.get_mut(shard)
                    && state.is_some_and(|state| state.is_active())
                {
                    open.submitted = 1;
                }
            }
        }
        if !found.is_empty() {
            (self.tell)(Event::Found { jobs: found });
        }
        Ok(())
    }

    /// What the queue says; `None` if it does not answer.
    fn tasks(&mut self) -> Result<Option<Tasks>, RegressError> {
        let jobs = self.jobs.numbers();
        if jobs.is_empty() {
            return Ok(Some(Tasks::new()));
        }
        match client::tasks(&jobs)? {
            Ok(tasks) => Ok(Some(tasks)),
            Err(message) => {
                (self.tell)(Event::Silent(message));
                Ok(None)
            }
        }
    }

    fn stands(&mut self, results: &Results, tasks: &Tasks) {
        let active: Vec<_> = tasks.values().filter(|state| state.is_active()).collect();
        let waiting: Vec<_> = active.iter().filter(|state| state.waits()).collect();
        let reason = waiting.first().map_or("", |state| state.reason.as_str());
        (self.tell)(Event::Stands {
            ended: results.done(),
            running: active.len() - waiting.len(),
            waiting: waiting.len(),
            reason: reason.to_owned(),
        });
    }

    /// Shards to submit: those that never were, and those whose task is gone.
    fn lost(&mut self, results: &Results, tasks: &Tasks) -> Vec<Shard> {
        let mut lost = Vec::new();
        for (shard, open) in self.open.iter_mut().filter(|(_, open)| !open.given_up) {
            let job = self.jobs.last(*shard);
            let state = job.and_then(|job| tasks.get(&(job, shard.index())));
            if state.is_some_and(|state| state.is_active()) {
                open.gone = false;
                continue;
            }
            let Some(job) = job.filter(|_| open.submitted > 0) else {
                lost.push(*shard);
                continue;
            };
            if !open.gone {
                open.gone = true;
                continue;
            }
            let again = open.submitted <= self.request.resubmit;
            open.given_up = !again;
            (self.tell)(Event::Lost {
                shard: *shard,
                missing: results.missing(self.suite, *shard).len(),
                fate: match state {
                    Some(state) => format!("task {job}_{}: {}", shard.index(), state.word),
                    None => fate(job, *shard),
                },
                printed: self.jobs.printed(job, *shard),
                again,
            });
            if again {
                lost.push(*shard);
            }
        }
        lost
    }

    fn submit(&mut self, shards: &[Shard]) -> Result<(), RegressError> {
        if shards.is_empty() {
            return Ok(());
        }
        let known = self.open.values().any(|open| open.submitted > 0);
        let submitted = self.jobs.submit(shards);
        for shard in shards {
            let open = self.open.entry(*shard).or_default();
            open.submitted += 1;
            open.gone = false;
        }
        match submitted {
            Ok(job) => {
                let shards = shards.to_vec();
                (self.tell)(Event::Submitted { job, shards });
                Ok(())
            }
            // It has taken others: that may pass, and they go on.
            Err(error @ SlurmError::Refused { .. }) if known => {
                (self.tell)(Event::Silent(error.to_string()));
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the next look.
    fn wait(&self) {
        const NAP: Duration = Duration::from_millis(50);
        let start = Instant::now();
        while !stop::asked() && start.elapsed() < self.request.poll {
            std::thread::sleep(NAP.min(self.request.poll));
        }
    }

    /// Takes what is left of the jobs out of the queue; all of them, if the queue does not answer.
    fn cancel(&mut self) -> Result<(), RegressError> {
        let mut jobs = self.jobs.numbers();
        if jobs.is_empty() {
            return Ok(());
        }
        if let Ok(tasks) = client::tasks(&jobs)? {
            jobs.retain(|job| is_active(&tasks, *job));
        }
        if !jobs.is_empty() {
            client::cancel(&jobs)?;
            (self.tell)(Event::Cancelled(jobs));
        }
        Ok(())
    }
}

/// Whether a task of a job runs or will run.
fn is_active(tasks: &Tasks, job: u64) -> bool {
    let mut tasks = tasks.iter();
    tasks.any(|((of, _), state)| *of == job && state.is_active())
}

/// What became of a task that the queue has forgotten.
fn fate(job: u64, shard: Shard) -> String {
    let task = shard.index();
    match client::account(job, task) {
        Some(state) => format!("task {job}_{task}: {state}"),
        None => format!("task {job}_{task} is not in the queue any more"),
    }
}
