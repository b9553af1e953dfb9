//! IPv6 header without extension headers (WIRE-FRM-2).

use std::net::Ipv6Addr;

use super::TooShort;
use super::bytes::{array, be16, be32};
use super::ip::PROTOCOL_UDP;

mod field {
    use std::ops::Range;

    /// Version 31:28, traffic class 27:20, flow label 19:0.
    pub const FIRST: Range<usize> = 0..4;
    pub const PAYLOAD_LENGTH: Range<usize> = 4..6;
    pub const NEXT_HEADER: usize = 6;
    pub const HOP_LIMIT: usize = 7;
    pub const SRC: Range<usize> = 8..24;
    pub const DST: Range<usize> = 24..40;
}

/// Length of an IPv6 header in bytes.
pub const IPV6_LEN: usize = 40;

/// An IPv6 header in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6View<T>(T);

impl<T: AsRef<[u8]>> Ipv6View<T> {
    /// A view of the first 40 bytes of the buffer; their content is not checked.
    ///
    /// # Errors
    /// [`TooShort`] if the buffer has fewer.
    pub fn new_checked(buffer: T) -> Result<Self, TooShort> {
        TooShort::unless(buffer.as_ref().len() >= IPV6_LEN)?;
        Ok(Self(buffer))
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8; IPV6_LEN] {
        self.0.as_ref().first_chunk().unwrap_or(&[0; IPV6_LEN])
    }

    /// Version; 6 is the only legal value.
    pub fn version(&self) -> u8 {
        (be32(self.bytes(), field::FIRST) >> 28) as u8
    }

    /// Traffic class: DSCP 7:2, ECN 1:0.
    pub fn traffic_class(&self) -> u8 {
        (be32(self.bytes(), field::FIRST) >> 20) as u8
    }

    /// Flow label, 20 bits.
    pub fn flow_label(&self) -> u32 {
        be32(self.bytes(), field::FIRST) & 0xF_FFFF
    }

    /// Length of what follows the header, in bytes.
    pub fn payload_length(&self) -> u16 {
        be16(self.bytes(), field::PAYLOAD_LENGTH)
    }

    /// Next header.
    pub fn next_header(&self) -> u8 {
        self.bytes()[field::NEXT_HEADER]
    }

    /// Hop limit.
    pub fn hop_limit(&self) -> u8 {
        self.bytes()[field::HOP_LIMIT]
    }

    /// Source address.
    pub fn src(&self) -> Ipv6Addr {
        array::<16>(self.bytes(), field::SRC).into()
    }

    /// Destination address.
    pub fn dst(&self) -> Ipv6Addr {
        array::<16>(self.bytes(), field::DST).into()
    }
}

/// Content of an IPv6 header. Version, length and next header follow from the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6 {
    /// Source address.
    pub src: Ipv6Addr,
    /// Destination address.
    pub dst: Ipv6Addr,
    /// Traffic class: DSCP 7:2, ECN 1:0.
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
}

impl Ipv6 {
    /// A header with default fields: traffic class 0, flow label 0, hop limit 64.
    pub const fn new(src: Ipv6Addr, dst: Ipv6Addr) -> Self {
        Self {
            src,
            dst,
            traffic_class: 0,
            flow_label: 0,
            hop_limit: 64,
        }
    }

    /// The record of a header.
    pub fn parse<T: AsRef<[u8]>>(view: &Ipv6View<T>) -> Self {
        Self {
            src: view.src(),
            dst: view.dst(),
            traffic_class: view.traffic_class(),
            flow_label: view.flow_label(),
            hop_limit: view.hop_limit(),
        }
    }

    /// Its bytes, in front of `udp_length` bytes of UDP.
    pub fn emit(&self, udp_length: u16) -> [u8; IPV6_LEN] {
        let mut bytes = [0; IPV6_LEN];
        let first = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow_label & 0xF_FFFF;
        bytes[field::FIRST].copy_from_slice(&first.to_be_bytes());
        bytes[field::PAYLOAD_LENGTH].copy_from_slice(&udp_length.to_be_bytes());
        bytes[field::NEXT_HEADER] = PROTOCOL_UDP;
        bytes[field::HOP_LIMIT] = self.hop_limit;
        bytes[field::SRC].copy_from_slice(&self.src.octets());
        bytes[field::DST].copy_from_slice(&self.dst.octets());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_comes_apart_and_together() {
        let ip = Ipv6 {
            traffic_class: 0xA5,
            flow_label: 0x12345,
            hop_limit: 9,
            ..Ipv6::new(
                "2001:db8::1".parse().unwrap(),
                "2001:db8::2".parse().unwrap(),
            )
        };
        let bytes = ip.emit(32);
        assert_eq!(bytes[..8], [0x6A, 0x51, 0x23, 0x45, 0, 32, 17, 9]);
        let view = Ipv6View::new_checked(bytes).unwrap();
        assert_eq!((view.version(), view.payload_length()), (6, 32));
        assert_eq!(Ipv6::parse(&view), ip);
    }
}
