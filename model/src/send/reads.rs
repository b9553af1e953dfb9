//! Reads that are open, and their responses.

use super::wqe::Wqe;
use super::{Barriers, SendQueue};
use crate::abi::Status;
use crate::context::{Chunk, Context, QpContext, Right, Sge, pieces};
use crate::wire::{Frame, Opcode, Token};

/// Elements of a read's sink.
const SINK: usize = 4;

/// A read whose last response has not been accepted.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct OpenRead {
    pub index: u16,
    /// Packet number of its first response.
    first: u64,
    /// Packet number of its next response.
    pub next: u64,
    /// Packet number after its last response.
    end: u64,
    /// It was sent more than once.
    pub again: bool,
    /// Bytes placed.
    offset: u32,
    length: u32,
    sink: [Sge; SINK],
    /// Token to invalidate with the last response (WIRE-INV-10).
    invalidate: Option<Token>,
}

impl OpenRead {
    pub fn new(index: u16, first: u64, end: u64, wqe: &Wqe) -> Self {
        let mut sink = [Sge::default(); SINK];
        for (to, from) in sink.iter_mut().zip(wqe.elements()) {
            *to = *from;
        }
        let element = wqe.elements().first();
        Self {
            index,
            first,
            next: first,
            end,
            again: false,
            offset: 0,
            length: wqe.length,
            sink,
            invalidate: element
                .filter(|_| wqe.local_invalidate)
                .map(|element| element.token),
        }
    }

    /// Whether the opcode fits the next response (WIRE-RD-4).
    fn fits(&self, opcode: Opcode) -> bool {
        let starts = opcode.starts_message();
        let may_start = self.next == self.first || self.again;
        let must_start = self.next == self.first;
        opcode.ends_message() == (self.next + 1 == self.end)
            && (!starts || may_start)
            && (starts || !must_start)
    }

    /// Checks its next response and appends where the payload goes; or how the read fails, and why.
    pub fn check(
        &self,
        frame: &Frame<'_>,
        qp: &QpContext,
        context: &Context,
        chunks: &mut Vec<Chunk>,
    ) -> Result<(), (Status, &'static str)> {
        if frame.ext.aeth().is_some_and(|aeth| !aeth.syndrome.is_ack()) {
            return Err((Status::BadResponse, "its syndrome is not positive"));
        }
        if !self.fits(frame.bth.opcode) {
            return Err((Status::BadResponse, "another opcode is expected"));
        }
        let left = self.length - self.offset.min(self.length);
        let expected = left.min(qp.mtu);
        if frame.payload.len() != expected as usize {
            // WIRE-RD-5.
            let why = "its payload is not as long as requested";
            return Err((Status::LocalLength, why));
        }
        for piece in pieces(&self.sink, self.offset.into(), expected.into()) {
            let placed = context.translate(piece, qp, Right::LocalWrite, chunks);
            if placed.is_err() {
                chunks.clear();
                let why = "the token of the sink refuses it";
                return Err((Status::LocalProtection, why));
            }
        }
        Ok(())
    }
}

impl SendQueue {
    /// The expected response of the oldest open read was placed. Returns the token to invalidate.
    pub(super) fn read_placed(&mut self, payload: u32, decided: Barriers) -> Option<Token> {
        let read = self.open_reads.front_mut()?;
        read.next += 1;
        read.offset += payload;
        let OpenRead {
            index,
            next,
            end,
            invalidate,
            ..
        } = *read;
        let is_done = next >= end;
        let dies = invalidate.filter(|_| is_done);
        if (payload > 0 || dies.is_some())
            && let Some(request) = self.in_flight.iter_mut().find(|r| r.index == index)
        {
            request.placed = decided.payload;
            if dies.is_some() {
                // What other queue pairs have under way through the token counts, either way.
                request.told_after.gathers = decided.gathers;
            }
        }
        if is_done {
            self.open_reads.pop_front();
        }
        self.acknowledge(next);
        dies
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
