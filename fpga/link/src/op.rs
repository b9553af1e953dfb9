//! Operations, what they give, and their bytes.

use crate::packet::{Code, Status};

/// Bytes of a commit record on the line.
pub const RECORD: usize = 18;

/// One thing that the board does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads registers in a row.
    ReadRegisters {
        /// Byte offset of the first.
        offset: u16,
        /// How many.
        count: u16,
    },
    /// Writes registers in a row.
    WriteRegisters {
        /// Byte offset of the first.
        offset: u16,
        /// One value for each.
        values: Vec<u32>,
    },
    /// Reads host memory.
    ReadMemory {
        /// From the start of the memory.
        address: u32,
        /// Bytes.
        length: u16,
    },
    /// Writes host memory.
    WriteMemory {
        /// From the start of the memory.
        address: u32,
        /// What is written.
        bytes: Vec<u8>,
    },
    /// Fills host memory.
    FillMemory {
        /// From the start of the memory.
        address: u32,
        /// Units of eight bytes.
        units: u16,
        /// What every byte becomes.
        value: u8,
    },
    /// Gives a piece of a frame to the core's network port.
    SendFrame {
        /// The piece.
        bytes: Vec<u8>,
        /// Whether it ends the frame.
        last: bool,
        /// Whether the core is told that the MAC found the frame bad.
        bad: bool,
    },
    /// Takes a piece of a captured frame.
    TakeFrame {
        /// At most so many bytes.
        most: u16,
    },
    /// Takes commit records.
    TakeCommits {
        /// At most so many.
        most: u16,
    },
    /// Reads link registers in a row.
    ReadLink {
        /// The first.
        index: u8,
        /// How many.
        count: u16,
    },
    /// Writes link registers in a row.
    WriteLink {
        /// The first.
        index: u8,
        /// One value for each.
        values: Vec<u32>,
    },
    /// Lets time pass until a bit of the status is high.
    Wait {
        /// At most so many units of 64 clocks.
        units: u16,
        /// The bits.
        mask: Status,
    },
}

/// What an operation gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing but that it was done.
    Done,
    /// Registers.
    Words(Vec<u32>),
    /// Memory.
    Bytes(Vec<u8>),
    /// A piece of a frame; empty and not last if there was none.
    Frame {
        /// The piece.
        bytes: Vec<u8>,
        /// Whether it ends the frame.
        last: bool,
        /// Whether the core marked the frame as bad.
        bad: bool,
    },
    /// Commit records, oldest first.
    Commits(Vec<Record>),
    /// The status.
    Status(Status),
}

/// An action of the core and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// `commit[111:0]`, lowest byte first.
    pub commit: [u8; 14],
    /// The low 31 bits of the link's clock.
    pub clock: u32,
    /// Whether records were lost before this one.
    pub gap: bool,
}

impl Operation {
    /// Appends its bytes to a request.
    pub fn emit(&self, into: &mut Vec<u8>) {
        let mut head = |number: u8, n: usize, rest: &[u8]| {
            into.push(number);
            into.extend_from_slice(&(n as u16).to_le_bytes());
            into.extend_from_slice(rest);
        };
        match self {
            Self::ReadRegisters { offset, count } => {
                head(1, usize::from(*count), &offset.to_le_bytes());
            }
            Self::WriteRegisters { offset, values } => {
                head(2, values.len(), &offset.to_le_bytes());
                words(values, into);
            }
            Self::ReadMemory { address, length } => {
                head(3, usize::from(*length), &address.to_le_bytes());
            }
            Self::WriteMemory { address, bytes } => {
                head(4, bytes.len(), &address.to_le_bytes());
                into.extend_from_slice(bytes);
            }
            Self::FillMemory {
                address,
                units,
                value,
            } => {
                head(5, usize::from(*units), &address.to_le_bytes());
                into.push(*value);
            }
            Self::SendFrame { bytes, last, bad } => {
                head(6, bytes.len(), &[u8::from(*last) | u8::from(*bad) << 1]);
                into.extend_from_slice(bytes);
            }
            Self::TakeFrame { most } => head(7, usize::from(*most), &[]),
            Self::TakeCommits { most } => head(8, usize::from(*most), &[]),
            Self::ReadLink { index, count } => head(9, usize::from(*count), &[*index]),
            Self::WriteLink { index, values } => {
                head(10, values.len(), &[*index]);
                words(values, into);
            }
            Self::Wait { units, mask } => head(11, usize::from(*units), &[mask.0]),
        }
    }

    /// Bytes in a request.
    pub fn request_bytes(&self) -> usize {
        match self {
            Self::ReadRegisters { .. } => 5,
            Self::WriteRegisters { values, .. } => 5 + 4 * values.len(),
            Self::ReadMemory { .. } => 7,
            Self::WriteMemory { bytes, .. } => 7 + bytes.len(),
            Self::FillMemory { .. } => 8,
            Self::SendFrame { bytes, .. } => 4 + bytes.len(),
            Self::TakeFrame { .. } | Self::TakeCommits { .. } => 3,
            Self::ReadLink { .. } | Self::Wait { .. } => 4,
            Self::WriteLink { values, .. } => 4 + 4 * values.len(),
        }
    }

    /// Bytes that its result may have in a reply.
    pub fn reply_bytes(&self) -> usize {
        match self {
            Self::ReadRegisters { count, .. } | Self::ReadLink { count, .. } => {
                4 * usize::from(*count)
            }
            Self::ReadMemory { length, .. } => usize::from(*length),
            Self::TakeFrame { most } => 3 + usize::from(*most),
            Self::TakeCommits { most } => 2 + RECORD * usize::from(*most),
            Self::Wait { .. } => 1,
            _ => 0,
        }
    }

    /// Clocks that it may take by itself.
    pub(crate) fn clocks(&self) -> u64 {
        match self {
            Self::Wait { units, .. } => 64 * u64::from(*units),
            Self::FillMemory { units, .. } => 16 * u64::from(*units),
            _ => 0,
        }
    }

    /// Takes its result off the front of a reply's results; `None` if they are too short.
    pub fn parse(&self, results: &mut &[u8]) -> Option<Outcome> {
        Some(match self {
            Self::ReadRegisters { .. } | Self::ReadLink { .. } => {
                let bytes = take(results, self.reply_bytes())?;
                let word = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
                Outcome::Words(bytes.chunks_exact(4).map(word).collect())
            }
            Self::ReadMemory { length, .. } => {
                Outcome::Bytes(take(results, usize::from(*length))?.to_vec())
            }
            Self::TakeFrame { most } => {
                let length = short(results)?;
                let flags = take(results, 1)?[0];
                if length > *most {
                    return None;
                }
                Outcome::Frame {
                    bytes: take(results, usize::from(length))?.to_vec(),
                    last: flags & 1 != 0,
                    bad: flags & 2 != 0,
                }
            }
            Self::TakeCommits { most } => {
                let count = short(results)?;
                if count > *most {
                    return None;
                }
                let bytes = take(results, RECORD * usize::from(count))?;
                Outcome::Commits(bytes.chunks_exact(RECORD).map(record).collect())
            }
            Self::Wait { .. } => Outcome::Status(Status(take(results, 1)?[0])),
            _ => Outcome::Done,
        })
    }
}

/// What the operations of a request gave, as far as they were done, and what stopped them.
pub fn outcomes(
    operations: &[Operation],
    count: usize,
    mut results: &[u8],
    code: Code,
) -> Option<Vec<Outcome>> {
    let done = operations.get(..count)?;
    let parsed: Option<Vec<Outcome>> = done.iter().map(|op| op.parse(&mut results)).collect();
    if code == Code::Done && (count != operations.len() || !results.is_empty()) {
        return None;
    }
    parsed
}

fn words(values: &[u32], into: &mut Vec<u8>) {
    into.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (front, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(front)
}

fn short(from: &mut &[u8]) -> Option<u16> {
    let bytes = take(from, 2)?;
    Some(u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn record(bytes: &[u8]) -> Record {
    let mut commit = [0; 14];
    commit.copy_from_slice(&bytes[..14]);
    let time = u32::from_le_bytes([bytes[14], bytes[15], bytes[16], bytes[17]]);
    Record {
        commit,
        clock: time & 0x7FFF_FFFF,
        gap: time >> 31 == 1,
    }
}
