//! What all shards have left so far.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{self, Again, Ended, Line, Opened};
use super::{Begun, Folder, RegressError, Result, Shard, Suite};

/// A shard that some program has begun.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    /// The programs that ran it, one after another.
    pub(super) programs: Vec<Opened>,
    /// Whether the last one has done all of it.
    pub(super) closed: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// What came of runs, by their numbers. A run has more than one only if two programs ran it.
    pub(super) ended: BTreeMap<usize, Vec<Ended>>,
    /// Runs that were under way when their program was killed, and how often.
    pub(super) cut: BTreeMap<usize, u32>,
    /// Runs that failed and were done again.
    pub(super) again: BTreeMap<usize, Again>,
    /// Shards.
    pub(super) shards: BTreeMap<Shard, Life>,
    /// Names of coverage that counts.
    pub(super) parts: BTreeSet<String>,
    /// Lines that nobody can read.
    pub damaged: usize,
}

impl Results {
    /// Reads them.
    ///
    /// # Errors
    /// If a file cannot be read, or is of another suite or program.
    pub fn read(folder: &Folder, begun: &Begun) -> Result<Self> {
        let mut results = Self::default();
        for path in folder.lines()? {
            let (lines, damaged) = record::read(&path)?;
            results.damaged += damaged;
            results
                .take(folder, begun, lines)
                .map_err(|cause| RegressError::Mixed {
                    path,
                    differences: vec![cause],
                })?;
        }
        Ok(results)
    }

    /// Takes the lines of a file; what is wrong with one, if it is of something else.
    fn take(&mut self, folder: &Folder, begun: &Begun, lines: Vec<Line>) -> Result<(), String> {
        let same = |suite: &str, what: String| match suite == begun.suite {
            true => Ok(()),
            false => Err(format!("{what} is of another suite")),
        };
        let (mut shard, mut under_way) = (None, BTreeSet::new());
        for line in lines {
            match line {
                Line::Opened(opened) => {
                    same(&opened.suite, format!("shard {}", opened.shard))?;
                    if opened.program != begun.program {
                        return Err(format!("shard {} ran in another build", opened.shard));
                    }
                    self.cut(&mut under_way);
                    shard = Some(opened.shard);
                    let life = self.shards.entry(opened.shard).or_default();
                    life.closed = false;
                    life.programs.push(opened);
                }
                Line::Began { run } => {
                    under_way.insert(run);
                }
                Line::Ended(ended) => {
                    same(&ended.suite, format!("`{}`", ended.title))?;
                    under_way.remove(&ended.run);
                    let part = ended.part.as_ref();
                    if part.is_none_or(|part| self.has_part(folder, part)) {
                        self.ended.entry(ended.run).or_default().push(*ended);
                    }
                }
                Line::Closed { .. } => {
                    under_way.clear();
                    if let Some(life) = shard.and_then(|shard| self.shards.get_mut(&shard)) {
                        life.closed = true;
                    }
                }
                Line::Again(again) => {
                    same(&again.suite, "a run that was done again".into())?;
                    self.again.insert(again.run, again);
                }
            }
        }
        self.cut(&mut under_way);
        Ok(())
    }

    fn cut(&mut self, under_way: &mut BTreeSet<usize>) {
        for run in std::mem::take(under_way) {
            *self.cut.entry(run).or_default() += 1;
        }
    }

    fn has_part(&mut self, folder: &Folder, part: &str) -> bool {
        let there =
            self.parts.contains(part) || folder.parts().join(format!("{part}.json")).is_file();
        if there {
            self.parts.insert(part.to_owned());
        }
        there
    }

    /// How many runs have ended.
    pub fn done(&self) -> usize {
        self.ended.len()
    }

    /// Runs of a shard that have not ended.
    pub fn missing(&self, suite: &Suite, shard: Shard) -> Vec<usize> {
        let runs = (0..suite.len()).filter(|run| shard.has(*run));
        runs.filter(|run| !self.ended.contains_key(run)).collect()
    }

    /// How long runs took.
    pub(super) fn seconds(&self) -> impl Iterator<Item = (usize, f64)> {
        let ended = self.ended.values().flatten();
        ended.map(|ended| (ended.run, ended.seconds))
    }
}
