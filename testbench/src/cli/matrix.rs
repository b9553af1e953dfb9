//! `tandem list --matrix`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use miette::Result;
use serde::Serialize;
use tandem_testbench::plan::{Cell, Matrix, Place};
use tandem_testbench::vector;

use super::output::Output;
use super::{VECTORS, report};

/// Where the table of cells is.
const TABLE: &str = "testbench/plan/matrix.toml";

/// So many vectors are named for a cell.
const NAMED: usize = 3;

/// A cell as JSON.
#[derive(Serialize)]
struct Json<'a> {
    operation: String,
    flag: Option<&'static str>,
    outcome: String,
    /// Vectors that show it.
    vectors: Vec<&'a Path>,
    /// Why it cannot be.
    never: Option<&'a str>,
}

impl<'a> Json<'a> {
    fn of((place, cell): &'a (Place, Cell)) -> Self {
        let (vectors, never) = match cell {
            Cell::Shown(paths) => (paths.iter().map(PathBuf::as_path).collect(), None),
            Cell::Never(why) => (Vec::new(), Some(why.as_str())),
        };
        Self {
            operation: format!("{:?}", place.operation),
            flag: place.flag,
            outcome: place.outcome.to_string(),
            vectors,
            never,
        }
    }
}

/// Prints the matrix. It fails if vectors show what the table does not have.
pub fn run(files: &[PathBuf], holes: bool, output: Output) -> Result<bool> {
    let files = files.iter().map(|path| vector::load(path));
    let files: Vec<_> = files.collect::<Result<_, _>>().map_err(report::vector)?;
    let matrix = Matrix::read(Path::new(TABLE), &files).map_err(report::plan)?;
    let json: Vec<Json<'_>> = matrix.cells.iter().map(Json::of).collect();
    output.tell(&json, || {
        if holes {
            println!("Cells that no vector shows:\n");
            matrix.holes().for_each(|place| println!("{place}"));
            println!();
        }
        let mut last = None;
        for (place, cell) in &matrix.cells {
            print_cell(last, place, cell);
            last = Some(place);
        }
        if output.is_full() {
            print_summary(&matrix);
        }
    })?;
    for (place, paths) in &matrix.unforeseen {
        eprintln!(
            "{place}\n    is shown by {}, and not in the table",
            names(paths)
        );
    }
    Ok(matrix.unforeseen.is_empty())
}

fn print_cell(last: Option<&Place>, place: &Place, cell: &Cell) {
    let operation = last.is_none_or(|last| last.operation != place.operation);
    if operation {
        println!("{:?}", place.operation);
    }
    if operation || last.is_none_or(|last| last.flag != place.flag) {
        println!("  {}", place.flag.unwrap_or("no flag"));
    }
    let by = match cell {
        Cell::Shown(paths) if paths.is_empty() => "NO VECTOR".into(),
        Cell::Shown(paths) => names(paths),
        Cell::Never(why) => format!("never: {why}"),
    };
    println!("    {:<38}{by}", place.outcome.to_string());
}

fn print_summary(matrix: &Matrix) {
    println!(
        "\n{:<18}{:>8}{:>8}{:>8}{:>8}",
        "operation", "cells", "never", "shown", "holes"
    );
    let operations: BTreeSet<_> = matrix
        .cells
        .iter()
        .map(|(place, _)| place.operation)
        .collect();
    for operation in operations {
        let cells = matrix
            .cells
            .iter()
            .filter(|(place, _)| place.operation == operation);
        print_counts(&format!("{operation:?}"), cells.map(|(_, cell)| cell));
    }
    print_counts("all", matrix.cells.iter().map(|(_, cell)| cell));
}

fn print_counts<'a>(name: &str, cells: impl Iterator<Item = &'a Cell> + Clone) {
    let never = cells
        .clone()
        .filter(|cell| matches!(cell, Cell::Never(_)))
        .count();
    let shown = |cell: &&Cell| matches!(cell, Cell::Shown(paths) if !paths.is_empty());
    let shown = cells.clone().filter(shown).count();
    let all = cells.count();
    println!(
        "{name:<18}{all:>8}{never:>8}{shown:>8}{:>8}",
        all - never - shown
    );
}

/// Some of the vectors, and how many more there are.
fn names(paths: &BTreeSet<PathBuf>) -> String {
    let name = |path: &PathBuf| {
        let inside = path.strip_prefix(VECTORS).unwrap_or(path);
        inside.with_extension("").display().to_string()
    };
    let names: Vec<String> = paths.iter().take(NAMED).map(name).collect();
    match paths.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{}, and {more} more", names.join(", ")),
    }
}
