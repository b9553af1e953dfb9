//! Queue pairs: creation, flush, close.

use crate::abi::{QP_CONTEXT, QpState, Record, Table, WqeOpcode};
use crate::hal::Hal;

use super::adapter::{MAX_DEPTH, MAX_INLINE, MAX_RQ_SGE, MAX_SQ_SGE, Provider, stale};
use super::queue::{Posted, ReceiveQueue, Receives, SendQueue, Signal};
use super::slots::Slots;
use super::wqe::{ENTRY, HEADER, SqEntry, SqHeader};
use super::{
    Connection, Connector, Cq, NdkError, NtStatus, Object, OpFlags, Pd, Qp, Sge, Srq, window,
};
use crate::abi::offsets as reg;

/// Parameters of NdkCreateQp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpParameters {
    /// Completion queue of receives.
    pub receive_cq: Cq,
    /// Completion queue of initiator requests.
    pub initiator_cq: Cq,
    /// Handed back in every result (NDK-RES-4).
    pub qp_context: u64,
    /// Receives that can be outstanding.
    pub receive_queue_depth: u32,
    /// Initiator requests that can be outstanding.
    pub initiator_queue_depth: u32,
    /// Elements of a receive.
    pub max_receive_request_sge: u32,
    /// Elements of an initiator request.
    pub max_initiator_request_sge: u32,
    /// Inline bytes of a request.
    pub inline_data_size: u32,
}

impl QpParameters {
    /// A queue pair of 64 requests each way, four elements each, without inline data.
    pub fn new(receive_cq: Cq, initiator_cq: Cq) -> Self {
        Self {
            receive_cq,
            initiator_cq,
            qp_context: 0,
            receive_queue_depth: 64,
            initiator_queue_depth: 64,
            max_receive_request_sge: 4,
            max_initiator_request_sge: 4,
            inline_data_size: 0,
        }
    }
}

/// Life of a queue pair, as the provider knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QpPhase {
    /// Not connected: receives only.
    Idle,
    /// A connection is being made: receives only.
    Connecting,
    /// Connected.
    Connected,
    /// A request failed, the peer's did, or the consumer flushed: everything posted is cancelled.
    Error,
}

pub(super) struct QpObject {
    pub(super) pd: Pd,
    pub(super) receive_cq: Cq,
    pub(super) initiator_cq: Cq,
    pub(super) qp_context: u64,
    pub(super) max_receive_sge: u32,
    pub(super) max_initiator_sge: u32,
    pub(super) inline_data_size: u32,
    pub(super) outbound_read_limit: u8,
    pub(super) phase: QpPhase,
    pub(super) sq: SendQueue,
    pub(super) receives: Receives,
    /// The entry of the engine's table.
    pub(super) entry: Record,
    /// The connection, until the provider knows that it ended.
    pub(super) connection: Option<Connection>,
    /// The connector that makes its connection.
    pub(super) connector: Option<Connector>,
    /// Whether the marker of its end was posted.
    marked: bool,
    closing: bool,
}

impl<H: Hal> Provider<H> {
    /// Creates a queue pair. Anything above the adapter's limits: `STATUS_INVALID_PARAMETER` (NDK-QPC-1).
    #[doc(alias = "NdkCreateQp")]
    pub fn create_qp(&mut self, pd: Pd, parameters: &QpParameters) -> Result<Qp, NdkError> {
        let p = parameters;
        if p.receive_queue_depth > MAX_DEPTH || p.max_receive_request_sge > MAX_RQ_SGE {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        self.make_qp(pd, p, None)
    }

    /// Creates a queue pair that takes its receives from a shared queue (NDK-QPC-4). The parameters of a receive queue
    /// of its own do not count; anything else above the adapter's limits: `STATUS_INVALID_PARAMETER` (NDK-QPC-1).
    #[doc(alias = "NdkCreateQpWithSrq")]
    pub fn create_qp_with_srq(
        &mut self,
        pd: Pd,
        srq: Srq,
        parameters: &QpParameters,
    ) -> Result<Qp, NdkError> {
        self.srqs.get(srq).ok_or(stale(srq))?;
        self.make_qp(pd, parameters, Some(srq))
    }

    fn make_qp(&mut self, pd: Pd, p: &QpParameters, srq: Option<Srq>) -> Result<Qp, NdkError> {
        let legal = p.initiator_queue_depth <= MAX_DEPTH
            && p.max_initiator_request_sge <= MAX_SQ_SGE
            && p.inline_data_size <= MAX_INLINE;
        if !legal {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        self.pds.get(pd).ok_or(stale(pd))?;
        self.cqs.get(p.receive_cq).ok_or(stale(p.receive_cq))?;
        self.cqs.get(p.initiator_cq).ok_or(stale(p.initiator_cq))?;
        self.expect_own(pd)?;
        self.expect_own(p.receive_cq)?;
        self.expect_own(p.initiator_cq)?;
        srq.map_or(Ok(()), |srq| self.expect_own(srq))?;
        let number = self
            .qps
            .next_number()
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        let stride = stride(p.max_initiator_request_sge, p.inline_data_size);
        // One entry more than requests, for the marker of a close.
        let sq_log = (p.initiator_queue_depth + 1).next_power_of_two().ilog2();
        let sq_base = self
            .rings
            .take(&mut self.hal, (ENTRY << stride) << sq_log)?;
        let receives = match srq {
            Some(srq) => Receives::Shared { srq, let_go: false },
            None => {
                let log = p.receive_queue_depth.max(1).next_power_of_two().ilog2();
                let base = self.rings.take(&mut self.hal, ENTRY << log)?;
                Receives::Own(ReceiveQueue::new(base, log, p.receive_queue_depth))
            }
        };
        let mut entry = Record::new(&QP_CONTEXT)
            .with("state", QpState::Init)
            .with("sq_log", sq_log)
            .with("sq_stride", stride)
            .with("pd", Self::pd_number(pd))
            .with("send_cq", Self::cq_number(p.initiator_cq))
            .with("recv_cq", Self::cq_number(p.receive_cq))
            .with("sq_base", sq_base);
        match &receives {
            Receives::Own(ReceiveQueue { ring, .. }) => {
                entry.set("rq_log", ring.log).set("rq_base", ring.base);
            }
            Receives::Shared { srq, .. } => {
                entry
                    .set("srq", 1u8)
                    .set("rq_base", u64::from(Self::srq_number(*srq)));
            }
        }
        window::write_entry(&mut self.hal, Table::Qp, number, &entry)?;
        let object = QpObject {
            pd,
            receive_cq: p.receive_cq,
            initiator_cq: p.initiator_cq,
            qp_context: p.qp_context,
            max_receive_sge: p.max_receive_request_sge,
            max_initiator_sge: p.max_initiator_request_sge,
            inline_data_size: p.inline_data_size,
            outbound_read_limit: 0,
            phase: QpPhase::Idle,
            sq: SendQueue::new(sq_base, sq_log, stride, p.initiator_queue_depth),
            receives,
            entry,
            connection: None,
            connector: None,
            marked: false,
            closing: false,
        };
        let qp = self
            .qps
            .insert(self.owner, object)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        if let Some(domain) = self.pds.get_mut(pd) {
            domain.successors += 1;
        }
        self.retain_cq(p.receive_cq);
        self.retain_cq(p.initiator_cq);
        srq.into_iter().for_each(|srq| self.retain_srq(srq));
        Ok(qp)
    }

    /// Cancels everything posted on both queues, and everything posted from now on (NDK-FLUSH, reading O7);
    /// deferred requests that the hardware was not told of as well (reading O19).
    #[doc(alias = "NdkFlush")]
    pub fn flush(&mut self, qp: Qp) -> Result<(), NdkError> {
        self.qps.get(qp).ok_or(stale(qp))?;
        self.set_error(qp)?;
        // After the state: what was held back is cancelled, not sent.
        self.indicate(qp)
    }

    /// Closes a queue pair. With requests outstanding it cancels them and returns `STATUS_PENDING`;
    /// [`Notification::Closed`](super::Notification::Closed) says when all have completed, from when on no memory of theirs is touched. Entries
    /// left in a completion queue can still be fetched (reading O26).
    #[doc(alias = "NdkCloseQp")]
    pub fn close_qp(&mut self, qp: Qp) -> Result<NtStatus, NdkError> {
        let object = self.qps.get_mut(qp).ok_or(stale(qp))?;
        if object.closing {
            return Ok(NtStatus::PENDING);
        }
        object.closing = true;
        if object.is_done() && object.connector.is_none() {
            // What it has received from a shared queue may be there, and nobody has looked.
            let receive = object.receive_cq;
            self.absorb(receive)?;
            self.remove_qp(qp)?;
            return Ok(NtStatus::SUCCESS);
        }
        self.flush(qp)?;
        self.mark_end(qp)?;
        self.closing.push(qp);
        Ok(NtStatus::PENDING)
    }

    /// Where the queue pair is in its life, as far as results and events fetched so far tell.
    pub fn qp_phase(&self, qp: Qp) -> Result<QpPhase, NdkError> {
        Ok(self.qps.get(qp).ok_or(stale(qp))?.phase)
    }

    /// Number of the queue pair on the wire.
    pub fn qp_number(&self, qp: Qp) -> Result<u32, NdkError> {
        self.qps.get(qp).ok_or(stale(qp))?;
        Ok(Slots::<QpObject>::number(qp))
    }

    /// Rings the doorbell if requests are held back.
    pub(super) fn indicate(&mut self, qp: Qp) -> Result<(), NdkError> {
        if let Some(object) = self.qps.get_mut(qp)
            && object.sq.indicated != object.sq.ring.producer
        {
            let producer = object.sq.ring.producer;
            object.sq.indicated = producer;
            self.hal
                .write_register(reg::DB_SQ, doorbell(qp, producer))?;
        }
        Ok(())
    }

    /// Puts a queue pair into the error state.
    pub(super) fn set_error(&mut self, qp: Qp) -> Result<(), NdkError> {
        self.end_connection(qp);
        if let Some(object) = self.qps.get_mut(qp) {
            object.phase = QpPhase::Error;
            object.entry.set("state", QpState::Err);
            let number = Slots::<QpObject>::number(qp);
            window::write_entry(&mut self.hal, Table::Qp, number, &object.entry)?;
        }
        Ok(())
    }

    /// Removes the closed queue pairs whose requests have all completed.
    pub(super) fn reap_closed_qps(&mut self) -> Result<(), NdkError> {
        for qp in std::mem::take(&mut self.closing) {
            let Some(object) = self.qps.get(qp) else {
                continue;
            };
            let (receive, initiator) = (object.receive_cq, object.initiator_cq);
            self.absorb(receive)?;
            self.absorb(initiator)?;
            // A dead completion queue reports nothing any more.
            let dead = self.cq_is_dead(receive) || self.cq_is_dead(initiator);
            let held = self.qps.get(qp).is_some_and(|qp| qp.connector.is_some());
            let done = dead || self.qps.get(qp).is_none_or(QpObject::is_done);
            if done && !held {
                self.tell_closed(Object::Qp(qp));
                self.remove_qp(qp)?;
            } else {
                self.closing.push(qp);
            }
        }
        Ok(())
    }

    /// Posts a last request to a queue pair in error, if its queue would end with a silent one: flushed behind all
    /// others, it shows that they are done. Later ones, silent or not, are flushed with an entry.
    pub(super) fn mark_end(&mut self, qp: Qp) -> Result<(), NdkError> {
        let Some(object) = self.qps.get_mut(qp) else {
            return Ok(());
        };
        if object.marked || object.phase != QpPhase::Error || !object.sq.ends_silent() {
            return Ok(());
        }
        object.marked = true;
        let entry = SqEntry::new(&SqHeader {
            opcode: WqeOpcode::Send,
            flags: OpFlags::NONE,
            silent: false,
            index: object.sq.ring.producer,
            length: 0,
            object_token: 0,
            remote_address: 0,
            remote_token: 0,
        });
        self.hal
            .write_memory(object.sq.ring.next_address(), entry.as_bytes())?;
        object.sq.push(Posted {
            request_context: 0,
            opcode: WqeOpcode::Send,
            signal: Signal::Marker,
            local: None,
        });
        self.indicate(qp)
    }

    fn remove_qp(&mut self, qp: Qp) -> Result<(), NdkError> {
        self.end_connection(qp);
        let Some(object) = self.qps.remove(qp) else {
            return Ok(());
        };
        let entry = Record::new(&QP_CONTEXT).with("state", QpState::Reset);
        let number = Slots::<QpObject>::number(qp);
        window::write_entry(&mut self.hal, Table::Qp, number, &entry)?;
        self.leave_qp(qp, &object)?;
        let sq = &object.sq.ring;
        self.rings.give(sq.base, sq.bytes());
        match &object.receives {
            Receives::Own(rq) => self.rings.give(rq.ring.base, rq.ring.bytes()),
            Receives::Shared { srq, .. } => self.release_srq(*srq)?,
        }
        self.release_cq(object.receive_cq)?;
        self.release_cq(object.initiator_cq)?;
        self.release_pd(object.pd)
    }
}

impl QpObject {
    /// The connection, if it is active.
    pub(super) fn active(&self) -> Option<Connection> {
        self.connection.filter(|_| self.phase == QpPhase::Connected)
    }

    /// Whether no request can complete any more.
    pub(super) fn is_done(&self) -> bool {
        self.sq.ring.outstanding() == 0 && self.receives.is_done()
    }
}

/// Value of a doorbell.
pub(super) fn doorbell(qp: Qp, index: u16) -> u32 {
    Slots::<QpObject>::number(qp) << 16 | u32::from(index)
}

/// log2 of the 64-byte units of an entry that holds so many elements or inline bytes.
fn stride(max_sge: u32, inline: u32) -> u32 {
    let elements = max_sge as usize * size_of::<Sge>();
    let bytes = HEADER + elements.max(inline as usize);
    bytes.div_ceil(ENTRY).next_power_of_two().ilog2()
}
