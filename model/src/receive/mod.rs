//! Room `receive`: frames in, receive queues, access of the peer, the queue of responses.

mod frames;
mod posted;
mod replay;
mod request;
mod respond;
mod shared;
mod verdict;

pub(crate) use frames::Whole;
pub(crate) use posted::{Receive, SharedEntry};
pub(crate) use request::{Taken, TakenKind};
pub(crate) use respond::{Answer, Step};
pub(crate) use shared::SharedQueues;
pub(crate) use verdict::{Outcome, Verdict, View};

use std::collections::VecDeque;

use crate::abi::{RxResult, Status};
use crate::complete::{Completion, RECEIVE_OPCODE};
use crate::context::QpContext;
use crate::wire::{Msn, NakCode, Psn, Reth, Syndrome};
use replay::Remembered;
use respond::Response;

/// The message of the peer that is under way.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) enum Message {
    #[default]
    None,
    Send {
        received: u64,
    },
    Write {
        reth: Reth,
        received: u64,
    },
}

/// A fatal NAK, and what becomes of the receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused {
    pub code: NakCode,
    /// Status of the receive, and of the queue pair's event.
    pub status: Status,
    /// Whether a receive completes with it.
    pub completes: bool,
    /// The entry of a shared queue that is taken for that.
    pub shared: Option<SharedEntry>,
}

impl Refused {
    /// The result that the commit record carries.
    pub fn result(&self) -> RxResult {
        match self.code {
            NakCode::RemoteAccess => RxResult::NakAccess,
            NakCode::RemoteOperational => RxResult::NakOperation,
            _ => RxResult::NakInvalid,
        }
    }
}

/// Responder and receive queue of one queue pair.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Receiver {
    /// Index after the last receive rung for.
    pub producer: u16,
    /// Oldest receive not completed; that of the send under way.
    consumer: u16,
    /// The receive of the send under way.
    receive: Option<Receive>,
    /// Index of the receive of a shared queue that the send under way has taken.
    held: Option<u16>,
    /// PSN expected next; the context's until one was accepted.
    expected: Option<Psn>,
    msn: Msn,
    message: Message,
    /// A NAK 0x60 or RNR NAK was sent, and the expected PSN has not come since.
    nak_sent: bool,
    responses: VecDeque<Response>,
    /// Reads accepted among them.
    reads: u32,
    remembered: Remembered,
    /// A frame came marked by a congested switch, and no notification has left since.
    marked: bool,
    /// A fatal NAK is in the queue: everything up to it is still sent in `QpErr`.
    last_words: bool,
    /// Payload writes so far, those of the last accepted packet included.
    placed: u64,
    /// In `QpErr` it was said that no receive of the shared queue is held any more.
    let_go: bool,
}

impl Receiver {
    /// The queue pair was written in `QpInit`. Returns how many responses were forgotten.
    pub fn clear(&mut self) -> usize {
        let forgotten = self.responses.len();
        *self = Self::default();
        forgotten
    }

    /// Responses that wait.
    pub fn queued(&self) -> usize {
        self.responses.len()
    }

    fn expected(&self, qp: &QpContext) -> Psn {
        self.expected.unwrap_or(qp.rq_psn)
    }

    /// Index of the receive that `Flush` takes: the one taken from a shared queue, or the oldest of its own.
    pub fn flushable(&self) -> Option<u16> {
        let own = (self.consumer != self.producer).then_some(self.consumer);
        self.held.or(own)
    }

    /// Whether it is still to be said that the queue pair has no receive of its shared queue.
    pub fn lets_go(&self) -> bool {
        self.held.is_none() && !self.let_go
    }

    /// It is said now.
    pub fn let_go(&mut self) {
        self.let_go = true;
    }

    /// The receive of a shared queue belongs to the queue pair from now on.
    fn hold(&mut self, entry: Option<SharedEntry>) {
        if let Some(entry) = entry {
            self.held = Some(entry.index);
        }
    }

    /// Takes the receive of the message under way, or the oldest one, out of its queue.
    fn finish_receive(&mut self, qp: &QpContext, status: Status) -> Completion {
        let index = self.held.take().unwrap_or_else(|| {
            let index = self.consumer;
            self.consumer = index.wrapping_add(1);
            index
        });
        let mut completion = Completion::new(qp.recv_cq, index, RECEIVE_OPCODE, status);
        completion.barrier = self.placed;
        self.receive = None;
        completion
    }

    /// Flushes the oldest receive.
    pub fn flush(&mut self, qp: &QpContext) -> Completion {
        self.finish_receive(qp, Status::Flushed)
    }

    /// A frame of the queue pair came with ECN 11.
    pub fn mark(&mut self) {
        self.marked = true;
    }

    /// Queues the answer of a duplicate: of a read its responses again, else the ACK of the newest
    /// executed PSN (WIRE-DUP-1 to -3, -9: nothing else changes).
    pub fn duplicate(&mut self, read: Option<(Psn, Reth)>, qp: &QpContext) {
        match read {
            Some((psn, reth)) => self.queue_replay(psn, reth),
            None => self.queue_ack(self.expected(qp).prev()),
        }
    }

    /// Queues a NAK 0x60 for the expected PSN.
    pub fn nak_sequence(&mut self, qp: &QpContext) {
        self.nak_sent = true;
        let psn = self.expected(qp);
        self.queue_nak(psn, Syndrome::Nak(NakCode::PsnSequence));
    }

    /// Queues an RNR NAK for the expected PSN (WIRE-RNR-3, -4).
    pub fn rnr(&mut self, qp: &QpContext) {
        self.nak_sent = true;
        let psn = self.expected(qp);
        let timer = qp.min_rnr_timer;
        self.queue_nak(psn, Syndrome::Rnr { timer });
    }

    /// Queues a fatal NAK (WIRE-NAK-4, -5, -6). The completion of the receive, if there is one.
    pub fn refuse(&mut self, refused: &Refused, qp: &QpContext) -> Option<Completion> {
        let syndrome = Syndrome::Nak(refused.code);
        let psn = self.expected(qp);
        self.nak_sent = false;
        self.queue_nak(psn, syndrome);
        self.last_words = true;
        self.hold(refused.shared);
        refused.completes.then(|| {
            let mut completion = self.finish_receive(qp, refused.status);
            completion.error_code = syndrome.encode();
            completion
        })
    }

    /// Executes a request packet. `placed`: payload writes so far, its own included, if it had any.
    /// The completion of the receive, if it ended a send.
    pub fn take(
        &mut self,
        taken: &Taken,
        qp: &QpContext,
        ack_req: bool,
        solicited: bool,
        placed: Option<u64>,
    ) -> Option<Completion> {
        let psn = self.expected(qp);
        self.nak_sent = false;
        self.expected = Some(psn + taken.psns);
        self.message = taken.message;
        self.receive = taken.receive.or(self.receive);
        self.hold(taken.shared);
        if let Some(placed) = placed {
            self.placed = placed;
        }
        let mut finished = None;
        match taken.kind {
            TakenKind::Placed { ends } => {
                if ends {
                    self.msn = self.msn.next();
                }
            }
            TakenKind::Received {
                byte_len,
                invalidate,
            } => {
                self.msn = self.msn.next();
                let mut completion = self.finish_receive(qp, Status::Success);
                completion.byte_len = byte_len;
                completion.solicited = solicited;
                completion.invalidated = invalidate.map(|token| token.0);
                finished = Some(completion);
            }
            TakenKind::Read { reth, remember } => {
                self.msn = self.msn.next();
                self.queue_read(psn, reth);
                self.remembered.push(psn, taken.psns, reth, remember);
                return None;
            }
        }
        if ack_req {
            self.queue_ack(psn);
        }
        finished
    }

    /// See [`Engine::forget_writes`](crate::engine::Engine::forget_writes).
    pub fn forget_writes(&mut self, count: u64) {
        self.placed = self.placed.saturating_sub(count);
        for response in &mut self.responses {
            if let Response::Ack { placed, .. } | Response::Read { placed, .. } = response {
                *placed = placed.saturating_sub(count);
            }
        }
    }

    /// In words, for a report.
    pub fn describe(&self, qp: &QpContext) -> String {
        let mut text = format!(
            "receive: psn {} expected, msn {}, receives {}..{} posted",
            self.expected(qp),
            self.msn,
            self.consumer,
            self.producer,
        );
        if let Some(queue) = qp.shared_queue() {
            text += &format!("; shared receive queue {queue}");
        }
        if let Some(index) = self.held {
            text += &format!(", of which it holds receive {index}");
        }
        match &self.message {
            Message::None => {}
            Message::Send { received } => text += &format!("; send under way at byte {received}"),
            Message::Write { reth, received } => {
                text += &format!("; write under way at byte {received} of {}", reth.length);
            }
        }
        if self.nak_sent {
            text += "; NAK sent";
        }
        if self.marked {
            text += "; a CNP is due";
        }
        if !self.responses.is_empty() {
            text += &format!("; {} responses wait, first ", self.responses.len());
            text += &self
                .responses
                .front()
                .map_or_else(String::new, Response::describe);
        }
        text
    }
}
