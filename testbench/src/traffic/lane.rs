//! Lanes: one queue pair each, with what it has under way.

use std::collections::VecDeque;

use tandem_model::ndk::bench::{ConnectParameters, PathMtu};
use tandem_model::ndk::{Mr, NdkError, OpFlags, OperationType, Qp, QpParameters, RemoteToken};

use super::TIMEOUT;
use super::arena::Slice;
use super::dice::Dice;
use super::lives::{End, LifeId, Use};
use super::managed::Managed;
use super::side::{Side, Source};
use crate::vector::RandomTraffic;
use crate::world::{World, WorldError};

/// A fast-registered region that goes with a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastRegion {
    pub(super) mr: Mr,
    pub(super) token: RemoteToken,
    /// The place under it, if it is its own.
    pub(super) place: Option<Slice>,
}

/// What was sent.
#[derive(Debug)]
pub(super) enum Sent {
    /// Pieces of what a node sends from.
    Sources { node: usize, pieces: Vec<Source> },
    /// What had arrived before.
    Bytes(Vec<u8>),
}

/// What must be at some places when a request is done.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) sent: Sent,
    /// Node of the places.
    pub(super) to: usize,
    pub(super) places: Vec<Slice>,
}

/// An initiator request under way.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) context: u64,
    pub(super) silent: bool,
    pub(super) operation: OperationType,
    /// Reads and writes; a send is checked at the receiver.
    pub(super) check: Option<Check>,
    /// Region that a read invalidates.
    pub(super) fast: Option<FastRegion>,
    /// Short lives that it uses.
    pub(super) uses: Vec<Use>,
    /// The short life that begins with it.
    pub(super) begins: Option<LifeId>,
    /// The short life that ends with it.
    pub(super) ends: Option<(LifeId, End)>,
}

impl Pending {
    /// A request with nothing to look at when it is done.
    pub(super) fn new(context: u64, flags: OpFlags, operation: OperationType) -> Self {
        Self {
            context,
            silent: flags.contains(OpFlags::SILENT_SUCCESS),
            operation,
            check: None,
            fast: None,
            uses: Vec::new(),
            begins: None,
            ends: None,
        }
    }
}

/// What a message invalidates.
#[derive(Clone, Copy, Debug)]
pub(super) enum Victim {
    /// A region that is there for nothing else.
    Placed(FastRegion),
    /// The token of a short life.
    Life(LifeId, RemoteToken),
}

impl Victim {
    /// Its token.
    pub(super) fn token(&self) -> RemoteToken {
        match self {
            Self::Placed(fast) => fast.token,
            Self::Life(_, token) => *token,
        }
    }
}

/// A message under way to the peer's next receive.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) sent: Sent,
    pub(super) length: u32,
    pub(super) invalidates: Option<Victim>,
    /// Short lives whose tokens the peer knows when it has the message.
    pub(super) tells: Vec<LifeId>,
}

/// A receive posted.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) context: u64,
    pub(super) places: Vec<Slice>,
    pub(super) capacity: u32,
}

/// A queue pair.
pub(super) struct Lane {
    /// Its node.
    pub(super) node: usize,
    /// The lane of the peer.
    pub(super) peer: usize,
    pub(super) qp: Qp,
    pub(super) context: u64,
    pub(super) max_sge: u32,
    pub(super) inline: u32,
    pub(super) pending: VecDeque<Pending>,
    /// Messages to the peer.
    pub(super) messages: VecDeque<Message>,
    /// Receives, oldest first; the first `used` have a message under way.
    pub(super) receives: VecDeque<Posted>,
    pub(super) used: usize,
    /// The shared queue of its node that it takes its receives from instead, and the newest that it had of that.
    pub(super) shared: Option<usize>,
    pub(super) newest: Option<u64>,
    /// Its connection, if connection management has made it.
    pub(super) managed: Option<Managed>,
    /// Whether it is flushed: everything completes as cancelled.
    pub(super) flushed: bool,
}

impl Lane {
    /// What is under way, in words.
    pub(super) fn words(&self) -> String {
        format!(
            "queue pair of node {} with context {:#x}: {} requests, {} messages, {} receives",
            self.node,
            self.context,
            self.pending.len(),
            self.messages.len(),
            self.receives.len()
        )
    }
}

const DEPTHS: [u32; 4] = [17, 32, 60, 100];
const SGES: [u32; 3] = [2, 4, 14];
const INLINES: [u32; 3] = [0, 64, 224];
/// Receives of a lane.
pub(super) const RECEIVES: u32 = 48;

/// Creates all queue pairs, and connects them if connection management does not: lanes `2 i` on node 0 and `2 i + 1` on node 1 are peers.
pub(super) fn connect_all(
    world: &mut World,
    sides: &[Side],
    wanted: &RandomTraffic,
    dice: &mut Dice,
) -> Result<Vec<Lane>, WorldError> {
    let mut lanes = Vec::new();
    for connection in 0..wanted.queue_pairs as usize {
        let mut psns = Vec::new();
        for (node, side) in world.nodes.iter_mut().zip(sides) {
            let (receive_cq, initiator_cq) = side.cqs_of(connection);
            let pick = |dice: &mut Dice, from: &[u32]| from[dice.below(from.len() as u32) as usize];
            let parameters = QpParameters {
                qp_context: 0xAB00_0000_0000_0000 | lanes.len() as u64,
                receive_queue_depth: RECEIVES,
                initiator_queue_depth: pick(dice, &DEPTHS),
                max_initiator_request_sge: pick(dice, &SGES),
                inline_data_size: pick(dice, &INLINES),
                ..QpParameters::new(receive_cq, initiator_cq)
            };
            let shared = side.shared_of(connection);
            let created = match shared.and_then(|index| side.shared.get(index)) {
                Some(shared) => node
                    .nic
                    .create_qp_with_srq(side.pd, shared.srq, &parameters),
                None => node.nic.create_qp(side.pd, &parameters),
            };
            let qp = created.map_err(|error| node.error(error))?;
            // Half of them near the wrap.
            let psn = dice.any() & 0xFF_FFFF;
            psns.push(if dice.percent(50) {
                psn | 0xFF_FF00
            } else {
                psn
            });
            lanes.push(Lane {
                node: side.place,
                peer: lanes.len() ^ 1,
                qp,
                context: parameters.qp_context,
                max_sge: parameters.max_initiator_request_sge,
                inline: parameters.inline_data_size,
                pending: VecDeque::new(),
                messages: VecDeque::new(),
                receives: VecDeque::new(),
                used: 0,
                shared,
                newest: None,
                managed: None,
                flushed: false,
            });
        }
        if wanted.connect {
            continue;
        }
        let mtus = [
            PathMtu::B256,
            PathMtu::B512,
            PathMtu::B1024,
            PathMtu::B2048,
            PathMtu::B4096,
        ];
        let mtu = mtus[connection % mtus.len()];
        let ipv6 = dice.percent(40);
        let reads = 1 + dice.below(4);
        for own in 0..2 {
            connect(
                world,
                &lanes,
                2 * connection + own,
                &|parameters| ConnectParameters {
                    sq_psn: psns[own],
                    rq_psn: psns[own ^ 1],
                    mtu,
                    inbound_read_limit: reads,
                    outbound_read_limit: reads,
                    timeout: TIMEOUT,
                    ..parameters
                },
                ipv6,
            )?;
        }
    }
    Ok(lanes)
}

fn connect(
    world: &mut World,
    lanes: &[Lane],
    own: usize,
    finish: &dyn Fn(ConnectParameters) -> ConnectParameters,
    ipv6: bool,
) -> Result<(), WorldError> {
    let (Some(lane), Some(peer)) = (lanes.get(own), lanes.get(own ^ 1)) else {
        return Ok(());
    };
    let Some(node) = world.nodes.get(peer.node) else {
        return Ok(());
    };
    let number = node
        .nic
        .qp_number(peer.qp)
        .map_err(|error| node.error(error))?;
    let ip = match ipv6 {
        true => node.address.ipv6.into(),
        false => node.address.ipv4.into(),
    };
    let parameters = finish(ConnectParameters::to(node.address.mac, ip, number));
    let Some(node) = world.nodes.get_mut(lane.node) else {
        return Ok(());
    };
    let connected: Result<(), NdkError> = node.nic.bench().connect(lane.qp, &parameters);
    connected.map_err(|error| node.error(error))
}
