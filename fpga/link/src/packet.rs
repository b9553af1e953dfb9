//! Packets and their bytes on the line.

use thiserror::Error;

/// The version of the protocol that this crate speaks.
pub const VERSION: u8 = 1;
/// Bit of byte 0 that tells a reply from a request.
const REPLY: u8 = 0x80;
/// Bytes of a packet before its operations or results.
pub const HEADER: usize = 5;
/// Bytes of a request behind its operations.
pub const REQUEST_TAIL: usize = 4;
/// Bytes of a reply behind its results.
pub const REPLY_TAIL: usize = 8;
/// No packet of any board is longer, stuffed or not.
const LONGEST: usize = 4200;

/// Why the board did not do something.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Code {
    /// It did.
    #[error("done")]
    Done,
    /// No such operation, or it is cut.
    #[error("the board does not know the operation, or it was cut")]
    Malformed,
    /// An argument that must not be.
    #[error("nothing to do, or an offset that is no multiple of 4")]
    Argument,
    /// Beyond registers or memory.
    #[error("beyond the registers or the memory")]
    Range,
    /// The result has no room in the reply.
    #[error("the result has no room in the reply")]
    ReplyFull,
    /// The frame has no room in the buffer.
    #[error("no room for the frame in the board's buffer")]
    NoRoom,
    /// The register answered with an error.
    #[error("the register answered with a bus error")]
    BusError,
    /// Register or memory did not answer.
    #[error("the core did not answer: it hangs or is in reset; reset it")]
    BusTimeout,
    /// The board was reset, or another host opened a session.
    #[error("the board knows no such session")]
    NoSession,
    /// Neither the last sequence number nor the next.
    #[error("the board expects another sequence number")]
    Sequence,
    /// The board speaks another version.
    #[error("the board speaks another version of the protocol")]
    Version,
    /// What came was no whole packet.
    #[error("the packet came broken")]
    Broken,
    /// A code that this crate does not know.
    #[error("code {0}")]
    Other(u8),
}

const CODES: [(u8, Code); 12] = [
    (0, Code::Done),
    (1, Code::Malformed),
    (2, Code::Argument),
    (3, Code::Range),
    (4, Code::ReplyFull),
    (5, Code::NoRoom),
    (6, Code::BusError),
    (7, Code::BusTimeout),
    (16, Code::NoSession),
    (17, Code::Sequence),
    (18, Code::Version),
    (19, Code::Broken),
];

impl From<u8> for Code {
    fn from(byte: u8) -> Self {
        let known = CODES.iter().find(|(value, _)| *value == byte);
        known.map_or(Self::Other(byte), |(_, code)| *code)
    }
}

impl Code {
    /// Whether the request was refused: nothing of it was executed.
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::NoSession | Self::Sequence | Self::Version | Self::Broken
        )
    }
}

/// The board's state in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status(pub u8);

impl Status {
    /// The interrupt line is high.
    pub const INTERRUPT: Self = Self(1);
    /// A captured frame can be taken.
    pub const FRAME: Self = Self(2);
    /// Commit records can be taken.
    pub const COMMITS: Self = Self(4);
    /// Commit records were lost since the core's last reset.
    pub const COMMITS_LOST: Self = Self(8);
    /// Captured frames were dropped since the core's last reset.
    pub const FRAMES_DROPPED: Self = Self(16);
    /// No frame waits to go to the core.
    pub const SENT: Self = Self(32);
    /// Registers or memory did not answer and are not asked again.
    pub const STUCK: Self = Self(64);
    /// The core is in reset.
    pub const RESET: Self = Self(128);

    /// Whether it has any of these bits.
    pub fn has(self, bits: Self) -> bool {
        self.0 & bits.0 != 0
    }
}

impl std::ops::BitOr for Status {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a board answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The board's version.
    pub version: u8,
    /// Of the request.
    pub session: u16,
    /// Of the request.
    pub sequence: u16,
    /// Results of the operations.
    pub results: Vec<u8>,
    /// Operations that were done.
    pub count: u16,
    /// What stopped them.
    pub code: Code,
    /// The board's state.
    pub status: Status,
}

/// The bytes of a request on the line.
pub fn request(session: u16, sequence: u16, operations: &[u8]) -> Vec<u8> {
    let mut packet = vec![VERSION];
    packet.extend_from_slice(&session.to_le_bytes());
    packet.extend_from_slice(&sequence.to_le_bytes());
    packet.extend_from_slice(operations);
    packet.extend_from_slice(&crc32fast::hash(&packet).to_le_bytes());
    frame(&packet)
}

/// A packet stuffed, between zero bytes.
pub(crate) fn frame(packet: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; cobs::max_encoding_length(packet.len()) + 2];
    let length = cobs::encode(packet, &mut bytes[1..]);
    bytes.truncate(length + 1);
    bytes.push(0);
    bytes
}

/// What was found between two zero bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A reply.
    Reply(Reply),
    /// A request, so not from a board.
    Echo,
    /// Bytes that are no packet.
    Garbage,
}

/// Finds packets in a stream of bytes.
#[derive(Debug, Default)]
pub struct Finder {
    held: Vec<u8>,
    long: bool,
}

impl Finder {
    /// Takes one byte; returns what it ends.
    pub fn push(&mut self, byte: u8) -> Option<Found> {
        if byte != 0 {
            self.long |= self.held.len() >= LONGEST;
            if !self.long {
                self.held.push(byte);
            }
            return None;
        }
        let (mut stuffed, long) = (std::mem::take(&mut self.held), self.long);
        self.long = false;
        if stuffed.is_empty() {
            return None;
        }
        let length = cobs::decode_in_place(&mut stuffed).ok();
        let packet = length.filter(|_| !long).and_then(|n| stuffed.get(..n));
        Some(packet.map_or(Found::Garbage, read))
    }

    /// Bytes since the last zero byte.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Forgets what was not ended.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

fn read(packet: &[u8]) -> Found {
    let Some((body, crc)) = packet.split_last_chunk::<4>() else {
        return Found::Garbage;
    };
    if crc32fast::hash(body) != u32::from_le_bytes(*crc) || body.len() < HEADER {
        return Found::Garbage;
    }
    if body[0] & REPLY == 0 {
        return Found::Echo;
    }
    let Some((rest, tail)) = body[HEADER..].split_last_chunk::<4>() else {
        return Found::Garbage;
    };
    Found::Reply(Reply {
        version: body[0] & !REPLY,
        session: u16::from_le_bytes([body[1], body[2]]),
        sequence: u16::from_le_bytes([body[3], body[4]]),
        results: rest.to_vec(),
        count: u16::from_le_bytes([tail[0], tail[1]]),
        code: tail[2].into(),
        status: Status(tail[3]),
    })
}
