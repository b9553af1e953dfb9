//! Connection management: listeners, connectors, shared endpoints.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tandem_model::cm::TimeCode;
use tandem_model::ndk::{
    AcceptParameters, ConnectRequest, ConnectionConfig, Connector, Listener, Notification, Object,
    SharedEndpoint,
};

use super::endings::Ending;
use super::expect::await_notification;
use super::state::{Peer, Result, State, StepError, missing};
use super::{Address, close};
use crate::vector::object::ReadLimits;
use crate::vector::{At, Vector, step};

/// Contexts of listeners.
const CONTEXTS: u64 = 0x4C53_0000_0000_0000;
/// Port of a listener that nobody chose: that of SMB Direct.
const PORT: u16 = 5445;

/// A listener.
pub(super) struct ListenerState {
    node: usize,
    listener: Listener,
    context: u64,
    address: SocketAddr,
}

/// A connector.
pub(super) struct ConnectorState {
    pub(super) node: usize,
    pub(super) connector: Connector,
    /// Queue pair that it connects.
    pub(super) qp: Option<String>,
    /// The connector at the other end, once both are joined.
    pub(super) peer: Option<String>,
    /// How its connection ends.
    pub(super) ending: Ending,
}

impl ConnectorState {
    fn new(node: usize, connector: Connector) -> Self {
        Self {
            node,
            connector,
            qp: None,
            peer: None,
            ending: Ending::default(),
        }
    }
}

/// A shared endpoint.
pub(super) struct EndpointState {
    node: usize,
    endpoint: SharedEndpoint,
}

/// Objects of connection management by their names.
#[derive(Default)]
pub(super) struct Connections {
    listeners: BTreeMap<String, ListenerState>,
    pub(super) connectors: BTreeMap<String, ConnectorState>,
    endpoints: BTreeMap<String, EndpointState>,
}

/// How nodes of a world make connections: with short times, so that nobody waits long for what is lost.
pub fn connections(seed: u64) -> ConnectionConfig {
    ConnectionConfig {
        seed,
        resolve_timeout: Duration::from_millis(2500),
        packet_life: TimeCode::new(9),
        ack_delay: TimeCode::new(8),
        response_timeout: TimeCode::new(13),
        ..ConnectionConfig::default()
    }
}

/// Whether a vector has any of them.
pub(super) fn is_used(vector: &Vector) -> bool {
    let head = &vector.head;
    !(head.listener.is_empty() && head.connector.is_empty() && head.shared_endpoint.is_empty())
}

fn address(place: usize, ip: &Option<At<u8>>, port: u16) -> SocketAddr {
    let own = Address::of(place);
    let ip: IpAddr = match ip.as_ref().is_some_and(|ip| *ip.value() == 6) {
        true => own.ipv6.into(),
        false => own.ipv4.into(),
    };
    SocketAddr::new(ip, port)
}

/// Creates the objects of a vector.
pub(super) fn create(state: &mut State, vector: &Vector) -> Result {
    for (context, (name, listener)) in (CONTEXTS..).zip(&vector.head.listener) {
        let node = state.place(&listener.node)?;
        let created = state.nic(node)?.create_listener(context);
        let created = state.created(node, &format!("creating listener `{name}`"), created)?;
        let known = ListenerState {
            node,
            listener: created,
            context,
            address: address(node, &listener.ip, listener.port.unwrap_or(PORT)),
        };
        state.connections.listeners.insert(name.clone(), known);
    }
    for (name, connector) in &vector.head.connector {
        let node = state.place(&connector.node)?;
        let created = state.nic(node)?.create_connector();
        let created = state.created(node, &format!("creating connector `{name}`"), created)?;
        let known = ConnectorState::new(node, created);
        state.connections.connectors.insert(name.clone(), known);
    }
    for (name, endpoint) in &vector.head.shared_endpoint {
        let node = state.place(&endpoint.node)?;
        let local = address(node, &endpoint.ip, endpoint.port);
        let created = state.nic(node)?.create_shared_endpoint(local);
        let what = format!("creating shared endpoint `{name}`");
        let created = state.created(node, &what, created)?;
        let known = EndpointState {
            node,
            endpoint: created,
        };
        state.connections.endpoints.insert(name.clone(), known);
    }
    Ok(())
}

impl State {
    fn listener(&self, name: &str) -> Result<&ListenerState> {
        let found = self.connections.listeners.get(name);
        found.ok_or_else(|| missing("listener", name))
    }

    pub(super) fn connector(&self, name: &str) -> Result<(usize, Connector)> {
        let found = self.connections.connectors.get(name);
        let found = found.ok_or_else(|| missing("connector", name))?;
        Ok((found.node, found.connector))
    }

    /// Notes which queue pair a connector connects.
    fn joins(&mut self, connector: &str, qp: &str) {
        if let Some(known) = self.connections.connectors.get_mut(connector) {
            known.qp = Some(qp.into());
        }
    }

    /// How the connection of a connector ends.
    pub(super) fn ending(&mut self, name: &str) -> Result<&mut Ending> {
        let found = self.connections.connectors.get_mut(name);
        let found = found.ok_or_else(|| missing("connector", name))?;
        Ok(&mut found.ending)
    }
}

/// NdkListen.
pub(super) fn listen(state: &mut State, step: &step::Listen) -> Result {
    let listener = state.listener(&step.listen)?;
    let (node, handle, address) = (listener.node, listener.listener, listener.address);
    let outcome = state.nic(node)?.listen(handle, address);
    let done = state.returned(node, "NdkListen", outcome, step.returns.0)?;
    if done.is_some() {
        let local = state.nic(node)?.listener_local_address(handle);
        let local = state.created(node, "NdkGetLocalAddress", local)?;
        if let Some(known) = state.connections.listeners.get_mut(step.listen.value()) {
            known.address = local;
        }
    }
    Ok(())
}

/// NdkControlConnectEvents.
pub(super) fn connect_events(state: &mut State, step: &step::ConnectEvents) -> Result {
    let listener = state.listener(&step.connect_events)?;
    let (node, handle) = (listener.node, listener.listener);
    let nic = state.nic(node)?;
    let outcome = match step.paused {
        true => nic.pause_connect_events(handle),
        false => nic.resume_connect_events(handle),
    };
    state.created(node, "NdkControlConnectEvents", outcome)
}

/// NdkConnect, or NdkConnectWithSharedEndpoint.
pub(super) fn connect(state: &mut State, step: &step::ConnectTo) -> Result {
    let (node, connector) = state.connector(&step.connect_to)?;
    let qp = state.qp(&step.qp)?.qp;
    let mut remote = state.listener(&step.listener)?.address;
    remote.set_port(step.port.unwrap_or(remote.port()));
    let usual = ConnectRequest::to(remote);
    let request = ConnectRequest {
        private_data: &step.private_data.0,
        inbound_read_limit: inbound(step.reads, usual.inbound_read_limit),
        outbound_read_limit: outbound(step.reads, usual.outbound_read_limit),
        ..usual
    };
    let context = step.context.0;
    let (call, outcome) = match &step.shared_endpoint {
        Some(name) => {
            let endpoint = state.connections.endpoints.get(name.value());
            let endpoint = endpoint.ok_or_else(|| missing("shared endpoint", name))?;
            let endpoint = endpoint.endpoint;
            let nic = state.nic(node)?;
            let outcome =
                nic.connect_with_shared_endpoint(connector, qp, endpoint, &request, context);
            ("NdkConnectWithSharedEndpoint", outcome)
        }
        None => {
            let own = Address::of(node);
            let ip: IpAddr = match remote.is_ipv6() {
                true => own.ipv6.into(),
                false => own.ipv4.into(),
            };
            let local = SocketAddr::new(ip, step.local_port);
            let nic = state.nic(node)?;
            (
                "NdkConnect",
                nic.connect(connector, qp, local, &request, context),
            )
        }
    };
    if state.answered(node, call, outcome, step.returns.0)? {
        state.joins(&step.connect_to, &step.qp);
    }
    Ok(())
}

/// Waits for a request, and gives its connector a name.
pub(super) fn expect_connect(state: &mut State, step: &step::ExpectConnect) -> Result {
    let name = step.expect_connect.value();
    let listener = state.listener(name)?;
    let (node, handle, context) = (listener.node, listener.listener, listener.context);
    let what = format!("a request at listener `{name}`");
    let found = await_notification(
        state,
        node,
        &what,
        |told| matches!(told, Notification::Connect { listener, .. } if *listener == handle),
    )?;
    if let Notification::Connect {
        connector,
        context: got,
        ..
    } = found
    {
        if got != context {
            return Err(StepError::new(format!(
                "{what} with another context: {got:#x}"
            )));
        }
        let known = ConnectorState::new(node, connector);
        let name = step.connector.value().clone();
        state.connections.connectors.insert(name, known);
    }
    Ok(())
}

/// NdkAccept.
pub(super) fn accept(state: &mut State, step: &step::Accept) -> Result {
    let (node, connector) = state.connector(&step.accept)?;
    let qp = state.qp(&step.qp)?.qp;
    let usual = AcceptParameters::default();
    let parameters = AcceptParameters {
        inbound_read_limit: inbound(step.reads, usual.inbound_read_limit),
        outbound_read_limit: outbound(step.reads, usual.outbound_read_limit),
        private_data: &step.private_data.0,
        disconnect_event_context: step.disconnect_event.map(|context| context.0),
    };
    let nic = state.nic(node)?;
    let outcome = nic.accept(connector, qp, &parameters, step.context.0);
    if state.answered(node, "NdkAccept", outcome, step.returns.0)? {
        state.joins(&step.accept, &step.qp);
        state.ending(&step.accept)?.event = parameters.disconnect_event_context;
    }
    Ok(())
}

/// NdkReject.
pub(super) fn reject(state: &mut State, step: &step::Reject) -> Result {
    let (node, connector) = state.connector(&step.reject)?;
    let outcome = state.nic(node)?.reject(connector, &step.private_data.0);
    state.returned(node, "NdkReject", outcome, step.returns.0)?;
    Ok(())
}

/// NdkCompleteConnect.
pub(super) fn complete_connect(state: &mut State, step: &step::CompleteConnect) -> Result {
    let (node, connector) = state.connector(&step.complete_connect)?;
    let event = step.disconnect_event.map(|context| context.0);
    let outcome = state.nic(node)?.complete_connect(connector, event);
    let done = state.returned(node, "NdkCompleteConnect", outcome, step.returns.0)?;
    if done.is_some() {
        state.ending(&step.complete_connect)?.event = event;
        joined(state, &step.complete_connect)?;
    }
    Ok(())
}

/// Notes that the queue pairs of a connection are joined: the connector's, and that of the connector which the peer has.
fn joined(state: &mut State, name: &str) -> Result {
    let (node, connector) = state.connector(name)?;
    let nic = state.nic(node)?;
    let ends = (nic.local_address(connector), nic.peer_address(connector));
    let (Ok(local), Ok(remote)) = ends else {
        return Ok(());
    };
    let own = state.connections.connectors.get(name);
    let own = own.and_then(|known| known.qp.clone());
    let names: Vec<String> = state.connections.connectors.keys().cloned().collect();
    for other in names {
        let (place, connector) = state.connector(&other)?;
        let nic = state.nic(place)?;
        let ends = (nic.local_address(connector), nic.peer_address(connector));
        if place == node || ends != (Ok(remote), Ok(local)) {
            continue;
        }
        let peer = state.connections.connectors.get(&other);
        let peer = peer.and_then(|known| known.qp.clone());
        if let (Some(own), Some(peer)) = (&own, peer) {
            state.ledger.joined(own, &peer, [false; 2]);
            for (own, peer) in [(name, &other), (&other, &name.to_owned())] {
                if let Some(known) = state.connections.connectors.get_mut(own) {
                    known.peer = Some(peer.clone());
                }
            }
            for (own, place, peer) in [(own, place, &peer), (&peer, node, own)] {
                let number = state.qp_number(peer)?;
                if let Some(qp) = state.qps.get_mut(own) {
                    let ipv6 = local.is_ipv6();
                    qp.peer = Some(Peer {
                        node: place,
                        number,
                        ipv6,
                    });
                }
            }
        }
    }
    Ok(())
}

/// Compares what a connector says of its connection.
pub(super) fn expect_connection(state: &mut State, step: &step::ExpectConnection) -> Result {
    let (node, connector) = state.connector(&step.expect_connection)?;
    let mut wrong = Vec::new();
    if step.private_data.is_some() || step.reads.is_some() {
        let data = state.nic(node)?.connection_data(connector);
        let data = state.created(node, "NdkGetConnectionData", data)?;
        if let Some(expected) = &step.private_data {
            let got = &data.private_data;
            let head = got.get(..expected.0.len());
            let rest = got.get(expected.0.len()..).unwrap_or_default();
            if head != Some(&expected.0[..]) || rest.iter().any(|byte| *byte != 0) {
                wrong.push(format!("private data {got:02x?}"));
            }
        }
        let got = ReadLimits {
            inbound: data.inbound_read_limit,
            outbound: data.outbound_read_limit,
        };
        if step.reads.is_some_and(|expected| expected != got) {
            wrong.push(format!("{got:?}"));
        }
    }
    let local = state.nic(node)?.local_address(connector);
    let local = state.created(node, "NdkGetLocalAddress", local)?;
    let peer = state.nic(node)?.peer_address(connector);
    let peer = state.created(node, "NdkGetPeerAddress", peer)?;
    let ports = [(step.local_port, local), (step.peer_port, peer)];
    for (expected, address) in ports {
        if expected.is_some_and(|port| port != address.port()) {
            wrong.push(format!("address {address}"));
        }
    }
    if let Some(name) = &step.peer {
        let own = Address::of(state.place(name)?);
        if ![IpAddr::from(own.ipv4), own.ipv6.into()].contains(&peer.ip()) {
            wrong.push(format!("address {peer}"));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(StepError::new(format!("it has {}", wrong.join(", ")))),
    }
}

/// NdkCloseListener.
pub(super) fn close_listener(state: &mut State, step: &step::CloseListener) -> Result {
    let listener = state.listener(&step.close_listener)?;
    let (node, handle) = (listener.node, listener.listener);
    let outcome = state.nic(node)?.close_listener(handle);
    close::ended(
        state,
        node,
        Object::Listener(handle),
        outcome,
        &step.returns,
    )
}

/// NdkCloseSharedEndpoint.
pub(super) fn close_shared_endpoint(state: &mut State, step: &step::CloseSharedEndpoint) -> Result {
    let name = &step.close_shared_endpoint;
    let endpoint = state.connections.endpoints.get(name.value());
    let endpoint = endpoint.ok_or_else(|| missing("shared endpoint", name))?;
    let (node, handle) = (endpoint.node, endpoint.endpoint);
    let outcome = state.nic(node)?.close_shared_endpoint(handle);
    let object = Object::SharedEndpoint(handle);
    close::ended(state, node, object, outcome, &step.returns)
}

fn inbound(reads: Option<ReadLimits>, usual: u32) -> u32 {
    reads.map_or(usual, |reads| reads.inbound)
}

fn outbound(reads: Option<ReadLimits>, usual: u32) -> u32 {
    reads.map_or(usual, |reads| reads.outbound)
}
