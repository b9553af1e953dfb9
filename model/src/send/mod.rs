//! Room `send`: send queues. Which request goes next and as which packets, what is acknowledged, what
//! retires, fails or is flushed.

mod emit;
mod respond;
mod wqe;

pub(crate) use emit::Next;
use respond::OpenRead;
pub(crate) use respond::{Response, response_opcode};
pub(crate) use wqe::MAX_MESSAGE;

use std::collections::VecDeque;

use crate::abi::{QpState, Status};
use crate::complete::Completion;
use crate::context::QpContext;
use crate::wire::Psn;
use wqe::Wqe;

/// A request of which a packet was sent, or that failed before.
#[derive(Clone, Copy, Debug)]
struct Request {
    index: u16,
    opcode: u8,
    silent: bool,
    is_read: bool,
    /// Packet number after its last; `u64::MAX` if it failed before its first.
    end: u64,
    /// Payload writes to be answered before it may retire: those of its read responses.
    placed: u64,
}

/// The request of which packets are left to send.
#[derive(Clone, Copy, Debug)]
struct Current {
    wqe: Wqe,
    index: u16,
    /// Payload bytes sent.
    offset: u32,
    /// Packets sent.
    packet: u32,
}

/// A request that retires with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, Default)]
pub(crate) struct SendQueue {
    /// Index after the last request rung for.
    pub producer: u16,
    /// Oldest request not retired.
    consumer: u16,
    /// Next request to start.
    next_index: u16,
    current: Option<Current>,
    in_flight: VecDeque<Request>,
    open_reads: VecDeque<OpenRead>,
    /// Reads started and not retired: what a fence waits for.
    reads_unretired: u32,
    /// PSN of packet 0; fixed by the first packet sent.
    start: Psn,
    /// Oldest packet not acknowledged.
    una: u64,
    /// Next packet to be sent.
    next: u64,
    /// The request that stopped the queue, and how it retires.
    failure: Option<Failure>,
    /// A response failed a request: no further response is taken.
    fatal: bool,
}

impl SendQueue {
    /// The queue pair was written in `QpInit`. What lies in the completion queue's way stays there.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// PSN of a packet.
    fn psn(&self, packet: u64) -> Psn {
        self.start + (packet & 0xFF_FFFF) as u32
    }

    /// Whether a response failed a request.
    pub fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Whether the oldest request can retire, and how (WIRE-ACK-8, WIRE-RD-7).
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
            _ => (request.end <= self.una).then_some(Retirement {
                index,
                status: Status::Success,
            }),
        }
    }

    /// Takes the oldest request out as [`SendQueue::retirement`] says: its completion, unless it
    /// succeeded silently (WIRE-ORD-3, -4), and the payload writes that it waited for.
    pub fn retire(&mut self, retirement: Retirement, qp: &QpContext) -> (Option<Completion>, u64) {
        let Some(request) = self.take_oldest() else {
            return (None, 0);
        };
        let mut completion =
            Completion::new(qp.send_cq, request.index, request.opcode, retirement.status);
        completion.barrier = request.placed;
        if retirement.status != Status::Success {
            completion.error_code = self.failure.map_or(0, |failure| failure.error_code);
        }
        let is_told = retirement.status != Status::Success || !request.silent;
        (is_told.then_some(completion), request.placed)
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
        if let Some(request) = self.take_oldest() {
            completion.barrier = request.placed;
        }
        self.consumer = index.wrapping_add(1);
        if self.in_flight.is_empty() {
            self.current = None;
            self.open_reads.clear();
            self.next_index = self.consumer;
        }
        completion
    }

    /// In words, for a report.
    pub fn describe(&self) -> String {
        let mut text = format!(
            "send: requests {}..{} rung, {} retired up to, {} sending; psn {} unacknowledged, {} next",
            self.consumer,
            self.producer,
            self.consumer,
            self.next_index,
            self.psn(self.una),
            self.psn(self.next),
        );
        if let Some(current) = &self.current {
            text += &format!(
                "; request {} at byte {} of {}",
                current.index, current.offset, current.wqe.length
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
        if let Some(failure) = &self.failure {
            text += &format!(
                "; stopped: request {} fails, {:?}",
                failure.index, failure.status
            );
        }
        text
    }
}
