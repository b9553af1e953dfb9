//! The Tandem bench: vectors, the world that runs them, random traffic, random moves, exploration,
//! coverage, measurements and reports.

pub mod blackbox;
pub mod breach;
pub mod coverage;
pub mod diff;
pub mod explore;
pub mod failures;
mod files;
pub mod fuzz;
pub mod measure;
pub mod network;
pub mod plan;
pub mod regress;
pub mod revision;
pub mod runner;
pub mod show;
pub mod shrink;
pub mod signoff;
pub mod stop;
pub mod suite;
pub mod targets;
pub mod timing;
pub mod traffic;
pub mod vector;
pub mod world;
