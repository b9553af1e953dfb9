//! A client and a server of the kind that SMB Direct is: the client registers memory and asks for an answer, the server
//! writes it there and sends the memory back, and the client sleeps until that comes.
//!
//! `client.rs` and `server.rs` are written against the provider's calls only; `run.rs` gives them nodes to run on:
//!
//! ```text
//! cargo run --release -p tandem-testbench --example exchange -- [client's target] [server's target]
//! ```

mod client;
mod message;
mod run;
mod server;

use std::error::Error;

use clap::ValueEnum;
use tandem_testbench::vector::TargetKind;

fn main() -> Result<(), Box<dyn Error>> {
    let mut kinds = std::env::args()
        .skip(1)
        .map(|word| TargetKind::from_str(&word, true));
    let mut kind = || kinds.next().unwrap_or(Ok(TargetKind::Model));
    let summary = run::run(kind()?, kind()?)?;
    println!(
        "{} answers, {} bytes, in {} clocks; {} decisions checked",
        summary.answers, summary.bytes, summary.clocks, summary.decisions
    );
    Ok(())
}
