//! The Tandem bench.
