//! What goes wrong on the way to a board, and what to look at.

use std::io;

use thiserror::Error;

use crate::packet::{Code, VERSION};

/// Whether the board did what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executed {
    /// Nothing of it.
    No,
    /// Once, or not at all; a reset in its middle may leave its first operations.
    Unknown,
    /// So many operations, from the first on.
    Operations(usize),
}

/// A request that was not done.
#[derive(Debug, Error)]
pub enum Error {
    /// Nothing came back since the line was opened.
    #[error(
        "the board is silent: no byte came back{}; check that it has power and its bitstream, the cable, \
         which port it is, and the baud rate", at(.baud)
    )]
    Silent {
        /// Of the line.
        baud: Option<u32>,
    },
    /// Bytes came back, but no packet.
    #[error(
        "{bytes} bytes came back, but no packet{}: most likely the board has another baud rate, or it is \
         no board with this link", at(.baud)
    )]
    Garbage {
        /// How many.
        bytes: u64,
        /// Of the line.
        baud: Option<u32>,
    },
    /// What was sent came back.
    #[error("what is sent comes back: receive and transmit are joined, or the terminal echoes")]
    Echo,
    /// The board answered before, and not any more.
    #[error(
        "the board answered before and is silent now, after {attempts} tries: it was unplugged, or it hangs; \
         whether the last request was executed is not known: resume it, or open a new session"
    )]
    Hung {
        /// How often it was asked.
        attempts: u32,
    },
    /// The board receives requests broken, or its replies come broken.
    #[error(
        "{broken} packets in {attempts} tries came broken: the line is bad (cable, ground, baud rate at the \
         edge); whether the last request was executed is not known: resume it, or open a new session"
    )]
    Noisy {
        /// How many.
        broken: u64,
        /// How often it was asked.
        attempts: u32,
    },
    /// The board has no session any more.
    #[error(
        "the board was reset, or another program uses it: its state is gone{}; open a new session",
        if *.repeated { ", and whether the last request was executed is not known" } else { "" }
    )]
    Restarted {
        /// The request had been sent before: it may have been executed before the reset.
        repeated: bool,
    },
    /// The board expects another sequence number.
    #[error(
        "the board is at another request than this program: another program uses it; open a new session"
    )]
    OutOfStep {
        /// The request had been sent before.
        repeated: bool,
    },
    /// The board's version is another.
    #[error("the board speaks version {board} of the link's protocol, this program {VERSION}")]
    Version {
        /// Its version.
        board: u8,
    },
    /// The board is not one.
    #[error("what answers is no Tandem board: its first register is {magic:#010x}")]
    NoBoard {
        /// What it said it is.
        magic: u32,
    },
    /// An operation failed.
    #[error("operation {index} of the request failed: {code}")]
    Failed {
        /// Which: the ones before it are done, the ones after it are not.
        index: usize,
        /// Why.
        code: Code,
    },
    /// The board answered what was not asked.
    #[error("the board's answer does not belong to the request: {0}")]
    Nonsense(&'static str),
    /// A request that fits in no packet.
    #[error("a request of {bytes} bytes: the board takes {most}")]
    TooLong {
        /// Its bytes, or its reply's.
        bytes: usize,
        /// The most.
        most: usize,
    },
    /// An earlier request has no answer.
    #[error("the request before has no answer: resume it, or open a new session")]
    Unsettled,
    /// No session is open.
    #[error("no session is open")]
    Closed,
    /// Host memory has no such range.
    #[error("the board's memory has no bytes {address:#x}..+{length:#x}")]
    Memory {
        /// The first byte.
        address: u64,
        /// How many.
        length: usize,
    },
    /// The port failed.
    #[error("the port failed, its cable may be unplugged: {0}")]
    Line(#[from] io::Error),
}

fn at(baud: &Option<u32>) -> String {
    baud.map_or_else(String::new, |baud| format!(" at {baud} baud"))
}

impl Error {
    /// What the board did of the request.
    pub fn executed(&self) -> Executed {
        match self {
            Self::Failed { index, .. } => Executed::Operations(*index),
            Self::Restarted { repeated } | Self::OutOfStep { repeated } if !repeated => {
                Executed::No
            }
            Self::Version { .. }
            | Self::NoBoard { .. }
            | Self::TooLong { .. }
            | Self::Unsettled
            | Self::Closed
            | Self::Memory { .. } => Executed::No,
            _ => Executed::Unknown,
        }
    }
}
