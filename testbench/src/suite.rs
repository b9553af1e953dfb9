//! Many runs: which vectors, and running them side by side.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::stop;
use crate::vector::{self, Vector, VectorError, VectorFile};

/// A vector of a file, one of its cases.
#[derive(Clone, Debug)]
pub struct Item {
    /// The file.
    pub file: Arc<VectorFile>,
    /// Which of its vectors.
    pub index: usize,
}

impl Item {
    /// The vector.
    pub fn vector(&self) -> Option<&Vector> {
        self.file.vectors.get(self.index)
    }

    /// Its name, with the case.
    pub fn title(&self) -> String {
        self.vector().map_or_else(String::new, Vector::title)
    }
}

/// All vectors of files and folders; with `case` those whose name contains it.
///
/// # Errors
/// What is wrong with a file.
pub fn collect(paths: &[PathBuf], case: Option<&str>) -> Result<Vec<Item>, VectorError> {
    let mut items = Vec::new();
    for path in vector::find(paths)? {
        let file = Arc::new(vector::load(&path)?);
        for index in 0..file.vectors.len() {
            let file = Arc::clone(&file);
            items.push(Item { file, index });
        }
    }
    items.retain(|item| case.is_none_or(|text| item.title().contains(text)));
    Ok(items)
}

/// Threads that run side by side if nobody says how many.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does something with each job, in so many threads; `done` hears of each that has ended, in the order in which
/// they end. The results are in the order of the jobs. Jobs that have not begun when somebody asks to [`stop`] are left out.
pub fn side_by_side<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> T + Sync,
    mut done: impl FnMut(&T),
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let (tell, told) = crossbeam_channel::unbounded();
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let (tell, next, work) = (tell.clone(), &next, &work);
            scope.spawn(move || {
                while !stop::asked() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else {
                        return;
                    };
                    // The receiver lives as long as the scope.
                    let _ = tell.send((number, work(job)));
                }
            });
        }
        drop(tell);
        told.iter().inspect(|(_, result)| done(result)).collect()
    });
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..100).collect();
        let mut heard = 0;
        let results = side_by_side(
            &jobs,
            4,
            |job| {
                std::thread::sleep(std::time::Duration::from_micros(job * 7 % 50));
                job * job
            },
            |_| heard += 1,
        );
        assert_eq!(heard, 100);
        assert!(results.into_iter().eq(jobs.iter().map(|job| job * job)));
        let none: Vec<u64> = side_by_side(&[], 4, |job: &u64| *job, |_| {});
        assert!(none.is_empty());
    }
}
