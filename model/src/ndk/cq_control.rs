//! Completion queues: another depth, and moderation of their interrupts.

use crate::abi::{CQ_CONTEXT, Record, Table};
use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::cq::{CqObject, Entry};
use super::error::AdapterError;
use super::wqe::CQE_BYTES;
use super::{Cq, NdkError, NtStatus, window};
use crate::abi::offsets as reg;

/// A count or interval of the engine without end.
const ENDLESS: u16 = u16::MAX;

impl<H: Hal> Provider<H> {
    /// Gives a completion queue another depth. No entry is lost, and traffic goes on: what is in the old ring is taken
    /// over before this returns.
    ///
    /// `STATUS_INVALID_PARAMETER`: depth 0 or above the limit (NDK-RSZ-1). `STATUS_BUFFER_OVERFLOW`: more results than
    /// that wait in it; it is as it was (reading O17). `STATUS_INVALID_DEVICE_STATE`: the queue is dead.
    #[doc(alias = "NdkResizeCq")]
    pub fn resize_cq(&mut self, cq: Cq, depth: u32) -> Result<(), NdkError> {
        if depth == 0 || depth > self.max_cq_depth() {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        self.absorb(cq)?;
        let object = self.cqs.get(cq).ok_or(stale(cq))?;
        if object.dead {
            return Err(NtStatus::INVALID_DEVICE_STATE.into());
        }
        let results = object.backlog.iter();
        let results = results.filter(|entry| !matches!(entry, Entry::Own(_)));
        if results.count() > depth as usize {
            return Err(NtStatus::BUFFER_OVERFLOW.into());
        }
        let log = (depth + self.cq_reserve()).next_power_of_two().ilog2();
        let base = self.rings.take(&mut self.hal, CQE_BYTES << log)?;
        let entry = Record::new(&CQ_CONTEXT)
            .with("valid", 1u8)
            .with("log_size", log)
            .with("base", base);
        let number = Self::cq_number(cq);
        window::write_entry(&mut self.hal, Table::CqRing, number, &entry)?;
        let end = self.hal.read_register(reg::CQ_SWITCH)? as u16;
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        object.from_old_ring = object.backlog.len();
        object.old_end = Some(end);
        object.consumer = 0;
        self.empty_old_ring(cq, end)?;
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        self.rings.give(object.base, object.bytes());
        object.base = base;
        object.log = log;
        object.depth = depth;
        object.old_end = None;
        object.seen = 0;
        self.write_moderation(cq)
    }

    /// Entries that the engine decided before the exchange may still be on their way.
    fn empty_old_ring(&mut self, cq: Cq, end: u16) -> Result<(), NdkError> {
        for _ in 0..window::PATIENCE {
            self.absorb(cq)?;
            if self.cqs.get(cq).is_none_or(|object| object.seen == end) {
                return Ok(());
            }
            // The adapter goes on while a register is read.
            self.hal.read_register(reg::CTX_STATUS)?;
        }
        Err(AdapterError::ContextBusy {
            command: Table::CqRing as u32,
            index: Self::cq_number(cq),
            reads: window::PATIENCE,
        }
        .into())
    }

    /// Puts off the notifications of a completion queue for up to `interval` µs after the completion that is told of,
    /// or until `count` completions wait, whichever is first (NDK-MOD-4, -5, reading O16). `u32::MAX` is no limit, and
    /// a count above the depth neither. Interval 0, or count 0 or 1: no moderation (NDK-MOD-2, -3). Intervals are
    /// rounded down to 65534 µs (NDK-MOD-9).
    ///
    /// `STATUS_INVALID_PARAMETER_MIX`: neither has a limit (NDK-MOD-6). `STATUS_NOT_SUPPORTED`: the adapter does not say that
    /// it can (NDK-MOD-12).
    #[doc(alias = "NdkControlCqInterruptModeration")]
    pub fn control_cq_interrupt_moderation(
        &mut self,
        cq: Cq,
        interval: u32,
        count: u32,
    ) -> Result<(), NdkError> {
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        if !self.config.interrupt_moderation {
            return Err(NtStatus::NOT_SUPPORTED.into());
        }
        if interval == u32::MAX && count > object.depth {
            return Err(NtStatus::INVALID_PARAMETER_MIX.into());
        }
        object.moderation = (interval, count);
        self.write_moderation(cq)
    }

    /// Tells the engine of the moderation, if there ever was one.
    fn write_moderation(&mut self, cq: Cq) -> Result<(), NdkError> {
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        let (interval, count) = engine_moderation(object);
        let entry = Record::new(&CQ_CONTEXT)
            .with("moderation_count", count)
            .with("moderation_interval", interval);
        let number = Self::cq_number(cq);
        window::write_entry(&mut self.hal, Table::CqModeration, number, &entry)?;
        Ok(())
    }
}

/// Interval and count as the engine takes them.
fn engine_moderation(object: &CqObject) -> (u16, u16) {
    let (interval, count) = object.moderation;
    if interval == 0 || count <= 1 {
        return (0, 0);
    }
    let endless = interval == u32::MAX;
    let interval = if endless {
        ENDLESS
    } else {
        interval.min(u32::from(ENDLESS) - 1) as u16
    };
    // A queue that became shallower than a count which alone governs would never fire.
    let count = if endless {
        count.min(object.depth)
    } else {
        count
    };
    let count = if count > object.depth {
        ENDLESS
    } else {
        // A depth is at most 2^14.
        count as u16
    };
    (interval, count)
}
