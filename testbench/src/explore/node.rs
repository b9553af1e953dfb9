//! One node of a world: the engine, its host memory, and what of its effects the world has not seen yet.

use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::Arc;

use ahash::RandomState;
use tandem_model::engine::{Engine, InputError, Inputs, ReadChannel};

use super::map::ENTRY;
use super::mutation::Mutation;
use super::plan::{Content, NodePlan};
use super::world::Region;

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
}

/// An effect that may be seen when so many of the payload writes under way are answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held<T> {
    pub barrier: u64,
    pub effect: T,
}

/// What a driver and an onlooker have seen of one queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SeenQp {
    /// Requests that retired or were flushed.
    pub retired: u8,
    /// Request after the last one whose completion was seen.
    pub told: u8,
    /// Receives whose completion was seen.
    pub received: u8,
    /// Receives handed to the engine.
    pub rung: u8,
}

/// What was seen of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub qps: Vec<SeenQp>,
    /// Regions whose token was invalidated, one bit each.
    pub dead: u8,
    /// Those of them of which a completion has told.
    pub told_dead: u8,
}

/// A node. See the module.
#[derive(Clone)]
pub(super) struct Node {
    pub engine: Engine,
    /// The memory that is written: see [`Content::Landing`].
    pub landing: Vec<u8>,
    /// Payload writes under way, oldest first.
    pub writes: VecDeque<Write>,
    /// Frames that have not left.
    pub frames: VecDeque<Held<Bytes>>,
    /// Completion entries that are not written.
    pub entries: VecDeque<Held<[u8; 32]>>,
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
            &self.writes,
            &self.frames,
            &self.entries,
            &self.seen,
        ));
    }

    /// Whether a payload write under way touches bytes of the landing memory.
    pub fn is_under_way(&self, plan: &NodePlan, range: &std::ops::Range<usize>) -> bool {
        self.writes.iter().any(|write| {
            let found = landing_range(plan, write.address, write.bytes.len());
            found.is_some_and(|(at, _)| at.start < range.end && range.start < at.end)
        })
    }
}

/// Where bytes lie in the landing memory, and in which region.
pub(super) fn landing_range(
    plan: &NodePlan,
    address: u64,
    length: usize,
) -> Option<(std::ops::Range<usize>, Option<Region>)> {
    plan.areas.iter().find_map(|area| match &area.content {
        Content::Landing(range, region) => {
            let offset = usize::try_from(address.checked_sub(area.base)?).ok()?;
            let start = range.start + offset;
            (start + length <= range.end).then_some((start..start + length, *region))
        }
        Content::Fixed(_) => None,
    })
}

/// What an engine reads.
pub(super) struct Reader<'a> {
    pub plan: &'a NodePlan,
    pub landing: &'a [u8],
    pub mutation: Option<Mutation>,
    /// Regions that payload was read from, one bit each.
    pub regions: u8,
}

impl Inputs for Reader<'_> {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        let length = bytes.len();
        let found = self.plan.areas.iter().find_map(|area| {
            let offset = usize::try_from(address.checked_sub(area.base)?).ok()?;
            let (content, region) = match &area.content {
                Content::Fixed(content) => (content.as_slice(), None),
                Content::Landing(range, region) => (self.landing.get(range.clone())?, *region),
            };
            Some((content.get(offset..offset + length)?, region))
        });
        let Some((content, region)) = found else {
            return Err(InputError {
                channel,
                address,
                length,
                cause: "no such memory".into(),
            });
        };
        bytes.copy_from_slice(content);
        if let Some(region) = region {
            self.regions |= 1 << region;
        }
        if channel == ReadChannel::SqFetch && length == ENTRY {
            Mutation::fetched(self.mutation, bytes);
        }
        Ok(())
    }
}
