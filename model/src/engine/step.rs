//! One action of a fair choice.

use super::apply::Done;
use super::ready::Work;
use super::{Action, Effect, Engine, Illegal, Inputs};
use crate::complete::Queue;

/// Whose turn it is: five kinds of doorbells, limit events, frames, then each kind of [`Work`].
const TURNS: usize = 7 + Work::ALL.len();

impl Engine {
    /// Executes one action of a fair choice: rooms and queue pairs take turns. Cheaper than
    /// [`Engine::enabled`] and [`Engine::apply`], since it looks only where something may have become
    /// enabled. `None` if no action is legal but those that need a clock, which are left to the caller:
    /// `Timeout`, `RnrResume`, `CqEvent`, and `Respond` with `RespondCnp`.
    ///
    /// # Errors
    /// [`Illegal::Input`] if the world has not read what the action needs; the same action has its turn again then.
    pub fn step(
        &mut self,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Result<Option<Action>, Illegal> {
        for _ in 0..TURNS {
            let turn = self.turn;
            let done = self.take_turn(turn, inputs, effects)?;
            self.turn = if turn + 1 == TURNS { 0 } else { turn + 1 };
            if let Ok(action) = done {
                return Ok(Some(action));
            }
        }
        Ok(None)
    }

    fn take_turn(
        &mut self,
        turn: usize,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Done {
        match turn {
            0 => self.do_context(None),
            1 => self.do_sq_doorbell(None),
            2 => self.do_rq_doorbell(None),
            3 => self.do_cq_doorbell(None, effects),
            4 if !self.host.srq_doorbells.is_empty() => self.do_srq_doorbell(None),
            5 => self.next_srq_event(effects),
            6 if self.may_take_frames() => self.do_frame(None, inputs, effects),
            _ => match turn.checked_sub(7).and_then(|work| Work::ALL.get(work)) {
                Some(work) if self.ready.is_due(*work) => self.work(*work, inputs, effects),
                _ => Ok(Err("nothing is due")),
            },
        }
    }

    /// The next work of a kind that is due for some queue pair.
    fn work(&mut self, work: Work, inputs: &mut dyn Inputs, effects: &mut Vec<Effect>) -> Done {
        while let Some(qpn) = self.ready.next(work) {
            if work == Work::Send && self.ready.holds(qpn) {
                self.ready.remove(work, qpn);
                continue;
            }
            let done = match work {
                Work::Send => self.do_send(None, qpn, inputs, effects),
                Work::Respond => self.do_respond(None, qpn, inputs, effects),
                Work::Retire => self.do_retire(None, qpn),
                Work::FlushSend => self.do_flush(None, qpn, Queue::Send),
                Work::FlushReceive => self.do_flush(None, qpn, Queue::Receive),
                Work::CompleteSend => self.do_complete(None, qpn, Queue::Send, effects),
                Work::CompleteReceive => self.do_complete(None, qpn, Queue::Receive, effects),
                Work::QpEvent => self.do_event(None, qpn, effects),
            };
            match done.inspect_err(|_| self.ready.again(work, qpn))? {
                Ok(action) => return Ok(Ok(action)),
                Err(_) => self.ready.remove(work, qpn),
            }
        }
        Ok(Err("nothing is due"))
    }
}
