//! Which room to look in first.

use tandem_model::abi::{CommitKind, RespondKind, RxResult, Status};
use tandem_model::engine::{Action, Illegal};
use tandem_model::wire::Frame;

/// The room that most likely made the difference between two frames that one action meant to be the same.
///
/// Headers of transport are decided where the action is; all else of a header, and the ICRC, is built by
/// `wire`; payload is what `host` gathered.
pub(super) fn of_frames(
    kind: Option<CommitKind>,
    expected: &[u8],
    observed: &[u8],
) -> &'static str {
    let (Ok(expected), Ok(observed)) = (Frame::parse(expected), Frame::parse(observed)) else {
        return "wire";
    };
    if expected.bth != observed.bth || expected.ext != observed.ext {
        return match kind {
            Some(CommitKind::SqEmit) => "send or wire",
            Some(CommitKind::Respond) => "receive or wire",
            _ => "wire",
        };
    }
    match expected.payload == observed.payload {
        true => "wire",
        false => "host or wire",
    }
}

/// The room that most likely made the decision that the model does not allow.
///
/// Where one side found a fault with a token and the other did not, or another one, `context` checked it.
pub(super) fn of_decision(illegal: &Illegal) -> String {
    let room = illegal.room();
    let token = illegal.expected().is_some_and(|expected| {
        let pair = [illegal.action(), expected];
        pair.map(refuses_token).contains(&true) && !pair.map(is_acknowledgement).contains(&true)
    });
    match token {
        true => format!("context or {room}"),
        false => room.to_string(),
    }
}

/// Whether a token may be why the action is this one.
fn refuses_token(action: &Action) -> bool {
    let cause = u128::from(action.cause);
    match action.kind {
        CommitKind::SqFail | CommitKind::RxFrame => {
            Status::from_bits(cause) == Some(Status::LocalProtection)
        }
        CommitKind::RxRequest => matches!(
            RxResult::from_bits(cause),
            Some(RxResult::NakAccess | RxResult::NakOperation)
        ),
        CommitKind::Respond => RespondKind::from_bits(cause) == Some(RespondKind::Nak),
        _ => false,
    }
}

/// Whether the action answers without looking at a token.
fn is_acknowledgement(action: &Action) -> bool {
    action.kind == CommitKind::Respond
        && RespondKind::from_bits(action.cause.into()) == Some(RespondKind::Ack)
}
