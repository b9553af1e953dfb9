//! Connections: listeners, connectors, shared endpoints, and the datagrams by which they are made and ended.
//!
//! | module | job |
//! | --- | --- |
//! | `frames` | queue pair 1: frames in and out |
//! | `stack` | ARP, neighbour discovery, ICMP echo |
//! | `ports` | local endpoints |
//! | `listener`, `shared` | NDK_LISTENER, NDK_SHARED_ENDPOINT |
//! | `connector` | NDK_CONNECTOR: what it is, and its close |
//! | `connect`, `accept`, `ending` | its calls on the active side, on the passive side, and at the end of both |
//! | `query`, `address` | what it can be asked |
//! | `poll` | what happens as time passes |
//!
//! What is said on the wire, and when, is [`cm`](crate::cm)'s affair.

mod accept;
mod address;
mod connect;
mod connector;
mod ending;
mod frames;
mod listener;
mod poll;
mod ports;
mod query;
mod shared;
mod stack;

pub use accept::AcceptParameters;
pub use connect::ConnectRequest;
pub use query::ConnectionData;
pub use stack::Subnet;

pub(super) use connector::ConnectorObject;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use crate::abi::TokenKind;
use crate::cm::machine::{CmConfig, Manager};
use crate::cm::{CommId, Guid, TimeCode};
use crate::hal::Hal;
use crate::wire::MacAddr;

use super::adapter::{AdapterConfig, Provider, stale};
use super::pd::write_privileged;
use super::slots::Slots;
use super::tokens::TokenTable;
use super::{Connector, EngineCaps, LocalToken, NdkError, NdkObject, NtStatus, Object};
use frames::FramePort;
use listener::ListenerObject;
use ports::Ports;
use shared::SharedEndpointObject;
use stack::Stack;

/// Protection domain of queue pair 1; those of consumers begin at 1.
const PD: u32 = 0;

/// How an adapter makes connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// Subnet of the IPv4 address.
    pub ipv4: Subnet<Ipv4Addr>,
    /// Subnet of the IPv6 address.
    pub ipv6: Subnet<Ipv6Addr>,
    /// How long a neighbour is looked for.
    pub resolve_timeout: Duration,
    /// How long what is known of a neighbour holds.
    pub neighbour_lifetime: Duration,
    /// Makes communication ids and first PSNs; should differ between adapters and between their lives.
    pub seed: u64,
    /// Life of a packet in the network, which acknowledgement timers follow (WIRE-TMO-1).
    pub packet_life: TimeCode,
    /// How long an answer of the peer's connection management may take.
    pub response_timeout: TimeCode,
    /// How long this adapter says that its consumer may take, once the peer has asked twice.
    pub service_timeout: TimeCode,
    /// How often its question is sent again, 0 to 15.
    pub max_retries: u8,
    /// How long this adapter takes to acknowledge.
    pub ack_delay: TimeCode,
    /// Greatest path MTU; requests go out with it.
    pub path_mtu: super::bench::PathMtu,
    /// Requests at a listener that wait for its consumer.
    pub backlog: usize,
    /// Go-backs of a request, 0 to 7.
    pub retry_count: u8,
    /// Waits for a receive, 0 to 6; 7 for ever.
    pub rnr_retry_count: u8,
}

impl Default for ConnectionConfig {
    /// Subnets of 24 and 64 bits without routers; times and retries of Linux, but for six waits for a receive of the
    /// peer, so that one which never posts any is told of.
    fn default() -> Self {
        let cm = CmConfig::new(Guid(0));
        Self {
            ipv4: Subnet {
                prefix: 24,
                gateway: None,
            },
            ipv6: Subnet {
                prefix: 64,
                gateway: None,
            },
            resolve_timeout: Duration::from_secs(5),
            neighbour_lifetime: Duration::from_secs(60),
            seed: 0,
            packet_life: cm.packet_life,
            response_timeout: cm.response_timeout,
            service_timeout: cm.service_timeout,
            max_retries: cm.max_retries,
            ack_delay: cm.ack_delay,
            path_mtu: super::bench::PathMtu::default(),
            backlog: cm.backlog,
            retry_count: 7,
            rnr_retry_count: 6,
        }
    }
}

/// All that makes connections on an adapter.
pub(super) struct Connections {
    config: ConnectionConfig,
    mac: MacAddr,
    addresses: Vec<IpAddr>,
    /// Time of the latest poll.
    now: Duration,
    frames: FramePort,
    stack: Stack,
    manager: Manager,
    neighbours: BTreeMap<IpAddr, Neighbour>,
    /// PSN of the next datagram.
    psn: u32,
    ports: Ports,
    listeners: Slots<ListenerObject>,
    shared: Slots<SharedEndpointObject>,
    connectors: Slots<ConnectorObject>,
    conversations: BTreeMap<CommId, Connector>,
    /// Connectors that wait for something: a neighbour, the end of a disconnect or of a close.
    waiting: Vec<Connector>,
}

/// Where frames for an address go.
#[derive(Clone, Copy)]
struct Neighbour {
    mac: MacAddr,
    learned: Duration,
}

impl Connections {
    /// Makes queue pair 1 ready, with the engine's last completion queue.
    pub(super) fn open<H: Hal>(
        hal: &mut H,
        tokens: &mut TokenTable,
        adapter: &AdapterConfig,
        config: ConnectionConfig,
        caps: EngineCaps,
    ) -> Result<Self, NdkError> {
        let token = tokens
            .allocate(TokenKind::Privileged)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        write_privileged(hal, token, PD)?;
        let cq = Self::completion_queue(caps);
        let frames = FramePort::open(hal, cq, PD, LocalToken(token.value()))?;
        let mac = MacAddr(adapter.mac);
        let ipv4 = adapter.ipv4.map(|ip| (ip, config.ipv4));
        let ipv6 = adapter.ipv6.map(|ip| (ip, config.ipv6));
        let cm = CmConfig {
            packet_life: config.packet_life,
            response_timeout: config.response_timeout,
            service_timeout: config.service_timeout,
            max_retries: config.max_retries.min(15),
            ack_delay: config.ack_delay,
            max_mtu: config.path_mtu as u8,
            backlog: config.backlog,
            ..CmConfig::new(Guid::of_mac(mac))
        };
        let v4 = adapter.ipv4.map(IpAddr::V4);
        Ok(Self {
            mac,
            addresses: v4.into_iter().chain(adapter.ipv6.map(IpAddr::V6)).collect(),
            now: Duration::ZERO,
            frames,
            stack: Stack::new(mac, ipv4, ipv6, config.seed),
            manager: Manager::new(cm, config.seed),
            neighbours: BTreeMap::new(),
            psn: 0,
            ports: Ports::default(),
            listeners: Slots::new(0, u32::MAX),
            shared: Slots::new(0, u32::MAX),
            connectors: Slots::new(0, u32::MAX),
            conversations: BTreeMap::new(),
            waiting: Vec::new(),
            config,
        })
    }

    /// The completion queue that queue pair 1 uses alone.
    pub(super) fn completion_queue(caps: EngineCaps) -> u32 {
        caps.completion_queues.saturating_sub(1)
    }

    /// The public part of a connector, listener or shared endpoint.
    pub(super) fn object(&self, object: Object) -> Result<&NdkObject, NdkError> {
        match object {
            Object::Connector(it) => self.connectors.public(it).ok_or(stale(it)),
            Object::Listener(it) => self.listeners.public(it).ok_or(stale(it)),
            Object::SharedEndpoint(it) => self.shared.public(it).ok_or(stale(it)),
            _ => Err(NtStatus::INVALID_PARAMETER.into()),
        }
    }

    /// The same, for the consumer's side.
    pub(super) fn object_mut(&mut self, object: Object) -> Result<&mut NdkObject, NdkError> {
        match object {
            Object::Connector(it) => self.connectors.public_mut(it).ok_or(stale(it)),
            Object::Listener(it) => self.listeners.public_mut(it).ok_or(stale(it)),
            Object::SharedEndpoint(it) => self.shared.public_mut(it).ok_or(stale(it)),
            _ => Err(NtStatus::INVALID_PARAMETER.into()),
        }
    }

    /// Open objects of an adapter instance.
    pub(super) fn owned_by(&self, instance: u32) -> usize {
        self.connectors.owned_by(instance)
            + self.listeners.owned_by(instance)
            + self.shared.owned_by(instance)
    }

    /// The next hop to an address, if it is known.
    fn neighbour(&self, ip: IpAddr) -> Option<MacAddr> {
        let known = self.neighbours.get(&ip)?;
        let age = self.now.saturating_sub(known.learned);
        (age <= self.config.neighbour_lifetime).then_some(known.mac)
    }

    fn learn(&mut self, ip: IpAddr, mac: MacAddr) {
        let learned = self.now;
        self.neighbours.insert(ip, Neighbour { mac, learned });
    }
}

impl<H: Hal> Provider<H> {
    /// What makes connections; `STATUS_NOT_SUPPORTED` if the adapter was opened without.
    pub(super) fn connections(&mut self) -> Result<&mut Connections, NdkError> {
        let connections = self.connections.as_deref_mut();
        connections.ok_or(NtStatus::NOT_SUPPORTED.into())
    }
}
