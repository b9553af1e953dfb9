//! Posting: the checks of the interface, and the way into the rings.
//!
//! Checks of an initiator request, the first failure counts:
//!
//! 1. the queue pair is connected or in error (`STATUS_CONNECTION_INVALID`);
//! 2. no flag is foreign to the operation (`STATUS_INVALID_PARAMETER`, reading O6);
//! 3. number of elements, unless inline (`STATUS_DATA_OVERRUN`, reading O5);
//! 4. total length, inline length (`STATUS_BUFFER_OVERFLOW`, reading O5);
//! 5. a read with outbound read limit 0 (`STATUS_INVALID_DEVICE_REQUEST`, reading O12); local invalidation of
//!    nothing, the privileged token or a normal region (`STATUS_INVALID_PARAMETER`, reading O10);
//! 6. a free slot (`STATUS_NO_MORE_ENTRIES`, reading O3);
//! 7. inline bytes that can be read (`STATUS_ACCESS_VIOLATION`).
//!
//! A call that fails makes no completion (NDK-DEFER-3), and has told the hardware of all requests that
//! were deferred before it (NDK-DEFER-5).

use crate::abi::{TokenKind, WqeOpcode};
use crate::hal::{Hal, HalError};

use super::adapter::{MAX_READ_SGE, Provider, stale};
use super::qp::{QpPhase, doorbell};
use super::queue::{Posted, Signal};
use super::wqe::{SqEntry, SqHeader, rq_entry};
use super::{NdkError, NtStatus, OpFlags, Qp, RemoteToken, Sge};
use crate::abi::offsets as reg;

/// An initiator request.
struct Request<'a> {
    opcode: WqeOpcode,
    request_context: u64,
    sgl: &'a [Sge],
    flags: OpFlags,
    invalidate: RemoteToken,
    remote_address: u64,
    remote_token: RemoteToken,
}

/// Flags of every initiator request.
pub(super) const COMMON: u32 = OpFlags::SILENT_SUCCESS.0 | OpFlags::READ_FENCE.0 | OpFlags::DEFER.0;
const SEND: u32 = COMMON | OpFlags::SEND_AND_SOLICIT_EVENT.0 | OpFlags::INLINE.0;
const READ: u32 = COMMON | OpFlags::RDMA_READ_LOCAL_INVALIDATE.0;
const WRITE: u32 = COMMON | OpFlags::INLINE.0;

impl<H: Hal> Provider<H> {
    /// Posts a send (NDK-SEND).
    #[doc(alias = "NdkSend")]
    pub fn send(
        &mut self,
        qp: Qp,
        request_context: u64,
        sgl: &[Sge],
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        self.post(
            qp,
            Request {
                opcode: WqeOpcode::Send,
                request_context,
                sgl,
                flags,
                invalidate: RemoteToken::default(),
                remote_address: 0,
                remote_token: RemoteToken::default(),
            },
        )
    }

    /// Posts a send that invalidates a token of the peer. `flags` before `remote_token` (NDK-SINV-1).
    #[doc(alias = "NdkSendAndInvalidate")]
    pub fn send_and_invalidate(
        &mut self,
        qp: Qp,
        request_context: u64,
        sgl: &[Sge],
        flags: OpFlags,
        remote_token: RemoteToken,
    ) -> Result<(), NdkError> {
        self.post(
            qp,
            Request {
                opcode: WqeOpcode::SendInvalidate,
                request_context,
                sgl,
                flags,
                invalidate: remote_token,
                remote_address: 0,
                remote_token: RemoteToken::default(),
            },
        )
    }

    /// Posts a read (NDK-READ-1): from `remote_address` of the peer into `sgl`.
    #[doc(alias = "NdkRead")]
    pub fn read(
        &mut self,
        qp: Qp,
        request_context: u64,
        sgl: &[Sge],
        remote_address: u64,
        remote_token: RemoteToken,
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        self.post(
            qp,
            Request {
                opcode: WqeOpcode::Read,
                request_context,
                sgl,
                flags,
                invalidate: RemoteToken::default(),
                remote_address,
                remote_token,
            },
        )
    }

    /// Posts a write (NDK-WRITE-1): from `sgl` to `remote_address` of the peer.
    #[doc(alias = "NdkWrite")]
    pub fn write(
        &mut self,
        qp: Qp,
        request_context: u64,
        sgl: &[Sge],
        remote_address: u64,
        remote_token: RemoteToken,
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        self.post(
            qp,
            Request {
                opcode: WqeOpcode::Write,
                request_context,
                sgl,
                flags,
                invalidate: RemoteToken::default(),
                remote_address,
                remote_token,
            },
        )
    }

    /// Posts a receive, in any phase of the queue pair (NDK-RECV-3). `STATUS_INVALID_DEVICE_REQUEST`: its receives come
    /// from a shared queue.
    #[doc(alias = "NdkReceive")]
    pub fn receive(&mut self, qp: Qp, request_context: u64, sgl: &[Sge]) -> Result<(), NdkError> {
        let object = self.qps.get(qp).ok_or(stale(qp))?;
        let queue = object.receives.own();
        let queue = queue.ok_or(NtStatus::INVALID_DEVICE_REQUEST)?;
        self.check_receive(sgl, object.max_receive_sge)?;
        if !queue.has_room() {
            let cq = object.receive_cq;
            self.absorb(cq)?;
        }
        let object = self.qps.get_mut(qp).ok_or(stale(qp))?;
        let queue = object.receives.own_mut();
        let queue = queue.filter(|queue| queue.has_room());
        let queue = queue.ok_or(NtStatus::NO_MORE_ENTRIES)?;
        self.hal
            .write_memory(queue.ring.next_address(), &rq_entry(sgl))?;
        queue.push(request_context);
        let value = doorbell(qp, queue.ring.producer);
        self.hal.write_register(reg::DB_RQ, value)?;
        Ok(())
    }

    fn post(&mut self, qp: Qp, request: Request<'_>) -> Result<(), NdkError> {
        let outcome = self.try_post(qp, &request);
        self.conclude(qp, request.flags, outcome)
    }

    /// The end of every initiator call: the hardware is told, unless the request may wait. In error none may: nobody
    /// would cancel it, and what ends the connection waits for it.
    pub(super) fn conclude(
        &mut self,
        qp: Qp,
        flags: OpFlags,
        outcome: Result<(), NdkError>,
    ) -> Result<(), NdkError> {
        let in_error = self
            .qps
            .get(qp)
            .is_some_and(|object| object.phase == QpPhase::Error);
        let deferred = outcome.is_ok() && flags.contains(OpFlags::DEFER) && !in_error;
        if !deferred {
            self.indicate(qp)?;
        }
        outcome
    }

    fn try_post(&mut self, qp: Qp, request: &Request<'_>) -> Result<(), NdkError> {
        let length = self.check(qp, request)?;
        let signal = self.slot(qp, request.flags.contains(OpFlags::SILENT_SUCCESS))?;
        let object = self.qps.get_mut(qp).ok_or(stale(qp))?;
        let ignored = if self.config.read_local_invalidate {
            OpFlags::NONE
        } else {
            OpFlags::RDMA_READ_LOCAL_INVALIDATE
        };
        let mut entry = SqEntry::new(&SqHeader {
            opcode: request.opcode,
            flags: request.flags.without(ignored),
            silent: signal == Signal::Silent,
            index: object.sq.ring.producer,
            length,
            object_token: request.invalidate.to_engine(),
            remote_address: request.remote_address,
            remote_token: request.remote_token.to_engine(),
        });
        if request.flags.contains(OpFlags::INLINE) {
            gather_inline(
                &mut self.hal,
                request.sgl,
                entry.inline_place(length as usize),
            )?;
        } else {
            entry.set_elements(request.sgl);
        }
        self.hal
            .write_memory(object.sq.ring.next_address(), entry.as_bytes())?;
        object.sq.push(Posted {
            request_context: request.request_context,
            opcode: request.opcode,
            signal,
            local: None,
        });
        Ok(())
    }

    /// Checks 1 to 5; the length of the request.
    fn check(&self, qp: Qp, request: &Request<'_>) -> Result<u32, NdkError> {
        let object = self.qps.get(qp).ok_or(stale(qp))?;
        if matches!(object.phase, QpPhase::Idle | QpPhase::Connecting) {
            return Err(NtStatus::CONNECTION_INVALID.into());
        }
        let read = request.opcode == WqeOpcode::Read;
        let allowed = match request.opcode {
            WqeOpcode::Read => READ,
            WqeOpcode::Write if self.config.inline_write => WRITE,
            WqeOpcode::Write => COMMON,
            _ => SEND,
        };
        if request.flags.0 & !allowed != 0 {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        let inline = request.flags.contains(OpFlags::INLINE);
        let most = if read {
            object.max_initiator_sge.min(MAX_READ_SGE)
        } else {
            object.max_initiator_sge
        };
        if !inline && request.sgl.len() > most as usize {
            return Err(NtStatus::DATA_OVERRUN.into());
        }
        let length = total(request.sgl);
        if length > self.max_region() || inline && length > object.inline_data_size.into() {
            return Err(NtStatus::BUFFER_OVERFLOW.into());
        }
        if read && object.outbound_read_limit == 0 {
            return Err(NtStatus::INVALID_DEVICE_REQUEST.into());
        }
        let invalidates = request.flags.contains(OpFlags::RDMA_READ_LOCAL_INVALIDATE);
        if invalidates && self.config.read_local_invalidate {
            let kind = request
                .sgl
                .first()
                .map(|sge| self.tokens.kind(sge.token.0))
                .ok_or(NtStatus::INVALID_PARAMETER)?;
            if matches!(kind, Some(TokenKind::Region | TokenKind::Privileged)) {
                return Err(NtStatus::INVALID_PARAMETER.into());
            }
        }
        // At most 2^31.
        Ok(length as u32)
    }

    /// Elements and length of a receive.
    pub(super) fn check_receive(&self, sgl: &[Sge], max_sge: u32) -> Result<(), NdkError> {
        if sgl.len() > max_sge as usize {
            return Err(NtStatus::DATA_OVERRUN.into());
        }
        if total(sgl) > self.max_region() {
            return Err(NtStatus::BUFFER_OVERFLOW.into());
        }
        Ok(())
    }

    /// Check 6; looks for completions if the slots known to be free do not do.
    pub(super) fn slot(&mut self, qp: Qp, silent: bool) -> Result<Signal, NdkError> {
        let object = self.qps.get(qp).ok_or(stale(qp))?;
        let (sq, cq) = (&object.sq, object.initiator_cq);
        match sq.plan(silent) {
            Some(signal) if signal != Signal::Silent || !sq.own_signal_due() => Ok(signal),
            _ => {
                self.absorb(cq)?;
                let object = self.qps.get(qp).ok_or(stale(qp))?;
                object
                    .sq
                    .plan(silent)
                    .ok_or(NtStatus::NO_MORE_ENTRIES.into())
            }
        }
    }
}

fn total(sgl: &[Sge]) -> u64 {
    sgl.iter().map(|sge| u64::from(sge.length)).sum()
}

/// Copies the bytes of an inline request. Memory that is not there is the consumer's fault.
fn gather_inline<H: Hal>(hal: &mut H, sgl: &[Sge], place: &mut [u8]) -> Result<(), NdkError> {
    let mut rest = place;
    for sge in sgl.iter().filter(|sge| sge.length > 0) {
        let Some((piece, after)) = rest.split_at_mut_checked(sge.length as usize) else {
            return Err(NtStatus::BUFFER_OVERFLOW.into());
        };
        hal.read_memory(sge.address, piece)
            .map_err(|error| match error {
                HalError::Memory { .. } => NtStatus::ACCESS_VIOLATION.into(),
                other => NdkError::from(other),
            })?;
        rest = after;
    }
    Ok(())
}
