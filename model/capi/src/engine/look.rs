//! What can be seen of an engine.

use std::ffi::c_char;

use tandem_model::engine::{Illegal, Room};

use super::{Inner, TandemEngine, with};
use crate::code::{TANDEM_NONE, TANDEM_OK};
use crate::memory;
use crate::reads::TandemRead;
use crate::record::{TANDEM_COMMIT_BYTES, bytes_of};

/// Placement, see the golden engine's `barrier` and `gather_barrier`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TandemBarriers {
    /// Payload writes of all actions so far.
    pub payload_writes: u64,
    /// How many of them what the last action shows must wait for.
    pub payload_barrier: u64,
    /// Gather reads of all actions so far.
    pub gather_reads: u64,
    /// How many of them what the last action shows must wait for.
    pub gather_barrier: u64,
}

/// Why the last action was refused.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TandemIllegal {
    /// `TANDEM_ROOM_…`: who decided.
    pub room: u32,
    /// 1 if another action is legal in its place.
    pub has_expected: u32,
    /// Its commit record, if so.
    pub expected: [u8; TANDEM_COMMIT_BYTES],
}

/// Registers, doorbells, events.
pub const TANDEM_ROOM_HOST: u32 = 0;
/// Tables and tokens.
pub const TANDEM_ROOM_CONTEXT: u32 = 1;
/// Send queues.
pub const TANDEM_ROOM_SEND: u32 = 2;
/// Frames in, responses.
pub const TANDEM_ROOM_RECEIVE: u32 = 3;
/// Frames as bytes.
pub const TANDEM_ROOM_WIRE: u32 = 4;
/// Completion queues.
pub const TANDEM_ROOM_COMPLETE: u32 = 5;

fn told(illegal: &Illegal) -> TandemIllegal {
    let expected = illegal.expected();
    TandemIllegal {
        room: match illegal.room() {
            Room::Host => TANDEM_ROOM_HOST,
            Room::Context => TANDEM_ROOM_CONTEXT,
            Room::Send => TANDEM_ROOM_SEND,
            Room::Receive => TANDEM_ROOM_RECEIVE,
            Room::Wire => TANDEM_ROOM_WIRE,
            Room::Complete => TANDEM_ROOM_COMPLETE,
        },
        has_expected: expected.is_some().into(),
        expected: expected.map_or([0; TANDEM_COMMIT_BYTES], bytes_of),
    }
}

/// Tells a value of an engine, if it is there.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `place` points to a place for the value.
unsafe fn tell<T>(
    engine: *const TandemEngine,
    place: *mut T,
    value: impl FnOnce(&Inner) -> Option<T>,
) -> i32 {
    let body = |inner: &mut Inner| {
        let Some(value) = value(inner) else {
            return Ok(TANDEM_NONE);
        };
        // SAFETY: the caller promises a place.
        unsafe { memory::put(value, place, "the place of the result") }?;
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `value` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_read_register(
    engine: *const TandemEngine,
    offset: u32,
    value: *mut u32,
) -> i32 {
    // SAFETY: the caller promises the same.
    unsafe {
        tell(engine, value, |inner| {
            Some(inner.engine.read_register(offset))
        })
    }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `level` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_interrupt(
    engine: *const TandemEngine,
    level: *mut u32,
) -> i32 {
    // SAFETY: the caller promises the same.
    unsafe { tell(engine, level, |inner| Some(inner.engine.interrupt().into())) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `idle` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_is_idle(engine: *const TandemEngine, idle: *mut u32) -> i32 {
    // SAFETY: the caller promises the same.
    unsafe { tell(engine, idle, |inner| Some(inner.engine.is_idle().into())) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `count` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_effects(
    engine: *const TandemEngine,
    count: *mut usize,
) -> i32 {
    // SAFETY: the caller promises the same.
    unsafe { tell(engine, count, |inner| Some(inner.effects.waiting())) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `read` points to a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_needed(
    engine: *const TandemEngine,
    read: *mut TandemRead,
) -> i32 {
    // SAFETY: the caller promises the same.
    unsafe { tell(engine, read, |inner| inner.reads.needed()) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `illegal` points to a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_illegal(
    engine: *const TandemEngine,
    illegal: *mut TandemIllegal,
) -> i32 {
    // SAFETY: the caller promises the same.
    unsafe { tell(engine, illegal, |inner| inner.refused.as_ref().map(told)) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `barriers` points to a place for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_barriers(
    engine: *const TandemEngine,
    barriers: *mut TandemBarriers,
) -> i32 {
    let all = |inner: &Inner| {
        Some(TandemBarriers {
            payload_writes: inner.engine.payload_writes(),
            payload_barrier: inner.engine.barrier(),
            gather_reads: inner.engine.gather_reads(),
            gather_barrier: inner.engine.gather_barrier(),
        })
    };
    // SAFETY: the caller promises the same.
    unsafe { tell(engine, barriers, all) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `state` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_qp_state(
    engine: *const TandemEngine,
    qpn: u32,
    state: *mut u32,
) -> i32 {
    let known = |inner: &Inner| inner.engine.qp_state(qpn).map(|state| state as u32);
    // SAFETY: the caller promises the same.
    unsafe { tell(engine, state, known) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `text` points to `capacity` bytes that may be written, `length` to a
/// size or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_describe_qp(
    engine: *const TandemEngine,
    qpn: u32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    let body = |inner: &mut Inner| {
        let words = inner.engine.describe_qp(qpn);
        // SAFETY: the caller promises the same.
        unsafe { memory::put_text(&words, text, capacity, length) }
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}
