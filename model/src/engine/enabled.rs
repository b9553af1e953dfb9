//! The legal actions.

use super::expect::respond;
use super::{Action, Engine, InputError, Inputs};
use crate::abi::{CommitKind, RespondKind};
use crate::complete::Queue;
use crate::receive::Answer;
use crate::wire::Psn;

/// Requests sent and not retired that an engine must be able to keep for each queue pair.
pub const OUTSTANDING: usize = 16;

impl Engine {
    /// Appends all actions that are legal now, fully filled in. Of an acknowledge that may cover others
    /// behind it, every variant is listed; of an answer that may be discarded, both ways. Not listed are `DropNoBuffer`, and the taking of frames while
    /// [`Config::responses`] responses wait.
    ///
    /// As there is no clock, `Timeout` is listed while an acknowledgement timer runs, `RnrResume` during a
    /// wait for RNR, `RespondCnp` while a notification is due, `CqEvent` while an event is put off.
    ///
    /// Requests in host memory are looked at through `inputs`; nothing changes.
    ///
    /// [`Config::responses`]: super::Config::responses
    ///
    /// # Errors
    /// What `inputs` could not read.
    pub fn enabled(
        &self,
        inputs: &mut dyn Inputs,
        out: &mut Vec<Action>,
    ) -> Result<(), InputError> {
        out.extend(self.expect_context());
        out.extend(self.expect_sq_doorbell());
        out.extend(self.expect_rq_doorbell());
        out.extend(self.expect_cq_doorbell());
        out.extend(self.expect_srq_doorbell());
        let due = self.shared.due();
        out.extend(due.flat_map(|number| self.expect_srq_event(number.into())));
        let due = self.complete.due();
        out.extend(due.flat_map(|cq| self.expect_cq_event(cq)));
        let mut chunks = Vec::new();
        if self.may_take_frames() {
            out.extend(self.frame_action(inputs)?);
        }
        for qpn in self.ready.written() {
            chunks.clear();
            if let Ok((action, _)) = self.expect_send(qpn, inputs, &mut chunks)? {
                out.push(action);
            }
            chunks.clear();
            if let Ok((action, _)) = self.expect_respond(qpn, None, &mut chunks) {
                out.push(action);
                out.extend(self.answer_instead(qpn, &action));
                self.coalesced(qpn, action.psn, out);
            }
            out.extend(self.expect_cnp(qpn));
            out.extend(self.expect_timer(qpn));
            out.extend(self.expect_retire(qpn).map(|(action, _)| action));
            for queue in [Queue::Send, Queue::Receive] {
                out.extend(self.expect_flush(qpn, queue));
                out.extend(self.expect_complete(qpn, queue).map(|(action, _)| action));
            }
            out.extend(self.expect_event(qpn));
        }
        Ok(())
    }

    /// Whether a queue pair can send a packet of a request now, also on an engine that keeps few requests: with less than
    /// [`OUTSTANDING`] requests sent and not retired, and reads that count until they retired.
    ///
    /// # Errors
    /// What `inputs` could not read.
    pub fn may_send(&self, qpn: u32, inputs: &mut dyn Inputs) -> Result<bool, InputError> {
        let send = self.expect_send(qpn as usize, inputs, &mut Vec::new())?;
        let max_read = self.config.max_read;
        let keeps_few = self
            .context
            .qp(qpn)
            .zip(self.senders.get(qpn as usize))
            .is_some_and(|(qp, sender)| sender.keeps_few(OUTSTANDING, qp.max_ord.min(max_read)));
        Ok(keeps_few && send.is_ok_and(|(action, _)| action.kind == CommitKind::SqEmit))
    }

    /// Whether there is room for one more response.
    pub(super) fn may_take_frames(&self) -> bool {
        self.responses < self.config.responses as usize
    }

    /// The next packet of an answer that may be discarded, and need not be.
    fn answer_instead(&self, qpn: usize, discard: &Action) -> Option<Action> {
        if discard.cause != RespondKind::Discard as u8 {
            return None;
        }
        let sent = Answer {
            kind: RespondKind::Read,
            psn: Psn::new(discard.psn),
        };
        let (action, _) = self.expect_respond(qpn, Some(sent), &mut Vec::new()).ok()?;
        (action.cause != discard.cause).then_some(action)
    }

    /// Acknowledges that cover more than the first one that waits, whose PSN is `first`.
    fn coalesced(&self, qpn: usize, first: u32, out: &mut Vec<Action>) {
        let (Some(qp), Some(receiver)) = (self.context.qp(qpn as u32), self.receivers.get(qpn))
        else {
            return;
        };
        let mut last = first;
        for psn in receiver.coalesced(qp) {
            if psn.get() != last {
                last = psn.get();
                let kind = RespondKind::Ack;
                out.push(respond(qpn, Answer { kind, psn }));
            }
        }
    }
}
