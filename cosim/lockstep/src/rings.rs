//! Which fetches of work requests count.
//!
//! A fetch may run ahead of the decision that uses it, but not of the doorbell of its entry, nor of the latest go-back.
//! What was fetched before either is never used, and lies at the same addresses as what is fetched anew: after a
//! go-back, and when a queue pair begins anew on its old rings. So of each ring it is remembered since when a fetch
//! counts: since the first doorbell after `QpInit`, or the latest go-back.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use tandem_model::abi::{CommitKind, QpState, RxResult, Table};
use tandem_model::engine::{Action, Engine, ReadChannel};

use super::ReadBurst;

/// Responses after which sending goes back.
const GOES_BACK: [u8; 2] = [RxResult::GoBack as u8, RxResult::RnrWait as u8];

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Rings {
    /// By channel and first byte; they do not overlap.
    since: BTreeMap<(u8, u64), Since>,
    /// Queues whose doorbell was rung since `QpInit`: queue pair, channel.
    rung: HashSet<(u32, u8)>,
}

#[derive(Debug)]
struct Since {
    end: u64,
    clock: u64,
}

impl Rings {
    /// Takes note of an action that the model has applied; returns the channel on which fetches from before it may not
    /// count any more.
    pub(super) fn applied(
        &mut self,
        action: &Action,
        clock: u64,
        engine: &Engine,
    ) -> Option<ReadChannel> {
        use ReadChannel::{RqFetch, SqFetch};
        let qpn = action.qpn;
        let state = engine.qp_state(qpn);
        let channel = match action.kind {
            CommitKind::Context => {
                let begins = action.cause == Table::Qp as u8 && state == Some(QpState::Init);
                if begins {
                    self.rung.retain(|(rung, _)| *rung != qpn);
                }
                return None;
            }
            // In `QpReset` it has no effect.
            CommitKind::SqDoorbell if state != Some(QpState::Reset) => self.rung(qpn, SqFetch)?,
            CommitKind::RqDoorbell if state != Some(QpState::Reset) => self.rung(qpn, RqFetch)?,
            CommitKind::RxResponse if GOES_BACK.contains(&action.cause) => SqFetch,
            CommitKind::Timeout => SqFetch,
            _ => return None,
        };
        self.from(channel as u8, &engine.ring(qpn, channel)?, clock);
        Some(channel)
    }

    /// The doorbell of a queue; returns its channel if it is the first one since `QpInit`.
    fn rung(&mut self, qpn: u32, channel: ReadChannel) -> Option<ReadChannel> {
        self.rung.insert((qpn, channel as u8)).then_some(channel)
    }

    /// Of a ring only counts what is asked for from this clock on.
    fn from(&mut self, channel: u8, ring: &Range<u64>, clock: u64) {
        // Memory of other rings that is used again.
        self.since.retain(|(of, start), since| {
            *of != channel || *start >= ring.end || since.end <= ring.start
        });
        let end = ring.end;
        self.since
            .insert((channel, ring.start), Since { end, clock });
    }

    /// Whether a fetch counts.
    pub(super) fn counts(&self, burst: &ReadBurst) -> bool {
        let before = self.since.range(..=(burst.id, burst.address)).next_back();
        before.is_none_or(|((channel, _), since)| {
            *channel != burst.id || burst.address >= since.end || burst.asked >= since.clock
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(id: u8, address: u64, asked: u64) -> ReadBurst {
        ReadBurst {
            id,
            address,
            bytes: vec![0; 64],
            error: false,
            asked,
        }
    }

    #[test]
    fn what_was_asked_for_before_does_not_count_in_the_ring() {
        let mut rings = Rings::default();
        assert!(rings.counts(&burst(0, 0x1040, 5)));
        rings.from(0, &(0x1000..0x1100), 10);
        assert!(!rings.counts(&burst(0, 0x1000, 9)));
        assert!(!rings.counts(&burst(0, 0x10C0, 9)));
        assert!(rings.counts(&burst(0, 0x10C0, 10)));
        // Beside the ring, and on another channel.
        assert!(rings.counts(&burst(0, 0xFC0, 9)));
        assert!(rings.counts(&burst(0, 0x1100, 9)));
        assert!(rings.counts(&burst(1, 0x1040, 9)));
    }

    #[test]
    fn a_ring_takes_the_place_of_those_whose_memory_it_has() {
        let mut rings = Rings::default();
        rings.from(0, &(0x1000..0x2000), 10);
        rings.from(0, &(0x1800..0x1900), 20);
        assert!(!rings.counts(&burst(0, 0x1800, 15)));
        assert!(rings.counts(&burst(0, 0x1000, 5)));
    }

    #[test]
    fn the_first_doorbell_of_each_life_and_queue_is_told() {
        use ReadChannel::{RqFetch, SqFetch};
        let mut rings = Rings::default();
        assert_eq!(rings.rung(2, SqFetch), Some(SqFetch));
        assert_eq!(rings.rung(2, RqFetch), Some(RqFetch));
        assert_eq!(rings.rung(3, SqFetch), Some(SqFetch));
        assert_eq!(rings.rung(2, SqFetch), None);
    }
}
