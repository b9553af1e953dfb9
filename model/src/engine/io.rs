//! What an action reads, and what the world sees of it.

use std::fmt;

use thiserror::Error;

/// Read channel of the host-memory port (its AXI ID).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ReadChannel {
    /// Entries of send queues, and page lists: any order, matched by address.
    SqFetch = 0,
    /// Entries of receive queues: any order, matched by address.
    RqFetch = 1,
    /// Payload of what is sent: in the order of `SqEmit` and `Respond`.
    Gather = 2,
}

impl fmt::Display for ReadChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SqFetch => "send-queue fetch",
            Self::RqFetch => "receive-queue fetch",
            Self::Gather => "gather",
        })
    }
}

/// Write channel of the host-memory port (its AXI ID).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WriteChannel {
    /// Payload of what is received: in the order of `RxRequest`, `RxResponse` and `RxFrame`.
    Payload = 0,
    /// Completion entries and events: in the order of `Complete`, `Arm`, `QpEvent`, `SrqEvent` and `CqEvent`.
    Completion = 1,
}

impl fmt::Display for WriteChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Payload => "payload",
            Self::Completion => "completion",
        })
    }
}

/// The world has no answer to a read of the model.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{channel} read of {length} bytes at {address:#x}: {cause}")]
pub struct InputError {
    /// Channel of the read.
    pub channel: ReadChannel,
    /// First byte.
    pub address: u64,
    /// Number of bytes.
    pub length: usize,
    /// Why there is no answer, in words.
    pub cause: String,
}

/// How the bus answered a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusAnswer {
    /// With the bytes.
    Data,
    /// With an error.
    Error,
}

/// What the DMA of an engine read: recorded bursts in lockstep, host memory when the model is alone.
pub trait Inputs {
    /// Fills `bytes` with what was read at a logical address.
    ///
    /// For [`ReadChannel::Gather`] it is called once for each gather read, in their order, with exactly
    /// the address and length that the engine's read must have; a read never crosses a 4 KiB boundary.
    /// For the fetch channels it is called with the whole entry of a ring (and see [`Inputs::read_list`]). [`Engine::apply`](super::Engine::apply)
    /// asks for each entry once; [`Engine::enabled`](super::Engine::enabled) may ask for entries too.
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError>;

    /// Fills `bytes` with 64 bytes of a page list, read on [`ReadChannel::SqFetch`] from an address that is
    /// aligned to 64. Unlike other reads it tells of an error of the bus, which is no
    /// error of the world: the request fails by it ([`Fault::PageList`](crate::abi::Fault)).
    ///
    /// # Errors
    /// The world has no answer.
    fn read_list(&mut self, address: u64, bytes: &mut [u8]) -> Result<BusAnswer, InputError> {
        self.read(ReadChannel::SqFetch, address, bytes)?;
        Ok(BusAnswer::Data)
    }
}

/// What the world sees of an action. The effects of one action stand in the order in which their
/// channel must show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// An Ethernet frame without FCS leaves.
    Frame(Vec<u8>),
    /// Host memory is written.
    Write {
        /// Channel of the write.
        channel: WriteChannel,
        /// Logical address of the first byte.
        address: u64,
        /// The bytes. Payload writes never cross a 4 KiB boundary.
        bytes: Vec<u8>,
    },
}
