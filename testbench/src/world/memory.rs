//! Host memory of a vector: virtually contiguous bytes on pages that need not be, with guards around them.

use rand::seq::SliceRandom;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tandem_model::hal::{Hal, HalError};
use tandem_model::ndk::{Mdl, PAGE_SIZE};

use crate::vector::object::Pages;
use crate::vector::value::Pattern;

/// Byte that fills what nobody may write.
const GUARD: u8 = 0xA5;

/// The first `length` bytes of a pattern, `from` bytes into it.
pub fn bytes_of(pattern: &Pattern, from: u64, length: usize) -> Vec<u8> {
    match pattern {
        Pattern::Zero => vec![0; length],
        Pattern::Byte(byte) => vec![*byte; length],
        Pattern::Counter => (from..).map(|i| (i % 251) as u8).take(length).collect(),
        Pattern::Random(seed) => {
            let mut bytes = vec![0; from as usize + length];
            ChaCha8Rng::seed_from_u64(*seed).fill_bytes(&mut bytes);
            bytes.split_off(from as usize)
        }
        Pattern::Hex(hex) if hex.0.is_empty() => vec![0; length],
        Pattern::Hex(hex) => {
            let skip = from as usize % hex.0.len();
            hex.0
                .iter()
                .copied()
                .cycle()
                .skip(skip)
                .take(length)
                .collect()
        }
    }
}

/// A memory.
#[derive(Clone, Debug)]
pub struct HostMemory {
    /// Place of its node.
    pub node: usize,
    /// Address by which regions know its first byte.
    pub virtual_address: u64,
    page_offset: u64,
    pages: Vec<u64>,
    /// What the processor wrote last.
    shadow: Vec<u8>,
    /// Ranges that nobody may write.
    guards: Vec<(u64, usize)>,
}

impl HostMemory {
    /// Takes memory from an adapter, and fills it and its guards.
    ///
    /// # Errors
    /// If there is none left.
    pub fn allocate<H: Hal>(
        hal: &mut H,
        node: usize,
        content: Vec<u8>,
        virtual_address: u64,
        page_offset: u32,
        layout: Pages,
        seed: u64,
    ) -> Result<Self, HalError> {
        let length = content.len() as u64;
        let page_offset = u64::from(page_offset);
        let count = (page_offset + length).div_ceil(PAGE_SIZE);
        let spread = match layout {
            Pages::Contiguous => 1,
            Pages::Reversed | Pages::Scattered => 2,
        };
        // A page of nobody before, behind, and maybe between.
        let total = count * spread + 1 + u64::from(spread == 1);
        let base = hal.allocate((total * PAGE_SIZE) as usize, PAGE_SIZE)?;
        hal.write_memory(base, &vec![GUARD; (total * PAGE_SIZE) as usize])?;
        let mut pages: Vec<u64> = (0..count)
            .map(|i| base + (1 + i * spread) * PAGE_SIZE)
            .collect();
        match layout {
            Pages::Contiguous => {}
            Pages::Reversed => pages.reverse(),
            Pages::Scattered => pages.shuffle(&mut ChaCha8Rng::seed_from_u64(seed)),
        }
        let all = (0..total).map(|i| base + i * PAGE_SIZE);
        let mut guards: Vec<(u64, usize)> = all
            .filter(|page| !pages.contains(page))
            .map(|page| (page, PAGE_SIZE as usize))
            .collect();
        if let Some(first) = pages.first() {
            guards.push((*first, page_offset as usize));
        }
        if let Some(last) = pages.last() {
            let used = (page_offset + length - 1) % PAGE_SIZE + 1;
            guards.push((last + used, (PAGE_SIZE - used) as usize));
        }
        let mut memory = Self {
            node,
            virtual_address,
            page_offset,
            pages,
            shadow: content.clone(),
            guards,
        };
        memory.write(hal, 0, &content)?;
        Ok(memory)
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.shadow.len() as u64
    }

    /// Logical address of a byte; beyond the end as if the last page went on.
    pub fn logical(&self, offset: u64) -> u64 {
        let place = self.page_offset.wrapping_add(offset);
        let index = (place / PAGE_SIZE).min(self.pages.len().saturating_sub(1) as u64);
        let page = self.pages.get(index as usize).copied().unwrap_or(0);
        page.wrapping_add(place.wrapping_sub(index * PAGE_SIZE))
    }

    /// Whether a range is contiguous in logical space.
    pub fn contiguous(&self, offset: u64, length: u64) -> bool {
        let first = (self.page_offset + offset) / PAGE_SIZE;
        let last = (self.page_offset + offset + length.max(1) - 1) / PAGE_SIZE;
        let range = self.pages.get(first as usize..=last as usize);
        range.is_none_or(|pages| pages.windows(2).all(|pair| pair[1] == pair[0] + PAGE_SIZE))
    }

    /// The memory descriptor of a range.
    pub fn mdl(&self, offset: u64, length: u64) -> Mdl {
        let place = self.page_offset + offset;
        let (first, within) = (place / PAGE_SIZE, place % PAGE_SIZE);
        let count = (within + length).div_ceil(PAGE_SIZE);
        Mdl {
            virtual_address: self.virtual_address.wrapping_add(offset),
            byte_offset: within as u32,
            byte_count: length as u32,
            pages: self
                .pages
                .iter()
                .skip(first as usize)
                .take(count as usize)
                .copied()
                .collect(),
        }
    }

    /// Pieces of a range that lie in one page: logical address, offset, length.
    fn pieces(&self, offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> + '_ {
        let mut done = 0;
        std::iter::from_fn(move || {
            (done < length).then(|| {
                let place = self.page_offset + offset + done as u64;
                let left = (PAGE_SIZE - place % PAGE_SIZE) as usize;
                let piece = left.min(length - done);
                let at = (self.logical(offset + done as u64), done, piece);
                done += piece;
                at
            })
        })
    }

    /// Reads a range.
    ///
    /// # Errors
    /// If the adapter's memory cannot be read.
    pub fn read<H: Hal>(
        &self,
        hal: &mut H,
        offset: u64,
        length: usize,
    ) -> Result<Vec<u8>, HalError> {
        let mut bytes = vec![0; length];
        for (address, at, piece) in self.pieces(offset, length) {
            if let Some(part) = bytes.get_mut(at..at + piece) {
                hal.read_memory(address, part)?;
            }
        }
        Ok(bytes)
    }

    /// Writes a range, as the processor does.
    ///
    /// # Errors
    /// If the adapter's memory cannot be written.
    pub fn write<H: Hal>(
        &mut self,
        hal: &mut H,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), HalError> {
        for (address, at, piece) in self.pieces(offset, bytes.len()) {
            if let Some(part) = bytes.get(at..at + piece) {
                hal.write_memory(address, part)?;
            }
        }
        let start = offset as usize;
        if let Some(shadow) = self.shadow.get_mut(start..start + bytes.len()) {
            shadow.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// What the processor wrote last in a range.
    pub fn shadow(&self, offset: u64, length: usize) -> &[u8] {
        let start = offset as usize;
        self.shadow.get(start..start + length).unwrap_or_default()
    }

    /// The first byte around the memory that was written, if one was: its logical address.
    ///
    /// # Errors
    /// If the adapter's memory cannot be read.
    pub fn broken_guard<H: Hal>(&self, hal: &mut H) -> Result<Option<u64>, HalError> {
        for (address, length) in &self.guards {
            let mut bytes = vec![0; *length];
            hal.read_memory(*address, &mut bytes)?;
            if let Some(at) = bytes.iter().position(|byte| *byte != GUARD) {
                return Ok(Some(address + at as u64));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_model::engine::Config;
    use tandem_model::target::{ModelTarget, Scheduler};

    fn target() -> ModelTarget {
        ModelTarget::new(Config::default(), Scheduler::Fair)
    }

    #[test]
    fn bytes_find_their_pages_in_any_order() {
        for layout in [Pages::Contiguous, Pages::Reversed, Pages::Scattered] {
            let mut hal = target();
            let content = bytes_of(&Pattern::Counter, 0, 20_000);
            let va = 0x7000_0000_0123;
            let memory =
                HostMemory::allocate(&mut hal, 0, content.clone(), va, 0x123, layout, 7).unwrap();
            assert_eq!(memory.read(&mut hal, 0, 20_000).unwrap(), content);
            assert_eq!(
                memory.read(&mut hal, 4000, 300).unwrap(),
                content[4000..4300]
            );
            assert_eq!(memory.broken_guard(&mut hal).unwrap(), None);
            assert_eq!(memory.contiguous(0, 20_000), layout == Pages::Contiguous);
            let mdl = memory.mdl(5000, 10_000);
            assert_eq!((mdl.byte_offset, mdl.pages.len()), (0x123 + 5000 - 4096, 3));
            assert_eq!(
                mdl.pages[0] + u64::from(mdl.byte_offset),
                memory.logical(5000)
            );
        }
    }

    #[test]
    fn a_byte_outside_breaks_the_guard() {
        let mut hal = target();
        let memory =
            HostMemory::allocate(&mut hal, 0, vec![0; 10], 0, 8, Pages::Contiguous, 0).unwrap();
        let behind = memory.logical(10);
        hal.write_memory(behind, &[0]).unwrap();
        assert_eq!(memory.broken_guard(&mut hal).unwrap(), Some(behind));
    }

    #[test]
    fn patterns_go_on_from_anywhere() {
        for pattern in [
            Pattern::Counter,
            Pattern::Random(3),
            Pattern::Hex(crate::vector::value::HexBytes(vec![1, 2, 3])),
        ] {
            let whole = bytes_of(&pattern, 0, 600);
            assert_eq!(bytes_of(&pattern, 77, 100), whole[77..177]);
        }
    }
}
