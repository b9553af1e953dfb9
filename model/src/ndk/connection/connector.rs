//! Connectors: what they are, and how they are closed.

use std::net::SocketAddr;
use std::time::Duration;

use crate::cm::CommId;
use crate::cm::machine::ReadLimits;
use crate::hal::Hal;

use crate::ndk::adapter::{Provider, stale};
use crate::ndk::{
    Connector, Listener, NdkError, Notification, NtStatus, Object, Qp, QpPhase, SharedEndpoint,
};

/// Where a connector is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing has begun, or what had begun came to nothing.
    Idle,
    /// Active side: the neighbour is looked for.
    Resolving {
        /// When it is given up.
        until: Duration,
    },
    /// Active side: the request is under way.
    Connecting,
    /// Active side: the peer accepted.
    Replied,
    /// Passive side: a request came.
    Incoming,
    /// Passive side: the reply is under way.
    Accepting,
    /// Connected, or was until the connection broke.
    Connected,
    /// The consumer disconnects.
    Disconnecting {
        /// How the handshake ended, once it has.
        outcome: Option<NtStatus>,
    },
    /// Nothing can be done with it any more but close it.
    Dead,
}

/// What a request brings to its conversation, while the neighbour is looked for.
pub(super) struct Wishes {
    pub(super) limits: ReadLimits,
    pub(super) private_data: Vec<u8>,
}

/// What the peer said, and what was agreed on.
pub(super) struct Agreed {
    pub(super) limits: ReadLimits,
    pub(super) private_data: Vec<u8>,
}

/// A connector.
pub(in crate::ndk) struct ConnectorObject {
    pub(super) phase: Phase,
    pub(super) conversation: Option<CommId>,
    pub(super) qp: Option<Qp>,
    pub(super) local: Option<SocketAddr>,
    pub(super) remote: Option<SocketAddr>,
    pub(super) listener: Option<Listener>,
    pub(super) shared: Option<SharedEndpoint>,
    /// Whether it holds `local`.
    pub(super) holds: bool,
    pub(super) wishes: Option<Wishes>,
    pub(super) agreed: Option<Agreed>,
    /// Context of the connect, accept or disconnect that is not complete.
    pub(super) request: Option<u64>,
    /// Context of the disconnect event, if the consumer wants it.
    pub(super) disconnect_event: Option<u64>,
    /// Whether the consumer was told of the end, or asked for it.
    pub(super) told: bool,
    pub(super) closing: bool,
}

impl ConnectorObject {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Idle,
            conversation: None,
            qp: None,
            local: None,
            remote: None,
            listener: None,
            shared: None,
            holds: false,
            wishes: None,
            agreed: None,
            request: None,
            disconnect_event: None,
            told: false,
            closing: false,
        }
    }
}

impl<H: Hal> Provider<H> {
    /// Creates a connector.
    #[doc(alias = "NdkCreateConnector")]
    pub fn create_connector(&mut self) -> Result<Connector, NdkError> {
        let connectors = &mut self.connections()?.connectors;
        let connector = connectors.insert(ConnectorObject::new());
        connector.ok_or(NtStatus::INSUFFICIENT_RESOURCES.into())
    }

    /// Closes a connector in whatever state it is. A request that was not accepted is rejected (reading O32); a
    /// connection is broken off, if it was not disconnected; a call that is pending ends with `STATUS_CANCELLED`.
    ///
    /// `STATUS_PENDING` as long as requests of its queue pair are outstanding: [`Notification::Closed`] says when no
    /// memory of theirs is touched any more.
    #[doc(alias = "NdkCloseConnector")]
    pub fn close_connector(&mut self, connector: Connector) -> Result<NtStatus, NdkError> {
        let object = self.connector_mut(connector)?;
        if std::mem::replace(&mut object.closing, true) {
            return Ok(NtStatus::PENDING);
        }
        object.told = true;
        // Its completion comes before that of the close.
        let calling = object.request.is_some();
        let (conversation, remote) = (object.conversation.take(), object.remote);
        object.phase = Phase::Dead;
        let connections = self.connections()?;
        if let Some(id) = conversation {
            connections.manager.close(connections.now, id);
        }
        if let Some(remote) = remote {
            connections.stop_looking(remote.ip());
        }
        // Before the conversation is forgotten: its queue pair has to be stopped.
        self.act()?;
        if let Some(id) = conversation {
            self.connections()?.conversations.remove(&id);
        }
        self.complete_request(connector, NtStatus::CANCELLED);
        // What was to be told of the connector and has not been fetched is of no interest any more.
        self.notifications.retain(|told| {
            !matches!(told, Notification::Disconnect { connector: gone, .. } if *gone == connector)
        });
        if !calling && self.reap_connector(connector)? {
            return Ok(NtStatus::SUCCESS);
        }
        self.connections()?.waiting.push(connector);
        Ok(NtStatus::PENDING)
    }

    pub(super) fn connector(&self, connector: Connector) -> Result<&ConnectorObject, NdkError> {
        let connections = self.connections.as_deref();
        let connections = connections.ok_or(NtStatus::NOT_SUPPORTED)?;
        connections
            .connectors
            .get(connector)
            .ok_or(stale(connector))
    }

    pub(super) fn connector_mut(
        &mut self,
        connector: Connector,
    ) -> Result<&mut ConnectorObject, NdkError> {
        let object = self.connections()?.connectors.get_mut(connector);
        object.ok_or(stale(connector))
    }

    /// Completes the call that is pending, if there is one.
    pub(super) fn complete_request(&mut self, connector: Connector, status: NtStatus) {
        let Ok(object) = self.connector_mut(connector) else {
            return;
        };
        if let Some(request_context) = object.request.take() {
            self.notifications.push(Notification::Completed {
                request_context,
                status,
            });
        }
    }

    /// Removes a closing connector whose queue pair is at rest; whether it did.
    pub(super) fn reap_connector(&mut self, connector: Connector) -> Result<bool, NdkError> {
        let qp = self.connector(connector)?.qp;
        if let Some(qp) = qp
            && !self.is_at_rest(qp)?
        {
            return Ok(false);
        }
        self.leave_qp_of(connector)?;
        let Some(object) = self.connections()?.connectors.remove(connector) else {
            return Ok(true);
        };
        if let Some(local) = object.local.filter(|_| object.holds) {
            self.connections()?.ports.release(local);
        }
        if let Some(listener) = object.listener {
            self.leave_listener(listener)?;
        }
        if let Some(endpoint) = object.shared {
            self.leave_shared_endpoint(endpoint)?;
        }
        Ok(true)
    }

    /// Tells that a connector is closed.
    pub(super) fn notify_closed(&mut self, connector: Connector) {
        let closed = Notification::Closed(Object::Connector(connector));
        self.notifications.push(closed);
    }

    /// Gives the queue pair of a connector free: for another connection if it was not ready for this one.
    pub(super) fn leave_qp_of(&mut self, connector: Connector) -> Result<(), NdkError> {
        let object = self.connector_mut(connector)?;
        let qp = object.qp.take();
        if let Some(object) = qp.and_then(|qp| self.qps.get_mut(qp)) {
            object.connector = None;
            if object.phase == QpPhase::Connecting {
                object.phase = QpPhase::Idle;
            }
        }
        Ok(())
    }

    /// Whether a queue pair touches no memory any more. One that was never ready does not.
    pub(super) fn is_at_rest(&mut self, qp: Qp) -> Result<bool, NdkError> {
        let Some(object) = self.qps.get(qp) else {
            return Ok(true);
        };
        if object.phase != QpPhase::Error {
            return Ok(true);
        }
        let (receive, initiator) = (object.receive_cq, object.initiator_cq);
        self.absorb(receive)?;
        self.absorb(initiator)?;
        let dead = self.cq_is_dead(receive) || self.cq_is_dead(initiator);
        Ok(dead || self.qps.get(qp).is_none_or(|object| object.is_done()))
    }
}
