//! Failures are done again: to see whether they fail always, and to keep what explains them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::pool::{self, Utilisation};
use super::record::{Again, Ended, Line, Writer};
use super::work::{Work, one};
use super::{Result, Results};
use crate::failures::{self, Failed};

/// What is kept of failures.
#[derive(Clone, Copy, Debug)]
pub struct Retrace {
    /// Of so many of each kind, the frames, and of engines the waves.
    pub of_each_kind: usize,
}

/// A failure to do again.
struct Todo {
    run: usize,
    seconds: f64,
    keep: bool,
}

/// Does runs again that have failed and were not done again yet; `tell` hears of each that has ended.
///
/// # Errors
/// If another program does so, or it cannot be noted.
pub fn run_again(
    work: &Work<'_>,
    retrace: Retrace,
    tell: &mut dyn FnMut(&Again),
) -> Result<Utilisation> {
    work.folder.make()?;
    let what = "doing failures again";
    let mut writer = Writer::open(work.folder.again(), what)?;
    let results = Results::read(work.folder, work.begun)?;
    let mut todo = todo(&results, retrace);
    let jobs = work.jobs.clamp(1, todo.len().max(1));
    // The longest first, from the end.
    todo.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let todo = Mutex::new(todo);
    pool::work(
        jobs,
        || todo.lock().unwrap_or_else(PoisonError::into_inner).pop(),
        |todo| Ok(again(work, &todo)),
        |again| {
            let Some(again) = again else {
                return Ok(());
            };
            tell(&again);
            writer.write(&[Line::Again(again)])
        },
    )
}

impl Results {
    /// Runs that have failed each time, and were not done again.
    pub fn to_do_again(&self) -> usize {
        self.failed_once().count()
    }

    fn failed_once(&self) -> impl Iterator<Item = &Ended> {
        let ended = self.ended.iter();
        ended.filter_map(|(run, ended)| {
            let failed = ended.iter().all(|ended| !ended.passed);
            let new = !self.again.contains_key(run);
            ended.first().filter(|_| failed && new)
        })
    }
}

fn todo(results: &Results, retrace: Retrace) -> Vec<Todo> {
    let kind = |ended: &Ended| {
        let failure = ended.failure.as_ref();
        failure.map(|failure| failure.gist.clone())
    };
    let mut kept: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for again in results
        .again
        .values()
        .filter(|again| !again.files.is_empty())
    {
        let ended = results.ended.get(&again.run);
        if let Some(ended) = ended.and_then(|ended| ended.first()) {
            *kept.entry(kind(ended)).or_default() += 1;
        }
    }
    let failed = results.failed_once();
    let todo = failed.map(|ended| {
        let kept = kept.entry(kind(ended)).or_default();
        let keep = *kept < retrace.of_each_kind;
        *kept += usize::from(keep);
        Todo {
            run: ended.run,
            seconds: ended.seconds,
            keep,
        }
    });
    todo.collect()
}

/// Does a run again, and keeps what is to be kept if it fails.
fn again(work: &Work<'_>, todo: &Todo) -> Option<Again> {
    let done = one(work.suite, todo.run, None).filter(|done| !done.was_cut())?;
    let mut again = Again {
        run: todo.run,
        suite: work.begun.suite.clone(),
        passed: done.outcome.is_ok(),
        files: Vec::new(),
        note: None,
        command: failures::command(&done.item.file.path, done.vector, &done.options),
    };
    let Some(failed) = done.failed().filter(|_| todo.keep) else {
        return Some(again);
    };
    let report = (work.words)(&done.item.file.path, &failed);
    let failed = Failed {
        report: &report,
        ..failed
    };
    match failures::keep(&work.folder.failures(), &failed) {
        Ok(kept) => {
            again.command = failures::command(&kept.vector, failed.vector, failed.options);
            again.files = kept.files;
            again.note = kept.note;
        }
        Err(error) => again.note = Some(error.to_string()),
    }
    Some(again)
}
