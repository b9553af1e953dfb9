//! The NDK provider over an adapter that does only what it is told. Tests are named after their requirement.

mod adapter;
mod events;
mod fake;
mod layouts;
mod local;
mod memory;
mod oid;
mod posting;
mod results;
mod silent;
mod wqe;
