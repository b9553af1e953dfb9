//! Nodes, and time that passes on them and on the network between them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tandem_model::hal::Target;
use tandem_model::wire::MacAddr;

use super::{Capture, FailureKind, Node, Passed, WorldError};
use crate::coverage::Cover;
use crate::network::{Network, Note};
use crate::targets::Checked;
use crate::timing::Timings;
use crate::vector::TargetKind;

/// Clock of each engine at which to look for what went wrong.
pub type Scene = BTreeMap<String, u64>;

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

/// Microseconds that software takes a clock for: longer than it is, so that what waits for seconds ends within a run.
const CLOCK_MICROS: u64 = 8;
/// Bit of the first octet of a MAC address that is that of a group.
const GROUP: u8 = 1;
/// Clocks (or actions) between two looks at the network.
const QUANTUM: u32 = 64;
/// Clocks after which a node has taken up what it was asked for.
const TAKEN_UP: u64 = 10_000;
/// Clocks that pass at once at most.
const MAX_SKIP: u64 = 1 << 20;
/// Clocks in which what is under way should end after a failure.
const EXAMINE_CLOCKS: u64 = 200_000;
/// Clocks after which something that does not end is an error.
const MAX_CLOCKS: u64 = 50_000_000;

/// The time that software on the nodes sees.
fn software_time(clocks: u64) -> Duration {
    Duration::from_micros(clocks * CLOCK_MICROS)
}

/// Nodes, network, time.
pub struct World {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Frames that were sent, oldest first; kept only if `keep` was asked for.
    pub passed: Vec<Passed>,
    network: Network,
    keep: bool,
    capture: Option<Capture>,
    cover: Option<Arc<Cover>>,
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
            cover: None,
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

    /// Somebody counts what the network does.
    #[must_use]
    pub fn with_cover(mut self, cover: Option<Arc<Cover>>) -> Self {
        self.cover = cover;
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

    /// What the ports of engines did, where that was to be recorded.
    pub fn timings(&self) -> Timings {
        let engines = self.nodes.iter().filter_map(|node| {
            let timing = node.nic.hal().timing()?;
            Some((node.name.clone(), timing))
        });
        engines.collect()
    }

    /// What sort of failure stopped an engine, if one did.
    pub fn trouble(&self) -> Option<FailureKind> {
        let mut nodes = self.nodes.iter();
        nodes.find_map(|node| node.nic.hal().trouble())
    }

    /// Lets a little time pass everywhere, and moves frames.
    ///
    /// # Errors
    /// What stopped a node.
    pub fn pump(&mut self) -> Result<Activity, WorldError> {
        self.pass(self.quantum)
    }

    /// The same, for so many clocks.
    fn pass(&mut self, clocks: u32) -> Result<Activity, WorldError> {
        let mut activity = Activity::default();
        for place in 0..self.nodes.len() {
            self.advance(place, clocks, &mut activity)?;
        }
        self.clocks += u64::from(clocks);
        let delivered = self.deliver()?;
        activity.network = delivered || self.network.is_moving();
        if !activity.is_moving() && self.network.let_go(self.clocks) {
            // What waits for later frames has waited long enough.
            activity.network = true;
        }
        let now = software_time(self.clocks);
        for node in &mut self.nodes {
            match node.nic.poll(now) {
                Ok(mut notifications) => {
                    if let Some(breach) = node.nic.hal().breach() {
                        notifications.retain_mut(|told| breach.told(told));
                    }
                    node.notifications.extend(notifications);
                }
                Err(error) => return Err(node.error(error)),
            }
            activity.timers |= node.nic.next_deadline().is_some();
        }
        Ok(activity)
    }

    /// Clocks that can pass at once, as nothing goes on in the world until the first timer ends.
    fn clocks_to_deadline(&mut self) -> u32 {
        // An engine is looked at while it runs; for models time costs nothing.
        let now = software_time(self.clocks);
        let software = self.nodes.iter_mut().filter_map(|node| {
            let left = node.nic.next_deadline()?.saturating_sub(now);
            Some(left.as_micros() as u64 / CLOCK_MICROS)
        });
        let software = software.min().unwrap_or(u64::MAX);
        let models = self.nodes.iter().map(|node| node.nic.hal());
        let next = models.map(|target| match target.kind() {
            TargetKind::Model => target
                .next_deadline()
                .map_or(u64::MAX, |deadline| deadline.saturating_sub(target.now())),
            TargetKind::Rtl | TargetKind::Netlist => 0,
        });
        let clocks = next.min().unwrap_or(0).min(software).min(MAX_SKIP);
        // To a multiple of the usual step, so that a step never ends behind a deadline.
        (clocks as u32 / self.quantum).max(1) * self.quantum
    }

    fn advance(
        &mut self,
        place: usize,
        clocks: u32,
        activity: &mut Activity,
    ) -> Result<(), WorldError> {
        let paused = self.network.pauses(place, self.clocks);
        let Some(node) = self.nodes.get_mut(place) else {
            return Ok(());
        };
        let target = node.nic.hal_mut();
        target.pause(paused);
        let outcome = target.advance(clocks);
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
        let mut notes = Vec::new();
        for to in self.receivers(from, &frame)? {
            if self.network.is_clear() {
                self.hand_over(to, &frame)?;
            } else {
                notes.extend(self.network.offer(from, to, self.clocks, frame.clone()));
            }
        }
        if let Some(cover) = &self.cover {
            cover.befell(&frame, &notes);
        }
        if let Some(capture) = &mut self.capture {
            capture.sent(from, now, &frame, &Note::sentence(&notes))?;
        }
        if self.keep {
            let clock = now;
            self.passed.push(Passed { from, clock, frame });
        }
        Ok(())
    }

    /// Whom a frame goes to: all others, if its address is that of a group.
    fn receivers(&self, from: usize, frame: &[u8]) -> Result<Vec<usize>, WorldError> {
        let mac = frame.first_chunk::<6>().copied().unwrap_or_default();
        if mac[0] & GROUP != 0 {
            return Ok((0..self.nodes.len()).filter(|to| *to != from).collect());
        }
        let found = self.nodes.iter().position(|node| node.address.mac == mac);
        found
            .map(|to| vec![to])
            .ok_or_else(|| WorldError::Unroutable {
                node: self.nodes.get(from).map_or("", |node| &node.name).into(),
                mac: MacAddr(mac),
            })
    }

    /// Hands over what has arrived by now. Whether there was something.
    fn deliver(&mut self) -> Result<bool, WorldError> {
        let arrivals = self.network.arrivals(self.clocks);
        let delivered = !arrivals.is_empty();
        for arrival in arrivals {
            self.hand_over(arrival.to, &arrival.bytes)?;
            if let Some(capture) = &mut self.capture
                && !arrival.notes.is_empty()
                && let Some(node) = self.nodes.get(arrival.to)
            {
                let now = node.nic.hal().now();
                capture.arrived(
                    now,
                    &node.name,
                    &arrival.bytes,
                    &Note::sentence(&arrival.notes),
                )?;
            }
        }
        Ok(delivered)
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
            capture.arrived(now, &node.name, frame, "sent by nobody")?;
        }
        Ok(())
    }

    /// Pumps until nothing happens any more, and nothing will: no frame is on its way, no timer runs.
    ///
    /// # Errors
    /// What stopped a node, or that it never ends.
    pub fn settle(&mut self) -> Result<(), WorldError> {
        let start = self.clocks;
        let mut activity = self.pump()?;
        while activity.is_any() {
            if self.clocks - start > MAX_CLOCKS {
                let clocks = self.clocks - start;
                return Err(WorldError::Busy { clocks });
            }
            activity = self.go_on(activity)?;
        }
        Ok(())
    }

    /// Pumps until the nodes have done what they could do at once; timers and frames on their way may be left. Where
    /// something new comes up all the time, it is enough that what was asked of them has been taken up.
    ///
    /// # Errors
    /// What stopped a node.
    pub fn quiet(&mut self) -> Result<(), WorldError> {
        let end = self.clocks + TAKEN_UP;
        while self.pump()?.nodes && self.clocks < end {}
        Ok(())
    }

    /// Pumps on after a pump with that activity, with nothing asked of any node in between: if all there was is timers,
    /// time passes to the first one that ends.
    ///
    /// # Errors
    /// What stopped a node.
    pub fn go_on(&mut self, last: Activity) -> Result<Activity, WorldError> {
        match last.is_moving() || !last.timers {
            true => self.pump(),
            false => {
                let clocks = self.clocks_to_deadline();
                self.pass(clocks)
            }
        }
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
            sum.add(&node.nic.hal().checked());
        }
        Ok(sum)
    }
}
