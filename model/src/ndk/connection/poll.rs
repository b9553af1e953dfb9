//! What happens as time passes.

use std::net::IpAddr;
use std::time::Duration;

use crate::cm::machine::{Action, Event, Failure, Path, QpAttributes, ReadLimits, Requested};
use crate::cm::{CommId, Datagram, Mad};
use crate::hal::Hal;
use crate::wire::{DropCause, Eth, Frame, Ip, Psn, Qpn, source_port};

use super::Connections;
use super::accept::{accept_status, connect_status};
use super::connector::{Agreed, ConnectorObject, Phase};
use crate::ndk::adapter::Provider;
use crate::ndk::bench::{ConnectParameters, PathMtu};
use crate::ndk::{Connector, Listener, NdkError, Notification, NtStatus, Object, Qp, QpPhase};

impl<H: Hal> Provider<H> {
    /// What has happened, and what time it is: since any moment that all calls agree on. Does what
    /// [`Provider::poll_events`] does, takes frames that came for connection management, and sends what is due.
    /// Until the next call the provider takes this time for that of all its calls.
    pub fn poll(&mut self, now: Duration) -> Result<Vec<Notification>, NdkError> {
        if self.connections.is_some() {
            let connections = self.connections()?;
            connections.now = connections.now.max(now);
            self.take_frames()?;
            let connections = self.connections()?;
            connections.manager.poll(connections.now);
            self.act()?;
            self.run_stack()?;
        }
        self.take_events_if_any()?;
        if self.connections.is_some() {
            self.act()?;
            self.settle_waiting()?;
        }
        self.finish_poll()
    }

    /// When [`Provider::poll`] should be called next at the latest, if nothing comes in and nothing is called; `None` if
    /// connection management waits for nothing.
    pub fn next_deadline(&mut self) -> Option<Duration> {
        let connections = self.connections.as_deref_mut()?;
        let resolving = connections.waiting.iter().filter_map(|connector| {
            match connections.connectors.get(*connector)?.phase {
                Phase::Resolving { until } => Some(until),
                _ => None,
            }
        });
        let first = resolving.min();
        let stack = connections.stack.poll_delay(connections.now);
        // What the stack waits for matters to nobody unless a neighbour is looked for.
        let stack = stack.filter(|_| first.is_some());
        [
            first,
            stack.map(|delay| connections.now + delay),
            connections.manager.next_deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn take_frames(&mut self) -> Result<(), NdkError> {
        let Some(connections) = self.connections.as_deref_mut() else {
            return Ok(());
        };
        for frame in connections.frames.receive(&mut self.hal)? {
            match Frame::parse(&frame).err() {
                Some(DropCause::NotRoce) => connections.stack.receive(frame),
                Some(_) => {}
                None => connections.take_datagram(&frame),
            }
        }
        Ok(())
    }

    /// Lets the stack work, and connects where a neighbour was found.
    pub(super) fn run_stack(&mut self) -> Result<(), NdkError> {
        let connections = self.connections()?;
        let (frames, answers) = connections.stack.poll(connections.now);
        for (ip, mac) in answers {
            connections.learn(ip, mac);
        }
        for frame in frames {
            self.send_frame(frame)?;
        }
        let connections = self.connections()?;
        let ready: Vec<Connector> = connections
            .waiting
            .iter()
            .copied()
            .filter(|connector| connections.can_call(*connector))
            .collect();
        for connector in ready {
            self.connections()?
                .waiting
                .retain(|other| *other != connector);
            self.call(connector)?;
        }
        Ok(())
    }

    fn send_frame(&mut self, frame: Vec<u8>) -> Result<(), NdkError> {
        match self.connections.as_deref_mut() {
            Some(connections) => connections.frames.send(&mut self.hal, frame),
            None => Ok(()),
        }
    }

    /// Does what the conversations want done.
    pub(super) fn act(&mut self) -> Result<(), NdkError> {
        loop {
            let actions = self.connections()?.manager.take_actions();
            if actions.is_empty() {
                return Ok(());
            }
            for action in actions {
                match action {
                    Action::Send { path, mad } => self.send_datagram(path, mad)?,
                    Action::Ready { id, attributes } => self.make_ready(id, &attributes)?,
                    Action::Stop { id } => {
                        if let Some(qp) = self.qp_of(id) {
                            self.stop_qp(qp)?;
                            self.mark_end(qp)?;
                        }
                    }
                    Action::Event { id, event } => self.handle_cm_event(id, event)?,
                }
            }
        }
    }

    fn qp_of(&mut self, id: CommId) -> Option<Qp> {
        let connections = self.connections.as_deref()?;
        let connector = *connections.conversations.get(&id)?;
        connections.connectors.get(connector)?.qp
    }

    fn send_datagram(&mut self, path: Path, mad: Mad) -> Result<(), NdkError> {
        let connections = self.connections()?;
        let Some(ip) = Ip::between(path.local, path.remote) else {
            return Ok(());
        };
        let Some(neighbour) = connections.neighbours.get(&path.remote) else {
            // Whoever is spoken with was found, or has spoken first.
            return Ok(());
        };
        let datagram = Datagram {
            eth: Eth {
                dst: neighbour.mac,
                src: connections.mac,
                vlan: None,
            },
            ip,
            psn: Psn::new(connections.psn),
            mad,
        };
        connections.psn = connections.psn.wrapping_add(1);
        self.send_frame(datagram.emit())
    }

    /// The conversation's queue pair speaks with the peer from now on.
    fn make_ready(&mut self, id: CommId, attributes: &QpAttributes) -> Result<(), NdkError> {
        let connections = self.connections()?;
        let Some(connector) = connections.conversations.get(&id).copied() else {
            return Ok(());
        };
        let Some(neighbour) = connections.neighbours.get(&attributes.remote_ip).copied() else {
            return Ok(());
        };
        let Some(qp) = self.connector(connector)?.qp else {
            return Ok(());
        };
        if self.qp_phase(qp)? == QpPhase::Error {
            // Flushed meanwhile: it stays in error.
            return Ok(());
        }
        let number = Qpn::new(self.qp_number(qp)?);
        let sport = source_port(attributes.flow_label, number, attributes.remote_qpn);
        let parameters = ConnectParameters {
            sq_psn: attributes.sq_psn.get(),
            rq_psn: attributes.rq_psn.get(),
            mtu: PathMtu::from_bytes(128 << attributes.path_mtu.min(5)).unwrap_or_default(),
            inbound_read_limit: attributes.limits.inbound.into(),
            outbound_read_limit: attributes.limits.outbound.into(),
            traffic_class: attributes.traffic_class,
            hop_limit: attributes.hop_limit,
            udp_sport: Some(sport),
            timeout: attributes.ack_timeout.get(),
            retry_cnt: attributes.retry_count,
            rnr_retry: attributes.rnr_retry_count,
            ..ConnectParameters::to(
                neighbour.mac.0,
                attributes.remote_ip,
                attributes.remote_qpn.get(),
            )
        };
        self.make_qp_ready(qp, &parameters)
    }

    fn handle_cm_event(&mut self, id: CommId, event: Event) -> Result<(), NdkError> {
        if let Event::Requested(requested) = event {
            return self.deliver(id, &requested);
        }
        let known = self.connections()?.conversations.get(&id).copied();
        let Some(connector) = known else {
            return Ok(());
        };
        match event {
            Event::Requested(_) => {}
            Event::Replied {
                limits,
                private_data,
            } => {
                let object = self.connector_mut(connector)?;
                object.phase = Phase::Replied;
                object.agreed = Some(Agreed {
                    limits,
                    private_data: private_data.to_vec(),
                });
                self.complete_request(connector, NtStatus::SUCCESS);
            }
            Event::Established => {
                self.connected(connector)?;
                self.counters.accept += 1;
                self.complete_request(connector, NtStatus::SUCCESS);
            }
            Event::Failed(failure) => self.failed(connector, failure)?,
            Event::Disconnected | Event::Aborted => {
                if event == Event::Aborted {
                    self.count_abort(connector)?;
                }
                self.end_disconnect(connector, NtStatus::CONNECTION_ABORTED)?;
                self.tell_disconnect(connector)?;
            }
            Event::Ended { graceful } => {
                let status = if graceful {
                    NtStatus::SUCCESS
                } else {
                    NtStatus::IO_TIMEOUT
                };
                self.end_disconnect(connector, status)?;
            }
        }
        Ok(())
    }

    /// The peer broke a connection off: it failed, unless the consumer knows of its end already.
    fn count_abort(&mut self, connector: Connector) -> Result<(), NdkError> {
        let object = self.connector(connector)?;
        let (told, qp) = (object.told, object.qp);
        if let Some(object) = qp.and_then(|qp| self.qps.get_mut(qp)) {
            object.connection = None;
        }
        self.counters.connection_error += u64::from(!told);
        Ok(())
    }

    /// The handshake of a disconnect is over.
    fn end_disconnect(&mut self, connector: Connector, status: NtStatus) -> Result<(), NdkError> {
        if let Phase::Disconnecting { outcome } = &mut self.connector_mut(connector)?.phase {
            outcome.get_or_insert(status);
        }
        Ok(())
    }

    fn failed(&mut self, connector: Connector, failure: Failure) -> Result<(), NdkError> {
        let phase = self.connector(connector)?.phase;
        match phase {
            Phase::Connecting => self.connect_failed(connector, connect_status(failure))?,
            Phase::Accepting => {
                self.counters.connect_failure += 1;
                self.abandon(connector)?;
                self.complete_request(connector, accept_status(failure));
            }
            _ => {}
        }
        if let Failure::Rejected { private_data, .. } = failure {
            let object = self.connector_mut(connector)?;
            let limits = ReadLimits {
                inbound: 0,
                outbound: 0,
            };
            object.agreed = Some(Agreed {
                limits,
                private_data: private_data.to_vec(),
            });
        }
        Ok(())
    }

    /// A request: the listener's consumer gets a connector for it (NDK-LSTN-1).
    fn deliver(&mut self, id: CommId, requested: &Requested) -> Result<(), NdkError> {
        let most = self.capped(u32::MAX, u32::MAX);
        let connections = self.connections()?;
        let listener = connections
            .listeners
            .find::<Listener>(|object| object.local == Some(requested.local) && !object.closing);
        let Some((listener, context, owner)) = listener.and_then(|listener| {
            let object = connections.listeners.get_mut(listener)?;
            object.delivered += 1;
            Some((listener, object.context, object.owner))
        }) else {
            connections.manager.close(connections.now, id);
            return Ok(());
        };
        let mut object = ConnectorObject::new();
        object.phase = Phase::Incoming;
        object.conversation = Some(id);
        object.local = Some(requested.local);
        object.remote = Some(requested.remote);
        object.listener = Some(listener);
        object.holds = true;
        object.agreed = Some(Agreed {
            limits: requested.limits.min(most),
            private_data: requested.private_data.to_vec(),
        });
        connections.ports.hold(requested.local);
        let connector = connections.connectors.insert(owner, object);
        let connector: Connector = connector.ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        connections.conversations.insert(id, connector);
        self.notifications.push(Notification::Connect {
            listener,
            context,
            connector,
        });
        Ok(())
    }

    /// Neighbours that were not found, disconnects and closes that may be done.
    fn settle_waiting(&mut self) -> Result<(), NdkError> {
        for connector in std::mem::take(&mut self.connections()?.waiting) {
            let Ok(object) = self.connector(connector) else {
                continue;
            };
            if object.closing {
                if self.can_reap(connector)? {
                    // Before antecedents are let go: their closes are told after (NDK-OBJ-6).
                    self.tell_closed(Object::Connector(connector));
                    self.remove_connector(connector)?;
                } else {
                    self.connections()?.waiting.push(connector);
                }
                continue;
            }
            match object.phase {
                Phase::Resolving { until } => {
                    let remote = object.remote;
                    let connections = self.connections()?;
                    if connections.now < until {
                        connections.waiting.push(connector);
                        continue;
                    }
                    self.connect_failed(connector, NtStatus::HOST_UNREACHABLE)?;
                    if let Some(remote) = remote {
                        self.connections()?.stop_looking(remote.ip());
                    }
                }
                Phase::Disconnecting { .. } => {
                    self.settle_disconnect(connector)?;
                    if self.connector(connector)?.phase != Phase::Dead {
                        self.connections()?.waiting.push(connector);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Connections {
    /// A RoCEv2 frame for queue pair 1. One that is no datagram, or for somebody else, is nobody's.
    fn take_datagram(&mut self, frame: &[u8]) {
        let Ok(datagram) = Datagram::parse(frame) else {
            return;
        };
        let path = Path {
            local: datagram.ip.dst(),
            remote: datagram.ip.src(),
        };
        if datagram.eth.dst != self.mac || !self.addresses.contains(&path.local) {
            return;
        }
        // The way back is the way it came.
        self.learn(path.remote, datagram.eth.src);
        self.manager.receive(self.now, path, &datagram.mad);
    }

    /// A connector waits for a neighbour no more. Others may.
    pub(super) fn stop_looking(&mut self, ip: IpAddr) {
        let others = self.connectors.values().any(|object| {
            matches!(object.phase, Phase::Resolving { .. })
                && object.remote.is_some_and(|remote| remote.ip() == ip)
        });
        if !others {
            self.stack.forget(ip);
        }
    }

    /// Whether a connector waits for a neighbour that is known now.
    fn can_call(&self, connector: Connector) -> bool {
        let object = self.connectors.get(connector);
        object.is_some_and(|object| {
            let ip: Option<IpAddr> = object.remote.map(|remote| remote.ip());
            matches!(object.phase, Phase::Resolving { .. })
                && ip.is_some_and(|ip| self.neighbour(ip).is_some())
        })
    }
}
