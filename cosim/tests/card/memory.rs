//! Memory regions: one that allows everything, and others that each lack something.

use tandem_model::abi::{Record, TOKEN_CONTEXT, Table, TokenKind};

use super::{Card, PD, Result};

/// A region. Its pages lie in disorder.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub token: u32,
    pub base: u64,
    pub length: u64,
    kind: TokenKind,
    local_write: bool,
    remote_read: bool,
    remote_write: bool,
    pd: u16,
    /// Whether its token is written at all.
    exists: bool,
}

const GOOD: Region = Region {
    token: 0x155,
    base: 0x4_0000_0123,
    length: 0xF000,
    kind: TokenKind::Region,
    local_write: true,
    remote_read: true,
    remote_write: true,
    pd: PD,
    exists: true,
};

/// The first allows everything; the second can be invalidated as well.
pub const REGIONS: [Region; 8] = [
    GOOD,
    Region {
        token: 0x266,
        base: 0x5_0000_0000,
        length: 0x4000,
        kind: TokenKind::Fast,
        ..GOOD
    },
    Region {
        token: 0x377,
        base: 0x6_0000_0800,
        length: 0x4000,
        kind: TokenKind::Fast,
        local_write: false,
        remote_write: false,
        ..GOOD
    },
    Region {
        token: 0x488,
        base: 0x7_0000_0000,
        length: 0x4000,
        remote_read: false,
        remote_write: false,
        ..GOOD
    },
    Region {
        token: 0x599,
        base: 0x8_0000_0010,
        length: 0x4000,
        pd: PD + 1,
        ..GOOD
    },
    Region {
        token: 0x6AA,
        base: 0x9_0000_0000,
        length: 0x100,
        kind: TokenKind::Fast,
        remote_read: false,
        remote_write: false,
        ..GOOD
    },
    // The right index with a wrong key, and no entry at all.
    Region {
        token: 0x6AB,
        base: 0x9_0000_0000,
        length: 0x100,
        exists: false,
        ..GOOD
    },
    Region {
        token: 0xFFFF55,
        base: 0x1000,
        length: 0x1000,
        exists: false,
        ..GOOD
    },
];

/// Place of a region that can be invalidated.
pub const FAST: usize = 1;

/// Pages that each region has in the page table.
const PAGES: u32 = 16;
/// Pages that one command writes.
const AT_ONCE: u32 = 8;

/// The page of a region's page table entry, in disorder: a permutation, since the factor is odd.
fn place(entry: u32) -> u64 {
    u64::from(entry * 37 % (PAGES * REGIONS.len() as u32))
}

/// Writes the page table and the tokens; returns where the pages are.
pub fn set_up(card: &mut Card) -> Result<u64> {
    let entries = PAGES * REGIONS.len() as u32;
    let memory = card.room(4096 * u64::from(entries));
    for first in (0..entries).step_by(AT_ONCE as usize) {
        let pages = (first..first + AT_ONCE).map(|entry| memory + 4096 * place(entry));
        let bytes: Vec<u8> = pages.flat_map(u64::to_le_bytes).collect();
        card.command(Table::Page, first, AT_ONCE, &bytes)?;
    }
    for region in 0..REGIONS.len() {
        write(card, region, true)?;
    }
    Ok(memory)
}

/// Writes the token of a region, valid or not.
pub fn write(card: &mut Card, number: usize, valid: bool) -> Result {
    let region = &REGIONS[number];
    if !region.exists {
        return Ok(());
    }
    let entry = Record::new(&TOKEN_CONTEXT)
        .with("valid", valid)
        .with("kind", region.kind)
        .with("local_write", region.local_write)
        .with("remote_read", region.remote_read)
        .with("remote_write", region.remote_write)
        .with("key", region.token & 0xFF)
        .with("pd", region.pd)
        .with("first_page", PAGES * number as u32)
        .with("base_address", region.base)
        .with("length", region.length)
        .with("page_offset", region.base & 0xFFF);
    card.command(Table::Token, region.token >> 8, 0, entry.as_bytes())
}

/// The bytes of the first region from an offset on; `memory` is what [`set_up`] returned.
pub fn read(card: &mut Card, memory: u64, offset: u64, length: u64) -> Result<Vec<u8>> {
    use tandem_model::hal::Hal;
    let mut bytes = Vec::new();
    for at in offset..offset + length {
        let at = (GOOD.base & 0xFFF) + at;
        let address = memory + 4096 * place((at / 4096) as u32) + at % 4096;
        let mut byte = [0];
        card.target.read_memory(address, &mut byte)?;
        bytes.extend(byte);
    }
    Ok(bytes)
}
