//! Shared receive queues: doorbells, limits, their events. Execution.

use super::apply::{Done, compare};
use super::{Action, Effect, Engine, Room};
use crate::abi::EventKind;
use crate::host::SrqDoorbell;

impl Engine {
    pub(super) fn do_srq_doorbell(&mut self, wanted: Option<&Action>) -> Done {
        let action = match self.expect_srq_doorbell() {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        let why = "the oldest doorbell of shared receive queues";
        compare(wanted, &action, Room::Host, why)?;
        self.begin(0);
        let doorbell = self.host.srq_doorbells.pop_front();
        let number = action.qpn as u16;
        if self.context.srq(number).is_some() {
            match doorbell {
                Some(SrqDoorbell::Posted(doorbell)) => self.shared.ring(number, doorbell.index),
                Some(SrqDoorbell::Limit(doorbell)) => self.shared.arm(number, doorbell.index),
                None => {}
            }
        }
        Ok(Ok(action))
    }

    pub(super) fn do_srq_event(
        &mut self,
        wanted: Option<&Action>,
        number: u32,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let action = match self.expect_srq_event(number) {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        compare(
            wanted,
            &action,
            Room::Complete,
            "the limit event that is due",
        )?;
        self.begin(0);
        self.shared.told(number as u16);
        self.event(EventKind::SrqLimit, 0, number, effects);
        Ok(Ok(action))
    }

    /// The limit event that has been due longest.
    pub(super) fn next_srq_event(&mut self, effects: &mut Vec<Effect>) -> Done {
        let oldest = self.shared.due().next();
        match oldest {
            Some(number) => self.do_srq_event(None, number.into(), effects),
            None => Ok(Err("no limit event is due")),
        }
    }
}
