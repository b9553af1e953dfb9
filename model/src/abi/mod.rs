//! The host ABI and the commit interface, defined once.
//!
//! `tables` lists every record and every enumeration that software, the golden model and the RTL
//! share. From it come the accessors ([`Record`]), the SystemVerilog package `rtl/abi/nd_abi_pkg.sv`
//! ([`sv::package`]) and the ABI chapter of the book ([`doc::chapter`]).

pub mod doc;
mod enums;
mod layout;
pub(crate) mod offsets;
mod record;
pub mod regs;
pub mod sv;
mod tables;

pub use enums::*;
pub use layout::{Constant, Enumeration, Field, Layout, Variant};
pub use record::Record;
pub use tables::*;

/// Clocks by which an engine may be late with what its time has come for: the end of a timer, an event that was put off.
pub const GRACE: u64 = 512;
