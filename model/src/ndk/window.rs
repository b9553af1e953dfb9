//! The context window: how table entries reach the engine.

use crate::abi::{Record, Table};
use crate::hal::Hal;

use super::error::AdapterError;
use crate::abi::offsets as reg;

/// Reads of CTX_STATUS before a command counts as stuck.
pub(super) const PATIENCE: u32 = 100_000;

/// Pages that one command writes.
pub(super) const PAGES_PER_COMMAND: usize = 8;

/// Writes one whole entry and waits until it is in the table.
pub(super) fn write_entry<H: Hal>(
    hal: &mut H,
    table: Table,
    index: u32,
    entry: &Record,
) -> Result<(), AdapterError> {
    command(hal, table as u32, index, entry.as_bytes())
}

/// Writes page addresses from `first` on, eight a command (the last command maybe fewer).
pub(super) fn write_pages<H: Hal>(
    hal: &mut H,
    first: u32,
    pages: &[u64],
) -> Result<(), AdapterError> {
    let mut index = first;
    for chunk in pages.chunks(PAGES_PER_COMMAND) {
        let bytes: Vec<u8> = chunk.iter().flat_map(|page| page.to_le_bytes()).collect();
        let count = chunk.len() as u32;
        command(hal, Table::Page as u32 | count << 4, index, &bytes)?;
        index += count;
    }
    Ok(())
}

/// Waiting for the end keeps two orders: the staged words are free for the next command, and a
/// doorbell rung afterwards finds the entry in the table.
fn command<H: Hal>(
    hal: &mut H,
    command: u32,
    index: u32,
    bytes: &[u8],
) -> Result<(), AdapterError> {
    for (offset, word) in (reg::CTX_DATA..).step_by(4).zip(bytes.chunks(4)) {
        let mut value = [0; 4];
        value
            .iter_mut()
            .zip(word)
            .for_each(|(to, from)| *to = *from);
        hal.write_register(offset, u32::from_le_bytes(value))?;
    }
    hal.write_register(reg::CTX_INDEX, index)?;
    hal.write_register(reg::CTX_COMMAND, command)?;
    for _ in 0..PATIENCE {
        if hal.read_register(reg::CTX_STATUS)? & 1 == 0 {
            return Ok(());
        }
    }
    Err(AdapterError::ContextBusy {
        command,
        index,
        reads: PATIENCE,
    })
}
