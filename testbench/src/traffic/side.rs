//! What one node has: completion queues, memory to send from, memory to receive into.

use tandem_model::hal::Hal;
use tandem_model::ndk::{
    Cq, LocalToken, Mdl, Mr, MrFlags, MrUse, NdkError, Pd, Provider, RemoteToken, Sge,
};

use super::arena::{Arena, EMPTY, Slice};
use super::dice::{Dice, MEGABYTE};
use super::shared::Shared;
use crate::targets::AnyTarget;
use crate::vector::object::Pages;
use crate::vector::value::Pattern;
use crate::world::{HostMemory, Node, WorldError, bytes_of};

/// Completion queues, each shared by several queue pairs.
const CQS: usize = 3;
/// Entries of a completion queue.
const CQ_DEPTH: u32 = 8192;
/// Bytes to send from, twice: registered, and not.
const SOURCE: u32 = MEGABYTE + 0x4_0000;
/// Bytes to receive into, registered.
const LANDING: usize = 10 << 20;
/// Bytes to receive into, not registered.
const LANDING_PRIVILEGED: usize = 4 << 20;
/// Virtual addresses.
const SOURCE_ADDRESS: u64 = 0x7001_0000_0000;
const LANDING_ADDRESS: u64 = 0x7002_0000_0000;
/// Fast-registered regions at a time.
const MAX_FAST: u32 = 100;

/// A piece of what a node sends from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) privileged: bool,
    pub(super) offset: u32,
    pub(super) length: u32,
}

impl Source {
    /// A part of it.
    pub(super) fn part(&self, from: u32, length: u32) -> Self {
        Self {
            offset: self.offset + from,
            length,
            ..*self
        }
    }
}

/// See the module.
pub(super) struct Side {
    pub(super) place: usize,
    pub(super) pd: Pd,
    pub(super) cqs: Vec<Cq>,
    /// Registered, on scattered pages; the peer may read it.
    source: HostMemory,
    source_token: LocalToken,
    pub(super) source_mr: Mr,
    /// Contiguous, for the privileged token and inline requests.
    source_privileged: HostMemory,
    privileged: LocalToken,
    pub(super) landing: Arena,
    landing_token: LocalToken,
    pub(super) landing_mr: Mr,
    pub(super) landing_privileged: Arena,
    /// Fast-registered regions in use.
    pub(super) fast: u32,
    pub(super) shared: Vec<Shared>,
}

impl Side {
    /// Takes memory and creates what a node needs.
    pub(super) fn new(node: &mut Node, place: usize, seed: u64) -> Result<Self, WorldError> {
        let made = make(&mut node.nic, place, seed);
        made.map_err(|error| node.error(error))
    }

    /// The completion queues of a connection's queue pair: receive, initiator.
    pub(super) fn cqs_of(&self, connection: usize) -> (Cq, Cq) {
        let cq = |index: usize| self.cqs[index % self.cqs.len()];
        (cq(connection), cq(connection / 2 + 1))
    }

    /// The shared receive queue of a connection's queue pair: of every second one, and not of both ends.
    pub(super) fn shared_of(&self, connection: usize) -> Option<usize> {
        let its = !self.shared.is_empty() && (connection + self.place).is_multiple_of(2);
        its.then(|| connection / 2 % self.shared.len())
    }

    /// A random piece to send from.
    pub(super) fn source(&self, dice: &mut Dice, length: u32, inline: bool) -> Source {
        Source {
            privileged: inline || dice.percent(25),
            offset: dice.below(SOURCE - length + 1),
            length,
        }
    }

    /// The element of a piece; inline ones have a token that means nothing.
    pub(super) fn source_sge(&self, source: &Source, garbage: Option<u32>) -> Sge {
        let offset = u64::from(source.offset);
        let (address, token) = match source.privileged {
            true => (self.source_privileged.logical(offset), self.privileged),
            false => (self.source.virtual_address + offset, self.source_token),
        };
        Sge {
            address,
            length: source.length,
            token: garbage.map_or(token, LocalToken),
        }
    }

    /// What the peer names to read a piece; it must be registered.
    pub(super) fn source_remote(&self, source: &Source) -> (u64, RemoteToken) {
        let address = self.source.virtual_address + u64::from(source.offset);
        (address, RemoteToken::from_engine(self.source_token.0))
    }

    /// The pages of a piece.
    pub(super) fn source_mdl(&self, source: &Source) -> Mdl {
        self.memory_of(source)
            .mdl(source.offset.into(), source.length.into())
    }

    fn memory_of(&self, source: &Source) -> &HostMemory {
        match source.privileged {
            true => &self.source_privileged,
            false => &self.source,
        }
    }

    /// The bytes of a piece.
    pub(super) fn source_bytes(&self, source: &Source) -> &[u8] {
        self.memory_of(source)
            .shadow(source.offset.into(), source.length as usize)
    }

    /// A place for what arrives, or `None` if there is no room.
    pub(super) fn take(&mut self, dice: &mut Dice, length: u32, registered: bool) -> Option<Slice> {
        let skew = dice.below(8).into();
        if !registered
            && dice.percent(25)
            && let Some(slice) = self.landing_privileged.take(length, skew, true)
        {
            return Some(slice);
        }
        self.landing.take(length, skew, false)
    }

    /// The element of a place.
    pub(super) fn landing_sge(&self, slice: &Slice) -> Sge {
        let (address, token) = match slice.privileged {
            true => (
                self.landing_privileged.memory.logical(slice.offset),
                self.privileged,
            ),
            false => (
                self.landing.memory.virtual_address + slice.offset,
                self.landing_token,
            ),
        };
        Sge {
            address,
            length: slice.length,
            token,
        }
    }

    /// A byte of what is registered to receive into.
    pub(super) fn landing_element(&self) -> Sge {
        Sge {
            address: self.landing.memory.virtual_address,
            length: 1,
            token: self.landing_token,
        }
    }

    /// What the peer names to write to a place.
    pub(super) fn landing_remote(&self, slice: &Slice) -> (u64, RemoteToken) {
        let address = self.landing.memory.virtual_address + slice.offset;
        (address, RemoteToken::from_engine(self.landing_token.0))
    }

    /// The arena of a place.
    pub(super) fn arena(&mut self, slice: &Slice) -> &mut Arena {
        match slice.privileged {
            true => &mut self.landing_privileged,
            false => &mut self.landing,
        }
    }

    /// Whether one more fast-registered region is wanted.
    pub(super) fn has_room_for_fast(&self) -> bool {
        self.fast < MAX_FAST
    }

    /// All memories, to look at their guards.
    pub(super) fn memories(&self) -> [&HostMemory; 4] {
        [
            &self.source,
            &self.source_privileged,
            &self.landing.memory,
            &self.landing_privileged.memory,
        ]
    }
}

fn make(nic: &mut Provider<AnyTarget>, place: usize, seed: u64) -> Result<Side, NdkError> {
    let pd = nic.create_pd()?;
    let cqs = (0..CQS)
        .map(|index| nic.create_cq(CQ_DEPTH, index as u64))
        .collect::<Result<Vec<Cq>, NdkError>>()?;
    let content = |salt: u64| {
        let pattern = Pattern::Random(seed.wrapping_mul(4).wrapping_add(salt + 2 * place as u64));
        bytes_of(&pattern, 0, SOURCE as usize)
    };
    let hal = nic.hal_mut();
    let memory = |hal: &mut AnyTarget, content: Vec<u8>, address, layout| {
        HostMemory::allocate(hal, place, content, address, 0, layout, seed)
    };
    let source = memory(hal, content(0), SOURCE_ADDRESS, Pages::Scattered)?;
    let source_privileged = memory(hal, content(1), 0, Pages::Contiguous)?;
    let landing = memory(hal, vec![EMPTY; LANDING], LANDING_ADDRESS, Pages::Scattered)?;
    let landing_privileged = memory(hal, vec![EMPTY; LANDING_PRIVILEGED], 0, Pages::Contiguous)?;
    let (source_mr, source_token) = register(nic, pd, &source, MrFlags::ALLOW_REMOTE_READ)?;
    let (landing_mr, landing_token) = register(nic, pd, &landing, MrFlags::ALLOW_REMOTE_WRITE)?;
    let privileged = nic.privileged_memory_region_token(pd)?;
    Ok(Side {
        place,
        pd,
        cqs,
        source,
        source_token,
        source_mr,
        source_privileged,
        privileged,
        landing: Arena::new(landing),
        landing_token,
        landing_mr,
        landing_privileged: Arena::new(landing_privileged),
        fast: 0,
        shared: Vec::new(),
    })
}

fn register<H: Hal>(
    nic: &mut Provider<H>,
    pd: Pd,
    memory: &HostMemory,
    flags: MrFlags,
) -> Result<(Mr, LocalToken), NdkError> {
    let mr = nic.create_mr(pd, MrUse::Register)?;
    nic.register_mr(mr, &[memory.mdl(0, memory.bytes())], memory.bytes(), flags)?;
    Ok((mr, nic.local_token_from_mr(mr)?))
}
