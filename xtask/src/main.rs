//! Everything that is not `cargo build`.
fn main() {}
