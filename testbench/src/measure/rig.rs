//! Nodes for measurements: `a` sends, `b` receives; or `a` alone, which does both.

use tandem_model::hal::{Hal, Target};
use tandem_model::ndk::bench::ConnectParameters;
use tandem_model::ndk::{
    Cq, LocalToken, Mdl, MrFlags, MrUse, NdkError, NdkResultEx, NtStatus, OpFlags, PAGE_SIZE,
    Provider, Qp, QpParameters, RemoteToken, Sge,
};

use crate::network::Rule;
use crate::targets::{AnyTarget, TargetOptions};
use crate::vector::TargetKind;
use crate::world::{Address, Node, World, WorldError};

type Result<T> = std::result::Result<T, WorldError>;

/// Bytes to send from and to write to.
const MEMORY: u32 = 1 << 20;
/// Entries of the completion queues.
const CQ_DEPTH: u32 = 4096;
/// Looks at a world in which nothing goes on, before nothing is expected of it any more.
const PATIENCE: u32 = 20_000;
/// Depth of the queues.
const DEPTH: u32 = 1024;

/// What a rig is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    /// Targets of the nodes.
    pub(super) kinds: &'a [TargetKind],
    /// Queue pairs on each side.
    pub(super) queue_pairs: u32,
    /// Clocks between two looks at the network.
    pub(super) quantum: u32,
    /// Whether frames are remembered.
    pub(super) keep: bool,
    /// Code of the acknowledgement timer; the provider's if absent.
    pub(super) timeout: Option<u8>,
}

impl<'a> Shape<'a> {
    /// One queue pair, and nothing remembered.
    pub(super) fn of(kinds: &'a [TargetKind], quantum: u32) -> Self {
        Self {
            kinds,
            queue_pairs: 1,
            quantum,
            keep: false,
            timeout: None,
        }
    }
}

struct End {
    cq: Cq,
    qps: Vec<Qp>,
    address: u64,
    token: LocalToken,
}

/// See the module.
pub(super) struct Rig {
    world: World,
    ends: Vec<End>,
    next: u64,
}

fn prepare(nic: &mut Provider<AnyTarget>, queue_pairs: u32) -> std::result::Result<End, NdkError> {
    let pd = nic.create_pd()?;
    let cq = nic.create_cq(CQ_DEPTH, 0)?;
    let address = nic.hal_mut().allocate(MEMORY as usize, PAGE_SIZE)?;
    let mr = nic.create_mr(pd, MrUse::Register)?;
    let mdl = Mdl::identity(address, MEMORY);
    nic.register_mr(mr, &[mdl], MEMORY.into(), MrFlags::ALLOW_REMOTE_WRITE)?;
    let parameters = QpParameters {
        receive_queue_depth: DEPTH,
        initiator_queue_depth: DEPTH,
        ..QpParameters::new(cq, cq)
    };
    let qps = (0..queue_pairs)
        .map(|_| nic.create_qp(pd, &parameters))
        .collect::<std::result::Result<Vec<Qp>, NdkError>>()?;
    let token = nic.local_token_from_mr(mr)?;
    Ok(End {
        cq,
        qps,
        address,
        token,
    })
}

impl Rig {
    pub(super) fn new(shape: Shape<'_>, options: &TargetOptions) -> Result<Self> {
        let Shape { queue_pairs, .. } = shape;
        let mut nodes = Vec::new();
        let mut ends = Vec::new();
        for (place, (name, kind)) in ["a", "b"].into_iter().zip(shape.kinds).enumerate() {
            let address = Address::of(place);
            let mut node = Node::open(*kind, name, address, address.adapter(), options)?;
            let end = prepare(&mut node.nic, queue_pairs);
            ends.push(end.map_err(|source| node.error(source))?);
            nodes.push(node);
        }
        let mut rig = Self {
            world: World::new(nodes, shape.keep, None)
                .with_seed(options.seed)
                .with_quantum(shape.quantum),
            ends,
            next: 0,
        };
        for pair in 0..queue_pairs as usize {
            rig.connect(pair, shape.timeout)?;
        }
        Ok(rig)
    }

    fn connect(&mut self, pair: usize, timeout: Option<u8>) -> Result<()> {
        let nodes = self.ends.len();
        for own in 0..nodes {
            let peer = nodes - 1 - own;
            let there = &self.world.nodes[peer];
            let number = there.nic.qp_number(self.ends[peer].qps[pair]);
            let number = number.map_err(|error| there.error(error))?;
            let usual = ConnectParameters::to(there.address.mac, there.address.ipv4.into(), number);
            let parameters = ConnectParameters {
                timeout: timeout.unwrap_or(usual.timeout),
                ..usual
            };
            let qp = self.ends[own].qps[pair];
            let outcome = self.world.nodes[own].nic.bench().connect(qp, &parameters);
            outcome.map_err(|error| self.world.nodes[own].error(error))?;
        }
        Ok(())
    }

    /// The node that receives.
    fn receiver(&self) -> usize {
        self.ends.len() - 1
    }

    /// Posts so many receives on each queue pair of the receiver, and lets them settle.
    pub(super) fn receives(&mut self, count: u32) -> Result<()> {
        let receiver = self.receiver();
        let end = &self.ends[receiver];
        let node = &mut self.world.nodes[receiver];
        let sge = Sge {
            address: end.address,
            length: 64,
            token: end.token,
        };
        for qp in &end.qps {
            for _ in 0..count {
                let posted = node.nic.receive(*qp, 0, &[sge]);
                posted.map_err(|error| node.error(error))?;
            }
        }
        self.world.settle()
    }

    /// Sends on the first queue pair.
    pub(super) fn send(&mut self, length: u32, flags: OpFlags) -> Result<()> {
        self.send_on(0, length, flags)
    }

    /// Sends on a queue pair.
    pub(super) fn send_on(&mut self, pair: usize, length: u32, flags: OpFlags) -> Result<()> {
        let end = &self.ends[0];
        let node = &mut self.world.nodes[0];
        let sge = Sge {
            address: end.address,
            length,
            token: end.token,
        };
        self.next += 1;
        let posted = node.nic.send(end.qps[pair], self.next, &[sge], flags);
        posted.map_err(|error| node.error(error))
    }

    /// Writes on the first queue pair.
    pub(super) fn write(&mut self, length: u32, flags: OpFlags) -> Result<()> {
        let (end, peer) = (&self.ends[0], &self.ends[self.receiver()]);
        let node = &mut self.world.nodes[0];
        let sge = Sge {
            address: end.address,
            length,
            token: end.token,
        };
        let token = RemoteToken::from_engine(peer.token.0);
        let posted = node
            .nic
            .write(end.qps[0], 0, &[sge], peer.address, token, flags);
        posted.map_err(|error| node.error(error))
    }

    /// Waits for so many results of sender and receiver; all must be successes.
    pub(super) fn complete(&mut self, sent: usize, received: usize) -> Result<()> {
        let receiver = self.receiver();
        let mut left = vec![0; self.ends.len()];
        left[0] += sent;
        left[receiver] += received;
        let mut idle = 0;
        let mut results = vec![NdkResultEx::default(); 64];
        while left.iter().any(|left| *left > 0) {
            let busy = self.world.pump()?.is_any();
            let before = left.clone();
            for ((node, end), left) in self.world.nodes.iter_mut().zip(&self.ends).zip(&mut left) {
                let taken = node.nic.get_cq_results_ex(end.cq, &mut results);
                let taken = taken.map_err(|error| node.error(error))?;
                let failed = results
                    .iter()
                    .take(taken)
                    .find(|result| !result.status.is_success());
                if let Some(failed) = failed {
                    return Err(node.error(NdkError::Status(failed.status)));
                }
                *left = left.saturating_sub(taken);
            }
            idle = match busy || before != left {
                true => 0,
                false => idle + 1,
            };
            // An engine without checker does not tell that its timer runs.
            if idle > PATIENCE {
                return Err(self.world.nodes[0].error(NdkError::Status(NtStatus::IO_TIMEOUT)));
            }
        }
        Ok(())
    }

    /// Impairs the network.
    pub(super) fn impair(&mut self, rule: &Rule) {
        self.world.network().add(rule);
    }

    /// A register of a node.
    pub(super) fn register(&mut self, node: usize, offset: u32) -> Result<u32> {
        let node = &mut self.world.nodes[node];
        let value = node.nic.hal_mut().read_register(offset);
        value.map_err(|error| node.error(error))
    }

    /// Clock of `a`.
    pub(super) fn clock(&self) -> u64 {
        self.world.nodes[0].nic.hal().now()
    }

    /// When frames of `a` were taken, and how long they are.
    pub(super) fn frames(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let passed = self.world.passed.iter().filter(|passed| passed.from == 0);
        passed.map(|passed| (passed.clock, passed.frame.len()))
    }

    /// Clocks a bare engine with what that of `a` got here.
    pub(super) fn replay(&self) -> Result<()> {
        let node = &self.world.nodes[0];
        let outcome = node.nic.hal().replay();
        outcome.map_err(|source| WorldError::Target {
            node: node.name.clone(),
            source,
        })
    }

    /// Ends the run.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.world.finish().map(|_| ())
    }
}
