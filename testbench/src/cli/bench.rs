//! `tandem bench`.

use miette::Result;
use serde::Serialize;
use tandem_testbench::measure::{MeasureError, MeasureOptions, measure, measure_regressions};
use tandem_testbench::vector::TargetKind;

use super::output::Output;

/// Arguments of `bench`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Work requests of the measurements on the golden model
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    model_requests: u32,

    /// Work requests of the measurements on the engine
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    engine_requests: u32,

    /// Work requests of each run of the regressions on the golden model; then 4 and 16 times as many
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    regress_model_requests: u64,

    /// Work requests of each run of the regressions on the engine; then 4 and 16 times as many
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    regress_engine_requests: u64,

    /// Measure regressions only
    #[arg(long)]
    regress: bool,

    /// Leave the engine out
    #[arg(long)]
    model_only: bool,

    /// Seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    output: Output,
}

/// A figure as JSON.
#[derive(Serialize)]
struct Json<'a> {
    name: &'a str,
    value: f64,
    unit: &'a str,
    machine: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let options = MeasureOptions {
        model_requests: arguments.model_requests,
        engine_requests: arguments.engine_requests,
        engine: cfg!(feature = "rtl") && !arguments.model_only,
        seed: arguments.seed,
    };
    let output = arguments.output;
    let note = |what: &str| {
        if !output.quiet {
            eprintln!("measuring: {what}");
        }
    };
    let wrong = |error: MeasureError| miette::miette!("{error}");
    let mut figures = match arguments.regress {
        true => Vec::new(),
        false => measure(&options, &note).map_err(wrong)?,
    };
    let mut requests = vec![(TargetKind::Model, arguments.regress_model_requests)];
    if options.engine {
        requests.push((TargetKind::Rtl, arguments.regress_engine_requests));
    }
    figures.extend(measure_regressions(&requests, &note).map_err(wrong)?);
    let json = figures.iter().map(|figure| Json {
        name: &figure.name,
        value: figure.value,
        unit: figure.unit,
        machine: figure.machine,
    });
    output.tell(&json.collect::<Vec<_>>(), || {
        for figure in &figures {
            let note = if figure.machine { "(this machine)" } else { "" };
            println!(
                "{:<64}{:>10} {:<11}{note}",
                figure.name,
                digits(figure.value),
                figure.unit
            );
        }
    })?;
    Ok(true)
}

/// Four digits that matter.
fn digits(value: f64) -> String {
    match value.abs() {
        large if large >= 1000.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}
