//! Packets out, frames in, responses: execution.

use super::apply::{Done, compare};
use super::expect::answer;
use super::ready::{Work, Works};
use super::{Action, Effect, Engine, Illegal, Inputs, Room};
use crate::abi::{CommitKind, DropCause, Status};
use crate::complete::Queue;
use crate::context::{Chunk, QpContext};
use crate::receive::{Outcome, Step, Taken, Verdict};
use crate::send::{Next, Response};
use crate::wire::{Bth, Frame, Psn, Token};

/// Status of the event of a queue pair whose read was refused while it was answered.
const READ_REFUSED: Status = Status::RemoteInvalidRequest;

/// What a packet or a failed request may bring about.
const SENT: Works = Works::of(&[Work::Send, Work::Retire]);
/// What a frame may bring about: an answer, a completed receive, requests that retire or may start.
const RECEIVED: Works = Works::of(&[
    Work::Respond,
    Work::CompleteReceive,
    Work::Retire,
    Work::Send,
]);
/// What a response may bring about.
const ANSWERED: Works = Works::of(&[Work::Respond]);

impl Engine {
    pub(super) fn do_send(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.clear();
        let done = self.send_with(wanted, qpn, inputs, effects, &mut chunks);
        self.chunks = chunks;
        done
    }

    fn send_with(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
        chunks: &mut Vec<Chunk>,
    ) -> Done {
        let room = Room::Send;
        let shown = |qpn| Action::new(CommitKind::SqEmit, qpn as u32);
        let input = |source| Illegal::Input {
            room,
            action: wanted.copied().unwrap_or(shown(qpn)),
            source,
        };
        let (action, next) = match self.expect_send(qpn, inputs, chunks).map_err(input)? {
            Ok(expected) => expected,
            Err(why) => return Ok(Err(why)),
        };
        compare(wanted, &action, room, "the next packet of the queue")?;
        match next {
            Next::Nothing(why) => return Ok(Err(why)),
            Next::Fail {
                index,
                opcode,
                status,
                fault,
            } => {
                self.barrier = 0;
                if let Some(sender) = self.senders.get_mut(qpn) {
                    sender.failed(index, opcode, status, fault);
                }
            }
            Next::Emit(emission) => {
                let Some(qp) = self.context.qp(qpn as u32).copied() else {
                    return Ok(Err("there is no such queue pair"));
                };
                self.gather(chunks, inputs).map_err(input)?;
                self.barrier = 0;
                self.emit(&qp, emission.bth, emission.ext, effects);
                if let Some(sender) = self.senders.get_mut(qpn) {
                    sender.emitted(&emission, &qp);
                }
            }
        }
        self.ready.touch(qpn, SENT);
        Ok(Ok(action))
    }

    pub(super) fn do_frame(
        &mut self,
        wanted: Option<&Action>,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let Some(bytes) = self.frames.pop_front() else {
            return Ok(Err("no frame waits"));
        };
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.clear();
        let done = self.frame_with(wanted, &bytes, inputs, effects, &mut chunks);
        self.chunks = chunks;
        match done {
            Ok(Ok(_)) => self.recycle(bytes),
            _ => self.frames.push_front(bytes),
        }
        done
    }

    fn frame_with(
        &mut self,
        wanted: Option<&Action>,
        bytes: &[u8],
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
        chunks: &mut Vec<Chunk>,
    ) -> Done {
        let parsed: Result<Frame<'_>, DropCause> = Frame::parse(bytes);
        let verdict = self.expect_frame(&parsed, inputs, chunks);
        let verdict = verdict.map_err(|source| Illegal::Input {
            room: Room::Receive,
            action: wanted
                .copied()
                .unwrap_or(Action::new(CommitKind::RxRequest, 0)),
            source,
        })?;
        let Verdict {
            action: expected,
            outcome,
            why,
            is_request,
        } = verdict;
        if let Some(wanted) = wanted
            && is_request
            && wanted.kind == CommitKind::RxDrop
            && wanted.cause == DropCause::NoBuffer as u8
        {
            let no_buffer = Action {
                kind: CommitKind::RxDrop,
                cause: DropCause::NoBuffer as u8,
                ..expected
            };
            let why = "a request may find no room";
            compare(Some(wanted), &no_buffer, Room::Receive, why)?;
            self.barrier = 0;
            self.host.count_in(DropCause::NoBuffer, bytes.len());
            return Ok(Ok(no_buffer));
        }
        let room = if parsed.is_err() {
            Room::Wire
        } else {
            Room::Receive
        };
        compare(wanted, &expected, room, why)?;
        self.barrier = 0;
        let cause = match &outcome {
            Outcome::Drop(cause) => *cause,
            _ => DropCause::None,
        };
        self.host.count_in(cause, bytes.len());
        if let Ok(frame) = &parsed {
            self.receive(expected.qpn as usize, frame, &outcome, chunks, effects);
        }
        Ok(Ok(expected))
    }

    /// Carries out the verdict on a frame.
    fn receive(
        &mut self,
        qpn: usize,
        frame: &Frame<'_>,
        outcome: &Outcome,
        chunks: &[Chunk],
        effects: &mut Vec<Effect>,
    ) {
        let Some(qp) = self.context.qp(qpn as u32).copied() else {
            return;
        };
        match outcome {
            Outcome::Drop(_) => return,
            Outcome::Take(taken) => self.take(qpn, frame, taken, &qp, chunks, effects),
            Outcome::Response(response) => self.respond(qpn, frame, response, chunks, effects),
            Outcome::Duplicate | Outcome::NakSequence | Outcome::Rnr | Outcome::Refuse(_) => {
                let Some(receiver) = self.receivers.get_mut(qpn) else {
                    return;
                };
                self.responses += 1;
                match outcome {
                    Outcome::NakSequence => receiver.nak_sequence(&qp),
                    Outcome::Rnr => receiver.rnr(&qp),
                    Outcome::Refuse(refused) => {
                        if let Some(completion) = receiver.refuse(refused, &qp) {
                            self.complete.push(qpn, Queue::Receive, completion);
                        }
                        self.fail_qp(qpn, refused.status);
                    }
                    _ => receiver.duplicate(&qp),
                }
            }
        }
        self.ready.touch(qpn, RECEIVED);
    }

    fn take(
        &mut self,
        qpn: usize,
        frame: &Frame<'_>,
        taken: &Taken,
        qp: &QpContext,
        chunks: &[Chunk],
        effects: &mut Vec<Effect>,
    ) {
        let placed = self.scatter(chunks, frame.payload, effects);
        let Some(receiver) = self.receivers.get_mut(qpn) else {
            return;
        };
        let owed = receiver.queued();
        let bth = &frame.bth;
        let finished = receiver.take(taken, qp, bth.ack_req, bth.solicited, placed);
        self.responses += receiver.queued() - owed;
        if let Some(completion) = finished {
            if let Some(token) = completion.invalidated {
                self.context.invalidate(Token(token));
            }
            self.complete.push(qpn, Queue::Receive, completion);
        }
    }

    fn respond(
        &mut self,
        qpn: usize,
        frame: &Frame<'_>,
        response: &Response,
        chunks: &[Chunk],
        effects: &mut Vec<Effect>,
    ) {
        let mut payload = 0;
        if *response == Response::Read {
            self.scatter(chunks, frame.payload, effects);
            payload = frame.payload.len() as u32;
        }
        let placed = self.payload_writes;
        let Some(sender) = self.senders.get_mut(qpn) else {
            return;
        };
        if let Some(token) = sender.respond(response, payload, placed) {
            self.context.invalidate(token);
        }
    }

    pub(super) fn do_respond(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.clear();
        let done = self.respond_with(wanted, qpn, inputs, effects, &mut chunks);
        self.chunks = chunks;
        done
    }

    fn respond_with(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
        chunks: &mut Vec<Chunk>,
    ) -> Done {
        let room = Room::Receive;
        let (action, step): (Action, Step) =
            match self.expect_respond(qpn, wanted.and_then(answer), chunks) {
                Ok(expected) => expected,
                Err(why) => return Ok(Err(why)),
            };
        compare(wanted, &action, room, "the oldest response")?;
        let Some(qp) = self.context.qp(qpn as u32).copied() else {
            return Ok(Err("there is no such queue pair"));
        };
        if step.packet.is_some() {
            self.gather(chunks, inputs)
                .map_err(|source| Illegal::Input {
                    room,
                    action,
                    source,
                })?;
        }
        self.barrier = step.barrier;
        if let Some((opcode, ext)) = step.packet {
            let psn = Psn::new(action.psn);
            let bth = Bth {
                pad: Bth::pad_for(self.payload.len()),
                ..Bth::new(opcode, qp.remote_qpn, psn)
            };
            self.emit(&qp, bth, ext, effects);
        }
        if let Some(receiver) = self.receivers.get_mut(qpn) {
            let left = receiver.stepped(&step);
            self.responses = self.responses.saturating_sub(left);
        }
        if step.fails {
            self.fail_qp(qpn, READ_REFUSED);
        }
        self.ready.touch(qpn, ANSWERED);
        Ok(Ok(action))
    }
}
