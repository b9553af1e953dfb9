//! Answers to the reads of the engine's DMA: pushed beforehand, or given by a callback.

use std::ffi::c_void;

use tandem_model::engine::{BusAnswer, InputError, Inputs, ReadChannel};

use crate::code::Failure;

/// A read of the engine.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TandemRead {
    /// `TANDEM_SQ_FETCH`, `TANDEM_RQ_FETCH` or `TANDEM_GATHER`.
    pub channel: u32,
    /// Bytes.
    pub length: u32,
    /// Logical address of the first byte.
    pub address: u64,
}

/// Answers a read: fills the bytes and returns 0, or returns 1 for an error of the bus, or less than 0 if it cannot say yet.
pub type TandemReader = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        channel: u32,
        address: u64,
        bytes: *mut u8,
        length: usize,
    ) -> i32,
>;

/// Entries of send queues, and page lists.
pub const TANDEM_SQ_FETCH: u32 = 0;
/// Entries of receive queues.
pub const TANDEM_RQ_FETCH: u32 = 1;
/// Payload of what is sent.
pub const TANDEM_GATHER: u32 = 2;

/// The channel of a number of the caller's.
pub(crate) fn channel(number: u32) -> Result<ReadChannel, Failure> {
    match number {
        TANDEM_SQ_FETCH => Ok(ReadChannel::SqFetch),
        TANDEM_RQ_FETCH => Ok(ReadChannel::RqFetch),
        TANDEM_GATHER => Ok(ReadChannel::Gather),
        _ => Err(Failure::value(format!("there is no read channel {number}"))),
    }
}

/// The number of a channel.
fn number(channel: ReadChannel) -> u32 {
    match channel {
        ReadChannel::SqFetch => TANDEM_SQ_FETCH,
        ReadChannel::RqFetch => TANDEM_RQ_FETCH,
        ReadChannel::Gather => TANDEM_GATHER,
    }
}

#[derive(Clone)]
struct Pushed {
    read: TandemRead,
    bytes: Vec<u8>,
    error: bool,
    /// By the action that is tried.
    used: bool,
}

/// Where answers come from.
#[derive(Clone)]
pub(crate) struct Reads {
    pushed: Vec<Pushed>,
    reader: TandemReader,
    user: *mut c_void,
    needed: Option<TandemRead>,
    spoiled: bool,
}

impl Default for Reads {
    fn default() -> Self {
        Self {
            pushed: Vec::new(),
            reader: None,
            user: std::ptr::null_mut(),
            needed: None,
            spoiled: false,
        }
    }
}

impl Reads {
    pub(crate) fn set_reader(&mut self, reader: TandemReader, user: *mut c_void) {
        self.reader = reader;
        self.user = user;
    }

    /// Keeps an answer. Entries of rings that are fetched once more replace what was fetched before.
    pub(crate) fn push(&mut self, read: TandemRead, bytes: Vec<u8>, error: bool) {
        if read.channel != TANDEM_GATHER {
            self.pushed.retain(|pushed| pushed.read != read);
        }
        self.pushed.push(Pushed {
            read,
            bytes,
            error,
            used: false,
        });
    }

    pub(crate) fn clear(&mut self) {
        self.pushed.clear();
    }

    /// The read that was not answered last.
    pub(crate) fn needed(&self) -> Option<TandemRead> {
        self.needed
    }

    /// An action is tried.
    pub(crate) fn begin(&mut self) {
        self.needed = None;
        self.spoiled = false;
    }

    /// The action was executed: what it used is used up. Whether the bus answered a gather read with an error.
    pub(crate) fn commit(&mut self) -> bool {
        self.pushed.retain(|pushed| !pushed.used);
        self.spoiled
    }

    /// Nothing was executed: nothing is used up.
    pub(crate) fn put_back(&mut self) {
        self.pushed
            .iter_mut()
            .for_each(|pushed| pushed.used = false);
    }

    /// The answer of the bus, if there is one.
    fn answer(&mut self, read: TandemRead, bytes: &mut [u8]) -> Option<BusAnswer> {
        let mut kept = self.pushed.iter_mut();
        if let Some(pushed) = kept.find(|pushed| !pushed.used && pushed.read == read) {
            pushed.used = true;
            for (to, from) in bytes.iter_mut().zip(&pushed.bytes) {
                *to = *from;
            }
            return Some(bus_answer(pushed.error));
        }
        let reader = self.reader?;
        let (place, length) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: whoever set the callback promised that it may be called with this pointer, that it writes no more
        // than these bytes, which are ours alone, and that nothing is thrown out of it.
        let answer = unsafe { reader(self.user, read.channel, read.address, place, length) };
        (answer >= 0).then(|| bus_answer(answer != 0))
    }

    fn ask(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<BusAnswer, InputError> {
        let read = TandemRead {
            channel: number(channel),
            length: bytes.len() as u32,
            address,
        };
        self.answer(read, bytes).ok_or_else(|| {
            self.needed = Some(read);
            InputError {
                channel,
                address,
                length: bytes.len(),
                cause: "it was not answered".into(),
            }
        })
    }
}

fn bus_answer(error: bool) -> BusAnswer {
    match error {
        true => BusAnswer::Error,
        false => BusAnswer::Data,
    }
}

impl Inputs for Reads {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        let answer = self.ask(channel, address, bytes)?;
        self.spoiled |= channel == ReadChannel::Gather && answer == BusAnswer::Error;
        Ok(())
    }

    fn read_list(&mut self, address: u64, bytes: &mut [u8]) -> Result<BusAnswer, InputError> {
        self.ask(ReadChannel::SqFetch, address, bytes)
    }
}
