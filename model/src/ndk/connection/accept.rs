//! The passive side.

use crate::cm::REP_PRIVATE;
use crate::cm::RejectReason;
use crate::cm::machine::{Accept, Failure, Refusal};
use crate::hal::Hal;
use crate::wire::Qpn;

use super::connector::Phase;
use crate::ndk::adapter::Provider;
use crate::ndk::{Connector, NdkError, NtStatus, Qp};

/// How a request is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptParameters<'a> {
    /// Reads that the peer may have outstanding here; capped at the adapter's limit.
    pub inbound_read_limit: u32,
    /// Reads outstanding to the peer; capped at the adapter's limit.
    pub outbound_read_limit: u32,
    /// What the peer's consumer is told; at most 196 bytes.
    pub private_data: &'a [u8],
    /// Asks for [`Notification::Disconnect`](super::super::Notification::Disconnect) with this context.
    pub disconnect_event_context: Option<u64>,
}

impl Default for AcceptParameters<'_> {
    /// 16 reads each way, no private data, no event.
    fn default() -> Self {
        Self {
            inbound_read_limit: 16,
            outbound_read_limit: 16,
            private_data: &[],
            disconnect_event_context: None,
        }
    }
}

impl<H: Hal> Provider<H> {
    /// Accepts a request. Returns `STATUS_PENDING`; [`Notification::Completed`](super::super::Notification::Completed)
    /// says when the connection is made: `STATUS_CONNECTION_ABORTED` if the peer gave up (NDK-ACC-3),
    /// `STATUS_CONNECTION_REFUSED` if it rejected (C35), `STATUS_IO_TIMEOUT` if it never completed (NDK-ACC-4).
    ///
    /// Inline: `STATUS_CONNECTION_ACTIVE` if the queue pair is in use or the connector has no request;
    /// `STATUS_INVALID_BUFFER_SIZE` for too much private data; `STATUS_CONNECTION_ABORTED`.
    #[doc(alias = "NdkAccept")]
    #[doc(alias = "NdkAcceptEx")]
    pub fn accept(
        &mut self,
        connector: Connector,
        qp: Qp,
        parameters: &AcceptParameters<'_>,
        request_context: u64,
    ) -> Result<NtStatus, NdkError> {
        self.check_free(connector, qp, Phase::Incoming)?;
        if parameters.private_data.len() > REP_PRIVATE {
            return Err(NtStatus::INVALID_BUFFER_SIZE.into());
        }
        let Some(id) = self.connector(connector)?.conversation else {
            return Err(NtStatus::CONNECTION_ACTIVE.into());
        };
        let qpn = Qpn::new(self.qp_number(qp)?);
        let limits = self.capped(
            parameters.inbound_read_limit,
            parameters.outbound_read_limit,
        );
        let connections = self.connections()?;
        let accept = Accept {
            qpn,
            limits,
            rnr_retry_count: connections.config.rnr_retry_count.min(7),
            private_data: parameters.private_data,
        };
        match connections.manager.accept(connections.now, id, &accept) {
            Ok(()) => {}
            Err(Refusal::GaveUp) => {
                self.abandon(connector)?;
                return Err(NtStatus::CONNECTION_ABORTED.into());
            }
            Err(_) => return Err(NtStatus::CONNECTION_ACTIVE.into()),
        }
        self.join(connector, qp)?;
        let object = self.connector_mut(connector)?;
        object.phase = Phase::Accepting;
        object.request = Some(request_context);
        object.disconnect_event = parameters.disconnect_event_context;
        if let Some(agreed) = &mut object.agreed {
            agreed.limits = agreed.limits.min(limits);
        }
        self.act()?;
        Ok(NtStatus::PENDING)
    }
}

/// The status of a connect that failed.
pub(super) fn connect_status(failure: Failure) -> NtStatus {
    match failure {
        Failure::TimedOut | Failure::GaveUp => NtStatus::IO_TIMEOUT,
        Failure::Rejected { reason, .. } => match reason {
            RejectReason::INVALID_GID => NtStatus::HOST_UNREACHABLE,
            _ => NtStatus::CONNECTION_REFUSED,
        },
    }
}

/// The status of an accept that failed.
pub(super) fn accept_status(failure: Failure) -> NtStatus {
    match failure {
        Failure::TimedOut => NtStatus::IO_TIMEOUT,
        Failure::GaveUp => NtStatus::CONNECTION_ABORTED,
        Failure::Rejected { .. } => NtStatus::CONNECTION_REFUSED,
    }
}
