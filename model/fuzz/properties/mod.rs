//! What must hold for any bytes. Each property takes the bytes of one run and panics if it does not hold.
//!
//! The fuzz targets and the model's tests share them: the tests run them over the corpus and over simple mutations of it.
#![allow(dead_code, reason = "each target takes what it needs")]

pub mod parse;
pub mod receive;
mod rig;
pub mod script;
