//! Shared receive queues.

use std::collections::BTreeMap;

use crate::abi::{Record, SRQ_CONTEXT, Table};
use crate::hal::Hal;

use super::adapter::{MAX_DEPTH, MAX_RQ_SGE, Provider, stale};
use super::queue::OutOfOrder;
use super::slots::Slots;
use super::wqe::{ENTRY, rq_entry};
use super::{NdkError, Notification, NtStatus, Object, Pd, Sge, Srq, window};
use crate::abi::offsets as reg;

/// Parameters of NdkCreateSrq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqParameters {
    /// Receives that can be outstanding.
    pub depth: u32,
    /// Elements of a receive.
    pub max_receive_request_sge: u32,
    /// The consumer is told once fewer receives are queued (NDK-SRQ-2); 0: it is not.
    pub notify_threshold: u32,
    /// Handed back in notifications.
    pub notification_context: u64,
}

/// Whether the consumer will be told that receives run short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    /// It was told, or never asked.
    Off,
    /// The queue has not held as many receives as the threshold since its creation: it cannot fall below.
    Filling,
    /// The engine watches.
    Armed,
}

pub(super) struct SrqObject {
    pd: Pd,
    base: u64,
    log: u32,
    depth: u32,
    max_sge: u32,
    threshold: u32,
    watch: Watch,
    context: u64,
    producer: u16,
    /// Request contexts of receives that have not completed, by index. They complete in any order.
    outstanding: BTreeMap<u16, u64>,
    /// Queue pairs that take from it.
    users: u32,
    closing: bool,
}

impl SrqObject {
    fn queued(&self) -> u32 {
        self.outstanding.len() as u32
    }

    /// The context of a completed receive.
    pub(super) fn complete(&mut self, index: u16) -> Result<u64, OutOfOrder> {
        self.outstanding.remove(&index).ok_or(OutOfOrder {
            expected: self.producer,
        })
    }

    /// Oldest receive outstanding, and the index behind the newest.
    pub(super) fn span(&self) -> (u16, u16) {
        // The free-running index may have gone round.
        let ahead = |index: &u16| std::cmp::Reverse(self.producer.wrapping_sub(*index));
        let oldest = self.outstanding.keys().copied().min_by_key(ahead);
        (oldest.unwrap_or(self.producer), self.producer)
    }
}

impl<H: Hal> Provider<H> {
    /// Creates a shared receive queue. A depth of 0, or anything above the adapter's limits:
    /// `STATUS_INVALID_PARAMETER` (NDK-SRQ-1).
    #[doc(alias = "NdkCreateSrq")]
    pub fn create_srq(&mut self, pd: Pd, parameters: &SrqParameters) -> Result<Srq, NdkError> {
        let p = parameters;
        let most = self.max_srq_depth();
        if p.depth == 0 || p.depth > most || p.max_receive_request_sge > MAX_RQ_SGE {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        self.pds.get(pd).ok_or(stale(pd))?;
        self.expect_own(pd)?;
        let number = self.srqs.next_number();
        let number = number.ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        // Of the greatest depth, so that another depth needs no other ring.
        let log = most.next_power_of_two().ilog2();
        let base = self.rings.take(&mut self.hal, ENTRY << log)?;
        let entry = Record::new(&SRQ_CONTEXT)
            .with("valid", 1u8)
            .with("log_size", log)
            .with("base", base);
        window::write_entry(&mut self.hal, Table::Srq, number, &entry)?;
        let object = SrqObject {
            pd,
            base,
            log,
            depth: p.depth,
            max_sge: p.max_receive_request_sge,
            threshold: p.notify_threshold,
            watch: match p.notify_threshold {
                0 => Watch::Off,
                _ => Watch::Filling,
            },
            context: p.notification_context,
            producer: 0,
            outstanding: BTreeMap::new(),
            users: 0,
            closing: false,
        };
        let srq = self.srqs.insert(self.owner, object);
        if let Some(domain) = self.pds.get_mut(pd) {
            domain.successors += 1;
        }
        srq.ok_or(NtStatus::INSUFFICIENT_RESOURCES.into())
    }

    /// Changes depth and threshold; 0 keeps either (NDK-SRQ-5, -6). Another threshold arms the notification, which
    /// comes at once if fewer receives are queued (NDK-SRQ-3, -4).
    ///
    /// `STATUS_INVALID_PARAMETER`: a depth above the adapter's limit (NDK-SRQ-1). `STATUS_BUFFER_OVERFLOW`: a depth below
    /// the number of receives outstanding; nothing changes.
    #[doc(alias = "NdkModifySrq")]
    pub fn modify_srq(
        &mut self,
        srq: Srq,
        depth: u32,
        notify_threshold: u32,
    ) -> Result<(), NdkError> {
        let most = self.max_srq_depth();
        self.absorb_srq(srq)?;
        // What the engine has told so far was told of the arm before.
        self.take_events()?;
        let object = self.srqs.get_mut(srq).ok_or(stale(srq))?;
        if depth > most {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        if depth != 0 && depth < object.queued() {
            return Err(NtStatus::BUFFER_OVERFLOW.into());
        }
        if depth != 0 {
            object.depth = depth;
        }
        if notify_threshold != 0 {
            object.threshold = notify_threshold;
            self.watch(srq)?;
        }
        Ok(())
    }

    /// Closes a shared receive queue. Receives that no queue pair has taken never complete. `STATUS_PENDING` as
    /// long as queue pairs take from it: [`Notification::Closed`] says when it is done (NDK-OBJ-4, -5).
    #[doc(alias = "NdkCloseSrq")]
    pub fn close_srq(&mut self, srq: Srq) -> Result<NtStatus, NdkError> {
        let object = self.srqs.get_mut(srq).ok_or(stale(srq))?;
        if object.users > 0 {
            object.closing = true;
            return Ok(NtStatus::PENDING);
        }
        self.remove_srq(srq)?;
        Ok(NtStatus::SUCCESS)
    }

    /// Posts a receive to a shared queue (NDK-SRQR-1): its completion is in the receive completion queue of the
    /// queue pair that takes it, with the context of that one (NDK-SRQR-2, -3).
    ///
    /// Checks as for [`Provider::receive`].
    #[doc(alias = "NdkSrqReceive")]
    pub fn srq_receive(
        &mut self,
        srq: Srq,
        request_context: u64,
        sgl: &[Sge],
    ) -> Result<(), NdkError> {
        let object = self.srqs.get(srq).ok_or(stale(srq))?;
        self.check_receive(sgl, object.max_sge)?;
        if !self.srq_has_room(srq) {
            self.absorb_srq(srq)?;
        }
        if !self.srq_has_room(srq) {
            return Err(NtStatus::NO_MORE_ENTRIES.into());
        }
        let object = self.srqs.get_mut(srq).ok_or(stale(srq))?;
        // The entry that stood here was taken: less receives are outstanding than the ring has places.
        let place = u64::from(object.producer) & ((1 << object.log) - 1);
        let address = object.base + place * ENTRY as u64;
        self.hal.write_memory(address, &rq_entry(sgl))?;
        object.outstanding.insert(object.producer, request_context);
        object.producer = object.producer.wrapping_add(1);
        let is_full = object.watch == Watch::Filling && object.queued() >= object.threshold;
        let value = doorbell(srq, object.producer);
        self.hal.write_register(reg::DB_SRQ, value)?;
        if is_full {
            self.watch(srq)?;
        }
        Ok(())
    }

    fn srq_has_room(&self, srq: Srq) -> bool {
        self.srqs.get(srq).is_some_and(|object| {
            object.queued() < object.depth && !object.outstanding.contains_key(&object.producer)
        })
    }

    /// Lets the engine tell when fewer receives are left than the threshold.
    fn watch(&mut self, srq: Srq) -> Result<(), NdkError> {
        let object = self.srqs.get_mut(srq).ok_or(stale(srq))?;
        object.watch = Watch::Armed;
        // More than the ring holds is never reached.
        let limit = object.threshold.min(u16::MAX.into()) as u16;
        let value = doorbell(srq, limit);
        self.hal.write_register(reg::DB_SRQ_LIMIT, value)?;
        Ok(())
    }

    /// The engine says that receives run short; once for each time that it was asked to (NDK-SRQ-3).
    pub(super) fn srq_runs_short(&mut self, srq: Srq) {
        let Some(object) = self.srqs.get_mut(srq) else {
            return;
        };
        if object.watch == Watch::Armed {
            object.watch = Watch::Off;
            self.notifications.push(Notification::Srq {
                srq,
                context: object.context,
                status: NtStatus::SUCCESS,
            });
        }
    }

    /// Looks for completions of its receives, wherever they may be.
    fn absorb_srq(&mut self, srq: Srq) -> Result<(), NdkError> {
        let mut queues = Vec::new();
        let numbers: Vec<u32> = self.qps.numbers().collect();
        for number in numbers {
            let qp = self.qps.number_mut(number);
            let user = qp.filter(|qp| qp.receives.shared() == Some(srq));
            queues.extend(user.map(|qp| qp.receive_cq));
        }
        queues.sort_unstable();
        queues.dedup();
        queues.into_iter().try_for_each(|cq| self.absorb(cq))
    }

    /// Number by which the engine knows the queue.
    pub(super) fn srq_number(srq: Srq) -> u32 {
        Slots::<SrqObject>::number(srq)
    }

    pub(super) fn retain_srq(&mut self, srq: Srq) {
        if let Some(object) = self.srqs.get_mut(srq) {
            object.users += 1;
        }
    }

    /// A queue pair takes from it no more.
    pub(super) fn release_srq(&mut self, srq: Srq) -> Result<(), NdkError> {
        let Some(object) = self.srqs.get_mut(srq) else {
            return Ok(());
        };
        object.users = object.users.saturating_sub(1);
        if object.closing && object.users == 0 {
            self.tell_closed(Object::Srq(srq));
            self.remove_srq(srq)?;
        }
        Ok(())
    }

    fn remove_srq(&mut self, srq: Srq) -> Result<(), NdkError> {
        let Some(object) = self.srqs.remove(srq) else {
            return Ok(());
        };
        let number = Slots::<SrqObject>::number(srq);
        window::write_entry(
            &mut self.hal,
            Table::Srq,
            number,
            &Record::new(&SRQ_CONTEXT),
        )?;
        self.rings.give(object.base, ENTRY << object.log);
        self.release_pd(object.pd)
    }

    /// Greatest depth of a shared receive queue; 0 if the engine has none.
    pub(super) fn max_srq_depth(&self) -> u32 {
        match self.caps.shared_receive_queues {
            0 => 0,
            _ => self.config.max_srq_depth.min(MAX_DEPTH),
        }
    }
}

/// Value of a doorbell.
fn doorbell(srq: Srq, value: u16) -> u32 {
    Slots::<SrqObject>::number(srq) << 16 | u32::from(value)
}
