//! What the engine has not decided although it is due: nothing may be left of it at the end of a run.

use tandem_model::abi::CommitKind;
use tandem_model::engine::{Action, Engine, InputError, Inputs, ReadChannel};

/// Host memory that nobody looks at: of the decisions that read it none is asked for.
struct Blank;

impl Inputs for Blank {
    fn read(&mut self, _: ReadChannel, _: u64, bytes: &mut [u8]) -> Result<(), InputError> {
        bytes.fill(0);
        Ok(())
    }
}

/// Decisions that wait for nothing in the world.
pub(super) fn undone(engine: &Engine) -> Vec<Action> {
    let mut actions = Vec::new();
    // Blank memory cannot fail.
    let _ = engine.enabled(&mut Blank, &mut actions);
    actions.retain(|action| room_of(action).is_some());
    actions
}

/// The room that owes a decision, if it is one of those.
pub(super) fn room_of(action: &Action) -> Option<&'static str> {
    Some(match action.kind {
        CommitKind::Retire => "send",
        CommitKind::Respond => "receive",
        CommitKind::Flush if action.cause == 0 => "send",
        CommitKind::Flush => "receive",
        // The room before it may have lost what it should write.
        CommitKind::Complete if action.token >> 24 == 0 => "send or complete",
        CommitKind::Complete => "receive or complete",
        CommitKind::QpEvent => "complete",
        CommitKind::SrqEvent => "receive or complete",
        _ => return None,
    })
}
