//! Every check of the repository, as it runs before each change lands.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};
use crate::process::{Check, cargo, heading, run, tandem};
use crate::tools::{Tool, install};
use crate::{cells, dissect, lint, regs};

/// Runs all checks, each even when an earlier one failed, and closes with a summary.
pub fn all() -> Result {
    heading("Tools");
    install(&Tool::ALL)?;
    let checks: [Check; 9] = [
        ("format", format),
        ("clippy", clippy),
        ("lint", lint::all),
        ("cells", cells::check),
        ("registers", || regs::run(regs::Mode::Check)),
        ("tests", tests),
        ("slurm", slurm),
        ("worlds", worlds),
        ("dissector", dissect::all),
    ];
    let mut results = Vec::new();
    for (name, check) in checks {
        heading(name);
        let start = Instant::now();
        let result = check();
        if let Err(failure) = &result {
            println!("{failure}");
        }
        results.push((name, result.is_ok(), start.elapsed()));
    }
    heading("Summary");
    for (name, passed, time) in &results {
        println!("{}", line(name, *passed, *time));
    }
    let failed: Vec<&str> = results
        .iter()
        .filter(|(_, ok, _)| !ok)
        .map(|(n, ..)| *n)
        .collect();
    if failed.is_empty() {
        println!("all checks passed");
        return Ok(());
    }
    Err(Failure(format!("failed: {}", failed.join(", "))))
}

fn format() -> Result {
    run("cargo fmt", cargo().args(["fmt", "--all", "--check"]))?;
    println!("formatted");
    Ok(())
}

fn clippy() -> Result {
    let flags = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run("cargo clippy", cargo().args(flags))
}

fn tests() -> Result {
    run(
        "cargo test",
        cargo().args(["test", "--workspace", "--no-fail-fast"]),
    )
}

/// A regression on a farm, which the test starts. It needs no engine. Where Slurm is not installed it is left out, but not on a build server.
fn slurm() -> Result {
    const PROGRAMS: [&str; 4] = ["munged", "slurmctld", "slurmd", "sbatch"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .collect();
    let there = |name: &&str| folders.iter().any(|folder| folder.join(name).is_file());
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| !there(name)).collect();
    if missing.is_empty() {
        let flags = ["-p", "tandem-testbench", "--no-default-features"];
        let mut command = cargo();
        command.arg("test").args(flags);
        command.args(["--test", "slurm", "--", "--ignored"]);
        return run("the farm's test", &mut command);
    }
    let words = format!(
        "{} not found: apt-get install slurm-wlm",
        missing.join(", ")
    );
    if std::env::var_os("CI").is_some() {
        return Err(Failure(words));
    }
    println!("LEFT OUT, regressions on Slurm are not tested: {words}");
    Ok(())
}

/// Every order of events in small worlds. It needs no engine, and the build of the tests is fast enough.
fn worlds() -> Result {
    let mut command = tandem(&["--no-default-features"], &["explore", "--all"]);
    run("tandem explore --all", &mut command)
}

fn line(name: &str, passed: bool, time: Duration) -> String {
    let word = if passed { "ok" } else { "FAILED" };
    format!("{name:10} {word:7} {:>6.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests_of_lines {
    use super::*;

    #[test]
    fn lines_are_aligned() {
        assert_eq!(
            line("lint", true, Duration::from_millis(1500)),
            "lint       ok         1.5 s"
        );
        assert_eq!(
            line("clippy", false, Duration::from_secs(90)),
            "clippy     FAILED    90.0 s"
        );
    }
}
