//! Vectors: what a run does and what must come of it, as a TOML file.
//!
//! [`load`] reads a file, puts the values of its cases in, and checks everything that can be checked without
//! running: names, numbers, requirement ids. A [`Vector`] that it returns can be run.

mod cases;
mod check;
mod closing;
pub mod connection;
mod error;
mod explain;
mod frame;
pub mod impairment;
pub mod object;
mod part;
mod schema;
mod setup;
pub mod step;
mod traffic;
pub mod value;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

pub use cases::parse;
pub use error::{Fault, VectorError};
pub use explain::explain;
pub use frame::opcode;
pub use schema::schema;
pub use setup::Setup;
pub use traffic::RandomTraffic;
pub use value::{At, TargetKind};

use crate::targets::Choice;
use connection::{Connector, Listener, SharedEndpoint};
use impairment::Impairment;
use object::{Connection, Cq, Memory, Node, Pd, Qp, Region, Srq, Window};
use step::Step;

/// Objects by their names.
pub type Named<T> = BTreeMap<String, At<T>>;

/// Everything of a vector but its steps.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Tandem vector")]
pub struct Head {
    /// Its name: short, the same as the file's.
    pub name: At<String>,
    /// What it shows, in a sentence.
    pub about: String,
    /// Requirements that would be broken if it failed.
    #[serde(default)]
    pub covers: Vec<At<String>>,
    /// Seed of all that is random, if the command line has none.
    pub seed: Option<u64>,
    /// Order in which the model makes the engine's choices, if the command line has none.
    pub scheduler: Option<Choice>,
    /// Objects that are there without being written down.
    #[serde(default)]
    pub setup: Setup,
    /// Nodes.
    #[serde(default)]
    pub node: Named<Node>,
    /// Protection domains.
    #[serde(default)]
    pub pd: Named<Pd>,
    /// Completion queues.
    #[serde(default)]
    pub cq: Named<Cq>,
    /// Memories.
    #[serde(default)]
    pub memory: Named<Memory>,
    /// Memory regions.
    #[serde(default)]
    pub region: Named<Region>,
    /// Queue pairs.
    #[serde(default)]
    pub qp: Named<Qp>,
    /// Memory windows.
    #[serde(default)]
    pub window: Named<Window>,
    /// Shared receive queues.
    #[serde(default)]
    pub srq: Named<Srq>,
    /// Connections that are there without datagrams.
    #[serde(default)]
    pub connection: Named<Connection>,
    /// Listeners.
    #[serde(default)]
    pub listener: Named<Listener>,
    /// Connectors of active sides.
    #[serde(default)]
    pub connector: Named<Connector>,
    /// Shared endpoints.
    #[serde(default)]
    pub shared_endpoint: Named<SharedEndpoint>,
    /// Impairments of the network, from the start.
    #[serde(default)]
    pub network: Vec<At<Impairment>>,
    /// Random traffic, in place of objects and steps.
    pub traffic: Option<At<RandomTraffic>>,
}

/// A vector, with the values of one of its cases put in.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Everything but the steps.
    pub head: Head,
    /// The steps.
    pub steps: Vec<At<Step>>,
    /// Its case in words, as `length = 64, mtu = 256`; empty if it has no cases.
    pub case: String,
}

impl Vector {
    /// Name, with the case if there is one.
    pub fn title(&self) -> String {
        match self.case.as_str() {
            "" => self.head.name.value().clone(),
            case => format!("{} [{case}]", self.head.name.value()),
        }
    }
}

/// A file of vectors: one, or one for each case.
#[derive(Clone, Debug)]
pub struct VectorFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
    /// The cases.
    pub vectors: Vec<Vector>,
}

/// Reads and checks a file.
///
/// # Errors
/// What is wrong with it, and where.
pub fn load(path: &Path) -> Result<VectorFile, VectorError> {
    let text = std::fs::read_to_string(path).map_err(|source| VectorError::Read {
        path: path.into(),
        source,
    })?;
    match checked(&text) {
        Ok(vectors) => Ok(VectorFile {
            path: path.into(),
            text,
            vectors,
        }),
        Err(fault) => Err(VectorError::Text {
            path: path.into(),
            text,
            fault: fault.into(),
        }),
    }
}

/// Reads and checks the text of a file.
///
/// # Errors
/// What is wrong with it, and where.
pub fn checked(text: &str) -> Result<Vec<Vector>, Fault> {
    let vectors = parse(text)?;
    vectors.iter().try_for_each(check::check)?;
    Ok(vectors)
}

/// All vector files of paths: files as they are, directories with everything below them, in order of their names.
///
/// # Errors
/// A path that does not exist, or a directory without vectors.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, VectorError> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        collect(path, true, &mut files)?;
        if files.len() == before {
            return Err(VectorError::Empty { path: path.clone() });
        }
    }
    Ok(files)
}

fn collect(path: &Path, named: bool, files: &mut Vec<PathBuf>) -> Result<(), VectorError> {
    let failed = |source| VectorError::Read {
        path: path.into(),
        source,
    };
    if !path.metadata().map_err(failed)?.is_dir() {
        if named
            || path
                .extension()
                .is_some_and(|extension| extension == "toml")
        {
            files.push(path.into());
        }
        return Ok(());
    }
    let entries = path.read_dir().map_err(failed)?;
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    entries.sort();
    entries
        .iter()
        .try_for_each(|entry| collect(entry, false, files))
}
