//! Ranges of the engine's page table, and rings in host memory.

use std::collections::BTreeMap;

use crate::hal::{Hal, HalError};

/// First-fit allocator of entries of the page table.
pub(super) struct PageTable {
    /// Free ranges: first entry to length; never adjacent to one another.
    free: BTreeMap<u32, u32>,
}

impl PageTable {
    pub(super) fn new(entries: u32) -> Self {
        Self {
            free: BTreeMap::from([(0, entries)]),
        }
    }

    /// The first of `count` consecutive entries, if there are so many.
    pub(super) fn allocate(&mut self, count: u32) -> Option<u32> {
        let (first, length) = self
            .free
            .iter()
            .map(|(first, length)| (*first, *length))
            .find(|(_, length)| *length >= count)?;
        self.free.remove(&first);
        if length > count {
            self.free.insert(first + count, length - count);
        }
        Some(first)
    }

    /// Gives back what [`PageTable::allocate`] gave.
    pub(super) fn release(&mut self, first: u32, count: u32) {
        let mut first = first;
        let mut count = count;
        if let Some((&before, &length)) = self.free.range(..first).next_back()
            && before + length == first
        {
            first = before;
            count += length;
        }
        if let Some(length) = self.free.remove(&(first + count)) {
            count += length;
        }
        self.free.insert(first, count);
    }
}

/// Rings of closed queues, by size: host memory is never returned to the [`Hal`].
#[derive(Default)]
pub(super) struct RingPool {
    free: BTreeMap<usize, Vec<u64>>,
}

impl RingPool {
    /// A zeroed ring of `bytes` (a power of two), aligned to its size.
    pub(super) fn take<H: Hal>(&mut self, hal: &mut H, bytes: usize) -> Result<u64, HalError> {
        match self.free.get_mut(&bytes).and_then(Vec::pop) {
            Some(address) => {
                hal.write_memory(address, &vec![0; bytes])?;
                Ok(address)
            }
            None => hal.allocate(bytes, bytes as u64),
        }
    }

    /// Takes a ring back that the engine uses no more.
    pub(super) fn give(&mut self, address: u64, bytes: usize) {
        self.free.entry(bytes).or_default().push(address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_ranges_grow_together() {
        let mut table = PageTable::new(64);
        let ranges: Vec<u32> = (0..4).filter_map(|_| table.allocate(16)).collect();
        assert_eq!(ranges, [0, 16, 32, 48]);
        assert_eq!(table.allocate(1), None);
        table.release(16, 16);
        table.release(48, 16);
        assert_eq!(table.allocate(17), None, "two holes of 16");
        table.release(32, 16);
        assert_eq!(table.allocate(48), Some(16));
        table.release(0, 16);
        table.release(16, 48);
        assert_eq!(table.free, BTreeMap::from([(0, 64)]));
    }
}
