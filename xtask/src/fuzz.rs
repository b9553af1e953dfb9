//! Fuzzing the parser and the golden engine: coverage-guided, without a sanitizer, since all of it is safe Rust.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Failure, Result};
use crate::process::{cargo, heading, root, run};

/// The version of cargo-fuzz; what it is made of is pinned and hash-checked by the list in its package.
const CARGO_FUZZ: &str = "0.13.2";
/// The fuzz targets.
const TARGETS: [&str; 2] = ["parse", "receive"];
/// Longest input in bytes: a few frames of the greatest size.
const LONGEST: u32 = 16384;
/// Where the crate of the targets is.
const CRATE: &str = "model/fuzz";
/// Lines that are shown of a run that failed.
const SHOWN: usize = 40;

/// Runs each target for so many seconds, from the corpus of earlier runs, the golden packets and the captures.
pub fn all(seconds: u32) -> Result {
    heading("Tools");
    let program = ensure()?;
    println!("{:10} {}", "cargo-fuzz", program.display());
    heading("Corpus");
    let corpus = root().join("target/fuzz-corpus");
    write_corpus(&corpus)?;
    let mut failed = Vec::new();
    for target in TARGETS {
        heading(target);
        match one(&program, target, &corpus.join(target), seconds) {
            Ok(executions) => println!(
                "{executions} executions in {seconds} s, {} each second: nothing found",
                executions / u64::from(seconds.max(1))
            ),
            Err(failure) => {
                println!("{failure}");
                failed.push(target);
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure(format!(
        "failed: {}; copy the input to {CRATE}/regressions/<target>/ when the fault is mended",
        failed.join(", ")
    )))
}

/// The installed program; installs it if it is not there or not of the pinned version.
fn ensure() -> Result<PathBuf> {
    let dir = root().join(".tools/cargo-fuzz");
    let (program, stamp) = (dir.join("bin/cargo-fuzz"), dir.join(".stamp"));
    let current = fs::read_to_string(&stamp).is_ok_and(|version| version == CARGO_FUZZ);
    if current && program.is_file() {
        return Ok(program);
    }
    println!("installing cargo-fuzz {CARGO_FUZZ} into .tools/ (once)");
    let mut install = cargo();
    install
        .args(["install", "--quiet", "--locked", "--force", "--root"])
        .arg(&dir)
        .arg(format!("cargo-fuzz@{CARGO_FUZZ}"));
    run("installing cargo-fuzz", &mut install)?;
    fs::write(&stamp, CARGO_FUZZ).map_err(Failure::at(&stamp))?;
    Ok(program)
}

/// The model's own example writes the inputs to begin with.
fn write_corpus(corpus: &Path) -> Result {
    let mut writer = cargo();
    writer
        .args(["run", "--quiet", "-p", "tandem-model"])
        .args(["--example", "fuzz_corpus", "--"])
        .arg(corpus);
    run("writing the corpus", &mut writer)
}

/// Runs one target; how many inputs were tried.
fn one(program: &Path, target: &str, corpus: &Path, seconds: u32) -> Result<u64> {
    let mut command = Command::new(program);
    command
        .args(["run", "--fuzz-dir", CRATE, "--target-dir", "target/fuzz"])
        .args(["--sanitizer", "none", target])
        .arg(corpus)
        .arg("--")
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={LONGEST}"))
        .arg("-print_final_stats=1")
        .current_dir(root())
        .stderr(Stdio::piped());
    let missing = |error| Failure(format!("cannot run cargo-fuzz: {error}"));
    let mut child = command.spawn().map_err(missing)?;
    // Thousands of lines, of which only the last ones say something.
    let lines: Vec<String> = child
        .stderr
        .take()
        .map(|stderr| {
            BufReader::new(stderr)
                .lines()
                .map_while(|line| line.ok())
                .collect()
        })
        .unwrap_or_default();
    let status = child.wait().map_err(missing)?;
    if status.success() {
        return executions(&lines)
            .ok_or_else(|| Failure(format!("{target} does not say what it has done")));
    }
    let shown = &lines[lines.len().saturating_sub(SHOWN)..];
    Err(Failure(format!(
        "{}\n{target} failed ({status})",
        shown.join("\n")
    )))
}

/// How many inputs were tried, from the statistics at the end of a run.
fn executions(lines: &[String]) -> Option<u64> {
    let number = |line: &String| {
        let rest = line.strip_prefix("stat::number_of_executed_units:")?;
        rest.trim().parse().ok()
    };
    lines.iter().rev().find_map(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_read_from_the_statistics() {
        let lines = [
            "Done 2919698 runs in 31 second(s)",
            "stat::number_of_executed_units: 2919698",
            "stat::average_exec_per_sec:     94183",
        ];
        assert_eq!(executions(&lines.map(String::from)), Some(2_919_698));
        assert_eq!(executions(&[]), None);
    }
}
