//! `tandem explore`.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget};
use miette::{Result, miette};
use tandem_testbench::explore::{
    Exploration, Mutation, Outcome, SearchOptions, WORLDS, World, world,
};

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
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    if arguments.list {
        for world in WORLDS {
            println!("{:<12} {}", world.name, world.doc);
        }
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
    let mut holds = true;
    for world in worlds {
        holds &= explore(world, arguments);
    }
    Ok(holds)
}

fn explore(world: &World, arguments: &Arguments) -> bool {
    let defaults = SearchOptions::default();
    let exploration = Exploration {
        mutation: arguments.fault,
        search: SearchOptions {
            threads: arguments.threads.unwrap_or(defaults.threads),
            max_states: arguments.max_states,
        },
        ..Exploration::of(*world)
    };
    let bar = ProgressBar::new_spinner();
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let report = exploration.run(&|progress| {
        bar.set_message(format!(
            "{}: {} states, depth {}",
            world.name, progress.states, progress.depth
        ));
        bar.tick();
    });
    bar.finish_and_clear();
    println!("{report}");
    if arguments.actions {
        for (kind, causes) in &report.actions {
            println!("    {kind}: {}", causes.join(", "));
        }
    }
    report.outcome == Outcome::Holds
}
