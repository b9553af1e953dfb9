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

fn seconds(file: &Path) -> Option<f64> {
    let text = fs::read_to_string(file).ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}
