//! One Verilated engine, clock by clock.

use std::path::Path;
use std::pin::Pin;

use cxx::UniquePtr;
use thiserror::Error;
use verilated::{Context, Model, Settings, sys};

use crate::ports::{PortsIn, PortsOut, ffi};

/// Which build of the engine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// For speed: no trace, no assertions.
    Fast,
    /// With waves and assertions.
    Debug,
    /// With coverage and assertions.
    Coverage,
    /// The netlist of the synthesis.
    Netlist,
}

/// Why a simulation cannot go on, or cannot start.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The simulator or the design stopped.
    #[error(transparent)]
    Verilated(#[from] verilated::Error),
    /// This program was built without that build of the engine.
    #[error("the {0:?} build of the engine is not in this program: build it with `--features {name}`", name = format!("{_0:?}").to_lowercase())]
    NotBuilt(Build),
    /// Only the debug build writes waves.
    #[error("a wave needs the debug build of the engine")]
    NoWave,
    /// Only the coverage build has coverage data.
    #[error("coverage data needs the coverage build of the engine")]
    NoCoverage,
}

type New = fn(UniquePtr<sys::Context>) -> UniquePtr<sys::Model>;
type Digest = fn(Pin<&mut sys::Model>) -> u64;
type Step = fn(Pin<&mut sys::Model>, &PortsIn, &mut PortsOut) -> bool;

/// Levels of hierarchy in a wave: all there are.
const WAVE_DEPTH: u16 = 99;

/// See the module.
pub struct Simulation {
    model: Model,
    step: Step,
    digest: Digest,
}

impl Simulation {
    /// An engine whose uninitialised state comes from `seed`, in reset.
    pub fn new(build: Build, seed: u64) -> Result<Self, SimulationError> {
        Self::with(build, &Settings::with_seed(seed))
    }

    /// An engine in reset, made with these settings.
    pub fn with(build: Build, settings: &Settings) -> Result<Self, SimulationError> {
        let (new, step, digest): (New, Step, Digest) = match build {
            Build::Fast => (ffi::new_fast, ffi::step_fast, ffi::digest_fast),
            #[cfg(feature = "debug")]
            Build::Debug => (ffi::new_debug, ffi::step_debug, ffi::digest_debug),
            #[cfg(feature = "coverage")]
            Build::Coverage => (ffi::new_coverage, ffi::step_coverage, ffi::digest_coverage),
            #[cfg(feature = "netlist")]
            Build::Netlist => (ffi::new_netlist, ffi::step_netlist, ffi::digest_netlist),
            #[allow(unreachable_patterns, reason = "reached without the features")]
            build => return Err(SimulationError::NotBuilt(build)),
        };
        let model = Model::new(Context::new(settings)?, new)?;
        Ok(Self {
            model,
            step,
            digest,
        })
    }

    /// Writes an FST wave from here on; only the debug build can.
    pub fn open_wave(&mut self, path: &Path) -> Result<(), SimulationError> {
        if !self.model.can_trace() {
            return Err(SimulationError::NoWave);
        }
        Ok(self.model.open_trace(path, WAVE_DEPTH)?)
    }

    /// One clock: the rising edge, then `inputs` are driven; `outputs` are what the engine then drives.
    pub fn step(
        &mut self,
        inputs: &PortsIn,
        outputs: &mut PortsOut,
    ) -> Result<(), verilated::Error> {
        if (self.step)(self.model.pin_mut(), inputs, outputs) {
            Ok(())
        } else {
            self.model.check()
        }
    }

    /// All ports that the engine drives now, in one number: also those at which the bench does not look.
    pub fn digest(&mut self) -> u64 {
        (self.digest)(self.model.pin_mut())
    }

    /// Clocks the fast engine with these inputs, in a loop of C++ without a bench.
    pub fn replay(&mut self, inputs: &[PortsIn]) -> Result<(), verilated::Error> {
        match ffi::replay(self.model.pin_mut(), inputs) {
            true => Ok(()),
            false => self.model.check(),
        }
    }

    /// The model, for coverage data, waves, save and restore.
    pub fn model(&mut self) -> &mut Model {
        &mut self.model
    }
}
