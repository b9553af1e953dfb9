//! `tandem explain`.

use std::path::{Path, PathBuf};

use miette::Result;
use serde::Serialize;
use tandem_testbench::vector;

use super::output::Output;
use super::report;

/// Arguments of `explain`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Vector file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json<'a> {
    file: &'a Path,
    /// What it does, in words.
    text: String,
    /// Its cases, if it has some.
    cases: Vec<&'a str>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let file = vector::load(&arguments.file).map_err(report::vector)?;
    let cases = file.vectors.iter().map(|vector| vector.case.as_str());
    let json = Json {
        file: &arguments.file,
        text: file
            .vectors
            .first()
            .map(vector::explain)
            .unwrap_or_default(),
        cases: cases.filter(|case| !case.is_empty()).collect(),
    };
    arguments.output.tell(&json, || {
        println!("{}", json.text);
        if json.cases.len() > 1 {
            println!("\nIt runs in {} cases:", json.cases.len());
            json.cases.iter().for_each(|case| println!("  {case}"));
        }
    })?;
    Ok(true)
}
