//! Worlds: nodes with their memory, and links between queue pairs of two of them.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::meetings::{Meeting, fates, meetings};
use super::moves::Rule;

/// Bytes of the memory that a node sends from.
pub(super) const SOURCE: u32 = 0x4000;
/// Bytes of the memory that a node places into.
pub(super) const TARGET: u32 = 0x1_8000;
/// Regions of a node that can be invalidated, at the start of its target.
pub(super) const FAST: usize = 3;
/// Bytes of each.
pub(super) const FAST_BYTES: u32 = 0x400;
/// Regions of a node for FastRegister, and its windows.
pub(super) const REGISTERED: usize = 4;
pub(super) const WINDOWS: usize = 2;
/// Least code of the acknowledgement timer that never fires by itself.
const SOUND_TIMEOUT: u8 = 9;
/// Least count of go-backs that a few losses do not use up.
const SOUND_RETRY: u8 = 5;
/// Count of waits that has no end.
const RNR_ENDLESS: u8 = 7;
/// Room of a receive of a shared queue at least, and how many of them a node posts.
pub(super) const SHARED_ROOM: u32 = 600;
pub(super) const SHARED_RECEIVES: usize = 100;
/// Links of a world.
const LINKS: usize = 4;

/// The memory of a node.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// `contiguous`, `reversed` or `scattered`.
    pub(super) pages: &'static str,
    pub(super) page_offset: u32,
    /// Receives of the shared queue under which its consumer is told; 0: it is not.
    pub(super) threshold: u32,
}

/// One end of a link: its queue pair.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) depth: u32,
    pub(super) sge: u32,
    pub(super) inline: u32,
    /// Whether receives complete to a queue of their own.
    pub(super) apart: bool,
    /// Whether receives come from the shared queue of the node.
    pub(super) shared: bool,
    /// Reads at once: of the peer here, to the peer.
    pub(super) inbound: u32,
    pub(super) outbound: u32,
}

/// Two queue pairs that are connected.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) nodes: [usize; 2],
    pub(super) mtu: u32,
    pub(super) ipv6: bool,
    pub(super) unnegotiated: bool,
    /// Whether end 1 refuses reads, and writes, of end 0.
    pub(super) no_read: bool,
    pub(super) no_write: bool,
    pub(super) timeout: u8,
    pub(super) retry: u8,
    pub(super) rnr_retry: u8,
    pub(super) rnr_timer: u8,
    pub(super) ends: [End; 2],
    /// How its first connection is made by connection management; none: it is there at once.
    pub(super) managed: Option<Meeting>,
}

impl Link {
    /// Whether neither time nor a few losses end the connection; without a timer, a loss that nobody tells of.
    pub(super) fn is_sound(&self) -> bool {
        (self.is_timeless() || self.timeout >= SOUND_TIMEOUT) && self.retry >= SOUND_RETRY
    }

    /// Whether no timer runs: what is lost may stay lost.
    pub(super) fn is_timeless(&self) -> bool {
        self.timeout == 0
    }

    /// Whether senders wait for receives without end.
    pub(super) fn is_patient(&self) -> bool {
        self.rnr_retry == RNR_ENDLESS
    }

    /// Whether a reader may ask for more at once than the other end takes.
    pub(super) fn asks_too_much(&self, side: usize) -> bool {
        self.unnegotiated && self.ends[side].outbound > self.ends[1 - side].inbound
    }
}

/// A world.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) hosts: Vec<Host>,
    pub(super) links: Vec<Link>,
    /// What happens to frames from the start.
    pub(super) fates: Vec<Rule>,
}

impl Spec {
    /// Whether connection management makes connections.
    pub(super) fn is_managed(&self) -> bool {
        self.links.iter().any(|link| link.managed.is_some())
    }
}

fn host() -> impl Strategy<Value = Host> {
    let pages = select(vec!["contiguous", "reversed", "scattered"]);
    let offset = prop_oneof![Just(0u32), 0u32..4096];
    (pages, offset, 0u32..6).prop_map(|(pages, page_offset, threshold)| Host {
        pages,
        page_offset,
        threshold,
    })
}

fn end() -> impl Strategy<Value = End> {
    (
        select(vec![32u32, 16, 24, 64]),
        select(vec![4u32, 2, 3]),
        select(vec![0u32, 64, 200]),
        any::<bool>(),
        seldom(4),
        1u32..=4,
        1u32..=4,
    )
        .prop_map(
            |(depth, sge, inline, apart, shared, inbound, outbound)| End {
                depth,
                sge,
                inline,
                apart,
                shared,
                inbound,
                outbound,
            },
        )
}

/// True once in so many times.
fn seldom(times: u32) -> impl Strategy<Value = bool> {
    prop_oneof![times - 1 => Just(false), 1 => Just(true)]
}

/// What connection management gives all its connections.
const MANAGED_TIMEOUT: u8 = 10;
const MANAGED_RETRY: u8 = 7;
const MANAGED_RNR_RETRY: u8 = 6;

/// A link that connection management connects.
fn managed(link: Link, meeting: Meeting) -> Link {
    Link {
        managed: Some(meeting),
        unnegotiated: false,
        no_read: false,
        no_write: false,
        timeout: MANAGED_TIMEOUT,
        retry: MANAGED_RETRY,
        rnr_retry: MANAGED_RNR_RETRY,
        ..link
    }
}

fn link(nodes: usize) -> impl Strategy<Value = Link> {
    let ends = (0..nodes, 1..nodes).prop_map(move |(a, step)| [a, (a + step) % nodes]);
    let wire = (
        select(vec![1024u32, 256, 512, 2048, 4096]),
        any::<bool>(),
        seldom(8),
        seldom(16),
        seldom(16),
    );
    let timers = (
        prop_oneof![8 => Just(9u8), 1 => Just(10u8), 2 => 5u8..=8, 2 => Just(0u8)],
        prop_oneof![3 => Just(5u8), 1 => Just(7u8), 1 => 0u8..=6],
        select(vec![6u8, RNR_ENDLESS, 3, 1, 0]),
        1u8..=14,
    );
    (ends, wire, timers, [end(), end()]).prop_map(|(nodes, wire, timers, ends)| Link {
        nodes,
        mtu: wire.0,
        ipv6: wire.1,
        unnegotiated: wire.2,
        no_read: wire.3,
        no_write: wire.4,
        timeout: timers.0,
        retry: timers.1,
        // Nobody knows which receive a sender would wait for without end.
        rnr_retry: match ends.iter().any(|end: &End| end.shared) {
            true => timers.2.min(RNR_ENDLESS - 1),
            false => timers.2,
        },
        rnr_timer: timers.3,
        ends,
        managed: None,
    })
}

/// Worlds of two to so many nodes.
pub(super) fn worlds(most: usize) -> BoxedStrategy<Spec> {
    (2..=most.max(2))
        .prop_flat_map(|nodes| {
            let meetings = vec(option::weighted(0.7, meetings()), LINKS);
            let manage = option::weighted(0.35, (meetings, fates(nodes)));
            (vec(host(), nodes), vec(link(nodes), 1..=LINKS), manage)
        })
        .prop_map(|(hosts, links, manage)| {
            let (meetings, fates) = manage.unwrap_or_default();
            let mut meetings = meetings.into_iter();
            let links = links
                .into_iter()
                .map(|link| match meetings.next().flatten() {
                    Some(meeting) => managed(link, meeting),
                    None => link,
                });
            Spec {
                hosts,
                links: links.collect(),
                fates,
            }
        })
        .boxed()
}
