//! The Verilated engine driven in lockstep with the golden model.
//!
//! [`RtlTarget`] is the engine as a `Target`: a [`Simulation`] with [`bus`] models at its ports and a
//! [`lockstep`] checker beside it.

pub mod bus;
pub mod lockstep;
mod ports;
mod sim;
mod target;

pub use ports::{Beat, LiteIn, LiteOut, PortsIn, PortsOut, ReadIn, ReadOut, WriteIn, WriteOut};
pub use sim::{Build, Simulation, SimulationError};
pub use target::{Options, RtlTarget};
