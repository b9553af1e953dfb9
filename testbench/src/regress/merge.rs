//! What came of a regression: each run once, whoever ran it and how often.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;

use super::record::{self, Again, Ended, Told};
use super::{Begun, Folder, Result, Results, Shard, Suite, begun};
use crate::coverage::data::Data;

/// Name of the merged coverage.
const COVERAGE: &str = "regress";

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It passed.
    Passed,
    /// It failed, and again when it was done again.
    Failed,
    /// It failed, and passed with the same seed. That is not a pass: something of it is not decided by the seed.
    Flaky,
    /// Nobody has run it to its end.
    Missing,
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// File of the vector.
    pub file: PathBuf,
    /// Its name, with the case.
    pub title: String,
    /// Seed.
    pub seed: u64,
    /// What nodes ran on.
    pub target: String,
    /// What came of it.
    pub verdict: Verdict,
    /// How long it took.
    pub seconds: f64,
    /// Where it ran.
    pub shard: Option<Shard>,
    /// The command that does it again.
    pub command: String,
    /// How it failed.
    pub failure: Option<Told>,
    /// Whether it was done again and passed then; `None`: it was not.
    pub passed_again: Option<bool>,
    /// Files that are kept of it.
    pub files: Vec<PathBuf>,
    /// What there is to say about it.
    pub note: Option<String>,
    /// How often it was under way when its program was killed.
    pub cut: u32,
}

/// A shard.
#[derive(Clone, Debug, Serialize)]
pub struct ShardRow {
    /// Which.
    pub shard: Shard,
    /// Its runs.
    pub runs: usize,
    /// Those that have ended.
    pub ended: usize,
    /// Programs that ran it, one after another: machines, with the job.
    pub programs: Vec<String>,
    /// Whether one runs it now.
    pub running: bool,
}

/// Failures that differ in numbers only.
#[derive(Clone, Debug, Serialize)]
pub struct Kind {
    /// What they say, without numbers.
    pub gist: String,
    /// How many there are.
    pub runs: usize,
    /// The first of them.
    pub first: String,
}

/// See the module.
#[derive(Clone, Debug, Serialize)]
pub struct Merged {
    /// When it was put together (RFC 3339).
    pub made: String,
    /// When it was begun (RFC 3339).
    pub begun: String,
    /// Fingerprint of the suite.
    pub suite: String,
    /// Fingerprint of the program.
    pub program: String,
    /// Commit.
    pub commit: Option<String>,
    /// What nodes ran on.
    pub target: String,
    /// How many runs there are of each verdict.
    pub passed: usize,
    /// See [`Verdict::Failed`].
    pub failed: usize,
    /// See [`Verdict::Flaky`].
    pub flaky: usize,
    /// See [`Verdict::Missing`].
    pub missing: usize,
    /// Seconds of all runs, each counted once.
    pub seconds: f64,
    /// Frames.
    pub frames: u64,
    /// Clocks.
    pub clocks: u64,
    /// Decisions checked.
    pub actions: u64,
    /// Lines of results that nobody could read.
    pub damaged: usize,
    /// Shards.
    pub shards: Vec<ShardRow>,
    /// Kinds of failures, the most frequent first.
    pub kinds: Vec<Kind>,
    /// All runs.
    pub runs: Vec<RunRow>,
}

impl Merged {
    /// Puts together what lies in a folder, and its coverage.
    ///
    /// # Errors
    /// If something there cannot be read, or is of something else.
    pub fn new(folder: &Folder, begun: &Begun, suite: &Suite) -> Result<Self> {
        let results = Results::read(folder, begun)?;
        let runs: Vec<RunRow> = (0..suite.len())
            .filter_map(|run| row(suite, &results, run))
            .collect();
        let count = |verdict| runs.iter().filter(|row| row.verdict == verdict).count();
        let counted = || results.ended.values().filter_map(|ended| ended.first());
        let merged = Self {
            made: begun::now(),
            begun: begun.at.clone(),
            suite: begun.suite.clone(),
            program: begun.program.clone(),
            commit: begun.commit.clone(),
            target: begun.settings.options(0).target_words(),
            passed: count(Verdict::Passed),
            failed: count(Verdict::Failed),
            flaky: count(Verdict::Flaky),
            missing: count(Verdict::Missing),
            seconds: counted().map(|ended| ended.seconds).sum(),
            frames: counted().map(|ended| ended.frames).sum(),
            clocks: counted().map(|ended| ended.clocks).sum(),
            actions: counted().map(|ended| ended.actions).sum(),
            damaged: results.damaged,
            shards: shards(folder, suite, &results)?,
            kinds: kinds(&runs),
            runs,
        };
        if suite.settings.cover {
            cover(folder, &results)?;
        }
        Ok(merged)
    }

    /// Whether every run passed.
    pub fn is_passed(&self) -> bool {
        self.passed == self.runs.len()
    }
}

fn row(suite: &Suite, results: &Results, run: usize) -> Option<RunRow> {
    let (_, item) = suite.item(run)?;
    let options = suite.options(run)?;
    let ended = results.ended.get(&run).map_or(&[][..], Vec::as_slice);
    let again = results.again.get(&run);
    let failed = ended.iter().find(|ended| !ended.passed);
    let counted: Option<&Ended> = failed.or(ended.first());
    let verdict = verdict(ended, again);
    Some(RunRow {
        file: item.file.path.clone(),
        title: item.title(),
        seed: options.seed,
        target: options.target_words(),
        verdict,
        seconds: counted.map_or(0.0, |ended| ended.seconds),
        shard: counted.map(|ended| ended.shard),
        command: match (again, counted) {
            (Some(again), _) => again.command.clone(),
            (None, Some(ended)) => ended.command.clone(),
            (None, None) => crate::failures::command(&item.file.path, item.vector()?, &options),
        },
        failure: failed.and_then(|ended| ended.failure.clone()),
        passed_again: again.map(|again| again.passed),
        files: again.map_or_else(Vec::new, |again| again.files.clone()),
        note: again.and_then(|again| again.note.clone()),
        cut: results.cut.get(&run).copied().unwrap_or(0),
    })
}

fn verdict(ended: &[Ended], again: Option<&Again>) -> Verdict {
    let outcomes = ended.iter().map(|ended| ended.passed);
    let outcomes: BTreeSet<bool> = outcomes.chain(again.map(|again| again.passed)).collect();
    match (outcomes.contains(&true), outcomes.contains(&false)) {
        _ if ended.is_empty() => Verdict::Missing,
        (true, true) => Verdict::Flaky,
        (_, true) => Verdict::Failed,
        _ => Verdict::Passed,
    }
}

/// Shards that somebody has begun, and those that they leave open.
fn shards(folder: &Folder, suite: &Suite, results: &Results) -> Result<Vec<ShardRow>> {
    let splits: BTreeSet<u32> = results.shards.keys().map(|shard| shard.of()).collect();
    let mut rows = Vec::new();
    for shard in splits.into_iter().flat_map(Shard::all) {
        let runs = (0..suite.len()).filter(|run| shard.has(*run)).count();
        let ended = runs - results.missing(suite, shard).len();
        let life = results.shards.get(&shard);
        if life.is_none() && ended == runs {
            continue;
        }
        let programs = life.map_or(&[][..], |life| life.programs.as_slice());
        let programs = programs.iter().map(|program| match &program.job {
            Some(job) => format!("{}, job {job}", program.host),
            None => format!("{}, process {}", program.host, program.process),
        });
        let path = folder.shard(shard);
        rows.push(ShardRow {
            shard,
            runs,
            ended,
            programs: programs.collect(),
            running: path.is_file() && record::is_busy(&path)?,
        });
    }
    Ok(rows)
}

fn kinds(runs: &[RunRow]) -> Vec<Kind> {
    let mut kinds: BTreeMap<&str, Kind> = BTreeMap::new();
    for row in runs {
        let Some(failure) = &row.failure else {
            continue;
        };
        let kind = kinds.entry(&failure.gist).or_insert_with(|| Kind {
            gist: failure.gist.clone(),
            runs: 0,
            first: format!("{}, seed {}", row.title, row.seed),
        });
        kind.runs += 1;
    }
    let mut kinds: Vec<Kind> = kinds.into_values().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.runs));
    kinds
}

/// Puts coverage together.
fn cover(folder: &Folder, results: &Results) -> Result<()> {
    let mut data = Data::default();
    for part in &results.parts {
        data.read_named(&folder.parts(), part)?;
    }
    data.commands.sort();
    data.commands.dedup();
    let path = folder.coverage();
    std::fs::create_dir_all(&path).map_err(super::at(&path))?;
    data.write(&path, COVERAGE)?;
    Ok(())
}
