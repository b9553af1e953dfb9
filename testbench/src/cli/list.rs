//! `tandem list`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::Result;
use tandem_testbench::plan;
use tandem_testbench::vector;

use super::{matrix, paths_or_default, report};

/// Arguments of `list`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Vector files or directories (default: all vectors of the repository)
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,

    /// Show the faults that other engines had, with the vectors that show them, or why none does
    #[arg(long)]
    field_bugs: bool,

    /// Show operation × flag × outcome of requests, with the vectors that show each cell
    #[arg(long, conflicts_with = "field_bugs")]
    matrix: bool,

    /// Show the cells first that no vector shows
    #[arg(long, requires = "matrix")]
    holes: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let files = vector::find(&paths_or_default(&arguments.paths)).map_err(report::vector)?;
    if arguments.matrix {
        return matrix::run(&files, arguments.holes);
    }
    let mut covered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut count, mut runs) = (0, 0);
    for path in &files {
        let file = vector::load(path).map_err(report::vector)?;
        let Some(first) = file.vectors.first() else {
            continue;
        };
        count += 1;
        runs += file.vectors.len();
        let name = first.head.name.value();
        for id in &first.head.covers {
            covered
                .entry(id.value().clone())
                .or_default()
                .push(name.clone());
        }
        if !arguments.field_bugs {
            let cases = match file.vectors.len() {
                1 => String::new(),
                cases => format!(" ({cases} cases)"),
            };
            println!("{}{cases}\n    {}", path.display(), first.head.about);
        }
    }
    if arguments.field_bugs {
        print_field_bugs(&covered);
    } else {
        println!("\n{count} vectors, {runs} runs");
    }
    Ok(true)
}

fn print_field_bugs(covered: &BTreeMap<String, Vec<String>>) {
    let bugs = plan::field_bugs();
    let mut shown = 0;
    for bug in bugs {
        let by = match (covered.get(&bug.id), &bug.reason) {
            (Some(names), _) => {
                shown += 1;
                names.join(", ")
            }
            (None, Some(reason)) => format!("no vector: {reason}"),
            (None, None) => "NO VECTOR, NO REASON".into(),
        };
        println!("{:<5}{}\n{:5}{by}", bug.id, bug.title, "");
    }
    println!("\n{shown} of {} have a vector", bugs.len());
}
