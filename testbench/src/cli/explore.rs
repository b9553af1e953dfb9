//! `tandem explore`.

use std::collections::BTreeMap;

use indicatif::ProgressStyle;
use miette::{Result, miette};
use serde::Serialize;
use tandem_testbench::explore::{
    Exploration, Mutation, Outcome, Report, SearchOptions, WORLDS, World, world,
};

use super::output::Output;

/// Arguments of `explore`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Worlds to explore
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "list"])]
    names: Vec<String>,

    /// Explore all worlds
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// List the worlds
    #[arg(long, conflicts_with_all = ["names", "all"])]
    list: bool,

    /// Show which actions of the engines, with which causes, were executed
    #[arg(long)]
    actions: bool,

    /// Give up after so many states
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,

    /// Threads; as many as the machine has if it is not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Put a fault into the engines, to see it found
    #[arg(long, value_enum, value_name = "FAULT")]
    fault: Option<Mutation>,

    #[command(flatten)]
    output: Output,
}

/// A world as JSON.
#[derive(Serialize)]
struct JsonWorld<'a> {
    name: &'a str,
    doc: &'a str,
}

/// An exploration as JSON.
#[derive(Serialize)]
struct Json<'a> {
    world: &'a str,
    outcome: &'static str,
    states: u64,
    steps: u64,
    depth: u64,
    seconds: f64,
    actions: &'a BTreeMap<String, Vec<String>>,
    /// The rule that does not hold, and the way to where it does not.
    broken: Option<String>,
}

impl<'a> Json<'a> {
    fn of(report: &'a Report) -> Self {
        let (outcome, broken) = match &report.outcome {
            Outcome::Holds => ("holds", None),
            Outcome::Cut => ("cut", None),
            Outcome::Broken(found) => (
                "broken",
                Some(format!("{}\n{}", found.invariant, found.text)),
            ),
        };
        Self {
            world: report.world,
            outcome,
            states: report.progress.states as u64,
            steps: report.progress.steps as u64,
            depth: report.progress.depth as u64,
            seconds: report.time.as_secs_f64(),
            actions: &report.actions,
            broken,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let output = arguments.output;
    if arguments.list {
        let json = WORLDS.iter().map(|world| JsonWorld {
            name: world.name,
            doc: world.doc,
        });
        output.tell(&json.collect::<Vec<_>>(), || {
            for world in WORLDS {
                println!("{:<12} {}", world.name, world.doc);
            }
        })?;
        return Ok(true);
    }
    let worlds: Vec<&World> = if arguments.all {
        WORLDS.iter().collect()
    } else {
        let named = arguments.names.iter().map(|name| {
            world(name).ok_or_else(|| {
                miette!(
                    help = "`tandem explore --list` shows the worlds",
                    "there is no world `{name}`"
                )
            })
        });
        named.collect::<Result<_>>()?
    };
    let mut reports = Vec::new();
    for world in worlds {
        let report = explore(world, arguments);
        let holds = report.outcome == Outcome::Holds;
        // Each may take minutes, so it is told at once.
        if output.is_full() || output.quiet && !holds {
            print(&report, arguments.actions);
        }
        reports.push(report);
    }
    let held = reports
        .iter()
        .filter(|report| report.outcome == Outcome::Holds);
    let (held, all) = (held.count(), reports.len());
    let json: Vec<Json<'_>> = reports.iter().map(Json::of).collect();
    output.tell(&json, || println!("{held} of {all} worlds hold"))?;
    Ok(held == all)
}

fn print(report: &Report, actions: bool) {
    println!("{report}");
    if actions {
        for (kind, causes) in &report.actions {
            println!("    {kind}: {}", causes.join(", "));
        }
    }
}

fn explore(world: &World, arguments: &Arguments) -> Report {
    let defaults = SearchOptions::default();
    let exploration = Exploration {
        mutation: arguments.fault,
        search: SearchOptions {
            threads: arguments.threads.unwrap_or(defaults.threads),
            max_states: arguments.max_states,
        },
        ..Exploration::of(*world)
    };
    let bar = arguments.output.progress(0, "");
    // Nobody knows how many there are.
    bar.set_style(ProgressStyle::default_spinner());
    let report = exploration.run(&|progress| {
        bar.set_message(format!(
            "{}: {} states, depth {}",
            world.name, progress.states, progress.depth
        ));
        bar.tick();
    });
    bar.finish_and_clear();
    report
}
