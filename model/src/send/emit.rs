//! The next packet of a send queue.

use super::wqe::{HEAD, MAX_ENTRY, Wqe};
use super::{Current, Failure, OpenRead, Request, SendQueue};
use crate::abi::{Fault, QpState, Status, WqeOpcode};
use crate::context::{Chunk, Context, QpContext, Right, pieces, split};
use crate::engine::{InputError, Inputs, ReadChannel};
use crate::wire::{Bth, Ext, Opcode, Psn, Reth, Token};

/// Every packet whose number in its message modulo this is the last asks for an acknowledge
/// (WIRE-ACK-15).
const ACK_INTERVAL: u32 = 64;

/// What a send queue can do next.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, on the stack of the hot path"
)]
pub(crate) enum Next {
    /// Nothing, and why.
    Nothing(&'static str),
    /// `SqFail`.
    Fail {
        index: u16,
        opcode: u8,
        status: Status,
        fault: Fault,
    },
    /// `SqEmit`.
    Emit(Emission),
}

/// One packet: what is sent, and the state after it. Its payload is in the chunks that were collected.
#[derive(Debug)]
pub(crate) struct Emission {
    pub index: u16,
    pub psn: Psn,
    pub bth: Bth,
    pub ext: Ext,
    /// PSNs that it takes: of a read, those of its responses.
    psns: u32,
    /// The request, if this is its first packet.
    first: bool,
    current: Current,
    payload: u32,
    last: bool,
}

impl SendQueue {
    /// The next packet, or why there is none. Gather reads of the payload are appended to `chunks`.
    /// Reads the request's entry if it has not started; changes nothing.
    pub fn next(
        &self,
        qp: &QpContext,
        context: &Context,
        max_read: u8,
        inputs: &mut dyn Inputs,
        chunks: &mut Vec<Chunk>,
    ) -> Result<Next, InputError> {
        if qp.state != QpState::Rts {
            return Ok(Next::Nothing("the queue pair is not in QpRts"));
        }
        if self.fatal || self.failure.is_some() {
            return Ok(Next::Nothing("the send queue has stopped"));
        }
        let current = match &self.current {
            Some(current) => *current,
            None if self.next_index == self.producer => {
                return Ok(Next::Nothing("no request is left to send"));
            }
            None => match self.fetch(qp, inputs)? {
                Ok(wqe) => Current {
                    wqe,
                    index: self.next_index,
                    offset: 0,
                    packet: 0,
                },
                Err(fail) => return Ok(fail),
            },
        };
        if current.packet == 0
            && let Some(why) = self.blocked(&current.wqe, qp, max_read)
        {
            return Ok(Next::Nothing(why));
        }
        Ok(self.packet(current, qp, context, chunks))
    }

    /// The entry of the next request, or its failure.
    fn fetch(
        &self,
        qp: &QpContext,
        inputs: &mut dyn Inputs,
    ) -> Result<Result<Wqe, Next>, InputError> {
        let mut buffer = [0; MAX_ENTRY];
        let index = self.next_index;
        let entry = buffer.get_mut(..qp.sq_entry.into()).unwrap_or_default();
        inputs.read(ReadChannel::SqFetch, qp.sq_address(index), entry)?;
        Ok(Wqe::parse(entry, index).map_err(|malformed| Next::Fail {
            index,
            opcode: malformed.opcode,
            status: Status::LocalQpOperation,
            fault: malformed.fault,
        }))
    }

    /// What a request that has not started waits for (WIRE-ORD-1, WIRE-RD-1).
    fn blocked(&self, wqe: &Wqe, qp: &QpContext, max_read: u8) -> Option<&'static str> {
        if wqe.read_fence && self.reads_unretired > 0 {
            return Some("the fenced request waits for earlier reads");
        }
        let limit = usize::from(qp.max_ord.min(max_read));
        if wqe.is_read() && self.open_reads.len() >= limit {
            return Some("the read waits for earlier reads (max_ord)");
        }
        None
    }

    fn packet(
        &self,
        current: Current,
        qp: &QpContext,
        context: &Context,
        chunks: &mut Vec<Chunk>,
    ) -> Next {
        let wqe = &current.wqe;
        let left = wqe.length - current.offset.min(wqe.length);
        let (payload, used, right) = if wqe.is_read() {
            (0, left, Right::LocalWrite)
        } else {
            (left.min(qp.mtu), left.min(qp.mtu), Right::LocalRead)
        };
        if wqe.inline {
            let at = HEAD as u64 + u64::from(current.offset);
            let address = qp.sq_address(current.index).wrapping_add(at);
            split(address, payload.into(), chunks);
        } else if let Err((status, fault)) = elements(&current, used, right, qp.pd, context, chunks)
        {
            return Next::Fail {
                index: current.index,
                opcode: wqe.opcode as u8,
                status,
                fault,
            };
        }
        if wqe.is_read() {
            // The sink was checked, nothing is gathered.
            chunks.clear();
        }

        let first = current.packet == 0;
        let last = wqe.is_read() || left <= qp.mtu;
        let opcode = opcode(wqe.opcode, first, last);
        let start = if self.next == 0 {
            qp.sq_psn
        } else {
            self.start
        };
        let psn = start + (self.next & 0xFF_FFFF) as u32;
        let bth = Bth {
            solicited: wqe.solicited
                && last
                && matches!(wqe.opcode, WqeOpcode::Send | WqeOpcode::SendInvalidate),
            ack_req: last || current.packet % ACK_INTERVAL == ACK_INTERVAL - 1,
            pad: Bth::pad_for(payload as usize),
            ..Bth::new(opcode, qp.remote_qpn, psn)
        };
        let ext = match wqe.opcode {
            WqeOpcode::Write | WqeOpcode::Read if first => Ext::Reth(Reth {
                va: wqe.remote_address,
                token: Token(wqe.remote_token),
                length: wqe.length,
            }),
            WqeOpcode::SendInvalidate if last => Ext::Ieth(Token(wqe.invalidate_token)),
            _ => Ext::None,
        };
        Next::Emit(Emission {
            index: current.index,
            psn,
            bth,
            ext,
            psns: if wqe.is_read() {
                qp.packets(wqe.length)
            } else {
                1
            },
            first,
            current,
            payload,
            last,
        })
    }

    /// The packet leaves.
    pub fn emitted(&mut self, emission: &Emission, qp: &QpContext) {
        let Emission { mut current, .. } = *emission;
        let wqe = &current.wqe;
        if self.next == 0 {
            self.start = emission.psn;
        }
        if emission.first {
            let end = self.next + u64::from(qp.packets(wqe.length));
            self.in_flight.push_back(Request {
                index: current.index,
                opcode: wqe.opcode as u8,
                silent: wqe.silent,
                is_read: wqe.is_read(),
                end,
                placed: 0,
            });
            self.next_index = current.index.wrapping_add(1);
            if wqe.is_read() {
                self.reads_unretired += 1;
                self.open_reads
                    .push_back(OpenRead::new(current.index, self.next, end, wqe));
            }
        }
        self.next += u64::from(emission.psns);
        current.offset += emission.payload;
        current.packet = current.packet.wrapping_add(1);
        self.current = (!emission.last).then_some(current);
    }

    /// The request fails; the queue stops, responses still count.
    pub fn failed(&mut self, index: u16, opcode: u8, status: Status, fault: Fault) {
        if self.current.take().is_none() {
            self.in_flight.push_back(Request {
                index,
                opcode,
                silent: false,
                is_read: false,
                end: u64::MAX,
                placed: 0,
            });
            self.next_index = index.wrapping_add(1);
        }
        self.failure = Some(Failure {
            index,
            status,
            error_code: fault as u8,
        });
    }
}

/// Checks the elements that the next `used` bytes lie in, in their order, and appends where they lie.
fn elements(
    current: &Current,
    used: u32,
    right: Right,
    pd: u16,
    context: &Context,
    chunks: &mut Vec<Chunk>,
) -> Result<(), (Status, Fault)> {
    let mut found = 0;
    let elements = current.wqe.elements();
    for piece in pieces(elements, current.offset.into(), used.into()) {
        context
            .translate(piece, pd, right, chunks)
            .map_err(|fault| (Status::LocalProtection, fault))?;
        found += u64::from(piece.length);
    }
    if found < u64::from(used) {
        return Err((Status::LocalQpOperation, Fault::WqeLength));
    }
    Ok(())
}

/// Opcode of a packet by its place in the message (WIRE-SEG-1).
fn opcode(request: WqeOpcode, first: bool, last: bool) -> Opcode {
    match (request, first, last) {
        (WqeOpcode::Read, ..) => Opcode::ReadRequest,
        (WqeOpcode::Write, true, true) => Opcode::WriteOnly,
        (WqeOpcode::Write, true, false) => Opcode::WriteFirst,
        (WqeOpcode::Write, false, false) => Opcode::WriteMiddle,
        (WqeOpcode::Write, false, true) => Opcode::WriteLast,
        (WqeOpcode::SendInvalidate, true, true) => Opcode::SendOnlyInvalidate,
        (WqeOpcode::SendInvalidate, false, true) => Opcode::SendLastInvalidate,
        (_, true, true) => Opcode::SendOnly,
        (_, true, false) => Opcode::SendFirst,
        (_, false, false) => Opcode::SendMiddle,
        (_, false, true) => Opcode::SendLast,
    }
}
