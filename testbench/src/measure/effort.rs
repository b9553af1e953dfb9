//! Processor time: what a machine that does other things as well does not spoil.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

/// Seconds on a processor of this thread, and of the other threads of this program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) own: f64,
    pub(super) others: f64,
}

/// Where a system tells the time that a thread has had, as the first number, in nanoseconds.
const OWN: &str = "/proc/thread-self/schedstat";
const ALL: &str = "/proc/self/task";

impl Effort {
    /// So far. A system that does not tell has the time of its clock, and no other threads.
    pub(super) fn now() -> Self {
        let Some(own) = seconds(Path::new(OWN)) else {
            static START: OnceLock<Instant> = OnceLock::new();
            let start = START.get_or_init(Instant::now);
            return Self {
                own: start.elapsed().as_secs_f64(),
                others: 0.0,
            };
        };
        let threads = fs::read_dir(ALL).into_iter().flatten().flatten();
        let all: f64 = threads
            .filter_map(|thread| seconds(&thread.path().join("schedstat")))
            .sum();
        Self {
            own,
            others: all - own,
        }
    }

    /// What was added since.
    pub(super) fn since(self) -> Self {
        let now = Self::now();
        Self {
            own: now.own - self.own,
            others: now.others - self.others,
        }
    }
}

/// Seconds on processors of this whole program so far, its ended threads among them.
pub fn processor_seconds() -> Option<f64> {
    /// Linux counts for programs in this unit, on every machine.
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may have anything in it but this.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    let ticks = next()? + next()?;
    Some(ticks as f64 / TICKS)
}

/// Seconds that this thread has had a processor, and those in which it could have run and others had them all.
pub(crate) fn thread_seconds() -> Option<[f64; 2]> {
    both(Path::new(OWN))
}

fn seconds(file: &Path) -> Option<f64> {
    both(file).map(|[own, _]| own)
}

fn both(file: &Path) -> Option<[f64; 2]> {
    let text = fs::read_to_string(file).ok()?;
    let mut numbers = text.split_whitespace();
    let mut next = || {
        let nanoseconds: u64 = numbers.next()?.parse().ok()?;
        Some(nanoseconds as f64 / 1e9)
    };
    Some([next()?, next()?])
}
