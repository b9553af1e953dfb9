//! Requests that are done with their action: local ones, and the frames of queue pair 1. Execution.

use super::{Effect, Engine, InputError, Inputs};
use crate::context::Chunk;
use crate::send::{Barriers, Change, Local, Unsent};

impl Engine {
    /// Executes a local request that was checked.
    pub(super) fn execute(&mut self, qpn: usize, local: &Local) {
        let Some(qp) = self.context.qp(qpn as u32).copied() else {
            return;
        };
        self.begin(0);
        let mut told_after = Barriers::default();
        match &local.change {
            Change::Bind(asked) => self.context.bind(asked, &qp),
            Change::Register(asked, pages) => self.context.register(asked, pages),
            Change::Invalidate(token) => {
                self.context.invalidate(*token);
                // What is under way through it, of all queue pairs and either way, comes first.
                told_after = Barriers {
                    payload: self.payload_writes,
                    gathers: self.gather_reads,
                };
            }
        }
        if let Some(sender) = self.senders.get_mut(qpn) {
            sender.executed(&local.request, told_after);
        }
    }

    /// Sends a whole frame.
    ///
    /// # Errors
    /// What `inputs` could not read; nothing has changed then.
    pub(super) fn send_frame(
        &mut self,
        qpn: usize,
        request: &Unsent,
        chunks: &[Chunk],
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Result<(), InputError> {
        self.gather(chunks, inputs)?;
        self.begin(0);
        let mut bytes = self.buffer();
        bytes.extend_from_slice(&self.scratch.payload);
        self.host.counters.frame_out(bytes.len());
        effects.push(Effect::Frame(bytes));
        if let Some(sender) = self.senders.get_mut(qpn) {
            sender.executed(request, Barriers::default());
        }
        Ok(())
    }
}
