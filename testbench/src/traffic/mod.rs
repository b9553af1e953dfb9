//! Random traffic: all requests with random sizes, elements and flags between two nodes, with every result and every
//! byte compared.
//!
//! It goes in rounds. A round posts receives and lets them settle, then posts requests on all queue pairs as slots come
//! free, until the receives are used up; then each queue pair gets a last request with a completion, so that everything
//! silent is known to be done.
//!
//! What [`RandomTraffic`] asks for besides: windows and regions that live short lives (`lives`, `owner`, `through`,
//! `population`), shared receive queues (`shared`), connections by connection management (`managed`).

mod arena;
mod dice;
mod fetch;
mod lane;
mod lives;
mod make;
mod managed;
mod owner;
mod population;
mod post;
mod refuse;
mod shared;
mod side;
mod through;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use tandem_model::ndk::bench::PathMtu;
use tandem_model::ndk::{AdapterConfig, ConnectionConfig, Timing};
use thiserror::Error;

use crate::network::{Action, Corruption, PsnRange, Reorder, Rule, Selection, What, When};
use crate::stop;
use crate::targets::Checked;
use crate::timing::Timings;
use crate::vector::{Fault, RandomTraffic};
use crate::world::{
    Address, Capture, Failure, FailureKind, Node, RunOptions, Scene, World, WorldError, connections,
};
use dice::Dice;
use lane::Lane;
use lives::Lives;
use side::Side;

/// What a run did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TrafficReport {
    /// Initiator requests posted, by kind.
    pub requests: BTreeMap<&'static str, u64>,
    /// What went through windows and regions that live short lives, how those ended; receives of shared queues.
    pub lives: BTreeMap<&'static str, u64>,
    /// Connections that connection management made and ended.
    pub connections: u32,
    /// Requests without a completion of their own.
    pub silent: u64,
    /// Calls that had to fail, and did.
    pub refused: u64,
    /// Results compared.
    pub results: u64,
    /// Bytes compared.
    pub bytes: u64,
    /// Notifications taken.
    pub notifications: u64,
    /// Frames.
    pub frames: u64,
    /// Clocks and decisions.
    pub checked: Checked,
}

/// Why a run failed.
#[derive(Debug, Error)]
pub enum TrafficError {
    /// A node stopped.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Something is not as it must be.
    #[error("{0}")]
    Wrong(String),
    /// Something did not come in time.
    #[error("{0}")]
    Late(String),
}

impl TrafficError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::World(error) => error.into(),
            Self::Wrong(_) => FailureKind::WrongResult,
            Self::Late(_) => FailureKind::TimeOut,
        }
    }
}

pub(super) type Result<T = ()> = std::result::Result<T, TrafficError>;

/// Units of time, shorter than they are.
const TIMING: Timing = Timing {
    time_unit: 32,
    rnr_unit: 10,
    cnp_interval: 1000,
};
/// Code of the acknowledgement timers: 65,536 clocks.
pub(super) const TIMEOUT: u8 = 11;
/// Clocks without any result after which a round is stuck.
pub(super) const PATIENCE: u64 = 30_000_000;

/// The run.
pub(super) struct Traffic {
    wanted: RandomTraffic,
    world: World,
    sides: Vec<Side>,
    lanes: Vec<Lane>,
    lives: Lives,
    dice: Dice,
    report: TrafficReport,
    posted: u64,
    next_context: u64,
    arms: u64,
    last_result: u64,
}

/// A run that failed.
#[derive(Debug, Error)]
#[error("{error}")]
pub struct TrafficFailure {
    /// Why.
    pub error: Box<TrafficError>,
    /// Requests posted before it: with one more the run fails in the same way.
    pub posted: u64,
    /// What sort of failure it is.
    pub kind: FailureKind,
    /// Clock of each engine at which to look.
    pub scene: Scene,
    /// What the ports of engines did, if that was to be recorded.
    pub timings: Timings,
}

impl TrafficFailure {
    /// The failure of a vector, at a place in its text.
    pub fn at(&self, span: Range<usize>) -> Failure {
        let text = self.to_string();
        Failure {
            kind: self.kind,
            scene: self.scene.clone(),
            timings: self.timings.clone(),
            detail: text.contains('\n').then(|| text.clone()),
            ..Failure::new(Fault::new(span, text.lines().next().unwrap_or_default()))
        }
    }
}

/// Runs random traffic; `progress` is told how many requests have been posted.
///
/// # Errors
/// The first thing that is wrong.
pub fn run(
    wanted: &RandomTraffic,
    options: &RunOptions,
    progress: &dyn Fn(u64),
) -> std::result::Result<TrafficReport, TrafficFailure> {
    let mut traffic = Traffic::open(wanted, options).map_err(|error| TrafficFailure {
        kind: error.kind(),
        error: error.into(),
        posted: 0,
        scene: Scene::default(),
        timings: Timings::default(),
    })?;
    let created = traffic.create(options.seed);
    let outcome = created.and_then(|()| traffic.all(progress));
    outcome.map_err(|error| {
        // A divergence is more than what came of it.
        let error = traffic.world.examine().map_or(error, TrafficError::World);
        TrafficFailure {
            kind: traffic.world.trouble().unwrap_or_else(|| error.kind()),
            error: error.into(),
            posted: traffic.posted,
            scene: traffic.world.scene(),
            timings: traffic.world.timings(),
        }
    })
}

/// What the network does to frames, either way. It turns no bit of a frame over that has no checksum of its own: of a
/// link those never arrive.
fn bad_network(wanted: &RandomTraffic) -> impl Iterator<Item = Rule> {
    let all = [
        (wanted.loss, Action::Drop),
        (wanted.duplicate, Action::Duplicate(1)),
        (wanted.reorder, Action::Reorder(Reorder::UpTo { up_to: 8 })),
        (wanted.corrupt, Action::Corrupt(Corruption::RANDOM)),
    ];
    let some = all.into_iter().filter(|(percent, _)| *percent > 0.0);
    some.map(|(percent, action)| Rule {
        name: None,
        from: None,
        to: None,
        what: What::Frames {
            selection: match action {
                Action::Corrupt(_) => Selection {
                    psn: Some(PsnRange::ALL),
                    ..Selection::default()
                },
                _ => Selection::default(),
            },
            when: When {
                probability: Some(percent / 100.0),
                ..When::default()
            },
            action,
        },
    })
}

/// How a node makes connections: all with a path MTU that the seed draws.
fn connections_of(seed: u64, place: usize) -> ConnectionConfig {
    let mtus = PathMtu::ALL.len() as u32;
    let mtu = Dice::new(!seed).below(mtus) as usize;
    ConnectionConfig {
        path_mtu: PathMtu::ALL[mtu],
        ..connections(seed.wrapping_mul(2).wrapping_add(place as u64))
    }
}

/// The nodes of random traffic.
pub(crate) const NODES: [&str; 2] = ["a", "b"];

impl Traffic {
    fn open(wanted: &RandomTraffic, options: &RunOptions) -> Result<Self> {
        let mut nodes = Vec::new();
        for (place, name) in NODES.into_iter().enumerate() {
            let address = Address::of(place);
            let kind = options.kind(name, None);
            let config = AdapterConfig {
                timing: TIMING,
                connections: wanted.connect.then(|| connections_of(options.seed, place)),
                ..address.adapter()
            };
            nodes.push(Node::open(kind, name, address, config, &options.targets())?);
        }
        let capture = match &options.capture {
            Some(path) => Some(Capture::create(path, &NODES).map_err(WorldError::from)?),
            None => None,
        };
        let mut world = World::new(nodes, false, capture)
            .with_seed(options.seed)
            .with_cover(options.cover.clone());
        for rule in bad_network(wanted) {
            world.network().add(&rule);
        }
        Ok(Self {
            wanted: wanted.clone(),
            world,
            sides: Vec::new(),
            lanes: Vec::new(),
            lives: Lives::default(),
            dice: Dice::new(options.seed),
            report: TrafficReport::default(),
            posted: 0,
            next_context: 1,
            arms: 0,
            last_result: 0,
        })
    }

    /// Makes what is there before the first request.
    fn create(&mut self, seed: u64) -> Result {
        let (wanted, world, dice) = (&self.wanted, &mut self.world, &mut self.dice);
        for (place, node) in world.nodes.iter_mut().enumerate() {
            let mut side = Side::new(node, place, seed)?;
            let shared = shared::create(&mut node.nic, side.pd, wanted.srqs, dice);
            side.shared = shared.map_err(|error| node.error(error))?;
            self.sides.push(side);
        }
        self.lanes = lane::connect_all(world, &self.sides, wanted, dice)?;
        if wanted.connect {
            managed::connect_all(world, &mut self.lanes, dice)?;
        }
        if wanted.tokens > 0 {
            let late = wanted.network().next().is_some();
            self.lives = population::create(world, &self.sides, &self.lanes, late, dice)?;
        }
        Ok(())
    }

    fn all(&mut self, progress: &dyn Fn(u64)) -> Result<TrafficReport> {
        while self.posted < self.wanted.requests && !stop::asked() {
            self.round(progress)?;
        }
        self.finish()
    }

    fn round(&mut self, progress: &dyn Fn(u64)) -> Result {
        self.replace_some()?;
        self.refill_shared()?;
        for lane in 0..self.lanes.len() {
            self.post_receives(lane)?;
        }
        self.world.settle()?;
        self.fetch_all()?;
        self.lives.settled();
        self.last_result = self.world.clocks();
        let end = self.posted + 40 * self.lanes.len() as u64;
        while self.posted < end.min(self.wanted.requests) {
            let lane = self.dice.below(self.lanes.len() as u32) as usize;
            self.burst(lane)?;
            self.maybe_arm()?;
            self.turn()?;
            progress(self.posted);
        }
        for lane in 0..self.lanes.len() {
            self.post_marker(lane)?;
        }
        while self.lanes.iter().any(|lane| !lane.pending.is_empty()) {
            self.turn()?;
        }
        // Receives that answer the last sends come with or after their acknowledges.
        while self.lanes.iter().any(|lane| !lane.messages.is_empty()) {
            self.turn()?;
        }
        self.forget_quiet();
        Ok(())
    }

    /// A little time, and what came of it.
    fn turn(&mut self) -> Result {
        self.world.pump()?;
        self.fetch_all()?;
        let waited = self.world.clocks() - self.last_result;
        if waited > PATIENCE {
            let stuck: Vec<String> = self
                .lanes
                .iter()
                .filter(|lane| !lane.pending.is_empty())
                .map(Lane::words)
                .collect();
            return Err(TrafficError::Late(format!(
                "no result for {waited} clocks; waiting: {}",
                stuck.join("; ")
            )));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<TrafficReport> {
        self.world.settle()?;
        self.fetch_all()?;
        if self.wanted.connect {
            self.report.connections = self.lanes.len() as u32 / 2;
            self.disconnect_all()?;
        } else {
            for lane in 0..self.lanes.len() {
                self.flush(lane)?;
            }
        }
        while self.lanes.iter().any(|lane| !lane.receives.is_empty()) {
            self.turn()?;
        }
        self.end_lives()?;
        self.end_shared()?;
        self.check_guards()?;
        self.report.checked = self.world.finish()?;
        self.report.frames = self.world.frames();
        Ok(std::mem::take(&mut self.report))
    }

    pub(super) fn context(&mut self) -> u64 {
        let context = self.next_context.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.next_context += 1;
        context
    }
}
