//! Axes: what a cover point looks at, and the bins that it may fall into.

use std::fmt::Debug;

use tandem_model::abi::{
    Arm, CommitKind, DropCause, EventKind, Fault, QpState, RespondKind, RxResult, Status, Table,
    TokenKind, WqeOpcode,
};
use tandem_model::wire::Opcode;

use super::seen::Seen;
use crate::network::Fate;

/// What of an event a point looks at.
#[derive(Clone, Copy)]
pub struct Axis {
    /// Its name.
    pub name: &'static str,
    /// The names of its bins, at most 64.
    pub bins: fn() -> Vec<String>,
    /// The bins that an event falls into, a bit each.
    pub of: fn(&Seen) -> u64,
}

/// The bin of a value among those that an axis has.
pub(super) fn bin<T: PartialEq>(all: &[T], value: Option<T>) -> u64 {
    let place = value.and_then(|value| all.iter().position(|known| *known == value));
    place.map_or(0, |place| 1 << place)
}

fn names<T: Debug>(all: &[T]) -> Vec<String> {
    all.iter().map(|value| format!("{value:?}")).collect()
}

/// All values of an enumeration but the first, which is `None`.
fn named<T>(all: &'static [T]) -> &'static [T] {
    all.get(1..).unwrap_or_default()
}

/// An axis whose bins are the values of an enumeration.
macro_rules! enumeration {
    ($(#[doc = $doc:literal])+ $axis:ident, $name:literal, $all:expr, $of:expr) => {
        $(#[doc = $doc])+
        pub const $axis: Axis = Axis {
            name: $name,
            bins: || names($all),
            of: |seen| {
                let of: fn(&Seen) -> Option<_> = $of;
                bin($all, of(seen))
            },
        };
    };
}

enumeration!(
    /// Kind of an action.
    ACTION, "action", named(CommitKind::ALL), |seen| seen.kind
);
enumeration!(
    /// Doorbell that brings work.
    DOORBELL, "doorbell", &[CommitKind::SqDoorbell, CommitKind::RqDoorbell], |seen| seen.kind
);
enumeration!(
    /// What came of a packet that names a token.
    ACCESS_RESULT, "result", &[RxResult::Accept, RxResult::NakAccess], |seen| seen.result
);
enumeration!(
    /// Context table.
    TABLE, "table", Table::ALL, |seen| seen.table
);
enumeration!(
    /// Arm of a completion queue.
    ARM, "arm", &[Arm::Errors, Arm::Any, Arm::Solicited], |seen| seen.arm
);
enumeration!(
    /// State of a queue pair before a change.
    FROM, "from", QpState::ALL, |seen| seen.states.map(|[from, _]| from)
);
enumeration!(
    /// State of a queue pair after it.
    TO, "to", QpState::ALL, |seen| seen.states.map(|[_, to]| to)
);
enumeration!(
    /// Opcode of a request that begins.
    REQUEST, "request", named(WqeOpcode::ALL), |seen| seen.request.map(|request| request.opcode)
);
enumeration!(
    /// Opcode of the request that an action is about.
    OPCODE, "opcode", named(WqeOpcode::ALL), |seen| seen.opcode
);
enumeration!(
    /// Opcode of a request that moves bytes and that begins.
    TRANSFER, "transfer", &TRANSFERS, |seen| seen.request.map(|request| request.opcode)
);
enumeration!(
    /// How a request leaves the send queue.
    RETIRED, "status", Status::ALL, |seen| seen.retired
);
enumeration!(
    /// Why a request fails here.
    FAULT, "fault", named(Fault::ALL), |seen| seen.fault
);
enumeration!(
    /// Opcode of a request packet that leaves.
    SENT_REQUEST, "packet", &REQUESTS, |seen| seen.sent.map(|packet| packet.opcode)
);
enumeration!(
    /// Opcode of a packet that comes in as a request.
    TAKEN_REQUEST, "packet", &REQUESTS, |seen| seen.taken.map(|packet| packet.opcode)
);
enumeration!(
    /// Opcode of a packet that comes in as a response.
    TAKEN_RESPONSE, "packet", &RESPONSES, |seen| seen.taken.map(|packet| packet.opcode)
);
enumeration!(
    /// What came of a request packet.
    REQUEST_RESULT, "result", &REQUEST_RESULTS, |seen| seen.result
);
enumeration!(
    /// What came of a response packet.
    RESPONSE_RESULT, "result", &RESPONSE_RESULTS, |seen| seen.result
);
enumeration!(
    /// Opcode of a read response that leaves.
    READ_RESPONSE, "packet", &READ_RESPONSES, |seen| seen.sent.map(|packet| packet.opcode)
);
enumeration!(
    /// Why a frame is dropped.
    DROP, "cause", named(DropCause::ALL), |seen| seen.dropped
);
enumeration!(
    /// Step of a responder.
    RESPOND, "answer", RespondKind::ALL, |seen| seen.responded
);
enumeration!(
    /// Kind of the token that a packet names.
    TOKEN, "token", TokenKind::ALL, |seen| seen.token
);
enumeration!(
    /// Status of a completion entry.
    STATUS, "status", Status::ALL, |seen| seen.entry.map(|entry| entry.status)
);
enumeration!(
    /// Event that is written.
    EVENT, "event", EventKind::ALL, |seen| seen.event
);
enumeration!(
    /// What the network does to a packet.
    FATE, "fate", &Fate::ALL, |seen| seen.fate.map(|(fate, _)| fate)
);

/// Requests that move bytes.
const TRANSFERS: [WqeOpcode; 4] = [
    WqeOpcode::Send,
    WqeOpcode::SendInvalidate,
    WqeOpcode::Read,
    WqeOpcode::Write,
];
/// Request packets that an engine sends.
const REQUESTS: [Opcode; 11] = [
    Opcode::SendFirst,
    Opcode::SendMiddle,
    Opcode::SendLast,
    Opcode::SendOnly,
    Opcode::SendLastInvalidate,
    Opcode::SendOnlyInvalidate,
    Opcode::WriteFirst,
    Opcode::WriteMiddle,
    Opcode::WriteLast,
    Opcode::WriteOnly,
    Opcode::ReadRequest,
];
/// Read responses.
const READ_RESPONSES: [Opcode; 4] = [
    Opcode::ReadResponseFirst,
    Opcode::ReadResponseMiddle,
    Opcode::ReadResponseLast,
    Opcode::ReadResponseOnly,
];
/// Response packets that an engine takes.
const RESPONSES: [Opcode; 5] = [
    Opcode::ReadResponseFirst,
    Opcode::ReadResponseMiddle,
    Opcode::ReadResponseLast,
    Opcode::ReadResponseOnly,
    Opcode::Acknowledge,
];
/// What may come of a request.
const REQUEST_RESULTS: [RxResult; 7] = [
    RxResult::Accept,
    RxResult::Duplicate,
    RxResult::NakSequence,
    RxResult::NakInvalid,
    RxResult::NakAccess,
    RxResult::NakOperation,
    RxResult::Rnr,
];
/// What may come of a response.
const RESPONSE_RESULTS: [RxResult; 4] = [
    RxResult::Accept,
    RxResult::Fatal,
    RxResult::GoBack,
    RxResult::RnrWait,
];
