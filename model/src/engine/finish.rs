//! Requests at their end: retired, flushed, told of. Execution.

use super::apply::{Done, compare};
use super::expect::LET_GO;
use super::ready::{Work, Works};
use super::{Action, Effect, Engine, Room, WriteChannel};
use crate::abi::{EventKind, Status};
use crate::complete::{Queue, Written};

/// What a retired request may bring about: the next one, a fenced one, its completion.
const RETIRED: Works = Works::of(&[Work::Retire, Work::Send, Work::CompleteSend]);
/// What a flushed request may bring about.
const FLUSHED: Works = Works::of(&[
    Work::FlushSend,
    Work::FlushReceive,
    Work::QpEvent,
    Work::CompleteSend,
    Work::CompleteReceive,
]);
/// What a completion entry may bring about.
const COMPLETED: Works = Works::of(&[Work::CompleteSend, Work::CompleteReceive]);
/// What a queue pair's event may bring about.
const TOLD: Works = Works::of(&[Work::QpEvent]);

impl Engine {
    pub(super) fn do_retire(&mut self, wanted: Option<&Action>, qpn: usize) -> Done {
        let (action, retirement) = match self.expect_retire(qpn) {
            Ok(expected) => expected,
            Err(why) => return Ok(Err(why)),
        };
        compare(wanted, &action, Room::Send, "the oldest request")?;
        self.begin(0);
        if let (Some(qp), Some(sender)) = (self.context.qp(qpn as u32), self.senders.get_mut(qpn)) {
            let (completion, placed) = sender.retire(retirement, qp);
            self.barrier = placed;
            if let Some(completion) = completion {
                self.complete.push(qpn, Queue::Send, completion);
            }
        }
        if retirement.status != Status::Success {
            self.fail_qp(qpn, retirement.status);
        }
        self.ready.touch(qpn, RETIRED);
        Ok(Ok(action))
    }

    pub(super) fn do_flush(&mut self, wanted: Option<&Action>, qpn: usize, queue: Queue) -> Done {
        let action = match self.expect_flush(qpn, queue) {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        let room = match queue {
            Queue::Send => Room::Send,
            Queue::Receive => Room::Receive,
        };
        compare(wanted, &action, room, "the oldest request of the queue")?;
        self.begin(0);
        if action.cause == LET_GO {
            if let Some(receiver) = self.receivers.get_mut(qpn) {
                receiver.let_go();
            }
            self.complete.push_event(qpn, Status::Flushed);
        } else if let (Some(qp), Some(sender), Some(receiver)) = (
            self.context.qp(qpn as u32),
            self.senders.get_mut(qpn),
            self.receivers.get_mut(qpn),
        ) {
            let completion = match queue {
                Queue::Send => sender.flush(qp),
                Queue::Receive => receiver.flush(qp),
            };
            self.complete.push(qpn, queue, completion);
        }
        self.ready.touch(qpn, FLUSHED);
        Ok(Ok(action))
    }

    pub(super) fn do_complete(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        queue: Queue,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let (action, entry) = match self.expect_complete(qpn, queue) {
            Ok(expected) => expected,
            Err(why) => return Ok(Err(why)),
        };
        compare(
            wanted,
            &action,
            Room::Complete,
            "the oldest completion of that queue",
        )?;
        let context = self.context.cq(entry.cq).copied().unwrap_or_default();
        let Written {
            entry: written,
            event,
            barrier,
            gathers,
        } = self.complete.complete(qpn, queue, &context);
        self.begin(barrier);
        self.gather_barrier = gathers;
        if let Some((address, bytes)) = written {
            self.write(WriteChannel::Completion, address, &bytes, effects);
        }
        if let Some(event) = event {
            self.event(event, 0, entry.cq, effects);
        }
        self.note_due(entry.cq, false);
        self.ready.touch(qpn, COMPLETED);
        if self.complete.event(qpn).is_some() {
            // It may have waited for the entry.
            self.ready.touch(qpn, TOLD);
        }
        Ok(Ok(action))
    }

    pub(super) fn do_event(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let action = match self.expect_event(qpn) {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        compare(
            wanted,
            &action,
            Room::Complete,
            "the oldest event of the queue pair",
        )?;
        self.begin(0);
        if let Some(status) = self.complete.take_event(qpn) {
            let kind = match status {
                Status::Flushed => EventKind::LastWqe,
                _ => EventKind::QpError,
            };
            self.event(kind, status as u8, qpn as u32, effects);
        }
        self.ready.touch(qpn, TOLD);
        Ok(Ok(action))
    }

    /// Puts a queue pair into `QpErr`, with its event.
    pub(super) fn fail_qp(&mut self, qpn: usize, status: Status) {
        if self.context.fail_qp(qpn) {
            self.complete.push_event(qpn, status);
            self.ready.touch(qpn, Works::ALL);
            self.retime(qpn);
        }
    }
}
