//! Completion queues: another depth, and moderation of their interrupts.

use crate::abi::{CQ_CONTEXT, Record, Table};
use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::cq::{Entry, Ring};
use super::error::AdapterError;
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
        let moderated = self.engine_moderation(cq)?;
        let object = self.cqs.get(cq).ok_or(stale(cq))?;
        if object.dead {
            return Err(NtStatus::INVALID_DEVICE_STATE.into());
        }
        let results = object.backlog.iter();
        let results = results.filter(|entry| !matches!(entry, Entry::Own(_)));
        if results.count() > depth as usize {
            return Err(NtStatus::BUFFER_OVERFLOW.into());
        }
        let Ring { base, log, entry } = self.take_cq_ring(depth)?;
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
        // The time of an event that is put off would begin anew (NDK-MOD-7).
        if moderated != self.engine_moderation(cq)? {
            self.write_moderation(cq)?;
        }
        Ok(())
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
    /// a count above the depth neither. Interval 0, or count 0 or 1: no moderation (NDK-MOD-2, -3). The engine is told
    /// to put off by less than `interval`, so that one which is as late as it may be tells in time (NDK-MOD-7); nothing is
    /// put off by intervals that are shorter than that, and none by more than 65534 µs and that lateness (NDK-MOD-9).
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

    /// Tells the engine of the moderation.
    fn write_moderation(&mut self, cq: Cq) -> Result<(), NdkError> {
        let (interval, count) = self.engine_moderation(cq)?;
        let entry = Record::new(&CQ_CONTEXT)
            .with("moderation_count", count)
            .with("moderation_interval", interval);
        let number = Self::cq_number(cq);
        window::write_entry(&mut self.hal, Table::CqModeration, number, &entry)?;
        Ok(())
    }

    /// Interval and count as the engine takes them.
    fn engine_moderation(&self, cq: Cq) -> Result<(u16, u16), NdkError> {
        let object = self.cqs.get(cq).ok_or(stale(cq))?;
        let (micros, count) = object.moderation;
        let endless = micros == u32::MAX;
        let interval = match endless {
            true => ENDLESS,
            false => {
                let units = self.config.timing.moderation_interval(micros);
                units.min(u64::from(ENDLESS) - 1) as u16
            }
        };
        if interval == 0 || count <= 1 {
            return Ok((0, 0));
        }
        let count = match count > object.depth {
            // A queue that became shallower than a count which alone governs would never fire.
            true if endless => object.depth as u16,
            true => ENDLESS,
            // A depth is at most 2^14.
            false => count as u16,
        };
        Ok((interval, count))
    }
}
