//! Listeners.

use std::net::SocketAddr;

use crate::hal::Hal;

use super::address::{canonical, put_sockaddr};
use crate::ndk::adapter::{Provider, stale};
use crate::ndk::{
    Endpoint, EndpointKind, EndpointOwner, Listener, NdkError, Notification, NtStatus, Object,
};

/// A listener.
pub(super) struct ListenerObject {
    pub(super) context: u64,
    /// Where it listens, once it does.
    pub(super) local: Option<SocketAddr>,
    /// Connectors that it delivered and that are open.
    pub(super) delivered: u32,
    pub(super) closing: bool,
}

impl<H: Hal> Provider<H> {
    /// Creates a listener. `connect_event_context` comes back in its [`Notification::Connect`]s.
    #[doc(alias = "NdkCreateListener")]
    pub fn create_listener(&mut self, connect_event_context: u64) -> Result<Listener, NdkError> {
        let object = ListenerObject {
            context: connect_event_context,
            local: None,
            delivered: 0,
            closing: false,
        };
        let listener = self.connections()?.listeners.insert(object);
        listener.ok_or(NtStatus::INSUFFICIENT_RESOURCES.into())
    }

    /// Begins to listen (NDK-LSTN-1). Port 0 asks for any port.
    ///
    /// `STATUS_INVALID_ADDRESS`: not an address of the adapter. `STATUS_SHARING_VIOLATION`: the endpoint is held.
    /// `STATUS_TOO_MANY_ADDRESSES`: no port is left (NDK-LSTN-2). `STATUS_INVALID_DEVICE_STATE`: it listens already.
    #[doc(alias = "NdkListen")]
    pub fn listen(&mut self, listener: Listener, address: SocketAddr) -> Result<(), NdkError> {
        let address = canonical(address);
        let connections = self.connections()?;
        let object = connections.listeners.get_mut(listener);
        let object = object.ok_or(stale(listener))?;
        if object.local.is_some() || object.closing {
            return Err(NtStatus::INVALID_DEVICE_STATE.into());
        }
        if !connections.addresses.contains(&address.ip()) {
            return Err(NtStatus::INVALID_ADDRESS.into());
        }
        let local = connections.ports.take(address)?;
        object.local = Some(local);
        connections.manager.listen(local);
        self.endpoints.push(listener_endpoint(local));
        Ok(())
    }

    /// From now on requests are treated as if nobody listened (NDK-LSTN-3).
    #[doc(alias = "NdkControlConnectEvents")]
    pub fn pause_connect_events(&mut self, listener: Listener) -> Result<(), NdkError> {
        let connections = self.connections()?;
        let object = connections.listeners.get(listener);
        if let Some(local) = object.ok_or(stale(listener))?.local {
            connections.manager.stop_listening(local);
        }
        Ok(())
    }

    /// Requests are delivered again (NDK-LSTN-4).
    #[doc(alias = "NdkControlConnectEvents")]
    pub fn resume_connect_events(&mut self, listener: Listener) -> Result<(), NdkError> {
        let connections = self.connections()?;
        let object = connections.listeners.get(listener);
        let object = object.ok_or(stale(listener))?;
        if let Some(local) = object.local.filter(|_| !object.closing) {
            connections.manager.listen(local);
        }
        Ok(())
    }

    /// Where it listens. `STATUS_INVALID_DEVICE_STATE`: nowhere yet.
    #[doc(alias = "NdkGetLocalAddress")]
    pub fn listener_local_address(&mut self, listener: Listener) -> Result<SocketAddr, NdkError> {
        let object = self.connections()?.listeners.get(listener);
        let local = object.ok_or(stale(listener))?.local;
        local.ok_or(NtStatus::INVALID_DEVICE_STATE.into())
    }

    /// The same into a buffer: the bytes written, or `STATUS_BUFFER_TOO_SMALL` with the bytes needed (NDK-ADDR-1, -2).
    pub fn listener_local_address_into(
        &mut self,
        listener: Listener,
        buffer: &mut [u8],
    ) -> Result<(NtStatus, usize), NdkError> {
        Ok(put_sockaddr(self.listener_local_address(listener)?, buffer))
    }

    /// Closes a listener: from now on nothing more is delivered (NDK-OBJ-11). `STATUS_PENDING` as long as connectors that it
    /// delivered are open (NDK-EPT-5).
    #[doc(alias = "NdkCloseListener")]
    pub fn close_listener(&mut self, listener: Listener) -> Result<NtStatus, NdkError> {
        let connections = self.connections()?;
        let object = connections.listeners.get_mut(listener);
        let object = object.ok_or(stale(listener))?;
        if !std::mem::replace(&mut object.closing, true)
            && let Some(local) = object.local
        {
            connections.manager.stop_listening(local);
            connections.ports.release(local);
            let gone = listener_endpoint(local);
            self.endpoints.retain(|endpoint| *endpoint != gone);
        }
        Ok(match self.reap_listener(listener)? {
            true => NtStatus::SUCCESS,
            false => NtStatus::PENDING,
        })
    }

    /// A connector that a listener delivered is closed.
    pub(super) fn leave_listener(&mut self, listener: Listener) -> Result<(), NdkError> {
        if let Some(object) = self.connections()?.listeners.get_mut(listener) {
            object.delivered = object.delivered.saturating_sub(1);
            if object.closing && self.reap_listener(listener)? {
                let closed = Notification::Closed(Object::Listener(listener));
                self.notifications.push(closed);
            }
        }
        Ok(())
    }

    /// Removes a listener that nothing holds; whether it did.
    fn reap_listener(&mut self, listener: Listener) -> Result<bool, NdkError> {
        let listeners = &mut self.connections()?.listeners;
        let free = listeners
            .get(listener)
            .is_some_and(|object| object.delivered == 0);
        if free {
            listeners.remove(listener);
        }
        Ok(free)
    }
}

fn listener_endpoint(local: SocketAddr) -> Endpoint {
    Endpoint {
        local,
        tcp_port: local.port(),
        kind: EndpointKind::Listener,
        owner: EndpointOwner::Kernel,
    }
}
