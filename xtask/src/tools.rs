//! Tools at pinned versions in `.tools/`, installed at first use from hash-checked packages.
//!
//! Each tool is one folder, filled beside its place and renamed when complete, with the lock file
//! it was made from as its stamp. A file lock keeps two runs apart.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use verilated_build::{MINIMUM, Verilator};

use crate::failure::{Failure, Result};
use crate::process::{output, root};

/// A tool that this program can install.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tool {
    /// Simulation.
    Verilator,
    /// Style checks.
    Verible,
    /// Yosys: elaboration, synthesis, formal.
    Pyosys,
    /// Registers.
    Peakrdl,
}

impl Tool {
    /// All tools.
    pub const ALL: [Self; 4] = [Self::Verilator, Self::Verible, Self::Pyosys, Self::Peakrdl];

    /// The name of its folder and lock file.
    fn name(self) -> &'static str {
        match self {
            Self::Verilator => "verilator",
            Self::Verible => "verible",
            Self::Pyosys => "pyosys",
            Self::Peakrdl => "peakrdl",
        }
    }

    /// Every package that it consists of, with versions and hashes.
    fn lock(self) -> &'static str {
        match self {
            Self::Verilator => include_str!("../tools/verilator.txt"),
            Self::Verible => include_str!("../tools/verible.txt"),
            Self::Pyosys => include_str!("../tools/pyosys.txt"),
            Self::Peakrdl => include_str!("../tools/peakrdl.txt"),
        }
    }

    /// What must be there after installation, and whether it is a program.
    fn probe(self) -> (&'static str, bool) {
        match self {
            Self::Verilator => ("verilator/bin/verilator_bin", true),
            Self::Verible => ("verible/bin/verible-verilog-lint", true),
            Self::Pyosys => ("pyosys/__init__.py", false),
            Self::Peakrdl => ("peakrdl/__main__.py", false),
        }
    }

    /// What a person can do who cannot have it installed.
    fn otherwise(self) -> String {
        match self {
            Self::Verilator => format!(
                "install Verilator {MINIMUM} or newer yourself and put it on the PATH, or set \
                 TANDEM_VERILATOR to its binary"
            ),
            Self::Verible => "put verible-verilog-lint on the PATH".into(),
            Self::Pyosys => "put Yosys 0.70 or newer on the PATH".into(),
            Self::Peakrdl => "check the network and the package index of pip".into(),
        }
    }
}

/// Installs tools that are not there yet, and says where each comes from.
pub fn install(tools: &[Tool]) -> Result {
    for &tool in tools {
        let place = match tool {
            Tool::Verilator => {
                let found = verilator()?;
                format!("{} (version {})", found.binary().display(), found.version())
            }
            Tool::Verible => verible()?.display().to_string(),
            Tool::Pyosys => match yosys_on_path() {
                Some(version) => format!("yosys on the PATH (version {version})"),
                None => ensure(tool)?.display().to_string(),
            },
            Tool::Peakrdl => ensure(tool)?.display().to_string(),
        };
        println!("{:10} {place}", tool.name());
    }
    Ok(())
}

/// Verilator: the user's choice, the installed one, the user's own, or a new installation.
pub fn verilator() -> Result<Verilator> {
    let asked_for = std::env::var_os("TANDEM_VERILATOR").is_some_and(|v| !v.is_empty());
    if asked_for {
        return Ok(Verilator::find()?);
    }
    if !is_current(Tool::Verilator)
        && let Some(own) = Verilator::on_path()
        && Verilator::installed(&root()).is_none()
    {
        return Ok(own);
    }
    ensure(Tool::Verilator)?;
    Ok(Verilator::find()?)
}

/// Verible's lint program: ours, since its rules differ between versions; else the user's.
pub fn verible() -> Result<PathBuf> {
    ensure(Tool::Verible)
        .map(|dir| dir.join(Tool::Verible.probe().0))
        .or_else(|failure| {
            let own = Command::new("verible-verilog-lint")
                .arg("--version")
                .output();
            own.map(|_| PathBuf::from("verible-verilog-lint"))
                .map_err(|_| failure)
        })
}

/// A Yosys command line: the user's own from 0.70 on, else the Python module.
pub fn yosys() -> Result<Command> {
    if yosys_on_path().is_some() {
        return Ok(Command::new("yosys"));
    }
    let mut command = python(Tool::Pyosys)?;
    command.arg(root().join("xtask/tools/yosys.py"));
    Ok(command)
}

/// ABC, which comes with Yosys.
pub fn abc() -> Result<Command> {
    if yosys_on_path().is_some() {
        return Ok(Command::new("yosys-abc"));
    }
    Ok(Command::new(ensure(Tool::Pyosys)?.join("pyosys/yosys-abc")))
}

/// A Python that sees the modules of a tool.
pub fn python(tool: Tool) -> Result<Command> {
    let modules = ensure(tool)?;
    let mut command = bare_python(&root().join(".tools/python/bin/python"));
    command
        .env("PYTHONPATH", modules)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

fn yosys_on_path() -> Option<String> {
    let version = Command::new("yosys").arg("-V").output().ok()?;
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    // "Yosys 0.70+12 (git sha1 ...)"
    let number = text.split_whitespace().nth(1)?;
    let minor = number
        .strip_prefix("0.")?
        .split(|c: char| !c.is_ascii_digit())
        .next()?;
    (minor.parse::<u32>().ok()? >= 70).then(|| number.to_string())
}

/// The folder of an installed tool; installs it if it is not there or not of the pinned version.
fn ensure(tool: Tool) -> Result<PathBuf> {
    let dir = home().join(tool.name());
    if is_current(tool) {
        return Ok(dir);
    }
    fs::create_dir_all(home()).map_err(Failure::at(&home()))?;
    let path = home().join("lock");
    let lock = File::create(&path).map_err(Failure::at(&path))?;
    if lock.try_lock().is_err() {
        println!("waiting for another run that installs tools");
        lock.lock().map_err(Failure::at(&path))?;
    }
    // Somebody else may have done it while we waited. The lock goes with `lock`.
    if !is_current(tool) {
        println!("installing {} into .tools/ (once)", tool.name());
        install_one(tool).map_err(|Failure(cause)| {
            Failure(format!(
                "cannot install {}: {cause}; or {}",
                tool.name(),
                tool.otherwise()
            ))
        })?;
    }
    Ok(dir)
}

fn install_one(tool: Tool) -> Result {
    let python = package_installer()?;
    let (fresh, dir) = (
        home().join(format!("{}.new", tool.name())),
        home().join(tool.name()),
    );
    remove(&fresh)?;
    fs::create_dir_all(&fresh).map_err(Failure::at(&fresh))?;
    let list = fresh.join("requirements.txt");
    fs::write(&list, tool.lock()).map_err(Failure::at(&list))?;
    let mut pip = bare_python(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ])
    .args([
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--no-compile",
        "--target",
    ])
    .arg(&fresh)
    .arg("--requirement")
    .arg(&list);
    let result = output("pip", &mut pip)?;
    if !result.status.success() {
        remove(&fresh)?;
        return Err(Failure(last_error(&result.stderr)));
    }
    let (probe, program) = tool.probe();
    let probe = fresh.join(probe);
    if !probe.is_file() {
        return Err(Failure(format!(
            "{} is not in the package",
            probe.display()
        )));
    }
    if program {
        make_executable(probe.parent().unwrap_or(&fresh))?;
    }
    let stamp = fresh.join(STAMP);
    fs::write(&stamp, tool.lock()).map_err(Failure::at(&stamp))?;
    remove(&dir)?;
    fs::rename(&fresh, &dir).map_err(Failure::at(&dir))
}

/// The Python with pip that installs the tools and runs those that are Python modules.
fn package_installer() -> Result<PathBuf> {
    let dir = home().join("python");
    let python = dir.join("bin/python");
    if dir.join(STAMP).is_file() && bare_python(&python).arg("-V").output().is_ok() {
        return Ok(python);
    }
    let advice = "install Python 3.10 or newer with venv (Debian: python3-venv)";
    let version = "import sys; sys.exit(sys.version_info < (3, 10))";
    let usable = bare_python(Path::new("python3"))
        .args(["-c", version])
        .output();
    if !usable.is_ok_and(|result| result.status.success()) {
        return Err(Failure(format!("python3 is missing or too old: {advice}")));
    }
    let fresh = home().join("python.new");
    remove(&fresh)?;
    let venv = bare_python(Path::new("python3"))
        .args(["-m", "venv"])
        .arg(&fresh)
        .output();
    if !venv.is_ok_and(|result| result.status.success()) {
        return Err(Failure(format!("python3 -m venv does not work: {advice}")));
    }
    let stamp = fresh.join(STAMP);
    fs::write(&stamp, "").map_err(Failure::at(&stamp))?;
    remove(&dir)?;
    fs::rename(&fresh, &dir).map_err(Failure::at(&dir))?;
    Ok(python)
}

/// A Python without what the user's environment would mix into it.
fn bare_python(program: &Path) -> Command {
    let mut command = Command::new(program);
    for variable in [
        "PYTHONPATH",
        "PYTHONHOME",
        "PIP_TARGET",
        "PIP_PREFIX",
        "PIP_USER",
        "PIP_REQUIRE_VIRTUALENV",
    ] {
        command.env_remove(variable);
    }
    command
}

fn is_current(tool: Tool) -> bool {
    let dir = home().join(tool.name());
    fs::read_to_string(dir.join(STAMP)).is_ok_and(|stamp| stamp == tool.lock())
        && dir.join(tool.probe().0).is_file()
        && (tool.probe().1 || home().join("python/bin/python").exists())
}

const STAMP: &str = ".stamp";

fn home() -> PathBuf {
    root().join(".tools")
}

fn remove(dir: &Path) -> Result {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Failure::at(dir)(e)),
        _ => Ok(()),
    }
}

fn make_executable(dir: &Path) -> Result {
    use std::os::unix::fs::PermissionsExt;
    for entry in fs::read_dir(dir).map_err(Failure::at(dir))? {
        let path = entry.map_err(Failure::at(dir))?.path();
        let mut permissions = fs::metadata(&path)
            .map_err(Failure::at(&path))?
            .permissions();
        permissions.set_mode(permissions.mode() | 0o111);
        fs::set_permissions(&path, permissions).map_err(Failure::at(&path))?;
    }
    Ok(())
}

/// The last line of pip's that is an error, without its prefix.
fn last_error(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("ERROR: "));
    line.unwrap_or("pip failed without a reason")
        .trim()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned_and_hashed() {
        for tool in Tool::ALL {
            let mut packages = 0;
            let lines: Vec<&str> = tool
                .lock()
                .lines()
                .filter(|line| !line.starts_with('#'))
                .collect();
            for (line, next) in lines.iter().zip(&lines[1..]) {
                if !line.starts_with(' ') {
                    packages += 1;
                    assert!(line.contains("=="), "{line}");
                    assert!(next.trim_start().starts_with("--hash=sha256:"), "{line}");
                }
            }
            assert!(packages > 0, "{}", tool.name());
        }
    }

    #[test]
    fn the_reason_is_found_in_what_pip_says() {
        let text = b"WARNING: x\nERROR: No matching distribution found for y==1\n\nnotice\n";
        assert_eq!(last_error(text), "No matching distribution found for y==1");
    }
}
