//! The Verilated engine driven in lockstep with the golden model.
//!
//! [`RtlTarget`] is the engine as a `Target`: a [`Simulation`] with [`bus`] models at its ports and a
//! [`lockstep`] checker beside it.

pub mod bus;
mod fault;
mod options;
mod ports;
mod recording;
mod sim;
mod target;
mod trouble;
mod twin;

/// The checker.
pub use tandem_lockstep as lockstep;

pub use fault::Fault;
pub use options::{Options, Wave};
pub use ports::{Beat, LiteIn, LiteOut, PortsIn, PortsOut, ReadIn, ReadOut, WriteIn, WriteOut};
pub use recording::Ports;
pub use sim::{Build, Simulation, SimulationError};
pub use target::RtlTarget;
pub use trouble::Trouble;
