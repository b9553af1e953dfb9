//! Nodes and the lossless network between them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use tandem_model::hal::{HalError, Target};
use tandem_model::ndk::{AdapterConfig, NdkError, Notification, Provider};
use tandem_model::wire::MacAddr;
use thiserror::Error;

use super::{Capture, CaptureError};
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

/// A frame that passed the network.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Place of the node that sent it.
    pub from: usize,
    /// Clock of that node when the network took it.
    pub clock: u64,
    /// The frame, without FCS.
    pub frame: Vec<u8>,
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
    /// Frames that have passed, oldest first; kept only if `keep` was asked for.
    pub passed: Vec<Passed>,
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
            nodes,
            passed: Vec::new(),
            keep,
            capture,
            clocks: 0,
            frames: 0,
            quantum: QUANTUM,
        }
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

    /// Lets a little time pass everywhere, and moves frames. Returns whether anything happened or is going on.
    ///
    /// # Errors
    /// What stopped a node.
    pub fn pump(&mut self) -> Result<bool, WorldError> {
        let mut busy = false;
        for place in 0..self.nodes.len() {
            busy |= self.advance(place)?;
        }
        self.clocks += u64::from(self.quantum);
        for node in &mut self.nodes {
            match node.nic.poll_events() {
                Ok(notifications) => node.notifications.extend(notifications),
                Err(error) => return Err(node.error(error)),
            }
        }
        Ok(busy)
    }

    fn advance(&mut self, place: usize) -> Result<bool, WorldError> {
        let Some(node) = self.nodes.get_mut(place) else {
            return Ok(false);
        };
        let target = node.nic.hal_mut();
        let outcome = target.advance(self.quantum);
        let (frames, now) = (target.take_frames(), target.now());
        let failed = |source| WorldError::Target {
            node: node.name.clone(),
            source,
        };
        let (outcome, frames) = (outcome.map_err(failed), frames.map_err(failed)?);
        let moved = !frames.is_empty();
        // Those that came before a failure as well: the last one may be what it is about.
        let mut frames = frames.into_iter();
        let carried = frames.try_for_each(|frame| self.carry(place, now, frame));
        let busy = outcome?;
        carried?;
        Ok(busy || moved)
    }

    fn carry(&mut self, from: usize, now: u64, frame: Vec<u8>) -> Result<(), WorldError> {
        self.frames += 1;
        if let Some(capture) = &mut self.capture {
            capture.frame(from, now, &frame)?;
        }
        let mac = frame.first_chunk::<6>().copied().unwrap_or_default();
        match self.nodes.iter_mut().find(|node| node.address.mac == mac) {
            Some(node) => {
                let sent = node.nic.hal_mut().send_frame(&frame);
                sent.map_err(|source| WorldError::Target {
                    node: node.name.clone(),
                    source,
                })?;
            }
            None => {
                let node = self.nodes.get(from).map_or("", |node| &node.name).into();
                let mac = MacAddr(mac);
                return Err(WorldError::Unroutable { node, mac });
            }
        }
        if self.keep {
            let clock = now;
            self.passed.push(Passed { from, clock, frame });
        }
        Ok(())
    }

    /// Pumps until nothing happens any more.
    ///
    /// # Errors
    /// What stopped a node, or that it never ends.
    pub fn settle(&mut self) -> Result<(), WorldError> {
        let start = self.clocks;
        while self.pump()? {
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
                Ok(false) => break,
                Ok(true) if self.clocks > end => return None,
                Ok(true) => {}
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
