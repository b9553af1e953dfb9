//! The ring of a completion queue as software sees it.

use tandem_model::abi::{CQE, Record, Table, regs};
use tandem_model::hal::{Hal, HalError, Target};

use super::card::{Card, Result};

/// Places of rings: two of them, used in turn.
const PLACES: usize = 2;
const BYTES: u64 = 32;
/// Clocks in which what was decided has to be in memory.
const CLOCKS: u32 = 20_000;

pub struct Ring {
    cq: u16,
    places: [u64; PLACES],
    place: usize,
    log: u8,
    next: u16,
}

impl Ring {
    pub fn new(card: &mut Card, cq: u16) -> Self {
        Self {
            cq,
            places: [card.room(4096), card.room(4096)],
            place: 0,
            log: 0,
            next: 0,
        }
    }

    /// Consumer index.
    pub fn consumer(&self) -> u32 {
        self.next.into()
    }

    fn entry(&self, card: &mut Card, index: u16) -> Result<Record> {
        let slot = u64::from(index) & ((1 << self.log) - 1);
        let mut bytes = vec![0; CQE.bytes()];
        let address = self.places[self.place] + slot * BYTES;
        card.target.read_memory(address, &mut bytes)?;
        Ok(Record::from_bytes(&CQE, &bytes))
    }

    /// Whether the entry of an index is there.
    fn present(&self, card: &mut Card, index: u16) -> Result<bool> {
        let phase = u128::from(index >> self.log & 1 == 0);
        Ok(self.entry(card, index)?.get("phase") == phase)
    }

    /// Takes entries that are there, so many at most.
    pub fn consume(&mut self, card: &mut Card, most: u32) -> Result {
        for _ in 0..most {
            if !self.present(card, self.next)? {
                break;
            }
            self.next = self.next.wrapping_add(1);
        }
        Ok(())
    }

    /// Whether the ring is full: what comes next, or came, is lost.
    pub fn lost(&self, card: &mut Card) -> Result<bool> {
        let last = self.next.wrapping_add((1 << self.log) - 1);
        self.present(card, last)
    }

    /// An empty ring at the other place.
    fn clean(&mut self, card: &mut Card, log: u8) -> Result {
        self.place = (self.place + 1) % PLACES;
        (self.log, self.next) = (log, 0);
        card.target
            .write_memory(self.places[self.place], &[0; 4096])
    }

    fn written(&self, entry: Record) -> Record {
        entry
            .with("log_size", self.log)
            .with("base", self.places[self.place])
    }

    /// Writes the queue: it begins anew.
    pub fn begin(&mut self, card: &mut Card, log: u8, entry: Record) -> Result {
        card.rest()?;
        self.clean(card, log)?;
        card.command(Table::Cq, self.cq.into(), 0, self.written(entry).as_bytes())
    }

    /// Exchanges the ring: all entries up to the switch come into the old one, and no other.
    pub fn exchange(&mut self, card: &mut Card, log: u8, entry: Record) -> Result {
        let old = Self { ..*self };
        self.clean(card, log)?;
        card.command(
            Table::CqRing,
            self.cq.into(),
            0,
            self.written(entry).as_bytes(),
        )?;
        let value = card.target.read_register(regs::CqSwitch::OFFSET)?;
        let switch = value as u16;
        let waiting = switch.wrapping_sub(old.next);
        if value > 0xFFFF || waiting > 1 << old.log {
            let cause = format!("switched at {value}, consumed up to {}", old.next);
            return Err(HalError::Stopped(cause));
        }
        for index in (0..waiting).map(|ahead| old.next.wrapping_add(ahead)) {
            let end = card.target.now() + u64::from(CLOCKS);
            while !old.present(card, index)? {
                if card.target.now() > end {
                    let cause = format!("entry {index} before the switch at {switch} is missing");
                    return Err(HalError::Stopped(cause));
                }
                card.target.advance(10)?;
            }
        }
        if waiting < 1 << old.log && old.present(card, switch)? {
            let cause = format!("entry {switch} came into the ring that was left before it");
            return Err(HalError::Stopped(cause));
        }
        Ok(())
    }
}
