//! `tandem random`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::Result;
use tandem_testbench::traffic::{self, TrafficOptions, TrafficReport};

use super::Targets;
use super::run::target_words;

/// Arguments of `random`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    targets: Targets,

    /// Initiator requests
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    requests: u64,

    /// Connections, each with a queue pair on both nodes `a` and `b`
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=60))]
    qps: u32,

    /// Seed of everything
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Greatest message but for the few of 1 MiB
    #[arg(long, value_name = "BYTES", default_value_t = 65536, value_parser = clap::value_parser!(u32).range(0..=65536))]
    max_size: u32,

    /// One of so many messages has 1 MiB; 0: none
    #[arg(long, value_name = "N", default_value_t = 4000)]
    megabyte_every: u32,

    /// Write the frames to a capture file that Wireshark opens
    #[arg(long, value_name = "out.pcapng")]
    capture: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let target = &arguments.targets.target;
    let of = |node: &str| target.nodes.get(node).copied().unwrap_or(target.all);
    let options = TrafficOptions {
        requests: arguments.requests,
        queue_pairs: arguments.qps,
        max_size: arguments.max_size,
        megabyte_every: arguments.megabyte_every,
        seed: arguments.seed,
        targets: [of("a"), of("b")],
        choice: arguments.targets.scheduler,
        capture: arguments.capture.clone(),
    };
    let bar = ProgressBar::new(arguments.requests);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} requests, {eta} left") {
        bar.set_style(style);
    }
    let start = Instant::now();
    let outcome = traffic::run(&options, &|posted| bar.set_position(posted));
    bar.finish_and_clear();
    match outcome {
        Ok(report) => {
            print(&report, arguments, start.elapsed().as_secs_f64());
            Ok(true)
        }
        Err(error) => {
            println!("FAILED random traffic\n{error}\n");
            println!("run it again with:\n  {}", replay(arguments));
            Ok(false)
        }
    }
}

fn replay(arguments: &Arguments) -> String {
    let mut command = format!(
        "tandem random --requests {} --qps {} --seed {} --max-size {} --megabyte-every {} --target {}",
        arguments.requests,
        arguments.qps,
        arguments.seed,
        arguments.max_size,
        arguments.megabyte_every,
        target_words(&arguments.targets)
    );
    if arguments.targets.scheduler != Default::default() {
        command.push_str(&format!(" --scheduler {:?}", arguments.targets.scheduler).to_lowercase());
    }
    command
}

fn print(report: &TrafficReport, arguments: &Arguments, seconds: f64) {
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
    println!(
        "{} results and {} bytes compared, {} calls refused as they must be, {} notifications",
        report.results, report.bytes, report.refused, report.notifications
    );
    println!(
        "{} frames, {} clocks, {} decisions of the engine checked, on target {} in {seconds:.1} s",
        report.frames,
        report.checked.clocks,
        report.checked.actions,
        target_words(&arguments.targets)
    );
}
