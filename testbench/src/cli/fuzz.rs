//! `tandem fuzz`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::Result;
use serde::Serialize;
use tandem_testbench::failures::Failed;
use tandem_testbench::fuzz::{self, Found, Summary, Wish, hunt};
use tandem_testbench::signoff::FailureRow;
use tandem_testbench::vector;
use tandem_testbench::world::RunOptions;

use super::output::Output;
use super::{Targets, failed};

/// Where vectors of failures go if no folder is given.
const REGRESSIONS: &str = "testbench/vectors/regressions";

/// Arguments of `fuzz`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    targets: Targets,

    /// Seed of everything
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Cases
    #[arg(long, value_name = "N", default_value_t = 500)]
    cases: u64,

    /// Number of the first case
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,

    /// Moves of a case, at most
    #[arg(long, value_name = "N", default_value_t = fuzz::STEPS as u64, value_parser = clap::value_parser!(u64).range(1..=1000))]
    steps: u64,

    /// Nodes of a world, at most
    #[arg(long, value_name = "N", default_value_t = fuzz::NODES as u64, value_parser = clap::value_parser!(u64).range(2..=4))]
    nodes: u64,

    /// Begin no case after so many seconds
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,

    /// Folder for the vectors of failures
    #[arg(long, value_name = "DIR", default_value = REGRESSIONS)]
    keep: PathBuf,

    /// Go on until so many cases have failed
    #[arg(long, value_name = "N", default_value_t = 1)]
    stop_after: usize,

    /// Cases that run at the same time
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    #[command(flatten)]
    output: Output,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json<'a> {
    passed: bool,
    target: String,
    seconds: f64,
    #[serde(flatten)]
    summary: &'a Summary,
    failures: Vec<FailureRow>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let gather = arguments.targets.gather("fuzz")?;
    let wish = Wish {
        seed: arguments.seed,
        first: arguments.first,
        cases: arguments.cases,
        steps: arguments.steps as usize,
        nodes: arguments.nodes as usize,
        time: arguments.time.map(Duration::from_secs),
        failures: arguments.stop_after,
        jobs: arguments.jobs.unwrap_or(available),
        options: RunOptions {
            cover: gather.as_ref().map(|gather| Arc::clone(&gather.cover)),
            ..arguments.targets.options(0)
        },
        scheduler: arguments.targets.engines.scheduler,
    };
    let output = arguments.output;
    let bar = output.progress(arguments.cases, "cases, {eta} left");
    let start = Instant::now();
    let summary = hunt(&wish, &|cases| bar.set_position(cases));
    bar.finish_and_clear();
    super::gathered(gather.as_ref())?;
    let time = start.elapsed();
    let mut failures = Vec::new();
    for found in &summary.found {
        failures.extend(tell(arguments, found)?);
    }
    let json = Json {
        passed: summary.found.is_empty(),
        target: wish.options.target_words(),
        seconds: time.as_secs_f64(),
        summary: &summary,
        failures,
    };
    output.tell(&json, || {
        if output.is_full() {
            print(&summary);
        }
        verdict(&summary, &json.target, time);
    })?;
    Ok(json.passed)
}

/// Keeps the vector of a failure, and says what it shows.
fn tell(arguments: &Arguments, found: &Found) -> Result<Vec<FailureRow>> {
    let mut rows = Vec::new();
    let file = arguments.keep.join(format!("{}.toml", found.name));
    let wrong = |error: std::io::Error| miette::miette!("cannot write {}: {error}", file.display());
    std::fs::create_dir_all(&arguments.keep).map_err(wrong)?;
    std::fs::write(&file, &found.text).map_err(wrong)?;
    let vectors = vector::parse(&found.text);
    let vectors = vectors.map_err(|fault| miette::miette!("{}", fault.message))?;
    for vector in &vectors {
        let failure = Failed {
            vector,
            text: &found.text,
            options: &found.options,
            failure: &found.failure,
            report: "",
        };
        let kept = failed::keep(&arguments.targets, &file, &failure);
        // Seed and scheduler stand in the vector.
        let target = found.options.target_words();
        let again = format!("tandem run {} --target {target}", file.display());
        if !arguments.output.json {
            println!("{}\n", failed::words(&file, &failure));
            println!(
                "case {} of seed {}: {} moves, {} of them needed",
                found.case, arguments.seed, found.moves[0], found.moves[1]
            );
            failed::print(kept.as_ref(), &failure, &again);
            println!("kept as a regression:\n  {}\n", file.display());
        }
        let title = found.name.clone();
        rows.push(failed::row(title, &file, &failure, kept.as_ref(), again));
    }
    Ok(rows)
}

fn list<K: ToString>(counts: &BTreeMap<K, u64>) -> String {
    let words = counts
        .iter()
        .map(|(name, count)| format!("{count} x {}", name.to_string()));
    words.collect::<Vec<_>>().join(", ")
}

fn print(summary: &Summary) {
    println!("moves:        {}", list(&summary.moves));
    println!("impairments:  {}", list(&summary.impairments));
    println!("memory:       {}", list(&summary.memory));
    println!("connections:  {}", list(&summary.meetings));
    println!("requests:     {}", list(&summary.tally.requests));
    println!(
        "results:      {}, and {} silent successes",
        list(&summary.tally.results),
        summary.tally.silent
    );
    println!("engines:      {}", list(&summary.tally.counters));
    println!(
        "{} bytes compared, {} frames, {} clocks, {} decisions of the engine checked",
        summary.tally.bytes, summary.frames, summary.checked.clocks, summary.checked.actions
    );
    println!();
}

fn verdict(summary: &Summary, target: &str, time: Duration) {
    println!(
        "{} of {} cases passed on target {} in {:.1} s",
        summary.cases - summary.found.len() as u64,
        summary.cases,
        target,
        time.as_secs_f64()
    );
}
