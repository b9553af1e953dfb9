//! What can go wrong, and whose fault it is.

use thiserror::Error;

use super::NtStatus;
use crate::hal::HalError;

/// Why a call failed: the consumer's affair ([`NdkError::Status`], [`NdkError::StaleHandle`]) or the
/// adapter's ([`NdkError::Adapter`]).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NdkError {
    /// The failing status that NDKPI returns.
    #[error("{0}")]
    Status(NtStatus),
    /// The handle names an object that was closed.
    #[error("the {object} of this handle is closed")]
    StaleHandle {
        /// Kind of the object.
        object: &'static str,
    },
    /// The adapter broke down or did what it must not: no consumer of NDKPI can cause it.
    #[error(transparent)]
    Adapter(AdapterError),
}

impl NdkError {
    /// The status, if it is one.
    pub fn status(&self) -> Option<NtStatus> {
        match self {
            Self::Status(status) => Some(*status),
            Self::StaleHandle { .. } | Self::Adapter(_) => None,
        }
    }
}

/// An adapter that fails its driver.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AdapterError {
    /// Registers, memory or the link.
    #[error(transparent)]
    Hal(#[from] HalError),
    /// The ID register holds something else.
    #[error("ID register is {id:#010x}, expected 0x4d444e54: not a Tandem engine")]
    NotTandem {
        /// What was read.
        id: u32,
    },
    /// The VERSION register is not one that this provider knows.
    #[error("engine version {version}, this provider knows version 1")]
    Version {
        /// What was read.
        version: u32,
    },
    /// A context command did not end.
    #[error(
        "context command {command:#06x} for index {index} still in progress after {reads} reads of CTX_STATUS"
    )]
    ContextBusy {
        /// Value written to CTX_COMMAND.
        command: u32,
        /// Table index.
        index: u32,
        /// How often CTX_STATUS was read.
        reads: u32,
    },
    /// A frame of connection management was not sent or received.
    #[error("a frame of queue pair 1 completed with status {status}")]
    Frame {
        /// Status byte of its completion entry.
        status: u8,
    },
    /// A completion entry that fits no request.
    #[error("completion queue {cq}, entry {index}: {cause}")]
    Completion {
        /// Number of the completion queue.
        cq: u32,
        /// Index of the entry, free-running.
        index: u16,
        /// What does not fit.
        cause: CompletionFault,
    },
    /// An event entry that fits no object.
    #[error("event queue entry {index}: kind {kind}, number {number}: {cause}")]
    Event {
        /// Index of the entry, free-running.
        index: u16,
        /// Its kind byte.
        kind: u8,
        /// Its object number.
        number: u32,
        /// What does not fit.
        cause: &'static str,
    },
}

/// Why a completion entry fits no request.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum CompletionFault {
    /// The queue pair does not exist.
    #[error("no queue pair {qpn}")]
    UnknownQp {
        /// Number in the entry.
        qpn: u32,
    },
    /// The queue pair completes to another queue.
    #[error("queue pair {qpn} does not complete its {queue} queue here")]
    WrongCq {
        /// Number in the entry.
        qpn: u32,
        /// `send` or `receive`.
        queue: &'static str,
    },
    /// No such request is outstanding, or an earlier one that needs an entry was passed over.
    #[error(
        "{queue} queue of queue pair {qpn}: request {got} completed, {oldest} to {producer} (excluded) \
         are outstanding and {expected} is the next that needs an entry"
    )]
    OutOfOrder {
        /// Number in the entry.
        qpn: u32,
        /// `send` or `receive`.
        queue: &'static str,
        /// Index in the entry.
        got: u16,
        /// Oldest request outstanding.
        oldest: u16,
        /// Producer index.
        producer: u16,
        /// The oldest request that must make an entry even if it succeeds; else the producer index.
        expected: u16,
    },
    /// The status byte is not one of the ABI.
    #[error("queue pair {qpn}, request {wqe}: unknown status {status}")]
    UnknownStatus {
        /// Number in the entry.
        qpn: u32,
        /// Index in the entry.
        wqe: u16,
        /// Its status byte.
        status: u8,
    },
    /// A silent request made an entry though it succeeded.
    #[error("queue pair {qpn}, request {wqe}: success reported, but the request is silent")]
    SilentSuccess {
        /// Number in the entry.
        qpn: u32,
        /// Index in the entry.
        wqe: u16,
    },
    /// The opcode is not that of the request.
    #[error("queue pair {qpn}, request {wqe}: opcode {got:#04x}, the request has {expected:#04x}")]
    WrongOpcode {
        /// Number in the entry.
        qpn: u32,
        /// Index in the entry.
        wqe: u16,
        /// Opcode in the entry.
        got: u8,
        /// Opcode of the request.
        expected: u8,
    },
}

impl From<NtStatus> for NdkError {
    fn from(status: NtStatus) -> Self {
        Self::Status(status)
    }
}

impl From<AdapterError> for NdkError {
    fn from(error: AdapterError) -> Self {
        Self::Adapter(error)
    }
}

/// Memory that is used up is an answer of NDKPI; all else is the adapter's failure.
impl From<HalError> for NdkError {
    fn from(error: HalError) -> Self {
        match error {
            HalError::OutOfMemory { .. } => Self::Status(NtStatus::INSUFFICIENT_RESOURCES),
            error => Self::Adapter(AdapterError::Hal(error)),
        }
    }
}
