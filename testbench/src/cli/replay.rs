//! `tandem replay`.

use std::path::PathBuf;

use miette::Result;
use tandem_testbench::failures::{Again, Outcome, RecordError};
use tandem_testbench::runner;
use tandem_testbench::world::RunOptions;

use super::report;

/// Arguments of `replay`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folder of a kept failure
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Write the frames of this run to a capture file
    #[arg(long, value_name = "out.pcapng")]
    capture: Option<PathBuf>,
}

/// Runs the command: it passes if the run fails in the same way.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let again = Again::read(&arguments.folder).map_err(unusable)?;
    let record = &again.record;
    let options = RunOptions {
        capture: arguments.capture.clone(),
        ..record.options()
    };
    let outcome = runner::run(&again.vector, &options);
    println!(
        "{} on target {}, seed {}",
        record.title,
        options.target_words(),
        options.seed
    );
    let Err(failure) = outcome else {
        println!("it passes now; before:\n  {}", record.failure.message);
        return Ok(false);
    };
    let now = Outcome::of(&failure);
    if now.words() == record.failure.words() {
        println!("it fails in the same way:\n  {}", now.message);
        return Ok(true);
    }
    let how = match now.gist() == record.failure.gist() {
        true => "it fails in the same way, at another place",
        false => "it fails in another way",
    };
    println!(
        "{how}:\n  before: {}\n  now:    {}",
        record.failure.message, now.message
    );
    Ok(false)
}

/// A folder that cannot be used.
pub(super) fn unusable(error: RecordError) -> miette::Report {
    match error {
        RecordError::Vector(error) => report::vector(error),
        other => miette::miette!("{other}"),
    }
}
