//! Places for what arrives: pieces of a memory, each with a guard on both sides.

use std::collections::BTreeMap;

use tandem_model::hal::{Hal, HalError};

use crate::world::HostMemory;

/// What stands where nothing has arrived.
pub(super) const EMPTY: u8 = 0x5A;
/// Guard bytes on each side of a piece, at least.
pub(super) const MARGIN: u64 = 8;

/// A piece of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// Whether it is in the arena without registration.
    pub(super) privileged: bool,
    /// First byte.
    pub(super) offset: u64,
    /// Bytes.
    pub(super) length: u32,
    /// Bytes left out before it, so that addresses are odd.
    skew: u64,
    /// Whether it is a part of another piece, and is given back with that one.
    lent: bool,
}

impl Slice {
    /// A part of it.
    pub(super) fn part(&self, from: u32, length: u32) -> Self {
        Self {
            privileged: self.privileged,
            offset: self.offset + u64::from(from),
            length,
            skew: 0,
            lent: true,
        }
    }
}

/// A memory, and which parts of it are free.
pub(super) struct Arena {
    pub(super) memory: HostMemory,
    free: BTreeMap<u64, u64>,
}

impl Arena {
    /// All of a memory that was filled with [`EMPTY`].
    pub(super) fn new(memory: HostMemory) -> Self {
        let length = memory.bytes();
        Self {
            memory,
            free: BTreeMap::from([(0, length)]),
        }
    }

    /// Takes a piece, `skew` bytes further than need be so that addresses are odd.
    pub(super) fn take(&mut self, length: u32, skew: u64, privileged: bool) -> Option<Slice> {
        let needed = u64::from(length) + 2 * MARGIN + skew;
        let (start, size) = self
            .free
            .iter()
            .find(|(_, size)| **size >= needed)
            .map(|(start, size)| (*start, *size))?;
        self.free.remove(&start);
        if size > needed {
            self.free.insert(start + needed, size - needed);
        }
        Some(Slice {
            privileged,
            offset: start + MARGIN + skew,
            length,
            skew,
            lent: false,
        })
    }

    /// Empties a piece and gives it back; of a part of a piece it leaves both to that one.
    pub(super) fn give<H: Hal>(&mut self, hal: &mut H, slice: &Slice) -> Result<(), HalError> {
        if slice.lent {
            return Ok(());
        }
        let empty = vec![EMPTY; slice.length as usize];
        self.memory.write(hal, slice.offset, &empty)?;
        let mut start = slice.offset - MARGIN - slice.skew;
        let mut size = u64::from(slice.length) + 2 * MARGIN + slice.skew;
        let before = self.free.range(..start).next_back();
        if let Some((before, its)) = before.map(|(before, its)| (*before, *its))
            && before + its == start
        {
            self.free.remove(&before);
            start = before;
            size += its;
        }
        if let Some(its) = self.free.remove(&(start + size)) {
            size += its;
        }
        self.free.insert(start, size);
        Ok(())
    }

    /// Whether the guards of a piece are as they were.
    pub(super) fn intact<H: Hal>(&self, hal: &mut H, slice: &Slice) -> Result<bool, HalError> {
        let before = self
            .memory
            .read(hal, slice.offset - MARGIN, MARGIN as usize)?;
        let behind = slice.offset + u64::from(slice.length);
        let behind = self.memory.read(hal, behind, MARGIN as usize)?;
        Ok(before.iter().chain(&behind).all(|byte| *byte == EMPTY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::object::Pages;
    use tandem_model::engine::Config;
    use tandem_model::target::{ModelTarget, Scheduler};

    #[test]
    fn pieces_come_back_together() {
        let mut hal = ModelTarget::new(Config::default(), Scheduler::Fair);
        let content = vec![EMPTY; 10_000];
        let memory =
            HostMemory::allocate(&mut hal, 0, content, 0, 0, Pages::Contiguous, 0).unwrap();
        let mut arena = Arena::new(memory);
        let slices: Vec<Slice> = (0..20)
            .map(|i| arena.take(100 * i, u64::from(i) % 4, false))
            .map_while(|slice| slice)
            .collect();
        assert!(slices.len() > 10 && arena.take(9000, 0, false).is_none());
        for slice in slices
            .iter()
            .step_by(2)
            .chain(slices.iter().skip(1).step_by(2))
        {
            assert!(arena.intact(&mut hal, slice).unwrap());
            arena.give(&mut hal, slice).unwrap();
        }
        assert_eq!(
            arena.take(9_984, 0, false).map(|slice| slice.offset),
            Some(8)
        );
    }
}
