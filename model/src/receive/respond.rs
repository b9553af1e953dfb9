//! The queue of responses, and what leaves next.

use super::Receiver;
use crate::abi::{QpState, RespondKind};
use crate::context::{Chunk, Context, QpContext, Right};
use crate::send::response_opcode;
use crate::wire::{Aeth, Ext, Msn, NakCode, Opcode, Psn, Reth, Syndrome};

/// A response that waits.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) enum Response {
    Ack {
        psn: Psn,
        msn: Msn,
        placed: u64,
        /// A like acknowledge has left that may have covered this one: it need not leave any more.
        covered: bool,
    },
    Nak {
        psn: Psn,
        msn: Msn,
        syndrome: Syndrome,
    },
    Read {
        /// PSN of the next packet.
        psn: Psn,
        msn: Msn,
        reth: Reth,
        /// Bytes sent.
        sent: u32,
        /// Payload of earlier requests, which it acknowledges.
        placed: u64,
        /// It is answered again: it does not count among the reads accepted.
        again: bool,
    },
}

impl Response {
    /// Of a read: whether it is answered again, and the PSN of its last packet, the same for every answer to it.
    fn read_end(&self, qp: &QpContext) -> Option<(bool, Psn)> {
        let Self::Read {
            psn,
            reth,
            sent,
            again,
            ..
        } = self
        else {
            return None;
        };
        let left = qp.packets(reth.length - sent.min(&reth.length));
        Some((*again, (*psn + left).prev()))
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::Ack { psn, .. } => format!("ACK of psn {psn}"),
            Self::Nak { psn, syndrome, .. } => {
                format!("NAK {:#04x} of psn {psn}", syndrome.encode())
            }
            Self::Read {
                psn, reth, sent, ..
            } => format!("read of {} bytes, {sent} sent, next psn {psn}", reth.length),
        }
    }
}

/// The kind and PSN of a legal `Respond`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub kind: RespondKind,
    pub psn: Psn,
}

/// A legal `Respond`, and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub answer: Answer,
    /// Responses in front that the step takes for covered by an earlier acknowledge.
    skip: usize,
    /// Responses that it takes with it, after those; 0 if the read goes on.
    take: usize,
    /// Opcode and headers of the packet; `None` if it is discarded.
    pub packet: Option<(Opcode, Ext)>,
    /// Bytes of payload; where they lie is in the chunks that were collected.
    payload: u32,
    /// The read fails: the queue pair goes to error.
    pub fails: bool,
    /// Payload writes to be answered before it may be seen.
    pub barrier: u64,
}

impl Receiver {
    pub(super) fn queue_ack(&mut self, psn: Psn) {
        self.responses.push_back(Response::Ack {
            psn,
            msn: self.msn,
            placed: self.placed,
            covered: false,
        });
    }

    pub(super) fn queue_nak(&mut self, psn: Psn, syndrome: Syndrome) {
        self.responses.push_back(Response::Nak {
            psn,
            msn: self.msn,
            syndrome,
        });
    }

    pub(super) fn queue_read(&mut self, psn: Psn, reth: Reth) {
        self.reads += 1;
        self.push_read(psn, reth, false);
    }

    /// Queues the responses of a read that is remembered (WIRE-DUP-3).
    pub(super) fn queue_replay(&mut self, psn: Psn, reth: Reth) {
        self.push_read(psn, reth, true);
    }

    fn push_read(&mut self, psn: Psn, reth: Reth, again: bool) {
        self.responses.push_back(Response::Read {
            psn,
            msn: self.msn,
            reth,
            sent: 0,
            placed: self.placed,
            again,
        });
    }

    /// Whether a response has to leave.
    pub fn owes(&self) -> bool {
        self.responses
            .iter()
            .any(|response| !matches!(response, Response::Ack { covered: true, .. }))
    }

    /// Whether a congestion notification may leave (WIRE-CNP-1).
    pub fn owes_cnp(&self, state: QpState) -> bool {
        self.marked && matches!(state, QpState::Rtr | QpState::Rts)
    }

    /// The congestion notification leaves.
    pub fn unmark(&mut self) {
        self.marked = false;
    }

    /// Whether responses are sent (WIRE-QP-1), or discarded.
    fn discards(&self, state: QpState) -> bool {
        match state {
            QpState::Rtr | QpState::Rts => false,
            QpState::Err => !self.last_words,
            QpState::Reset | QpState::Init => true,
        }
    }

    /// The legal step that `wanted` names, or with `None` the next one that has to be done. Gather
    /// reads are appended to `chunks`. `None` if no response waits.
    ///
    /// If `wanted` names none, the result is another step, for comparison.
    pub fn next_step(
        &self,
        wanted: Option<Answer>,
        qp: &QpContext,
        context: &Context,
        chunks: &mut Vec<Chunk>,
    ) -> Option<Step> {
        let covered = self
            .responses
            .iter()
            .take_while(|response| matches!(response, Response::Ack { covered: true, .. }))
            .count();
        // Covered acknowledges may still leave, but only if asked for.
        if wanted.is_some() && covered > 0 {
            let mut scratch = Vec::new();
            let step = self.step_at(0, wanted, qp, context, &mut scratch);
            if step.is_some_and(|step| Some(step.answer) == wanted) {
                chunks.append(&mut scratch);
                return step;
            }
        }
        self.step_at(covered, wanted, qp, context, chunks)
    }

    fn step_at(
        &self,
        skip: usize,
        wanted: Option<Answer>,
        qp: &QpContext,
        context: &Context,
        chunks: &mut Vec<Chunk>,
    ) -> Option<Step> {
        let response = self.responses.get(skip)?;
        let mut step = Step {
            answer: Answer {
                kind: RespondKind::Discard,
                psn: Psn::ZERO,
            },
            skip,
            take: 1,
            packet: None,
            payload: 0,
            fails: false,
            barrier: 0,
        };
        if self.discards(qp.state) {
            step.answer.psn = match response {
                Response::Ack { psn, .. }
                | Response::Nak { psn, .. }
                | Response::Read { psn, .. } => *psn,
            };
            return Some(step);
        }
        let discarded = wanted.is_none_or(|wanted| wanted.kind == RespondKind::Discard);
        match response {
            Response::Read { psn, .. } if discarded && self.is_superseded(skip, qp) => {
                step.answer.psn = *psn;
            }
            Response::Ack { .. } => {
                let psn = wanted
                    .filter(|wanted| wanted.kind == RespondKind::Ack)
                    .map(|wanted| wanted.psn);
                self.acknowledge(&mut step, psn);
            }
            Response::Nak { psn, msn, syndrome } => {
                step.answer = Answer {
                    kind: RespondKind::Nak,
                    psn: *psn,
                };
                step.packet = Some(acknowledge(*syndrome, *msn));
            }
            Response::Read {
                psn,
                msn,
                reth,
                sent,
                placed,
                ..
            } => {
                step.barrier = *placed;
                read_step(&mut step, (*psn, *msn, reth, *sent), qp, context, chunks);
            }
        }
        Some(step)
    }

    /// Whether a response need not be sent: a read that was asked for again, or is remembered no more.
    fn is_superseded(&self, at: usize, qp: &QpContext) -> bool {
        let mut from = self.responses.iter().skip(at);
        let Some((again, last)) = from.next().and_then(|response| response.read_end(qp)) else {
            return false;
        };
        from.any(|newer| newer.read_end(qp) == Some((true, last)))
            || again && !self.remembered.ends_at(last)
    }

    /// An ACK that covers those behind it, up to the first one with the PSN wanted; without one that
    /// fits, the first one alone.
    fn acknowledge(&self, step: &mut Step, wanted: Option<Psn>) {
        let acks = || {
            self.responses
                .iter()
                .skip(step.skip)
                .map_while(|response| match response {
                    Response::Ack {
                        psn, msn, placed, ..
                    } => Some((*psn, *msn, *placed)),
                    _ => None,
                })
                .enumerate()
        };
        let found = wanted.and_then(|wanted| acks().find(|(_, (psn, ..))| *psn == wanted));
        let Some((at, (psn, msn, placed))) = found.or_else(|| acks().next()) else {
            return;
        };
        step.take = at + 1;
        step.answer = Answer {
            kind: RespondKind::Ack,
            psn,
        };
        step.packet = Some(acknowledge(Syndrome::ACK, msn));
        step.barrier = placed;
    }

    /// PSNs of acknowledges that may cover the first one, itself first (WIRE-ACK-1, -3).
    pub fn coalesced(&self, qp: &QpContext) -> impl Iterator<Item = Psn> + '_ {
        let discards = self.discards(qp.state);
        self.responses
            .iter()
            .skip_while(|response| matches!(response, Response::Ack { covered: true, .. }))
            .map_while(move |response| match response {
                Response::Ack { psn, .. } if !discards => Some(*psn),
                _ => None,
            })
    }

    /// Carries out a step: how many responses left the queue.
    pub fn stepped(&mut self, step: &Step) -> usize {
        let before = self.responses.len();
        self.responses.drain(..step.skip.min(before));
        if step.take == 0 {
            if let Some(Response::Read { psn, sent, .. }) = self.responses.front_mut() {
                *psn = psn.next();
                *sent += step.payload;
            }
            return before - self.responses.len();
        }
        let count = step.take.min(self.responses.len());
        for response in self.responses.drain(..count) {
            if let Response::Read { again: false, .. } = response {
                self.reads = self.reads.saturating_sub(1);
            }
        }
        if step.fails {
            self.last_words = false;
        }
        if step.answer.kind == RespondKind::Ack {
            self.mark_covered(step.answer.psn);
        }
        before - self.responses.len()
    }

    /// Which of several acknowledges of one PSN left is not told apart: those behind it need not leave.
    fn mark_covered(&mut self, left: Psn) {
        for response in &mut self.responses {
            match response {
                Response::Ack { psn, covered, .. } if *psn == left => *covered = true,
                _ => break,
            }
        }
    }
}

/// One packet of a read, or the NAK in its place (WIRE-PSN-5, WIRE-ACK-6, WIRE-NAK-11, WIRE-KEY-3).
fn read_step(
    step: &mut Step,
    (psn, msn, reth, sent): (Psn, Msn, &Reth, u32),
    qp: &QpContext,
    context: &Context,
    chunks: &mut Vec<Chunk>,
) {
    let left = reth.length - sent.min(reth.length);
    let payload = left.min(qp.mtu);
    step.answer = Answer {
        kind: RespondKind::Read,
        psn,
    };
    if payload > 0 {
        let address = reth.va.wrapping_add(sent.into());
        let (length, right) = (u64::from(payload), Right::RemoteRead);
        match context.check(reth.token, address, length, qp, right) {
            Ok(entry) => context.place(entry, address, length, chunks),
            Err(_) => {
                step.answer.kind = RespondKind::Nak;
                step.packet = Some(acknowledge(Syndrome::Nak(NakCode::RemoteAccess), msn));
                step.fails = true;
                step.barrier = 0;
                return;
            }
        }
    }
    let last = left <= qp.mtu;
    let opcode = response_opcode(sent == 0, last);
    let ext = if opcode == Opcode::ReadResponseMiddle {
        Ext::None
    } else {
        Ext::Aeth(Aeth {
            syndrome: Syndrome::ACK,
            msn,
        })
    };
    step.payload = payload;
    step.take = usize::from(last);
    step.packet = Some((opcode, ext));
}

fn acknowledge(syndrome: Syndrome, msn: Msn) -> (Opcode, Ext) {
    (Opcode::Acknowledge, Ext::Aeth(Aeth { syndrome, msn }))
}
