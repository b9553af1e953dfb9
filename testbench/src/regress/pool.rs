//! Threads that do runs side by side, and how busy they are.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::Serialize;

use super::Result;
use crate::measure::thread_seconds;
use crate::stop;

/// How busy threads were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Utilisation {
    /// Threads.
    pub jobs: usize,
    /// Seconds from the first run's begin to the last one's end.
    pub wall: f64,
    /// Seconds that threads spent in runs, added up.
    pub busy: f64,
    /// Seconds that threads had a processor, added up; 0 where the system does not tell.
    pub processors: f64,
    /// Seconds in which threads could have run, and other programs had all processors.
    pub queued: f64,
}

impl Utilisation {
    /// Share of the time in which the threads had a run, in percent. What else the machine does is not in it.
    pub fn busy_percent(&self) -> f64 {
        percent(self.busy, self.wall * self.jobs as f64)
    }

    /// Share of the processors that the threads had, in percent.
    pub fn processors_percent(&self) -> f64 {
        percent(self.processors, self.wall * self.jobs as f64)
    }

    /// The same of what other programs have left to them.
    pub fn left_percent(&self) -> f64 {
        percent(self.processors, self.wall * self.jobs as f64 - self.queued)
    }
}

fn percent(part: f64, whole: f64) -> f64 {
    100.0 * part / whole.max(f64::MIN_POSITIVE)
}

/// What a thread has to tell.
enum Told<T> {
    /// What came of a run, and its seconds.
    Run(Result<T>, f64),
    /// The thread has ended; its times.
    End([f64; 2]),
}

/// Takes a run after the other and works on it, in so many threads; `done` is told what came of each. Ends early if somebody asks
/// to [`stop`], or something cannot be noted.
pub(super) fn work<Job, T: Send>(
    jobs: usize,
    take: impl Fn() -> Option<Job> + Sync,
    work: impl Fn(Job) -> Result<T> + Sync,
    mut done: impl FnMut(T) -> Result<()>,
) -> Result<Utilisation> {
    let halt = AtomicBool::new(false);
    let start = Instant::now();
    let (tell, told) = crossbeam_channel::unbounded();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (tell, take, work, halt) = (tell.clone(), &take, &work, &halt);
            // The receiver lives as long as the scope.
            let tell = move |told| drop(tell.send(told));
            scope.spawn(move || {
                while !stop::asked() && !halt.load(Ordering::Relaxed) {
                    let begin = Instant::now();
                    let Some(job) = take() else {
                        break;
                    };
                    let result = work(job);
                    tell(Told::Run(result, begin.elapsed().as_secs_f64()));
                }
                tell(Told::End(thread_seconds().unwrap_or_default()));
            });
        }
        drop(tell);
        let mut used = Utilisation {
            jobs,
            ..Utilisation::default()
        };
        let mut wrong = Ok(());
        for told in told {
            match told {
                Told::Run(result, seconds) => {
                    used.busy += seconds;
                    let noted = result.and_then(&mut done);
                    if let (Ok(()), Err(error)) = (&wrong, noted) {
                        halt.store(true, Ordering::Relaxed);
                        wrong = Err(error);
                    }
                }
                Told::End([processors, queued]) => {
                    used.processors += processors;
                    used.queued += queued;
                }
            }
        }
        used.wall = start.elapsed().as_secs_f64();
        wrong.map(|()| used)
    })
}
