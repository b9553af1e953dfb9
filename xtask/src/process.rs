//! Running other programs, so that a person sees which and why it failed.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::failure::{Failure, Result};

/// The root of the workspace; all commands run there.
pub fn root() -> PathBuf {
    verilated_build::workspace_root()
}

/// A check and its name.
pub type Check = (&'static str, fn() -> Result);

/// Prints the heading of a step.
pub fn heading(text: &str) {
    println!("\n== {text}");
}

/// Runs a command with its output on the terminal. `what` names it in the failure.
pub fn run(what: &str, command: &mut Command) -> Result {
    let status = command
        .current_dir(root())
        .status()
        .map_err(|e| missing(what, command, &e))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure(format!("{what} failed ({status})")))
}

/// Runs a command and gives its output back, whether it succeeded or not.
pub fn output(what: &str, command: &mut Command) -> Result<Output> {
    command
        .current_dir(root())
        .output()
        .map_err(|e| missing(what, command, &e))
}

/// Cargo itself, the one that runs us.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The `tandem` command: built with these options of cargo, run with these arguments.
pub fn tandem(build: &[&str], arguments: &[&str]) -> Command {
    let mut command = cargo();
    command
        .arg("run")
        .args(build)
        .args(["-p", "tandem-testbench", "--bin", "tandem", "--"])
        .args(arguments);
    command
}

fn missing(what: &str, command: &Command, error: &std::io::Error) -> Failure {
    let program = command.get_program().to_string_lossy().into_owned();
    Failure(format!("{what}: cannot run {program}: {error}"))
}
