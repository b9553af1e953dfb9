//! Yosys on scripts of ours: what reads SystemVerilog, and running it.

use std::fs;
use std::path::{Path, PathBuf};

use verilated_build::FileList;

use crate::failure::{Failure, Result};
use crate::process::{output, root};
use crate::tools::yosys;

/// The command that reads sources, with `options` of its own and values for parameters of the top, as `NumQp=16`.
///
/// `read_verilog` would take an array of structs for one word, so nothing reads RTL with that.
pub fn read_slang(options: &str, top: &str, parameters: &[String], files: &FileList) -> String {
    let mut command = String::from("read_slang --threads 1 --unroll-limit 65536");
    let mut add = |word: &str| {
        if !word.is_empty() {
            command.push(' ');
            command.push_str(word);
        }
    };
    add(options);
    add(&format!("--top {top}"));
    for parameter in parameters {
        add(&format!("-G {parameter}"));
    }
    for dir in &files.include_dirs {
        add(&format!("-I {}", dir.display()));
    }
    for source in &files.sources {
        add(&source.display().to_string());
    }
    command
}

/// What Yosys did with a script.
pub struct Ran {
    /// Whether it succeeded.
    pub passed: bool,
    /// What it said.
    pub log: String,
    /// What it said of errors.
    pub errors: String,
    /// Where the log is, from the root.
    path: PathBuf,
}

impl Ran {
    /// Fails if Yosys did.
    pub fn expect_passed(&self) -> Result {
        if self.passed {
            return Ok(());
        }
        Err(Failure(format!(
            "yosys failed; its log is {}\n{}",
            self.path.display(),
            self.errors.trim()
        )))
    }
}

/// Runs a script. It and its log are put into a folder, from the root, under this name.
pub fn run(folder: &Path, name: &str, script: &str) -> Result<Ran> {
    let file = |extension: &str| folder.join(format!("{name}.{extension}"));
    let (path, log) = (file("ys"), file("log"));
    fs::create_dir_all(root().join(folder)).map_err(Failure::at(folder))?;
    fs::write(root().join(&path), script).map_err(Failure::at(&path))?;
    let mut command = yosys()?;
    command.arg("-q").arg("-l").arg(&log).arg(&path);
    let result = output("yosys", &mut command)?;
    Ok(Ran {
        passed: result.status.success(),
        log: fs::read_to_string(root().join(&log)).unwrap_or_default(),
        errors: String::from_utf8_lossy(&result.stderr).into_owned(),
        path: log,
    })
}
