//! The event ring.

use crate::abi::{EQE, EventKind};
use crate::engine::bits::field;

/// Bytes of an event entry.
pub(crate) const EVENT_BYTES: usize = EQE.bytes();

/// Event ring: where the next entry goes.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Events {
    /// log2 of the entries, as written to EQ_LOG.
    pub log: u8,
    /// Logical address of the ring.
    pub base: u64,
    /// Consumer index of the driver.
    pub consumer: u16,
    /// Index of the next entry.
    pub producer: u16,
}

impl Events {
    /// Whether the driver has entries to consume.
    pub fn pending(&self) -> bool {
        self.producer != self.consumer
    }

    /// Takes the next place of the ring: its address and the entry's bytes.
    pub fn push(&mut self, kind: EventKind, code: u8, number: u32) -> (u64, [u8; EVENT_BYTES]) {
        let index = u32::from(self.producer);
        let log = u32::from(self.log);
        let slot = u64::from(index & 1u32.checked_shl(log).map_or(u32::MAX, |size| size - 1));
        let phase = index.checked_shr(log).unwrap_or(0) & 1 ^ 1;
        self.producer = self.producer.wrapping_add(1);
        let mut entry = [0; EVENT_BYTES];
        field!(EQE, kind).put(&mut entry, kind as u64);
        field!(EQE, code).put(&mut entry, code.into());
        field!(EQE, number).put(&mut entry, number.into());
        field!(EQE, phase).put(&mut entry, phase.into());
        let address = self.base.wrapping_add(slot * EVENT_BYTES as u64);
        (address, entry)
    }
}
