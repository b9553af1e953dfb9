//! What a response says of the requests: done, placed, lost, not ready, failed.

use super::{Barriers, Failure, SendQueue};
use crate::abi::{RxResult, Status};
use crate::context::{Chunk, Context, QpContext};
use crate::wire::{Aeth, Frame, NakCode, Operation, Psn, Syndrome, Token};

/// The verdict on a response. Numbers are packet numbers; everything before them is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// Outside the window, or it says nothing new: dropped.
    Stale,
    /// Everything before is done.
    Done(u64),
    /// The expected response of the oldest open read.
    Read,
    /// Sending starts again there.
    GoBack(u64),
    /// Sending waits for the timer code, then starts again there.
    RnrWait { packet: u64, timer: u8 },
    /// The request that contains the packet fails.
    Fatal {
        packet: u64,
        status: Status,
        error_code: u8,
    },
}

/// A verdict with the reason in words.
pub(super) type Judged = (Response, &'static str);

impl Response {
    /// The result that its commit record carries; `None` for a drop.
    pub fn result(&self) -> Option<RxResult> {
        match self {
            Self::Stale => None,
            Self::Done(_) | Self::Read => Some(RxResult::Accept),
            Self::GoBack(_) => Some(RxResult::GoBack),
            Self::RnrWait { .. } => Some(RxResult::RnrWait),
            Self::Fatal { .. } => Some(RxResult::Fatal),
        }
    }
}

impl SendQueue {
    /// Judges a response; where its payload goes is appended to `chunks`.
    pub fn judge(
        &self,
        frame: &Frame<'_>,
        qp: &QpContext,
        context: &Context,
        chunks: &mut Vec<Chunk>,
    ) -> Judged {
        let Some(packet) = self.outstanding(frame.bth.psn) else {
            return (Response::Stale, "the psn is not outstanding");
        };
        match (frame.bth.opcode.operation(), frame.ext.aeth()) {
            (Operation::Acknowledge, Some(aeth)) => self.judge_acknowledge(packet, &aeth, qp),
            _ => self.judge_read(packet, frame, qp, context, chunks),
        }
    }

    /// The packet number of a PSN in the window (WIRE-ACK-10, -11).
    fn outstanding(&self, psn: Psn) -> Option<u64> {
        let distance = u64::from(psn.since(self.psn(self.una)));
        (distance < self.top - self.una).then_some(self.una + distance)
    }

    fn judge_acknowledge(&self, packet: u64, aeth: &Aeth, qp: &QpContext) -> Judged {
        let positive = aeth.syndrome.is_ack();
        if let Some(read) = self.open_reads.front()
            && (packet > read.next || (positive && packet == read.next))
        {
            // WIRE-ACK-13.
            let why = "it passes a read whose response is missing";
            return self.lost(read.next, qp, 0, why);
        }
        let error_code = aeth.syndrome.encode();
        // WIRE-NAK-12, -14, -15, -16.
        let status = match aeth.syndrome {
            Syndrome::Ack { .. } => {
                return (Response::Done(packet + 1), "positive acknowledge");
            }
            Syndrome::Nak(NakCode::PsnSequence) => {
                return self.lost(packet, qp, error_code, "the peer misses the psn");
            }
            Syndrome::Rnr { timer } => return self.not_ready(packet, qp, timer),
            Syndrome::Nak(NakCode::InvalidRequest) => Status::RemoteInvalidRequest,
            Syndrome::Nak(NakCode::RemoteAccess) => Status::RemoteAccess,
            Syndrome::Nak(_) => Status::RemoteOperation,
            Syndrome::Reserved(_) => Status::BadResponse,
        };
        let response = Response::Fatal {
            packet,
            status,
            error_code,
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
    ) -> Judged {
        let fatal = |status, why| {
            let response = Response::Fatal {
                packet,
                status,
                error_code: 0,
            };
            (response, why)
        };
        let Some(read) = self.open_reads.front() else {
            // WIRE-RD-8.
            return fatal(Status::BadResponse, "no read is open");
        };
        if packet < read.next {
            return (Response::Stale, "it is older than the open read expects");
        }
        if packet > read.next {
            // WIRE-RD-2.
            let why = "a read response is missing before it";
            return self.lost(read.next, qp, 0, why);
        }
        match read.check(frame, qp, context, chunks) {
            Ok(()) => (Response::Read, "the expected read response"),
            Err((status, why)) => fatal(status, why),
        }
    }

    /// Carries out the verdict. `placed`: payload writes so far, those of this response included.
    /// Returns the token to invalidate.
    pub fn respond(
        &mut self,
        response: &Response,
        payload: u32,
        decided: Barriers,
    ) -> Option<Token> {
        match *response {
            Response::Stale => {}
            Response::Done(packet) => self.acknowledge(packet),
            Response::Read => return self.read_placed(payload, decided),
            Response::GoBack(packet) => self.recover(packet),
            Response::RnrWait { packet, timer } => self.wait(packet, timer),
            Response::Fatal {
                packet,
                status,
                error_code,
            } => self.fail(packet, status, error_code),
        }
        None
    }

    /// The request that contains the packet fails, sending stops. A local failure is forgotten.
    pub(super) fn fail(&mut self, packet: u64, status: Status, error_code: u8) {
        self.acknowledge(packet);
        self.forget_local_failure();
        self.fatal = true;
        self.current = None;
        let failed = self.in_flight.iter().find(|request| request.end > packet);
        self.failure = failed.map(|request| Failure {
            index: request.index,
            status,
            error_code,
        });
    }
}
