//! Random moves in random worlds: calls of the provider, impairments of the network, queue pairs that are flushed,
//! closed and made anew, and memory that goes away, on two to four nodes.
//!
//! A *case* is a world and a sequence of moves, drawn by `proptest-state-machine` from the seed and the number of the case.
//! It is written down as the text of a vector, read as any vector is, and run; so a vector that is kept does the same
//! again. What must come of it is in the vector too: the statuses that each request may end with, and the step
//! `expect_accounted`. A case that fails is made smaller as long as what is left still fails.

mod asks;
mod choose;
mod forecast;
mod forge;
mod hosts;
mod hunt;
mod lives;
mod machine;
mod manage;
mod meetings;
mod moves;
mod network;
mod objects;
mod postings;
mod requests;
mod spec;
mod text;
mod words;

pub use hunt::{Found, NODES, STEPS, Summary, Wish, hunt};
