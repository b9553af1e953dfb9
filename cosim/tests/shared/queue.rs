//! A shared receive queue as its driver sees it.

use tandem_model::abi::{Record, SRQ_CONTEXT, Table, regs};
use tandem_model::hal::Hal;

use super::card::{Card, Result};

/// log2 of the entries that a ring has at most.
pub const LOG: u8 = 6;

/// See the module.
#[derive(Debug)]
pub struct Queue {
    pub number: u16,
    /// Whether its entry in the table is valid.
    pub valid: bool,
    pub log: u8,
    base: u64,
    producer: u16,
    /// Receives that are posted, or taken and not completed; also of lives before, as these may still complete.
    pub outstanding: u32,
}

impl Queue {
    /// A queue with a ring, written nowhere yet.
    pub fn new(card: &mut Card, number: u16) -> Self {
        Self {
            number,
            valid: false,
            log: 0,
            base: card.room(64 << LOG),
            producer: 0,
            outstanding: 0,
        }
    }

    /// Writes its entry, which makes it empty.
    pub fn write(&mut self, card: &mut Card, valid: bool, log: u8) -> Result {
        self.valid = valid;
        self.log = log;
        self.producer = 0;
        let entry = Record::new(&SRQ_CONTEXT)
            .with("valid", valid)
            .with("log_size", log)
            .with("base", self.base);
        card.command(Table::Srq, self.number.into(), 0, entry.as_bytes())
    }

    /// Whether there is a place in the ring that no receive is in.
    pub fn has_room(&self) -> bool {
        self.valid && self.outstanding < 1 << self.log
    }

    /// Puts a receive into the ring; [`Queue::ring`] tells the engine.
    pub fn place(&mut self, card: &mut Card, entry: &[u8]) -> Result {
        let slot = u64::from(self.producer) & ((1 << self.log) - 1);
        self.producer = self.producer.wrapping_add(1);
        self.outstanding += 1;
        card.target.write_memory(self.base + slot * 64, entry)
    }

    /// Rings its doorbell.
    pub fn ring(&self, card: &mut Card) -> Result {
        let value = u32::from(self.number) << 16 | u32::from(self.producer);
        card.target.write_register(regs::DbSrq::OFFSET, value)
    }

    /// Arms its limit.
    pub fn arm(&self, card: &mut Card, limit: u16) -> Result {
        let value = u32::from(self.number) << 16 | u32::from(limit);
        card.target.write_register(regs::DbSrqLimit::OFFSET, value)
    }
}
