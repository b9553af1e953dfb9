//! The host's end of a board's link: one packet protocol over a byte stream, documented byte by byte in the book
//! (`docs/src/host-link.md`).
//!
//! [`Board`] is what a bench uses: registers, host memory, frames, commit log, time. Below it, [`Client`] does
//! each request once, over any [`Line`], or says what is known. [`model`] is a board in software.

mod board;
mod client;
mod error;
mod line;
pub mod model;
mod op;
pub mod packet;

pub use board::{Board, Control, Counters, Info};
pub use client::{Client, Policy, Seen};
pub use error::{Error, Executed};
pub use line::{Line, Port};
pub use op::{Operation, Outcome, RECORD, Record};
pub use packet::{Code, Status};
