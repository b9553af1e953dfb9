//! One connection: two sides, each of them requester and responder.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use tandem_model::cm::CommId;
use tandem_model::wire::{Frame, Qpn};

use super::cm::Agreement;
use super::direction::Direction;
use super::finding::{At, Excuse, Findings};
use super::history::digest;
use super::pairs::{Key, Pair, Pairing};
use super::report::{Side, Summary};
use super::{Options, request, response};

/// A packet of a connection.
pub(super) struct Taken<'a> {
    pub(super) at: At,
    /// Which side sent it.
    pub(super) side: usize,
    pub(super) frame: &'a Frame<'a>,
    /// Whether its checksum is wrong.
    pub(super) damaged: bool,
    /// Whether it was not sent so.
    pub(super) arrival: bool,
    /// Whether it is known to be lost.
    pub(super) lost: bool,
}

/// A connection as the check goes on.
pub(super) struct Connection {
    keys: [Option<Key>; 2],
    ends: [(IpAddr, Option<Qpn>); 2],
    ids: Option<[(IpAddr, CommId); 2]>,
    pairing: Pairing,
    /// Requests of each side.
    directions: [Direction; 2],
    /// What was sent, to know what was not.
    sent: HashSet<u64>,
    /// Why nothing is certain any more.
    pub(super) excuse: Option<Excuse>,
}

/// Where frames of a flow go: which connection, and which side sends them.
pub(super) fn places(connections: &[Connection]) -> HashMap<Key, (usize, usize)> {
    let mut places = HashMap::new();
    for (index, one) in connections.iter().enumerate() {
        for (side, key) in one.keys.iter().enumerate() {
            places.extend(key.map(|key| (key, (index, side))));
        }
    }
    places
}

impl Connection {
    pub(super) fn new(pair: &Pair, agreements: &[Agreement], options: &Options) -> Self {
        let agreement = pair.agreement.and_then(|index| agreements.get(index));
        let [one, other] = pair.flows;
        let end = |sends: Option<Key>, gets: Option<Key>| {
            let address = sends.map(|key| key.0.src).or(gets.map(|key| key.0.dst));
            (
                address.unwrap_or(IpAddr::from([0; 4])),
                gets.map(|key| key.0.qpn),
            )
        };
        let ends = match agreement {
            Some(agreement) => agreement
                .sides
                .map(|(address, qpn, _)| (address, Some(qpn))),
            None => [end(one, other), end(other, one)],
        };
        let [one, other] = ends.map(|end| end.0);
        let direction = |side: usize, ends| {
            let terms = agreement.and_then(|agreement| agreement.terms.get(side).copied());
            Direction::new(pair.mtu, terms.unwrap_or_default(), ends, options)
        };
        Self {
            keys: pair.flows,
            ids: agreement.map(|agreement| agreement.sides.map(|(address, _, id)| (address, id))),
            pairing: pair.pairing,
            directions: [direction(0, [one, other]), direction(1, [other, one])],
            ends,
            sent: HashSet::new(),
            excuse: None,
        }
    }

    /// Takes a packet.
    pub(super) fn take(&mut self, taken: Taken<'_>, out: &mut Findings) {
        let Taken { at, frame, .. } = taken;
        let response = frame.bth.opcode.is_response();
        // A response belongs to the requests of the other side.
        let side = if response { 1 - taken.side } else { taken.side };
        let Some(direction) = self.directions.get_mut(side) else {
            return;
        };
        if taken.damaged {
            if !response && !taken.arrival {
                let place = direction.history.place(frame.bth.psn);
                direction.damaged.insert(place);
            }
            return;
        }
        let bytes = digest(&(taken.side, frame.bth.emit(), ext(frame), frame.payload));
        if taken.arrival {
            match self.sent.contains(&bytes) {
                // Another copy of what was sent.
                true if !response => direction.copied(frame),
                true => {}
                false => {
                    self.excuse(at, "was sent by nobody");
                }
            }
            return;
        }
        self.sent.insert(bytes);
        match response {
            true => response::response(direction, at, frame, taken.lost, out),
            false => request::request(direction, at, frame, taken.lost, out),
        }
    }

    /// From a frame on nothing is certain.
    pub(super) fn excuse(&mut self, at: At, why: &'static str) {
        self.excuse.get_or_insert(Excuse { at, why });
    }

    /// Someone says that a connection is over: it is one of this side's, or not.
    pub(super) fn end(&mut self, address: IpAddr, id: CommId, at: At) {
        let side = self
            .ids
            .and_then(|ids| ids.iter().position(|side| *side == (address, id)));
        if let Some(direction) = side.and_then(|side| self.directions.get_mut(side)) {
            direction.ended.get_or_insert(at);
        }
    }

    /// Judges what only the whole shows.
    pub(super) fn finish(&self, out: &mut Findings) {
        self.directions
            .iter()
            .for_each(|direction| direction.msns.judge(out));
    }

    /// What the report says of it.
    pub(super) fn summary(&self) -> Summary {
        let [one, other] = &self.directions;
        let side = |(address, qpn), direction: &Direction| {
            let history = &direction.history;
            Side {
                address,
                qpn,
                terms: direction.terms,
                counts: direction.counts,
                unanswered: history.range(direction.acked, history.next).count(),
            }
        };
        let [left, right] = self.ends;
        Summary {
            sides: [side(left, one), side(right, other)],
            pairing: self.pairing,
            mtu: one.mtu,
            excuse: self.excuse,
        }
    }
}

/// The bytes of the extension headers.
fn ext(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.ext.emit(&mut bytes);
    bytes
}

/// A queue pair's number, or that it is not known.
pub(super) fn number(qpn: Option<Qpn>) -> String {
    qpn.map_or_else(|| "?".into(), |qpn| qpn.to_string())
}
