//! The golden engine and the lockstep checker behind a C interface.
//!
//! `include/tandem.h` is the reference for those who call it; the items here have the same names. Nothing in it panics
//! into its caller: every function goes through a guard that turns a panic into [`TANDEM_ERR_PANIC`]. All that is unsafe
//! about pointers of the caller is in one module, `memory`.
//!
//! Reads of the engine's DMA are answered by a callback, or by what was pushed: then a call that lacks a read changes
//! nothing, says which read it is, and is made again.

mod checker;
mod code;
mod effect;
mod engine;
mod memory;
mod reads;
mod record;

pub use checker::*;
pub use code::*;
pub use effect::*;
pub use engine::*;
pub use reads::{TANDEM_GATHER, TANDEM_RQ_FETCH, TANDEM_SQ_FETCH, TandemRead, TandemReader};
pub use record::*;
