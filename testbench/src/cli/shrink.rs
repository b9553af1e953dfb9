//! `tandem shrink`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::Result;
use serde::Serialize;
use tandem_testbench::failures::{Again, Outcome, run_words};
use tandem_testbench::shrink::{Job, shrink};
use tandem_testbench::vector;
use tandem_testbench::world::RunOptions;

use super::output::Output;
use super::{Targets, replay, report};

/// Name of the smaller vector in the folder of a failure.
const SMALLER: &str = "smaller.toml";

/// Arguments of `shrink`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folder of a kept failure, or a vector that fails
    #[arg(value_name = "FOLDER|VECTOR")]
    path: PathBuf,

    #[command(flatten)]
    targets: Targets,

    /// Seed of a vector (default: its own, else 1)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The case of a vector whose name contains this (default: the first)
    #[arg(long, value_name = "TEXT")]
    case: Option<String>,

    /// Begin no run after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time: u64,

    /// Where the smaller vector goes (default: beside the first)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json<'a> {
    file: &'a Path,
    /// Steps, before and after.
    steps: [usize; 2],
    /// Requests of random traffic, before and after.
    requests: Option<[i64; 2]>,
    /// Bytes of text, before and after.
    bytes: [usize; 2],
    runs: u64,
    /// Whether the model was asked if the smaller one asks for what is right.
    asked: bool,
    /// Whether time was over before all was tried.
    late: bool,
    failure: &'a Outcome,
    /// What runs it.
    command: String,
}

/// What is to be made smaller.
struct Given {
    text: String,
    case: String,
    options: RunOptions,
    out: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let given = match arguments.path.is_dir() {
        true => of_folder(&arguments.path)?,
        false => of_vector(arguments)?,
    };
    let job = Job {
        text: &given.text,
        case: &given.case,
        options: &given.options,
        time: Duration::from_secs(arguments.time),
    };
    let smaller =
        shrink(&job).map_err(|error| miette::miette!("{}: {error}", arguments.path.display()))?;
    let out = arguments.out.as_ref().unwrap_or(&given.out);
    let text = format!(
        "# Made smaller by `tandem shrink` from {}.\n{}",
        arguments.path.display(),
        smaller.text
    );
    std::fs::write(out, text)
        .map_err(|error| miette::miette!("cannot write {}: {error}", out.display()))?;
    let json = Json {
        file: out,
        steps: smaller.steps,
        requests: smaller.requests,
        bytes: smaller.bytes,
        runs: smaller.runs,
        asked: smaller.asked,
        late: smaller.late,
        failure: &smaller.failure,
        command: format!("tandem run {}{}", out.display(), run_words(&given.options)),
    };
    let output = arguments.output;
    output.tell(&json, || {
        if output.is_full() {
            print(&json);
        }
        println!("run it with:\n  {}", json.command);
    })?;
    Ok(true)
}

fn of_folder(folder: &Path) -> Result<Given> {
    let again = Again::read(folder).map_err(replay::unusable)?;
    Ok(Given {
        text: again.file.text,
        case: again.record.case.clone(),
        options: again.record.options(),
        out: folder.join(SMALLER),
    })
}

fn of_vector(arguments: &Arguments) -> Result<Given> {
    let file = vector::load(&arguments.path).map_err(report::vector)?;
    let wanted = arguments.case.as_deref().unwrap_or_default();
    let found = file
        .vectors
        .iter()
        .find(|vector| vector.title().contains(wanted));
    let vector = found.ok_or_else(|| miette::miette!("no case has `{wanted}` in its name"))?;
    let head = &vector.head;
    let options = RunOptions {
        choice: arguments
            .targets
            .engines
            .scheduler
            .or(head.scheduler)
            .unwrap_or_default(),
        ..arguments
            .targets
            .options(arguments.seed.or(head.seed).unwrap_or(1))
    };
    Ok(Given {
        case: vector.case.clone(),
        options,
        out: arguments.path.with_extension("smaller.toml"),
        text: file.text,
    })
}

fn print(smaller: &Json<'_>) {
    match smaller.requests {
        Some([before, after]) => println!("{after} of {before} requests"),
        None => println!("{} of {} steps", smaller.steps[1], smaller.steps[0]),
    }
    let [before, after] = smaller.bytes;
    println!(
        "{after} of {before} bytes of text, {} vectors run",
        smaller.runs
    );
    if !smaller.asked {
        println!(
            "the model alone fails too: whether the smaller one asks for what is right was not checked"
        );
    }
    if smaller.late {
        println!("time was over before all was tried: --time");
    }
    println!("it fails in the same way:\n  {}", smaller.failure.message);
}
