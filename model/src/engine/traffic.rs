//! Requests out, frames in: execution.

use super::apply::{Done, compare};
use super::ready::{Work, Works};
use super::{Action, Effect, Engine, Illegal, Inputs, Room};
use crate::abi::{CommitKind, DropCause, RxResult};
use crate::complete::Queue;
use crate::context::{Chunk, QpContext};
use crate::receive::{Outcome, Taken, Verdict, Whole};
use crate::send::{Barriers, FRAME_QPN, Next, Response};
use crate::wire::{Frame, Token};

/// What a packet or a failed request may bring about.
const SENT: Works = Works::of(&[Work::Send, Work::Retire]);
/// What a frame may bring about: an answer, a completed receive, requests that retire or may start.
const RECEIVED: Works = Works::of(&[
    Work::Respond,
    Work::CompleteReceive,
    Work::Retire,
    Work::Send,
]);

impl Engine {
    pub(super) fn do_send(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let mut chunks = std::mem::take(&mut self.scratch.chunks);
        chunks.clear();
        let done = self.send_with(wanted, qpn, inputs, effects, &mut chunks);
        self.scratch.chunks = chunks;
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
        compare(wanted, &action, room, "the next step of the queue")?;
        match next {
            Next::Nothing(why) => return Ok(Err(why)),
            Next::Fail {
                index,
                opcode,
                status,
                fault,
            } => {
                self.begin(0);
                if let Some(sender) = self.senders.get_mut(qpn) {
                    sender.failed(index, opcode, status, fault);
                }
            }
            Next::Emit(emission) => {
                let Some(qp) = self.context.qp(qpn as u32).copied() else {
                    return Ok(Err("there is no such queue pair"));
                };
                self.gather(chunks, inputs).map_err(input)?;
                self.begin(0);
                self.emit(&qp, emission.bth, emission.ext, effects);
                if let Some(sender) = self.senders.get_mut(qpn) {
                    sender.emitted(&emission);
                }
            }
            Next::Local(local) => self.execute(qpn, &local),
            Next::Frame(request) => {
                let sent = self.send_frame(qpn, &request, chunks, inputs, effects);
                sent.map_err(input)?;
            }
        }
        self.ready.touch(qpn, SENT);
        self.retime(qpn);
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
        let mut chunks = std::mem::take(&mut self.scratch.chunks);
        chunks.clear();
        let done = self.frame_with(wanted, &bytes, inputs, effects, &mut chunks);
        self.scratch.chunks = chunks;
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
        let verdict = self.expect_frame(bytes, &parsed, inputs, chunks);
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
            self.begin(0);
            self.host
                .counters
                .frame_in(DropCause::NoBuffer, bytes.len());
            return Ok(Ok(no_buffer));
        }
        let is_wire = parsed.is_err() && expected.kind == CommitKind::RxDrop;
        let room = if is_wire { Room::Wire } else { Room::Receive };
        compare(wanted, &expected, room, why)?;
        self.begin(0);
        let cause = match &outcome {
            Outcome::Drop(cause) => *cause,
            _ => DropCause::None,
        };
        self.host.counters.frame_in(cause, bytes.len());
        if let Outcome::Frame(whole) = &outcome {
            self.take_whole(whole, bytes, chunks, effects);
        } else if let Ok(frame) = &parsed {
            let qpn = expected.qpn as usize;
            self.receive(qpn, frame, &outcome, chunks, effects);
            let result = RxResult::from_bits(expected.cause.into());
            if expected.kind != CommitKind::RxDrop
                && let Some(result) = result
            {
                self.host.counters.result(result);
                self.notice_congestion(qpn, frame, result);
            }
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
            Outcome::Drop(_) | Outcome::Cnp | Outcome::Frame(_) => return,
            Outcome::Take(taken) => self.take(qpn, frame, taken, &qp, chunks, effects),
            Outcome::Response(response) => self.respond(qpn, frame, response, chunks, effects),
            Outcome::Duplicate(_) | Outcome::NakSequence | Outcome::Rnr | Outcome::Refuse(_) => {
                let Some(receiver) = self.receivers.get_mut(qpn) else {
                    return;
                };
                self.responses += 1;
                match outcome {
                    Outcome::NakSequence => receiver.nak_sequence(&qp),
                    Outcome::Rnr => receiver.rnr(&qp),
                    Outcome::Refuse(refused) => {
                        if let Some(entry) = refused.shared {
                            self.shared.take(entry.queue);
                        }
                        if let Some(completion) = receiver.refuse(refused, &qp) {
                            self.complete.push(qpn, Queue::Receive, completion);
                        }
                        self.fail_qp(qpn, refused.status);
                    }
                    Outcome::Duplicate(read) => receiver.duplicate(*read, &qp),
                    _ => {}
                }
            }
        }
        self.ready.touch(qpn, RECEIVED);
    }

    /// A frame that the network marked (ECN 11), and that is no notification itself, marks its queue pair.
    fn notice_congestion(&mut self, qpn: usize, frame: &Frame<'_>, result: RxResult) {
        if frame.ip.traffic_class() & 3 == 3
            && result != RxResult::Cnp
            && let Some(receiver) = self.receivers.get_mut(qpn)
        {
            receiver.mark();
        }
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
        if let Some(entry) = taken.shared {
            self.shared.take(entry.queue);
        }
        let owed = receiver.queued();
        let bth = &frame.bth;
        let finished = receiver.take(taken, qp, bth.ack_req, bth.solicited, placed);
        self.responses += receiver.queued() - owed;
        if let Some(mut completion) = finished {
            if let Some(token) = completion.invalidated {
                self.context.invalidate(Token(token));
                // Other queue pairs may have bytes under way through it, either way.
                completion.barrier = self.payload_writes;
                completion.gathers = self.gather_reads;
            }
            self.complete.push(qpn, Queue::Receive, completion);
        }
    }

    /// Queue pair 1 takes a whole frame.
    fn take_whole(
        &mut self,
        whole: &Whole,
        bytes: &[u8],
        chunks: &[Chunk],
        effects: &mut Vec<Effect>,
    ) {
        let qpn = FRAME_QPN as usize;
        let Some(qp) = self.context.qp(FRAME_QPN).copied() else {
            return;
        };
        let placed = self.scatter(chunks, bytes, effects);
        if let Some(entry) = whole.shared {
            self.shared.take(entry.queue);
        }
        let Some(receiver) = self.receivers.get_mut(qpn) else {
            return;
        };
        let completion = receiver.take_whole(whole, &qp, placed);
        self.complete.push(qpn, Queue::Receive, completion);
        if whole.fault.is_some() {
            self.fail_qp(qpn, whole.status());
        }
        self.ready.touch(qpn, RECEIVED);
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
        let decided = Barriers {
            payload: self.payload_writes,
            gathers: self.gather_reads,
        };
        let Some(sender) = self.senders.get_mut(qpn) else {
            return;
        };
        if let Some(token) = sender.respond(response, payload, decided) {
            self.context.invalidate(token);
        }
        self.retime(qpn);
    }
}
