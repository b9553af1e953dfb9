//! The lockstep checker: what the ports of an engine showed, clock by clock, against the golden model.

use std::ffi::c_char;
use std::sync::Mutex;

use tandem_lockstep::{BEAT, Divergence, Lockstep, ReadBurst, Record, Summary};
use tandem_model::abi::{self, COMMIT};
use tandem_model::engine::Action;

use crate::code::{
    Failure, Outcome, TANDEM_DIVERGED, TANDEM_ERR_SYSTEM, TANDEM_NONE, TANDEM_OK, guard, guard_new,
    lock,
};
use crate::engine::{TandemConfig, sizes};
use crate::memory;
use crate::reads::channel;
use crate::record::TANDEM_COMMIT_BYTES;

/// What was checked.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TandemSummary {
    /// Actions that the model allowed.
    pub actions: u64,
    /// Frames compared.
    pub frames: u64,
    /// Payload writes compared.
    pub payload_writes: u64,
    /// Completion entries and events compared.
    pub completion_writes: u64,
}

/// A checker of the caller's.
pub struct TandemChecker {
    inner: Mutex<Inner>,
}

struct Inner {
    /// Until the verdict.
    lockstep: Option<Lockstep>,
    verdict: Option<Result<Summary, Box<Divergence>>>,
    /// What the clock that is not over has shown, in any order.
    clock: Vec<Shown>,
    cycle: Option<u64>,
    stalled: u64,
    /// A frame has begun that has not ended.
    started: bool,
}

/// Something that the ports show in a clock.
enum Shown {
    Commit([u8; TANDEM_COMMIT_BYTES]),
    Other(Record),
}

impl Shown {
    /// Its place among what the same clock shows. A record tells of a decision before the clock, and whatever the
    /// decision causes may be seen from that clock on; placement counts what has been answered by then.
    fn rank(&self) -> u8 {
        match self {
            Self::Other(Record::Register { .. }) => 0,
            Self::Commit(_) => 1,
            Self::Other(Record::Read(_)) => 2,
            Self::Other(Record::Written { .. }) => 3,
            Self::Other(Record::Answered { .. }) => 4,
            Self::Other(Record::FrameIn(_)) => 5,
            Self::Other(Record::FrameStarted) => 6,
            Self::Other(_) => 7,
        }
    }

    fn record(self, cycle: u64, stalled: u64) -> Record {
        let bytes = match self {
            Self::Other(record) => return record,
            Self::Commit(bytes) => bytes,
        };
        match Action::from_record(&abi::Record::from_bytes(&COMMIT, &bytes)) {
            Ok(action) => Record::Commit {
                cycle,
                stalled,
                action,
            },
            Err(error) => {
                let mut bits = [0; 16];
                bits[..bytes.len()].copy_from_slice(&bytes);
                Record::BadCommit {
                    cycle,
                    bits: u128::from_le_bytes(bits),
                    cause: error.to_string(),
                }
            }
        }
    }
}

impl Inner {
    /// Hands over what a clock showed.
    fn end_clock(&mut self, cycle: u64, stalled: u64) -> Result<(), Failure> {
        if self.cycle.is_some_and(|last| cycle <= last) || stalled < self.stalled {
            return Err(Failure::value("clocks go forward"));
        }
        (self.cycle, self.stalled) = (Some(cycle), stalled);
        // Stable: what is of one kind keeps its order.
        self.clock.sort_by_key(Shown::rank);
        for shown in self.clock.drain(..) {
            let record = shown.record(cycle, stalled);
            match record {
                Record::FrameStarted => self.started = true,
                Record::FrameOut(_) if !std::mem::take(&mut self.started) => {
                    push(&mut self.lockstep, Record::FrameStarted);
                }
                _ => {}
            }
            push(&mut self.lockstep, record);
        }
        Ok(())
    }

    /// What is known by now.
    fn outcome(&self) -> Outcome {
        match &self.verdict {
            Some(Err(divergence)) => Err(Failure::new(TANDEM_DIVERGED, divergence.to_string())),
            Some(Ok(_)) | None => Ok(TANDEM_OK),
        }
    }
}

fn push(lockstep: &mut Option<Lockstep>, record: Record) {
    if let Some(lockstep) = lockstep {
        lockstep.push(record);
    }
}

/// Does something with a checker.
///
/// # Safety
/// The pointer is null or a checker that is not freed.
unsafe fn with(checker: *const TandemChecker, body: impl FnOnce(&mut Inner) -> Outcome) -> i32 {
    guard(|| {
        // SAFETY: the caller promises the same.
        let checker = unsafe { memory::object(checker, "the checker") }?;
        body(&mut *lock(&checker.inner)?)
    })
}

/// The clock shows this.
///
/// # Safety
/// The pointer is null or a checker that is not freed.
unsafe fn show(
    checker: *const TandemChecker,
    shown: impl FnOnce() -> Result<Shown, Failure>,
) -> i32 {
    let body = |inner: &mut Inner| {
        if inner.verdict.is_some() {
            return inner.outcome();
        }
        inner.clock.push(shown()?);
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(checker, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `config` is null or points to sizes, `node` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_new(
    config: *const TandemConfig,
    node: *const c_char,
    seed: u64,
) -> *mut TandemChecker {
    guard_new(|| {
        // SAFETY: the caller promises the same.
        let config = unsafe { sizes(config) }?;
        let node = match node.is_null() {
            true => "engine",
            // SAFETY: not null, so the caller promises a zero at its end.
            false => unsafe { memory::text(node, "the name") }?,
        };
        let lockstep = Lockstep::start(config, node, seed, None);
        let lockstep =
            lockstep.map_err(|error| Failure::new(TANDEM_ERR_SYSTEM, error.to_string()))?;
        let inner = Mutex::new(Inner {
            lockstep: Some(lockstep),
            verdict: None,
            clock: Vec::new(),
            cycle: None,
            stalled: 0,
            started: false,
        });
        Ok(TandemChecker { inner })
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, and nobody uses it later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_free(checker: *mut TandemChecker) -> i32 {
    guard(|| {
        if checker.is_null() {
            return Ok(TANDEM_OK);
        }
        // SAFETY: the caller promises a checker. Its thread ends when nothing can come any more.
        let inner = &unsafe { memory::object(checker, "the checker") }?.inner;
        let lockstep = match lock(inner) {
            Ok(mut inner) => inner.lockstep.take(),
            Err(failure) if failure.is_busy() => return Err(failure),
            Err(_) => None,
        };
        lockstep.and_then(Lockstep::break_off);
        // SAFETY: the caller promises that it came from here, is not freed, and that nobody uses it.
        unsafe { memory::free(checker) };
        Ok(TANDEM_OK)
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_register(
    checker: *mut TandemChecker,
    offset: u32,
    value: u32,
) -> i32 {
    // SAFETY: the caller promises the same.
    unsafe {
        show(checker, || {
            Ok(Shown::Other(Record::Register { offset, value }))
        })
    }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, `bytes` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_frame_in(
    checker: *mut TandemChecker,
    bytes: *const u8,
    length: usize,
) -> i32 {
    let shown = || {
        // SAFETY: the caller promises the bytes.
        let frame = unsafe { memory::bytes(bytes, length, "the frame") }?;
        Ok(Shown::Other(Record::FrameIn(frame.to_vec())))
    };
    // SAFETY: the caller promises the same.
    unsafe { show(checker, shown) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_frame_started(checker: *mut TandemChecker) -> i32 {
    // SAFETY: the caller promises the same.
    unsafe { show(checker, || Ok(Shown::Other(Record::FrameStarted))) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, `bytes` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_frame_out(
    checker: *mut TandemChecker,
    bytes: *const u8,
    length: usize,
) -> i32 {
    let shown = || {
        // SAFETY: the caller promises the bytes.
        let frame = unsafe { memory::bytes(bytes, length, "the frame") }?;
        Ok(Shown::Other(Record::FrameOut(frame.to_vec())))
    };
    // SAFETY: the caller promises the same.
    unsafe { show(checker, shown) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, `bytes` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_read(
    checker: *mut TandemChecker,
    channel_number: u32,
    address: u64,
    bytes: *const u8,
    length: usize,
    bus_error: i32,
    asked: u64,
) -> i32 {
    let shown = || {
        let channel = channel(channel_number)?;
        let beat = BEAT as u64;
        let whole = length != 0 && length.is_multiple_of(BEAT) && address.is_multiple_of(beat);
        if !whole {
            let text = format!("{length} bytes at {address:#x} are not whole beats of {BEAT}");
            return Err(Failure::value(text));
        }
        if address.checked_add(length as u64).is_none() {
            return Err(Failure::value("the burst ends behind the last address"));
        }
        // SAFETY: the caller promises the bytes.
        let bytes = unsafe { memory::bytes(bytes, length, "the burst") }?;
        Ok(Shown::Other(Record::Read(ReadBurst {
            id: channel as u8,
            address,
            bytes: bytes.to_vec(),
            error: bus_error != 0,
            asked,
        })))
    };
    // SAFETY: the caller promises the same.
    unsafe { show(checker, shown) }
}

/// The AXI ID of a kind of write.
fn write_id(id: u32) -> Result<u8, Failure> {
    match id {
        0 => Ok(0),
        1 => Ok(1),
        _ => Err(Failure::value(format!("there is no write channel {id}"))),
    }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, `bytes` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_written(
    checker: *mut TandemChecker,
    id: u32,
    address: u64,
    bytes: *const u8,
    length: usize,
) -> i32 {
    let shown = || {
        let id = write_id(id)?;
        // SAFETY: the caller promises the bytes.
        let bytes = unsafe { memory::bytes(bytes, length, "the burst") }?;
        let bytes = bytes.to_vec();
        Ok(Shown::Other(Record::Written { id, address, bytes }))
    };
    // SAFETY: the caller promises the same.
    unsafe { show(checker, shown) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_answered(checker: *mut TandemChecker, id: u32) -> i32 {
    let shown = || write_id(id).map(|id| Shown::Other(Record::Answered { id }));
    // SAFETY: the caller promises the same.
    unsafe { show(checker, shown) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, `record` points to [`TANDEM_COMMIT_BYTES`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_commit(
    checker: *mut TandemChecker,
    record: *const u8,
) -> i32 {
    let shown = || {
        // SAFETY: the caller promises the bytes.
        let from = unsafe { memory::bytes(record, TANDEM_COMMIT_BYTES, "the record") }?;
        let mut bytes = [0; TANDEM_COMMIT_BYTES];
        bytes.copy_from_slice(from);
        Ok(Shown::Commit(bytes))
    };
    // SAFETY: the caller promises the same.
    unsafe { show(checker, shown) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_clock(
    checker: *mut TandemChecker,
    cycle: u64,
    stalled: u64,
) -> i32 {
    let body = |inner: &mut Inner| {
        if inner.verdict.is_none() {
            inner.end_clock(cycle, stalled)?;
            let found = inner.lockstep.as_mut().and_then(Lockstep::poll);
            inner.verdict = found.map(Err);
        }
        inner.outcome()
    };
    // SAFETY: the caller promises the same.
    unsafe { with(checker, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, `busy` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_busy(checker: *mut TandemChecker, busy: *mut u32) -> i32 {
    let body = |inner: &mut Inner| {
        let (cycle, stalled) = (inner.cycle.unwrap_or(0), inner.stalled);
        let Some(lockstep) = &mut inner.lockstep else {
            inner.outcome()?;
            return Ok(TANDEM_NONE);
        };
        if let Some(standing) = lockstep.ask(cycle, stalled) {
            // SAFETY: the caller promises a place.
            unsafe { memory::put(standing.busy.into(), busy, "the place of the result") }?;
            return Ok(TANDEM_OK);
        }
        let divergence = inner.lockstep.take().and_then(Lockstep::break_off);
        let divergence = divergence.unwrap_or_else(|| Box::new(Divergence::checker_lost(cycle)));
        inner.verdict = Some(Err(divergence));
        inner.outcome()
    };
    // SAFETY: the caller promises the same.
    unsafe { with(checker, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, `summary` points to a place for one or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_finish(
    checker: *mut TandemChecker,
    interrupt: i32,
    summary: *mut TandemSummary,
) -> i32 {
    let body = |inner: &mut Inner| {
        if inner.verdict.is_none() {
            let (cycle, stalled) = (inner.cycle.map_or(0, |last| last + 1), inner.stalled);
            if !inner.clock.is_empty() {
                inner.end_clock(cycle, stalled)?;
            }
            let lockstep = inner.lockstep.take();
            let ended = lockstep.map(|lockstep| lockstep.finish(cycle, stalled, interrupt != 0));
            let lost = || Err(Box::new(Divergence::checker_lost(cycle)));
            inner.verdict = Some(ended.unwrap_or_else(lost));
        }
        if let (Some(Ok(made)), false) = (&inner.verdict, summary.is_null()) {
            let made = TandemSummary {
                actions: made.actions,
                frames: made.frames,
                payload_writes: made.payload_writes,
                completion_writes: made.completion_writes,
            };
            // SAFETY: not null, so the caller promises a place.
            unsafe { memory::put(made, summary, "the place of the summary") }?;
        }
        inner.outcome()
    };
    // SAFETY: the caller promises the same.
    unsafe { with(checker, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `checker` is null or a checker that is not freed, `text` points to `capacity` bytes that may be written, `length` to a
/// size or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_checker_text(
    checker: *const TandemChecker,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    let body = |inner: &mut Inner| {
        let Some(Err(divergence)) = &inner.verdict else {
            return Ok(TANDEM_NONE);
        };
        // SAFETY: the caller promises the same.
        unsafe { memory::put_text(&divergence.to_string(), text, capacity, length) }
    };
    // SAFETY: the caller promises the same.
    unsafe { with(checker, body) }
}
