//! A world: a few nodes, each a provider on a target, and a lossless network that joins them.

mod build;
mod capture;
mod expect;
mod frames;
mod memory;
mod network;
mod oid;
mod post;
mod register;
mod results;
mod run;
mod state;

pub use capture::{Capture, CaptureError};
pub use memory::{HostMemory, bytes_of};
pub use network::{Address, Node, Passed, Scene, World, WorldError};
pub use register::register;
pub use run::{Failure, Report, RunOptions, run};
