//! Everything that is not `cargo build`: `cargo xtask help` lists the commands.

mod bench;
mod cells;
mod cover;
mod dissect;
mod failure;
mod formal;
mod fuzz;
mod lint;
mod process;
mod regs;
mod synth;
mod test;
mod tools;
mod yosys;

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
    /// Run the vectors on the Verilated engine, in lockstep with the model
    Demo,
    /// Run every check: format, clippy, lint, generated files, tests
    Test,
    /// Check the RTL: Verilator's warnings, Verible's style, Yosys' elaboration
    Lint,
    /// Generate the RTL package and the book's tables of the host ABI from the model's tables
    Abi,
    /// Generate RTL, Rust and HTML from the register description
    Regs {
        /// Write nothing; fail if a committed file is stale
        #[arg(long)]
        check: bool,
    },
    /// Prove modules: their properties hold for all inputs, and mutants of them are refuted
    Formal {
        /// Only these modules
        modules: Vec<String>,
    },
    /// Measure what the README shows
    Bench,
    /// Count which code of the engine, and which cover points, everything together reaches
    Cover,
    /// Let tshark read what vectors put on the wire
    Dissect,
    /// Fuzz the parser and the golden engine
    Fuzz {
        /// For each of the targets
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Synthesise the engine for ECP5: netlists, and the cells of each room
    Synth {
        /// A parameter of the engine, such as NumQp=16
        #[arg(long = "set", value_name = "NAME=VALUE")]
        set: Vec<String>,
    },
    /// Run the vectors on the synthesised netlist, in lockstep and beside the RTL
    Netlist,
    /// Run the vectors on the Verilator of the PATH, of another version
    SecondOpinion,
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
        Task::Demo => bench::demo(),
        Task::Test => test::all(),
        Task::Lint => lint::all(),
        Task::Abi => abi(),
        Task::Regs { check: true } => regs::run(regs::Mode::Check),
        Task::Regs { check: false } => regs::run(regs::Mode::Write),
        Task::Formal { modules } => formal::run(&modules),
        Task::Bench => bench::bench(),
        Task::Cover => cover::all(),
        Task::Dissect => dissect::all(),
        Task::Fuzz { seconds } => fuzz::all(seconds),
        Task::Synth { set } => synth::engine(&set).map(drop),
        Task::Netlist => bench::netlist(),
        Task::SecondOpinion => bench::second_opinion(),
        Task::Tools { tools } if tools.is_empty() => tools::install(&Tool::ALL),
        Task::Tools { tools } => tools::install(&tools),
    }
}

/// The model's own example writes the files; a test of the model proves them fresh.
fn abi() -> Result {
    let mut generator = process::cargo();
    generator
        .args([
            "run",
            "--quiet",
            "-p",
            "tandem-model",
            "--example",
            "abi",
            "--",
        ])
        .arg(process::root());
    process::run("generating the host ABI", &mut generator)?;
    println!("the host ABI's generated files are fresh");
    Ok(())
}
