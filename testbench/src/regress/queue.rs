//! In which order runs are done: the longest first, so that at the end no processor waits for a long one.
//!
//! How long a run takes is learned from the other seeds of its vector. Vectors of which nothing is known come before all
//! others, those with the most work first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Results, Suite};
use crate::vector::Vector;

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effort {
    /// Nanoseconds, as it was.
    Known(u64),
    /// Steps and requests, and about how many frames their bytes need.
    Guessed(u64),
}

impl Effort {
    fn of(seconds: f64) -> Self {
        Self::Known((seconds * 1e9) as u64)
    }

    /// What can be said of a vector that never ran.
    fn guessed(vector: &Vector) -> Self {
        /// Bytes of a frame, as most are.
        const FRAME: u64 = 1024;
        let head = &vector.head;
        let bytes = head
            .memory
            .values()
            .map(|memory| *memory.value().bytes.value());
        let traffic = head.traffic.as_ref();
        let traffic = traffic.map_or(0, |traffic| {
            let each = 1 + u64::from(traffic.max_size) / 2 / FRAME;
            traffic.requests.saturating_mul(each)
        });
        let frames = bytes.fold(0, u64::saturating_add) / FRAME;
        let steps = vector.steps.len() as u64;
        Self::Guessed(frames.saturating_add(traffic).saturating_add(steps))
    }
}

/// Runs of one vector.
struct Waiting {
    effort: Effort,
    /// The next one last.
    runs: Vec<usize>,
}

/// See the module.
pub(super) struct Queue {
    vectors: BTreeMap<usize, Waiting>,
    order: BTreeSet<Reverse<(Effort, Reverse<usize>)>>,
    /// Runs that were under way when their program was killed come after all others: it may have been them. The next one
    /// last.
    suspects: Vec<usize>,
}

impl Queue {
    /// A queue of runs.
    pub(super) fn new(suite: &Suite, results: &Results, runs: &[usize]) -> Self {
        let mut queue = Self {
            vectors: BTreeMap::new(),
            order: BTreeSet::new(),
            suspects: Vec::new(),
        };
        for run in runs.iter().rev() {
            if results.cut.contains_key(run) {
                queue.suspects.push(*run);
                continue;
            }
            let Some((place, item)) = suite.item(*run) else {
                continue;
            };
            let waiting = queue.vectors.entry(place).or_insert_with(|| Waiting {
                effort: item.vector().map_or(Effort::Known(0), Effort::guessed),
                runs: Vec::new(),
            });
            waiting.runs.push(*run);
        }
        queue
            .suspects
            .sort_by_key(|run| Reverse((results.cut.get(run).copied(), *run)));
        let vectors = queue.vectors.iter();
        queue.order = vectors
            .map(|(place, waiting)| Reverse((waiting.effort, Reverse(*place))))
            .collect();
        for (run, seconds) in results.seconds() {
            queue.learn(suite, run, seconds);
        }
        queue
    }

    /// The next run.
    pub(super) fn take(&mut self) -> Option<usize> {
        while let Some(Reverse((_, Reverse(place)))) = self.order.first().copied() {
            let waiting = self.vectors.get_mut(&place);
            match waiting.and_then(|waiting| waiting.runs.pop()) {
                Some(run) => return Some(run),
                None => {
                    self.order.pop_first();
                    self.vectors.remove(&place);
                }
            }
        }
        self.suspects.pop()
    }

    /// Takes note of how long a run took.
    pub(super) fn learn(&mut self, suite: &Suite, run: usize, seconds: f64) {
        let place = suite.item(run).map(|(place, _)| place);
        let Some((place, waiting)) =
            place.and_then(|place| Some((place, self.vectors.get_mut(&place)?)))
        else {
            return;
        };
        let effort = match (waiting.effort, Effort::of(seconds)) {
            (known @ Effort::Known(_), new) => known.max(new),
            (Effort::Guessed(_), new) => new,
        };
        self.order
            .remove(&Reverse((waiting.effort, Reverse(place))));
        self.order.insert(Reverse((effort, Reverse(place))));
        waiting.effort = effort;
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::regress::{Seeds, Settings};
    use crate::vector::TargetKind;

    /// Three vectors of random traffic with 10, 300 and 20 requests, and two seeds each.
    fn suite(folder: &Path) -> Suite {
        for (name, requests) in [("a", 10), ("b", 300), ("c", 20)] {
            let text = format!(
                "name = \"{name}\"\nabout = \"Traffic.\"\n[traffic]\nrequests = {requests}\n"
            );
            std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
        }
        of(vec![folder.into()], 2)
    }

    fn of(paths: Vec<PathBuf>, seeds: u64) -> Suite {
        let settings = Settings {
            paths,
            case: None,
            seeds: Seeds::Count(seeds),
            target: TargetKind::Model,
            nodes: BTreeMap::new(),
            scheduler: None,
            inject: None,
            debug: false,
            cover: false,
        };
        Suite::load(settings).unwrap()
    }

    #[test]
    fn few_steps_with_many_bytes_are_much_work() {
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
        let paths = ["send/first.toml", "write/greatest.toml"];
        let suite = of(paths.map(|path| vectors.join(path)).to_vec(), 1);
        let mut queue = Queue::new(&suite, &Results::default(), &[0, 1]);
        assert_eq!((queue.take(), queue.take()), (Some(1), Some(0)));
    }

    #[test]
    fn the_longest_comes_first_and_suspects_last() {
        let folder = tempfile::tempdir().unwrap();
        let suite = suite(folder.path());
        let runs: Vec<usize> = (0..suite.len()).collect();
        let mut results = Results::default();
        results.cut.insert(3, 1);
        let mut queue = Queue::new(&suite, &results, &runs);
        // That with 300 requests first; its other seed was under way at a kill.
        assert_eq!(queue.take(), Some(2));
        queue.learn(&suite, 2, 5.0);
        assert_eq!(queue.take(), Some(4));
        queue.learn(&suite, 4, 0.001);
        assert_eq!(queue.take(), Some(0));
        queue.learn(&suite, 0, 0.5);
        assert_eq!(queue.take(), Some(1));
        assert_eq!(queue.take(), Some(5));
        assert_eq!(queue.take(), Some(3));
        assert_eq!(queue.take(), None);
    }
}
