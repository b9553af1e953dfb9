//! Engines with a fault, to see that the invariants find it: each wraps the golden engine so that what the
//! world sees is what an engine with that fault would do. The invariants know nothing of it.

use tandem_model::abi::{CQE, Record, SQ_WQE, WqeOpcode};

use super::map::{LANDING, PAGE, SLOT};

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Mutation {
    /// Acknowledges leave without waiting for the payload that they cover.
    AckBeforeData,
    /// Completion entries are written without waiting for the payload.
    CompletionBeforeData,
    /// Reads retire as soon as their last response has come, placed or not.
    RetireBeforeData,
    /// The fence bit of requests is not looked at.
    FenceIgnored,
    /// A send that comes once more is executed once more.
    DuplicateExecuted,
    /// Tokens stay valid.
    InvalidationForgotten,
    /// An old key byte does as well as that of now.
    KeyIgnored,
    /// An Invalidate is told of without waiting for reads of payload.
    InvalidateToldEarly,
    /// A window has more bytes than were asked for.
    WindowTooLong,
    /// A window has all rights.
    WindowRightsIgnored,
    /// A region is registered before its page list has come.
    RegisteredBeforeList,
    /// A shared receive queue hands each of its receives out twice.
    SharedReceiveTwice,
    /// The limit event comes at the limit, not below it.
    LimitEarly,
    /// A queue pair lets its shared receive queue go before the receive that it holds completes.
    LetGoEarly,
    /// A completion entry waits until the next one has been written.
    CompletionsSwapped,
    /// The acknowledgement timer never ends.
    NoTimeout,
}

impl Mutation {
    /// All.
    pub const ALL: [Self; 16] = [
        Self::AckBeforeData,
        Self::CompletionBeforeData,
        Self::RetireBeforeData,
        Self::FenceIgnored,
        Self::DuplicateExecuted,
        Self::InvalidationForgotten,
        Self::KeyIgnored,
        Self::InvalidateToldEarly,
        Self::WindowTooLong,
        Self::WindowRightsIgnored,
        Self::RegisteredBeforeList,
        Self::SharedReceiveTwice,
        Self::LimitEarly,
        Self::LetGoEarly,
        Self::CompletionsSwapped,
        Self::NoTimeout,
    ];

    /// What the engine takes a fetched request for.
    pub(super) fn fetched(mutation: Option<Self>, entry: &mut [u8]) {
        let record = Record::from_bytes(&SQ_WQE, entry);
        let is_bind = record.get("opcode") == WqeOpcode::Bind as u128;
        let record = match mutation {
            Some(Self::FenceIgnored) => record.with("read_fence", 0u8),
            Some(Self::WindowTooLong) if is_bind => record.with("length", PAGE as u32 / 2),
            Some(Self::WindowRightsIgnored) if is_bind => {
                record.with("remote_read", 1u8).with("remote_write", 1u8)
            }
            _ => return,
        };
        entry.copy_from_slice(record.as_bytes());
    }

    /// The limit that the engine takes instead of one that is armed.
    pub(super) fn limit(mutation: Option<Self>, limit: u8) -> u16 {
        u16::from(limit) + u16::from(mutation == Some(Self::LimitEarly))
    }

    /// Where the engine puts payload instead.
    pub(super) fn scattered(mutation: Option<Self>, address: u64) -> u64 {
        let slot = SLOT as u64;
        let is_second =
            (LANDING..LANDING + PAGE).contains(&address) && (address - LANDING) / slot % 2 == 1;
        match mutation {
            Some(Self::SharedReceiveTwice) if is_second => address - slot,
            _ => address,
        }
    }

    /// What the engine writes instead of a completion entry.
    pub(super) fn completed(mutation: Option<Self>, entry: [u8; 32]) -> [u8; 32] {
        let record = Record::from_bytes(&CQE, &entry);
        if mutation != Some(Self::SharedReceiveTwice) || record.get("receive") == 0 {
            return entry;
        }
        let index = record.get("wqe_index") as u16;
        let record = record.with("wqe_index", index & !1);
        record.as_bytes().try_into().unwrap_or(entry)
    }
}
