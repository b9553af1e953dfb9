//! Two nodes for the client and the server, and the time that passes on them.

use std::error::Error;
use std::net::SocketAddr;

use tandem_model::ndk::Provider;
use tandem_testbench::targets::{self, TargetOptions};
use tandem_testbench::vector::TargetKind;
use tandem_testbench::world::{Address, Node, World, connections};

use crate::client::Client;
use crate::server::Server;

/// Lengths of the answers.
const LENGTHS: [u32; 6] = [1, 100, 4096, 4097, 20_000, 65_536];
/// Clocks in which all must be over.
const PATIENCE: u64 = 20_000_000;

/// What happened.
pub struct Summary {
    /// Answers that came.
    pub answers: usize,
    /// Their bytes.
    pub bytes: u32,
    /// Clocks that passed on each node.
    pub clocks: u64,
    /// Decisions of the engines that were checked.
    pub decisions: u64,
}

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

/// Runs both on targets.
pub fn run(client: TargetKind, server: TargetKind) -> Result<Summary, Box<dyn Error>> {
    let nodes = vec![node(0, "client", client)?, node(1, "server", server)?];
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
    Ok(Summary {
        answers: client.answers,
        bytes: LENGTHS.iter().sum(),
        clocks,
        decisions: checked.actions,
    })
}
