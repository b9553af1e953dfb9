//! Checks of the RTL without running it: Verilator's warnings, Verible's style, and whether
//! Yosys, which synthesises it, reads it as a sound netlist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use verilated_build::{FileList, MINIMUM};

use crate::failure::{Failure, Result};
use crate::process::{Check, heading, root, run};
use crate::tools::{verible, verilator};
use crate::yosys;

/// A top module that is checked on its own.
struct Top {
    module: &'static str,
    list: &'static str,
}

/// Every top: the engine, the library's modules, which are made for other designs too, and the host link
/// with and without its UART.
const TOPS: &[Top] = &[
    top("nd_engine", "rtl/nd_engine.f"),
    top("nd_wire_top", "rtl/wire/nd_wire.f"),
    top("nd_fifo", "rtl/lib/nd_lib.f"),
    top("nd_fifo_commit", "rtl/lib/nd_lib.f"),
    top("nd_fifo_reg", "rtl/lib/nd_lib.f"),
    top("nd_pack", "rtl/lib/nd_lib.f"),
    top("nd_ram", "rtl/lib/nd_lib.f"),
    top("nd_rr_arb", "rtl/lib/nd_lib.f"),
    top("nd_rr_turn", "rtl/lib/nd_lib.f"),
    top("nd_skid", "rtl/lib/nd_lib.f"),
    top("nd_link", "fpga/link/rtl/nd_link.f"),
    top("nd_link_top", "fpga/link/rtl/nd_link.f"),
];

const fn top(module: &'static str, list: &'static str) -> Top {
    Top { module, list }
}

/// Where SystemVerilog that people wrote is.
const FOLDERS: [&str; 2] = ["rtl", "fpga/link/rtl"];
const WAIVERS: [&str; 2] = ["rtl/.waivers.vlt", "rtl/.waivers.lint.vlt"];
/// Scripts and logs of Yosys.
const SCRATCH: &str = "target/lint";
const RULES: &str = "rtl/.rules.verible_lint";

/// Runs all checks, each to its end, and tells which failed.
pub fn all() -> Result {
    let checks: [Check; 3] = [
        ("Verilator", warnings),
        ("Verible", style),
        ("Yosys", elaboration),
    ];
    let mut failed = Vec::new();
    for (name, check) in checks {
        if let Err(failure) = check() {
            println!("{failure}");
            failed.push(name);
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure(format!("lint: {}", failed.join(", "))))
    }
}

/// Verilator with all warnings on; what is waived stands in a file with its reason.
fn warnings() -> Result {
    let verilator = verilator()?;
    let mut failed = Vec::new();
    for top in TOPS {
        heading(&format!("Verilator -Wall: {}", top.module));
        let Some(files) = read(top, &mut failed) else {
            continue;
        };
        let mut command = verilator.command();
        command.args([
            "--lint-only",
            "-Wall",
            "-fno-dfg",
            "--top-module",
            top.module,
        ]);
        if verilator.version() >= MINIMUM {
            command.arg("--quiet");
        }
        command.args(WAIVERS);
        command.args(
            files
                .include_dirs
                .iter()
                .map(|dir| format!("+incdir+{}", dir.display())),
        );
        match run("verilator --lint-only", command.args(&files.sources)) {
            Ok(()) => println!("no warnings in {} files", files.sources.len()),
            Err(_) => failed.push(top.module),
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure(format!(
        "verilator --lint-only -Wall failed for {}",
        failed.join(", ")
    )))
}

/// Verible's style rules on everything that people wrote.
fn style() -> Result {
    heading("Verible: style");
    let mut files = BTreeSet::new();
    for folder in FOLDERS {
        sources_below(&root().join(folder), &mut files)?;
    }
    files.retain(|file| !is_generated(file));
    let mut command = Command::new(verible()?);
    command.arg(format!("--rules_config={RULES}")).args(&files);
    run("verible-verilog-lint", &mut command)?;
    println!("{} files follow {RULES}", files.len());
    Ok(())
}

/// Yosys reads each top, turns it into a netlist, and checks that: one driver for each wire, no
/// loops, nothing undriven.
fn elaboration() -> Result {
    let mut failed = Vec::new();
    for top in TOPS {
        heading(&format!("Yosys: {}", top.module));
        let Some(files) = read(top, &mut failed) else {
            continue;
        };
        let ran = yosys::run(Path::new(SCRATCH), top.module, &yosys_script(top, &files))?;
        if ran.passed {
            println!("sound; {}", size(&ran.log));
        } else {
            println!("{}", tail(&ran.log, 15));
            println!("{}", tail(&ran.errors, 5));
            failed.push(top.module);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure(format!(
        "yosys failed for {}; logs are in {SCRATCH}",
        failed.join(", ")
    )))
}

fn yosys_script(top: &Top, files: &FileList) -> String {
    format!(
        "{read}\n\
         hierarchy -check -top {module}\n\
         proc\n\
         flatten\n\
         opt_clean\n\
         check -assert\n\
         stat\n",
        read = yosys::read_slang("", top.module, &[], files),
        module = top.module,
    )
}

/// The sources of a top. A list that cannot be read is a failure of that top, said at once.
fn read(top: &Top, failed: &mut Vec<&str>) -> Option<FileList> {
    FileList::read(&root(), Path::new(top.list))
        .inspect_err(|error| {
            println!("{error}");
            failed.push(top.module);
        })
        .ok()
}

/// The line of `stat` that tells the size.
fn size(log: &str) -> String {
    let line = log
        .lines()
        .rev()
        .find(|line| line.trim_end().ends_with("cells"));
    line.map_or_else(
        || "no cells".into(),
        |line| line.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// All SystemVerilog below a folder, relative to the root.
fn sources_below(dir: &Path, into: &mut BTreeSet<PathBuf>) -> Result {
    for entry in fs::read_dir(dir).map_err(Failure::at(dir))? {
        let path = entry.map_err(Failure::at(dir))?.path();
        if path.is_dir() {
            sources_below(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "sv" || e == "svh") {
            into.insert(path.strip_prefix(root()).unwrap_or(&path).to_path_buf());
        }
    }
    Ok(())
}

/// Generated files say so in their first lines; their style is their generator's.
fn is_generated(file: &Path) -> bool {
    let text = fs::read_to_string(root().join(file)).unwrap_or_default();
    text.lines()
        .take(3)
        .any(|line| line.to_lowercase().contains("generated"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_reads_all_and_asserts() {
        let files = FileList {
            sources: vec!["rtl/a.sv".into(), "rtl/b.sv".into()],
            include_dirs: vec!["rtl/lib".into()],
        };
        let script = yosys_script(&top("b", "x.f"), &files);
        assert!(script.starts_with(
            "read_slang --threads 1 --unroll-limit 65536 --top b -I rtl/lib rtl/a.sv rtl/b.sv\n"
        ));
        assert!(script.contains("\ncheck -assert\n"));
    }

    #[test]
    fn tails_of_short_and_long_texts() {
        assert_eq!(tail("a\nb\nc", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
    }
}
