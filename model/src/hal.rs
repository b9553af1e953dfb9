//! What a driver sees of an adapter ([`Hal`]), and what a bench sees of it ([`Target`]).

use thiserror::Error;

/// An access that the adapter or its link could not do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HalError {
    /// Host memory has no such range.
    #[error("host memory has no bytes {address:#x}..+{length:#x}")]
    Memory {
        /// First byte asked for.
        address: u64,
        /// Number of bytes asked for.
        length: usize,
    },
    /// Host memory is used up.
    #[error("no {length} bytes of host memory left")]
    OutOfMemory {
        /// Number of bytes asked for.
        length: usize,
    },
    /// The adapter answered a register access with an error, or not in time.
    #[error("register {offset:#05x}: {cause}")]
    Register {
        /// Byte offset of the register.
        offset: u32,
        /// What went wrong.
        cause: String,
    },
    /// The adapter stopped: a divergence, a failed assertion, a violated bus rule.
    #[error("{0}")]
    Stopped(String),
}

/// Registers, host memory and the interrupt of one adapter: all that the provider uses.
///
/// Obligations of an implementation: register writes take effect in the order of the calls, and after
/// everything written to memory before them; memory read after a completion entry or event was seen
/// holds everything that the adapter placed before it; the adapter goes on while a register is read.
pub trait Hal {
    /// Reads the 32-bit register at a byte offset.
    fn read_register(&mut self, offset: u32) -> Result<u32, HalError>;

    /// Writes the 32-bit register at a byte offset; returns when the adapter has answered.
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), HalError>;

    /// Copies host memory at a logical address into `bytes`.
    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), HalError>;

    /// Copies `bytes` into host memory at a logical address.
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), HalError>;

    /// Reserves zeroed host memory that the adapter can reach, aligned to `align` bytes (a power of
    /// two); returns its logical address. Contiguous; never returned.
    fn allocate(&mut self, length: usize, align: u64) -> Result<u64, HalError>;

    /// Whether the interrupt line is high.
    fn interrupt(&mut self) -> Result<bool, HalError>;
}

/// A [`Hal`] on a bench: its network port, and its time.
pub trait Target: Hal {
    /// Puts one Ethernet frame (without FCS) on the wire towards the adapter. It is taken as time passes.
    fn send_frame(&mut self, frame: &[u8]) -> Result<(), HalError>;

    /// The frames that the adapter has sent since the last call, oldest first.
    fn take_frames(&mut self) -> Result<Vec<Vec<u8>>, HalError>;

    /// Lets time pass: `steps` clocks. Returns whether anything happened or is still going on; `false`
    /// means idle: nothing will happen before a frame or a register write comes, or the next deadline.
    fn advance(&mut self, steps: u32) -> Result<bool, HalError>;

    /// Clocks so far; how fast a target's own clock runs is its affair.
    fn now(&self) -> u64;

    /// While idle: the clock, as [`Target::now`] counts, at which the target will do something by itself
    /// (a timer ends); `None` if never, or if it is not known. A target never skips time by itself:
    /// a world in which all targets are idle may let them all pass the clocks to the first deadline at once.
    fn next_deadline(&self) -> Option<u64> {
        None
    }

    /// Ends the run: everything still under way must be accounted for, else an error says what is not.
    fn finish(&mut self) -> Result<(), HalError>;
}
