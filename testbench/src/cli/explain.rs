//! `tandem explain`.

use std::path::PathBuf;

use miette::Result;
use tandem_testbench::vector;

use super::report;

/// Arguments of `explain`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Vector file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let file = vector::load(&arguments.file).map_err(report::vector)?;
    if let Some(first) = file.vectors.first() {
        println!("{}", vector::explain(first));
    }
    if file.vectors.len() > 1 {
        println!("\nIt runs in {} cases:", file.vectors.len());
        for vector in &file.vectors {
            println!("  {}", vector.case);
        }
    }
    Ok(true)
}
