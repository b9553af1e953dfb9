//! `tandem random`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use miette::Result;
use tandem_testbench::failures::{self, Failed};
use tandem_testbench::traffic::{self, TrafficFailure, TrafficReport};
use tandem_testbench::vector::{self, At, RandomTraffic};
use tandem_testbench::world::RunOptions;

use super::{Targets, failed, progress};

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
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let gather = arguments.targets.gather("random")?;
    let options = RunOptions {
        cover: gather.as_ref().map(|gather| Arc::clone(&gather.cover)),
        capture: arguments.capture.clone(),
        ..arguments.targets.options(arguments.seed)
    };
    let bar = progress::bar(arguments.traffic.requests, "requests, {eta} left");
    let start = Instant::now();
    let outcome = traffic::run(&arguments.traffic, &options, &|posted| {
        bar.set_position(posted);
    });
    bar.finish_and_clear();
    super::gathered(gather.as_ref())?;
    match outcome {
        Ok(report) => {
            print(&report, &options, start.elapsed().as_secs_f64());
            Ok(true)
        }
        Err(failure) => {
            fail(arguments, &options, &failure)?;
            Ok(false)
        }
    }
}

/// Makes a vector of the failure, no longer than it has to be, and keeps what there is of it.
fn fail(arguments: &Arguments, options: &RunOptions, failure: &TrafficFailure) -> Result<()> {
    let shorter = RandomTraffic {
        requests: arguments.traffic.requests.min(failure.posted + 1),
        ..arguments.traffic.clone()
    };
    let text = shorter.to_text(options.seed);
    let wrong = |fault: vector::Fault| miette::miette!("{}", fault.message);
    let vectors = vector::parse(&text).map_err(wrong)?;
    let file = Path::new("vector.toml");
    for vector in &vectors {
        let found = Failed {
            vector,
            text: &text,
            options,
            failure: &failure.at(vector.head.traffic.as_ref().map_or(0..0, At::span)),
            report: "",
        };
        println!("{}\n", failed::words(file, &found));
        eprintln!("keeping what there is of it; for frames and waves it runs once more");
        let kept = failed::keep(&arguments.targets, file, &found);
        failed::print(kept.as_ref(), &found, &command(&arguments.traffic, options));
    }
    Ok(())
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

fn print(report: &TrafficReport, options: &RunOptions, seconds: f64) {
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
    println!(
        "{} frames, {} clocks, {} decisions of the engine checked, on target {} in {seconds:.1} s",
        report.frames,
        report.checked.clocks,
        report.checked.actions,
        options.target_words()
    );
}
