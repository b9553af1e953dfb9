//! What sort of thing stopped an engine.

use crate::sim::SimulationError;

/// What sort of thing stopped an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It did otherwise than the golden model.
    Divergence,
    /// The netlist did otherwise than the RTL.
    Netlist,
    /// It broke a rule of a bus.
    BusRule,
    /// An assertion in its source failed.
    Assertion,
    /// It did not answer, or did not come to rest, in time.
    TimeOut,
    /// The simulator cannot go on.
    Simulator,
}

impl From<&verilated::Error> for Trouble {
    fn from(error: &verilated::Error) -> Self {
        match error {
            verilated::Error::Assertion { .. } | verilated::Error::Fatal { .. } => Self::Assertion,
            _ => Self::Simulator,
        }
    }
}

impl From<&SimulationError> for Trouble {
    fn from(error: &SimulationError) -> Self {
        match error {
            SimulationError::Verilated(error) => error.into(),
            _ => Self::Simulator,
        }
    }
}
