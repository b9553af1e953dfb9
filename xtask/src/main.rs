//! Everything that is not `cargo build`: `cargo xtask help` lists the commands.

mod failure;
mod process;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Result;
use tools::Tool;

/// Tools, generation and checks of Tandem.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    disable_version_flag = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install the tools (or those named) into .tools/, at pinned versions
    Tools {
        /// Only these
        tools: Vec<Tool>,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result {
    match task {
        Task::Tools { tools } => {
            let all = tools.is_empty();
            tools::install(if all { &Tool::ALL } else { &tools })
        }
    }
}
