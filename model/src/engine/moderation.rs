//! Events of completion queues that are put off, which need a clock to be timed and none to be executed.
//!
//! As with timers the engine tells after each action what that did ([`Engine::due_change`]); whoever has a
//! clock sees to it that `CqEvent` does not come late. It may come early.

use super::apply::{Done, compare};
use super::expect::Maybe;
use super::{Action, Effect, Engine, Room};
use crate::abi::{CommitKind, EventKind};

/// An event of a completion queue that is put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueEvent {
    /// Clocks after which it is written at the latest, from when it became due, or from a new setting;
    /// `None`: it does not come by itself.
    pub clocks: Option<u64>,
}

/// What an action did to the event of a completion queue that is put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueChange {
    /// The completion queue.
    pub cq: u32,
    /// The event whose time begins with the action, anew or for the first time; `None`: there is none any more.
    pub event: Option<DueEvent>,
}

impl Engine {
    /// What the last applied action did to an event that is put off, if it did something; an action concerns at
    /// most one completion queue.
    pub fn due_change(&self) -> Option<DueChange> {
        self.redue
    }

    /// The event of a completion queue that is put off.
    pub fn due_event(&self, cq: u32) -> Option<DueEvent> {
        let context = self.context.cq(cq)?;
        let unit = u64::from(self.host.units.moderation.max(1));
        self.complete.is_due(cq).then(|| DueEvent {
            clocks: context
                .moderation
                .limit()
                .map(|micros| u64::from(micros) * unit),
        })
    }

    /// The event of a completion queue that is put off, written now: `CqEvent`.
    pub fn cq_event_action(&self, cq: u32) -> Option<Action> {
        self.expect_cq_event(cq).ok()
    }

    pub(super) fn expect_cq_event(&self, cq: u32) -> Maybe<Action> {
        if !self.complete.is_due(cq) {
            return Err("no event of that completion queue is due");
        }
        Ok(Action::new(CommitKind::CqEvent, cq))
    }

    pub(super) fn do_cq_event(
        &mut self,
        wanted: Option<&Action>,
        cq: u32,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let action = match self.expect_cq_event(cq) {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        compare(wanted, &action, Room::Complete, "the event that is due")?;
        self.begin(0);
        self.complete.tell_due(cq);
        self.event(EventKind::Completion, 0, cq, effects);
        self.note_due(cq, false);
        Ok(Ok(action))
    }

    /// Takes down what the action did to the event of a completion queue that is put off; a new setting begins its
    /// time anew.
    pub(super) fn note_due(&mut self, cq: u32, anew: bool) {
        let changed = self.complete.due_change(cq).is_some();
        let event = self.due_event(cq);
        if changed || (anew && event.is_some()) {
            self.redue = Some(DueChange { cq, event });
        }
    }
}
