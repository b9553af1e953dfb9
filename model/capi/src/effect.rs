//! What the world sees of actions, until the caller has taken it.

use std::collections::VecDeque;

use tandem_model::engine::{Effect, WriteChannel};

/// A frame leaves.
pub const TANDEM_FRAME: u32 = 0;
/// Payload is written to host memory.
pub const TANDEM_PAYLOAD: u32 = 1;
/// A completion entry or an event is written to host memory.
pub const TANDEM_COMPLETION: u32 = 2;

/// One effect of an action.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TandemEffect {
    /// `TANDEM_FRAME`, `TANDEM_PAYLOAD` or `TANDEM_COMPLETION`.
    pub kind: u32,
    /// Logical address of the first byte; 0 for frames.
    pub address: u64,
    /// The bytes, until the next call for the engine.
    pub bytes: *const u8,
    /// How many.
    pub length: usize,
    /// Number of the action, from 0.
    pub action: u64,
    /// So many payload writes must have been answered before it may be seen.
    pub payload_barrier: u64,
    /// So many gather reads must have been answered before it may be seen.
    pub gather_barrier: u64,
}

/// The action that effects are of.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub action: u64,
    pub payload_barrier: u64,
    pub gather_barrier: u64,
}

/// Effects in their order.
#[derive(Clone, Default)]
pub(crate) struct Effects {
    waiting: VecDeque<(Effect, Origin)>,
    /// The bytes that the caller looks at.
    shown: Vec<u8>,
}

impl Effects {
    pub(crate) fn add(&mut self, effects: &mut Vec<Effect>, origin: Origin) {
        let effects = effects.drain(..).map(|effect| (effect, origin));
        self.waiting.extend(effects);
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The oldest one, and the buffer of the one before it.
    pub(crate) fn next(&mut self) -> Option<(TandemEffect, Vec<u8>)> {
        let (effect, origin) = self.waiting.pop_front()?;
        let (kind, address, bytes) = match effect {
            Effect::Frame(bytes) => (TANDEM_FRAME, 0, bytes),
            Effect::Write {
                channel: WriteChannel::Payload,
                address,
                bytes,
            } => (TANDEM_PAYLOAD, address, bytes),
            Effect::Write {
                channel: WriteChannel::Completion,
                address,
                bytes,
            } => (TANDEM_COMPLETION, address, bytes),
        };
        let spent = std::mem::replace(&mut self.shown, bytes);
        let shown = TandemEffect {
            kind,
            address,
            bytes: self.shown.as_ptr(),
            length: self.shown.len(),
            action: origin.action,
            payload_barrier: origin.payload_barrier,
            gather_barrier: origin.gather_barrier,
        };
        Some((shown, spent))
    }
}
