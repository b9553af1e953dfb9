//! Reads that are remembered, for when the peer asks again (WIRE-DUP-3 to -6, -11).

use std::collections::VecDeque;

use crate::context::QpContext;
use crate::wire::{Psn, Reth};

/// A read as it was accepted.
#[derive(Clone, Copy, Debug, Hash)]
struct Accepted {
    /// PSN of its first response.
    psn: Psn,
    /// Responses.
    count: u32,
    reth: Reth,
}

impl Accepted {
    /// PSN of its last response.
    fn last(&self) -> Psn {
        self.psn + self.count.saturating_sub(1)
    }

    /// Whether a read is this one or a tail of it, beginning with one of its responses.
    fn contains(&self, psn: Psn, reth: &Reth, mtu: u32) -> bool {
        let skipped = psn.since(self.psn);
        let bytes = u64::from(skipped) * u64::from(mtu);
        skipped < self.count
            && reth.token == self.reth.token
            && reth.va == self.reth.va.wrapping_add(bytes)
            && u64::from(reth.length) + bytes == u64::from(self.reth.length)
    }
}

/// The last reads accepted, oldest first.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Remembered(VecDeque<Accepted>);

impl Remembered {
    /// A read of `count` responses was accepted; at most `limit` are remembered.
    pub fn push(&mut self, psn: Psn, count: u32, reth: Reth, limit: usize) {
        self.0.push_back(Accepted { psn, count, reth });
        while self.0.len() > limit {
            self.0.pop_front();
        }
    }

    /// Whether a duplicate read is one that is remembered, or a tail of it.
    pub fn contains(&self, psn: Psn, reth: &Reth, qp: &QpContext) -> bool {
        self.0.iter().any(|read| read.contains(psn, reth, qp.mtu))
    }

    /// Whether a read whose last response has this PSN is remembered.
    pub fn ends_at(&self, last: Psn) -> bool {
        self.0.iter().any(|read| read.last() == last)
    }
}
