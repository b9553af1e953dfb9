//! From completion entries to results.

use crate::abi::{Fault, Status, WqeOpcode};

use super::cq::Entry;
use super::error::CompletionFault;
use super::qp::{QpObject, QpPhase};
use super::queue::{OutOfOrder, Signal};
use super::slots::Slots;
use super::srq::SrqObject;
use super::wqe::{Completion, RECEIVE_OPCODE};
use super::{Cq, NdkResultEx, NtStatus, OperationType, RemoteToken};

/// What decoding needs to know.
pub(super) struct Context {
    /// The queue that the entry is in.
    pub(super) cq: Cq,
    /// See [`AdapterConfig`](super::AdapterConfig).
    pub(super) remote_access_status: NtStatus,
    /// Whether results have a provider error code.
    pub(super) error_codes: bool,
}

/// Finds the request of an entry and takes it out of its queue.
pub(super) fn decode(
    qps: &mut Slots<QpObject>,
    srqs: &mut Slots<SrqObject>,
    context: &Context,
    completion: &Completion,
) -> Result<Entry, CompletionFault> {
    let qpn = completion.qpn;
    let handle = qps.handle(qpn);
    let (Some(handle), Some(qp)) = (handle, qps.number_mut(qpn)) else {
        return Err(CompletionFault::UnknownQp { qpn });
    };
    let mut result = NdkResultEx {
        qp_context: qp.qp_context,
        ..NdkResultEx::default()
    };
    let (cq, queue) = if completion.receive {
        (qp.receive_cq, "receive")
    } else {
        (qp.initiator_cq, "send")
    };
    if cq != context.cq {
        return Err(CompletionFault::WrongCq { qpn, queue });
    }
    let mut shared = qp.receives.shared().and_then(|srq| srqs.get_mut(srq));
    let (oldest, producer) = match (&shared, qp.receives.own()) {
        (Some(srq), _) if completion.receive => srq.span(),
        (_, Some(rq)) if completion.receive => (rq.ring.oldest, rq.ring.producer),
        _ => (qp.sq.ring.oldest, qp.sq.ring.producer),
    };
    let out_of_order = |expected| CompletionFault::OutOfOrder {
        qpn,
        queue,
        got: completion.wqe_index,
        oldest,
        producer,
        expected,
    };
    let status = Status::from_bits(completion.status.into());
    let wqe = completion.wqe_index;
    let mut signal = Signal::Consumer;
    let mut opcode = WqeOpcode::None;
    let expected_opcode;
    if completion.receive {
        let posted = match (shared.as_mut(), qp.receives.own_mut()) {
            (Some(srq), _) => srq.complete(wqe),
            (None, Some(rq)) => rq.complete(wqe),
            // The queue lives as long as its queue pairs.
            (None, None) => Err(OutOfOrder { expected: wqe }),
        };
        result.request_context = posted.map_err(|error| out_of_order(error.expected))?;
        result.bytes_transferred = completion.byte_len;
        expected_opcode = RECEIVE_OPCODE;
    } else {
        // One that nobody knows says nothing of what the request did.
        let posted = qp.sq.complete(wqe, status.unwrap_or(Status::Flushed));
        let posted = posted.map_err(|error| out_of_order(error.expected))?;
        result.request_context = posted.request_context;
        result.operation = OperationType::of_opcode(posted.opcode);
        signal = posted.signal;
        opcode = posted.opcode;
        expected_opcode = posted.opcode as u8;
    }
    let status = status.ok_or(CompletionFault::UnknownStatus {
        qpn,
        wqe,
        status: completion.status,
    })?;
    if status != Status::Success {
        qp.phase = QpPhase::Error;
    }
    let flushed_unseen = !completion.receive && status == Status::Flushed && completion.opcode == 0;
    if completion.opcode != expected_opcode && !flushed_unseen {
        return Err(CompletionFault::WrongOpcode {
            qpn,
            wqe,
            got: completion.opcode,
            expected: expected_opcode,
        });
    }
    match signal {
        Signal::Silent if status == Status::Success => {
            return Err(CompletionFault::SilentSuccess { qpn, wqe });
        }
        Signal::Own if status == Status::Success => return Ok(Entry::Own(handle)),
        Signal::Marker => return Ok(Entry::Own(handle)),
        // The consumer gets to see it after all.
        Signal::Own => qp.sq.own_signals = qp.sq.own_signals.saturating_sub(1),
        Signal::Silent | Signal::Consumer => {}
    }
    let fault = Fault::from_bits(completion.error_code.into());
    result.status = fault
        .and_then(|fault| local_status(opcode, status, fault))
        .unwrap_or_else(|| nt_status(status, completion.receive, context.remote_access_status));
    if status != Status::Success && context.error_codes {
        result.provider_error_code = completion.error_code;
    }
    if completion.receive && completion.invalidated {
        result.operation = OperationType::ReceiveAndInvalidate;
        result.type_specific_completion_output =
            RemoteToken::from_engine(completion.token).0.into();
    }
    Ok(Entry::Result(result))
}

/// Status of a request that concerns only this adapter and was refused for the object that it names, not for its
/// form: another state than the request needs, or a token that names no such thing (reading O8); another protection
/// domain (reading O18). A Bind refused for its tokens and bounds has the status of every local access.
fn local_status(opcode: WqeOpcode, status: Status, fault: Fault) -> Option<NtStatus> {
    match (opcode, status, fault) {
        (WqeOpcode::Bind, Status::Bind, Fault::State) => Some(NtStatus::INVALID_DEVICE_REQUEST),
        (WqeOpcode::FastRegister | WqeOpcode::Invalidate, Status::LocalQpOperation, fault) => {
            match fault {
                Fault::TokenIndex
                | Fault::TokenKey
                | Fault::Kind
                | Fault::State
                | Fault::QueuePair => Some(NtStatus::INVALID_DEVICE_REQUEST),
                Fault::Domain => Some(NtStatus::ACCESS_VIOLATION),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Status of a completion. `remote_access` is the one of a refusal by the peer (C11).
pub(super) fn nt_status(status: Status, receive: bool, remote_access: NtStatus) -> NtStatus {
    match status {
        Status::Success => NtStatus::SUCCESS,
        Status::LocalLength if receive => NtStatus::BUFFER_OVERFLOW,
        Status::LocalLength => NtStatus::DATA_OVERRUN,
        Status::LocalQpOperation => NtStatus::INTERNAL_ERROR,
        Status::LocalProtection | Status::Bind => NtStatus::ACCESS_VIOLATION,
        Status::Flushed => NtStatus::CANCELLED,
        Status::RemoteAccess => remote_access,
        Status::BadResponse | Status::RemoteInvalidRequest | Status::RemoteOperation => {
            NtStatus::REMOTE_RESOURCES
        }
        Status::RetryExceeded | Status::RnrRetryExceeded => NtStatus::IO_TIMEOUT,
    }
}
