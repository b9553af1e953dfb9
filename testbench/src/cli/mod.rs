//! Command line: arguments, and one module for each command.

mod bench;
mod check;
mod explain;
mod explore;
mod failed;
mod fuzz;
mod junit;
mod list;
mod matrix;
mod plan;
mod random;
mod report;
mod run;
mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use tandem_testbench::targets::{Choice, Inject};
use tandem_testbench::vector::{TargetKind, schema};
use tandem_testbench::world::RunOptions;

/// Where vectors are if no path is given.
const VECTORS: &str = "testbench/vectors";

/// Where failures are kept if no folder is given.
const FAILURES: &str = "tandem-failures";

/// Runs vectors and random traffic on the golden model and the Verilated engine.
#[derive(Parser)]
#[command(name = "tandem", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run vectors: files, or directories with everything below them
    Run(run::Arguments),
    /// List vectors, or the faults of others with the vectors that show them
    List(list::Arguments),
    /// Show requirements, and what covers them
    Plan(plan::Arguments),
    /// Say in words what a vector does
    Explain(explain::Arguments),
    /// Print the JSON Schema of vectors
    Schema,
    /// Random traffic: all requests, sizes and flags, with every result and every byte compared
    Random(random::Arguments),
    /// Every order of events in small worlds: loss, duplicates, reordering, late memory
    Explore(explore::Arguments),
    /// Random moves in random worlds on a bad network; a failure becomes a small vector
    Fuzz(fuzz::Arguments),
    /// Check a capture of any two RoCEv2 peers against the specification
    Check(check::Arguments),
    /// Measurements, as ratios and counts of one run
    Bench(bench::Arguments),
}

/// Which targets, and which choices.
#[derive(Args, Clone)]
struct Targets {
    /// What nodes run on: `model` or `rtl` for all, `mixed` for both by turns, or `node=target` for some, as
    /// `a=model,b=rtl`
    #[arg(long, value_name = "TARGET", default_value = "model", value_parser = parse_targets)]
    target: TargetChoice,

    /// Order in which the model makes the engine's choices (default: the vector's, else fair)
    #[arg(long, value_enum)]
    scheduler: Option<Choice>,

    /// What is wrong with the engines, to see it found
    #[arg(long, value_enum, hide = true)]
    inject: Option<Inject>,

    /// Folder for what is kept of runs that fail on the engine
    #[arg(long, value_name = "DIR", default_value = FAILURES)]
    failures: PathBuf,
}

impl Targets {
    /// Options of a run on them.
    fn options(&self, seed: u64) -> RunOptions {
        RunOptions {
            target: self.target.all,
            node_targets: self.target.nodes.clone(),
            seed,
            choice: self.scheduler.unwrap_or_default(),
            inject: self.inject,
            ..RunOptions::default()
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TargetChoice {
    all: TargetKind,
    nodes: BTreeMap<String, TargetKind>,
}

fn parse_targets(text: &str) -> Result<TargetChoice, String> {
    let kind = |name: &str| match name {
        "model" => Ok(TargetKind::Model),
        "rtl" => Ok(TargetKind::Rtl),
        other => Err(format!(
            "`{other}` is not a target: there are `model`, `rtl` and `mixed`"
        )),
    };
    let mut choice = TargetChoice::default();
    for part in text.split(',') {
        match part.split_once('=') {
            Some((node, name)) => {
                choice.nodes.insert(node.into(), kind(name)?);
            }
            None if part == "mixed" => {
                choice.all = TargetKind::Rtl;
                let models = ["a", "c"].map(|node| (node.into(), TargetKind::Model));
                choice.nodes.extend(models);
            }
            None => choice.all = kind(part)?,
        }
    }
    Ok(choice)
}

/// Paths, with the vectors of the repository if there are none.
fn paths_or_default(paths: &[PathBuf]) -> Vec<PathBuf> {
    match paths {
        [] => vec![VECTORS.into()],
        paths => paths.into(),
    }
}

/// Runs the command line.
pub fn main() -> ExitCode {
    report::install();
    let outcome = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Schema => print_schema(),
        Command::Random(arguments) => random::run(&arguments),
        Command::Explore(arguments) => explore::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::from(2)
        }
    }
}

fn print_schema() -> miette::Result<bool> {
    let text = serde_json::to_string_pretty(&schema());
    println!("{}", text.map_err(|error| miette::miette!("{error}"))?);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_for_all_or_by_node() {
        let choice = parse_targets("rtl,b=model").unwrap();
        assert_eq!(choice.all, TargetKind::Rtl);
        assert_eq!(choice.nodes.get("b"), Some(&TargetKind::Model));
        assert!(
            parse_targets("a=verilog")
                .unwrap_err()
                .contains("`verilog`")
        );
    }

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
