//! `tandem show`.

use std::path::{Path, PathBuf};

use miette::Result;
use serde::Serialize;
use tandem_testbench::blackbox::file;
use tandem_testbench::failures::{self, FRAMES, Record};
use tandem_testbench::show::{Bound, Chart, Selection};
use tandem_testbench::timing::Timings;

use super::output::Output;

/// Frames before a failure that are shown if no window is asked for.
const BEFORE_FAILURE: usize = 40;
/// Width if the terminal does not say.
const WIDTH: usize = 100;

/// Arguments of `show`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Capture (pcap or pcapng, Ethernet), or folder of a kept failure
    #[arg(value_name = "CAPTURE|FOLDER")]
    path: PathBuf,

    /// Only connections that have this queue pair on either side
    #[arg(long, value_name = "QP", value_parser = parse_qp)]
    qp: Option<u32>,

    /// First frame: its number, or its time since the first one, as `400ns`, `1.5us`, `2ms`
    #[arg(long, value_name = "FRAME|TIME")]
    from: Option<Bound>,

    /// Last frame
    #[arg(long, value_name = "FRAME|TIME")]
    to: Option<Bound>,

    /// Width in characters (default: the terminal's, else 100)
    #[arg(long, value_name = "N")]
    width: Option<usize>,

    /// Write an SVG file, and print nothing
    #[arg(long, value_name = "out.svg")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    chart: &'a Chart,
    /// What the ports of the engines did where it failed.
    timings: &'a Timings,
}

/// A number as the chart or a vector writes it.
fn parse_qp(text: &str) -> std::result::Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let number = parsed.map_err(|error| error.to_string())?;
    match number < 1 << 24 {
        true => Ok(number),
        false => Err("a queue pair number has 24 bits".into()),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let path = &arguments.path;
    let record = match path.is_dir() {
        true => Some(Record::read(path).map_err(|error| miette::miette!("{error}"))?),
        false => None,
    };
    let capture = match record {
        Some(_) => path.join(FRAMES),
        None => path.clone(),
    };
    let packets = file::read(&capture).map_err(|error| miette::miette!("{error}"))?;
    let has_window = arguments.from.is_some() || arguments.to.is_some();
    let selection = Selection {
        from: arguments.from,
        to: arguments.to,
        qp: arguments.qp,
        last: (record.is_some() && !has_window).then_some(BEFORE_FAILURE),
    };
    let mut chart = Chart::of(&packets, &selection);
    if arguments.to.is_none() {
        chart.end = record.map(|record| record.failure.message);
    }
    let timings = match !has_window && path.is_dir() {
        true => failures::timings(path).map_err(|error| miette::miette!("{error}"))?,
        false => Timings::new(),
    };
    if let Some(file) = &arguments.svg {
        let svg = chart.svg(&path.display().to_string());
        write(file, &svg)?;
    }
    let json = Json {
        chart: &chart,
        timings: &timings,
    };
    arguments.output.tell(&json, || {
        if arguments.svg.is_none() {
            let width = arguments.width.unwrap_or_else(width);
            print!("{}", chart.text(width));
            for (node, timing) in &timings {
                print!("\n{}", timing.text(node, width));
            }
        }
    })?;
    Ok(true)
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text)
        .map_err(|error| miette::miette!("cannot write {}: {error}", file.display()))
}

/// Width of the terminal, if the shell told it.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.and_then(|columns| columns.parse().ok());
    columns.unwrap_or(WIDTH)
}
