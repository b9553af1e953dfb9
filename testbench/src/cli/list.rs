//! `tandem list`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::Result;
use tandem_testbench::plan::{self, Duty};
use tandem_testbench::vector;

use super::{paths_or_default, report};

/// Arguments of `list`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Vector files or directories (default: all vectors of the repository)
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,

    /// Show requirements with the vectors that cover them
    #[arg(long, conflicts_with = "field_bugs")]
    requirements: bool,

    /// Show the faults that other engines had, with the vectors that show them, or why none does
    #[arg(long)]
    field_bugs: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let files = vector::find(&paths_or_default(&arguments.paths)).map_err(report::vector)?;
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
        if !arguments.requirements && !arguments.field_bugs {
            let cases = match file.vectors.len() {
                1 => String::new(),
                cases => format!(" ({cases} cases)"),
            };
            println!("{}{cases}\n    {}", path.display(), first.head.about);
        }
    }
    if arguments.requirements {
        print_requirements(&covered);
    } else if arguments.field_bugs {
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

fn print_requirements(covered: &BTreeMap<String, Vec<String>>) {
    let rows = plan::requirements();
    for row in &rows {
        let by = covered.get(&row.id).map(|names| names.join(", "));
        let by = match (by, row.duty) {
            (Some(by), _) => by,
            (None, Duty::Provider) => "NOT COVERED".into(),
            (None, _) => "-".into(),
        };
        println!(
            "{:<13}{:<12}{:<10}{}\n{:35}{by}",
            row.id,
            row.layer,
            row.duty.word(),
            row.title,
            ""
        );
    }
    println!("\nalso covered:");
    for (id, names) in covered {
        if !rows.iter().any(|row| row.id == *id) {
            let title = plan::title(id).unwrap_or_default();
            println!("{id:<13}{title}: {}", names.join(", "));
        }
    }
    let duties = rows.iter().filter(|row| row.duty == Duty::Provider);
    let missing: Vec<&str> = duties
        .clone()
        .filter(|row| !covered.contains_key(&row.id))
        .map(|row| row.id.as_str())
        .collect();
    println!(
        "\n{} of {} provider duties are covered{}",
        duties.count() - missing.len(),
        rows.iter().filter(|row| row.duty == Duty::Provider).count(),
        match missing.len() {
            0 => String::new(),
            _ => format!("; not covered: {}", missing.join(", ")),
        }
    );
}
