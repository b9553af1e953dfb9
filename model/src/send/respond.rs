//! What a response means for the requests: acknowledged, placed, failed.

use super::wqe::Wqe;
use super::{Failure, SendQueue};
use crate::abi::{RxResult, Status};
use crate::context::{Chunk, Context, QpContext, Right, Sge, pieces};
use crate::wire::{Aeth, Frame, NakCode, Opcode, Operation, Psn, Syndrome, Token};

/// Elements of a read's sink.
const SINK: usize = 4;

/// A read whose last response has not been accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRead {
    pub(super) index: u16,
    /// Packet number of its next response.
    pub(super) next: u64,
    /// Packet number after its last response.
    end: u64,
    /// Bytes placed.
    offset: u32,
    length: u32,
    sink: [Sge; SINK],
    /// Token to invalidate with the last response (WIRE-INV-10).
    invalidate: Option<Token>,
}

impl OpenRead {
    pub(super) fn new(index: u16, next: u64, end: u64, wqe: &Wqe) -> Self {
        let mut sink = [Sge::default(); SINK];
        for (to, from) in sink.iter_mut().zip(wqe.elements()) {
            *to = *from;
        }
        let first = wqe.elements().first();
        Self {
            index,
            next,
            end,
            offset: 0,
            length: wqe.length,
            sink,
            invalidate: first
                .filter(|_| wqe.local_invalidate)
                .map(|element| element.token),
        }
    }
}

/// The verdict on a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// Outside the window, or older than the open read expects: dropped.
    Stale,
    /// Positive acknowledge up to and including this packet.
    Acknowledge(u64),
    /// The expected response of the oldest open read.
    Read,
    /// The request that contains the packet fails.
    Fatal {
        packet: u64,
        status: Status,
        error_code: u8,
    },
}

impl Response {
    /// The result that its commit record carries; `None` for a drop.
    pub fn result(&self) -> Option<RxResult> {
        match self {
            Self::Stale => None,
            Self::Acknowledge(_) | Self::Read => Some(RxResult::Accept),
            Self::Fatal { .. } => Some(RxResult::Fatal),
        }
    }
}

impl SendQueue {
    /// Judges a response; where its payload goes is appended to `chunks`. With the reason in words.
    pub fn judge(
        &self,
        frame: &Frame<'_>,
        qp: &QpContext,
        context: &Context,
        chunks: &mut Vec<Chunk>,
    ) -> (Response, &'static str) {
        let Some(packet) = self.outstanding(frame.bth.psn) else {
            return (Response::Stale, "the psn is not outstanding");
        };
        match (frame.bth.opcode.operation(), frame.ext.aeth()) {
            (Operation::Acknowledge, Some(aeth)) => self.judge_acknowledge(packet, &aeth),
            _ => self.judge_read(packet, frame, qp, context, chunks),
        }
    }

    /// The packet number of a PSN in the window (WIRE-ACK-10, -11).
    fn outstanding(&self, psn: Psn) -> Option<u64> {
        let distance = u64::from(psn.since(self.psn(self.una)));
        (distance < self.next - self.una).then_some(self.una + distance)
    }

    fn judge_acknowledge(&self, packet: u64, aeth: &Aeth) -> (Response, &'static str) {
        let positive = aeth.syndrome.is_ack();
        if let Some(read) = self.open_reads.front()
            && (packet > read.next || (positive && packet == read.next))
        {
            // WIRE-ACK-13; the go-back comes with retransmission.
            let response = fatal(read.next, Status::RetryExceeded);
            return (response, "it acknowledges a read whose response is missing");
        }
        if positive {
            return (Response::Acknowledge(packet), "positive acknowledge");
        }
        // WIRE-NAK-14, -15, -16.
        let status = match aeth.syndrome {
            Syndrome::Rnr { .. } => Status::RnrRetryExceeded,
            Syndrome::Nak(NakCode::PsnSequence) => Status::RetryExceeded,
            Syndrome::Nak(NakCode::InvalidRequest) => Status::RemoteInvalidRequest,
            Syndrome::Nak(NakCode::RemoteAccess) => Status::RemoteAccess,
            Syndrome::Nak(_) => Status::RemoteOperation,
            Syndrome::Ack { .. } | Syndrome::Reserved(_) => Status::BadResponse,
        };
        let response = Response::Fatal {
            packet,
            status,
            error_code: aeth.syndrome.encode(),
        };
        (response, "negative acknowledge")
    }

    fn judge_read(
        &self,
        packet: u64,
        frame: &Frame<'_>,
        qp: &QpContext,
        context: &Context,
        chunks: &mut Vec<Chunk>,
    ) -> (Response, &'static str) {
        let Some(read) = self.open_reads.front() else {
            // WIRE-RD-8.
            return (fatal(packet, Status::BadResponse), "no read is open");
        };
        if packet < read.next {
            return (Response::Stale, "it is older than the open read expects");
        }
        // WIRE-RD-2; the retry comes with retransmission.
        if packet > read.next {
            let response = fatal(read.next, Status::RetryExceeded);
            return (response, "a read response is missing before it");
        }
        if frame.ext.aeth().is_some_and(|aeth| !aeth.syndrome.is_ack()) {
            let response = fatal(packet, Status::BadResponse);
            return (response, "its syndrome is not positive");
        }
        let first = read.offset == 0;
        let last = packet + 1 == read.end;
        if frame.bth.opcode != response_opcode(first, last) {
            let response = fatal(packet, Status::BadResponse);
            return (response, "another opcode is expected");
        }
        let left = read.length - read.offset.min(read.length);
        let expected = left.min(qp.mtu);
        if frame.payload.len() != expected as usize {
            // WIRE-RD-5.
            let response = fatal(packet, Status::LocalLength);
            return (response, "its payload is not as long as requested");
        }
        for piece in pieces(&read.sink, read.offset.into(), expected.into()) {
            if context
                .translate(piece, qp.pd, Right::LocalWrite, chunks)
                .is_err()
            {
                chunks.clear();
                let response = fatal(packet, Status::LocalProtection);
                return (response, "the token of the sink refuses it");
            }
        }
        (Response::Read, "the expected read response")
    }

    /// Carries out the verdict. `placed`: payload writes so far, those of this response included.
    /// Returns the token to invalidate.
    pub fn respond(&mut self, response: &Response, payload: u32, placed: u64) -> Option<Token> {
        match *response {
            Response::Stale => None,
            Response::Acknowledge(packet) => {
                self.una = packet + 1;
                None
            }
            Response::Read => self.read_placed(payload, placed),
            Response::Fatal {
                packet,
                status,
                error_code,
            } => {
                self.una = self.una.max(packet);
                self.fatal = true;
                self.current = None;
                let failed = self.in_flight.iter().find(|request| request.end > packet);
                self.failure = failed.map(|request| Failure {
                    index: request.index,
                    status,
                    error_code,
                });
                None
            }
        }
    }

    fn read_placed(&mut self, payload: u32, placed: u64) -> Option<Token> {
        let read = self.open_reads.front_mut()?;
        read.next += 1;
        read.offset += payload;
        self.una = read.next;
        let OpenRead {
            index,
            next,
            end,
            invalidate,
            ..
        } = *read;
        if payload > 0
            && let Some(request) = self.in_flight.iter_mut().find(|r| r.index == index)
        {
            request.placed = placed;
        }
        if next < end {
            return None;
        }
        self.open_reads.pop_front();
        invalidate
    }
}

fn fatal(packet: u64, status: Status) -> Response {
    Response::Fatal {
        packet,
        status,
        error_code: 0,
    }
}

/// Opcode of a read response by its place.
pub(crate) fn response_opcode(first: bool, last: bool) -> Opcode {
    match (first, last) {
        (true, true) => Opcode::ReadResponseOnly,
        (true, false) => Opcode::ReadResponseFirst,
        (false, false) => Opcode::ReadResponseMiddle,
        (false, true) => Opcode::ReadResponseLast,
    }
}
