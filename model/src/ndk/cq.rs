//! Completion queues: creation, arming, results.

use std::collections::VecDeque;

use crate::abi::{CQ_CONTEXT, Record, Table};
use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::decode::decode;
use super::error::AdapterError;
use super::qp::QpPhase;
use super::slots::Slots;
use super::wqe::{CQE_BYTES, Completion};
use super::{
    ArmType, Cq, NdkError, NdkResult, NdkResultEx, Notification, NtStatus, Object, Qp, window,
};
use crate::abi::offsets as reg;

/// What an entry of the ring turned out to be.
pub(super) enum Entry {
    /// A result for the consumer.
    Result(NdkResultEx),
    /// An own signal of a queue pair, swallowed.
    Own(Qp),
    /// Something that fits no request.
    Bad(AdapterError),
}

/// Entries pass through three places: the ring; the *backlog*, where the provider has understood them
/// and slots of their queue pairs are free again; the consumer, which makes their place in the ring free.
pub(super) struct CqObject {
    pub(super) base: u64,
    pub(super) log: u32,
    pub(super) depth: u32,
    notification_context: u64,
    /// Interface version of its adapter instance.
    version: super::NdkVersion,
    /// Index of the next entry to understand.
    pub(super) seen: u16,
    /// Index of the next entry of this ring to hand over.
    pub(super) consumer: u16,
    pub(super) backlog: VecDeque<Entry>,
    /// Entries at the front of the backlog that come from a ring before this one.
    pub(super) from_old_ring: usize,
    /// While an old ring is being emptied: the index behind its last entry.
    pub(super) old_end: Option<u16>,
    /// What moderation the consumer asked for: interval and count.
    pub(super) moderation: (u32, u32),
    /// Queues of queue pairs that complete here.
    users: u32,
    closing: bool,
    pub(super) dead: bool,
    /// The arm outstanding, and from how many calls.
    armed: Option<ArmType>,
    arms: u32,
    /// Whether a result was there, or came, since the last arm.
    fresh: bool,
}

/// A ring that a queue goes on in.
pub(super) struct Ring {
    pub(super) base: u64,
    pub(super) log: u32,
    /// What the engine's table has of it.
    pub(super) entry: Record,
}

impl CqObject {
    pub(super) fn bytes(&self) -> usize {
        CQE_BYTES << self.log
    }

    fn has_results(&self) -> bool {
        self.backlog
            .iter()
            .any(|entry| !matches!(entry, Entry::Own(_)))
    }

    fn pop(&mut self) -> Option<Entry> {
        let entry = self.backlog.pop_front()?;
        match self.from_old_ring.checked_sub(1) {
            Some(left) => self.from_old_ring = left,
            None => self.consumer = self.consumer.wrapping_add(1),
        }
        Some(entry)
    }
}

impl<H: Hal> Provider<H> {
    /// Creates a completion queue of at least `depth` entries (NDK-CQC-2). `notification_context` comes
    /// back in its [`Notification::Cq`]s (NDK-CQCB-1). A depth of 0 or above the limit:
    /// `STATUS_INVALID_PARAMETER` (NDK-CQC-1).
    #[doc(alias = "NdkCreateCq")]
    pub fn create_cq(&mut self, depth: u32, notification_context: u64) -> Result<Cq, NdkError> {
        if depth == 0 || depth > self.max_cq_depth() {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        let number = self
            .cqs
            .next_number()
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        let Ring { base, log, entry } = self.take_cq_ring(depth)?;
        window::write_entry(&mut self.hal, Table::Cq, number, &entry)?;
        let object = CqObject {
            base,
            log,
            depth,
            notification_context,
            version: self.owner.version,
            seen: 0,
            consumer: 0,
            backlog: VecDeque::new(),
            from_old_ring: 0,
            old_end: None,
            moderation: (0, 0),
            users: 0,
            closing: false,
            dead: false,
            armed: None,
            arms: 0,
            fresh: false,
        };
        self.cqs
            .insert(self.owner, object)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES.into())
    }

    /// A ring for so many results and what the provider has there of its own.
    pub(super) fn take_cq_ring(&mut self, depth: u32) -> Result<Ring, NdkError> {
        let log = (depth + self.cq_reserve()).next_power_of_two().ilog2();
        let base = self.rings.take(&mut self.hal, CQE_BYTES << log)?;
        let entry = Record::new(&CQ_CONTEXT)
            .with("valid", 1u8)
            .with("log_size", log)
            .with("base", base);
        Ok(Ring { base, log, entry })
    }

    /// Closes a completion queue. `STATUS_PENDING` as long as queue pairs complete to it: [`Notification::Closed`]
    /// says when it is done (NDK-OBJ-4, -5). No notification comes after (NDK-ARM-6).
    #[doc(alias = "NdkCloseCq")]
    pub fn close_cq(&mut self, cq: Cq) -> Result<NtStatus, NdkError> {
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        if object.users > 0 {
            object.closing = true;
            return Ok(NtStatus::PENDING);
        }
        self.remove_cq(cq)?;
        Ok(NtStatus::SUCCESS)
    }

    /// Arms a completion queue for one notification. How arms combine (NDK-CMPL-12 to -14), and
    /// whether entries already there satisfy it (NDK-CMPL-9), is the engine's affair.
    #[doc(alias = "NdkArmCq")]
    pub fn arm_cq(&mut self, cq: Cq, arm: ArmType) -> Result<(), NdkError> {
        self.cqs.get(cq).ok_or(stale(cq))?;
        self.release_own(cq)?;
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        object.armed = Some(object.armed.map_or(arm, |first| first.combine(arm)));
        object.arms = object.arms.saturating_add(1);
        object.fresh = object.has_results();
        // The engine knows nothing of entries from an old ring. That they are there is told even if they are not
        // solicited, which is legal (reading O13).
        if arm != ArmType::Errors && object.from_old_ring > 0 && !object.dead {
            self.notify(cq, NtStatus::SUCCESS);
            return Ok(());
        }
        let value = arm_value(cq, object.consumer, arm);
        self.hal.write_register(reg::DB_ARM, value)?;
        Ok(())
    }

    /// Takes up to `results.len()` results; returns how many (NDK-GCQ-1, -2).
    #[doc(alias = "NdkGetCqResults")]
    pub fn get_cq_results(&mut self, cq: Cq, results: &mut [NdkResult]) -> Result<usize, NdkError> {
        self.take_results(cq, results)
    }

    /// Takes up to `results.len()` results with type and token; returns how many (NDK-GCQ-3).
    ///
    /// An entry that fits no request is an error, of its own call: results before it come first, results
    /// behind it with the next call.
    #[doc(alias = "NdkGetCqResultsEx")]
    pub fn get_cq_results_ex(
        &mut self,
        cq: Cq,
        results: &mut [NdkResultEx],
    ) -> Result<usize, NdkError> {
        self.take_results(cq, results)
    }

    /// All results that are there now, or up to an entry that fits no request.
    pub fn poll_cq(&mut self, cq: Cq) -> Result<Vec<NdkResultEx>, NdkError> {
        self.absorb(cq)?;
        let object = self.cqs.get(cq).ok_or(stale(cq))?;
        let waiting = object.backlog.len();
        let mut results = vec![NdkResultEx::default(); waiting];
        let taken = self.take_results(cq, &mut results)?;
        results.truncate(taken);
        Ok(results)
    }

    /// Depth asked for last.
    pub fn cq_depth(&self, cq: Cq) -> Result<u32, NdkError> {
        Ok(self.cqs.get(cq).ok_or(stale(cq))?.depth)
    }

    /// Entries that the ring holds before it overruns.
    pub fn cq_ring_entries(&self, cq: Cq) -> Result<u32, NdkError> {
        Ok(1 << self.cqs.get(cq).ok_or(stale(cq))?.log)
    }

    fn take_results<R: From<NdkResultEx>>(
        &mut self,
        cq: Cq,
        results: &mut [R],
    ) -> Result<usize, NdkError> {
        self.absorb(cq)?;
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        let before = object.consumer;
        let mut taken = 0;
        let mut own = Vec::new();
        let mut bad = None;
        for place in results.iter_mut() {
            while let Some(Entry::Own(qp)) = object.backlog.front() {
                own.push(*qp);
                object.pop();
            }
            // An error waits for a call of its own.
            if taken > 0 && matches!(object.backlog.front(), Some(Entry::Bad(_))) {
                break;
            }
            match object.pop() {
                Some(Entry::Result(result)) => {
                    *place = result.into();
                    taken += 1;
                }
                Some(Entry::Bad(error)) => {
                    bad = Some(error);
                    break;
                }
                Some(Entry::Own(_)) | None => break,
            }
        }
        let consumer = object.consumer;
        self.own_signals_passed(&own);
        if consumer != before {
            self.hal
                .write_register(reg::DB_CQ, cq_doorbell(cq, consumer))?;
        }
        self.release_own(cq)?;
        bad.map_or(Ok(taken), |error| Err(error.into()))
    }

    /// Understands all entries that have come, which frees slots of their queue pairs.
    pub(super) fn absorb(&mut self, cq: Cq) -> Result<(), NdkError> {
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        let number = Slots::<CqObject>::number(cq);
        let mask = (1u32 << object.log) - 1;
        let mut bytes = [0; CQE_BYTES];
        let mut finished = Vec::new();
        let mut invalidated = Vec::new();
        loop {
            let more = match object.old_end {
                Some(end) => object.seen != end,
                None => u32::from(object.seen.wrapping_sub(object.consumer)) <= mask,
            };
            if !more {
                break;
            }
            let seen = u32::from(object.seen);
            let address = object.base + u64::from(seen & mask) * CQE_BYTES as u64;
            self.hal.read_memory(address, &mut bytes)?;
            let phase = seen >> object.log & 1 == 0;
            let Some(completion) = Completion::parse(&bytes, phase) else {
                break;
            };
            let context = super::decode::Context {
                cq,
                remote_access_status: self.config.remote_access_status,
                error_codes: object.version >= super::NdkVersion::V2_1,
            };
            let entry = decode(&mut self.qps, &mut self.srqs, &context, &completion);
            let entry = entry.unwrap_or_else(|cause| {
                Entry::Bad(AdapterError::Completion {
                    cq: number,
                    index: object.seen,
                    cause,
                })
            });
            if let Some(qp) = self.qps.handle::<Qp>(completion.qpn)
                && let Some(object) = self.qps.get_mut(qp)
            {
                let done = object.sq.finished.drain(..);
                finished.extend(done.map(|(request, status)| (qp, request, status)));
            }
            if completion.invalidated {
                invalidated.push(completion.token);
            }
            object.fresh |= !matches!(entry, Entry::Own(_));
            object.backlog.push_back(entry);
            object.seen = object.seen.wrapping_add(1);
            object.from_old_ring += usize::from(object.old_end.is_some());
        }
        for (qp, request, status) in finished {
            self.finish_local(qp, request, status)?;
        }
        for token in invalidated {
            self.token_invalidated(token)?;
        }
        self.release_own(cq)
    }

    /// Frees the places of own signals that no result stands before.
    fn release_own(&mut self, cq: Cq) -> Result<(), NdkError> {
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        let before = object.consumer;
        let mut own = Vec::new();
        while let Some(Entry::Own(qp)) = object.backlog.front() {
            own.push(*qp);
            object.pop();
        }
        let consumer = object.consumer;
        self.own_signals_passed(&own);
        if consumer != before {
            self.hal
                .write_register(reg::DB_CQ, cq_doorbell(cq, consumer))?;
        }
        Ok(())
    }

    fn own_signals_passed(&mut self, own: &[Qp]) {
        for qp in own {
            if let Some(object) = self.qps.get_mut(*qp) {
                object.sq.own_signals = object.sq.own_signals.saturating_sub(1);
            }
        }
    }

    /// The engine says that the queue fired. If nothing but own signals came since the arm, it is armed again
    /// and the consumer sleeps on.
    pub(super) fn cq_fired(&mut self, cq: Cq) -> Result<(), NdkError> {
        self.absorb(cq)?;
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        if let Some(arm) = object.armed.filter(|_| !object.fresh) {
            let value = arm_value(cq, object.consumer, arm);
            self.hal.write_register(reg::DB_ARM, value)?;
            return Ok(());
        }
        self.notify(cq, NtStatus::SUCCESS);
        Ok(())
    }

    /// The engine says that the queue is dead: so are all queue pairs on it (NDK-CQCB-5). The consumer
    /// hears of it if the queue is armed, else at the next arm (reading O14).
    pub(super) fn cq_failed(&mut self, cq: Cq, status: NtStatus) -> Result<(), NdkError> {
        let object = self.cqs.get_mut(cq).ok_or(stale(cq))?;
        let armed = object.armed.is_some();
        if !std::mem::replace(&mut object.dead, true) {
            self.counters.cq_error += 1;
            let numbers: Vec<u32> = self.qps.numbers().collect();
            for number in numbers {
                let user = self
                    .qps
                    .number_mut(number)
                    .is_some_and(|object| object.receive_cq == cq || object.initiator_cq == cq);
                if let Some(qp) = self.qps.handle(number).filter(|_| user) {
                    self.qps
                        .number_mut(number)
                        .into_iter()
                        .for_each(|qp| qp.phase = QpPhase::Error);
                    self.set_error(qp)?;
                }
            }
        }
        if armed {
            self.notify(cq, status);
        }
        Ok(())
    }

    /// One notification for one arm (NDK-CMPL-7). With several calls it is not known whether they were one
    /// arm or several; the queue then counts as armed still, so that an error is told rather than not.
    fn notify(&mut self, cq: Cq, status: NtStatus) {
        if let Some(object) = self.cqs.get_mut(cq) {
            object.arms = object.arms.saturating_sub(1);
            if object.arms == 0 {
                object.armed = None;
            }
            self.notifications.push(Notification::Cq {
                cq,
                context: object.notification_context,
                status,
            });
        }
    }

    pub(super) fn cq_is_dead(&self, cq: Cq) -> bool {
        self.cqs.get(cq).is_none_or(|object| object.dead)
    }

    /// Number by which the engine knows the queue.
    pub(super) fn cq_number(cq: Cq) -> u32 {
        Slots::<CqObject>::number(cq)
    }

    pub(super) fn retain_cq(&mut self, cq: Cq) {
        if let Some(object) = self.cqs.get_mut(cq) {
            object.users += 1;
        }
    }

    /// A queue of a queue pair completes here no more.
    pub(super) fn release_cq(&mut self, cq: Cq) -> Result<(), NdkError> {
        let Some(object) = self.cqs.get_mut(cq) else {
            return Ok(());
        };
        object.users = object.users.saturating_sub(1);
        if object.closing && object.users == 0 {
            self.tell_closed(Object::Cq(cq));
            self.remove_cq(cq)?;
        }
        Ok(())
    }

    fn remove_cq(&mut self, cq: Cq) -> Result<(), NdkError> {
        if let Some(object) = self.cqs.remove(cq) {
            let entry = Record::new(&CQ_CONTEXT);
            window::write_entry(&mut self.hal, Table::Cq, Self::cq_number(cq), &entry)?;
            self.rings.give(object.base, object.bytes());
        }
        Ok(())
    }
}

fn cq_doorbell(cq: Cq, consumer: u16) -> u32 {
    Slots::<CqObject>::number(cq) << 16 | u32::from(consumer)
}

fn arm_value(cq: Cq, consumer: u16, arm: ArmType) -> u32 {
    (arm as u32) << 30 | cq_doorbell(cq, consumer)
}
