//! `tandem random`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use miette::Result;
use serde::Serialize;
use tandem_testbench::failures::{self, Failed, VECTOR};
use tandem_testbench::signoff::FailureRow;
use tandem_testbench::traffic::{self, TrafficFailure, TrafficReport};
use tandem_testbench::vector::{self, At, RandomTraffic, Vector};
use tandem_testbench::world::{Failure, RunOptions};

use super::output::Output;
use super::{Targets, failed};

/// Arguments of `random`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    targets: Targets,

    #[command(flatten)]
    traffic: RandomTraffic,

    /// Seed of everything
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Write the frames to a capture file that Wireshark opens
    #[arg(long, value_name = "out.pcapng")]
    capture: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json {
    passed: bool,
    target: String,
    seed: u64,
    seconds: f64,
    /// What was done, if it passed.
    report: Option<TrafficReport>,
    failures: Vec<FailureRow>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let gather = arguments.targets.gather("random")?;
    let options = RunOptions {
        cover: gather.as_ref().map(|gather| Arc::clone(&gather.cover)),
        capture: arguments.capture.clone(),
        ..arguments.targets.options(arguments.seed)
    };
    let output = arguments.output;
    let bar = output.progress(arguments.traffic.requests, "requests, {eta} left");
    let start = Instant::now();
    let outcome = traffic::run(&arguments.traffic, &options, &|posted| {
        bar.set_position(posted);
    });
    bar.finish_and_clear();
    super::gathered(gather.as_ref())?;
    let mut json = Json {
        passed: outcome.is_ok(),
        target: options.target_words(),
        seed: options.seed,
        seconds: start.elapsed().as_secs_f64(),
        report: None,
        failures: Vec::new(),
    };
    match outcome {
        Ok(report) => {
            let report = json.report.insert(report);
            if output.is_full() {
                print(report);
            }
            if !output.json {
                verdict(report, &options, json.seconds);
            }
        }
        Err(failure) => json.failures = fail(arguments, &options, &failure)?,
    }
    output.tell(&json, || {})?;
    Ok(json.passed)
}

/// Makes a vector of the failure, no longer than it has to be, keeps what there is of it, and tells of it.
fn fail(
    arguments: &Arguments,
    options: &RunOptions,
    failure: &TrafficFailure,
) -> Result<Vec<FailureRow>> {
    let output = arguments.output;
    let mut rows = Vec::new();
    let (text, vectors) = shorter(&arguments.traffic, options, failure)?;
    let file = Path::new(VECTOR);
    for vector in &vectors {
        let found = Failed {
            vector,
            text: &text,
            options,
            failure: &self::failure(vector, failure),
            report: "",
        };
        if !output.json {
            println!("{}\n", failed::words(file, &found));
        }
        if !output.quiet {
            eprintln!("keeping what there is of it; for frames and waves it runs once more");
        }
        let kept = failed::keep(&arguments.targets, file, &found);
        let command = command(&arguments.traffic, options);
        if !output.json {
            failed::print(kept.as_ref(), &found, &command);
        }
        rows.push(failed::row(
            vector.title(),
            file,
            &found,
            kept.as_ref(),
            command,
        ));
    }
    Ok(rows)
}

/// A vector that fails in the same way, no longer than it has to be, with its text.
pub fn shorter(
    traffic: &RandomTraffic,
    options: &RunOptions,
    failure: &TrafficFailure,
) -> Result<(String, Vec<Vector>)> {
    let shorter = RandomTraffic {
        requests: traffic.requests.min(failure.posted + 1),
        ..traffic.clone()
    };
    let text = shorter.to_text(options.seed);
    let vectors = vector::parse(&text);
    let vectors = vectors.map_err(|fault| miette::miette!("{}", fault.message))?;
    Ok((text, vectors))
}

/// The failure as one of that vector.
pub fn failure(vector: &Vector, failure: &TrafficFailure) -> Failure {
    failure.at(vector.head.traffic.as_ref().map_or(0..0, At::span))
}

/// The command that does a run.
pub fn command(traffic: &RandomTraffic, options: &RunOptions) -> String {
    let RandomTraffic {
        requests,
        queue_pairs,
        max_size,
        megabyte_every,
        tokens,
        srqs,
        connect,
        ..
    } = traffic;
    let mut command = format!(
        "tandem random --requests {requests} --qps {queue_pairs} --max-size {max_size} \
         --megabyte-every {megabyte_every}"
    );
    for (name, number) in [("tokens", tokens), ("srqs", srqs)] {
        if *number > 0 {
            command.push_str(&format!(" --{name} {number}"));
        }
    }
    if *connect {
        command.push_str(" --connect");
    }
    for (name, percent) in traffic.network() {
        command.push_str(&format!(" --{name} {percent}"));
    }
    command.push_str(&failures::run_words(options));
    command
}

fn print(report: &TrafficReport) {
    let total: u64 = report.requests.values().sum();
    let kinds: Vec<String> = report
        .requests
        .iter()
        .map(|(kind, count)| format!("{count} x {kind}"))
        .collect();
    println!(
        "{total} requests ({}), {} of them silent",
        kinds.join(", "),
        report.silent
    );
    if !report.lives.is_empty() {
        let lives: Vec<String> = report
            .lives
            .iter()
            .map(|(what, count)| format!("{count} {what}"))
            .collect();
        println!("{}", lives.join(", "));
    }
    if report.connections > 0 {
        println!("{} connections made and ended", report.connections);
    }
    println!(
        "{} results and {} bytes compared, {} calls refused as they must be, {} notifications",
        report.results, report.bytes, report.refused, report.notifications
    );
}

fn verdict(report: &TrafficReport, options: &RunOptions, seconds: f64) {
    println!(
        "{} frames, {} clocks, {} decisions of the engine checked, on target {} in {seconds:.1} s",
        report.frames,
        report.checked.clocks,
        report.checked.actions,
        options.target_words()
    );
}
