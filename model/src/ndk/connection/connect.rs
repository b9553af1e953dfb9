//! The active side.

use std::net::SocketAddr;

use crate::cm::machine::{Connect, ReadLimits, Refusal};
use crate::cm::{REJ_PRIVATE, REQ_CONSUMER};
use crate::hal::Hal;
use crate::wire::Qpn;

use super::address::{canonical, same_version};
use super::connector::{Phase, Wishes};
use crate::ndk::adapter::{Provider, stale};
use crate::ndk::{Connector, NdkError, NtStatus, Qp, QpPhase, SharedEndpoint};

/// What a connector asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectRequest<'a> {
    /// Address and port of the listener.
    pub remote: SocketAddr,
    /// Reads that the peer may have outstanding here; capped at the adapter's limit.
    pub inbound_read_limit: u32,
    /// Reads outstanding to the peer; capped at the adapter's limit.
    pub outbound_read_limit: u32,
    /// What the peer's consumer is told; at most 56 bytes.
    pub private_data: &'a [u8],
}

impl<'a> ConnectRequest<'a> {
    /// To a listener, with 16 reads each way.
    pub fn to(remote: SocketAddr) -> Self {
        Self {
            remote,
            inbound_read_limit: 16,
            outbound_read_limit: 16,
            private_data: &[],
        }
    }
}

impl<H: Hal> Provider<H> {
    /// Asks a listener for a connection, from an address of this adapter (port 0: any port) that nobody else may use
    /// meanwhile. Returns `STATUS_PENDING`; [`Notification::Completed`](super::super::Notification::Completed) says
    /// whether the peer accepts. Then [`Provider::complete_connect`] makes the connection.
    ///
    /// Inline: `STATUS_CONNECTION_ACTIVE` if connector or queue pair are in use (reading O33),
    /// `STATUS_INVALID_BUFFER_SIZE` for too much private data, `STATUS_INVALID_ADDRESS`, `STATUS_SHARING_VIOLATION`,
    /// `STATUS_TOO_MANY_ADDRESSES`, `STATUS_ADDRESS_ALREADY_EXISTS` for the local address (NDK-CONN-9 to -11),
    /// `STATUS_NETWORK_UNREACHABLE` without a route. Completed: `STATUS_HOST_UNREACHABLE`, `STATUS_CONNECTION_REFUSED`,
    /// `STATUS_IO_TIMEOUT`; connector and queue pair can then be used again.
    #[doc(alias = "NdkConnect")]
    pub fn connect(
        &mut self,
        connector: Connector,
        qp: Qp,
        local: SocketAddr,
        request: &ConnectRequest<'_>,
        request_context: u64,
    ) -> Result<NtStatus, NdkError> {
        let remote = canonical(request.remote);
        let local = canonical(local);
        self.check_connect(connector, qp, local, request)?;
        let connections = self.connections()?;
        if !connections.addresses.contains(&local.ip()) {
            return Err(NtStatus::INVALID_ADDRESS.into());
        }
        if local.port() != 0 && connections.is_connected(local, remote) {
            return Err(NtStatus::ADDRESS_ALREADY_EXISTS.into());
        }
        let local = connections.ports.take(local)?;
        self.begin(connector, qp, local, request, request_context)?;
        Ok(NtStatus::PENDING)
    }

    /// As [`Provider::connect`], from the address of a shared endpoint (NDK-CONN-12).
    #[doc(alias = "NdkConnectWithSharedEndpoint")]
    pub fn connect_with_shared_endpoint(
        &mut self,
        connector: Connector,
        qp: Qp,
        endpoint: SharedEndpoint,
        request: &ConnectRequest<'_>,
        request_context: u64,
    ) -> Result<NtStatus, NdkError> {
        let remote = canonical(request.remote);
        let local = self.shared_endpoint_local_address(endpoint)?;
        self.check_connect(connector, qp, local, request)?;
        let connections = self.connections()?;
        if connections.is_connected(local, remote) {
            return Err(NtStatus::ADDRESS_ALREADY_EXISTS.into());
        }
        let object = connections.shared.get_mut(endpoint);
        object.ok_or(stale(endpoint))?.users += 1;
        connections.ports.hold(local);
        self.connector_mut(connector)?.shared = Some(endpoint);
        self.begin(connector, qp, local, request, request_context)?;
        Ok(NtStatus::PENDING)
    }

    /// Takes the peer's reply: the connection is there when this returns. `disconnect_event_context` asks for
    /// [`Notification::Disconnect`](super::super::Notification::Disconnect).
    ///
    /// `STATUS_CONNECTION_INVALID`: no connect has completed (NDK-CCON-2). `STATUS_CONNECTION_ABORTED`: the peer gave
    /// up (NDK-CCON-3).
    #[doc(alias = "NdkCompleteConnect")]
    #[doc(alias = "NdkCompleteConnectEx")]
    pub fn complete_connect(
        &mut self,
        connector: Connector,
        disconnect_event_context: Option<u64>,
    ) -> Result<(), NdkError> {
        let object = self.connector_mut(connector)?;
        let (Phase::Replied, Some(id)) = (object.phase, object.conversation) else {
            return Err(NtStatus::CONNECTION_INVALID.into());
        };
        object.disconnect_event = disconnect_event_context;
        let connections = self.connections()?;
        match connections.manager.complete(connections.now, id) {
            Ok(()) => {}
            Err(Refusal::GaveUp) => {
                self.abandon(connector)?;
                return Err(NtStatus::CONNECTION_ABORTED.into());
            }
            Err(_) => return Err(NtStatus::CONNECTION_INVALID.into()),
        }
        self.connected(connector)?;
        self.act()
    }

    /// What can be said before an address is taken.
    fn check_connect(
        &mut self,
        connector: Connector,
        qp: Qp,
        local: SocketAddr,
        request: &ConnectRequest<'_>,
    ) -> Result<(), NdkError> {
        let remote = canonical(request.remote);
        self.check_free(connector, qp, Phase::Idle)?;
        if request.private_data.len() > REQ_CONSUMER {
            return Err(NtStatus::INVALID_BUFFER_SIZE.into());
        }
        if !same_version(local.ip(), remote.ip()) {
            return Err(NtStatus::INVALID_ADDRESS.into());
        }
        let connections = self.connections()?;
        // The engine does not send to itself.
        if connections.addresses.contains(&remote.ip()) {
            return Err(NtStatus::HOST_UNREACHABLE.into());
        }
        if !connections.stack.has_route(remote.ip()) {
            return Err(NtStatus::NETWORK_UNREACHABLE.into());
        }
        Ok(())
    }

    /// Whether a connector is in a phase, and a queue pair free for it.
    pub(super) fn check_free(
        &self,
        connector: Connector,
        qp: Qp,
        phase: Phase,
    ) -> Result<(), NdkError> {
        let object = self.connector(connector)?;
        let queue_pair = self.qps.get(qp).ok_or(stale(qp))?;
        if queue_pair.phase == QpPhase::Error {
            return Err(NtStatus::INVALID_DEVICE_STATE.into());
        }
        let taken = queue_pair.connector.is_some() || queue_pair.phase != QpPhase::Idle;
        if object.phase != phase || object.closing || taken {
            return Err(NtStatus::CONNECTION_ACTIVE.into());
        }
        Ok(())
    }

    fn begin(
        &mut self,
        connector: Connector,
        qp: Qp,
        local: SocketAddr,
        request: &ConnectRequest<'_>,
        request_context: u64,
    ) -> Result<(), NdkError> {
        let remote = canonical(request.remote);
        let limits = self.capped(request.inbound_read_limit, request.outbound_read_limit);
        self.join(connector, qp)?;
        let connections = self.connections()?;
        let until = connections.now + connections.config.resolve_timeout;
        let known = connections.neighbour(remote.ip()).is_some();
        let object = self.connector_mut(connector)?;
        object.local = Some(local);
        object.holds = true;
        object.remote = Some(remote);
        object.agreed = None;
        object.request = Some(request_context);
        object.wishes = Some(Wishes {
            limits,
            private_data: request.private_data.to_vec(),
        });
        object.phase = Phase::Resolving { until };
        if known {
            return self.call(connector);
        }
        let connections = self.connections()?;
        connections.stack.probe(remote.ip());
        connections.waiting.push(connector);
        self.run_stack()
    }

    /// A connector and a queue pair belong together from now on.
    pub(super) fn join(&mut self, connector: Connector, qp: Qp) -> Result<(), NdkError> {
        let object = self.qps.get_mut(qp).ok_or(stale(qp))?;
        object.connector = Some(connector);
        object.phase = QpPhase::Connecting;
        self.connector_mut(connector)?.qp = Some(qp);
        Ok(())
    }

    /// Limits that the adapter agrees to.
    pub(super) fn capped(&self, inbound: u32, outbound: u32) -> ReadLimits {
        ReadLimits {
            inbound: inbound.min(self.caps.max_ird.into()) as u8,
            outbound: outbound.min(self.caps.max_ord.into()) as u8,
        }
    }

    /// Sends the request, now that the neighbour is known.
    pub(super) fn call(&mut self, connector: Connector) -> Result<(), NdkError> {
        let object = self.connector_mut(connector)?;
        let (Some(local), Some(remote), Some(qp)) = (object.local, object.remote, object.qp) else {
            return Ok(());
        };
        let Some(wishes) = object.wishes.take() else {
            return Ok(());
        };
        object.phase = Phase::Connecting;
        let qpn = Qpn::new(self.qp_number(qp)?);
        let connections = self.connections()?;
        let config = connections.config;
        let connect = Connect {
            local,
            remote,
            qpn,
            limits: wishes.limits,
            path_mtu: config.path_mtu as u8,
            retry_count: config.retry_count.min(7),
            rnr_retry_count: config.rnr_retry_count.min(7),
            traffic_class: 0,
            hop_limit: 64,
            private_data: &wishes.private_data,
        };
        let conversation = connections.manager.connect(connections.now, &connect);
        // The length was checked at the call.
        let id = conversation.map_err(|_| NtStatus::INVALID_BUFFER_SIZE)?;
        connections.conversations.insert(id, connector);
        self.connector_mut(connector)?.conversation = Some(id);
        self.act()
    }

    /// A connect came to nothing: connector, queue pair and address are free again.
    pub(super) fn connect_failed(
        &mut self,
        connector: Connector,
        status: NtStatus,
    ) -> Result<(), NdkError> {
        self.abandon(connector)?;
        let object = self.connector_mut(connector)?;
        object.phase = Phase::Idle;
        let shared = object.shared.take();
        let held = object.local.filter(|_| std::mem::take(&mut object.holds));
        if let Some(local) = held {
            self.connections()?.ports.release(local);
        }
        if let Some(endpoint) = shared {
            self.leave_shared_endpoint(endpoint)?;
        }
        self.complete_request(connector, status);
        Ok(())
    }

    /// The conversation is over before there was a connection.
    pub(super) fn abandon(&mut self, connector: Connector) -> Result<(), NdkError> {
        let object = self.connector_mut(connector)?;
        object.phase = Phase::Dead;
        let conversation = object.conversation.take();
        let connections = self.connections()?;
        if let Some(id) = conversation {
            connections.manager.close(connections.now, id);
        }
        self.act()?;
        if let Some(id) = conversation {
            self.connections()?.conversations.remove(&id);
        }
        self.leave_qp_of(connector)
    }

    /// The connection is made.
    pub(super) fn connected(&mut self, connector: Connector) -> Result<(), NdkError> {
        let object = self.connector_mut(connector)?;
        object.phase = Phase::Connected;
        if let Some(qp) = object.qp
            && let Some(object) = self.qps.get_mut(qp)
            && object.phase == QpPhase::Connecting
        {
            object.phase = QpPhase::Connected;
        }
        Ok(())
    }

    /// Rejects: on the passive side a request, on the active side a reply (NDK-REJ-1). The connector can then only be
    /// closed.
    ///
    /// `STATUS_INVALID_BUFFER_SIZE`: more than 148 bytes. `STATUS_CONNECTION_INVALID`: there is nothing to reject.
    /// `STATUS_CONNECTION_ABORTED`: the peer gave up meanwhile (NDK-REJ-3).
    #[doc(alias = "NdkReject")]
    pub fn reject(&mut self, connector: Connector, private_data: &[u8]) -> Result<(), NdkError> {
        if private_data.len() > REJ_PRIVATE {
            return Err(NtStatus::INVALID_BUFFER_SIZE.into());
        }
        let object = self.connector(connector)?;
        let (Phase::Replied | Phase::Incoming, Some(id)) = (object.phase, object.conversation)
        else {
            return Err(NtStatus::CONNECTION_INVALID.into());
        };
        let connections = self.connections()?;
        let outcome = connections
            .manager
            .reject(connections.now, id, private_data);
        self.abandon(connector)?;
        outcome.map_err(|_| NtStatus::CONNECTION_ABORTED.into())
    }
}
