//! A world: a few nodes, each a provider on a target, and the network that joins them.

mod account;
mod build;
mod capture;
mod close;
mod cm;
mod connect;
mod cq;
mod endings;
mod expect;
mod frames;
mod image;
mod impair;
mod kind;
mod ledger;
mod local;
mod memory;
mod node;
mod nodes;
mod oid;
mod post;
mod reads;
mod register;
mod results;
mod run;
mod srq;
mod state;

pub use capture::{Capture, CaptureError};
pub use cm::connections;
pub use kind::FailureKind;
pub use ledger::Tally;
pub use memory::{HostMemory, bytes_of};
pub use node::{Address, Node, Passed, WorldError};
pub use nodes::{Activity, Scene, World};
pub use register::register;
pub use run::{Failure, Report, RunOptions, run};
