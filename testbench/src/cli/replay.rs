//! `tandem replay`.

use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use tandem_testbench::failures::{Again, Outcome, RecordError};
use tandem_testbench::runner;
use tandem_testbench::world::RunOptions;

use super::output::Output;
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

    #[command(flatten)]
    output: Output,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json<'a> {
    title: &'a str,
    target: String,
    seed: u64,
    /// Whether it failed in the same way, at the same place.
    same: bool,
    before: &'a Outcome,
    /// `None`: it passed.
    now: Option<&'a Outcome>,
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
    let now = outcome.err().map(|failure| Outcome::of(&failure));
    let before = &record.failure;
    let json = Json {
        title: &record.title,
        target: options.target_words(),
        seed: options.seed,
        same: now
            .as_ref()
            .is_some_and(|now| now.words() == before.words()),
        before,
        now: now.as_ref(),
    };
    let output = arguments.output;
    output.tell(&json, || {
        if output.is_full() {
            println!(
                "{} on target {}, seed {}",
                json.title, json.target, json.seed
            );
        }
        print(&json);
    })?;
    Ok(json.same)
}

fn print(json: &Json<'_>) {
    let before = json.before;
    match json.now {
        None => println!("it passes now; before:\n  {}", before.message),
        Some(now) if json.same => println!("it fails in the same way:\n  {}", now.message),
        Some(now) => {
            let how = match now.gist() == before.gist() {
                true => "it fails in the same way, at another place",
                false => "it fails in another way",
            };
            println!(
                "{how}:\n  before: {}\n  now:    {}",
                before.message, now.message
            );
        }
    }
}

/// A folder that cannot be used.
pub(super) fn unusable(error: RecordError) -> miette::Report {
    match error {
        RecordError::Vector(error) => report::vector(error),
        other => miette::miette!("{other}"),
    }
}
