//! One direction of a connection: requests of one side, answers of the other.

use std::collections::{BTreeSet, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use tandem_model::wire::{Frame, Opcode, Psn};

use super::Options;
use super::finding::{At, Findings};
use super::history::History;
use super::msn::Msns;

/// Path MTU of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtu {
    /// Bytes.
    pub bytes: u32,
    /// How it is known.
    pub source: Source,
}

/// How something is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Connection management said so.
    Agreed,
    /// The packets show it.
    Seen,
    /// Nothing shows it; a least value.
    Least,
}

/// What both sides agreed on for the requests of one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// First PSN.
    pub psn: Option<Psn>,
    /// Reads and atomics that may be outstanding.
    pub reads: Option<u8>,
    /// Go-backs without progress.
    pub retries: Option<u8>,
    /// RNR waits without progress.
    pub rnr_retries: Option<u8>,
}

/// An RNR wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) place: u64,
    pub(super) since: At,
    pub(super) delay: Duration,
}

/// A NAK 0x60 whose PSN has not been sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenNak {
    pub(super) place: u64,
    pub(super) copies: u32,
}

/// What is known of one direction.
#[derive(Debug)]
pub(super) struct Direction {
    pub(super) mtu: Mtu,
    pub(super) terms: Terms,
    /// Whether all requests were captured as they were sent.
    pub(super) requests_complete: bool,
    /// Whether all answers were captured as they were sent.
    pub(super) answers_complete: bool,
    /// Whether the requester got all answers that were captured: it is where the capture was made.
    pub(super) hears: bool,
    /// What RNR timer codes count in.
    pub(super) rnr_unit: Duration,
    pub(super) history: History,
    /// Everything before is acknowledged.
    pub(super) acked: u64,
    /// MSNs that were seen.
    pub(super) msns: Msns,
    /// Whether there is a read whose number of PSNs depends on a path MTU that is not known.
    pub(super) vague: bool,
    pub(super) wait: Option<Wait>,
    pub(super) nak: Option<OpenNak>,
    /// The PSN of a fatal NAK, and when.
    pub(super) dead: Option<(u64, At)>,
    /// When the requester ended the connection.
    pub(super) ended: Option<At>,
    /// Longest time from the last request to its answer.
    pub(super) turnaround: Duration,
    pub(super) last_request: Option<At>,
    /// Request packets that were sent again since the last progress.
    pub(super) repeats: u32,
    /// Times the oldest request was sent again without progress.
    pub(super) go_backs: u32,
    pub(super) rnr_waits: u32,
    pub(super) counts: Counts,
    /// Reads and atomics without all their answers.
    pub(super) open_queries: BTreeSet<u64>,
    /// Places of frames with a wrong checksum.
    pub(super) damaged: BTreeSet<u64>,
    /// Bytes of answers that were seen, to know a copy of the network.
    pub(super) answer_bytes: HashSet<u64>,
}

/// Numbers for the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Request packets, each counted once.
    pub requests: usize,
    /// Request packets that were sent again.
    pub repeated: usize,
    /// Positive acknowledgements.
    pub acks: usize,
    /// NAK 0x60.
    pub sequence_naks: usize,
    /// RNR NAKs.
    pub rnr_naks: usize,
    /// Fatal NAKs.
    pub fatal_naks: usize,
    /// Read responses and atomic acknowledges.
    pub responses: usize,
}

impl Direction {
    /// A direction whose requests come from the first address, and answers from the second.
    pub(super) fn new(mtu: Mtu, terms: Terms, ends: [IpAddr; 2], options: &Options) -> Self {
        let history = History::new(terms.psn);
        let [requests_complete, answers_complete] = ends.map(|end| options.at.contains(&end));
        Self {
            mtu,
            terms,
            requests_complete,
            answers_complete,
            hears: requests_complete && !answers_complete,
            rnr_unit: options.rnr_unit,
            acked: history.start(),
            history,
            msns: Msns::new(terms.psn.is_some()),
            vague: false,
            wait: None,
            nak: None,
            dead: None,
            ended: None,
            turnaround: Duration::ZERO,
            last_request: None,
            repeats: 0,
            go_backs: 0,
            rnr_waits: 0,
            counts: Counts::default(),
            open_queries: BTreeSet::new(),
            damaged: BTreeSet::new(),
            answer_bytes: HashSet::new(),
        }
    }

    /// The network made a copy of a request.
    pub(super) fn copied(&mut self, frame: &Frame<'_>) {
        let place = self.history.place(frame.bth.psn);
        if let Some((_, sent)) = self.history.at_mut(place) {
            sent.copies += 1;
        }
    }

    /// Whether the packets of all messages can be told by the path MTU.
    pub(super) fn knows_spans(&self) -> bool {
        self.mtu.source != Source::Least || !self.vague
    }

    /// PSNs of a message.
    pub(super) fn packets(&self, length: u32) -> u32 {
        length.div_ceil(self.mtu.bytes).max(1)
    }

    /// Everything before a place is acknowledged: nothing of it may be missing.
    pub(super) fn acknowledge(&mut self, at: At, to: u64, out: &mut Findings) {
        self.missing(at, to, out);
        let undelivered = self
            .history
            .range(self.acked, to)
            .find(|(_, sent)| !sent.delivered)
            .map(|(place, _)| place);
        if let Some(place) = undelivered {
            let psn = self.history.psn(place);
            let message = format!("PSN {psn} is acknowledged, though the network lost it");
            out.violation(at, "WIRE-PSN-6", message);
        }
        if to > self.acked {
            self.acked = to;
            self.repeats = 0;
            self.go_backs = 0;
            self.rnr_waits = 0;
            if self.wait.is_some_and(|wait| wait.place < to) {
                self.wait = None;
            }
        }
    }

    /// PSNs before a place that were never seen.
    fn missing(&mut self, at: At, to: u64, out: &mut Findings) {
        while self.history.gap < to.min(self.history.next) {
            let place = self.history.gap;
            let psn = self.history.psn(place);
            self.history.skip_gap();
            let upto = self.history.psn(self.history.gap - 1);
            self.msns.skip();
            match self.damaged.range(place..self.history.gap).next() {
                Some(_) => {
                    let message =
                        format!("PSN {psn} is acknowledged, though its checksum is wrong");
                    out.violation(at, "WIRE-ICRC-8", message);
                }
                None => {
                    let message =
                        format!("PSNs {psn} to {upto} are acknowledged, but were never sent");
                    out.violation(at, self.gap_id(place), message);
                }
            }
            super::request::advance(self, out);
        }
    }

    /// The requirement that is broken if nothing is sent at a place.
    pub(super) fn gap_id(&self, place: u64) -> &'static str {
        match self.history.before(place) {
            None if self.terms.psn.is_some() => "WIRE-PSN-7",
            Some(sent) if sent.opcode == Opcode::ReadRequest => "WIRE-PSN-4",
            _ => "WIRE-PSN-3",
        }
    }
}
