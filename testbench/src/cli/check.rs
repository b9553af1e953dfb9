//! `tandem check`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use miette::Result;
use tandem_testbench::blackbox::{self, Options, file};

use super::output::Output;

/// Arguments of `check`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Capture of RoCEv2 frames: pcap or pcapng, Ethernet
    #[arg(long, value_name = "FILE")]
    capture: PathBuf,

    /// Address whose frames were captured where they were sent: nothing of its was lost before (may be given for both)
    #[arg(long, value_name = "ADDRESS")]
    at: Vec<IpAddr>,

    /// Count the known ways of Linux as violations
    #[arg(long)]
    strict: bool,

    /// Nanoseconds that stand for the 10 µs of RNR timer codes, if a simulation lets them be shorter
    #[arg(long, value_name = "NS", default_value_t = 10_000)]
    rnr_unit: u64,

    /// Violations that are shown with their frames
    #[arg(long, value_name = "N", default_value_t = 20)]
    show: usize,

    #[command(flatten)]
    output: Output,
}

/// Runs the command. It fails if there is a violation.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let packets = file::read(&arguments.capture).map_err(|error| miette::miette!("{error}"))?;
    let options = Options {
        at: arguments.at.iter().copied().collect(),
        strict: arguments.strict,
        rnr_unit: Duration::from_nanos(arguments.rnr_unit),
    };
    let report = blackbox::check(&packets, &options);
    let output = arguments.output;
    output.tell(&report.json(), || match output.quiet {
        true => print!("{}", report.brief(&packets, arguments.show)),
        false => print!("{}", report.text(&packets, arguments.show)),
    })?;
    Ok(report.violations().next().is_none())
}
