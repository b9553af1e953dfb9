//! The folder of a regression, and what lies where in it.

use std::path::{Path, PathBuf};

use super::{RegressError, Result, Shard, at, record};

/// What was begun.
pub(super) const BEGUN: &str = "regress.json";
/// Everything that the folder may hold.
const ALL: [&str; 7] = [
    BEGUN,
    "results",
    "failures",
    "coverage",
    "slurm",
    "report.json",
    "junit.xml",
];

/// See the module.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes those of its folders that runs need.
    pub(super) fn make(&self) -> Result<()> {
        let parts = self.parts();
        std::fs::create_dir_all(&parts).map_err(at(&parts))
    }

    /// Takes everything away that regressions leave in it.
    ///
    /// # Errors
    /// If something cannot be taken away, or a program runs a shard of it.
    pub fn clear(&self) -> Result<()> {
        if !self.begun().is_file() {
            return Ok(());
        }
        for path in self.lines()? {
            if record::is_busy(&path)? {
                let what = "a shard of it".into();
                return Err(RegressError::Busy { path, what });
            }
        }
        for name in ALL {
            let path = self.0.join(name);
            let removed = match path.is_dir() {
                true => std::fs::remove_dir_all(&path),
                false if path.exists() => std::fs::remove_file(&path),
                false => Ok(()),
            };
            removed.map_err(at(&path))?;
        }
        Ok(())
    }

    /// What was begun.
    pub(super) fn begun(&self) -> PathBuf {
        self.0.join(BEGUN)
    }

    /// Where the lines of all shards are.
    fn results(&self) -> PathBuf {
        self.0.join("results")
    }

    /// Files with lines of results, in order of their names.
    pub(super) fn lines(&self) -> Result<Vec<PathBuf>> {
        let parent = self.results();
        let entries = match std::fs::read_dir(&parent) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(at(&parent))?,
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(at(&parent))?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Those of one shard.
    pub(super) fn shard(&self, shard: Shard) -> PathBuf {
        let name = format!("shard-{}-of-{}.jsonl", shard.index(), shard.of());
        self.results().join(name)
    }

    /// Those of runs that were done again.
    pub(super) fn again(&self) -> PathBuf {
        self.results().join("again.jsonl")
    }

    /// Coverage that shards counted.
    pub(super) fn parts(&self) -> PathBuf {
        self.results().join("coverage")
    }

    /// What is kept of failures.
    pub fn failures(&self) -> PathBuf {
        self.0.join("failures")
    }

    /// All coverage, for `tandem cover`.
    pub fn coverage(&self) -> PathBuf {
        self.0.join("coverage")
    }

    /// What a farm needs and leaves.
    pub(super) fn slurm(&self) -> PathBuf {
        self.0.join("slurm")
    }

    /// What came of all of it, for programs.
    pub fn report(&self) -> PathBuf {
        self.0.join("report.json")
    }

    /// The same for build servers.
    pub fn junit(&self) -> PathBuf {
        self.0.join("junit.xml")
    }
}
