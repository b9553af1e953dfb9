//! Code coverage of the RTL, as Verilator counts it: points by kind, file and place, added up over instances, runs and
//! builds.

mod dat;
mod error;
mod lcov;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use error::CodeError;

/// What a point counts.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A block of lines was executed.
    Line,
    /// One way of a branch was taken.
    Branch,
    /// A term of an expression decided it.
    Expr,
    /// A bit of a signal changed.
    Toggle,
    /// A `cover property` held.
    User,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Line,
        Self::Branch,
        Self::Expr,
        Self::Toggle,
        Self::User,
    ];

    /// The word for its points, in the plural.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Line => "lines",
            Self::Branch => "branches",
            Self::Expr => "expressions",
            Self::Toggle => "toggles",
            Self::User => "cover properties",
        }
    }

    /// The word that Verilator uses.
    const fn word(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Branch => "branch",
            Self::Expr => "expr",
            Self::Toggle => "toggle",
            Self::User => "user",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where a point is, and what it counts there. Instances and parameters of a module are not told apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// Source file, from `rtl/` on.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is counted.
    pub kind: Kind,
    /// What of the line: a bit of a signal, a way of a branch, the values of an expression.
    pub what: String,
    /// Lines that are executed with it, as `12,14-16`; empty: its own.
    pub lines: String,
}

impl Spot {
    /// The lines that are executed with it.
    pub fn lines(&self) -> BTreeSet<u32> {
        let parts = self.lines.split(',').filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
        });
        let mut lines: BTreeSet<u32> = parts.flatten().collect();
        if lines.is_empty() {
            lines.insert(self.line);
        }
        lines
    }

    /// The room that the file is of: the folder below `rtl/`, or `engine` for what lies in `rtl/` itself.
    pub fn room(&self) -> &str {
        room(&self.file)
    }
}

/// The room that a source file is of.
pub fn room(file: &str) -> &str {
    let below = file.strip_prefix("rtl/").unwrap_or(file);
    below.split_once('/').map_or("engine", |(room, _)| room)
}

/// Counts of many data files of one build, added up before their points are looked at: there are thousands of files with
/// the same points.
#[derive(Clone, Debug, Default)]
pub struct Raw(HashMap<Box<str>, u64, ahash::RandomState>);

impl Raw {
    /// Adds a data file of Verilator's.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
    pub fn add(&mut self, path: &Path) -> Result<(), CodeError> {
        let text = std::fs::read_to_string(path).map_err(|source| CodeError::file(path, source))?;
        let counts = dat::counts(&text).map_err(|wrong| wrong_line(path, wrong))?;
        for (fields, count) in counts {
            self.count(fields, count);
        }
        Ok(())
    }

    /// Adds the counts of another one.
    pub(super) fn add_all(&mut self, other: &Self) {
        for (fields, count) in &other.0 {
            self.count(fields, *count);
        }
    }

    fn count(&mut self, fields: &str, count: u64) {
        match self.0.get_mut(fields) {
            Some(slot) => *slot = slot.saturating_add(count),
            None => {
                self.0.insert(fields.into(), count);
            }
        }
    }

    /// Its points.
    ///
    /// # Errors
    /// If Verilator writes something that is not known.
    pub fn points(&self) -> Result<Points, String> {
        let mut points = Points::default();
        for (fields, count) in &self.0 {
            points.count(dat::spot(fields)?, *count);
        }
        Ok(points)
    }
}

fn wrong_line(path: &Path, (line, cause): (usize, String)) -> CodeError {
    CodeError::Line {
        path: path.into(),
        line,
        cause,
    }
}

/// Counts of points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points(BTreeMap<Spot, u64>);

impl Points {
    /// Reads a data file of Verilator's.
    ///
    /// # Errors
    /// If it cannot be read, or a line of it is not as Verilator writes them.
    pub fn read(path: &Path) -> Result<Self, CodeError> {
        let text = std::fs::read_to_string(path).map_err(|source| CodeError::file(path, source))?;
        dat::parse(&text).map_err(|wrong| wrong_line(path, wrong))
    }

    /// Writes a data file, which Verilator's own tools read too.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CodeError> {
        std::fs::write(path, dat::emit(self)).map_err(|source| CodeError::file(path, source))
    }

    /// Adds the counts of others.
    pub fn add(&mut self, others: Self) {
        if self.0.is_empty() {
            *self = others;
            return;
        }
        for (spot, count) in others.0 {
            let slot = self.0.entry(spot).or_default();
            *slot = slot.saturating_add(count);
        }
    }

    /// Counts at a spot.
    fn count(&mut self, spot: Spot, count: u64) {
        let slot = self.0.entry(spot).or_default();
        *slot = slot.saturating_add(count);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All points, by file and place.
    pub fn iter(&self) -> impl Iterator<Item = (&Spot, u64)> {
        self.0.iter().map(|(spot, count)| (spot, *count))
    }

    /// How often each line of each file was executed: the most of its blocks.
    pub fn executed(&self) -> BTreeMap<&str, BTreeMap<u32, u64>> {
        let mut files: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
        let blocks = self
            .0
            .iter()
            .filter(|(spot, _)| matches!(spot.kind, Kind::Line | Kind::Branch));
        for (spot, count) in blocks {
            let lines = files.entry(&spot.file).or_default();
            for line in spot.lines() {
                let slot = lines.entry(line).or_default();
                *slot = (*slot).max(*count);
            }
        }
        files
    }

    /// In the format of LCOV: executed lines, and the ways of branches.
    pub fn lcov(&self) -> String {
        lcov::text(self)
    }
}
