//! Message sequence numbers of a responder: judged at the end, when it shows from where it counts.

use std::collections::BTreeMap;

use tandem_model::wire::{Aeth, Msn, Syndrome};

use super::finding::{At, Findings};
use super::quirks;

/// An MSN, and what it may be: counts of messages from the first packet that was captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) at: At,
    pub(super) aeth: Aeth,
    /// Messages that are complete for certain.
    pub(super) least: u32,
    /// Those that may be.
    pub(super) most: u32,
    /// Whether the last of them asks for an invalidation, which may be refused.
    pub(super) invalidates: bool,
}

impl Seen {
    /// What was counted before the capture, if nothing more than certain was.
    fn base(&self) -> u32 {
        steps(self.aeth.msn.get(), self.least)
    }
}

/// Steps from one count to another, modulo 2^24.
fn steps(to: u32, from: u32) -> u32 {
    Msn::new(to).since(Msn::new(from))
}

/// The MSNs of one direction.
#[derive(Debug)]
pub(super) struct Msns {
    /// Whether the first packet of the connection was captured.
    fresh: bool,
    /// What was seen, apart where packets in between are not known.
    parts: Vec<Vec<Seen>>,
}

impl Msns {
    pub(super) fn new(fresh: bool) -> Self {
        Self {
            fresh,
            parts: vec![Vec::new()],
        }
    }

    /// Packets are not known: counts begin anew.
    pub(super) fn skip(&mut self) {
        self.parts.push(Vec::new());
    }

    /// Takes note of an MSN.
    pub(super) fn note(&mut self, seen: Seen) {
        if let Some(part) = self.parts.last_mut() {
            part.push(seen);
        }
    }

    /// Judges them.
    pub(super) fn judge(&self, out: &mut Findings) {
        for (index, part) in self.parts.iter().enumerate() {
            let base = if index == 0 && self.fresh {
                Some(0)
            } else {
                base(part)
            };
            if let Some(base) = base {
                part.iter().for_each(|seen| judge(seen, base, out));
            }
        }
    }
}

/// The count that most agree on; of equals 0, else the first.
fn base(part: &[Seen]) -> Option<u32> {
    let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
    for seen in part {
        *votes.entry(seen.base()).or_default() += 1;
    }
    let most = votes.values().max()?;
    let mut best = part
        .iter()
        .map(Seen::base)
        .filter(|base| votes.get(base) == Some(most));
    match votes.get(&0) == Some(most) {
        true => Some(0),
        false => best.next(),
    }
}

fn judge(seen: &Seen, base: u32, out: &mut Findings) {
    let expected = Msn::new(base) + seen.least;
    let above = seen.aeth.msn.since(expected);
    let room = steps(seen.most, seen.least);
    if above <= room {
        return;
    }
    if seen.invalidates && seen.aeth.msn == expected - 1 {
        out.quirk(
            seen.at,
            "WIRE-INV-4",
            &quirks::REFUSAL_ACKNOWLEDGED,
            "an invalidation is acknowledged, but not counted",
        );
        return;
    }
    let more = match room {
        0 => String::new(),
        room => format!(" or up to {room} more"),
    };
    let id = match seen.aeth.syndrome {
        Syndrome::Ack { .. } => "WIRE-ACK-5",
        Syndrome::Rnr { .. } => "WIRE-RNR-4",
        _ => "WIRE-ACK-7",
    };
    let message = format!("MSN {}, expected {expected}{more}", seen.aeth.msn);
    out.violation(seen.at, id, message);
}
