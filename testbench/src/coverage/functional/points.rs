//! The cover points, room by room: what must have been seen before anything is signed off.

use super::axis::*;
use super::classes::*;

/// What must be seen: each bin of an axis, or each combination of bins of several.
pub struct Point {
    /// Its name: room, then what it is about.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// What it looks at.
    pub axes: &'static [Axis],
    /// What cannot be seen, and why.
    pub never: &'static [Never],
}

/// Combinations that cannot be seen. One that is seen is an error.
pub struct Never {
    /// Why not.
    pub why: &'static str,
    /// Whether a combination is one, by the names of its bins.
    pub is: fn(&[&str]) -> bool,
}

macro_rules! point {
    ($name:literal, $doc:literal, [$($axis:ident),+] $(, never $why:literal: $($bins:pat_param)|+ )* $(,)?) => {
        Point {
            name: $name,
            doc: $doc,
            axes: &[$($axis),+],
            never: &[$( Never { why: $why, is: |bins| matches!(bins, $($bins)|+) } ),*],
        }
    };
}

/// All of them.
pub static POINTS: &[Point] = &[
    point!(
        "host/action",
        "each action of the commit interface",
        [ACTION]
    ),
    point!(
        "host/event",
        "each event that the driver is told of",
        [EVENT]
    ),
    point!(
        "host/doorbell",
        "doorbells that bring one entry and many",
        [DOORBELL, RUNG]
    ),
    point!("context/table", "each table is written", [TABLE]),
    point!(
        "context/state", "each change of the state of a queue pair", [FROM, TO],
        never "a driver goes from Init to Rts at once": ["Rtr", _] | [_, "Rtr"],
        never "what does not exist for the wire has nothing to flush": ["Reset", "Reset" | "Err"],
        never "a queue pair begins anew through Reset": ["Init" | "Rts" | "Err", "Init"] | ["Rts" | "Err", "Rts"],
    ),
    point!(
        "context/token", "each use of each kind of token by the peer, and what came of it", [TOKEN, ACCESS, ACCESS_RESULT],
        never "an ordinary region is not invalidated (WIRE-INV)": ["Region", "invalidate", "Accept"],
        never "the privileged token is never remote (WIRE-KEY)": ["Privileged", _, "Accept"],
    ),
    point!(
        "send/request", "each request with each flag", [REQUEST, FLAG],
        never "only sends ask for an event": ["Read" | "Write" | "Bind" | "FastRegister" | "Invalidate" | "Frame", "solicited"],
        never "what is read cannot lie in the request, and local requests move nothing": ["Read" | "Bind" | "FastRegister" | "Invalidate", "inline"],
        never "only a read invalidates the token of its sink": ["Send" | "SendInvalidate" | "Write" | "Bind" | "FastRegister" | "Invalidate" | "Frame", "local invalidate"],
        never "the driver sends frames itself, and needs no flag but the completion": ["Frame", "read fence" | "inline" | "silent"],
    ),
    point!(
        "send/length",
        "each transfer of each length that matters to segmentation",
        [TRANSFER, LENGTH]
    ),
    point!(
        "send/elements", "each transfer from and to so many elements", [TRANSFER, ELEMENTS],
        never "a read has four elements at most": ["Read", "5 and more"],
    ),
    point!("send/entry", "each size of a ring entry", [STRIDE]),
    point!(
        "send/packet",
        "each request packet, for the first time and again",
        [SENT_REQUEST, AGAIN]
    ),
    point!(
        "send/mtu",
        "each place in a message at each path MTU",
        [PLACE, MTU]
    ),
    point!(
        "send/psn",
        "PSNs around the wrap, for the first time and again",
        [PSN, AGAIN]
    ),
    point!(
        "send/acknowledge",
        "request packets that ask for an acknowledge, and that do not",
        [ASKS]
    ),
    point!(
        "send/retire", "each way in which each request ends", [OPCODE, RETIRED],
        never "flushed requests do not retire": [_, "Flushed"],
        never "only a read has a sink that its response may not fit": ["Send" | "SendInvalidate" | "Write" | "Bind" | "FastRegister" | "Invalidate" | "Frame", "LocalLength"],
        never "it is the status of a Bind": ["Send" | "SendInvalidate" | "Read" | "Write" | "FastRegister" | "Invalidate" | "Frame", "Bind"],
        never "no peer has a hand in it": ["Bind" | "FastRegister" | "Invalidate" | "Frame", "BadResponse" | "RemoteInvalidRequest" | "RemoteAccess" | "RemoteOperation" | "RetryExceeded" | "RnrRetryExceeded"],
        never "it has a status of its own": ["Bind", "LocalProtection"] | ["FastRegister" | "Invalidate", "LocalProtection"],
    ),
    point!(
        "send/fault",
        "each reason for which a request fails here",
        [FAULT]
    ),
    point!(
        "send/flush",
        "requests flushed before and after they began",
        [BEGUN]
    ),
    point!("send/timer", "timers that end", [GAVE_UP]),
    point!(
        "receive/request", "what comes of each request packet", [TAKEN_REQUEST, REQUEST_RESULT],
        never "a send without invalidation names no token": ["SendFirst" | "SendMiddle" | "SendLast" | "SendOnly", "NakAccess"],
        never "what fails here at the peer's cost is a receive": ["WriteFirst" | "WriteMiddle" | "WriteLast" | "WriteOnly" | "ReadRequest", "NakOperation"],
        never "only the first packet of a send takes a receive": ["SendMiddle" | "SendLast" | "SendLastInvalidate" | "WriteFirst" | "WriteMiddle" | "WriteLast" | "WriteOnly" | "ReadRequest", "Rnr"],
    ),
    point!(
        "receive/response", "what comes of each response packet", [TAKEN_RESPONSE, RESPONSE_RESULT],
        never "only an acknowledge tells of a receiver that is not ready": ["ReadResponseFirst" | "ReadResponseMiddle" | "ReadResponseLast" | "ReadResponseOnly", "RnrWait"],
    ),
    point!(
        "receive/syndrome", "what comes of each syndrome", [TAKEN_SYNDROME, RESPONSE_RESULT],
        never "it is what an RNR NAK leads to": ["ACK" | "ACK with credits" | "NAK sequence error" | "NAK invalid request" | "NAK remote access error" | "NAK remote operational error" | "other NAK" | "reserved", "RnrWait"],
        never "it is no acknowledge": ["RNR NAK" | "NAK sequence error" | "NAK invalid request" | "NAK remote access error" | "NAK remote operational error" | "other NAK" | "reserved", "Accept"],
    ),
    point!("receive/answer", "each step of the responder", [RESPOND]),
    point!(
        "receive/read response",
        "each read response, for the first time and again",
        [READ_RESPONSE, AGAIN]
    ),
    point!(
        "receive/sent syndrome", "each syndrome that is sent", [SENT_SYNDROME],
        never "credits are not used (WIRE-EXT-7)": ["ACK with credits"],
        never "there is no reason for it": ["other NAK" | "reserved"],
    ),
    point!(
        "receive/receive",
        "receives with so many elements, of an own queue and a shared one",
        [RECEIVE_ELEMENTS, RECEIVE_QUEUE]
    ),
    point!(
        "receive/congestion",
        "packets that the network marked",
        [MARKED]
    ),
    point!(
        "complete/entry", "each status of each queue", [QUEUE, STATUS],
        never "it is the status of a request": ["receive", "LocalQpOperation" | "Bind" | "BadResponse" | "RemoteAccess" | "RemoteOperation" | "RetryExceeded" | "RnrRetryExceeded"],
    ),
    point!(
        "complete/receive",
        "receives of each length, with what they tell",
        [RECEIVED, RECEIVED_LENGTH]
    ),
    point!(
        "complete/completion",
        "entries with and without event, and lost ones",
        [COMPLETED]
    ),
    point!("complete/arm", "each arm", [ARM]),
    point!("complete/flush", "each queue is flushed", [FLUSHED]),
    point!("wire/drop", "each reason to drop a frame", [DROP]),
    point!("wire/pad", "each pad of each operation", [CARRIER, PAD]),
    point!("wire/ip", "each version of IP", [IP]),
    point!(
        "wire/network",
        "everything that happens to frames on their way",
        [TRAVELLER, FATE]
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::coverage::functional::Tally;

    #[test]
    fn points_have_names_of_their_own_and_bins_that_fit() {
        let names: BTreeSet<_> = POINTS.iter().map(|point| point.name).collect();
        assert_eq!(names.len(), POINTS.len());
        for (point, bins) in Tally::default().bins() {
            assert!(point.axes.len() <= 4, "{}", point.name);
            for axis in point.axes {
                assert!((1..=64).contains(&(axis.bins)().len()), "{}", point.name);
            }
            let names: BTreeSet<_> = bins.iter().map(|bin| bin.name()).collect();
            assert_eq!(names.len(), bins.len(), "{}", point.name);
            assert!(bins.iter().any(|bin| bin.never.is_none()), "{}", point.name);
        }
    }

    #[test]
    fn nothing_is_said_to_be_impossible_that_does_not_exist() {
        for (point, bins) in Tally::default().bins() {
            for never in point.never {
                let some = bins.iter().any(|bin| bin.never == Some(never.why));
                assert!(some, "{}: {}", point.name, never.why);
            }
        }
    }
}
