//! Safe bindings to models made by Verilator 5.
//!
//! A [`Model`] is a Rust value with its own [`Context`]: time, seeded random initialisation,
//! plus-arguments, coverage data, FST traces, save and restore. What ends a simulation
//! (`$finish`, `$fatal`, `$stop`, a failed assertion, a design that does not settle) is an
//! [`Error`] with file and line, never the end of the process.
//!
//! The design's own crate verilates it with the `verilated-build` crate, and drives it through a
//! shim: a few lines of C++ over `verilated/include/runtime.h`, bound with `cxx`, with one call
//! for each clock. The README shows one; `tests/counter` is a complete example.
#![warn(missing_docs)]

mod context;
mod error;
mod model;
pub mod sys;

// Linked for the FST writer of Verilator's runtime.
use libz_sys as _;
use lz4_sys as _;

pub use context::{Context, Reset, Settings};
pub use error::{Error, Result};
pub use model::Model;
