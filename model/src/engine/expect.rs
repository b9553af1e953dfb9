//! Expectations: for each kind of action, what the model allows now. They change nothing.

use super::{Action, Engine, InputError, Inputs};
use crate::abi::{Arm, CommitKind, DropCause, QpState, RespondKind, Status};
use crate::complete::{Entry, Queue};
use crate::context::Chunk;
use crate::host::{CqDoorbell, SrqDoorbell};
use crate::receive::{Answer, Step, Verdict, View};
use crate::send::{Next, Retirement};
use crate::wire::Frame;

/// An expectation that may be lacking, with the reason.
pub(super) type Maybe<T> = Result<T, &'static str>;

/// Cause of a `Flush` that takes nothing: no receive of the shared queue is left.
pub(super) const LET_GO: u8 = 2;

pub(super) const NO_QP: &str = "there is no such queue pair";

impl Engine {
    pub(super) fn expect_context(&self) -> Maybe<Action> {
        let command = self.host.command();
        let command = command.ok_or("no context command waits, or doorbells before it")?;
        Ok(Action::new(CommitKind::Context, command.index)
            .with_index(command.count.into())
            .with_cause(command.table))
    }

    pub(super) fn expect_sq_doorbell(&self) -> Maybe<Action> {
        let doorbell = self.host.sq_doorbells.front();
        let doorbell = doorbell.ok_or("no send doorbell waits")?;
        Ok(Action::new(CommitKind::SqDoorbell, doorbell.number).with_index(doorbell.index))
    }

    pub(super) fn expect_rq_doorbell(&self) -> Maybe<Action> {
        let doorbell = self.host.rq_doorbells.front();
        let doorbell = doorbell.ok_or("no receive doorbell waits")?;
        Ok(Action::new(CommitKind::RqDoorbell, doorbell.number).with_index(doorbell.index))
    }

    /// DB_CQ and DB_ARM keep their order.
    pub(super) fn expect_cq_doorbell(&self) -> Maybe<Action> {
        let doorbell = self.host.cq_doorbell();
        Ok(
            match doorbell.ok_or("no completion-queue doorbell waits")? {
                CqDoorbell::Consumed(doorbell) => {
                    Action::new(CommitKind::CqDoorbell, doorbell.number).with_index(doorbell.index)
                }
                CqDoorbell::Arm(doorbell, arm) => cq_arm(doorbell.number, doorbell.index, *arm),
            },
        )
    }

    /// DB_SRQ and DB_SRQ_LIMIT keep their order.
    pub(super) fn expect_srq_doorbell(&self) -> Maybe<Action> {
        let doorbell = self.host.srq_doorbells.front();
        let (kind, doorbell) =
            match doorbell.ok_or("no doorbell of a shared receive queue waits")? {
                SrqDoorbell::Posted(doorbell) => (CommitKind::SrqDoorbell, doorbell),
                SrqDoorbell::Limit(doorbell) => (CommitKind::SrqArm, doorbell),
            };
        Ok(Action::new(kind, doorbell.number).with_index(doorbell.index))
    }

    /// `SrqEvent` of a shared receive queue.
    pub(super) fn expect_srq_event(&self, number: u32) -> Maybe<Action> {
        let is_due = u16::try_from(number).is_ok_and(|number| self.shared.is_due(number));
        if !is_due {
            return Err("no limit event of that shared receive queue is due");
        }
        Ok(Action::new(CommitKind::SrqEvent, number))
    }

    /// `SqEmit`, `SqFail` or `SqLocal` of a queue pair.
    #[inline]
    pub(super) fn expect_send(
        &self,
        qpn: usize,
        inputs: &mut dyn Inputs,
        chunks: &mut Vec<Chunk>,
    ) -> Result<Maybe<(Action, Next)>, InputError> {
        let (Some(qp), Some(sender)) = (self.context.qp(qpn as u32), self.senders.get(qpn)) else {
            return Ok(Err(NO_QP));
        };
        let max_read = self.config.max_read;
        let next = sender.next(qp, &self.context, max_read, inputs, chunks)?;
        let action = match &next {
            Next::Nothing(why) => return Ok(Err(why)),
            Next::Fail {
                index,
                status,
                fault,
                ..
            } => Action::new(CommitKind::SqFail, qpn as u32)
                .with_index(*index)
                .with_cause(*status as u8)
                .with_token(*fault as u32),
            Next::Emit(emission) => Action::new(CommitKind::SqEmit, qpn as u32)
                .with_index(emission.index)
                .with_psn(emission.psn.get()),
            Next::Local(local) => Action::new(CommitKind::SqLocal, qpn as u32)
                .with_index(local.request.index)
                .with_token(local.token.0),
            Next::Frame(request) => {
                Action::new(CommitKind::SqEmit, qpn as u32).with_index(request.index)
            }
        };
        Ok(Ok((action, next)))
    }

    /// The verdict on a frame.
    pub(super) fn expect_frame(
        &self,
        bytes: &[u8],
        parsed: &Result<Frame<'_>, DropCause>,
        inputs: &mut dyn Inputs,
        chunks: &mut Vec<Chunk>,
    ) -> Result<Verdict, InputError> {
        let view = View {
            port: &self.host.port,
            context: &self.context,
            senders: &self.senders,
            receivers: &self.receivers,
            shared: &self.shared,
            max_read: self.config.max_read,
        };
        view.judge(bytes, parsed, inputs, chunks)
    }

    /// `Respond` of a queue pair: the one wanted if it is legal.
    pub(super) fn expect_respond(
        &self,
        qpn: usize,
        wanted: Option<Answer>,
        chunks: &mut Vec<Chunk>,
    ) -> Maybe<(Action, Step)> {
        let qp = self.context.qp(qpn as u32).ok_or(NO_QP)?;
        let receiver = self.receivers.get(qpn).ok_or(NO_QP)?;
        let step = receiver.next_step(wanted, qp, &self.context, chunks);
        let step = step.ok_or("no response waits")?;
        Ok((respond(qpn, step.answer), step))
    }

    pub(super) fn expect_retire(&self, qpn: usize) -> Maybe<(Action, Retirement)> {
        let qp = self.context.qp(qpn as u32).ok_or(NO_QP)?;
        let sender = self.senders.get(qpn).ok_or(NO_QP)?;
        let retirement = sender.retirement(qp.state);
        let retirement = retirement.ok_or("the oldest request has not finished")?;
        let action = Action::new(CommitKind::Retire, qpn as u32)
            .with_index(retirement.index)
            .with_cause(retirement.status as u8);
        Ok((action, retirement))
    }

    pub(super) fn expect_flush(&self, qpn: usize, queue: Queue) -> Maybe<Action> {
        let qp = self.context.qp(qpn as u32).ok_or(NO_QP)?;
        if qp.state != QpState::Err {
            return Err("the queue pair is not in QpErr");
        }
        let index = match queue {
            Queue::Send => self.senders.get(qpn).ok_or(NO_QP)?.flushable(),
            Queue::Receive => self.receivers.get(qpn).ok_or(NO_QP)?.flushable(),
        };
        let lets_go = || queue == Queue::Receive && qp.srq && self.receivers[qpn].lets_go();
        let index = match index {
            Some(index) => index,
            None if lets_go() => {
                return Ok(Action::new(CommitKind::Flush, qpn as u32).with_cause(LET_GO));
            }
            None => return Err("the queue is empty"),
        };
        Ok(Action::new(CommitKind::Flush, qpn as u32)
            .with_index(index)
            .with_cause(queue as u8))
    }

    pub(super) fn expect_complete(&self, qpn: usize, queue: Queue) -> Maybe<(Action, Entry)> {
        let context = |cq| self.context.cq(cq).copied().unwrap_or_default();
        let entry = self.complete.next(qpn, queue, context);
        let entry = entry.ok_or("no completion of that queue waits")?;
        let action = Action::new(CommitKind::Complete, entry.cq)
            .with_index(entry.index)
            .with_token(qpn as u32 | (queue as u32) << 24)
            .with_cause(entry.lost.into());
        Ok((action, entry))
    }

    pub(super) fn expect_event(&self, qpn: usize) -> Maybe<Action> {
        let status = self.complete.event(qpn);
        let status = status.ok_or("no event of the queue pair waits")?;
        if status == Status::Flushed && self.complete.waits(qpn, Queue::Receive) {
            return Err("completions of its receives come before it");
        }
        Ok(Action::new(CommitKind::QpEvent, qpn as u32).with_cause(status as u8))
    }
}

/// The action of a response.
pub(super) fn respond(qpn: usize, answer: Answer) -> Action {
    Action::new(CommitKind::Respond, qpn as u32)
        .with_psn(answer.psn.get())
        .with_cause(answer.kind as u8)
}

/// The response that an action names.
pub(super) fn answer(action: &Action) -> Option<Answer> {
    Some(Answer {
        kind: RespondKind::from_bits(action.cause.into())?,
        psn: crate::wire::Psn::new(action.psn),
    })
}

fn cq_arm(number: u32, index: u16, arm: Arm) -> Action {
    Action::new(CommitKind::Arm, number)
        .with_index(index)
        .with_cause(arm as u8)
}
