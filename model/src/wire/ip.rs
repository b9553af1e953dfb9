//! IP header of either version.

use std::net::IpAddr;

use super::bytes::ones_sum;
use super::eth::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use super::{Ipv4, Ipv6};

pub use super::ipv4::{IPV4_LEN, Ipv4View};
pub use super::ipv6::{IPV6_LEN, Ipv6View};

/// Protocol and next-header number of UDP.
pub const PROTOCOL_UDP: u8 = 17;

/// IP header of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    /// IPv4.
    V4(Ipv4),
    /// IPv6.
    V6(Ipv6),
}

impl Ip {
    /// A header with default fields between two addresses; `None` if they are of different versions.
    pub const fn between(src: IpAddr, dst: IpAddr) -> Option<Self> {
        match (src, dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => Some(Self::V4(Ipv4::new(src, dst))),
            (IpAddr::V6(src), IpAddr::V6(dst)) => Some(Self::V6(Ipv6::new(src, dst))),
            _ => None,
        }
    }

    /// The same header with this traffic class (IPv4: TOS) and hop limit (TTL).
    #[must_use]
    pub const fn with_path(mut self, class: u8, hops: u8) -> Self {
        match &mut self {
            Self::V4(ip) => (ip.tos, ip.ttl) = (class, hops),
            Self::V6(ip) => (ip.traffic_class, ip.hop_limit) = (class, hops),
        }
        self
    }

    /// Source address.
    pub const fn src(&self) -> IpAddr {
        match self {
            Self::V4(ip) => IpAddr::V4(ip.src),
            Self::V6(ip) => IpAddr::V6(ip.src),
        }
    }

    /// Destination address.
    pub const fn dst(&self) -> IpAddr {
        match self {
            Self::V4(ip) => IpAddr::V4(ip.dst),
            Self::V6(ip) => IpAddr::V6(ip.dst),
        }
    }

    /// Traffic class or TOS: DSCP 7:2, ECN 1:0.
    pub const fn traffic_class(&self) -> u8 {
        match self {
            Self::V4(ip) => ip.tos,
            Self::V6(ip) => ip.traffic_class,
        }
    }

    /// Hop limit or TTL.
    pub const fn hop_limit(&self) -> u8 {
        match self {
            Self::V4(ip) => ip.ttl,
            Self::V6(ip) => ip.hop_limit,
        }
    }

    /// EtherType of this version.
    pub const fn ethertype(&self) -> u16 {
        match self {
            Self::V4(_) => ETHERTYPE_IPV4,
            Self::V6(_) => ETHERTYPE_IPV6,
        }
    }

    /// Length of the header in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a header is never empty")]
    pub const fn len(&self) -> usize {
        match self {
            Self::V4(_) => IPV4_LEN,
            Self::V6(_) => IPV6_LEN,
        }
    }

    /// Appends the header's bytes, in front of `udp_length` bytes of UDP.
    pub fn emit(&self, udp_length: u16, out: &mut Vec<u8>) {
        match self {
            Self::V4(ip) => out.extend_from_slice(&ip.emit(udp_length)),
            Self::V6(ip) => out.extend_from_slice(&ip.emit(udp_length)),
        }
    }

    /// Sum of the pseudo header that the UDP checksum covers.
    pub(super) fn pseudo_sum(&self, udp_length: u16) -> u64 {
        let addresses = match self {
            Self::V4(ip) => ones_sum(&ip.src.octets()) + ones_sum(&ip.dst.octets()),
            Self::V6(ip) => ones_sum(&ip.src.octets()) + ones_sum(&ip.dst.octets()),
        };
        addresses + u64::from(PROTOCOL_UDP) + u64::from(udp_length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_do_not_mix() {
        let v4 = IpAddr::from([192, 0, 2, 1]);
        let v6 = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1u16]);
        assert_eq!(Ip::between(v4, v6), None);
        assert_eq!(Ip::between(v6, v6).map(|ip| ip.src()), Some(v6));
    }
}
