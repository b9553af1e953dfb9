//! A client and a server of the kind that SMB Direct is: the client registers memory and asks for an answer, the server
//! writes it there and sends the memory back, and the client sleeps until that comes.
//!
//! `client.rs` and `server.rs` are written against the provider's calls only; this file gives them nodes to run on:
//!
//! ```text
//! cargo run --release -p tandem-testbench --example exchange -- [client's target] [server's target]
//! ```

mod client;
mod message;
mod server;

use std::error::Error;
use std::net::SocketAddr;

use clap::ValueEnum;
use tandem_model::ndk::Provider;
use tandem_testbench::targets::{self, TargetOptions};
use tandem_testbench::vector::TargetKind;
use tandem_testbench::world::{Address, Node, World, connections};

use client::Client;
use server::Server;

/// Lengths of the answers.
const LENGTHS: [u32; 6] = [1, 100, 4096, 4097, 20_000, 65_536];
/// Clocks in which all must be over.
const PATIENCE: u64 = 20_000_000;

fn node(place: usize, name: &str, kind: TargetKind) -> Result<Node, Box<dyn Error>> {
    let address = Address::of(place);
    let mut config = address.adapter();
    config.connections = Some(connections(place as u64));
    let target = targets::open(kind, name, &TargetOptions::default())?;
    Ok(Node {
        name: name.into(),
        address,
        nic: Provider::open(target, config)?,
        notifications: Vec::new(),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut kinds = std::env::args()
        .skip(1)
        .map(|word| TargetKind::from_str(&word, true));
    let mut kind = || kinds.next().unwrap_or(Ok(TargetKind::Model));
    let nodes = vec![node(0, "client", kind()?)?, node(1, "server", kind()?)?];
    let mut world = World::new(nodes, false, None);
    let [local, remote] =
        [(0, 0), (1, 445)].map(|(place, port)| SocketAddr::from((Address::of(place).ipv4, port)));

    let mut server = Server::start(&mut world.nodes[1].nic, remote)?;
    let mut client = Client::start(&mut world.nodes[0].nic, local, remote, &LENGTHS)?;
    while !(client.is_done && server.is_done) {
        world.pump()?;
        if world.clocks() > PATIENCE {
            return Err(format!("stuck after {} answers", client.answers).into());
        }
        let node = &mut world.nodes[0];
        for told in std::mem::take(&mut node.notifications) {
            client.on(&mut node.nic, &told)?;
        }
        let node = &mut world.nodes[1];
        for told in std::mem::take(&mut node.notifications) {
            server.on(&mut node.nic, &told)?;
        }
    }
    let clocks = world.clocks();
    let checked = world.finish()?;
    println!(
        "{} answers, {} bytes, in {clocks} clocks; {} decisions checked",
        client.answers,
        LENGTHS.iter().sum::<u32>(),
        checked.actions
    );
    Ok(())
}
