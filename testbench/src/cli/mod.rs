//! Command line: arguments, and one module for each command.

mod bench;
mod check;
mod config;
mod cover;
mod diff;
mod doctor;
mod explain;
mod explore;
mod failed;
mod fuzz;
mod interrupt;
mod junit;
mod list;
mod matrix;
mod new;
mod output;
mod plan;
mod random;
mod regress;
mod replay;
mod report;
mod run;
mod shell;
mod show;
mod shrink;
mod signoff;
mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use tandem_testbench::coverage::data::Gatherer;
use tandem_testbench::stop;
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
    /// Show what is covered, of the code and of what it is for: holes first
    Cover(cover::Arguments),
    /// Run everything, decide, and write one page about it
    Signoff(signoff::Arguments),
    /// Say in words what a vector does
    Explain(explain::Arguments),
    /// Print the JSON Schema of vectors
    Schema(Schema),
    /// Run vectors with many seeds, in shards or on a farm, and put the results together
    Regress(regress::Arguments),
    /// Random traffic: all requests, sizes and flags, with every result and every byte compared
    Random(random::Arguments),
    /// Every order of events in small worlds: loss, duplicates, reordering, late memory
    Explore(explore::Arguments),
    /// Random moves in random worlds on a bad network; a failure becomes a small vector
    Fuzz(fuzz::Arguments),
    /// Check a capture of any two RoCEv2 peers against the specification
    Check(check::Arguments),
    /// Show a capture, or the end of a kept failure, as a sequence chart
    Show(show::Arguments),
    /// Show where two captures, two kept failures or two JSON files first differ
    Diff(diff::Arguments),
    /// Run a kept failure again, exactly
    Replay(replay::Arguments),
    /// Make a vector that fails smaller, as long as it fails in the same way
    Shrink(shrink::Arguments),
    /// Measurements, as ratios and counts of one run
    Bench(bench::Arguments),
    /// Begin a new vector
    New(new::Arguments),
    /// Show what is installed, what is missing, and how to get it
    Doctor(doctor::Arguments),
    /// Print what a shell needs to complete the command line
    Completions(shell::Completions),
    /// Write the manual pages
    Man(shell::Man),
}

/// What nodes run on, and how they choose.
#[derive(Args, Clone)]
struct Engines {
    /// What nodes run on: `model` or `rtl` for all, `mixed` for both by turns, or `node=target` for some, as
    /// `a=model,b=rtl`
    #[arg(long, value_name = "TARGET", default_value = "model", value_parser = parse_targets)]
    target: TargetChoice,

    /// Order in which the model makes the engine's choices (default: the vector's, else fair)
    #[arg(long, value_enum)]
    scheduler: Option<Choice>,

    /// Run the debug build of the engine: slower, with its assertions
    #[arg(long)]
    debug: bool,

    /// What is wrong with the engines, to see it found
    #[arg(long, value_enum, hide = true)]
    inject: Option<Inject>,
}

/// What nodes run on, and what is kept and counted of their runs.
#[derive(Args, Clone)]
struct Targets {
    #[command(flatten)]
    engines: Engines,

    /// Folder for what is kept of runs that fail on the engine
    #[arg(long, value_name = "DIR", default_value = FAILURES)]
    failures: PathBuf,

    /// Keep runs that fail without an engine too
    #[arg(long)]
    keep_all: bool,

    /// Folder in which coverage is gathered, for `tandem cover`; of code too, in a program with the coverage build
    /// (`--features coverage`)
    #[arg(long, value_name = "DIR")]
    cover: Option<PathBuf>,
}

impl Targets {
    /// Where coverage of a command is gathered, if it is.
    fn gather(&self, command: &str) -> miette::Result<Option<Gatherer>> {
        let Some(folder) = &self.cover else {
            return Ok(None);
        };
        let words: Vec<String> = std::env::args().skip(1).collect();
        let words = format!("tandem {}", words.join(" "));
        let gatherer = Gatherer::new(folder, command, &words);
        gatherer
            .map(Some)
            .map_err(|error| miette::miette!("{error}"))
    }

    /// Options of a run on them.
    fn options(&self, seed: u64) -> RunOptions {
        let engines = &self.engines;
        RunOptions {
            target: engines.target.all,
            node_targets: engines.target.nodes.clone(),
            seed,
            choice: engines.scheduler.unwrap_or_default(),
            inject: engines.inject,
            debug: engines.debug,
            ..RunOptions::default()
        }
    }
}

/// Writes what was covered.
fn gathered(gatherer: Option<&Gatherer>) -> miette::Result<()> {
    let written = gatherer.map_or(Ok(()), Gatherer::write);
    written.map_err(|error| miette::miette!("{error}"))
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
        "netlist" => Ok(TargetKind::Netlist),
        other => Err(format!(
            "`{other}` is not a target: there are `model`, `rtl`, `netlist` and `mixed`"
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

/// The command line; of options that are given twice the last one counts.
fn command() -> clap::Command {
    let names: Vec<String> = Arguments::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    names.into_iter().fold(Arguments::command(), |all, name| {
        all.mut_subcommand(name, |command| command.args_override_self(true))
    })
}

/// What was typed, with what `tandem.toml` says; and whether the answer is to be JSON.
fn arguments() -> miette::Result<(Arguments, bool)> {
    let typed = std::env::args_os().collect();
    let all = config::arguments(&Arguments::command(), typed)?;
    let matches = command().get_matches_from(all);
    let json = matches.subcommand().is_some_and(|(_, options)| {
        let json = options.try_get_one("json");
        json.is_ok_and(|json| json == Some(&true))
    });
    let arguments = Arguments::from_arg_matches(&matches);
    let arguments = arguments.map_err(|error| miette::miette!("{error}"))?;
    Ok((arguments, json))
}

/// Runs a command. What it could not do is told in JSON too if that is the answer's form.
fn answer((arguments, json): (Arguments, bool)) -> miette::Result<bool> {
    let outcome = run_command(arguments);
    if let Err(error) = &outcome
        && json
    {
        output::failed(&error.to_string());
    }
    outcome
}

/// Runs the command line.
pub fn main() -> ExitCode {
    report::install();
    interrupt::install();
    match arguments().and_then(answer) {
        _ if stop::asked() => ExitCode::from(interrupt::STATUS),
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::from(2)
        }
    }
}

fn run_command(arguments: Arguments) -> miette::Result<bool> {
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Cover(arguments) => cover::run(&arguments),
        Command::Signoff(arguments) => signoff::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Schema(arguments) => print_schema(&arguments),
        Command::Regress(arguments) => regress::run(&arguments),
        Command::Random(arguments) => random::run(&arguments),
        Command::Explore(arguments) => explore::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Shrink(arguments) => shrink::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::man(&arguments),
    }
}

/// Arguments of `schema`.
#[derive(Args)]
struct Schema {
    #[command(flatten)]
    output: output::Output,
}

/// It is JSON in any case.
fn print_schema(_: &Schema) -> miette::Result<bool> {
    output::document(&schema())?;
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
        command().debug_assert();
    }
}
