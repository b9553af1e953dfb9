//! Actions, the steps of the transition system; an action is a commit record.

use std::fmt;

use thiserror::Error;

use super::expect::LET_GO;
use crate::abi::{
    Arm, COMMIT, CommitKind, DropCause, Fault, Record, RespondKind, RxResult, Status, Table,
};

/// One indivisible step of the engine. Fields that a kind does not use are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// What happens.
    pub kind: CommitKind,
    /// Queue pair; completion queue or table index where the kind says so.
    pub qpn: u32,
    /// Index of a work request or ring entry.
    pub index: u16,
    /// Packet sequence number.
    pub psn: u32,
    /// Second number where the kind says so.
    pub token: u32,
    /// Which case of the kind.
    pub cause: u8,
}

/// A commit record whose kind does not exist.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("commit record of unknown kind {0}")]
pub struct UnknownKind(pub u8);

impl Action {
    /// An action with all other fields 0.
    pub const fn new(kind: CommitKind, qpn: u32) -> Self {
        Self {
            kind,
            qpn,
            index: 0,
            psn: 0,
            token: 0,
            cause: 0,
        }
    }

    /// The same action with this index.
    #[must_use]
    pub const fn with_index(mut self, index: u16) -> Self {
        self.index = index;
        self
    }

    /// The same action with this PSN.
    #[must_use]
    pub const fn with_psn(mut self, psn: u32) -> Self {
        self.psn = psn;
        self
    }

    /// The same action with this second number.
    #[must_use]
    pub const fn with_token(mut self, token: u32) -> Self {
        self.token = token;
        self
    }

    /// The same action with this cause.
    #[must_use]
    pub const fn with_cause(mut self, cause: u8) -> Self {
        self.cause = cause;
        self
    }

    /// The action of a commit record ([`COMMIT`]).
    ///
    /// # Errors
    /// [`UnknownKind`] if the kind is none, or not of the table.
    pub fn from_record(record: &Record) -> Result<Self, UnknownKind> {
        let kind = record.get("kind");
        let kind = CommitKind::from_bits(kind)
            .filter(|kind| *kind != CommitKind::None)
            .ok_or(UnknownKind(kind as u8))?;
        Ok(Self {
            kind,
            qpn: record.get("qpn") as u32,
            index: record.get("index") as u16,
            psn: record.get("psn") as u32,
            token: record.get("token") as u32,
            cause: record.get("cause") as u8,
        })
    }

    /// Its commit record.
    pub fn to_record(&self) -> Record {
        Record::new(&COMMIT)
            .with("kind", self.kind)
            .with("qpn", self.qpn)
            .with("index", self.index)
            .with("psn", self.psn)
            .with("token", self.token)
            .with("cause", self.cause)
    }

    /// Whether it is the verdict on a frame.
    pub fn takes_frame(&self) -> bool {
        use CommitKind::{RxDrop, RxFrame, RxRequest, RxResponse};
        matches!(self.kind, RxDrop | RxRequest | RxResponse | RxFrame)
    }

    /// The fields in which two actions differ, as `psn 0x000004 instead of 0x000003`, one after another.
    pub fn differences(&self, expected: &Self) -> String {
        let mut parts = Vec::new();
        if self.kind != expected.kind {
            parts.push(format!("{:?} instead of {:?}", self.kind, expected.kind));
        }
        if self.qpn != expected.qpn {
            parts.push(format!("qpn {} instead of {}", self.qpn, expected.qpn));
        }
        if self.index != expected.index {
            parts.push(format!(
                "index {} instead of {}",
                self.index, expected.index
            ));
        }
        if self.psn != expected.psn {
            parts.push(format!(
                "psn {:#08x} instead of {:#08x}",
                self.psn, expected.psn
            ));
        }
        if self.token != expected.token {
            parts.push(format!(
                "token {:#x} instead of {:#x}",
                self.token, expected.token
            ));
        }
        if self.cause != expected.cause {
            parts.push(format!(
                "cause {} instead of {}",
                self.cause_in_words(),
                expected.cause_in_words()
            ));
        }
        parts.join(", ")
    }

    /// The cause by its name in the enumeration that the kind uses.
    pub fn cause_in_words(&self) -> String {
        fn name<T: fmt::Debug>(value: Option<T>, bits: u8) -> String {
            value.map_or_else(|| format!("unknown {bits}"), |value| format!("{value:?}"))
        }
        let bits = u128::from(self.cause);
        match self.kind {
            CommitKind::Context => name(Table::from_bits(bits), self.cause),
            CommitKind::Arm => name(Arm::from_bits(bits), self.cause),
            CommitKind::SqFail | CommitKind::Retire | CommitKind::QpEvent | CommitKind::RxFrame => {
                name(Status::from_bits(bits), self.cause)
            }
            CommitKind::RxDrop => name(DropCause::from_bits(bits), self.cause),
            CommitKind::RxRequest | CommitKind::RxResponse => {
                name(RxResult::from_bits(bits), self.cause)
            }
            CommitKind::Respond => name(RespondKind::from_bits(bits), self.cause),
            _ => self.cause.to_string(),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            qpn,
            index,
            psn,
            token,
            ..
        } = self;
        let cause = self.cause_in_words();
        match kind {
            CommitKind::None => write!(f, "None"),
            CommitKind::Context => {
                write!(f, "Context: {cause} entry {qpn} written ({index} entries)")
            }
            CommitKind::SqDoorbell => {
                write!(f, "SqDoorbell: queue pair {qpn}, producer index {index}")
            }
            CommitKind::RqDoorbell => {
                write!(f, "RqDoorbell: queue pair {qpn}, producer index {index}")
            }
            CommitKind::CqDoorbell => {
                write!(
                    f,
                    "CqDoorbell: completion queue {qpn}, consumer index {index}"
                )
            }
            CommitKind::Arm => write!(
                f,
                "Arm: completion queue {qpn}, {cause}, consumer index {index}"
            ),
            CommitKind::SqEmit => {
                write!(
                    f,
                    "SqEmit: queue pair {qpn}, request {index}, psn {psn:#08x}"
                )
            }
            CommitKind::SqFail => {
                write!(f, "SqFail: queue pair {qpn}, request {index}, {cause}, ")?;
                match Fault::from_bits((*token).into()) {
                    Some(fault) => write!(f, "fault {fault:?}"),
                    None => write!(f, "unknown fault {token}"),
                }
            }
            CommitKind::RxDrop | CommitKind::RxRequest | CommitKind::RxResponse => {
                write!(f, "{kind:?}: queue pair {qpn}, psn {psn:#08x}, {cause}")
            }
            CommitKind::Respond => {
                write!(f, "Respond: queue pair {qpn}, {cause}, psn {psn:#08x}")
            }
            CommitKind::Retire => {
                write!(f, "Retire: queue pair {qpn}, request {index}, {cause}")
            }
            CommitKind::Flush if self.cause == LET_GO => {
                write!(
                    f,
                    "Flush: queue pair {qpn} has no receive of its shared queue"
                )
            }
            CommitKind::Flush => {
                let queue = if self.cause == 0 { "send" } else { "receive" };
                write!(f, "Flush: queue pair {qpn}, {queue} request {index}")
            }
            CommitKind::Complete => {
                let queue = if token >> 24 == 0 { "send" } else { "receive" };
                let lost = if self.cause == 0 { "" } else { ", lost" };
                write!(
                    f,
                    "Complete: completion queue {qpn}, entry {index}, {queue} queue of queue pair {}{lost}",
                    token & 0xFF_FFFF
                )
            }
            CommitKind::QpEvent => write!(f, "QpEvent: queue pair {qpn}, {cause}"),
            CommitKind::Timeout => {
                let what = if self.cause == 0 {
                    "sends again"
                } else {
                    "fails"
                };
                write!(f, "Timeout: queue pair {qpn}, psn {psn:#08x}, {what}")
            }
            CommitKind::RnrResume => write!(f, "RnrResume: queue pair {qpn}, psn {psn:#08x}"),
            CommitKind::SqLocal => write!(
                f,
                "SqLocal: queue pair {qpn}, request {index}, token {token:#x}"
            ),
            CommitKind::SrqDoorbell => write!(
                f,
                "SrqDoorbell: shared receive queue {qpn}, producer index {index}"
            ),
            CommitKind::SrqArm => write!(f, "SrqArm: shared receive queue {qpn}, limit {index}"),
            CommitKind::SrqEvent => write!(f, "SrqEvent: shared receive queue {qpn}"),
            CommitKind::CqEvent => write!(f, "CqEvent: completion queue {qpn}"),
            CommitKind::RxFrame => {
                write!(f, "RxFrame: queue pair {qpn}, receive {index}, {cause}")
            }
        }
    }
}
