//! The choice among enabled actions.

use rand_chacha::rand_core::RngCore;

use super::{ModelTarget, Scheduler};
use crate::abi::{CommitKind, RespondKind};
use crate::engine::{Action, Illegal, Room};

impl ModelTarget {
    /// Performs one of the enabled actions that no clock decides.
    pub(super) fn choose_and_apply(&mut self) -> Result<Option<Action>, Illegal> {
        self.enabled.clear();
        self.engine
            .enabled(&mut self.memory, &mut self.enabled)
            .map_err(|source| Illegal::Input {
                room: Room::Host,
                action: Action::new(CommitKind::None, 0),
                source,
            })?;
        let clock = &self.clock;
        self.enabled.retain(|action| match action.kind {
            CommitKind::SqEmit | CommitKind::SqFail => !clock.holds(action.qpn),
            _ => !is_timed(action),
        });
        if self.enabled.is_empty() {
            return Ok(None);
        }
        let choice = match self.scheduler {
            Scheduler::Random(_) => (self.rng.next_u64() % self.enabled.len() as u64) as usize,
            _ => self.worst(),
        };
        let Some(action) = self.enabled.get(choice).copied() else {
            return Ok(None);
        };
        self.execute(&action)?;
        Ok(Some(action))
    }

    /// The adversary's choice: the action of the greatest weight, the last of equals.
    fn worst(&self) -> usize {
        let last_qpn = self.last.map(|last| last.qpn);
        let weight = |action: &Action| {
            let kind = match action.kind {
                CommitKind::SqEmit | CommitKind::SqFail | CommitKind::SqLocal => 7,
                CommitKind::RxDrop
                | CommitKind::RxRequest
                | CommitKind::RxResponse
                | CommitKind::RxFrame => 6,
                CommitKind::SqDoorbell | CommitKind::RqDoorbell | CommitKind::SrqDoorbell => 5,
                CommitKind::Flush => 4,
                CommitKind::Respond if action.cause == RespondKind::Read as u8 => 3,
                CommitKind::Respond => 2,
                CommitKind::Retire => 1,
                _ => 0,
            };
            (kind, Some(action.qpn) == last_qpn)
        };
        let greatest = self
            .enabled
            .iter()
            .enumerate()
            .max_by_key(|(_, action)| weight(action));
        greatest.map_or(0, |(i, _)| i)
    }
}

/// Whether the clock decides when the action happens: the end of a timer, a notification of congestion, an
/// event that was put off.
pub(super) fn is_timed(action: &Action) -> bool {
    match action.kind {
        CommitKind::Timeout | CommitKind::RnrResume | CommitKind::CqEvent => true,
        CommitKind::Respond => action.cause == RespondKind::Cnp as u8,
        _ => false,
    }
}
