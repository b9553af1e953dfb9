//! The next packet of a send queue.

use super::wqe::{HEAD, MAX_ENTRY, Wqe};
use super::{Barriers, Current, Failure, Local, OpenRead, Request, SendQueue, UNSENT, Unsent};
use crate::abi::{Fault, QpState, Status, WqeOpcode};
use crate::context::{Chunk, Context, QpContext, Right, pieces, split};
use crate::engine::{InputError, Inputs, ReadChannel};
use crate::wire::{Bth, Ext, Opcode, Psn, Reth, Token};

/// Every packet whose number in its message modulo this is the last asks for an acknowledge
/// (WIRE-ACK-15).
const ACK_INTERVAL: u64 = 64;

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
    /// `SqLocal`.
    Local(Local),
    /// `SqEmit` of a whole frame, whose bytes are in the chunks that were collected.
    Frame(Unsent),
}

/// One packet: what is sent, and the state after it. Its payload is in the chunks that were collected.
#[derive(Debug)]
pub(crate) struct Emission {
    pub index: u16,
    pub psn: Psn,
    pub bth: Bth,
    pub ext: Ext,
    /// Packet number after it: of a read, after its last response.
    after: u64,
    current: Current,
}

impl SendQueue {
    /// The next packet, or why there is none. Gather reads of the payload are appended to `chunks`.
    /// Reads the request's entry if it has not started; changes nothing.
    #[inline]
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
        if self.recovery.waiting.is_some() {
            return Ok(Next::Nothing("the queue waits for a receiver not ready"));
        }
        let current = match &self.current {
            Some(current) => *current,
            None => match self.fetch(qp, inputs)? {
                Ok(current) => current,
                Err(next) => return Ok(next),
            },
        };
        if current.first == self.top
            && let Some(why) = self.blocked(&current.wqe, qp, max_read)
        {
            return Ok(Next::Nothing(why));
        }
        match current.wqe.opcode {
            WqeOpcode::Frame => Ok(frame(&current, qp, context, chunks)),
            _ if current.wqe.is_local() => self.local(&current, qp, context, inputs),
            _ => Ok(self.packet(current, qp, context, chunks)),
        }
    }

    /// The request that `next` lies in, if a packet of it was ever sent.
    fn sent_before(&self) -> Option<&Request> {
        self.in_flight.back().filter(|r| r.end > self.next)?;
        let at = self.in_flight.partition_point(|r| r.end <= self.next);
        self.in_flight.get(at)
    }

    /// The request at `next` with its entry, or what there is instead.
    #[inline]
    fn fetch(
        &self,
        qp: &QpContext,
        inputs: &mut dyn Inputs,
    ) -> Result<Result<Current, Next>, InputError> {
        let sent = self.sent_before();
        let index = sent.map_or(self.next_index, |request| request.index);
        if sent.is_none() && index == self.producer {
            return Ok(Err(Next::Nothing("no request is left to send")));
        }
        let mut buffer = [0; MAX_ENTRY];
        let entry = buffer.get_mut(..qp.sq_entry.into()).unwrap_or_default();
        inputs.read(ReadChannel::SqFetch, qp.sq_address(index), entry)?;
        Ok(match Wqe::parse(entry, index, qp.number) {
            Ok(wqe) => {
                let (first, end) = match sent {
                    Some(request) => (request.first, request.end),
                    None if wqe.sends_packets() => {
                        (self.next, self.next + u64::from(qp.packets(wqe.length)))
                    }
                    None => (self.next, self.next),
                };
                Ok(Current {
                    wqe,
                    index,
                    first,
                    end,
                })
            }
            Err(malformed) => Err(Next::Fail {
                index,
                opcode: malformed.opcode,
                status: Status::LocalQpOperation,
                fault: malformed.fault,
            }),
        })
    }

    /// What a request that has not started waits for (WIRE-ORD-1, -2, WIRE-RD-1).
    fn blocked(&self, wqe: &Wqe, qp: &QpContext, max_read: u8) -> Option<&'static str> {
        if wqe.read_fence && self.reads_unretired > 0 {
            return Some("the fenced request waits for earlier reads");
        }
        let limit = usize::from(qp.max_ord.min(max_read));
        if wqe.is_read() && self.open_reads.len() >= limit {
            return Some("the read waits for earlier reads (max_ord)");
        }
        if wqe.opcode == WqeOpcode::Invalidate && !self.in_flight.is_empty() {
            return Some("the Invalidate waits until all earlier requests have retired");
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
        let packet = self.next - current.first;
        let offset = (packet * u64::from(qp.mtu)).min(wqe.length.into()) as u32;
        let left = wqe.length - offset;
        let (payload, used, right) = if wqe.is_read() {
            (0, left, Right::LocalWrite)
        } else {
            (left.min(qp.mtu), left.min(qp.mtu), Right::LocalRead)
        };
        if let Err(why) = bytes(&current, (offset, used), right, qp, context, chunks) {
            return refused(&current, why);
        }
        if wqe.is_read() {
            // The sink was checked, nothing is gathered.
            chunks.clear();
        }

        let first = packet == 0;
        let after = if wqe.is_read() {
            current.end
        } else {
            self.next + 1
        };
        let last = after == current.end;
        let opcode = opcode(wqe.opcode, first, last);
        let start = if self.top == 0 { qp.sq_psn } else { self.start };
        let psn = start + (self.next & 0xFF_FFFF) as u32;
        let bth = Bth {
            solicited: wqe.solicited
                && last
                && matches!(wqe.opcode, WqeOpcode::Send | WqeOpcode::SendInvalidate),
            ack_req: last || packet % ACK_INTERVAL == ACK_INTERVAL - 1,
            pad: Bth::pad_for(payload as usize),
            ..Bth::new(opcode, qp.remote_qpn, psn)
        };
        let ext = match wqe.opcode {
            // WIRE-RD-3: a read sent again asks for what is missing.
            WqeOpcode::Read => reth(wqe, offset),
            WqeOpcode::Write if first => reth(wqe, 0),
            WqeOpcode::SendInvalidate if last => Ext::Ieth(Token(wqe.object_token)),
            _ => Ext::None,
        };
        Next::Emit(Emission {
            index: current.index,
            psn,
            bth,
            ext,
            after,
            current,
        })
    }

    /// The packet leaves.
    pub fn emitted(&mut self, emission: &Emission) {
        let current = &emission.current;
        let wqe = &current.wqe;
        if self.top == 0 {
            self.start = emission.psn;
        }
        if current.first == self.top {
            self.in_flight.push_back(Request {
                index: current.index,
                opcode: wqe.opcode as u8,
                silent: wqe.silent,
                is_read: wqe.is_read(),
                is_unsent: false,
                first: current.first,
                end: current.end,
                placed: 0,
                told_after: Barriers::default(),
            });
            self.next_index = current.index.wrapping_add(1);
            if wqe.is_read() {
                self.reads_unretired += 1;
                self.open_reads.push_back(OpenRead::new(
                    current.index,
                    current.first,
                    current.end,
                    wqe,
                ));
            }
        } else if wqe.is_read() {
            let open = self.open_reads.iter_mut();
            for read in open.filter(|read| read.index == current.index) {
                read.again = true;
            }
        }
        self.next = emission.after;
        self.top = self.top.max(self.next);
        self.current = (emission.after != current.end).then_some(*current);
    }

    /// The request at `next` fails; the queue stops, responses still count.
    pub fn failed(&mut self, index: u16, opcode: u8, status: Status, fault: Fault) {
        if self.current.take().is_none() && self.sent_before().is_none() {
            self.in_flight.push_back(Request {
                index,
                opcode,
                silent: false,
                is_read: false,
                is_unsent: false,
                first: self.next,
                end: UNSENT,
                placed: 0,
                told_after: Barriers::default(),
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

/// The RETH of a request, from byte `offset` on.
fn reth(wqe: &Wqe, offset: u32) -> Ext {
    Ext::Reth(Reth {
        va: wqe.remote_address.wrapping_add(offset.into()),
        token: Token(wqe.remote_token),
        length: wqe.length - offset,
    })
}

/// A whole frame of queue pair 1.
fn frame(current: &Current, qp: &QpContext, context: &Context, chunks: &mut Vec<Chunk>) -> Next {
    let range = (0, current.wqe.length);
    match bytes(current, range, Right::LocalRead, qp, context, chunks) {
        Ok(()) => Next::Frame(Unsent::of(current)),
        Err(why) => refused(current, why),
    }
}

/// A request whose bytes must not be used fails.
fn refused(current: &Current, (status, fault): (Status, Fault)) -> Next {
    Next::Fail {
        index: current.index,
        opcode: current.wqe.opcode as u8,
        status,
        fault,
    }
}

/// Appends where `used` bytes from `offset` on lie, or how the request fails.
fn bytes(
    current: &Current,
    (offset, used): (u32, u32),
    right: Right,
    qp: &QpContext,
    context: &Context,
    chunks: &mut Vec<Chunk>,
) -> Result<(), (Status, Fault)> {
    let wqe = &current.wqe;
    if wqe.inline {
        let at = HEAD as u64 + u64::from(offset);
        let address = qp.sq_address(current.index).wrapping_add(at);
        split(address, used.into(), chunks);
        return Ok(());
    }
    elements(wqe, (offset, used), right, qp, context, chunks)
}

/// Checks the elements that `used` bytes from `offset` on lie in, in their order, and appends where they lie.
fn elements(
    wqe: &Wqe,
    (offset, used): (u32, u32),
    right: Right,
    qp: &QpContext,
    context: &Context,
    chunks: &mut Vec<Chunk>,
) -> Result<(), (Status, Fault)> {
    let mut found = 0;
    for piece in pieces(wqe.elements(), offset.into(), used.into()) {
        context
            .translate(piece, qp, right, chunks)
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
