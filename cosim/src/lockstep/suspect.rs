//! Which room to look in first when a frame has other bytes.

use tandem_model::abi::CommitKind;
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
