//! `tandem doctor`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use miette::Result;
use serde::Serialize;

use super::output::Output;

/// Arguments of `doctor`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// Something that is used, if it is there.
struct Tool {
    name: &'static str,
    /// Programs, of which one is enough; a path is looked for below the repository.
    programs: &'static [&'static str],
    /// What makes it print its version.
    version: &'static str,
    purpose: &'static str,
    /// How to get it.
    source: &'static str,
}

const TOOLS: [Tool; 11] = [
    Tool {
        name: "c++",
        programs: &["c++", "g++", "clang++"],
        version: "--version",
        purpose: "builds the engine",
        source: "apt-get install g++",
    },
    Tool {
        name: "python3",
        programs: &["python3"],
        version: "--version",
        purpose: "installs the tools below .tools/",
        source: "apt-get install python3-venv",
    },
    Tool {
        name: "verilator",
        programs: &[".tools/verilator/verilator/bin/verilator_bin"],
        version: "--version",
        purpose: "makes the engine a model",
        source: "cargo xtask tools verilator (done at the first use)",
    },
    Tool {
        name: "tshark",
        programs: &["tshark"],
        version: "--version",
        purpose: "reads captures: cargo xtask dissect",
        source: "apt-get install tshark",
    },
    Tool {
        name: "wireshark",
        programs: &["wireshark"],
        version: "--version",
        purpose: "shows captures",
        source: "apt-get install wireshark",
    },
    Tool {
        name: "gtkwave",
        programs: &["gtkwave"],
        version: "--version",
        purpose: "shows waves",
        source: "apt-get install gtkwave",
    },
    Tool {
        name: "surfer",
        programs: &["surfer"],
        version: "--version",
        purpose: "shows waves",
        source: "cargo install --git https://gitlab.com/surfer-project/surfer surfer",
    },
    Tool {
        name: "genhtml",
        programs: &["genhtml"],
        version: "--version",
        purpose: "shows LCOV of tandem cover",
        source: "apt-get install lcov",
    },
    Tool {
        name: "chromium",
        programs: &["chromium", "chromium-browser", "google-chrome"],
        version: "--version",
        purpose: "looks at the signoff page in tests",
        source: "apt-get install chromium",
    },
    Tool {
        name: "slurm",
        programs: &["sbatch"],
        version: "--version",
        purpose: "runs a regression on a farm",
        source: "apt-get install slurm-wlm",
    },
    Tool {
        name: "openFPGALoader",
        programs: &["openFPGALoader"],
        version: "--Version",
        purpose: "programs boards",
        source: "apt-get install openfpgaloader",
    },
];

/// What was found.
#[derive(Serialize)]
struct Finding {
    name: &'static str,
    /// `None`: it is not there.
    version: Option<String>,
    path: Option<PathBuf>,
    purpose: &'static str,
    source: &'static str,
}

/// Runs the command. It fails if the main job, vectors on the engine, cannot be done.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let mut findings = vec![
        built(
            "engine",
            cfg!(feature = "rtl"),
            "runs vectors in lockstep",
            "cargo build --release",
        ),
        built(
            "coverage build",
            cfg!(feature = "coverage"),
            "counts the code that runs",
            "cargo build --release --features coverage",
        ),
    ];
    let tools = TOOLS.iter().map(|tool| find(tool, &arguments.root));
    findings.extend(tools);
    let can = cfg!(feature = "rtl");
    let output = arguments.output;
    output.tell(&findings, || {
        let told = |finding: &&Finding| !output.quiet || finding.version.is_none();
        findings.iter().filter(told).for_each(print);
        println!(
            "vectors {} on the engine",
            if can { "run" } else { "do not run" }
        );
    })?;
    Ok(can)
}

/// This program and the tools that are there, with their versions.
pub(super) fn versions(root: &Path) -> BTreeMap<String, String> {
    let own = ("tandem".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let found = TOOLS.iter().map(|tool| find(tool, root));
    let found = found.filter_map(|found| Some((found.name.to_owned(), found.version?)));
    found.chain([own]).collect()
}

/// A part of this program.
fn built(name: &'static str, there: bool, purpose: &'static str, source: &'static str) -> Finding {
    Finding {
        name,
        version: there.then(|| "in this program".into()),
        path: None,
        purpose,
        source,
    }
}

fn find(tool: &Tool, root: &Path) -> Finding {
    let path = tool
        .programs
        .iter()
        .find_map(|program| located(program, root));
    Finding {
        name: tool.name,
        version: path.as_ref().map(|path| version(path, tool.version)),
        path,
        purpose: tool.purpose,
        source: tool.source,
    }
}

/// Where a program is: below the repository if it is a path, else on the PATH.
fn located(program: &str, root: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(root.join(program)).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&folders).map(|folder| folder.join(program));
    places.into_iter().find(|path| path.is_file())
}

/// The first number that a program prints of itself.
fn version(path: &Path, argument: &str) -> String {
    let Ok(printed) = Command::new(path).arg(argument).output() else {
        return "does not start".into();
    };
    let text = [printed.stdout, printed.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let mut words = text.split_whitespace();
    let number = words.find(|word| {
        let word = word.trim_start_matches('v');
        word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.')
    });
    number.map_or_else(
        || "there".into(),
        |word| word.trim_matches(|end| ",)v".contains(end)).to_owned(),
    )
}

fn print(finding: &Finding) {
    let Finding {
        name,
        version,
        purpose,
        source,
        ..
    } = finding;
    match version {
        Some(version) => println!("ok       {name:<16}{version:<18}{purpose}"),
        None => println!("missing  {name:<16}{source}\n         {:16}{purpose}", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found_with_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bin/tool");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "#!/bin/sh\necho tool version v4.2.1, made today\n").unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(located("bin/tool", folder.path()), Some(path.clone()));
        assert_eq!(located("bin/other", folder.path()), None);
        assert_eq!(version(&path, "--version"), "4.2.1");
    }
}
