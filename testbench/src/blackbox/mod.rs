//! Checks of a captured conversation between any two RoCEv2 peers (reliable connection), from its frames alone.
//!
//! [`file::read`] takes a capture, [`check`] judges it, [`Report`] is told to people by [`Report::text`] and to programs by
//! [`Report::json`]. Nothing of ours need take part: both sides are inferred.
//!
//! | module | job |
//! | --- | --- |
//! | [`file`] | pcap and pcapng |
//! | `seen`, `headers` | what a frame is; rules that it keeps alone |
//! | `cm`, `pairs` | what connection management says; which flows are one connection |
//! | `history`, `direction` | requests by PSN; what is known of one direction |
//! | `request` | the requester |
//! | `response`, `read`, `msn` | the responder |
//! | `quirks` | known ways of Linux |
//! | `finding`, `report`, `json` | what is found, and how it is told |
//!
//! # What a capture can know
//!
//! It shows what passed one point. A frame may have been lost, doubled, overtaken or damaged before it or behind it. So a rule is a
//! violation only where nothing of that kind explains what is seen; the rest is listed as *explained*. Two things are supposed:
//! the capture itself lost nothing, and no frame was forged. Where frames were captured where they were sent
//! ([`Options::at`]), nothing was lost before, and more is certain.

mod cm;
mod connection;
mod direction;
pub mod file;
mod finding;
mod headers;
mod history;
mod json;
mod msn;
mod pairs;
mod quirks;
mod read;
mod report;
mod request;
mod response;
mod seen;

use std::collections::{BTreeSet, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use tandem_model::wire::{Frame, Opcode, Psn, Qpn, Service};

use cm::{Agreement, Conversations};
use connection::Connection;
pub use direction::{Counts, Mtu, Source, Terms};
use file::Packet;
use finding::Findings;
pub use finding::{At, Excuse, Finding, Weight};
use pairs::Flows;
pub use pairs::Pairing;
pub use quirks::{QUIRKS, Quirk};
pub use report::{Report, Side, Summary};
pub(crate) use seen::{Flow, Seen};

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Addresses whose own frames were captured where they were sent: nothing of theirs was lost or exchanged before.
    pub at: BTreeSet<IpAddr>,
    /// Whether known ways of Linux count as violations.
    pub strict: bool,
    /// What stands for the 10 µs that RNR timer codes count in: simulations may let it be shorter.
    pub rnr_unit: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            at: BTreeSet::new(),
            strict: false,
            rnr_unit: RNR_UNIT,
        }
    }
}

/// What RNR timer codes count in.
pub const RNR_UNIT: Duration = Duration::from_micros(10);

/// Checks the frames of a capture.
pub fn check(packets: &[Packet], options: &Options) -> Report {
    Check::new(packets, options).run()
}

/// A frame with a wrong checksum.
struct Damage {
    at: At,
    cause: tandem_model::wire::DropCause,
    /// Where it would have gone.
    to: (Flow, Psn, Opcode),
}

/// A check as it goes on.
struct Check<'a> {
    packets: &'a [Packet],
    options: &'a Options,
    seen: Vec<Seen<'a>>,
    out: Findings,
    report: Report,
    damage: Vec<Damage>,
    /// Good frames that were sent, to see which damaged ones came again.
    good: HashSet<(Flow, Psn, Opcode)>,
}

impl<'a> Check<'a> {
    fn new(packets: &'a [Packet], options: &'a Options) -> Self {
        Self {
            packets,
            options,
            seen: packets.iter().map(Seen::of).collect(),
            out: Findings::default(),
            report: Report::default(),
            damage: Vec::new(),
            good: HashSet::new(),
        }
    }

    fn run(mut self) -> Report {
        self.report.frames = self.packets.len();
        self.frames();
        let agreements = self.conversations();
        let mut connections = self.connections(&agreements);
        self.packets_of(&mut connections, &agreements);
        self.damaged();
        self.report.connections = connections.iter().map(Connection::summary).collect();
        let mut findings = std::mem::take(&mut self.out.all);
        findings.sort_by_key(|finding| finding.at.number);
        if self.options.strict {
            for finding in &mut findings {
                if matches!(finding.weight, Weight::Quirk(_)) {
                    finding.weight = Weight::Violation;
                }
            }
        }
        self.report.findings = findings;
        self.report
    }

    /// Rules of frames alone.
    fn frames(&mut self) {
        for (packet, seen) in self.packets.iter().zip(&self.seen) {
            let at = At::from(packet);
            let counter = match seen {
                Seen::Other => &mut self.report.other,
                Seen::Cut => &mut self.report.cut,
                Seen::OtherService => &mut self.report.other_service,
                _ => &mut self.report.roce,
            };
            *counter += 1;
            if packet.is_arrival() {
                continue;
            }
            match seen {
                Seen::Good(frame) => {
                    headers::check(at, frame, packet.length, &mut self.out);
                    let bth = &frame.bth;
                    self.good.insert((Flow::of(frame), bth.psn, bth.opcode));
                }
                Seen::Bad(cause) => {
                    let (id, message) = headers::dropped(*cause);
                    self.out.violation(at, id, message);
                }
                Seen::Damaged(cause, whole) => {
                    if let Ok(frame) = Frame::parse(whole) {
                        let bth = &frame.bth;
                        self.damage.push(Damage {
                            at,
                            cause: *cause,
                            to: (Flow::of(&frame), bth.psn, bth.opcode),
                        });
                    }
                }
                _ => {}
            }
        }
    }

    /// Connection management.
    fn conversations(&mut self) -> Vec<Agreement> {
        let mut conversations = Conversations::default();
        for (place, (packet, seen)) in self.packets.iter().zip(&self.seen).enumerate() {
            if let Seen::Good(frame) = seen
                && frame.bth.dest_qp == Qpn::GSI
                && frame.bth.opcode.service() == Service::Ud
                && !packet.is_arrival()
            {
                self.report.management += 1;
                conversations.take(place, At::from(packet), &packet.bytes, &mut self.out);
            }
        }
        conversations.into_agreements()
    }

    /// The connections.
    fn connections(&mut self, agreements: &[Agreement]) -> Vec<Connection> {
        let mut flows = Flows::new(agreements);
        for (place, (packet, seen)) in self.packets.iter().zip(&self.seen).enumerate() {
            if let Seen::Good(frame) = seen
                && frame.bth.opcode.service() == Service::Rc
                && !packet.is_arrival()
            {
                flows.note(place, frame);
            }
        }
        let pairs = flows.pair();
        pairs
            .into_iter()
            .map(|pair| Connection::new(&pair, agreements, self.options))
            .collect()
    }

    /// Runs the packets through their connections.
    fn packets_of(&mut self, connections: &mut [Connection], agreements: &[Agreement]) {
        let flows = Flows::new(agreements);
        let places = connection::places(connections);
        for (place, (packet, seen)) in self.packets.iter().zip(&self.seen).enumerate() {
            let at = At::from(packet);
            let whole;
            let (frame, damaged) = match seen {
                Seen::Good(frame) => (frame, false),
                Seen::Damaged(_, bytes) => match Frame::parse(bytes) {
                    Ok(frame) => {
                        whole = frame;
                        (&whole, true)
                    }
                    Err(_) => continue,
                },
                Seen::Cut => {
                    // Which connection it is of stands in what is left of it, but hardly matters: few captures cut only one.
                    for one in connections.iter_mut() {
                        one.excuse(at, "was not captured whole");
                    }
                    continue;
                }
                _ => continue,
            };
            match frame.bth.opcode.service() {
                Service::Ud if !damaged && !packet.is_arrival() => {
                    if let Some((address, id)) = cm::ends(&packet.bytes) {
                        connections
                            .iter_mut()
                            .for_each(|one| one.end(address, id, at));
                    }
                }
                Service::Rc => {
                    let key = flows.key(place, frame);
                    let Some((index, side)) = places.get(&key).copied() else {
                        continue;
                    };
                    let Some(one) = connections.get_mut(index) else {
                        continue;
                    };
                    self.out.connection = Some(index);
                    self.out.excuse = one.excuse;
                    let taken = connection::Taken {
                        at,
                        side,
                        frame,
                        damaged,
                        arrival: packet.is_arrival(),
                        lost: packet.is_lost(),
                    };
                    one.take(taken, &mut self.out);
                }
                _ => {}
            }
        }
        self.out.excuse = None;
        for (index, one) in connections.iter().enumerate() {
            self.out.connection = Some(index);
            one.finish(&mut self.out);
        }
        self.out.connection = None;
    }

    /// Frames with a wrong checksum: damaged on their way, if they came again whole.
    fn damaged(&mut self) {
        for damage in &self.damage {
            let (id, message) = headers::dropped(damage.cause);
            let complete = self.options.at.contains(&damage.to.0.src);
            let again = self.good.contains(&damage.to);
            self.out
                .unless_lost(complete || !again, damage.at, id, message);
        }
    }
}
