//! Shared endpoints: one local address and port for many connections.

use std::net::SocketAddr;

use crate::hal::Hal;

use super::address::{canonical, put_sockaddr};
use crate::ndk::adapter::{Provider, stale};
use crate::ndk::{
    Endpoint, EndpointKind, EndpointOwner, NdkError, Notification, NtStatus, Object, SharedEndpoint,
};

/// A shared endpoint.
pub(super) struct SharedEndpointObject {
    pub(super) local: SocketAddr,
    /// Connectors over it that are open.
    pub(super) users: u32,
    pub(super) closing: bool,
}

impl<H: Hal> Provider<H> {
    /// Creates a shared endpoint. Port 0 asks for any port.
    ///
    /// `STATUS_INVALID_ADDRESS`: not an address of the adapter. `STATUS_SHARING_VIOLATION`: the endpoint is held.
    /// `STATUS_TOO_MANY_ADDRESSES`: no port is left.
    #[doc(alias = "NdkCreateSharedEndpoint")]
    pub fn create_shared_endpoint(
        &mut self,
        address: SocketAddr,
    ) -> Result<SharedEndpoint, NdkError> {
        let address = canonical(address);
        let connections = self.connections()?;
        if !connections.addresses.contains(&address.ip()) {
            return Err(NtStatus::INVALID_ADDRESS.into());
        }
        let local = connections.ports.take(address)?;
        let endpoint = connections.shared.insert(SharedEndpointObject {
            local,
            users: 0,
            closing: false,
        });
        self.endpoints.push(shared_endpoint(local));
        endpoint.ok_or(NtStatus::INSUFFICIENT_RESOURCES.into())
    }

    /// Its address and port.
    #[doc(alias = "NdkGetLocalAddress")]
    pub fn shared_endpoint_local_address(
        &mut self,
        endpoint: SharedEndpoint,
    ) -> Result<SocketAddr, NdkError> {
        let object = self.connections()?.shared.get(endpoint);
        Ok(object.ok_or(stale(endpoint))?.local)
    }

    /// The same into a buffer: the bytes written, or `STATUS_BUFFER_TOO_SMALL` with the bytes needed (NDK-ADDR-1, -2).
    pub fn shared_endpoint_local_address_into(
        &mut self,
        endpoint: SharedEndpoint,
        buffer: &mut [u8],
    ) -> Result<(NtStatus, usize), NdkError> {
        let address = self.shared_endpoint_local_address(endpoint)?;
        Ok(put_sockaddr(address, buffer))
    }

    /// Closes a shared endpoint. `STATUS_PENDING` as long as connectors over it are open (NDK-EPT-5).
    #[doc(alias = "NdkCloseSharedEndpoint")]
    pub fn close_shared_endpoint(
        &mut self,
        endpoint: SharedEndpoint,
    ) -> Result<NtStatus, NdkError> {
        let connections = self.connections()?;
        let object = connections.shared.get_mut(endpoint);
        let object = object.ok_or(stale(endpoint))?;
        if !std::mem::replace(&mut object.closing, true) {
            let gone = shared_endpoint(object.local);
            connections.ports.release(object.local);
            self.endpoints.retain(|endpoint| *endpoint != gone);
        }
        Ok(match self.reap_shared_endpoint(endpoint)? {
            true => NtStatus::SUCCESS,
            false => NtStatus::PENDING,
        })
    }

    /// A connector over a shared endpoint is closed.
    pub(super) fn leave_shared_endpoint(
        &mut self,
        endpoint: SharedEndpoint,
    ) -> Result<(), NdkError> {
        if let Some(object) = self.connections()?.shared.get_mut(endpoint) {
            object.users = object.users.saturating_sub(1);
            if object.closing && self.reap_shared_endpoint(endpoint)? {
                let closed = Notification::Closed(Object::SharedEndpoint(endpoint));
                self.notifications.push(closed);
            }
        }
        Ok(())
    }

    /// Removes a shared endpoint that nothing holds; whether it did.
    fn reap_shared_endpoint(&mut self, endpoint: SharedEndpoint) -> Result<bool, NdkError> {
        let shared = &mut self.connections()?.shared;
        let free = shared.get(endpoint).is_some_and(|object| object.users == 0);
        if free {
            shared.remove(endpoint);
        }
        Ok(free)
    }
}

fn shared_endpoint(local: SocketAddr) -> Endpoint {
    Endpoint {
        local,
        tcp_port: local.port(),
        kind: EndpointKind::SharedEndpoint,
        owner: EndpointOwner::Kernel,
    }
}
