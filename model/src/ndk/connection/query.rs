//! What a connector can be asked.

use std::net::SocketAddr;

use crate::hal::Hal;

use super::Connections;
use super::address::put_sockaddr;
use super::connector::Phase;
use crate::ndk::adapter::Provider;
use crate::ndk::{Connector, NdkError, NtStatus};

/// What a peer said, and what was agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionData {
    /// Reads that the peer may have outstanding here.
    pub inbound_read_limit: u32,
    /// Reads outstanding to the peer.
    pub outbound_read_limit: u32,
    /// Private data of its connect, accept or reject. How long it was is not told by the wire: it is filled with zeros to
    /// 56, 196 or 148 bytes.
    pub private_data: Vec<u8>,
}

impl<H: Hal> Provider<H> {
    /// What the peer said, and the limits in effect (NDK-GCD-4, NDK-CONN-4). `STATUS_CONNECTION_INVALID`: it has said nothing.
    #[doc(alias = "NdkGetConnectionData")]
    pub fn connection_data(&self, connector: Connector) -> Result<ConnectionData, NdkError> {
        let agreed = self.connector(connector)?.agreed.as_ref();
        let agreed = agreed.ok_or(NtStatus::CONNECTION_INVALID)?;
        Ok(ConnectionData {
            inbound_read_limit: agreed.limits.inbound.into(),
            outbound_read_limit: agreed.limits.outbound.into(),
            private_data: agreed.private_data.clone(),
        })
    }

    /// Its private data into a buffer, as much as fits: the status, and the bytes that there are. An empty buffer asks
    /// for no more than that (NDK-GCD-1 to -3).
    pub fn connection_data_into(
        &self,
        connector: Connector,
        buffer: &mut [u8],
    ) -> Result<(NtStatus, usize), NdkError> {
        let data = self.connection_data(connector)?.private_data;
        let short = !buffer.is_empty() && buffer.len() < data.len();
        buffer
            .iter_mut()
            .zip(&data)
            .for_each(|(to, from)| *to = *from);
        let status = if short {
            NtStatus::BUFFER_TOO_SMALL
        } else {
            NtStatus::SUCCESS
        };
        Ok((status, data.len()))
    }

    /// Its address and port (NDK-ADDR-3). `STATUS_CONNECTION_INVALID`: it has none yet.
    #[doc(alias = "NdkGetLocalAddress")]
    pub fn local_address(&self, connector: Connector) -> Result<SocketAddr, NdkError> {
        let local = self.connector(connector)?.local;
        local.ok_or(NtStatus::CONNECTION_INVALID.into())
    }

    /// The same into a buffer: the bytes written, or `STATUS_BUFFER_TOO_SMALL` with the bytes needed (NDK-ADDR-1, -2).
    pub fn local_address_into(
        &self,
        connector: Connector,
        buffer: &mut [u8],
    ) -> Result<(NtStatus, usize), NdkError> {
        Ok(put_sockaddr(self.local_address(connector)?, buffer))
    }

    /// Address and port of the peer. `STATUS_CONNECTION_INVALID`: there is none yet.
    #[doc(alias = "NdkGetPeerAddress")]
    pub fn peer_address(&self, connector: Connector) -> Result<SocketAddr, NdkError> {
        let remote = self.connector(connector)?.remote;
        remote.ok_or(NtStatus::CONNECTION_INVALID.into())
    }

    /// The same into a buffer: the bytes written, or `STATUS_BUFFER_TOO_SMALL` with the bytes needed (NDK-ADDR-1, -2).
    pub fn peer_address_into(
        &self,
        connector: Connector,
        buffer: &mut [u8],
    ) -> Result<(NtStatus, usize), NdkError> {
        Ok(put_sockaddr(self.peer_address(connector)?, buffer))
    }

    /// Local and remote address of all connections (NDK-CNX-5).
    pub fn active_connections(&self) -> Vec<(SocketAddr, SocketAddr)> {
        let connections = self.connections.as_deref();
        connections.map_or_else(Vec::new, |connections| {
            connections
                .connectors
                .values()
                .filter(|object| object.phase == Phase::Connected)
                .filter_map(|object| Some((object.local?, object.remote?)))
                .collect()
        })
    }
}

impl Connections {
    /// Whether a connector is between these two (NDK-CONN-11).
    pub(super) fn is_connected(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.connectors.values().any(|object| {
            object.holds && (object.local, object.remote) == (Some(local), Some(remote))
        })
    }
}
