//! Nodes, and time that passes on them and on the network between them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use tandem_model::hal::{HalError, Target};
use tandem_model::ndk::{AdapterConfig, NdkError, Notification, Provider};
use tandem_model::wire::MacAddr;
use thiserror::Error;

use super::{Capture, CaptureError};
use crate::network::Network;
use crate::targets::{AnyTarget, Checked};

/// Why a world stands still.
#[derive(Debug, Error)]
pub enum WorldError {
    /// A target stopped: a divergence, a broken bus rule, a failed assertion.
    #[error("node {node}: {source}")]
    Target {
        /// Its node.
        node: String,
        /// Why.
        source: HalError,
    },
    /// The provider failed in a way that no consumer of NDKPI can cause.
    #[error("node {node}: {source}")]
    Provider {
        /// Its node.
        node: String,
        /// Why.
        source: NdkError,
    },
    /// A frame for nobody.
    #[error("node {node} sent a frame to {mac}, which is no node's address")]
    Unroutable {
        /// The sender.
        node: String,
        /// Destination.
        mac: MacAddr,
    },
    /// The capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Something never ends.
    #[error("still busy after {clocks} clocks")]
    Busy {
        /// How long it ran.
        clocks: u64,
    },
}

/// Addresses of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// MAC.
    pub mac: [u8; 6],
    /// IPv4.
    pub ipv4: Ipv4Addr,
    /// IPv6.
    pub ipv6: Ipv6Addr,
}

impl Address {
    /// Of the node with that place in the world.
    pub fn of(place: usize) -> Self {
        let [high, low] = (place as u16 + 1).to_be_bytes();
        Self {
            mac: [2, 0, 0, 0, high, low],
            ipv4: Ipv4Addr::new(10, 0, high, low),
            ipv6: Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, place as u16 + 1),
        }
    }

    /// The configuration of an adapter with these addresses.
    pub fn adapter(&self) -> AdapterConfig {
        AdapterConfig {
            mac: self.mac,
            ipv4: Some(self.ipv4),
            ipv6: Some(self.ipv6),
            ..AdapterConfig::default()
        }
    }
}

/// A node.
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub address: Address,
    /// Its provider.
    pub nic: Provider<AnyTarget>,
    /// Notifications that nobody has taken yet.
    pub notifications: Vec<Notification>,
}

impl Node {
    /// Wraps an error of the provider.
    pub fn error(&self, source: impl Into<NdkError>) -> WorldError {
        WorldError::Provider {
            node: self.name.clone(),
            source: source.into(),
        }
    }

    /// Ends the run on its target.
    fn finish(&mut self) -> Result<(), WorldError> {
        let finished = self.nic.hal_mut().finish();
        finished.map_err(|source| WorldError::Target {
            node: self.name.clone(),
            source,
        })
    }
}

/// A frame that a node sent, whatever became of it.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Place of the node that sent it.
    pub from: usize,
    /// Clock of that node when the network took it.
    pub clock: u64,
    /// The frame, without FCS.
    pub frame: Vec<u8>,
}

/// What goes on in a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// A node does something.
    pub nodes: bool,
    /// A frame is on its way.
    pub network: bool,
    /// A timer runs on a node: something will happen.
    pub timers: bool,
}

impl Activity {
    /// Whether anything goes on, or will.
    pub fn is_any(self) -> bool {
        self.is_moving() || self.timers
    }

    /// Whether anything goes on.
    pub fn is_moving(self) -> bool {
        self.nodes || self.network
    }
}
/// Clock of each engine at which to look for what went wrong.
pub type Scene = BTreeMap<String, u64>;

/// Clocks (or actions) between two looks at the network.
const QUANTUM: u32 = 64;
/// Clocks after which something that does not end is an error.
const MAX_CLOCKS: u64 = 50_000_000;
/// Clocks in which what is under way should end after a failure.
const EXAMINE_CLOCKS: u64 = 200_000;

/// Nodes, network, time.
pub struct World {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Frames that were sent, oldest first; kept only if `keep` was asked for.
    pub passed: Vec<Passed>,
    network: Network,
    keep: bool,
    capture: Option<Capture>,
    clocks: u64,
    frames: u64,
    quantum: u32,
}

impl World {
    /// Joins nodes. With `keep` the frames are remembered.
    pub fn new(nodes: Vec<Node>, keep: bool, capture: Option<Capture>) -> Self {
        Self {
            network: Network::new(nodes.len(), 0),
            nodes,
            passed: Vec::new(),
            keep,
            capture,
            clocks: 0,
            frames: 0,
            quantum: QUANTUM,
        }
    }

    /// Another seed of what the network does by chance.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.network = Network::new(self.nodes.len(), seed);
        self
    }

    /// The network, to impair it.
    pub fn network(&mut self) -> &mut Network {
        &mut self.network
    }

    /// Other clocks between two looks at the network.
    #[must_use]
    pub fn with_quantum(mut self, quantum: u32) -> Self {
        self.quantum = quantum.max(1);
        self
    }

    /// Clocks (or actions) that the world was given so far.
    pub fn clocks(&self) -> u64 {
        self.clocks
    }

    /// Frames that passed so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Where to look for what went wrong.
    pub fn scene(&self) -> Scene {
        let engines = self.nodes.iter().filter_map(|node| {
            let clock = node.nic.hal().scene()?;
            Some((node.name.clone(), clock))
        });
        engines.collect()
    }

    /// Lets a little time pass everywhere, and moves frames.
    ///
    /// # Errors
    /// What stopped a node.
    pub fn pump(&mut self) -> Result<Activity, WorldError> {
        let mut activity = Activity::default();
        for place in 0..self.nodes.len() {
            self.advance(place, &mut activity)?;
        }
        self.clocks += u64::from(self.quantum);
        self.deliver()?;
        activity.network = self.network.is_moving();
        if !activity.is_moving() && self.network.let_go(self.clocks) {
            // What waits for later frames has waited long enough.
            activity.network = true;
        }
        for node in &mut self.nodes {
            match node.nic.poll_events() {
                Ok(notifications) => node.notifications.extend(notifications),
                Err(error) => return Err(node.error(error)),
            }
        }
        Ok(activity)
    }

    fn advance(&mut self, place: usize, activity: &mut Activity) -> Result<(), WorldError> {
        let paused = self.network.pauses(place, self.clocks);
        let Some(node) = self.nodes.get_mut(place) else {
            return Ok(());
        };
        let target = node.nic.hal_mut();
        target.pause(paused);
        let outcome = target.advance(self.quantum);
        let (frames, now) = (target.take_frames(), target.now());
        let timer = target.timer_runs();
        let failed = |source| WorldError::Target {
            node: node.name.clone(),
            source,
        };
        let (outcome, frames) = (outcome.map_err(failed), frames.map_err(failed)?);
        let timer = timer.map_err(failed);
        activity.nodes |= !frames.is_empty();
        // Those that came before a failure as well: the last one may be what it is about.
        let mut frames = frames.into_iter();
        let carried = frames.try_for_each(|frame| self.carry(place, now, frame));
        activity.nodes |= outcome?;
        activity.timers |= timer?;
        carried
    }

    /// A node has sent a frame.
    fn carry(&mut self, from: usize, now: u64, frame: Vec<u8>) -> Result<(), WorldError> {
        self.frames += 1;
        let mac = frame.first_chunk::<6>().copied().unwrap_or_default();
        let Some(to) = self.nodes.iter().position(|node| node.address.mac == mac) else {
            let node = self.nodes.get(from).map_or("", |node| &node.name).into();
            let mac = MacAddr(mac);
            return Err(WorldError::Unroutable { node, mac });
        };
        let mut notes = Vec::new();
        if self.network.is_clear() {
            self.hand_over(to, &frame)?;
        } else {
            notes = self.network.offer(from, to, self.clocks, frame.clone());
        }
        if let Some(capture) = &mut self.capture {
            capture.sent(from, now, &frame, &notes)?;
        }
        if self.keep {
            let clock = now;
            self.passed.push(Passed { from, clock, frame });
        }
        Ok(())
    }

    /// Hands over what has arrived by now.
    fn deliver(&mut self) -> Result<(), WorldError> {
        for arrival in self.network.arrivals(self.clocks) {
            self.hand_over(arrival.to, &arrival.bytes)?;
            if let Some(capture) = &mut self.capture
                && !arrival.notes.is_empty()
                && let Some(node) = self.nodes.get(arrival.to)
            {
                let now = node.nic.hal().now();
                capture.arrived(now, &node.name, &arrival.bytes, &arrival.notes)?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, to: usize, frame: &[u8]) -> Result<(), WorldError> {
        let Some(node) = self.nodes.get_mut(to) else {
            return Ok(());
        };
        let sent = node.nic.hal_mut().send_frame(frame);
        sent.map_err(|source| WorldError::Target {
            node: node.name.clone(),
            source,
        })
    }

    /// A frame that no node sent arrives.
    ///
    /// # Errors
    /// What stopped the node.
    pub fn inject(&mut self, to: usize, frame: &[u8]) -> Result<(), WorldError> {
        self.hand_over(to, frame)?;
        if let (Some(capture), Some(node)) = (&mut self.capture, self.nodes.get(to)) {
            let now = node.nic.hal().now();
            capture.arrived(now, &node.name, frame, &["sent by nobody".into()])?;
        }
        Ok(())
    }

    /// Pumps until nothing happens any more, and nothing will: no frame is on its way, no timer runs.
    ///
    /// # Errors
    /// What stopped a node, or that it never ends.
    pub fn settle(&mut self) -> Result<(), WorldError> {
        self.pump_while(Activity::is_any)
    }

    /// Pumps until the nodes have done what they could do at once; timers and frames on their way may be left.
    ///
    /// # Errors
    /// What stopped a node, or that it never ends.
    pub fn quiet(&mut self) -> Result<(), WorldError> {
        self.pump_while(|activity| activity.nodes)
    }

    fn pump_while(&mut self, going_on: impl Fn(Activity) -> bool) -> Result<(), WorldError> {
        let start = self.clocks;
        while going_on(self.pump()?) {
            if self.clocks - start > MAX_CLOCKS {
                let clocks = self.clocks - start;
                return Err(WorldError::Busy { clocks });
            }
        }
        Ok(())
    }

    /// Ends the run on all targets after something failed, and says what they have to say about it: a divergence
    /// that was not found yet is more than its consequence.
    pub fn examine(&mut self) -> Option<WorldError> {
        let end = self.clocks + EXAMINE_CLOCKS;
        loop {
            match self.pump() {
                Err(error) => return Some(error),
                Ok(activity) if !activity.is_moving() => break,
                Ok(_) if self.clocks > end => return None,
                Ok(_) => {}
            }
        }
        let ended = self.nodes.iter_mut().map(Node::finish);
        ended.filter_map(Result::err).next()
    }

    /// Ends the run on all targets: what is under way must be accounted for.
    ///
    /// # Errors
    /// What is not.
    pub fn finish(&mut self) -> Result<Checked, WorldError> {
        // Doorbells rung last.
        self.settle()?;
        let mut sum = Checked::default();
        for node in &mut self.nodes {
            node.finish()?;
            let checked = node.nic.hal().checked();
            sum.clocks += checked.clocks;
            sum.actions += checked.actions;
        }
        Ok(sum)
    }
}
