//! The table of cells.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use tandem_model::ndk::NtStatus;
use toml::Spanned;

use super::{Cell, Flag, Operation, Outcome, Place, named};
use crate::plan::error::{PlanError, Source};
use crate::vector::Fault;
use crate::vector::value::Status;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    operation: Vec<Row>,
}

/// An operation. Without `flags` it has no argument of flags.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: Spanned<Operation>,
    flags: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    returns: Vec<Status>,
    #[serde(default)]
    completes: Vec<Status>,
    /// Cells that there are beside the products.
    #[serde(default)]
    also: Vec<Part>,
    /// Cells of the products that cannot be.
    #[serde(default)]
    never: Vec<Part>,
}

/// Some cells: flags (default: all of the operation, and none) by outcomes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    flags: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    returns: Vec<Status>,
    #[serde(default)]
    completes: Vec<Status>,
    why: Option<Spanned<String>>,
}

/// The word for requests without flags.
const NO_FLAG: &str = "none";

/// The cells of a text, and the flags that each operation has.
pub(super) struct Table {
    pub cells: Vec<(Place, Cell)>,
    pub own: BTreeMap<Operation, Vec<Flag>>,
}

/// Reads them.
pub(super) fn read(source: &Source) -> Result<Table, PlanError> {
    let file: File = source.parse()?;
    let (mut cells, mut own) = (Vec::new(), BTreeMap::new());
    for row in &file.operation {
        let flags = flags(source, row.flags.as_deref().unwrap_or_default())?;
        cells.extend(of(source, row, &flags)?);
        if own.insert(*row.name.get_ref(), flags).is_some() {
            let message = format!("`{:?}` has its row already", row.name.get_ref());
            return Err(source.wrong(Fault::new(row.name.span(), message)));
        }
    }
    Ok(Table { cells, own })
}

fn of(source: &Source, row: &Row, own: &[Flag]) -> Result<Vec<(Place, Cell)>, PlanError> {
    let rows: Vec<Flag> = std::iter::once(None).chain(own.iter().copied()).collect();
    let mut cells = BTreeMap::new();
    let mut order = Vec::new();
    let mut add = |flag: Flag, outcome: Outcome| {
        let place = Place {
            operation: *row.name.get_ref(),
            flag,
            outcome,
        };
        if cells.insert(place, Cell::Shown(BTreeSet::new())).is_none() {
            order.push(place);
        }
    };
    for flag in &rows {
        for outcome in outcomes(&row.returns, &row.completes) {
            add(*flag, outcome);
        }
        for more in &row.also {
            if chosen(source, more, &rows)?.contains(flag) {
                outcomes(&more.returns, &more.completes).for_each(|outcome| add(*flag, outcome));
            }
        }
    }
    if row.flags.is_some() {
        let foreign = named()
            .map(|(_, name)| Some(name))
            .filter(|flag| !own.contains(flag));
        foreign.for_each(|flag| add(flag, Outcome::Returns(NtStatus::INVALID_PARAMETER.0)));
    }
    for never in &row.never {
        let Some(why) = &never.why else {
            let message = "cells that cannot be need a reason";
            return Err(source.wrong(Fault::new(row.name.span(), message).help("as `why = \"…\"`")));
        };
        for flag in chosen(source, never, &rows)? {
            for outcome in outcomes(&never.returns, &never.completes) {
                let place = Place {
                    operation: *row.name.get_ref(),
                    flag,
                    outcome,
                };
                let Some(cell) = cells.get_mut(&place) else {
                    let message = format!(
                        "there is no cell {}",
                        place
                            .to_string()
                            .split_whitespace()
                            .collect::<Vec<_>>()
                            .join(" ")
                    );
                    return Err(source.wrong(Fault::new(why.span(), message)));
                };
                *cell = Cell::Never(why.get_ref().clone());
            }
        }
    }
    Ok(order
        .into_iter()
        .filter_map(|place| Some((place, cells.remove(&place)?)))
        .collect())
}

fn outcomes(returns: &[Status], completes: &[Status]) -> impl Iterator<Item = Outcome> {
    let returns = returns.iter().map(|status| Outcome::Returns(status.0.0));
    returns.chain(
        completes
            .iter()
            .map(|status| Outcome::Completes(status.0.0)),
    )
}

/// The flags that some cells are of.
fn chosen(source: &Source, some: &Part, all: &[Flag]) -> Result<Vec<Flag>, PlanError> {
    match &some.flags {
        Some(names) => flags(source, names),
        None => Ok(all.to_vec()),
    }
}

fn flags(source: &Source, names: &[Spanned<String>]) -> Result<Vec<Flag>, PlanError> {
    let flag = |name: &Spanned<String>| {
        let text = name.get_ref();
        if text == NO_FLAG {
            return Ok(None);
        }
        let known = named().find(|(_, known)| known == text);
        known.map(|(_, name)| Some(name)).ok_or_else(|| {
            let all: Vec<&str> = named().map(|(_, name)| name).collect();
            let fault = Fault::new(name.span(), format!("no flag has the name `{text}`"));
            source.wrong(fault.help(format!("there are {NO_FLAG}, {}", all.join(", "))))
        })
    };
    names.iter().map(flag).collect()
}
