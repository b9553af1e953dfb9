//! Engines with a fault, to see that the invariants find it: each wraps the golden engine so that what the
//! world sees is what an engine with that fault would do. The invariants know nothing of it.

use tandem_model::abi::{Record, SQ_WQE};
use tandem_model::wire::{Bth, Frame, Psn};

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
    /// A completion entry waits until the next one has been written.
    CompletionsSwapped,
    /// The acknowledgement timer never ends.
    NoTimeout,
}

impl Mutation {
    /// All.
    pub const ALL: [Self; 8] = [
        Self::AckBeforeData,
        Self::CompletionBeforeData,
        Self::RetireBeforeData,
        Self::FenceIgnored,
        Self::DuplicateExecuted,
        Self::InvalidationForgotten,
        Self::CompletionsSwapped,
        Self::NoTimeout,
    ];

    /// What the engine takes a fetched request for.
    pub(super) fn fetched(mutation: Option<Self>, entry: &mut [u8]) {
        if mutation == Some(Self::FenceIgnored) {
            let record = Record::from_bytes(&SQ_WQE, entry).with("read_fence", 0u8);
            entry.copy_from_slice(record.as_bytes());
        }
    }
}

/// The same frame with another PSN.
pub(super) fn renumbered(bytes: &[u8], psn: Psn) -> Option<Vec<u8>> {
    let frame = Frame::parse(bytes).ok()?;
    let mut changed = Vec::new();
    let bth = Bth { psn, ..frame.bth };
    Frame { bth, ..frame }.emit(&mut changed);
    Some(changed)
}
