//! Meetings: how the two ends of a link come to a connection through connection management.

use proptest::collection::vec;
use proptest::prelude::*;

use super::moves::{Effect, Frames, Rule};

/// Most private data of a request, a reply and a reject.
const ASKED: u32 = 56;
const ANSWERED: u32 = 196;
const REJECTED: u32 = 148;
/// Reads at once that a side may ask for, and those that an adapter has.
const READS: u32 = 16;
const ADAPTER: u32 = 4;
/// Thousandths of frames that may be lost while a connection is made or ended: its messages are sent sixteen times.
pub(super) const BEARABLE: u32 = 250;

/// Reads at once that a side wants: of the peer here, to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reads {
    pub(super) inbound: u32,
    pub(super) outbound: u32,
}

impl Reads {
    /// What comes of them at the other side.
    pub(super) fn turned(self) -> Self {
        Self {
            inbound: self.outbound.min(ADAPTER),
            outbound: self.inbound.min(ADAPTER),
        }
    }

    /// What is left of a side's wishes after those of its peer.
    pub(super) fn agreed(self, peer: Self) -> Self {
        let peer = peer.turned();
        Self {
            inbound: self.inbound.min(peer.inbound),
            outbound: self.outbound.min(peer.outbound),
        }
    }
}

/// Why a connection is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nobody listens at the port.
    Nobody,
    /// The side that was asked rejects, with so much private data.
    Asked(u32),
    /// The side that asked rejects the reply.
    Answered(u32),
    /// The side that asked closes its connector before there is a reply.
    GivenUp,
}

/// How a connection is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meeting {
    /// The side that asks.
    pub(super) asker: usize,
    /// Bytes of private data: of the request, of the reply.
    pub(super) asked: u32,
    pub(super) answered: u32,
    /// What each side wants.
    pub(super) reads: [Reads; 2],
    /// Whether each side wants to be told of the end.
    pub(super) events: [bool; 2],
    /// Attempts that come to nothing before.
    pub(super) refusals: Vec<Refusal>,
}

fn reads() -> impl Strategy<Value = Reads> {
    let limit = || prop_oneof![3 => 1u32..=4, 1 => 1..=READS];
    (limit(), limit()).prop_map(|(inbound, outbound)| Reads { inbound, outbound })
}

/// Bytes of private data: none, as many as there is room for, or some.
fn bytes(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0), 1 => Just(most), 3 => 1..=most]
}

fn refusals() -> impl Strategy<Value = Refusal> {
    prop_oneof![
        1 => Just(Refusal::Nobody),
        2 => bytes(REJECTED).prop_map(Refusal::Asked),
        2 => bytes(REJECTED).prop_map(Refusal::Answered),
        1 => Just(Refusal::GivenUp),
    ]
}

/// Meetings.
pub(super) fn meetings() -> BoxedStrategy<Meeting> {
    (
        0usize..2,
        bytes(ASKED),
        bytes(ANSWERED),
        [reads(), reads()],
        [
            prop::bool::weighted(0.8).boxed(),
            prop::bool::weighted(0.8).boxed(),
        ],
        prop_oneof![3 => Just(Vec::new()).boxed(), 1 => vec(refusals(), 1..=2).boxed()],
    )
        .prop_map(
            |(asker, asked, answered, reads, events, refusals)| Meeting {
                asker,
                asked,
                answered,
                reads,
                events,
                refusals,
            },
        )
        .boxed()
}

/// What happens to a single frame while the first connections are made, one of address resolution maybe. Questions for
/// several addresses wait for each other, so that a second loss may leave the last of them no time.
pub(super) fn fates(nodes: usize) -> BoxedStrategy<Vec<Rule>> {
    let effects = prop_oneof![
        3 => Just(Effect::Drop),
        1 => (1u32..=2).prop_map(Effect::Duplicate),
        1 => (1u32..=3).prop_map(Effect::Reorder),
        1 => Just(Effect::Corrupt),
        1 => (50u32..3000).prop_map(|clocks| Effect::Delay { clocks, jitter: 0, overtake: true }),
    ];
    let way = (0..nodes, 1..nodes).prop_map(move |(from, step)| [from, (from + step) % nodes]);
    let fate = (way, effects, 1u32..=6).prop_map(|([from, to], effect, nth)| Rule {
        from: Some(from),
        to: Some(to),
        of: "all",
        effect,
        frames: Frames::Nth(nth),
    });
    prop_oneof![1 => Just(Vec::new()).boxed(), 1 => vec(fate, 1).boxed()].boxed()
}
