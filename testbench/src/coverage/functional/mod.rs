//! Functional coverage: cover points and crosses over actions, requests, packets, states, results and what the network
//! does; declared in Rust, counted on every target.

mod axis;
mod classes;
mod onlooker;
mod points;
mod seen;
mod tally;

pub use axis::Axis;
pub use onlooker::Onlooker;
pub use points::{Never, POINTS, Point};
pub use seen::Seen;
pub use tally::{Bin, Hits, Tally};
