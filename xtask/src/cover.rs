//! Coverage of the engine: vectors, random traffic and random moves on an engine that counts, and what came of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::process::{heading, output, root, run, tandem};
use crate::tools::{Tool, install};

/// Where everything goes.
const FOLDER: &str = "target/coverage";
/// Where the programs gather what they count.
const DATA: &str = "target/coverage/data";

/// What runs: all of it on the engine, in lockstep.
const RUNS: [&[&str]; 3] = [
    &["run"],
    &[
        "random",
        "--requests",
        "20000",
        "--loss",
        "1",
        "--duplicate",
        "1",
        "--reorder",
        "1",
        "--corrupt",
        "0.5",
    ],
    &["fuzz", "--cases", "300"],
];

/// See the module. Fails if a run fails, or a waiver is refuted.
pub fn all() -> Result {
    install(&[Tool::Verilator])?;
    let folder = root().join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| file(&folder, &error))?;
    }
    for arguments in RUNS {
        let what = format!("tandem {}", arguments.join(" "));
        heading(&what);
        let on_engine = ["--target", "rtl", "--cover", DATA];
        run(&what, counting(arguments).args(on_engine))?;
    }
    heading("Coverage");
    let lcov = format!("{FOLDER}/engine.info");
    let arguments = ["cover", DATA, "--json", "--lcov", &lcov];
    let json = output("tandem cover", &mut counting(&arguments))?;
    write("coverage.json", &json.stdout)?;
    let text = output("tandem cover", &mut counting(&["cover", DATA, "--all"]))?;
    write("report.txt", &text.stdout)?;
    println!("{FOLDER}/ has report.txt (all holes), coverage.json and engine.info (LCOV)\n");
    run("tandem cover", &mut counting(&["cover", DATA]))
}

fn write(name: &str, bytes: &[u8]) -> Result {
    let path = root().join(FOLDER).join(name);
    fs::write(&path, bytes).map_err(|error| file(&path, &error))
}

fn file(path: &Path, error: &std::io::Error) -> Failure {
    Failure(format!("{}: {error}", path.display()))
}

/// The `tandem` command with the engine that counts.
fn counting(arguments: &[&str]) -> Command {
    tandem(
        &["--release", "--quiet", "--features", "coverage"],
        arguments,
    )
}
