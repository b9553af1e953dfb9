//! The end of a connection.

use crate::hal::Hal;

use super::connector::Phase;
use crate::ndk::adapter::Provider;
use crate::ndk::{Connector, NdkError, Notification, NtStatus, Qp, QpPhase};

impl<H: Hal> Provider<H> {
    /// Disconnects: tells the peer, and cancels what is posted on the queue pair (NDK-DISC-1, -5). Returns `STATUS_PENDING`;
    /// [`Notification::Completed`] comes when the peer's consumer has disconnected too and no memory is touched any more
    /// (NDK-DISC-2, -4): `STATUS_IO_TIMEOUT` if the peer does not answer, `STATUS_CONNECTION_ABORTED` if it broke
    /// off (NDK-DISC-3). The queue pair and the connector can then only be closed (NDK-DISC-7).
    ///
    /// Inline: `STATUS_CONNECTION_INVALID` without a connection.
    #[doc(alias = "NdkDisconnect")]
    pub fn disconnect(
        &mut self,
        connector: Connector,
        request_context: u64,
    ) -> Result<NtStatus, NdkError> {
        let object = self.connector_mut(connector)?;
        let (Phase::Connected, Some(id)) = (object.phase, object.conversation) else {
            return Err(NtStatus::CONNECTION_INVALID.into());
        };
        object.request = Some(request_context);
        object.told = true;
        object.phase = Phase::Disconnecting { outcome: None };
        let connections = self.connections()?;
        let outcome = connections.manager.disconnect(connections.now, id);
        if outcome.is_err() {
            // It broke before.
            self.connector_mut(connector)?.phase = Phase::Disconnecting {
                outcome: Some(NtStatus::CONNECTION_ABORTED),
            };
        }
        // Stops the queue pair, if it was not stopped before.
        self.act()?;
        self.connections()?.waiting.push(connector);
        self.settle_disconnect(connector)?;
        Ok(NtStatus::PENDING)
    }

    /// Completes a disconnect if the handshake is over and the queue pair is at rest.
    pub(super) fn settle_disconnect(&mut self, connector: Connector) -> Result<(), NdkError> {
        let object = self.connector(connector)?;
        let (
            Phase::Disconnecting {
                outcome: Some(status),
            },
            qp,
        ) = (object.phase, object.qp)
        else {
            return Ok(());
        };
        if let Some(qp) = qp
            && !self.is_at_rest(qp)?
        {
            return Ok(());
        }
        self.connector_mut(connector)?.phase = Phase::Dead;
        self.complete_request(connector, status);
        Ok(())
    }

    /// The consumer is told, once, that the connection ends or has ended (NDK-DEV-1), unless it asked for it.
    pub(super) fn tell_disconnect(&mut self, connector: Connector) -> Result<(), NdkError> {
        let object = self.connector_mut(connector)?;
        if std::mem::replace(&mut object.told, true) {
            return Ok(());
        }
        if let Some(context) = object.disconnect_event {
            self.notifications.push(Notification::Disconnect {
                connector,
                context,
                reason: 0,
            });
        }
        Ok(())
    }

    /// Puts a queue pair that was ready into the error state. In one that has failed, what was held back is cancelled too.
    pub(super) fn stop_qp(&mut self, qp: Qp) -> Result<(), NdkError> {
        match self.qps.get(qp) {
            Some(object) if object.phase != QpPhase::Error => self.flush(qp),
            Some(_) => self.indicate(qp),
            None => Ok(()),
        }
    }

    /// A queue pair failed: if it was connected its connection is broken.
    pub(in crate::ndk) fn connection_failed(&mut self, qp: Qp) -> Result<(), NdkError> {
        let connector = self.qps.get(qp).and_then(|object| object.connector);
        let Some(connector) = connector else {
            return Ok(());
        };
        if self.connector(connector)?.phase == Phase::Connected {
            self.tell_disconnect(connector)?;
        }
        Ok(())
    }
}
