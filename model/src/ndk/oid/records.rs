//! Structures of OID answers, as they lie in memory.

use std::mem::{offset_of, size_of};
use std::net::{IpAddr, SocketAddr};

pub(super) const NDIS_OBJECT_TYPE_DEFAULT: u8 = 0x80;
pub(in crate::ndk) const REVISION_1: u8 = 1;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 23;

/// Head of a structure of NDIS.
#[doc(alias = "NDIS_OBJECT_HEADER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisObjectHeader {
    /// Type of the structure.
    #[doc(alias = "Type")]
    pub object_type: u8,
    /// Its revision.
    pub revision: u8,
    /// Its bytes with this header; saturates at 65535.
    pub size: u16,
}

impl NdisObjectHeader {
    /// NDIS_OBJECT_TYPE_DEFAULT, revision 1.
    pub(in crate::ndk) const fn of<T>() -> Self {
        Self {
            object_type: NDIS_OBJECT_TYPE_DEFAULT,
            revision: REVISION_1,
            size: size_of::<T>() as u16,
        }
    }
}

/// An address: a union of SOCKADDR_IN and SOCKADDR_IN6, 28 bytes.
#[doc(alias = "SOCKADDR_INET")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SockaddrInet {
    /// AF_INET (2) or AF_INET6 (23).
    pub family: u16,
    /// Port, network order.
    pub port: [u8; 2],
    /// The IPv4 address, or the flow label of IPv6.
    pub ipv4_or_flow_info: [u8; 4],
    /// The IPv6 address.
    pub ipv6: [u8; 16],
    /// Scope of the IPv6 address.
    pub scope_id: u32,
}

/// Answer to OID_NDK_LOCAL_ENDPOINTS, with the first of its elements.
#[doc(alias = "NDIS_NDK_LOCAL_ENDPOINTS")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisNdkLocalEndpoints {
    /// Type 0x80, revision 1, size as far as 16 bits hold it.
    pub header: NdisObjectHeader,
    /// Reserved, 0.
    pub flags: u32,
    /// Elements.
    pub count: u32,
    /// Whether each endpoint has two elements.
    #[doc(alias = "NDLocalEndpointsMappedtoTCPLocalEndpoints")]
    pub mapped_to_tcp: u8,
    /// The elements.
    pub local_endpoints: [NdisNdkLocalEndpointEntry; 1],
}

/// Element of [`NdisNdkLocalEndpoints`], 36 bytes.
#[doc(alias = "NDIS_NDK_LOCAL_ENDPOINT_ENTRY")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisNdkLocalEndpointEntry {
    /// Local address and port.
    pub local: SockaddrInet,
    /// Whether a process owns it.
    pub user_mode_owner: u8,
    /// Listener, or shared endpoint.
    pub listener: u8,
    /// The process.
    pub owner_pid: u32,
}

/// Answer to OID_NDK_CONNECTIONS, with the first of its elements.
#[doc(alias = "NDIS_NDK_CONNECTIONS")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisNdkConnections {
    /// Type 0x80, revision 1, size as far as 16 bits hold it.
    pub header: NdisObjectHeader,
    /// Reserved, 0.
    pub flags: u32,
    /// Elements.
    pub count: u32,
    /// Whether each connection has two elements.
    #[doc(alias = "NDConnectionsMappedtoTCPConnections")]
    pub mapped_to_tcp: u8,
    /// The elements.
    pub connections: [NdisNdkConnectionEntry; 1],
}

/// Element of [`NdisNdkConnections`], 64 bytes (NDK-CNX-2).
#[doc(alias = "NDIS_NDK_CONNECTION_ENTRY")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisNdkConnectionEntry {
    /// Local address and port.
    pub local: SockaddrInet,
    /// The peer's.
    pub remote: SockaddrInet,
    /// Whether a process owns it.
    pub user_mode_owner: u8,
    /// The process.
    pub owner_pid: u32,
}

/// Number of counters, the reserved ones too.
pub const COUNTERS: usize = 30;

/// Counters of the adapter (NDK-STAT-2).
#[doc(alias = "NDIS_NDK_PERFORMANCE_COUNTERS")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct NdisNdkPerformanceCounters {
    /// Outbound connections established.
    pub connect: u64,
    /// Inbound connections established.
    pub accept: u64,
    /// Connects that failed, in both directions.
    pub connect_failure: u64,
    /// Established connections that failed before a consumer disconnected them (NDK-STAT-7).
    pub connection_error: u64,
    /// Connections active now.
    pub active_connection: u64,
    /// Reserved, 0 (NDK-STAT-3).
    pub reserved: [u64; 20],
    /// Completion queues that went into error (NDK-STAT-6).
    pub cq_error: u64,
    /// Bytes of incoming frames (NDK-STAT-4).
    pub rdma_in_octets: u64,
    /// Bytes of outgoing frames.
    pub rdma_out_octets: u64,
    /// Incoming frames.
    pub rdma_in_frames: u64,
    /// Outgoing frames.
    pub rdma_out_frames: u64,
}

impl NdisNdkPerformanceCounters {
    /// Bit of the counter at a byte offset of this structure in
    /// [`NdisNdkCapabilities`](crate::ndk::NdisNdkCapabilities)'s mask of missing ones.
    #[doc(alias = "NDIS_NDK_PERFORMANCE_COUNTER_MASK")]
    pub const fn mask(offset: usize) -> u64 {
        1 << (offset / size_of::<u64>())
    }

    /// All counters in the order of their indices.
    pub fn counters(&self) -> [u64; COUNTERS] {
        let mut all = [0; COUNTERS];
        let first = [
            self.connect,
            self.accept,
            self.connect_failure,
            self.connection_error,
            self.active_connection,
        ];
        let last = [
            self.cq_error,
            self.rdma_in_octets,
            self.rdma_out_octets,
            self.rdma_in_frames,
            self.rdma_out_frames,
        ];
        let values = first.into_iter().chain(self.reserved).chain(last);
        all.iter_mut().zip(values).for_each(|(to, from)| *to = from);
        all
    }
}

/// Answer to OID_NDK_STATISTICS, 248 bytes.
#[doc(alias = "NDIS_NDK_STATISTICS_INFO")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisNdkStatisticsInfo {
    /// Type 0x80, revision 1, size 248.
    pub header: NdisObjectHeader,
    /// Reserved, 0.
    pub flags: u32,
    /// The counters.
    pub counter_set: NdisNdkPerformanceCounters,
}

impl NdisNdkStatisticsInfo {
    /// With these counters.
    pub const fn new(counter_set: NdisNdkPerformanceCounters) -> Self {
        Self {
            header: NdisObjectHeader::of::<Self>(),
            flags: 0,
            counter_set,
        }
    }

    /// The structure as it lies in memory.
    pub fn to_bytes(&self) -> [u8; size_of::<Self>()] {
        let mut bytes = [0; size_of::<Self>()];
        put(
            &mut bytes,
            0,
            &[self.header.object_type, self.header.revision],
        );
        put(&mut bytes, 2, &self.header.size.to_le_bytes());
        let flags = offset_of!(Self, flags);
        put(&mut bytes, flags, &self.flags.to_le_bytes());
        let places = (offset_of!(Self, counter_set)..).step_by(size_of::<u64>());
        for (place, counter) in places.zip(self.counter_set.counters()) {
            put(&mut bytes, place, &counter.to_le_bytes());
        }
        bytes
    }
}

/// SOCKADDR_INET as it lies in memory; port and address in network order.
pub(super) fn sockaddr_inet(address: SocketAddr) -> [u8; size_of::<SockaddrInet>()] {
    const IPV4_OR_FLOW: usize = offset_of!(SockaddrInet, ipv4_or_flow_info);
    let mut bytes = [0; size_of::<SockaddrInet>()];
    let port = offset_of!(SockaddrInet, port);
    put(&mut bytes, port, &address.port().to_be_bytes());
    match address.ip() {
        IpAddr::V4(ip) => {
            put(&mut bytes, 0, &AF_INET.to_le_bytes());
            put(&mut bytes, IPV4_OR_FLOW, &ip.octets());
        }
        IpAddr::V6(ip) => {
            put(&mut bytes, 0, &AF_INET6.to_le_bytes());
            put(&mut bytes, offset_of!(SockaddrInet, ipv6), &ip.octets());
        }
    }
    if let SocketAddr::V6(v6) = address {
        put(&mut bytes, IPV4_OR_FLOW, &v6.flowinfo().to_le_bytes());
        let scope = offset_of!(SockaddrInet, scope_id);
        put(&mut bytes, scope, &v6.scope_id().to_le_bytes());
    }
    bytes
}

/// Copies bytes to an offset, as far as the place reaches.
pub(super) fn put(place: &mut [u8], offset: usize, bytes: &[u8]) {
    place
        .iter_mut()
        .skip(offset)
        .zip(bytes)
        .for_each(|(to, from)| *to = *from);
}
