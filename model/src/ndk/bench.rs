//! What a bench may do besides NDKPI: connections without datagrams, registrations without requests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::abi::{QpState, Table, TokenKind};
use crate::hal::Hal;
use crate::wire::{Qpn, source_port};

use super::adapter::{Provider, stale};
use super::qp::QpPhase;
use super::{
    Connection, Endpoint, EndpointOwner, Mdl, Mr, MrFlags, MrUse, NdkCounters, NdkError, NtStatus,
    Pd, Qp, window,
};

/// Path MTU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum PathMtu {
    /// 256 bytes.
    B256 = 1,
    /// 512 bytes.
    B512 = 2,
    /// 1024 bytes.
    #[default]
    B1024 = 3,
    /// 2048 bytes.
    B2048 = 4,
    /// 4096 bytes.
    B4096 = 5,
}

impl PathMtu {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::B256,
        Self::B512,
        Self::B1024,
        Self::B2048,
        Self::B4096,
    ];

    /// Payload bytes of a full packet.
    pub const fn bytes(self) -> u32 {
        128 << self as u32
    }

    /// The MTU of so many bytes, if there is one.
    pub fn from_bytes(bytes: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|mtu| mtu.bytes() == bytes)
    }
}

/// The other end of a connection, and how to speak with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectParameters {
    /// Peer's MAC address.
    pub remote_mac: [u8; 6],
    /// Peer's IP address.
    pub remote_ip: IpAddr,
    /// Peer's queue pair number.
    pub remote_qpn: u32,
    /// PSN of the first request sent.
    pub sq_psn: u32,
    /// PSN of the first request expected: the peer's `sq_psn`.
    pub rq_psn: u32,
    /// Path MTU, the same on both sides.
    pub mtu: PathMtu,
    /// Reads that the peer may have outstanding here; capped at the adapter's limit.
    pub inbound_read_limit: u32,
    /// Reads outstanding to the peer; capped at the adapter's limit.
    pub outbound_read_limit: u32,
    /// Whether the peer may read at all (tokens decide what).
    pub remote_read: bool,
    /// Whether the peer may write at all (tokens decide where).
    pub remote_write: bool,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// UDP source port; `None` for that of the queue pair numbers (WIRE-UDP-2).
    pub udp_sport: Option<u16>,
    /// Local ACK timeout code, 0 to 31: T is 4.096 µs × 2^timeout; 0 for none (WIRE-TMO-1).
    pub timeout: u8,
    /// Go-backs without progress before a request ends with `STATUS_IO_TIMEOUT`, 0 to 7 (WIRE-TMO-4).
    pub retry_cnt: u8,
    /// Waits for a receive of the peer without progress before a request ends with `STATUS_IO_TIMEOUT`,
    /// 0 to 6; 7 for ever (WIRE-RNR-7, -8, reading O25).
    pub rnr_retry: u8,
    /// RNR timer code that the peer is sent, 0 to 31: how long it waits at least (WIRE-RNR-1).
    pub min_rnr_timer: u8,
}

impl ConnectParameters {
    /// To a queue pair of a peer, with PSNs 0 and the usual rest: MTU 1024, 16 reads each way, TTL 64;
    /// acknowledgements within 0.54 s, seven go-backs; six waits for a receive of at least 0.64 ms, so that a
    /// peer which never posts one is told of and one that is late does no harm.
    pub fn to(remote_mac: [u8; 6], remote_ip: IpAddr, remote_qpn: u32) -> Self {
        Self {
            remote_mac,
            remote_ip,
            remote_qpn,
            sq_psn: 0,
            rq_psn: 0,
            mtu: PathMtu::default(),
            inbound_read_limit: 16,
            outbound_read_limit: 16,
            remote_read: true,
            remote_write: true,
            traffic_class: 0,
            hop_limit: 64,
            udp_sport: None,
            timeout: 17,
            retry_cnt: 7,
            rnr_retry: 6,
            min_rnr_timer: 12,
        }
    }
}

/// Calls outside NDKPI; from [`Provider::bench`].
pub struct Bench<'a, H> {
    provider: &'a mut Provider<H>,
}

impl<H: Hal> Provider<H> {
    /// Calls outside NDKPI.
    pub fn bench(&mut self) -> Bench<'_, H> {
        Bench { provider: self }
    }
}

impl<H: Hal> Provider<H> {
    /// Tells the engine with whom a queue pair speaks, and how: both steps from `QpInit` to `QpRts` in one. What the
    /// consumer may post is another question. `STATUS_INVALID_DEVICE_STATE`: it was ready before, or is in error; there
    /// is no way back (WIRE-QP-3).
    pub(super) fn make_qp_ready(
        &mut self,
        qp: Qp,
        parameters: &ConnectParameters,
    ) -> Result<(), NdkError> {
        let caps = self.caps;
        let number = self.qp_number(qp)?;
        let object = self.qps.get_mut(qp).ok_or(stale(qp))?;
        if object.entry.get("state") != QpState::Init as u128 {
            return Err(NtStatus::INVALID_DEVICE_STATE.into());
        }
        let remote_ip = parameters.remote_ip.to_canonical();
        let octets = match remote_ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        let mut mac = [0; 8];
        mac[..6].copy_from_slice(&parameters.remote_mac);
        let outbound = parameters.outbound_read_limit.min(caps.max_ord.into()) as u8;
        let inbound = parameters.inbound_read_limit.min(caps.max_ird.into()) as u8;
        let sport = parameters
            .udp_sport
            .unwrap_or_else(|| source_port(0, Qpn::new(number), Qpn::new(parameters.remote_qpn)));
        object
            .entry
            .set("state", QpState::Rts)
            .set("mtu", parameters.mtu as u8)
            .set("ipv6", remote_ip.is_ipv6())
            .set("remote_read", parameters.remote_read)
            .set("remote_write", parameters.remote_write)
            .set("traffic_class", parameters.traffic_class)
            .set("udp_sport", sport)
            .set("remote_qpn", parameters.remote_qpn)
            .set("hop_limit", parameters.hop_limit)
            .set("sq_psn", parameters.sq_psn)
            .set("max_ord", outbound)
            .set("rq_psn", parameters.rq_psn)
            .set("max_ird", inbound)
            .set("remote_mac", u64::from_le_bytes(mac))
            .set("timeout", parameters.timeout.min(31))
            .set("retry_cnt", parameters.retry_cnt.min(7))
            .set("rnr_retry", parameters.rnr_retry.min(7))
            .set("min_rnr_timer", parameters.min_rnr_timer.min(31))
            .set("remote_ip", u128::from_le_bytes(octets));
        window::write_entry(&mut self.hal, Table::Qp, number, &object.entry)?;
        object.outbound_read_limit = outbound;
        Ok(())
    }
}

impl<H: Hal> Bench<'_, H> {
    /// Connects a queue pair without a connection protocol. Both sides must be connected before
    /// either sends. `STATUS_CONNECTION_ACTIVE`: connected already (reading O33); `STATUS_INVALID_DEVICE_STATE`: in error.
    pub fn connect(&mut self, qp: Qp, parameters: &ConnectParameters) -> Result<(), NdkError> {
        let provider = &mut *self.provider;
        let object = provider.qps.get_mut(qp).ok_or(stale(qp))?;
        match object.phase {
            QpPhase::Idle => {}
            QpPhase::Connecting | QpPhase::Connected => {
                return Err(NtStatus::CONNECTION_ACTIVE.into());
            }
            QpPhase::Error => return Err(NtStatus::INVALID_DEVICE_STATE.into()),
        }
        provider.make_qp_ready(qp, parameters)?;
        let remote_ip = parameters.remote_ip.to_canonical();
        let config = &provider.config;
        let local_ip = match remote_ip {
            IpAddr::V4(_) => config.ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED).into(),
            IpAddr::V6(_) => config.ipv6.unwrap_or(Ipv6Addr::UNSPECIFIED).into(),
        };
        let connection = Connection {
            local: SocketAddr::new(local_ip, 0),
            remote: SocketAddr::new(remote_ip, 0),
            tcp_ports: (0, 0),
            owner: EndpointOwner::Kernel,
        };
        let object = provider.qps.get_mut(qp).ok_or(stale(qp))?;
        object.phase = QpPhase::Connected;
        object.connection = Some(connection);
        Ok(())
    }

    /// A fast-register region in the state VALID, as NdkFastRegister would leave it: something that can be
    /// invalidated. Its token entry is written straight into the engine's table.
    pub fn place_fast_region(
        &mut self,
        pd: Pd,
        mdl: &[Mdl],
        length: u64,
        flags: MrFlags,
    ) -> Result<Mr, NdkError> {
        let provider = &mut *self.provider;
        let mr = provider.create_mr(pd, MrUse::FastRegister)?;
        match provider.place_region(mr, mdl, length, flags, TokenKind::Fast) {
            Ok(()) => Ok(mr),
            Err(error) => {
                provider.close_mr(mr)?;
                Err(error)
            }
        }
    }

    /// Adds a listener or shared endpoint to what OID queries answer.
    pub fn add_endpoint(&mut self, endpoint: Endpoint) {
        self.provider.endpoints.push(endpoint);
    }

    /// Takes all endpoints back.
    pub fn clear_endpoints(&mut self) {
        self.provider.endpoints.clear();
    }

    /// Gives the connection of a connected queue pair other addresses, ports and owner than [`Bench::connect`] has
    /// for it. `STATUS_CONNECTION_INVALID`: it has none.
    pub fn set_connection(&mut self, qp: Qp, connection: Connection) -> Result<(), NdkError> {
        let object = self.provider.qps.get_mut(qp).ok_or(stale(qp))?;
        let place = object.connection.as_mut();
        *place.ok_or(NtStatus::CONNECTION_INVALID)? = connection;
        Ok(())
    }

    /// What the provider counts by itself.
    pub fn counters(&mut self) -> &mut NdkCounters {
        &mut self.provider.counters
    }
}
