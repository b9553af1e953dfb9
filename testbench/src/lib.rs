//! The Tandem bench: vectors, the world that runs them, random traffic, exploration, measurements and
//! reports.

pub mod explore;
pub mod failures;
pub mod measure;
pub mod network;
pub mod plan;
pub mod runner;
pub mod targets;
pub mod traffic;
pub mod vector;
pub mod world;
