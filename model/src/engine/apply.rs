//! Execution: an action is compared with its expectation, then committed.

use super::expect::{LET_GO, Maybe};
use super::ready::{Work, Works};
use super::{Action, Effect, Engine, Illegal, Inputs, Room};
use crate::abi::{CommitKind, QpState};
use crate::complete::Queue;
use crate::context::Written;
use crate::host::CqDoorbell;

/// An executed action; why there is none; or why the one wanted is illegal.
pub(super) type Done = Result<Maybe<Action>, Illegal>;

/// What a send doorbell may bring about.
const RUNG_SEND: Works = Works::of(&[Work::Send, Work::FlushSend]);
/// What a receive doorbell may bring about.
const RUNG_RECEIVE: Works = Works::of(&[Work::FlushReceive]);

impl Engine {
    /// Executes one action, and appends what the world must see of it.
    ///
    /// # Errors
    /// Why it is not legal; the state is then as before.
    pub fn apply(
        &mut self,
        action: &Action,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Illegal> {
        let wanted = Some(action);
        let qpn = action.qpn as usize;
        let (room, done) = match action.kind {
            CommitKind::None => (Room::Host, Ok(Err("it is no action"))),
            CommitKind::Context => (Room::Context, self.do_context(wanted)),
            CommitKind::SqDoorbell => (Room::Host, self.do_sq_doorbell(wanted)),
            CommitKind::RqDoorbell => (Room::Host, self.do_rq_doorbell(wanted)),
            CommitKind::CqDoorbell | CommitKind::Arm => {
                (Room::Host, self.do_cq_doorbell(wanted, effects))
            }
            CommitKind::SqEmit | CommitKind::SqFail | CommitKind::SqLocal => {
                (Room::Send, self.do_send(wanted, qpn, inputs, effects))
            }
            CommitKind::RxDrop
            | CommitKind::RxRequest
            | CommitKind::RxResponse
            | CommitKind::RxFrame => (Room::Receive, self.do_frame(wanted, inputs, effects)),
            CommitKind::Respond => (Room::Receive, self.do_respond(wanted, qpn, inputs, effects)),
            CommitKind::Retire => (Room::Send, self.do_retire(wanted, qpn)),
            CommitKind::Flush => match action.cause {
                0 => (Room::Send, self.do_flush(wanted, qpn, Queue::Send)),
                1 | LET_GO => (Room::Receive, self.do_flush(wanted, qpn, Queue::Receive)),
                _ => (Room::Send, Ok(Err("its cause names no queue"))),
            },
            CommitKind::Complete => {
                let qpn = (action.token & 0xFF_FFFF) as usize;
                let done = match action.token >> 24 {
                    0 => self.do_complete(wanted, qpn, Queue::Send, effects),
                    1 => self.do_complete(wanted, qpn, Queue::Receive, effects),
                    _ => Ok(Err("its token names no queue")),
                };
                (Room::Complete, done)
            }
            CommitKind::QpEvent => (Room::Complete, self.do_event(wanted, qpn, effects)),
            CommitKind::SrqDoorbell | CommitKind::SrqArm => {
                (Room::Host, self.do_srq_doorbell(wanted))
            }
            CommitKind::SrqEvent => (
                Room::Complete,
                self.do_srq_event(wanted, action.qpn, effects),
            ),
            CommitKind::CqEvent => (
                Room::Complete,
                self.do_cq_event(wanted, action.qpn, effects),
            ),
            CommitKind::Timeout | CommitKind::RnrResume => (Room::Send, self.do_timer(wanted, qpn)),
        };
        match done? {
            Ok(_) => Ok(()),
            Err(why) => Err(Illegal::Refused {
                room,
                action: *action,
                why,
            }),
        }
    }

    pub(super) fn do_context(&mut self, wanted: Option<&Action>) -> Done {
        let action = match self.expect_context() {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        compare(wanted, &action, Room::Context, "the oldest command")?;
        self.begin(0);
        let Some(command) = self.host.commands.pop_front() else {
            return Ok(Ok(action));
        };
        match self.context.write(&command) {
            Written::Nothing => {}
            Written::Cq(cq) => {
                self.complete.clear_cq(cq);
                self.note_due(cq as u32, false);
            }
            Written::CqRing(cq) => self.host.cq_switch = self.complete.switch_ring(cq),
            Written::CqModeration(cq) => self.note_due(cq as u32, true),
            Written::Srq(srq) => self.shared.clear(srq as u16),
            Written::Qp(qpn) => {
                if self.context.state(qpn as u32) == QpState::Init {
                    if let Some(sender) = self.senders.get_mut(qpn) {
                        sender.clear();
                    }
                    if let Some(receiver) = self.receivers.get_mut(qpn) {
                        let forgotten = receiver.clear();
                        self.responses = self.responses.saturating_sub(forgotten);
                    }
                }
                self.ready.write(qpn);
                self.retime(qpn);
            }
        }
        Ok(Ok(action))
    }

    pub(super) fn do_sq_doorbell(&mut self, wanted: Option<&Action>) -> Done {
        let action = match self.expect_sq_doorbell() {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        compare(wanted, &action, Room::Host, "the oldest send doorbell")?;
        self.begin(0);
        self.host.sq_doorbells.pop_front();
        let qpn = action.qpn as usize;
        if self.context.state(action.qpn) != QpState::Reset
            && let Some(sender) = self.senders.get_mut(qpn)
        {
            sender.producer = action.index;
            self.ready.touch(qpn, RUNG_SEND);
        }
        Ok(Ok(action))
    }

    pub(super) fn do_rq_doorbell(&mut self, wanted: Option<&Action>) -> Done {
        let action = match self.expect_rq_doorbell() {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        compare(wanted, &action, Room::Host, "the oldest receive doorbell")?;
        self.begin(0);
        self.host.rq_doorbells.pop_front();
        let qpn = action.qpn as usize;
        if let Some(qp) = self.context.qp(action.qpn)
            && qp.state != QpState::Reset
            && !qp.srq
            && let Some(receiver) = self.receivers.get_mut(qpn)
        {
            receiver.producer = action.index;
            self.ready.touch(qpn, RUNG_RECEIVE);
        }
        Ok(Ok(action))
    }

    pub(super) fn do_cq_doorbell(
        &mut self,
        wanted: Option<&Action>,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let action = match self.expect_cq_doorbell() {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        let why = "the oldest doorbell of completion queues";
        compare(wanted, &action, Room::Host, why)?;
        self.begin(0);
        match self.host.take_cq_doorbell() {
            Some(CqDoorbell::Consumed(doorbell)) => self.complete.consumed(&doorbell),
            Some(CqDoorbell::Arm(doorbell, arm)) => {
                let context = self
                    .context
                    .cq(doorbell.number)
                    .copied()
                    .unwrap_or_default();
                if let Some(event) = self.complete.arm(&doorbell, arm, &context) {
                    self.event(event, 0, doorbell.number, effects);
                }
                self.note_due(doorbell.number, false);
            }
            None => {}
        }
        Ok(Ok(action))
    }
}

/// Refuses an action that is not the expected one.
pub(super) fn compare(
    wanted: Option<&Action>,
    expected: &Action,
    room: Room,
    why: &'static str,
) -> Result<(), Illegal> {
    match wanted {
        Some(wanted) if wanted != expected => Err(Illegal::Differs {
            room,
            action: *wanted,
            expected: *expected,
            why,
        }),
        _ => Ok(()),
    }
}
