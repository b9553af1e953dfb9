//! The Tandem bench: vectors, the world that runs them, random traffic, random moves, exploration,
//! measurements and reports.

pub mod blackbox;
pub mod explore;
pub mod failures;
pub mod fuzz;
pub mod measure;
pub mod network;
pub mod plan;
pub mod runner;
pub mod targets;
pub mod traffic;
pub mod vector;
pub mod world;
