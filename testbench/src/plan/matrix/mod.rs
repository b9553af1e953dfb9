//! The matrix of requests: operation × flag × outcome, and which vectors show each cell.
//!
//! Which cells there are stands in `plan/matrix.toml`. What shows them is read off the vectors.

mod replay;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tandem_model::ndk::{NtStatus, OpFlags};

use table::Table;

use super::error::{PlanError, Source};
use crate::vector::VectorFile;

/// What is posted, or called on a queue pair: the names of NDKPI without their prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Operation {
    Send,
    SendAndInvalidate,
    Receive,
    SrqReceive,
    Read,
    Write,
    Bind,
    FastRegister,
    Invalidate,
    Flush,
}

/// A flag by its name without prefix; `None` stands for a request without flags.
pub type Flag = Option<&'static str>;

/// All flags, by their names without prefix.
fn named() -> impl Iterator<Item = (OpFlags, &'static str)> {
    let short = |name: &'static str| name.trim_start_matches("NDK_OP_FLAG_");
    OpFlags::NAMED
        .iter()
        .map(move |(flag, name)| (*flag, short(name)))
}

/// The flags that are set. ALLOW_REMOTE_WRITE has the bit of ALLOW_LOCAL_WRITE, which is not meant then.
fn flags_of(flags: OpFlags) -> Vec<Flag> {
    let set = |flag: OpFlags| flags.0 & flag.0 == flag.0;
    let remote = set(OpFlags::ALLOW_REMOTE_WRITE);
    let meant = |flag: OpFlags| set(flag) && !(remote && flag == OpFlags::ALLOW_LOCAL_WRITE);
    let found: Vec<Flag> = named()
        .filter(|(flag, _)| meant(*flag))
        .map(|(_, name)| Some(name))
        .collect();
    match found.is_empty() {
        true => vec![None],
        false => found,
    }
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The call fails with this status.
    Returns(u32),
    /// The request completes with this status; a silent one that succeeds, without an entry.
    Completes(u32),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, status) = match *self {
            Self::Returns(status) => ("returns", status),
            Self::Completes(status) => ("completes", status),
        };
        match NtStatus(status).name() {
            Some(name) => write!(f, "{verb:<10}{name}"),
            None => write!(f, "{verb:<10}{status:#010x}"),
        }
    }
}

/// Place of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The operation.
    pub operation: Operation,
    /// Its flag.
    pub flag: Flag,
    /// How it ends.
    pub outcome: Outcome,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = format!("{:?}", self.operation);
        let flag = self.flag.unwrap_or("no flag");
        write!(f, "{operation:<18}{flag:<28}{}", self.outcome)
    }
}

/// What a vector shows of a request: with which flags it ends how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    operation: Operation,
    flags: u32,
    outcome: Outcome,
}

impl Shown {
    /// The cells that it is in: one for each flag. A call that is refused for a flag which the operation does not have
    /// says nothing of its others.
    fn places(&self, own: &BTreeMap<Operation, Vec<Flag>>) -> Vec<Place> {
        let mut flags = flags_of(OpFlags(self.flags));
        let own = own.get(&self.operation).map_or(&[][..], Vec::as_slice);
        let is_foreign = |flag: &Flag| flag.is_some() && !own.contains(flag);
        if self.outcome == Outcome::Returns(NtStatus::INVALID_PARAMETER.0)
            && flags.iter().any(is_foreign)
        {
            flags.retain(is_foreign);
        }
        let place = |flag| Place {
            operation: self.operation,
            flag,
            outcome: self.outcome,
        };
        flags.into_iter().map(place).collect()
    }
}

/// What becomes of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// These vectors show it; none if it is a hole.
    Shown(BTreeSet<PathBuf>),
    /// It cannot be, for this reason.
    Never(String),
}

/// The matrix.
#[derive(Debug)]
pub struct Matrix {
    /// The cells, in order of the table.
    pub cells: Vec<(Place, Cell)>,
    /// What vectors show and the table does not have, or has as what cannot be.
    pub unforeseen: BTreeMap<Place, BTreeSet<PathBuf>>,
}

impl Matrix {
    /// Reads the table, and what the vectors show of it.
    ///
    /// # Errors
    /// The table cannot be read, or is wrong.
    pub fn read(table: &Path, files: &[VectorFile]) -> Result<Self, PlanError> {
        let Table { mut cells, own } = table::read(&Source::read(table)?)?;
        let mut unforeseen: BTreeMap<Place, BTreeSet<PathBuf>> = BTreeMap::new();
        for file in files {
            let shown: BTreeSet<Shown> = file.vectors.iter().flat_map(replay::shown).collect();
            for place in shown.iter().flat_map(|shown| shown.places(&own)) {
                let cell = cells.iter_mut().find(|(other, _)| *other == place);
                let paths = match cell {
                    Some((_, Cell::Shown(paths))) => paths,
                    _ => unforeseen.entry(place).or_default(),
                };
                paths.insert(file.path.clone());
            }
        }
        Ok(Self { cells, unforeseen })
    }

    /// Cells that no vector shows.
    pub fn holes(&self) -> impl Iterator<Item = &Place> {
        let hole = |cell: &Cell| matches!(cell, Cell::Shown(paths) if paths.is_empty());
        self.cells
            .iter()
            .filter(move |(_, cell)| hole(cell))
            .map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_apart_by_their_bits() {
        assert_eq!(flags_of(OpFlags(0)), [None]);
        assert_eq!(flags_of(OpFlags(0x30)), [Some("ALLOW_REMOTE_WRITE")]);
        let both = [Some("ALLOW_LOCAL_WRITE"), Some("INLINE")];
        assert_eq!(flags_of(OpFlags(0x50)), both);
    }
}
