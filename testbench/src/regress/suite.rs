//! All runs of a regression, each with its number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{RegressError, Result};
use crate::suite::{self, Item};
use crate::targets::{Choice, Inject};
use crate::vector::{TargetKind, VectorError};
use crate::world::RunOptions;

/// Part of every fingerprint: the order of runs that shards are made of.
const ORDER: &str = "tandem suite 1: vectors, and of each its seeds";

/// Which seeds each vector runs with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seeds {
    /// So many, from the vector's own on (1 if it has none).
    Count(u64),
    /// These.
    List(Vec<u64>),
}

impl Seeds {
    /// Those of a vector.
    fn of(&self, own: Option<u64>) -> Vec<u64> {
        match self {
            Self::Count(count) => {
                let first = own.unwrap_or(1);
                (0..*count).map(|turn| first.wrapping_add(turn)).collect()
            }
            Self::List(list) => {
                let mut known = BTreeSet::new();
                let list = list.iter().copied();
                list.filter(|seed| known.insert(*seed)).collect()
            }
        }
    }
}

/// What makes a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Vector files and folders.
    pub paths: Vec<PathBuf>,
    /// Only cases whose name contains this.
    pub case: Option<String>,
    /// Seeds.
    pub seeds: Seeds,
    /// Target of nodes that do not say.
    pub target: TargetKind,
    /// Targets of nodes by their names.
    pub nodes: BTreeMap<String, TargetKind>,
    /// Choices of the model, if it is not the vector that says.
    pub scheduler: Option<Choice>,
    /// What is wrong with the engines on purpose.
    pub inject: Option<Inject>,
    /// Whether engines are of the build with assertions.
    pub debug: bool,
    /// Whether coverage is counted.
    pub cover: bool,
}

impl Settings {
    /// What of others is not the same, in words.
    pub(super) fn differences(&self, others: &Self) -> Vec<String> {
        let seeds = |seeds: &Seeds| match seeds {
            Seeds::Count(count) => format!("{count} seeds"),
            Seeds::List(list) => {
                let list: Vec<String> = list.iter().map(u64::to_string).collect();
                format!("seeds {}", list.join(","))
            }
        };
        let words = |settings: &Self| {
            [
                format!("target {}", settings.options(0).target_words()),
                seeds(&settings.seeds),
                match settings.scheduler {
                    Some(choice) => format!("scheduler {choice:?}").to_lowercase(),
                    None => "the vectors' schedulers".into(),
                },
                match settings.inject {
                    Some(inject) => format!("fault {inject:?} put in").to_lowercase(),
                    None => "no fault put in".into(),
                },
                match settings.debug {
                    true => "the debug build".into(),
                    false => "the fast build".to_owned(),
                },
                match settings.cover {
                    true => "with coverage".into(),
                    false => "without coverage".to_owned(),
                },
            ]
        };
        let pairs = words(others).into_iter().zip(words(self));
        let unequal = pairs.filter(|(theirs, own)| theirs != own);
        unequal
            .map(|(theirs, own)| format!("it has {theirs}, this is {own}"))
            .collect()
    }

    /// Options of a run.
    pub(super) fn options(&self, seed: u64) -> RunOptions {
        RunOptions {
            target: self.target,
            node_targets: self.nodes.clone(),
            seed,
            choice: self.scheduler.unwrap_or_default(),
            inject: self.inject,
            debug: self.debug,
            ..RunOptions::default()
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Suite {
    /// What makes it.
    pub settings: Settings,
    /// Vectors.
    items: Vec<Item>,
    /// Runs: places of their vectors, and seeds.
    runs: Vec<(usize, u64)>,
    /// Two suites with the same one have the same runs, with the same texts.
    pub fingerprint: String,
}

impl Suite {
    /// Loads the vectors.
    ///
    /// # Errors
    /// A vector that cannot be loaded, or no run at all.
    pub fn load(settings: Settings) -> Result<Self> {
        let items = suite::collect(&settings.paths, settings.case.as_deref())?;
        let items = once(items)?;
        let mut runs = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let own = item.vector().and_then(|vector| vector.head.seed);
            let seeds = settings.seeds.of(own);
            runs.extend(seeds.into_iter().map(|seed| (place, seed)));
        }
        if runs.is_empty() {
            return Err(RegressError::Nothing);
        }
        Ok(Self {
            fingerprint: fingerprint(&settings, &items, &runs),
            settings,
            items,
            runs,
        })
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there is none; [`Suite::load`] gives no such one.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The vector of a run, and its place among the vectors.
    pub(super) fn item(&self, run: usize) -> Option<(usize, &Item)> {
        let (place, _) = self.runs.get(run)?;
        Some((*place, self.items.get(*place)?))
    }

    /// How to do a run.
    pub(super) fn options(&self, run: usize) -> Option<RunOptions> {
        let (place, seed) = self.runs.get(run)?;
        let own = self.items.get(*place)?.vector()?.head.scheduler;
        let mut options = self.settings.options(*seed);
        if let (None, Some(choice)) = (self.settings.scheduler, own) {
            options.choice = choice;
        }
        Some(options)
    }

    /// A run in words.
    pub fn title(&self, run: usize) -> String {
        let words = self
            .runs
            .get(run)
            .zip(self.item(run))
            .map(|((_, seed), (_, item))| format!("{}, seed {seed}", item.title()));
        words.unwrap_or_default()
    }
}

/// Each vector once, although folders may have been named twice.
fn once(items: Vec<Item>) -> Result<Vec<Item>> {
    let mut known = BTreeSet::new();
    let mut kept = Vec::new();
    for item in items {
        let path = &item.file.path;
        let real = path.canonicalize().map_err(|source| VectorError::Read {
            path: path.clone(),
            source,
        })?;
        if known.insert((real, item.index)) {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn fingerprint(settings: &Settings, items: &[Item], runs: &[(usize, u64)]) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(ORDER.as_bytes());
    let how = settings.options(0);
    let choice = settings.scheduler.map(|_| how.choice);
    let how = format!(
        "{} {choice:?} {:?} {}",
        how.target_words(),
        how.inject,
        how.debug
    );
    add(how.as_bytes());
    for item in items {
        add(item.file.path.as_os_str().as_encoded_bytes());
        add(&item.index.to_le_bytes());
        add(item.file.text.as_bytes());
    }
    for (place, seed) in runs {
        add(&[place.to_le_bytes(), seed.to_le_bytes()].concat());
    }
    hex(&hash.finalize())
}

/// Half of a hash, which is enough to tell things apart.
pub(super) fn hex(bytes: &[u8]) -> String {
    let half = bytes.iter().take(bytes.len() / 2);
    half.map(|byte| format!("{byte:02x}")).collect()
}
