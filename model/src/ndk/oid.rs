//! OID requests.

use std::net::{IpAddr, SocketAddr};

use crate::hal::Hal;

use super::adapter::Provider;
use super::{Endpoint, EndpointKind, EndpointMapping, EndpointOwner, NtStatus};

/// An object identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Oid(pub u32);

impl Oid {
    /// Enables or disables NDK.
    #[doc(alias = "OID_NDK_SET_STATE")]
    pub const NDK_SET_STATE: Self = Self(0xFC04_0201);
    /// Performance counters.
    #[doc(alias = "OID_NDK_STATISTICS")]
    pub const NDK_STATISTICS: Self = Self(0xFC04_0202);
    /// Active connections.
    #[doc(alias = "OID_NDK_CONNECTIONS")]
    pub const NDK_CONNECTIONS: Self = Self(0xFC04_0203);
    /// Active listeners and shared endpoints.
    #[doc(alias = "OID_NDK_LOCAL_ENDPOINTS")]
    pub const NDK_LOCAL_ENDPOINTS: Self = Self(0xFC04_0204);
}

/// Kind of an OID request.
#[doc(alias = "NDIS_REQUEST_TYPE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OidRequestType {
    /// Query.
    #[doc(alias = "NdisRequestQueryInformation")]
    QueryInformation = 0,
    /// Set.
    #[doc(alias = "NdisRequestSetInformation")]
    SetInformation = 1,
    /// Query of statistics.
    #[doc(alias = "NdisRequestQueryStatistics")]
    QueryStatistics = 2,
    /// Method.
    #[doc(alias = "NdisRequestMethod")]
    Method = 12,
}

/// How an OID request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OidOutcome {
    /// NDIS status.
    pub status: NtStatus,
    /// Bytes placed in the buffer (NDK-OIDQ-3); 0 on failure.
    pub bytes_written: u32,
    /// With `NDIS_STATUS_BUFFER_TOO_SHORT`, the length that would do (NDK-OIDQ-2); else 0.
    pub bytes_needed: u32,
}

impl OidOutcome {
    fn failed(status: NtStatus) -> Self {
        Self {
            status,
            bytes_written: 0,
            bytes_needed: 0,
        }
    }
}

/// Bytes of an answer without elements: `FIELD_OFFSET(NDIS_NDK_LOCAL_ENDPOINTS, LocalEndpoints)`.
const HEADER: usize = 16;
/// Bytes of an element.
const ENTRY: usize = 36;
/// Bytes of SOCKADDR_INET.
const SOCKADDR: usize = 28;
const NDIS_OBJECT_TYPE_DEFAULT: u8 = 0x80;
const REVISION_1: u8 = 1;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 23;

impl<H: Hal> Provider<H> {
    /// Answers an OID request. `NDIS_STATUS_INVALID_OID`: not one of this stage.
    /// `NDIS_STATUS_NOT_SUPPORTED`: it is, but not for this kind of request.
    #[doc(alias = "MiniportOidRequest")]
    pub fn oid_request(&self, request: OidRequestType, oid: Oid, buffer: &mut [u8]) -> OidOutcome {
        match (oid, request) {
            (
                Oid::NDK_LOCAL_ENDPOINTS,
                OidRequestType::QueryInformation | OidRequestType::QueryStatistics,
            ) => local_endpoints(&self.endpoints, self.config.endpoint_mapping, buffer),
            (Oid::NDK_LOCAL_ENDPOINTS, _) => OidOutcome::failed(NtStatus::NOT_SUPPORTED),
            _ => OidOutcome::failed(NtStatus::NDIS_INVALID_OID),
        }
    }

    /// The active listeners and shared endpoints, in the order in which they came (NDK-OLEP-1).
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }
}

/// Writes NDIS_NDK_LOCAL_ENDPOINTS. A buffer that is too short stays as it is (NDK-OIDQ-1, reading O24).
///
/// Members are written, and the padding of header and elements as zeros; in the second element of a pair
/// nothing but the address is written (NDK-LEP-18).
fn local_endpoints(
    endpoints: &[Endpoint],
    mapping: EndpointMapping,
    buffer: &mut [u8],
) -> OidOutcome {
    let each = match mapping {
        EndpointMapping::None => 1,
        EndpointMapping::Tcp => 2,
    };
    let count = endpoints.len() * each;
    let length = HEADER + ENTRY * count;
    let Some(place) = buffer.get_mut(..length) else {
        return OidOutcome {
            bytes_needed: length as u32,
            ..OidOutcome::failed(NtStatus::NDIS_BUFFER_TOO_SHORT)
        };
    };
    let (header, elements) = place.split_at_mut(HEADER);
    let size = u16::try_from(length).unwrap_or(u16::MAX);
    header.fill(0);
    put(header, 0, &[NDIS_OBJECT_TYPE_DEFAULT, REVISION_1]);
    put(header, 2, &size.to_le_bytes());
    put(header, 8, &(count as u32).to_le_bytes());
    put(header, 12, &[u8::from(mapping == EndpointMapping::Tcp)]);
    for (endpoint, elements) in endpoints.iter().zip(elements.chunks_mut(ENTRY * each)) {
        let (nd, tcp) = elements.split_at_mut(ENTRY);
        nd.fill(0);
        put(nd, 0, &sockaddr_inet(endpoint.local));
        let (user_mode, pid) = match endpoint.owner {
            EndpointOwner::Kernel => (false, 0),
            EndpointOwner::UserMode { pid } => (true, pid),
        };
        let listener = endpoint.kind == EndpointKind::Listener;
        put(nd, 28, &[u8::from(user_mode), u8::from(listener)]);
        put(nd, 32, &pid.to_le_bytes());
        let mut below = endpoint.local;
        below.set_port(endpoint.tcp_port);
        put(tcp, 0, &sockaddr_inet(below));
    }
    OidOutcome {
        status: NtStatus::SUCCESS,
        bytes_written: length as u32,
        bytes_needed: 0,
    }
}

/// SOCKADDR_INET: 28 bytes, port and address in network order.
fn sockaddr_inet(address: SocketAddr) -> [u8; SOCKADDR] {
    let mut bytes = [0; SOCKADDR];
    put(&mut bytes, 2, &address.port().to_be_bytes());
    match address.ip() {
        IpAddr::V4(ip) => {
            put(&mut bytes, 0, &AF_INET.to_le_bytes());
            put(&mut bytes, 4, &ip.octets());
        }
        IpAddr::V6(ip) => {
            put(&mut bytes, 0, &AF_INET6.to_le_bytes());
            put(&mut bytes, 8, &ip.octets());
        }
    }
    if let SocketAddr::V6(v6) = address {
        put(&mut bytes, 4, &v6.flowinfo().to_le_bytes());
        put(&mut bytes, 24, &v6.scope_id().to_le_bytes());
    }
    bytes
}

/// Copies bytes to an offset, as far as the place reaches.
fn put(place: &mut [u8], offset: usize, bytes: &[u8]) {
    place
        .iter_mut()
        .skip(offset)
        .zip(bytes)
        .for_each(|(to, from)| *to = *from);
}
