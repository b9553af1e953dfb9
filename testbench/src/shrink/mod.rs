//! Making a vector that fails smaller.
//!
//! A smaller one is taken if it is a vector (it passes all checks), if it fails in the same way
//! ([`Outcome::gist`]), and if it asks for nothing wrong: where the first one passed on the model with nothing wrong put
//! in, the smaller one does too. So what an expectation needs is not cut away from under it.

mod cuts;

use std::time::{Duration, Instant};

use thiserror::Error;
use toml::{Table, Value};

use crate::failures::{self, Outcome};
use crate::targets::Choice;
use crate::vector::{self, TargetKind, Vector};
use crate::world::RunOptions;
use crate::{runner, stop};

/// What to make smaller.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Text of the vector's file.
    pub text: &'a str,
    /// The case that fails; empty if there are none.
    pub case: &'a str,
    /// How it runs.
    pub options: &'a RunOptions,
    /// No run begins after this time.
    pub time: Duration,
}

/// Why nothing was made smaller.
#[derive(Debug, Error)]
pub enum ShrinkError {
    /// It is no vector.
    #[error("{0}")]
    Vector(String),
    /// It does not fail.
    #[error("it passes: there is no failure that a smaller one could have")]
    Passes,
}

/// A smaller vector.
#[derive(Clone, Debug)]
pub struct Smaller {
    /// Its text.
    pub text: String,
    /// How it fails.
    pub failure: Outcome,
    /// Steps before and after.
    pub steps: [usize; 2],
    /// Bytes of text before and after, both written in the same way.
    pub bytes: [usize; 2],
    /// Requests of random traffic before and after.
    pub requests: Option<[i64; 2]>,
    /// Vectors that were run.
    pub runs: u64,
    /// Whether what is wrong is in the engine, and not in what the vector asks for: the model was asked.
    pub asked: bool,
    /// Whether time was over first.
    pub late: bool,
}

/// Makes a vector smaller.
///
/// # Errors
/// There is nothing that fails.
pub fn shrink(job: &Job<'_>) -> Result<Smaller, ShrinkError> {
    let wrong = |cause: String| ShrinkError::Vector(cause);
    let mut doc: Table = job
        .text
        .parse()
        .map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let vector = find(job.text, job.case).map_err(wrong)?;
    let failure = runner::run(&vector, job.options);
    let failure = Outcome::of(&failure.err().ok_or(ShrinkError::Passes)?);
    cuts::one_case(&mut doc, |text| find(text, job.case).is_ok());
    pin(&mut doc, job.options);
    let before = written(&doc);
    let steps = count(&doc);
    let requests = requests(&doc);
    let asked = passes_elsewhere(&vector, job.options);
    let mut search = Search {
        job,
        gist: failure.gist(),
        asked,
        begun: Instant::now(),
        runs: 0,
        late: false,
        failure,
    };
    cuts::all(&mut doc, &mut |doc| search.holds(doc));
    let text = written(&doc);
    Ok(Smaller {
        failure: search.failure,
        steps: [steps, count(&doc)],
        bytes: [before.len(), text.len()],
        requests: requests.zip(self::requests(&doc)).map(|(a, b)| [a, b]),
        runs: search.runs,
        asked,
        late: search.late,
        text,
    })
}

/// The vector of a case.
fn find(text: &str, case: &str) -> Result<Vector, String> {
    let vectors = vector::checked(text).map_err(|fault| fault.message)?;
    let mut vectors = vectors.into_iter();
    let found = vectors.find(|vector| vector.case == case);
    found.ok_or_else(|| format!("no case `{case}`"))
}

/// Seed and scheduler stand in the vector from now on, so that it runs alone as it ran here.
fn pin(doc: &mut Table, options: &RunOptions) {
    if let Ok(seed) = i64::try_from(options.seed) {
        doc.insert("seed".into(), Value::Integer(seed));
    }
    let scheduler = match options.choice {
        Choice::Fair => "fair",
        Choice::Random => "random",
        Choice::Adversarial => "adversarial",
    };
    doc.insert("scheduler".into(), Value::String(scheduler.into()));
}

fn written(doc: &Table) -> String {
    // A table that was read can be written.
    toml::to_string(doc).unwrap_or_default()
}

fn count(doc: &Table) -> usize {
    let steps = doc.get("steps").and_then(Value::as_array);
    steps.map_or(0, Vec::len)
}

fn requests(doc: &Table) -> Option<i64> {
    doc.get("traffic")?.get("requests")?.as_integer()
}

/// Whether a vector passes on the model with nothing wrong put in; `false` too if that is how it ran.
fn passes_elsewhere(vector: &Vector, options: &RunOptions) -> bool {
    let is_model = failures::engines(vector, options).is_empty();
    if is_model && options.inject.is_none() && options.breach.is_none() {
        return false;
    }
    runner::run(vector, &on_the_model(vector, options)).is_ok()
}

fn on_the_model(vector: &Vector, options: &RunOptions) -> RunOptions {
    let nodes = failures::nodes(vector).into_iter();
    RunOptions {
        target: TargetKind::Model,
        node_targets: nodes
            .map(|(name, _)| (name.to_owned(), TargetKind::Model))
            .collect(),
        seed: options.seed,
        choice: options.choice,
        ..RunOptions::default()
    }
}

/// A search as it goes on.
struct Search<'a> {
    job: &'a Job<'a>,
    gist: String,
    asked: bool,
    begun: Instant,
    runs: u64,
    late: bool,
    failure: Outcome,
}

impl Search<'_> {
    /// Whether what was made smaller still is what is looked for.
    fn holds(&mut self, doc: &Table) -> bool {
        if self.late || stop::asked() || self.begun.elapsed() > self.job.time {
            self.late = true;
            return false;
        }
        let Ok(vectors) = vector::checked(&written(doc)) else {
            return false;
        };
        let [vector] = vectors.as_slice() else {
            return false;
        };
        self.runs += 1;
        if self.asked && runner::run(vector, &on_the_model(vector, self.job.options)).is_err() {
            return false;
        }
        match runner::run(vector, self.job.options) {
            Ok(_) => false,
            Err(failure) => {
                let outcome = Outcome::of(&failure);
                let is_same = outcome.gist() == self.gist;
                if is_same {
                    self.failure = outcome;
                }
                is_same
            }
        }
    }
}
