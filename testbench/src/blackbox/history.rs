//! The requests that one side has sent, by PSN.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use tandem_model::wire::{Ext, Frame, Opcode, Operation, Psn};

use super::finding::At;

/// PSNs without wrap: the first one that was seen is here.
const ORIGIN: u64 = 1 << 32;

/// Number of the bytes of something, to compare it with what is seen later.
pub(super) fn digest(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What answered a read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// Responses that came in order, from the first.
    pub(super) front: u32,
    /// Those that came behind a gap.
    pub(super) ahead: BTreeSet<u32>,
    /// Bytes of each, by its place.
    pub(super) bytes: BTreeMap<u32, u64>,
    /// Those of which a copy was not lost.
    pub(super) heard: BTreeSet<u32>,
    /// First places of what was asked for again.
    pub(super) restarts: BTreeSet<u32>,
    /// MSN of the response that began the pass that is under way.
    pub(super) msn: Option<u32>,
    /// Place that comes next in the pass that is under way.
    pub(super) next: u32,
}

impl Answers {
    /// Takes note of the response at a place. Whether it is the first one there.
    pub(super) fn note(&mut self, place: u32) -> bool {
        if place < self.front || !self.ahead.insert(place) {
            return false;
        }
        while self.ahead.remove(&self.front) {
            self.front += 1;
        }
        true
    }
}

/// A request packet.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// Its first copy.
    pub(super) at: At,
    pub(super) opcode: Opcode,
    pub(super) ext: Ext,
    pub(super) solicited: bool,
    pub(super) payload_len: usize,
    pub(super) payload: u64,
    /// PSNs that it takes.
    pub(super) span: u32,
    /// Copies that were seen.
    pub(super) copies: u32,
    /// Whether a copy is not known to be lost.
    pub(super) delivered: bool,
    /// RNR NAKs for it.
    pub(super) rnr: u32,
    /// Messages that were completed with it, counted from the first packet of the history.
    pub(super) messages: Option<u32>,
    /// Bytes of its message, itself included.
    pub(super) so_far: u64,
    /// Bytes that its message has, if it is a write.
    pub(super) total: Option<u32>,
    /// Answers, if it is a read.
    pub(super) answers: Answers,
    /// Value that answered it, if it is an atomic.
    pub(super) value: Option<u64>,
}

impl Sent {
    pub(super) fn of(at: At, frame: &Frame<'_>, span: u32) -> Self {
        Self {
            at,
            opcode: frame.bth.opcode,
            ext: frame.ext,
            solicited: frame.bth.solicited,
            payload_len: frame.payload.len(),
            payload: digest(frame.payload),
            span,
            copies: 0,
            delivered: false,
            rnr: 0,
            messages: None,
            so_far: 0,
            total: None,
            answers: Answers::default(),
            value: None,
        }
    }

    /// Whether it is answered by a response of its own kind.
    pub(super) fn is_query(&self) -> bool {
        matches!(self.opcode.operation(), Operation::Read | Operation::Atomic)
    }

    /// Whether all its responses were seen; always so for what has none.
    pub(super) fn is_answered(&self) -> bool {
        match self.opcode.operation() {
            Operation::Read => self.answers.front >= self.span,
            Operation::Atomic => self.value.is_some(),
            _ => true,
        }
    }

    /// The field in which another packet with its PSN differs.
    pub(super) fn differs(&self, frame: &Frame<'_>) -> Option<&'static str> {
        if self.opcode != frame.bth.opcode {
            Some("opcode")
        } else if self.ext != frame.ext {
            Some("extension headers")
        } else if self.payload_len != frame.payload.len() {
            Some("payload length")
        } else if self.payload != digest(frame.payload) {
            Some("payload")
        } else if self.solicited != frame.bth.solicited {
            Some("SE")
        } else {
            None
        }
    }
}

/// The requests of one direction.
#[derive(Debug)]
pub(super) struct History {
    /// PSN of [`ORIGIN`].
    origin: Option<Psn>,
    sent: BTreeMap<u64, Sent>,
    /// Behind the newest PSN that was sent.
    pub(super) next: u64,
    /// The oldest PSN that was not seen, or `next`.
    pub(super) gap: u64,
    /// Messages that were completed before `gap`, without those in gaps that were given up.
    pub(super) messages: u32,
}

impl History {
    /// A history that begins with a PSN, if it is known.
    pub(super) fn new(first: Option<Psn>) -> Self {
        Self {
            origin: first,
            sent: BTreeMap::new(),
            next: ORIGIN,
            gap: ORIGIN,
            messages: 0,
        }
    }

    /// Whether nothing was sent.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// Where the history begins.
    pub(super) fn start(&self) -> u64 {
        ORIGIN
    }

    /// A PSN without wrap: that next to the newest one. The first one that is asked for is the origin.
    pub(super) fn place(&mut self, psn: Psn) -> u64 {
        let origin = *self.origin.get_or_insert(psn);
        let next = origin + (self.next - ORIGIN) as u32;
        self.next.saturating_add_signed(psn.distance(next).into())
    }

    /// The PSN of a place.
    pub(super) fn psn(&self, place: u64) -> Psn {
        let origin = self.origin.unwrap_or_default();
        let steps = place.wrapping_sub(ORIGIN) as u32;
        origin + (steps & 0xFF_FFFF)
    }

    /// The packet that takes a place, and where it begins.
    pub(super) fn at(&self, place: u64) -> Option<(u64, &Sent)> {
        let (start, sent) = self.sent.range(..=place).next_back()?;
        (place < start + u64::from(sent.span)).then_some((*start, sent))
    }

    /// The same, to change it.
    pub(super) fn at_mut(&mut self, place: u64) -> Option<(u64, &mut Sent)> {
        let (start, sent) = self.sent.range_mut(..=place).next_back()?;
        (place < start + u64::from(sent.span)).then_some((*start, sent))
    }

    /// The packet that ends before a place.
    pub(super) fn before(&self, place: u64) -> Option<&Sent> {
        self.at(place.checked_sub(1)?).map(|(_, sent)| sent)
    }

    /// Whether a packet before a place was seen.
    pub(super) fn begins_before(&self, place: u64) -> bool {
        self.sent
            .first_key_value()
            .is_some_and(|(first, _)| *first < place)
    }

    /// Packets that begin in a range.
    pub(super) fn range(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, &Sent)> {
        let to = to.max(from);
        self.sent
            .range(from..to)
            .map(|(start, sent)| (*start, sent))
    }

    /// The packet that begins at the gap, and that before it.
    pub(super) fn at_gap(&self) -> Option<(&Sent, Option<&Sent>)> {
        Some((self.sent.get(&self.gap)?, self.before(self.gap)))
    }

    /// Takes a packet in.
    pub(super) fn insert(&mut self, place: u64, sent: Sent) {
        self.next = self.next.max(place + u64::from(sent.span));
        self.sent.insert(place, sent);
    }

    /// Messages that are complete with a place.
    pub(super) fn messages_to(&self, place: u64) -> Option<u32> {
        if place < ORIGIN {
            return None;
        }
        self.at(place)?.1.messages
    }

    /// Messages that were complete before a place.
    pub(super) fn messages_before(&self, place: u64) -> Option<u32> {
        match place {
            ORIGIN => Some(0),
            place => {
                // Inside a read it is its own count.
                self.before(place)?.messages
            }
        }
    }

    /// Gives the gap up: nothing is known of what was in it.
    pub(super) fn skip_gap(&mut self) {
        self.gap = self
            .sent
            .range(self.gap..)
            .next()
            .map_or(self.next, |(start, _)| *start);
    }
}
