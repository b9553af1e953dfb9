//! Capture files: pcap and pcapng, as any tool writes them.
//!
//! The crate that writes our captures refuses some that others write (option lists without an end, frames longer than the
//! snap length), ignores the resolution of time stamps, and says of a bad file only that it is bad. This reader takes what can be
//! taken, and names the offset of what cannot.

mod bytes;
mod pcap;
mod pcapng;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

/// Link type of Ethernet frames.
const ETHERNET: u32 = 1;

/// A file that cannot be used.
#[derive(Debug, Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no capture, or a broken one.
    #[error("{}, byte {offset}: {cause}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: usize,
        /// What is wrong there.
        cause: Cause,
    },
}

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Cause {
    /// Neither format begins so.
    #[error("this is neither pcap nor pcapng (it begins with {0:#010x})")]
    Magic(u32),
    /// The file ends inside something.
    #[error("the file ends inside {0}")]
    CutOff(&'static str),
    /// A version of the format that does not exist.
    #[error("version {0} of the format is not known")]
    Version(u16),
    /// The length of a block is impossible.
    #[error("a block of {0} bytes is impossible")]
    BlockLength(u32),
    /// A block's two lengths differ.
    #[error("a block of {0} bytes ends with the length {1}")]
    Trailer(u32, u32),
    /// A frame has more bytes than its block.
    #[error("a frame of {0} bytes does not fit into its block")]
    Frame(u32),
    /// A frame of an interface that was not described.
    #[error("a frame of interface {0}, which is not described before it")]
    Interface(u32),
    /// Frames that are not Ethernet.
    #[error("link type {0} ({1}): only Ethernet (1) can be checked")]
    LinkType(u32, &'static str),
}

/// The name of a link type that RoCEv2 is met on.
fn link_name(kind: u32) -> &'static str {
    match kind {
        0 => "loopback",
        101 | 12 | 14 => "raw IP",
        113 => "Linux cooked",
        276 => "Linux cooked, version 2",
        247 => "InfiniBand",
        105 | 127 => "wireless LAN",
        _ => "another one",
    }
}

fn ethernet(kind: u32) -> Result<(), Cause> {
    match kind {
        ETHERNET => Ok(()),
        other => Err(Cause::LinkType(other, link_name(other))),
    }
}

/// A frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its number in the file, from 1, as Wireshark counts.
    pub number: usize,
    /// When it was captured.
    pub time: Duration,
    /// Name of the interface on which it was captured, if it has one.
    pub interface: Option<Arc<str>>,
    /// Its bytes, as far as they were captured.
    pub bytes: Vec<u8>,
    /// How many it had.
    pub length: usize,
    /// Its comment, if there is one.
    pub comment: Option<String>,
}

impl Packet {
    /// Whether only its beginning was captured.
    pub fn is_cut(&self) -> bool {
        self.length > self.bytes.len()
    }

    /// Whether it was not sent so: `tandem run --capture` shows what arrives otherwise than it was sent once more.
    pub fn is_arrival(&self) -> bool {
        self.comment
            .as_deref()
            .is_some_and(|comment| comment.starts_with("arrives at "))
    }

    /// Whether it is known that the network lost it.
    pub fn is_lost(&self) -> bool {
        self.comment
            .as_deref()
            .is_some_and(|comment| comment.starts_with("lost"))
    }
}

/// The frames of a file's bytes; what stopped the reading, and where.
///
/// # Errors
/// The first thing that is wrong.
pub fn parse(bytes: &[u8]) -> Result<Vec<Packet>, (usize, Cause)> {
    match bytes::u32_at(bytes, 0, bytes::Order::Big) {
        None => Err((0, Cause::CutOff("its first four bytes"))),
        Some(pcapng::SECTION) => pcapng::parse(bytes),
        Some(magic) => match pcap::Kind::of(magic) {
            Some(kind) => pcap::parse(bytes, kind),
            None => Err((0, Cause::Magic(magic))),
        },
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read, or is no capture of Ethernet frames.
pub fn read(path: &Path) -> Result<Vec<Packet>, FileError> {
    let bytes = std::fs::read(path).map_err(|source| FileError::Read {
        path: path.into(),
        source,
    })?;
    parse(&bytes).map_err(|(offset, cause)| FileError::Bad {
        path: path.into(),
        offset,
        cause,
    })
}
