//! Shared receive queues: some queue pairs of a node take their receives from one, which tells when it runs short.

use std::collections::VecDeque;

use tandem_model::hal::Hal;
use tandem_model::ndk::{NdkError, NtStatus, Pd, Provider, Sge, Srq, SrqParameters};

use super::dice::Dice;
use super::lane::{Posted, RECEIVES};
use super::make::FEW;
use super::{Result, Traffic, TrafficError};

/// Greatest depth.
const DEPTH: u32 = 256;
/// Receives that are used up in little time.
const LITTLE: u32 = 24;
/// Lengths of the receives of a queue: all the same, since nobody knows which message gets which.
const CAPACITIES: [u32; 3] = [300, 1100, 3000];
/// Contexts of their notifications.
const CONTEXTS: u64 = 0x5253_0000_0000_0000;

/// A receive, by its place in the order of posting.
struct Numbered {
    number: u64,
    posted: Posted,
}

/// A queue.
pub(super) struct Shared {
    pub(super) srq: Srq,
    context: u64,
    capacity: u32,
    depth: u32,
    /// Oldest first.
    posted: VecDeque<Numbered>,
    /// Messages under way to its queue pairs.
    used: usize,
    /// Number of the next receive posted.
    next: u64,
    /// The newest one taken.
    newest: Option<u64>,
    threshold: u32,
    watch: Watch,
}

/// Whether it will be told that receives run short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    /// It was told.
    Off,
    /// New, and it never held as many as the threshold.
    Filling,
    /// Since it held so many, or fewer.
    Armed { least: u32 },
}

impl Shared {
    fn new<H: Hal>(
        nic: &mut Provider<H>,
        pd: Pd,
        index: u64,
        dice: &mut Dice,
    ) -> std::result::Result<Self, NdkError> {
        let depth = (RECEIVES * 2 + dice.below(DEPTH)).min(DEPTH);
        let threshold = draw_threshold(depth, dice);
        let parameters = SrqParameters {
            depth,
            max_receive_request_sge: FEW,
            notify_threshold: threshold,
            notification_context: CONTEXTS | index,
        };
        Ok(Self {
            srq: nic.create_srq(pd, &parameters)?,
            context: parameters.notification_context,
            capacity: CAPACITIES[dice.below(CAPACITIES.len() as u32) as usize],
            depth,
            posted: VecDeque::new(),
            used: 0,
            next: 0,
            newest: None,
            threshold,
            watch: Watch::Filling,
        })
    }

    fn len(&self) -> u32 {
        self.posted.len() as u32
    }

    /// The least that it may have held since it was armed; `None` if it is not.
    fn least(&self) -> Option<u32> {
        match self.watch {
            Watch::Armed { least } => {
                let now = self.posted.len().saturating_sub(self.used) as u32;
                Some(least.min(now))
            }
            _ => None,
        }
    }
}

/// From 1 to the depth, more often a little below it.
fn draw_threshold(depth: u32, dice: &mut Dice) -> u32 {
    let below = match dice.percent(70) {
        true => dice.below(depth.min(LITTLE)),
        false => dice.below(depth),
    };
    depth - below
}

/// Creates those of a node.
pub(super) fn create<H: Hal>(
    nic: &mut Provider<H>,
    pd: Pd,
    count: u32,
    dice: &mut Dice,
) -> std::result::Result<Vec<Shared>, NdkError> {
    let indices = 0..u64::from(count);
    indices
        .map(|index| Shared::new(nic, pd, index, dice))
        .collect()
}

fn wrong<T>(message: String) -> Result<T> {
    Err(TrafficError::Wrong(message))
}

impl Traffic {
    /// Bytes that the next message to a queue pair may have; `None` if there is no receive for it.
    pub(super) fn next_capacity(&self, lane: usize) -> Option<u32> {
        let lane = &self.lanes[lane];
        match lane.shared {
            None => lane.receives.get(lane.used).map(|posted| posted.capacity),
            Some(index) => {
                let shared = &self.sides[lane.node].shared[index];
                (shared.used < shared.posted.len()).then_some(shared.capacity)
            }
        }
    }

    /// A message to a queue pair is under way.
    pub(super) fn take_receive(&mut self, lane: usize) {
        let lane = &mut self.lanes[lane];
        match lane.shared {
            None => lane.used += 1,
            Some(index) => self.sides[lane.node].shared[index].used += 1,
        }
    }

    /// Whether a queue pair may complete a receive with that context.
    pub(super) fn is_receive(&self, lane: usize, context: u64) -> bool {
        let lane = &self.lanes[lane];
        match lane.shared {
            None => {
                let oldest = lane.receives.front();
                oldest.is_some_and(|posted| posted.context == context)
            }
            Some(index) => {
                let mut all = self.sides[lane.node].shared[index].posted.iter();
                all.any(|numbered| numbered.posted.context == context)
            }
        }
    }

    /// The receive that a queue pair has completed: its oldest, or one of a shared queue behind all that it had before.
    pub(super) fn posted_receive(&mut self, lane: usize, context: u64) -> Result<Option<Posted>> {
        let lane = &mut self.lanes[lane];
        let Some(index) = lane.shared else {
            lane.used = lane.used.saturating_sub(1);
            return Ok(lane.receives.pop_front());
        };
        let shared = &mut self.sides[lane.node].shared[index];
        let all = &mut shared.posted;
        let place = all
            .iter()
            .position(|numbered| numbered.posted.context == context);
        let Some(taken) = place.and_then(|place| all.remove(place)) else {
            return Ok(None);
        };
        if lane.newest.is_some_and(|newest| newest > taken.number) {
            return wrong(format!(
                "receive {} of shared receive queue {:#x} completed behind a newer one of the same {}",
                taken.number,
                shared.context,
                lane.words()
            ));
        }
        lane.newest = Some(taken.number);
        shared.newest = shared.newest.max(Some(taken.number));
        shared.used = shared.used.saturating_sub(1);
        *self
            .report
            .lives
            .entry("receives from shared queues")
            .or_default() += 1;
        Ok(Some(taken.posted))
    }

    /// Looks at all of them while nothing is under way, arms them, and fills them up.
    pub(super) fn refill_shared(&mut self) -> Result {
        if self.wanted.srqs == 0 {
            return Ok(());
        }
        self.world.settle()?;
        self.fetch_all()?;
        for node in 0..self.sides.len() {
            for index in 0..self.sides[node].shared.len() {
                self.look_at_shared(node, index)?;
                let early = self.dice.percent(50);
                if early {
                    self.arm_shared(node, index)?;
                }
                self.fill_shared(node, index)?;
                if !early {
                    self.arm_shared(node, index)?;
                }
            }
        }
        Ok(())
    }

    /// Receives were taken in the order of posting, and it was told if they ran short.
    pub(super) fn look_at_shared(&self, node: usize, index: usize) -> Result {
        let shared = &self.sides[node].shared[index];
        let oldest = shared.posted.front().map(|numbered| numbered.number);
        if let (Some(oldest), Some(newest)) = (oldest, shared.newest)
            && oldest < newest
        {
            return wrong(format!(
                "shared receive queue {:#x} of node {node}: receive {newest} was taken, but not {oldest}",
                shared.context
            ));
        }
        if let Some(least) = shared.least().filter(|least| *least < shared.threshold) {
            return wrong(format!(
                "shared receive queue {:#x} of node {node} had {least} receives, less than {}, and nobody was told",
                shared.context, shared.threshold
            ));
        }
        Ok(())
    }

    /// Another depth and threshold, if the last one was told.
    fn arm_shared(&mut self, node: usize, index: usize) -> Result {
        let shared = &mut self.sides[node].shared[index];
        if matches!(shared.watch, Watch::Armed { .. }) || shared.posted.is_empty() {
            return Ok(());
        }
        shared.depth = (shared.len() + self.dice.below(DEPTH)).min(DEPTH);
        shared.threshold = draw_threshold(shared.depth, &mut self.dice);
        shared.watch = Watch::Armed {
            least: shared.len(),
        };
        let (srq, depth, threshold) = (shared.srq, shared.depth, shared.threshold);
        let nic = &mut self.world.nodes[node].nic;
        let outcome = nic.modify_srq(srq, depth, threshold);
        self.done(node, "NdkModifySrq", outcome)
    }

    fn fill_shared(&mut self, node: usize, index: usize) -> Result {
        let shared = &mut self.sides[node].shared[index];
        if let Some(least) = shared.least() {
            shared.watch = Watch::Armed { least };
        }
        loop {
            let shared = &self.sides[node].shared[index];
            let (srq, capacity) = (shared.srq, shared.capacity);
            if shared.len() >= shared.depth {
                return self.overfill(node, srq);
            }
            let lengths = self.dice.cut(capacity, FEW);
            let Some(places) = self.take_places(node, &lengths, false) else {
                return Ok(());
            };
            let elements = places.iter();
            let sgl: Vec<Sge> = elements
                .map(|place| self.sides[node].landing_sge(place))
                .collect();
            let context = self.context();
            let outcome = self.world.nodes[node].nic.srq_receive(srq, context, &sgl);
            self.done(node, "NdkSrqReceive", outcome)?;
            let shared = &mut self.sides[node].shared[index];
            shared.posted.push_back(Numbered {
                number: shared.next,
                posted: Posted {
                    context,
                    places,
                    capacity,
                },
            });
            shared.next += 1;
            if shared.watch == Watch::Filling && shared.len() >= shared.threshold {
                let least = shared.len();
                shared.watch = Watch::Armed { least };
            }
        }
    }

    /// One receive too many, now and then.
    fn overfill(&mut self, node: usize, srq: Srq) -> Result {
        if !self.dice.percent(10) {
            return Ok(());
        }
        let outcome = self.world.nodes[node].nic.srq_receive(srq, 0, &[]);
        self.refused_with(node, outcome, NtStatus::NO_MORE_ENTRIES)
    }

    /// A queue says that its receives run short.
    pub(super) fn runs_short(&mut self, node: usize, srq: Srq, context: u64) -> Result {
        let found = self.sides[node].shared.iter_mut();
        let Some(shared) = found.into_iter().find(|shared| shared.srq == srq) else {
            return wrong(format!(
                "a notification of no shared receive queue: {srq:?}"
            ));
        };
        let short = shared.least().is_some_and(|least| least < shared.threshold);
        if shared.context != context || !short {
            return wrong(format!(
                "shared receive queue {:#x} of node {node} with {} receives, threshold {}, {:?}, notified with context \
                 {context:#x}",
                shared.context,
                shared.len(),
                shared.threshold,
                shared.watch
            ));
        }
        shared.watch = Watch::Off;
        *self.report.lives.entry("limit events").or_default() += 1;
        Ok(())
    }

    /// What was never taken is as it was.
    pub(super) fn end_shared(&mut self) -> Result {
        for node in 0..self.sides.len() {
            for index in 0..self.sides[node].shared.len() {
                self.look_at_shared(node, index)?;
                let left = std::mem::take(&mut self.sides[node].shared[index].posted);
                for numbered in left {
                    self.untouched(node, &numbered.posted.places)?;
                }
            }
        }
        Ok(())
    }
}
