//! What a search through all choices needs of an engine: when two of them are the same, and numbers that
//! do not grow.

use std::hash::{Hash, Hasher};

use super::{Action, Engine, InputError, Inputs};
use crate::abi::DropCause;
use crate::context::Chunk;
use crate::send::Barriers;
use crate::wire::Frame;

/// Buffers between actions. They hold nothing that matters, and a clone of an engine begins without.
#[derive(Default)]
pub(super) struct Scratch {
    /// Spent buffers for reuse.
    pub pool: Vec<Vec<u8>>,
    pub chunks: Vec<Chunk>,
    pub payload: Vec<u8>,
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Two engines with the same hash offer the same actions, now and after the same actions and inputs, but for
/// collisions. Left out is what only reports (counters, what is told of the last action) and what only makes
/// [`Engine::step`] fair and quick.
impl Hash for Engine {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            config,
            host,
            context,
            senders,
            receivers,
            complete,
            frames,
            responses,
            payload_writes,
            gather_reads,
            shared,
            ready,
            barrier: _,
            gather_barrier: _,
            retimed: _,
            redue: _,
            turn: _,
            scratch: _,
        } = self;
        config.hash(state);
        host.hash(state);
        context.hash(state);
        complete.hash(state);
        frames.hash(state);
        responses.hash(state);
        (payload_writes, gather_reads).hash(state);
        shared.hash(state);
        for qpn in ready.written() {
            qpn.hash(state);
            senders.get(qpn).hash(state);
            receivers.get(qpn).hash(state);
        }
    }
}

impl Engine {
    /// The action of the oldest frame that waits, whatever else is due: `RxDrop`, `RxRequest` or
    /// `RxResponse`.
    ///
    /// # Errors
    /// What `inputs` could not read.
    pub fn frame_action(&self, inputs: &mut dyn Inputs) -> Result<Option<Action>, InputError> {
        let Some(frame) = self.frames.front() else {
            return Ok(None);
        };
        let parsed: Result<Frame<'_>, DropCause> = Frame::parse(frame);
        let verdict = self.expect_frame(frame, &parsed, inputs, &mut Vec::new())?;
        Ok(Some(verdict.action))
    }

    /// The oldest `count` payload writes have been answered, and count no more: [`Engine::payload_writes`]
    /// and [`Engine::barrier`] are numbered as if they had never been. So engines that differ only in the
    /// order of what is long done become the same.
    pub fn forget_writes(&mut self, count: u64) {
        self.payload_writes = self.payload_writes.saturating_sub(count);
        self.barrier = self.barrier.saturating_sub(count);
        for receiver in &mut self.receivers {
            receiver.forget_writes(count);
        }
        self.forget(Barriers {
            payload: count,
            gathers: 0,
        });
    }

    /// The same for the oldest `count` gather reads, [`Engine::gather_reads`] and [`Engine::gather_barrier`].
    pub fn forget_gathers(&mut self, count: u64) {
        self.gather_reads = self.gather_reads.saturating_sub(count);
        self.gather_barrier = self.gather_barrier.saturating_sub(count);
        self.forget(Barriers {
            payload: 0,
            gathers: count,
        });
    }

    fn forget(&mut self, answered: Barriers) {
        self.complete.forget(answered);
        for sender in &mut self.senders {
            sender.forget(answered);
        }
    }
}
