//! Axes whose bins are classes of values.

use tandem_model::abi::Status;
use tandem_model::wire::{NakCode, Opcode, Operation, Syndrome};

use super::axis::{Axis, bin};
use super::seen::{Entry, Packet};

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

/// Flags of a request that begins.
pub const FLAG: Axis = Axis {
    name: "flag",
    bins: || {
        words(&[
            "silent",
            "read fence",
            "solicited",
            "inline",
            "local invalidate",
            "none",
        ])
    },
    of: |seen| seen.request.map_or(0, |request| request.flags),
};

/// Length of a request that begins, by the packets that it takes.
pub const LENGTH: Axis = Axis {
    name: "length",
    bins: || {
        words(&[
            "0",
            "less than a packet",
            "a packet",
            "2 packets, the last one not full",
            "2 full packets",
            "more packets",
            "more than 64 KiB",
        ])
    },
    of: |seen| {
        let (Some(request), Some(mtu)) = (seen.request, seen.mtu) else {
            return 0;
        };
        let (length, mtu) = (u64::from(request.length), u64::from(mtu));
        1 << match length {
            0 => 0,
            _ if length < mtu => 1,
            _ if length == mtu => 2,
            _ if length < 2 * mtu => 3,
            _ if length == 2 * mtu => 4,
            _ if length <= 1 << 16 => 5,
            _ => 6,
        }
    },
};

/// Elements of a request that begins.
pub const ELEMENTS: Axis = Axis {
    name: "elements",
    bins: || words(&["0", "1", "2", "3", "4", "5 and more"]),
    of: |seen| {
        seen.request
            .map_or(0, |request| 1 << request.elements.min(5))
    },
};

/// Bytes of a ring entry of the send queue.
pub const STRIDE: Axis = Axis {
    name: "entry",
    bins: || words(&["64 bytes", "128 bytes", "256 bytes"]),
    of: |seen| bin(&[64, 128, 256], seen.request.map(|request| request.stride)),
};

/// Entries that a doorbell brings.
pub const RUNG: Axis = Axis {
    name: "entries",
    bins: || words(&["1", "2 to 7", "8 and more"]),
    of: |seen| match seen.rung {
        None | Some(0) => 0,
        Some(1) => 1,
        Some(2..8) => 2,
        Some(_) => 4,
    },
};

/// Place of a packet that leaves in its message.
pub const PLACE: Axis = Axis {
    name: "place",
    bins: || words(&["first", "middle", "last", "only"]),
    of: |seen| {
        let moves = |packet: &Packet| {
            use Operation::{ReadResponse, Send, Write};
            matches!(packet.opcode.operation(), Send | Write | ReadResponse)
        };
        let ends = |packet: Packet| (packet.opcode.starts_message(), packet.opcode.ends_message());
        let all = [(true, false), (false, false), (false, true), (true, true)];
        bin(&all, seen.sent.filter(moves).map(ends))
    },
};

/// Path MTU.
pub const MTU: Axis = Axis {
    name: "mtu",
    bins: || words(&["256", "512", "1024", "2048", "4096"]),
    of: |seen| bin(&[256, 512, 1024, 2048, 4096], seen.mtu),
};

/// Pad bytes of a packet that leaves.
pub const PAD: Axis = Axis {
    name: "pad",
    bins: || words(&["0", "1", "2", "3"]),
    of: |seen| seen.sent.map_or(0, |packet| 1 << packet.pad),
};

/// Operation of a packet that leaves with payload.
pub const CARRIER: Axis = Axis {
    name: "operation",
    bins: || words(&["send", "write", "read response"]),
    of: |seen| {
        let carries = seen.sent.filter(|packet| packet.payload > 0);
        let all = [Operation::Send, Operation::Write, Operation::ReadResponse];
        bin(&all, carries.map(|packet| packet.opcode.operation()))
    },
};

/// Whether a packet that leaves left before.
pub const AGAIN: Axis = Axis {
    name: "sent",
    bins: || words(&["first time", "again"]),
    of: |seen| bin(&[false, true], seen.sent.map(|packet| packet.again)),
};

/// PSN of a packet that leaves, near the wrap.
pub const PSN: Axis = Axis {
    name: "psn",
    bins: || words(&["0xfffffe", "0xffffff", "0x000000", "0x000001"]),
    of: |seen| {
        let all = [0xFF_FFFE, 0xFF_FFFF, 0, 1];
        bin(&all, seen.sent.map(|packet| packet.psn))
    },
};

/// Version of IP, of a packet that leaves.
pub const IP: Axis = Axis {
    name: "ip",
    bins: || words(&["IPv4", "IPv6"]),
    of: |seen| bin(&[false, true], seen.sent.map(|packet| packet.ipv6)),
};

/// Whether a request packet that leaves asks for an acknowledge.
pub const ASKS: Axis = Axis {
    name: "acknowledge",
    bins: || words(&["not asked for", "asked for"]),
    of: |seen| {
        let request = seen.sent.filter(|packet| packet.opcode.is_request());
        bin(&[false, true], request.map(|packet| packet.asks))
    },
};

/// Whether the network marked a packet that came in.
pub const MARKED: Axis = Axis {
    name: "congestion",
    bins: || words(&["not experienced", "experienced"]),
    of: |seen| bin(&[false, true], seen.taken.map(|packet| packet.marked)),
};

/// Kind of a syndrome.
fn syndrome(packet: Option<Packet>) -> u64 {
    let Some(syndrome) = packet.and_then(|packet| packet.syndrome) else {
        return 0;
    };
    1 << match syndrome {
        Syndrome::Ack { credit: 0x1F } => 0,
        Syndrome::Ack { .. } => 1,
        Syndrome::Rnr { .. } => 2,
        Syndrome::Nak(NakCode::PsnSequence) => 3,
        Syndrome::Nak(NakCode::InvalidRequest) => 4,
        Syndrome::Nak(NakCode::RemoteAccess) => 5,
        Syndrome::Nak(NakCode::RemoteOperational) => 6,
        Syndrome::Nak(_) => 7,
        _ => 8,
    }
}

fn syndromes() -> Vec<String> {
    words(&[
        "ACK",
        "ACK with credits",
        "RNR NAK",
        "NAK sequence error",
        "NAK invalid request",
        "NAK remote access error",
        "NAK remote operational error",
        "other NAK",
        "reserved",
    ])
}

/// Syndrome of a packet that leaves.
pub const SENT_SYNDROME: Axis = Axis {
    name: "syndrome",
    bins: syndromes,
    of: |seen| syndrome(seen.sent),
};

/// Syndrome of a packet that comes in.
pub const TAKEN_SYNDROME: Axis = Axis {
    name: "syndrome",
    bins: syndromes,
    of: |seen| syndrome(seen.taken),
};

/// What a packet with a token does.
pub const ACCESS: Axis = Axis {
    name: "access",
    bins: || words(&["write", "read", "invalidate"]),
    of: |seen| {
        let all = [Operation::Write, Operation::Read, Operation::Send];
        let named = seen.taken.filter(|_| seen.token.is_some());
        bin(&all, named.map(|packet| packet.opcode.operation()))
    },
};

/// Elements of a receive that a packet begins.
pub const RECEIVE_ELEMENTS: Axis = Axis {
    name: "elements",
    bins: || words(&["0", "1", "2", "3", "4"]),
    of: |seen| {
        seen.receive
            .map_or(0, |receive| 1 << receive.elements.min(4))
    },
};

/// Where a receive comes from.
pub const RECEIVE_QUEUE: Axis = Axis {
    name: "queue",
    bins: || words(&["own", "shared"]),
    of: |seen| bin(&[false, true], seen.receive.map(|receive| receive.shared)),
};

/// Queue of a completion entry.
pub const QUEUE: Axis = Axis {
    name: "queue",
    bins: || words(&["send", "receive"]),
    of: |seen| bin(&[false, true], seen.entry.map(|entry| entry.receive)),
};

/// What a completion entry of a receive says besides its length.
pub const RECEIVED: Axis = Axis {
    name: "receive",
    bins: || words(&["plain", "solicited", "invalidated", "both"]),
    of: |seen| {
        let done = |entry: &Entry| entry.receive && entry.status == Status::Success;
        let all = [(false, false), (true, false), (false, true), (true, true)];
        let entry = seen.entry.filter(done);
        bin(
            &all,
            entry.map(|entry| (entry.solicited, entry.invalidated)),
        )
    },
};

/// Length of a received message.
pub const RECEIVED_LENGTH: Axis = Axis {
    name: "length",
    bins: || words(&["0", "1 to 255", "256 to 64 Ki", "more"]),
    of: |seen| {
        let received = seen.entry.filter(|entry| entry.receive);
        received.map_or(0, |entry| match entry.length {
            0 => 1,
            1..256 => 2,
            256..=0x1_0000 => 4,
            _ => 8,
        })
    },
};

/// What a completion does.
pub const COMPLETED: Axis = Axis {
    name: "completion",
    bins: || {
        words(&[
            "entry",
            "entry and event",
            "lost",
            "lost, with the queue's event",
        ])
    },
    of: |seen| {
        let all = [(false, false), (false, true), (true, false), (true, true)];
        bin(&all, seen.lost.map(|lost| (lost, seen.event.is_some())))
    },
};

/// Queue of a flushed request.
pub const FLUSHED: Axis = Axis {
    name: "queue",
    bins: || words(&["send", "receive", "shared receive: no more of it"]),
    of: |seen| bin(&[0, 1, 2], seen.flushed),
};

/// Whether a flushed request of the send queue had begun.
pub const BEGUN: Axis = Axis {
    name: "request",
    bins: || words(&["not begun", "begun"]),
    of: |seen| {
        let send = seen.flushed.filter(|queue| *queue == 0);
        bin(&[false, true], send.map(|_| seen.opcode.is_some()))
    },
};

/// What the end of a timer does.
pub const GAVE_UP: Axis = Axis {
    name: "timer",
    bins: || words(&["sends again", "fails the request"]),
    of: |seen| bin(&[false, true], seen.gave_up),
};

/// What a packet is on which the network lays hands.
pub const TRAVELLER: Axis = Axis {
    name: "frame",
    bins: || {
        words(&[
            "send",
            "write",
            "read request",
            "read response",
            "acknowledge",
            "congestion notification",
            "datagram",
            "other",
        ])
    },
    of: |seen| {
        let Some((_, opcode)) = seen.fate else {
            return 0;
        };
        1 << match opcode.map(Opcode::operation) {
            Some(Operation::Send) => 0,
            Some(Operation::Write) => 1,
            Some(Operation::Read) => 2,
            Some(Operation::ReadResponse) => 3,
            Some(Operation::Acknowledge) => 4,
            Some(Operation::Congestion) => 5,
            Some(Operation::Datagram) => 6,
            _ => 7,
        }
    },
};
