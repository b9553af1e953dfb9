//! Forged frames: such as a peer never sent, and of which none may do anything.

use super::moves::Region;

/// How far before its first PSN a connection never was, and how far behind it never comes.
const BEFORE: u32 = 0x2000;
const BEHIND: u32 = 0x3_0000;

/// A frame that nobody sent. It changes counters and the pace, and at most makes the peer send again what it has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forged {
    /// An ACK or NAK with this syndrome, of a PSN from before the connection.
    Answer(u8),
    /// A response to a read that was never asked for.
    ReadResponse,
    /// Requests with a PSN from before the connection.
    OldSend,
    OldWrite,
    OldRead,
    /// A send far ahead: the NAK of a gap that is none.
    Ahead,
    /// For a queue pair that is not there.
    NoQueuePair,
    /// An opcode that nobody knows.
    NoOpcode,
    /// A congestion notification.
    Cnp,
}

impl Forged {
    /// The key `frame` of its step. Answers are of what the queue pair sends, from the PSN `own` on; requests of what its
    /// peer does, from `peer` on.
    pub(super) fn words(self, own: u32, peer: u32) -> String {
        let before = |psn: u32| psn.wrapping_sub(BEFORE) & 0xFF_FFFF;
        let (answer, request) = (before(own), before(peer));
        let (opcode, fields) = match self {
            Self::Answer(syndrome) => (
                "Acknowledge",
                format!("psn = {answer}, syndrome = {syndrome}"),
            ),
            Self::ReadResponse => (
                "RDMA READ Response Only",
                format!("psn = {answer}, payload = 8"),
            ),
            Self::OldWrite => (
                "RDMA WRITE Only",
                format!("psn = {request}, ack_req = true, payload = 64"),
            ),
            Self::OldRead => (
                "RDMA READ Request",
                format!("psn = {request}, ack_req = true, length = 64"),
            ),
            Self::Ahead => {
                let ahead = (peer + BEHIND) & 0xFF_FFFF;
                ("SEND Only", format!("psn = {ahead}, ack_req = true"))
            }
            Self::OldSend | Self::NoQueuePair | Self::NoOpcode => (
                "SEND Only",
                format!("psn = {request}, ack_req = true, payload = 32"),
            ),
            Self::Cnp => ("CNP", "psn = 0".into()),
        };
        format!("frame = {{ opcode = \"{opcode}\", {fields} }}")
    }

    /// Whether it is the same whatever the PSNs of the connection are.
    pub(super) fn is_timeless(self) -> bool {
        matches!(self, Self::NoQueuePair | Self::NoOpcode | Self::Cnp)
    }

    /// The memory that it points to.
    pub(super) fn region(self) -> Option<Region> {
        match self {
            Self::OldWrite => Some(Region::Target),
            Self::OldRead => Some(Region::Source),
            _ => None,
        }
    }

    /// The line that makes it an extraordinary one.
    pub(super) fn alter(self) -> Option<&'static str> {
        match self {
            Self::NoQueuePair => Some("alter = { dest_qp = 0xFFFFFF }"),
            Self::NoOpcode => Some("alter = { opcode = 0x1F }"),
            _ => None,
        }
    }
}
