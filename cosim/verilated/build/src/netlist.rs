use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::{Error, FileList, Result, workspace_root};

/// Where the synthesis puts what it makes of a top module, and what it was made from.
///
/// Paths are relative to the root of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Netlist {
    folder: PathBuf,
    name: String,
}

impl Netlist {
    /// The netlist of a top module, with its default parameters.
    pub fn of(top: &str) -> Self {
        Self::variant(top, &[])
    }

    /// The netlist of a top module with these parameters, each as `Name=value`.
    pub fn variant(top: &str, parameters: &[String]) -> Self {
        let mut folder = top.to_owned();
        for parameter in parameters {
            folder.push('-');
            folder.push_str(parameter);
        }
        Self {
            folder: Path::new("target/synth").join(folder),
            name: top.into(),
        }
    }

    /// The folder of everything that the synthesis makes.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The netlist for simulation.
    pub fn verilog(&self) -> PathBuf {
        self.file("v")
    }

    /// The netlist for place and route.
    pub fn json(&self) -> PathBuf {
        self.file("json")
    }

    /// A file of the folder.
    pub fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    /// Makes the netlist with `synthesise`, and takes note of the sources as they were before.
    pub fn make<E: From<Error>>(
        &self,
        sources: &FileList,
        synthesise: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let (path, fingerprint) = (self.file("stamp"), fingerprint(sources)?);
        let stamp = workspace_root().join(&path);
        // What is there is no longer whole.
        let _ = fs::remove_file(&stamp);
        synthesise()?;
        fs::write(stamp, fingerprint).map_err(Error::io(&path))?;
        Ok(())
    }

    /// Whether the netlist is there and was made from these sources as they are now.
    pub fn is_fresh(&self, sources: &FileList) -> Result<bool> {
        let root = workspace_root();
        let stamp = fs::read_to_string(root.join(self.file("stamp"))).unwrap_or_default();
        Ok(root.join(self.verilog()).is_file() && stamp == fingerprint(sources)?)
    }

    /// Fails if the netlist is not that of these sources; tells cargo in a build script when to look again.
    pub fn check_fresh(&self, sources: &FileList) -> Result<()> {
        let stamp = workspace_root().join(self.file("stamp"));
        println!("cargo::rerun-if-changed={}", stamp.display());
        match self.is_fresh(sources)? {
            true => Ok(()),
            false => Err(Error::Netlist {
                netlist: self.verilog(),
            }),
        }
    }
}

/// Changes when a source does.
fn fingerprint(files: &FileList) -> Result<String> {
    let root = workspace_root();
    let mut hasher = DefaultHasher::new();
    for source in &files.sources {
        source.hash(&mut hasher);
        let text = fs::read(root.join(source)).map_err(Error::io(source))?;
        text.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}
