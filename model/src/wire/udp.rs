//! UDP header, and the source port of a queue pair.

use super::bytes::{be16, ones_fold, ones_sum};
use super::{Ip, Qpn, TooShort};

pub(super) mod field {
    use std::ops::Range;

    pub const SPORT: Range<usize> = 0..2;
    pub const DPORT: Range<usize> = 2..4;
    pub const LENGTH: Range<usize> = 4..6;
    pub const CHECKSUM: Range<usize> = 6..8;
}

/// Length of the header in bytes.
pub const UDP_LEN: usize = 8;
/// Destination port of RoCEv2, in both directions (WIRE-FRM-3).
pub const ROCE_PORT: u16 = 4791;
/// Least UDP length: header, BTH and ICRC (WIRE-FRM-10).
pub const MIN_UDP_LENGTH: usize = 24;

/// A UDP header in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct UdpView<T>(T);

impl<T: AsRef<[u8]>> UdpView<T> {
    /// A view of the first 8 bytes of the buffer; their content is not checked.
    ///
    /// # Errors
    /// [`TooShort`] if the buffer has fewer.
    pub fn new_checked(buffer: T) -> Result<Self, TooShort> {
        TooShort::unless(buffer.as_ref().len() >= UDP_LEN)?;
        Ok(Self(buffer))
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8; UDP_LEN] {
        self.0.as_ref().first_chunk().unwrap_or(&[0; UDP_LEN])
    }

    /// Source port, never checked (WIRE-FRM-15).
    pub fn sport(&self) -> u16 {
        be16(self.bytes(), field::SPORT)
    }

    /// Destination port.
    pub fn dport(&self) -> u16 {
        be16(self.bytes(), field::DPORT)
    }

    /// Length of header and payload in bytes.
    pub fn length(&self) -> u16 {
        be16(self.bytes(), field::LENGTH)
    }

    /// Checksum; 0 if the sender made none.
    pub fn checksum(&self) -> u16 {
        be16(self.bytes(), field::CHECKSUM)
    }
}

/// What stands in the checksum field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UdpChecksum {
    /// 0: none. What is sent, over IPv6 too (WIRE-FRM-5, -6).
    #[default]
    Zero,
    /// The right checksum.
    Computed,
}

/// The header's bytes with checksum 0.
pub(super) fn emit(sport: u16, udp_length: u16) -> [u8; UDP_LEN] {
    let [s0, s1] = sport.to_be_bytes();
    let [d0, d1] = ROCE_PORT.to_be_bytes();
    let [l0, l1] = udp_length.to_be_bytes();
    [s0, s1, d0, d1, l0, l1, 0, 0]
}

/// Whether the checksum in a whole datagram (header to ICRC) is right (WIRE-FRM-7).
pub(super) fn checksum_is_right(ip: &Ip, datagram: &[u8]) -> bool {
    ones_fold(ip.pseudo_sum(datagram.len() as u16) + ones_sum(datagram)) == 0xFFFF
}

/// The checksum of a whole datagram whose checksum field is 0; never 0, which would mean none.
pub(super) fn checksum(ip: &Ip, datagram: &[u8]) -> u16 {
    match !ones_fold(ip.pseudo_sum(datagram.len() as u16) + ones_sum(datagram)) {
        0 => 0xFFFF,
        checksum => checksum,
    }
}

/// UDP source port of a connection, 0xC000 to 0xFFFF (WIRE-UDP-1, -2).
///
/// With flow label 0 the two queue pair numbers stand in for it, symmetrically, so that both
/// sides find the same port. One fixed port per queue pair keeps its packets in order.
pub fn source_port(flow_label: u32, local: Qpn, remote: Qpn) -> u16 {
    let label = match flow_label & 0xF_FFFF {
        0 => {
            let mut product = u64::from(local.get()) * u64::from(remote.get());
            product ^= product >> 20;
            product ^= product >> 40;
            product as u32 & 0xF_FFFF
        }
        label => label,
    };
    ((label & 0x3FFF) ^ ((label & 0xF_C000) >> 14)) as u16 | 0xC000
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    // Covers: WIRE-UDP-1, WIRE-UDP-2
    #[test]
    fn source_ports_of_the_reference() {
        let (a, b) = (Qpn::new(0xABC), Qpn::new(0x11));
        assert_eq!(source_port(0, a, b), 63102);
        assert_eq!(source_port(0, b, a), 63102);
        assert_eq!(source_port(0x12345, a, b), 58177);
        assert_eq!(source_port(0x8FD50, a, b), 64883);
    }

    #[test]
    fn a_header_comes_apart_and_together() {
        let bytes = [0xF6, 0x7E, 0x12, 0xB7, 0, 0x20, 0, 0];
        let view = UdpView::new_checked(bytes).unwrap();
        assert_eq!(
            (view.sport(), view.dport(), view.length(), view.checksum()),
            (63102, 4791, 32, 0)
        );
        assert_eq!(emit(63102, 32), bytes);
        assert!(UdpView::new_checked(&bytes[..7]).is_err());
    }

    #[test]
    fn a_checksum_is_right_and_never_zero() {
        let address = IpAddr::from([192, 0, 2, 1]);
        let ip = Ip::between(address, address).unwrap();
        for filler in 0..=0xFFFFu16 {
            let mut datagram = [0xF6, 0x7E, 0x12, 0xB7, 0, 11, 0, 0, 0, 0, 7];
            datagram[8..10].copy_from_slice(&filler.to_be_bytes());
            let sum = checksum(&ip, &datagram);
            assert_ne!(sum, 0);
            datagram[6..8].copy_from_slice(&sum.to_be_bytes());
            assert!(checksum_is_right(&ip, &datagram));
        }
    }
}
