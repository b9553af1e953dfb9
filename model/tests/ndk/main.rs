//! The NDK provider over an adapter that does only what it is told. Tests are named after their requirement.

mod adapter;
mod connections;
mod events;
mod fake;
mod lam;
mod layouts;
mod lifetimes;
mod limits;
mod local;
mod memory;
mod miniport;
mod objects;
mod oid;
mod posting;
mod results;
mod silent;
mod statistics;
mod transitions;
mod wqe;
