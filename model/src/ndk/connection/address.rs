//! Addresses as NDKPI has them: SOCKADDR_IN and SOCKADDR_IN6.

use std::net::{IpAddr, SocketAddr};

use crate::ndk::NtStatus;

const AF_INET: u16 = 2;
const AF_INET6: u16 = 23;

/// An address as bytes: 16 of SOCKADDR_IN or 28 of SOCKADDR_IN6, port and address in network order.
pub(super) fn sockaddr(address: SocketAddr) -> Vec<u8> {
    let port = address.port().to_be_bytes();
    match address {
        SocketAddr::V4(v4) => {
            let family = AF_INET.to_le_bytes();
            [&family[..], &port, &v4.ip().octets(), &[0; 8]].concat()
        }
        SocketAddr::V6(v6) => {
            let family = AF_INET6.to_le_bytes();
            let flow = v6.flowinfo().to_le_bytes();
            let scope = v6.scope_id().to_le_bytes();
            [&family[..], &port, &flow, &v6.ip().octets(), &scope].concat()
        }
    }
}

/// Writes an address into a buffer: the status, and the bytes written or needed (NDK-ADDR-1, -2).
pub(super) fn put_sockaddr(address: SocketAddr, buffer: &mut [u8]) -> (NtStatus, usize) {
    let bytes = sockaddr(address);
    match buffer.get_mut(..bytes.len()) {
        Some(place) => {
            place.copy_from_slice(&bytes);
            (NtStatus::SUCCESS, bytes.len())
        }
        None => (NtStatus::BUFFER_TOO_SMALL, bytes.len()),
    }
}

/// The same address without disguises: an IPv4 address that is written as an IPv6 one becomes one.
pub(super) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Whether both are of the same IP version.
pub(super) fn same_version(a: IpAddr, b: IpAddr) -> bool {
    a.is_ipv4() == b.is_ipv4()
}
