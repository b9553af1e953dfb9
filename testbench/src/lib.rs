//! The Tandem bench: vectors, the world that runs them, random traffic, measurements and reports.

pub mod failures;
pub mod measure;
pub mod network;
pub mod plan;
pub mod runner;
pub mod targets;
pub mod traffic;
pub mod vector;
pub mod world;
