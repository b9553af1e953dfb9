//! The golden model of the Tandem engine, and the NDK provider on top of it.

pub mod abi;
pub mod cm;
mod complete;
mod context;
pub mod engine;
pub mod hal;
mod host;
pub mod ndk;
mod receive;
mod send;
pub mod target;
pub mod wire;
