//! The event queue, and what the consumer is told out of turn.

use crate::abi::{EQE, EventKind, Status};
use crate::hal::Hal;

use super::adapter::Provider;
use super::decode::nt_status;
use super::error::AdapterError;
use super::layout::{byte, flag};
use super::qp::QpPhase;
use super::queue::Receives;
use super::{Connector, Cq, Listener, Mr, Mw, NdkError, NtStatus, Pd, Qp, SharedEndpoint, Srq};
use crate::abi::offsets as reg;

/// An object that was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A protection domain.
    Pd(Pd),
    /// A completion queue.
    Cq(Cq),
    /// A queue pair.
    Qp(Qp),
    /// A memory region.
    Mr(Mr),
    /// A memory window.
    Mw(Mw),
    /// A shared receive queue.
    Srq(Srq),
    /// A connector.
    Connector(Connector),
    /// A listener.
    Listener(Listener),
    /// A shared endpoint.
    SharedEndpoint(SharedEndpoint),
}

/// What NDKPI tells by a callback, or (queue-pair errors) a driver would log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification {
    /// An armed completion queue fired (NDK-CQCB).
    #[doc(alias = "NDK_FN_CQ_NOTIFICATION_CALLBACK")]
    Cq {
        /// The queue.
        cq: Cq,
        /// Value given at its creation (NDK-CQCB-1).
        context: u64,
        /// `STATUS_SUCCESS`, `STATUS_BUFFER_OVERFLOW` (NDK-CQCB-3) or `STATUS_INTERNAL_ERROR` (NDK-CQCB-4).
        status: NtStatus,
    },
    /// A shared receive queue holds fewer receives than its threshold (NDK-SRQ-2).
    #[doc(alias = "NDK_FN_SRQ_NOTIFICATION_CALLBACK")]
    Srq {
        /// The queue.
        srq: Srq,
        /// Value given at its creation.
        context: u64,
        /// `STATUS_SUCCESS`; the engine has no shared receive queue that dies (NDK-SRQ-7).
        status: NtStatus,
    },
    /// A queue pair went to error by a request of its own or of its peer. Not an NDKPI callback.
    QpError {
        /// The queue pair.
        qp: Qp,
        /// Value given at its creation.
        qp_context: u64,
        /// Why.
        status: NtStatus,
    },
    /// A call that returned `STATUS_PENDING` is complete (NDK-REQ).
    #[doc(alias = "NDK_FN_REQUEST_COMPLETION")]
    Completed {
        /// Value given at the call.
        request_context: u64,
        /// How it ended.
        status: NtStatus,
    },
    /// A listener has a request (NDK-LSTN-1).
    #[doc(alias = "NDK_FN_CONNECT_EVENT_CALLBACK")]
    Connect {
        /// The listener.
        listener: Listener,
        /// Value given at its creation.
        context: u64,
        /// A new connector, to be accepted, rejected or closed.
        connector: Connector,
    },
    /// The peer disconnects, or the connection broke; told once (NDK-DEV-1).
    #[doc(alias = "NDK_FN_DISCONNECT_EVENT_CALLBACK")]
    #[doc(alias = "NDK_FN_DISCONNECT_EVENT_CALLBACK_EX")]
    Disconnect {
        /// The connector.
        connector: Connector,
        /// Value given with its accept or complete connect (NDK-DEV-5).
        context: u64,
        /// ProviderDisconnectReason; 0: not provided (NDK-DEV-4).
        reason: u32,
    },
    /// A close that returned `STATUS_PENDING` is done.
    #[doc(alias = "NDK_FN_CLOSE_COMPLETION")]
    Closed(Object),
}

const EQE_BYTES: usize = EQE.bytes();

/// An event entry, taken apart.
#[derive(Clone, Copy)]
struct Event {
    index: u16,
    kind: u8,
    code: u8,
    number: u32,
}

impl Event {
    fn error(self, cause: &'static str) -> NdkError {
        NdkError::Adapter(AdapterError::Event {
            index: self.index,
            kind: self.kind,
            number: self.number,
            cause,
        })
    }
}

/// The event ring.
pub(super) struct EventQueue {
    base: u64,
    log: u32,
    consumer: u16,
}

impl EventQueue {
    /// Gives the engine a ring of at least `entries`.
    pub(super) fn open<H: Hal>(hal: &mut H, entries: u32) -> Result<Self, NdkError> {
        let log = entries.next_power_of_two().ilog2().min(15);
        let base = hal.allocate(EQE_BYTES << log, super::PAGE_SIZE)?;
        hal.write_register(reg::EQ_LOG, log)?;
        hal.write_register(reg::EQ_BASE_LO, base as u32)?;
        hal.write_register(reg::EQ_BASE_HI, (base >> 32) as u32)?;
        hal.write_register(reg::EQ_CI, 0)?;
        Ok(Self {
            base,
            log,
            consumer: 0,
        })
    }

    fn next<H: Hal>(&mut self, hal: &mut H) -> Result<Option<Event>, NdkError> {
        const PHASE: (usize, u8) = flag(&EQE, "phase");
        const KIND: usize = byte(&EQE, "kind");
        const CODE: usize = byte(&EQE, "code");
        const NUMBER: usize = byte(&EQE, "number");
        let index = self.consumer;
        let place = u64::from(index) & ((1 << self.log) - 1);
        let mut bytes = [0; EQE_BYTES];
        hal.read_memory(self.base + place * EQE_BYTES as u64, &mut bytes)?;
        let awaited = index >> self.log & 1 == 0;
        if (bytes[PHASE.0] & PHASE.1 != 0) != awaited {
            return Ok(None);
        }
        self.consumer = index.wrapping_add(1);
        Ok(Some(Event {
            index,
            kind: bytes[KIND],
            code: bytes[CODE],
            number: u32::from_le_bytes([bytes[NUMBER], bytes[NUMBER + 1], bytes[NUMBER + 2], 0]),
        }))
    }
}

impl<H: Hal> Provider<H> {
    /// What has happened: looks at the event queue if the interrupt line is high.
    pub fn poll_events(&mut self) -> Result<Vec<Notification>, NdkError> {
        self.take_events_if_any()?;
        self.finish_poll()
    }

    /// Looks at the event queue if the interrupt line is high.
    pub(super) fn take_events_if_any(&mut self) -> Result<(), NdkError> {
        if self.hal.interrupt()? {
            self.take_events()?;
        }
        Ok(())
    }

    /// Ends closes that can end, and hands over what there is to tell.
    pub(super) fn finish_poll(&mut self) -> Result<Vec<Notification>, NdkError> {
        self.reap_closed_qps()?;
        Ok(std::mem::take(&mut self.notifications))
    }

    /// As [`Provider::poll_events`], but looks at the event queue in any case.
    pub fn drain_events(&mut self) -> Result<Vec<Notification>, NdkError> {
        self.take_events()?;
        self.finish_poll()
    }

    pub(super) fn take_events(&mut self) -> Result<(), NdkError> {
        let before = self.events.consumer;
        let mut outcome = Ok(());
        // No more at once than the ring holds.
        for _ in 0..1 << self.events.log {
            let Some(event) = self.events.next(&mut self.hal)? else {
                break;
            };
            outcome = self.handle_event(event);
            if outcome.is_err() {
                break;
            }
        }
        if self.events.consumer != before {
            self.hal
                .write_register(reg::EQ_CI, self.events.consumer.into())?;
        }
        outcome
    }

    /// Events of objects closed since are of no interest to anybody.
    fn handle_event(&mut self, event: Event) -> Result<(), NdkError> {
        let kind = EventKind::from_bits(event.kind.into());
        match kind.ok_or_else(|| event.error("unknown kind"))? {
            kind @ (EventKind::QpError | EventKind::LastWqe) => {
                if !self.qps.in_range(event.number) {
                    return Err(event.error("no such queue pair"));
                }
                match kind {
                    EventKind::LastWqe => self.let_go(event.number),
                    _ => return self.qp_failed(event),
                }
                Ok(())
            }
            EventKind::SrqLimit => {
                if !self.srqs.in_range(event.number) {
                    return Err(event.error("no such shared receive queue"));
                }
                if let Some(srq) = self.srqs.handle(event.number) {
                    self.srq_runs_short(srq);
                }
                Ok(())
            }
            kind => {
                if !self.cqs.in_range(event.number) {
                    return Err(event.error("no such completion queue"));
                }
                match self.cqs.handle(event.number) {
                    None => Ok(()),
                    Some(cq) if kind == EventKind::Completion => self.cq_fired(cq),
                    Some(cq) if event.code == 0 => self.cq_failed(cq, NtStatus::BUFFER_OVERFLOW),
                    Some(cq) => self.cq_failed(cq, NtStatus::INTERNAL_ERROR),
                }
            }
        }
    }

    /// A queue pair takes nothing from its shared receive queue any more. One that has its number since, and was
    /// never in error, is not meant.
    fn let_go(&mut self, number: u32) {
        if let Some(object) = self.qps.number_mut(number)
            && object.phase == QpPhase::Error
            && let Receives::Shared { let_go, .. } = &mut object.receives
        {
            *let_go = true;
        }
    }

    fn qp_failed(&mut self, event: Event) -> Result<(), NdkError> {
        let handle: Option<Qp> = self.qps.handle(event.number);
        if let (Some(qp), Some(object)) = (handle, self.qps.number_mut(event.number)) {
            object.phase = QpPhase::Error;
            let status = Status::from_bits(event.code.into());
            self.notifications.push(Notification::QpError {
                qp,
                qp_context: object.qp_context,
                status: status.map_or(NtStatus::INTERNAL_ERROR, |status| {
                    nt_status(status, false, self.config.remote_access_status)
                }),
            });
            self.connection_failed(qp)?;
        }
        Ok(())
    }
}
