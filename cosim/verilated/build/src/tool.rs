use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Result};

/// A Verilator version, `major.minor` (5.048 is `5.48`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    major: u32,
    minor: u32,
}

/// The oldest Verilator that is taken from the PATH without being asked for.
pub const MINIMUM: Version = Version::new(5, 48);

/// The oldest Verilator that the runtime works with, for a second opinion on the RTL.
pub const OLDEST: Version = Version::new(5, 6);

/// Tells the version, even where `verilator --version` prints no number.
const HEADER: &str = "verilated_config.h";

impl Version {
    /// A version from its two numbers.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Finds the version in the text of `verilated_config.h`.
    fn from_header(text: &str) -> Option<Self> {
        let line = text
            .lines()
            .find_map(|l| l.strip_prefix("#define VERILATOR_VERSION "))?;
        let number = line.trim_matches(['"', ' ']).split_whitespace().next()?;
        let (major, minor) = number.split_once('.')?;
        let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
        Some(Self::new(major.parse().ok()?, minor.parse().ok()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.major, self.minor)
    }
}

/// An installed Verilator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verilator {
    binary: PathBuf,
    root: PathBuf,
    version: Version,
}

impl Verilator {
    /// Finds Verilator: `TANDEM_VERILATOR` (its binary; `VERILATOR_ROOT` says where its files
    /// are if they cannot be found from there), else what `cargo xtask tools` installed into
    /// `.tools/`, else one on the PATH that is new enough.
    ///
    /// In a build script, it also tells cargo to run the script again when this may change.
    pub fn find() -> Result<Self> {
        let found = Self::search();
        if env::var_os("OUT_DIR").is_some() {
            for variable in ["TANDEM_VERILATOR", "VERILATOR_ROOT"] {
                println!("cargo::rerun-if-env-changed={variable}");
            }
            if let Ok(found) = &found {
                let header = found.include().join(HEADER);
                println!("cargo::rerun-if-changed={}", header.display());
            }
        }
        found
    }

    fn search() -> Result<Self> {
        if let Some(path) = env::var_os("TANDEM_VERILATOR").filter(|p| !p.is_empty()) {
            return Self::overridden(Path::new(&path));
        }
        Self::installed(&workspace_root())
            .or_else(Self::on_path)
            .ok_or(Error::Missing { minimum: MINIMUM })
    }

    /// The Verilator that `cargo xtask tools` installed in this workspace.
    pub fn installed(workspace: &Path) -> Option<Self> {
        let root = workspace.join(".tools/verilator/verilator");
        Self::at(&root.join("bin/verilator_bin")).ok()
    }

    /// The first Verilator on the PATH that is at least [`MINIMUM`].
    pub fn on_path() -> Option<Self> {
        Self::all_on_path().find(|v| v.version >= MINIMUM)
    }

    /// Every Verilator on the PATH, of any version.
    pub fn all_on_path() -> impl Iterator<Item = Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let dirs: Vec<PathBuf> = env::split_paths(&path).collect();
        dirs.into_iter()
            .map(|dir| dir.join("verilator"))
            .filter(|file| file.is_file())
            .filter_map(|file| Self::at(&file).ok())
    }

    /// The Verilator with this binary: `verilator_bin`, or a launcher called `verilator` beside
    /// it. The error says in words what is wrong.
    pub fn at(path: &Path) -> std::result::Result<Self, String> {
        let path = fs::canonicalize(path).map_err(|e| e.to_string())?;
        let launcher = path.file_name().is_some_and(|n| n == "verilator");
        let binary = if launcher {
            path.with_file_name("verilator_bin")
        } else {
            path.clone()
        };
        if !binary.is_file() {
            return Err(format!("no file {}", binary.display()));
        }
        let near = binary
            .parent()
            .and_then(Path::parent)
            .unwrap_or(Path::new("/"));
        let root = [near.to_path_buf(), near.join("share/verilator")]
            .into_iter()
            .chain(env::var_os("VERILATOR_ROOT").map(PathBuf::from))
            .find(|root| root.join("include/verilated.cpp").is_file())
            .ok_or("no include/verilated.cpp near it; set VERILATOR_ROOT")?;
        let header = root.join("include").join(HEADER);
        let version = fs::read_to_string(&header)
            .ok()
            .and_then(|text| Version::from_header(&text))
            .ok_or_else(|| format!("no version number in {}", header.display()))?;
        Ok(Self {
            binary,
            root,
            version,
        })
    }

    fn overridden(path: &Path) -> Result<Self> {
        let found = Self::at(path).map_err(|reason| Error::Override {
            path: path.into(),
            reason,
        })?;
        if found.version < OLDEST {
            let Self {
                binary: path,
                version: found,
                ..
            } = found;
            return Err(Error::TooOld {
                path,
                found,
                oldest: OLDEST,
            });
        }
        Ok(found)
    }

    /// The version, as its header tells it.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The binary, for messages; [`Verilator::command`] runs it.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The folder of the headers and sources of the runtime.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// A command that runs this Verilator with its own root.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("VERILATOR_ROOT", &self.root);
        command
    }
}

/// The root of the workspace that cargo builds.
pub fn workspace_root() -> PathBuf {
    // Two clones may share a target directory, and with it this library: what cargo runs now counts, not where it
    // was compiled.
    let here = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = here
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file());
    root.unwrap_or(&here).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_three_known_spellings() {
        let header = |v: &str| format!("// x\n#define VERILATOR_VERSION \"{v}\"\n");
        let parse = |v: &str| Version::from_header(&header(v));
        assert_eq!(parse("5.006 2023-01-22"), Some(Version::new(5, 6)));
        assert_eq!(parse("5.049 devel"), Some(Version::new(5, 49)));
        assert_eq!(parse("5.49"), Some(Version::new(5, 49)));
        assert_eq!(parse("unknown"), None);
        assert!(Version::new(5, 6) < MINIMUM);
        assert_eq!(OLDEST.to_string(), "5.006");
    }

    #[test]
    fn an_override_that_leads_nowhere_says_what_to_do() {
        let error = Verilator::overridden(Path::new("no/such/verilator")).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("no/such/verilator") && text.contains("cargo xtask tools"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1);
    }
}
