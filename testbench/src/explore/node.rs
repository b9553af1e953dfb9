//! One node of a world: the engine, its host memory, and what of its effects the world has not seen yet.

use std::collections::VecDeque;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use ahash::RandomState;
use tandem_model::engine::{BusAnswer, Engine, InputError, Inputs, ReadChannel};

use super::Setting;
use super::map::{SEND_RINGS, page_list};
use super::mutation::Mutation;
use super::plan::{Content, NodePlan};
use super::seen::Seen;
use super::world::{Key, Side};

/// A frame on its way.
pub(super) type Bytes = Arc<[u8]>;

/// Keys of all hashes: the same in each run, so that reports are.
fn keys() -> RandomState {
    RandomState::with_seeds(0x7461_6E64, 0x656D_6578, 0x706C_6F72, 0x6521_2121)
}

/// The hash of anything, the same in each run.
pub(super) fn digest<T: Hash + ?Sized>(value: &T) -> u64 {
    keys().hash_one(value)
}

/// A payload write that memory has not answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Write {
    pub address: u64,
    pub bytes: Bytes,
    /// The token that it goes through, if it is not that of the node's own landing page.
    pub key: Option<Key>,
}

/// An effect that may be seen when so many of the payload writes and of the gather reads under way are answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held<T> {
    pub barrier: u64,
    pub gathers: u64,
    pub effect: T,
}

impl<T> Held<T> {
    /// Whether it may be seen.
    pub fn is_due(&self) -> bool {
        self.barrier == 0 && self.gathers == 0
    }
}

/// What is written for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Entry {
    /// Of a completion queue.
    Completion([u8; 32]),
    /// Of the event queue.
    Event([u8; 16]),
}

/// A node. See the module.
#[derive(Clone)]
pub(super) struct Node {
    pub engine: Engine,
    /// The memory that is written: see [`Content::Landing`].
    pub landing: Vec<u8>,
    /// Payload writes under way, oldest first.
    pub writes: VecDeque<Write>,
    /// Reads of payload under way, oldest first: the tokens that they go through, as above.
    pub gathers: VecDeque<Option<Key>>,
    /// Frames that have not left.
    pub frames: VecDeque<Held<Bytes>>,
    /// Completion entries that are not written.
    pub entries: VecDeque<Held<Entry>>,
    pub seen: Seen,
    /// Hash of everything above; 0 while it changes.
    pub digest: u64,
}

impl Node {
    /// Takes the hash, after changes.
    pub fn seal(&mut self) {
        self.digest = digest(&(
            &self.engine,
            &self.landing,
            (&self.writes, &self.gathers),
            &self.frames,
            &self.entries,
            &self.seen,
        ));
    }

    /// Whether a payload write under way touches bytes of the landing memory.
    pub fn is_under_way(&self, plan: &NodePlan, range: &Range<usize>) -> bool {
        self.writes.iter().any(|write| {
            let found = landing_range(plan, write.address, write.bytes.len());
            found.is_some_and(|at| at.start < range.end && range.start < at.end)
        })
    }

    /// What waits for the oldest payload write, or gather read, waits for one less.
    pub fn answered(&mut self, writes: u64, gathers: u64) {
        let frames = self
            .frames
            .iter_mut()
            .map(|held| (&mut held.barrier, &mut held.gathers));
        let entries = self
            .entries
            .iter_mut()
            .map(|held| (&mut held.barrier, &mut held.gathers));
        for (barrier, waits) in frames.chain(entries) {
            *barrier = barrier.saturating_sub(writes);
            *waits = waits.saturating_sub(gathers);
        }
    }
}

/// Where bytes lie in the landing memory.
pub(super) fn landing_range(plan: &NodePlan, address: u64, length: usize) -> Option<Range<usize>> {
    plan.areas.iter().find_map(|area| match &area.content {
        Content::Landing(range) => {
            let offset = usize::try_from(address.checked_sub(area.base)?).ok()?;
            let start = range.start + offset;
            (start + length <= range.end).then_some(start..start + length)
        }
        Content::Fixed(_) => None,
    })
}

/// What an engine reads.
pub(super) struct Reader<'a> {
    pub plan: &'a NodePlan,
    pub landing: &'a [u8],
    pub mutation: Option<Mutation>,
    /// Registrations whose page list was answered: see [`Seen::listed`].
    pub listed: u16,
    /// Reads of payload.
    pub gathers: usize,
}

impl<'a> Reader<'a> {
    /// Of a setting, for what a node looks like.
    pub fn new(setting: &'a Setting, side: Side, landing: &'a [u8], seen: &Seen) -> Self {
        Self {
            plan: setting.plan.node(side),
            landing,
            mutation: setting.mutation,
            listed: seen.listed,
            gathers: 0,
        }
    }

    /// Fills `bytes` with what lies at an address.
    fn fetch(
        &self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        let length = bytes.len();
        let found = self.plan.areas.iter().find_map(|area| {
            let offset = usize::try_from(address.checked_sub(area.base)?).ok()?;
            let content = match &area.content {
                Content::Fixed(content) => content.as_slice(),
                Content::Landing(range) => self.landing.get(range.clone())?,
            };
            content.get(offset..offset + length)
        });
        let content = found.ok_or_else(|| InputError {
            channel,
            address,
            length,
            cause: "no such memory".into(),
        })?;
        bytes.copy_from_slice(content);
        Ok(())
    }
}

impl Inputs for Reader<'_> {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        self.fetch(channel, address, bytes)?;
        match channel {
            ReadChannel::SqFetch => Mutation::fetched(self.mutation, bytes),
            ReadChannel::Gather => self.gathers += 1,
            ReadChannel::RqFetch => {}
        }
        Ok(())
    }

    /// Before its answer a page list names a page of something else.
    fn read_list(&mut self, address: u64, bytes: &mut [u8]) -> Result<BusAnswer, InputError> {
        self.fetch(ReadChannel::SqFetch, address, bytes)?;
        let answered =
            Key::all().any(|key| page_list(key) == address && self.listed & key.bit() != 0);
        if !answered {
            bytes.fill(0);
            bytes[..8].copy_from_slice(&SEND_RINGS.to_le_bytes());
        }
        Ok(BusAnswer::Data)
    }
}
