//! Room `send`: send queues. Which request goes next and as which packets, what is acknowledged, what is
//! sent again and when, what is executed here, what retires, fails or is flushed.

mod emit;
mod local;
mod reads;
mod recover;
mod respond;
mod wqe;

pub(crate) use emit::Next;
pub(crate) use local::{Barriers, Change, Local, Unsent};
use reads::OpenRead;
pub(crate) use reads::response_opcode;
use recover::Recovery;
pub(crate) use respond::Response;
pub(crate) use wqe::{FRAME_QPN, MAX_FRAME, MAX_MESSAGE};

use std::collections::VecDeque;

use crate::abi::{QpState, Status};
use crate::complete::Completion;
use crate::context::QpContext;
use crate::wire::Psn;
use wqe::Wqe;

/// Packet number after the last of a request that failed before its first.
const UNSENT: u64 = u64::MAX;

/// A request of which a packet was sent, that was executed, or that failed before.
#[derive(Clone, Copy, Debug, Hash)]
struct Request {
    index: u16,
    opcode: u8,
    silent: bool,
    is_read: bool,
    /// It was done with its action, and has no packets: `first` and `end` are those of its place.
    is_unsent: bool,
    /// Packet number of its first.
    first: u64,
    /// Packet number after its last, or [`UNSENT`].
    end: u64,
    /// Payload writes to be answered before it may retire: those of its read responses.
    placed: u64,
    /// What its completion entry waits for besides.
    told_after: Barriers,
}

/// The request of which packets are left to send, as its entry was read from the ring.
#[derive(Clone, Copy, Debug, Hash)]
struct Current {
    wqe: Wqe,
    index: u16,
    /// Packet number of its first.
    first: u64,
    /// Packet number after its last.
    end: u64,
}

/// A request that retires with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Failure {
    index: u16,
    status: Status,
    error_code: u8,
}

/// What `Retire` would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retirement {
    pub index: u16,
    pub status: Status,
}

/// Send queue of one queue pair. Packets are numbered from 0 since `QpInit`; their PSN is that number
/// after the first one's.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct SendQueue {
    /// Index after the last request rung for.
    pub producer: u16,
    /// Oldest request not retired.
    consumer: u16,
    /// Next request to start.
    next_index: u16,
    /// The request that `next` lies in, if its entry need not be read.
    current: Option<Current>,
    in_flight: VecDeque<Request>,
    open_reads: VecDeque<OpenRead>,
    /// Reads started and not retired: what a fence waits for.
    reads_unretired: u32,
    /// PSN of packet 0; fixed by the first packet sent.
    start: Psn,
    /// Oldest packet not acknowledged.
    una: u64,
    /// Next packet to be sent: una ≤ next ≤ top.
    next: u64,
    /// After the newest packet ever sent.
    top: u64,
    /// The request that stopped the queue, and how it retires.
    failure: Option<Failure>,
    /// A response or a timeout failed a request: no further response is taken.
    fatal: bool,
    recovery: Recovery,
    /// What the entry of a silent request would have waited for: the next one tells of it (WIRE-ORD-3).
    untold: Barriers,
}

impl SendQueue {
    /// The queue pair was written in `QpInit`. What lies in the completion queue's way stays there.
    pub fn clear(&mut self) {
        *self = Self {
            recovery: self.recovery.cleared(),
            ..Self::default()
        };
    }

    /// PSN of a packet.
    fn psn(&self, packet: u64) -> Psn {
        self.start + (packet & 0xFF_FFFF) as u32
    }

    /// Whether less than so many requests, and reads among them, are sent and not retired.
    pub fn keeps_few(&self, requests: usize, reads: u8) -> bool {
        self.in_flight.len() < requests && self.reads_unretired < reads.into()
    }

    /// Whether a response or a timeout failed a request.
    pub fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Whether the oldest request can retire, and how (WIRE-ACK-8, WIRE-RD-7). One that was executed has
    /// nothing to wait for but its turn.
    pub fn retirement(&self, state: QpState) -> Option<Retirement> {
        if !matches!(state, QpState::Rts | QpState::Err) {
            return None;
        }
        let request = self.in_flight.front()?;
        let index = request.index;
        match self.failure {
            Some(failure) if failure.index == index => Some(Retirement {
                index,
                status: failure.status,
            }),
            _ => (request.is_unsent || request.end <= self.una).then_some(Retirement {
                index,
                status: Status::Success,
            }),
        }
    }

    /// Takes the oldest request out as [`SendQueue::retirement`] says: its completion, unless it
    /// succeeded silently (WIRE-ORD-3, -4), and the payload writes that it waited for. A failure waits for
    /// none; its completion does.
    pub fn retire(&mut self, retirement: Retirement, qp: &QpContext) -> (Option<Completion>, u64) {
        let Some(request) = self.take_oldest() else {
            return (None, 0);
        };
        let mut completion =
            Completion::new(qp.send_cq, request.index, request.opcode, retirement.status);
        let told_after = self.told_after(&request);
        (completion.barrier, completion.gathers) = (told_after.payload, told_after.gathers);
        self.untold = Barriers::default();
        if retirement.status != Status::Success {
            completion.error_code = self.failure.map_or(0, |failure| failure.error_code);
            return (Some(completion), 0);
        }
        if request.silent {
            self.untold = told_after;
            return (None, request.placed);
        }
        (Some(completion), request.placed)
    }

    /// What the entry of a request waits for, or that of a later one if it is silent.
    fn told_after(&self, request: &Request) -> Barriers {
        let placed = Barriers {
            payload: request.placed,
            gathers: 0,
        };
        placed.and(request.told_after).and(self.untold)
    }

    fn take_oldest(&mut self) -> Option<Request> {
        let request = self.in_flight.pop_front()?;
        self.consumer = request.index.wrapping_add(1);
        if request.is_read {
            self.reads_unretired = self.reads_unretired.saturating_sub(1);
        }
        Some(request)
    }

    /// Index of the oldest unretired request: what `Flush` takes (WIRE-QP-4, -5).
    pub fn flushable(&self) -> Option<u16> {
        (self.consumer != self.producer).then_some(self.consumer)
    }

    /// Flushes the oldest unretired request.
    pub fn flush(&mut self, qp: &QpContext) -> Completion {
        let index = self.consumer;
        let mut completion = Completion::new(qp.send_cq, index, 0, Status::Flushed);
        let oldest = self.take_oldest();
        let mut told_after = oldest.map_or(self.untold, |request| self.told_after(&request));
        if oldest.is_some_and(|request| request.is_read) {
            // It does not tell of the token that it may have invalidated.
            told_after.gathers = self.untold.gathers;
        }
        (completion.barrier, completion.gathers) = (told_after.payload, told_after.gathers);
        self.untold = Barriers::default();
        self.consumer = index.wrapping_add(1);
        if self.in_flight.is_empty() {
            self.current = None;
            self.open_reads.clear();
            self.next_index = self.consumer;
        }
        completion
    }

    /// See [`Engine::forget_writes`](crate::engine::Engine::forget_writes) and
    /// [`Engine::forget_gathers`](crate::engine::Engine::forget_gathers).
    pub fn forget(&mut self, answered: Barriers) {
        for request in &mut self.in_flight {
            request.placed = request.placed.saturating_sub(answered.payload);
            request.told_after.forget(answered);
        }
        self.untold.forget(answered);
    }

    /// In words, for a report.
    pub fn describe(&self) -> String {
        let mut text = format!(
            "send: requests {}..{} rung, {} retired up to, {} sending; psn {} unacknowledged, {} next, {} top",
            self.consumer,
            self.producer,
            self.consumer,
            self.next_index,
            self.psn(self.una),
            self.psn(self.next),
            self.psn(self.top),
        );
        if let Some(current) = &self.current {
            text += &format!(
                "; request {} at packet {} of {}",
                current.index,
                self.next - current.first,
                current.end - current.first
            );
        }
        if let Some(read) = self.open_reads.front() {
            text += &format!(
                "; {} reads open, the oldest (request {}) expects psn {}",
                self.open_reads.len(),
                read.index,
                self.psn(read.next),
            );
        }
        text += &self.recovery.describe();
        if let Some(failure) = &self.failure {
            text += &format!(
                "; stopped: request {} fails, {:?}",
                failure.index, failure.status
            );
        }
        text
    }
}
