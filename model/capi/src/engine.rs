//! The golden engine.

mod look;

use std::ffi::c_void;
use std::sync::Mutex;

use tandem_model::engine::{Action, Config, Effect, Engine, Illegal, Inputs};

pub use look::*;

use crate::code::{
    Failure, Outcome, TANDEM_ERR_SHORT, TANDEM_ILLEGAL, TANDEM_NEED_READ, TANDEM_NONE, TANDEM_OK,
    guard, guard_new, lock,
};
use crate::effect::{Effects, Origin, TandemEffect};
use crate::memory;
use crate::reads::{Reads, TandemRead, TandemReader, channel};
use crate::record::{TANDEM_COMMIT_BYTES, action, bytes_of};

/// Sizes of an engine.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TandemConfig {
    /// log2 of the number of queue pairs, at most 16.
    pub log2_qps: u8,
    /// log2 of the number of completion queues, at most 14.
    pub log2_cqs: u8,
    /// log2 of the number of shared receive queues, at most 16.
    pub log2_srqs: u8,
    /// log2 of the number of memory tokens, at most 24.
    pub log2_tokens: u8,
    /// log2 of the number of pages, at most 28.
    pub log2_pages: u8,
    /// Greatest number of reads outstanding on a queue pair.
    pub max_read: u8,
    /// Responses that may wait before `enabled` and `step` leave frames alone; at least 1.
    pub responses: u32,
}

impl TandemConfig {
    /// The sizes, if there can be such an engine.
    pub(crate) fn checked(self) -> Result<Config, Failure> {
        let most = [
            ("log2_qps", self.log2_qps, 16),
            ("log2_cqs", self.log2_cqs, 14),
            ("log2_srqs", self.log2_srqs, 16),
            ("log2_tokens", self.log2_tokens, 24),
            ("log2_pages", self.log2_pages, 28),
        ];
        if let Some((name, value, most)) = most.into_iter().find(|(_, value, most)| value > most) {
            return Err(Failure::value(format!("{name} is {value}, at most {most}")));
        }
        if self.responses == 0 {
            return Err(Failure::value("responses is 0, at least 1"));
        }
        Ok(Config {
            log2_qps: self.log2_qps,
            log2_cqs: self.log2_cqs,
            log2_srqs: self.log2_srqs,
            log2_tokens: self.log2_tokens,
            log2_pages: self.log2_pages,
            max_read: self.max_read,
            responses: self.responses,
        })
    }
}

/// Sizes of the caller's, or the usual ones.
///
/// # Safety
/// The pointer is null or leads to sizes.
pub(crate) unsafe fn sizes(config: *const TandemConfig) -> Result<Config, Failure> {
    if config.is_null() {
        return Ok(Config::default());
    }
    // SAFETY: the caller promises sizes.
    unsafe { memory::object(config, "the sizes") }?.checked()
}

/// An engine of the caller's.
pub struct TandemEngine {
    inner: Mutex<Inner>,
}

#[derive(Clone)]
struct Inner {
    engine: Engine,
    reads: Reads,
    effects: Effects,
    /// Of the action that is executed.
    fresh: Vec<Effect>,
    actions: u64,
    refused: Option<Illegal>,
}

impl Inner {
    fn new(config: Config) -> Self {
        Self {
            engine: Engine::new(config),
            reads: Reads::default(),
            effects: Effects::default(),
            fresh: Vec::new(),
            actions: 0,
            refused: None,
        }
    }

    /// An action is executed, which `execute` says; or nothing is.
    fn run(
        &mut self,
        execute: impl FnOnce(
            &mut Engine,
            &mut dyn Inputs,
            &mut Vec<Effect>,
        ) -> Result<Option<Action>, Illegal>,
    ) -> Result<Option<Action>, Failure> {
        self.reads.begin();
        self.fresh.clear();
        self.refused = None;
        let done = match execute(&mut self.engine, &mut self.reads, &mut self.fresh) {
            Ok(done) => done,
            Err(illegal) => {
                self.reads.put_back();
                return Err(self.refuse(illegal));
            }
        };
        let Some(action) = done else {
            self.reads.put_back();
            return Ok(None);
        };
        if self.reads.commit() {
            for effect in &mut self.fresh {
                if let Effect::Frame(bytes) = effect {
                    tandem_lockstep::spoil(&action, bytes);
                }
            }
        }
        let origin = Origin {
            action: self.actions,
            payload_barrier: self.engine.barrier(),
            gather_barrier: self.engine.gather_barrier(),
        };
        self.effects.add(&mut self.fresh, origin);
        self.actions += 1;
        Ok(Some(action))
    }

    fn refuse(&mut self, illegal: Illegal) -> Failure {
        let code = match illegal {
            Illegal::Input { .. } => TANDEM_NEED_READ,
            Illegal::Differs { .. } | Illegal::Refused { .. } => TANDEM_ILLEGAL,
        };
        let text = format!("room {}: {illegal}", illegal.room());
        self.refused = Some(illegal);
        Failure::new(code, text)
    }
}

/// Does something with an engine.
///
/// # Safety
/// The pointer is null or an engine that is not freed.
unsafe fn with(engine: *const TandemEngine, body: impl FnOnce(&mut Inner) -> Outcome) -> i32 {
    guard(|| {
        // SAFETY: the caller promises the same.
        let engine = unsafe { memory::object(engine, "the engine") }?;
        body(&mut *lock(&engine.inner)?)
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `config` points to a place for sizes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_config_default(config: *mut TandemConfig) -> i32 {
    guard(|| {
        let usual = Config::default();
        let usual = TandemConfig {
            log2_qps: usual.log2_qps,
            log2_cqs: usual.log2_cqs,
            log2_srqs: usual.log2_srqs,
            log2_tokens: usual.log2_tokens,
            log2_pages: usual.log2_pages,
            max_read: usual.max_read,
            responses: usual.responses,
        };
        // SAFETY: the caller promises a place.
        unsafe { memory::put(usual, config, "the place of the sizes") }?;
        Ok(TANDEM_OK)
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `config` is null or points to sizes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_new(config: *const TandemConfig) -> *mut TandemEngine {
    guard_new(|| {
        // SAFETY: the caller promises the same.
        let config = unsafe { sizes(config) }?;
        let inner = Mutex::new(Inner::new(config));
        Ok(TandemEngine { inner })
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_clone(engine: *const TandemEngine) -> *mut TandemEngine {
    guard_new(|| {
        // SAFETY: the caller promises the same.
        let engine = unsafe { memory::object(engine, "the engine") }?;
        let inner = Mutex::new(lock(&engine.inner)?.clone());
        Ok(TandemEngine { inner })
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, and nobody uses it later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_free(engine: *mut TandemEngine) -> i32 {
    guard(|| {
        if engine.is_null() {
            return Ok(TANDEM_OK);
        }
        // SAFETY: the caller promises the same. It is looked at here only to refuse a callback that frees its engine.
        let busy = lock(&unsafe { memory::object(engine, "the engine") }?.inner).err();
        if let Some(failure) = busy.filter(Failure::is_busy) {
            return Err(failure);
        }
        // SAFETY: the caller promises that it came from here, is not freed, and that nobody uses it.
        unsafe { memory::free(engine) };
        Ok(TANDEM_OK)
    })
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_write_register(
    engine: *mut TandemEngine,
    offset: u32,
    value: u32,
) -> i32 {
    let body = |inner: &mut Inner| {
        inner.engine.write_register(offset, value);
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `bytes` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_receive_frame(
    engine: *mut TandemEngine,
    bytes: *const u8,
    length: usize,
) -> i32 {
    let body = |inner: &mut Inner| {
        // SAFETY: the caller promises the bytes.
        let frame = unsafe { memory::bytes(bytes, length, "the frame") }?;
        inner.engine.receive_frame(frame.to_vec());
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed. As long as the callback is set, it may be called with `user` by
/// calls for this engine, it writes no more than the bytes that it is given, and throws nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_set_reader(
    engine: *mut TandemEngine,
    reader: TandemReader,
    user: *mut c_void,
) -> i32 {
    let body = |inner: &mut Inner| {
        inner.reads.set_reader(reader, user);
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `bytes` points to as many bytes as the read has, or is null with an
/// error of the bus.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_push_read(
    engine: *mut TandemEngine,
    channel_number: u32,
    address: u64,
    bytes: *const u8,
    length: u32,
    bus_error: i32,
) -> i32 {
    let body = |inner: &mut Inner| {
        channel(channel_number)?;
        let error = bus_error != 0;
        let there = match error && bytes.is_null() {
            true => 0,
            false => length as usize,
        };
        // SAFETY: the caller promises the bytes.
        let bytes = unsafe { memory::bytes(bytes, there, "the bytes") }?;
        let read = TandemRead {
            channel: channel_number,
            length,
            address,
        };
        inner.reads.push(read, bytes.to_vec(), error);
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_clear_reads(engine: *mut TandemEngine) -> i32 {
    let body = |inner: &mut Inner| {
        inner.reads.clear();
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `record` points to [`TANDEM_COMMIT_BYTES`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_apply(engine: *mut TandemEngine, record: *const u8) -> i32 {
    let body = |inner: &mut Inner| {
        // SAFETY: the caller promises the bytes.
        let record = unsafe { memory::bytes(record, TANDEM_COMMIT_BYTES, "the record") }?;
        let action = action(record)?;
        inner.run(|engine, reads, effects| {
            engine.apply(&action, reads, effects).map(|()| Some(action))
        })?;
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `record` is null or points to [`TANDEM_COMMIT_BYTES`] bytes that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_step(engine: *mut TandemEngine, record: *mut u8) -> i32 {
    let body = |inner: &mut Inner| {
        let done = inner.run(Engine::step)?;
        let Some(action) = done else {
            return Ok(TANDEM_NONE);
        };
        if !record.is_null() {
            // SAFETY: the caller promises the bytes.
            let place = unsafe { memory::bytes_mut(record, TANDEM_COMMIT_BYTES, "the record") }?;
            place.copy_from_slice(&bytes_of(&action));
        }
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `records` points to room for `capacity` records, `count` to a size
/// or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_enabled(
    engine: *mut TandemEngine,
    records: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> i32 {
    let body = |inner: &mut Inner| {
        let mut all = Vec::new();
        inner.reads.begin();
        let looked = inner.engine.enabled(&mut inner.reads, &mut all);
        inner.reads.put_back();
        looked.map_err(|error| Failure::new(TANDEM_NEED_READ, error.to_string()))?;
        if !count.is_null() {
            // SAFETY: the caller promises a place.
            unsafe { memory::put(all.len(), count, "the place of the number") }?;
        }
        if all.len() > capacity {
            let text = format!("{} actions do not fit into {capacity}", all.len());
            return Err(Failure::new(TANDEM_ERR_SHORT, text));
        }
        let length = all.len() * TANDEM_COMMIT_BYTES;
        // SAFETY: the caller promises room for `capacity` records, and these are not more.
        let place = unsafe { memory::bytes_mut(records, length, "the room for actions") }?;
        for (to, action) in place.chunks_exact_mut(TANDEM_COMMIT_BYTES).zip(&all) {
            to.copy_from_slice(&bytes_of(action));
        }
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}

/// See `tandem.h`.
///
/// # Safety
/// `engine` is null or an engine that is not freed, `effect` points to a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_engine_next_effect(
    engine: *mut TandemEngine,
    effect: *mut TandemEffect,
) -> i32 {
    let body = |inner: &mut Inner| {
        // Nothing is taken that cannot be given.
        memory::there(effect, "the place of the effect")?;
        let Some((next, spent)) = inner.effects.next() else {
            return Ok(TANDEM_NONE);
        };
        inner.engine.recycle(spent);
        // SAFETY: the caller promises a place.
        unsafe { memory::put(next, effect, "the place of the effect") }?;
        Ok(TANDEM_OK)
    };
    // SAFETY: the caller promises the same.
    unsafe { with(engine, body) }
}
