//! How a Verilated node is run.

use std::ops::Range;
use std::path::PathBuf;

use tandem_model::engine::Watch;

use crate::bus::Traffic;
use crate::fault::Fault;
use crate::sim::{Build, SimulationError};

/// How a Verilated node is run.
#[derive(Debug)]
pub struct Options {
    /// Name of the node, for messages.
    pub node: String,
    /// Seed of all that is random: bus traffic and the engine's uninitialised state.
    pub seed: u64,
    /// What the buses do.
    pub traffic: Traffic,
    /// Whether the golden model checks each action.
    pub lockstep: bool,
    /// Which build of the engine runs.
    pub build: Build,
    /// Where to write an FST wave (needs [`Build::Debug`]).
    pub wave: Option<Wave>,
    /// Where to write coverage data at the end (needs [`Build::Coverage`]).
    pub coverage: Option<PathBuf>,
    /// Host memory at most, in bytes.
    pub memory: usize,
    /// Whether to keep all inputs, for [`RtlTarget::replay`](crate::RtlTarget::replay).
    pub keep_inputs: bool,
    /// Clocks in which the ports are recorded, for [`RtlTarget::recorded`](crate::RtlTarget::recorded).
    pub record: Option<Range<u64>>,
    /// What is wrong with the engine's ports, to see it found.
    pub fault: Option<Fault>,
    /// Who sees each action that the golden model confirmed; nobody does without lockstep.
    pub watch: Option<Watch>,
}

impl Options {
    /// Whether the build can do what is asked of it.
    pub(crate) fn check(&self) -> Result<(), SimulationError> {
        if self.wave.is_some() && self.build != Build::Debug {
            return Err(SimulationError::NoWave);
        }
        if self.coverage.is_some() && self.build != Build::Coverage {
            return Err(SimulationError::NoCoverage);
        }
        Ok(())
    }
}

/// A wave to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wave {
    /// The file.
    pub path: PathBuf,
    /// The clock in which it begins.
    pub from: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node: "node".into(),
            seed: 1,
            traffic: Traffic::RANDOM,
            lockstep: true,
            build: Build::Fast,
            wave: None,
            coverage: None,
            memory: 256 << 20,
            keep_inputs: false,
            record: None,
            fault: None,
            watch: None,
        }
    }
}
