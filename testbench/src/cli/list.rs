//! `tandem list`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use tandem_testbench::plan;
use tandem_testbench::vector;

use super::output::Output;
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

    #[command(flatten)]
    output: Output,
}

/// A vector as JSON.
#[derive(Serialize)]
struct Row {
    file: PathBuf,
    name: String,
    about: String,
    cases: usize,
    covers: Vec<String>,
}

/// A fault of others as JSON.
#[derive(Serialize)]
struct JsonBug<'a> {
    id: &'a str,
    title: &'a str,
    /// Vectors that show it.
    vectors: &'a [String],
    /// Why none does.
    reason: Option<&'a str>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let files = vector::find(&paths_or_default(&arguments.paths)).map_err(report::vector)?;
    if arguments.matrix {
        return matrix::run(&files, arguments.holes, arguments.output);
    }
    let mut rows = Vec::new();
    for path in &files {
        let file = vector::load(path).map_err(report::vector)?;
        let Some(first) = file.vectors.first() else {
            continue;
        };
        let covers = first.head.covers.iter();
        rows.push(Row {
            file: path.clone(),
            name: first.head.name.value().clone(),
            about: first.head.about.clone(),
            cases: file.vectors.len(),
            covers: covers.map(|id| id.value().clone()).collect(),
        });
    }
    match arguments.field_bugs {
        true => tell_field_bugs(&rows, arguments.output)?,
        false => arguments
            .output
            .tell(&rows, || print(&rows, arguments.output))?,
    }
    Ok(true)
}

fn print(rows: &[Row], output: Output) {
    for row in rows {
        let cases = match row.cases {
            1 => String::new(),
            cases => format!(" ({cases} cases)"),
        };
        println!("{}{cases}\n    {}", row.file.display(), row.about);
    }
    if output.is_full() {
        let runs: usize = rows.iter().map(|row| row.cases).sum();
        println!("\n{} vectors, {runs} runs", rows.len());
    }
}

fn tell_field_bugs(rows: &[Row], output: Output) -> Result<()> {
    let mut covered: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (row, id) in rows
        .iter()
        .flat_map(|row| row.covers.iter().map(move |id| (row, id)))
    {
        covered.entry(id).or_default().push(row.name.clone());
    }
    let bugs = plan::field_bugs();
    let json = bugs.iter().map(|bug| JsonBug {
        id: &bug.id,
        title: &bug.title,
        vectors: covered.get(bug.id.as_str()).map_or(&[], Vec::as_slice),
        reason: bug.reason.as_deref(),
    });
    let json: Vec<JsonBug<'_>> = json.collect();
    output.tell(&json, || {
        for bug in &json {
            let by = match (bug.vectors, bug.reason) {
                ([], Some(reason)) => format!("no vector: {reason}"),
                ([], None) => "NO VECTOR, NO REASON".into(),
                (names, _) => names.join(", "),
            };
            println!("{:<5}{}\n{:5}{by}", bug.id, bug.title, "");
        }
        if output.is_full() {
            let shown = json.iter().filter(|bug| !bug.vectors.is_empty()).count();
            println!("\n{shown} of {} have a vector", json.len());
        }
    })
}
