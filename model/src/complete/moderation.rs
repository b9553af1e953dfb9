//! Events that are put off, and queues that go on in another ring.

use super::{Complete, CqState};
use crate::abi::{Arm, EventKind};
use crate::context::Moderation;

impl CqState {
    /// The end of an action on the queue, which fires or not: whether its event is written now.
    pub(super) fn ends(&mut self, fires: bool, moderation: Moderation) -> Option<EventKind> {
        let entries = self.producer.wrapping_sub(self.consumer);
        if moderation.puts_off(entries) {
            self.due |= fires;
            return None;
        }
        (fires || (self.due && moderation.is_on())).then(|| {
            self.disarm();
            EventKind::Completion
        })
    }

    pub(super) fn disarm(&mut self) {
        self.arm = Arm::None;
        self.due = false;
    }
}

impl Complete {
    /// The queue goes on in another ring, from index 0. The producer index in the old one.
    pub fn switch_ring(&mut self, cq: usize) -> u16 {
        let Some(state) = self.cqs.get_mut(cq) else {
            return 0;
        };
        let old = state.producer;
        (state.producer, state.consumer) = (0, 0);
        state.after_solicited = 0;
        old
    }

    /// Whether the event of a queue is put off.
    pub fn is_due(&self, cq: u32) -> bool {
        let state = self.cqs.get(cq as usize);
        state.is_some_and(|state| state.due)
    }

    /// Queues whose event is put off.
    pub fn due(&self) -> impl Iterator<Item = u32> + '_ {
        let cqs = (0..).zip(&self.cqs);
        cqs.filter_map(|(cq, state)| state.due.then_some(cq))
    }

    /// The event of a queue that was put off is written.
    pub fn tell_due(&mut self, cq: u32) {
        if let Some(state) = self.cqs.get_mut(cq as usize) {
            state.disarm();
        }
    }

    /// Whether an event began to be put off with the last action on the queue, `Some(false)` if none is any more;
    /// `None` if nothing changed.
    pub fn due_change(&mut self, cq: u32) -> Option<bool> {
        let state = self.cqs.get_mut(cq as usize)?;
        let changed = state.due != state.told;
        state.told = state.due;
        changed.then_some(state.due)
    }
}
