//! The golden model of the Tandem engine, and the NDK provider on top of it.

pub mod abi;
pub mod engine;
pub mod hal;
pub mod ndk;
pub mod target;
pub mod wire;
