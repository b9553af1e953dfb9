//! Running a shard.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::parts::Parts;
use super::pool::{self, Utilisation};
use super::queue::Queue;
use super::record::{self, Ended, Line, Opened, Told, Writer};
use super::{Begun, Folder, RegressError, Result, Results, Shard, Suite, Words, begun};
use crate::coverage::Cover;
use crate::failures::{self, Failed, Outcome};
use crate::runner;
use crate::stop;
use crate::suite::Item;
use crate::vector::Vector;
use crate::world::{Failure, Report, RunOptions};

/// What is worked on.
pub struct Work<'a> {
    /// All runs.
    pub suite: &'a Suite,
    /// What was begun.
    pub begun: &'a Begun,
    /// Where.
    pub folder: &'a Folder,
    /// Runs at the same time.
    pub jobs: usize,
    /// What a person is told of a failed run.
    pub words: &'a Words<'a>,
}

/// Runs what is left of a shard; `tell` hears of each run that has ended.
///
/// # Errors
/// If another program runs it, or its results cannot be written.
pub fn run_shard(
    work: &Work<'_>,
    shard: Shard,
    tell: &mut dyn FnMut(&Ended),
) -> Result<Utilisation> {
    work.folder.make()?;
    let writer = Writer::open(work.folder.shard(shard), &format!("shard {shard}"))?;
    // Not before: what another one has done until it ended counts.
    let results = Results::read(work.folder, work.begun)?;
    let left = results.missing(work.suite, shard);
    alone(work.folder, &results, shard)?;
    let life = results.shards.get(&shard);
    let life = 1 + life.map_or(0, |life| life.programs.len());
    let job = Job {
        work,
        shard,
        queue: Mutex::new(Queue::new(work.suite, &results, &left)),
        writer: Mutex::new(writer),
    };
    job.write(&[Line::Opened(job.opened())])?;
    let mut parts = work.suite.settings.cover.then(|| {
        let prefix = format!("shard-{}-of-{}-life-{life}", shard.index(), shard.of());
        let command = format!("tandem regress, shard {shard}");
        Parts::new(work.folder, prefix, command)
    });
    let utilisation = pool::work(
        work.jobs.clamp(1, left.len().max(1)),
        || lock(&job.queue).take(),
        |run| job.run(run),
        |ran| match (ran, &mut parts) {
            (Some((ended, Some(cover))), Some(parts)) => {
                tell(&ended);
                parts.take(&mut lock(&job.writer), ended, &cover)
            }
            (ran, _) => {
                ran.iter().for_each(|(ended, _)| tell(ended));
                Ok(())
            }
        },
    )?;
    if let Some(parts) = &mut parts {
        parts.write(&mut lock(&job.writer))?;
    }
    if lock(&job.queue).take().is_none() {
        job.write(&[Line::Closed { at: begun::now() }])?;
    }
    Ok(utilisation)
}

/// Shards of another split have runs of this one: none of them may be under way.
fn alone(folder: &Folder, results: &Results, shard: Shard) -> Result<()> {
    let others = results.shards.keys();
    for other in others.filter(|other| other.of() != shard.of()) {
        let path = folder.shard(*other);
        if record::is_busy(&path)? {
            let what = format!("shard {other}");
            return Err(RegressError::Busy { path, what });
        }
    }
    Ok(())
}

/// What is locked is whole, whatever became of the thread that held it.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A shard that is run.
struct Job<'a> {
    work: &'a Work<'a>,
    shard: Shard,
    queue: Mutex<Queue>,
    writer: Mutex<Writer>,
}

impl Job<'_> {
    fn write(&self, lines: &[Line]) -> Result<()> {
        lock(&self.writer).write(lines)
    }

    fn opened(&self) -> Opened {
        let variable = |name: &str| std::env::var(name).ok();
        let of_array = variable("SLURM_ARRAY_JOB_ID").zip(variable("SLURM_ARRAY_TASK_ID"));
        Opened {
            shard: self.shard,
            suite: self.work.begun.suite.clone(),
            program: self.work.begun.program.clone(),
            commit: self.work.begun.commit.clone(),
            host: host(),
            process: std::process::id(),
            job: of_array.map(|(job, task)| format!("{job}_{task}")),
            at: begun::now(),
        }
    }

    /// Does a run, and says before that it does; what comes of it too, if no coverage is kept with it.
    fn run(&self, run: usize) -> Result<Option<(Ended, Option<Arc<Cover>>)>> {
        self.write(&[Line::Began { run }])?;
        let suite = self.work.suite;
        let cover: Option<Arc<Cover>> = suite.settings.cover.then(Arc::default);
        let Some(done) = one(suite, run, cover.clone()) else {
            return Ok(None);
        };
        if done.was_cut() {
            return Ok(None);
        }
        let ended = self.ended(run, &done);
        lock(&self.queue).learn(suite, run, ended.seconds);
        if cover.is_none() {
            self.write(&[Line::Ended(ended.clone().into())])?;
        }
        Ok(Some((ended, cover)))
    }

    fn ended(&self, run: usize, done: &Done<'_>) -> Ended {
        let path = &done.item.file.path;
        let report = done.outcome.as_ref().ok().cloned().unwrap_or_default();
        Ended {
            run,
            suite: self.work.begun.suite.clone(),
            file: path.clone(),
            title: done.item.title(),
            seed: done.options.seed,
            target: done.options.target_words(),
            shard: self.shard,
            passed: done.outcome.is_ok(),
            seconds: done.seconds,
            frames: report.frames,
            clocks: report.checked.clocks,
            actions: report.checked.actions,
            failure: done.failed().map(|failed| Told {
                kind: failed.failure.kind,
                message: failed.failure.fault.message.clone(),
                gist: Outcome::of(failed.failure).gist(),
                report: (self.work.words)(path, &failed),
            }),
            command: failures::command(path, done.vector, &done.options),
            part: None,
        }
    }
}

/// A run that was done.
pub(super) struct Done<'a> {
    pub(super) item: &'a Item,
    pub(super) vector: &'a Vector,
    pub(super) options: RunOptions,
    pub(super) outcome: std::result::Result<Report, Failure>,
    seconds: f64,
}

impl Done<'_> {
    /// Whether somebody may have stopped it before its end: random traffic ends early then, and what came of it says nothing.
    pub(super) fn was_cut(&self) -> bool {
        stop::asked() && self.vector.head.traffic.is_some()
    }

    /// How it failed, with all that it is of.
    pub(super) fn failed(&self) -> Option<Failed<'_>> {
        Some(Failed {
            vector: self.vector,
            text: &self.item.file.text,
            options: &self.options,
            failure: self.outcome.as_ref().err()?,
            report: "",
        })
    }
}

/// Does a run; there is none with a number that is not of the suite.
pub(super) fn one(suite: &Suite, run: usize, cover: Option<Arc<Cover>>) -> Option<Done<'_>> {
    let (_, item) = suite.item(run)?;
    let options = RunOptions {
        cover,
        ..suite.options(run)?
    };
    let vector = item.vector()?;
    let start = Instant::now();
    let outcome = runner::run(vector, &options);
    Some(Done {
        item,
        vector,
        seconds: start.elapsed().as_secs_f64(),
        options,
        outcome,
    })
}

/// The name of this machine.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| String::new(), |name| name.trim().to_owned())
}
