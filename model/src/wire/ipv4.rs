//! IPv4 header without options (WIRE-FRM-1).

use std::net::Ipv4Addr;

use super::TooShort;
use super::bytes::{array, be16, ones_fold, ones_sum};
use super::ip::PROTOCOL_UDP;

pub(super) mod field {
    use std::ops::Range;

    pub const VERSION_IHL: usize = 0;
    pub const TOS: usize = 1;
    pub const TOTAL_LENGTH: Range<usize> = 2..4;
    pub const IDENT: Range<usize> = 4..6;
    /// Reserved 15, DF 14, MF 13, offset 12:0.
    pub const FLAGS: Range<usize> = 6..8;
    pub const TTL: usize = 8;
    pub const PROTOCOL: usize = 9;
    pub const CHECKSUM: Range<usize> = 10..12;
    pub const SRC: Range<usize> = 12..16;
    pub const DST: Range<usize> = 16..20;
}

/// Length of an IPv4 header in bytes.
pub const IPV4_LEN: usize = 20;

/// An IPv4 header in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4View<T>(T);

impl<T: AsRef<[u8]>> Ipv4View<T> {
    /// A view of the first 20 bytes of the buffer; their content is not checked.
    ///
    /// # Errors
    /// [`TooShort`] if the buffer has fewer.
    pub fn new_checked(buffer: T) -> Result<Self, TooShort> {
        TooShort::unless(buffer.as_ref().len() >= IPV4_LEN)?;
        Ok(Self(buffer))
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8; IPV4_LEN] {
        self.0.as_ref().first_chunk().unwrap_or(&[0; IPV4_LEN])
    }

    /// Version and header length; 0x45 is the only legal value.
    pub fn version_ihl(&self) -> u8 {
        self.bytes()[field::VERSION_IHL]
    }

    /// Type of service: DSCP 7:2, ECN 1:0.
    pub fn tos(&self) -> u8 {
        self.bytes()[field::TOS]
    }

    /// Length of header and payload in bytes.
    pub fn total_length(&self) -> u16 {
        be16(self.bytes(), field::TOTAL_LENGTH)
    }

    /// Identification.
    pub fn ident(&self) -> u16 {
        be16(self.bytes(), field::IDENT)
    }

    /// Bit 15 of the flags, reserved.
    pub fn reserved_flag(&self) -> bool {
        be16(self.bytes(), field::FLAGS) & 0x8000 != 0
    }

    /// DF.
    pub fn dont_fragment(&self) -> bool {
        be16(self.bytes(), field::FLAGS) & 0x4000 != 0
    }

    /// Whether MF is set or the fragment offset is not 0 (WIRE-FRM-11).
    pub fn is_fragment(&self) -> bool {
        be16(self.bytes(), field::FLAGS) & 0x3FFF != 0
    }

    /// Time to live.
    pub fn ttl(&self) -> u8 {
        self.bytes()[field::TTL]
    }

    /// Protocol.
    pub fn protocol(&self) -> u8 {
        self.bytes()[field::PROTOCOL]
    }

    /// Header checksum as it stands there.
    pub fn checksum(&self) -> u16 {
        be16(self.bytes(), field::CHECKSUM)
    }

    /// Whether the header checksum is right.
    pub fn checksum_is_right(&self) -> bool {
        ones_fold(ones_sum(self.bytes())) == 0xFFFF
    }

    /// Source address.
    pub fn src(&self) -> Ipv4Addr {
        array(self.bytes(), field::SRC).into()
    }

    /// Destination address.
    pub fn dst(&self) -> Ipv4Addr {
        array(self.bytes(), field::DST).into()
    }
}

/// Content of an IPv4 header. Version, length, protocol and checksum follow from the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4 {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Type of service: DSCP 7:2, ECN 1:0.
    pub tos: u8,
    /// Identification, covered by the ICRC.
    pub ident: u16,
    /// Reserved flag, 0.
    pub reserved_flag: bool,
    /// DF, 1 in what is sent (WIRE-FRM-1).
    pub dont_fragment: bool,
    /// Time to live.
    pub ttl: u8,
}

impl Ipv4 {
    /// A header with default fields: TOS 0, identification 0, DF, TTL 64.
    pub const fn new(src: Ipv4Addr, dst: Ipv4Addr) -> Self {
        Self {
            src,
            dst,
            tos: 0,
            ident: 0,
            reserved_flag: false,
            dont_fragment: true,
            ttl: 64,
        }
    }

    /// The record of a header.
    pub fn parse<T: AsRef<[u8]>>(view: &Ipv4View<T>) -> Self {
        Self {
            src: view.src(),
            dst: view.dst(),
            tos: view.tos(),
            ident: view.ident(),
            reserved_flag: view.reserved_flag(),
            dont_fragment: view.dont_fragment(),
            ttl: view.ttl(),
        }
    }

    /// Its bytes, checksum included, in front of `udp_length` bytes of UDP.
    pub fn emit(&self, udp_length: u16) -> [u8; IPV4_LEN] {
        let mut bytes = [0; IPV4_LEN];
        let total = udp_length.wrapping_add(IPV4_LEN as u16);
        let flags = u16::from(self.reserved_flag) << 15 | u16::from(self.dont_fragment) << 14;
        bytes[field::VERSION_IHL] = 0x45;
        bytes[field::TOS] = self.tos;
        bytes[field::TOTAL_LENGTH].copy_from_slice(&total.to_be_bytes());
        bytes[field::IDENT].copy_from_slice(&self.ident.to_be_bytes());
        bytes[field::FLAGS].copy_from_slice(&flags.to_be_bytes());
        bytes[field::TTL] = self.ttl;
        bytes[field::PROTOCOL] = PROTOCOL_UDP;
        bytes[field::SRC].copy_from_slice(&self.src.octets());
        bytes[field::DST].copy_from_slice(&self.dst.octets());
        let checksum = !ones_fold(ones_sum(&bytes));
        bytes[field::CHECKSUM].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Header of the golden packet `send_only`.
    const V4: [u8; 20] = [
        0x45, 0, 0, 0x34, 0, 1, 0x40, 0, 0x40, 0x11, 0xB6, 0xB4, 192, 0, 2, 1, 192, 0, 2, 2,
    ];

    #[test]
    fn ipv4_comes_apart_and_together() {
        let view = Ipv4View::new_checked(V4).unwrap();
        assert!(view.checksum_is_right() && !view.is_fragment());
        assert_eq!((view.version_ihl(), view.total_length()), (0x45, 52));
        let ip = Ipv4::parse(&view);
        let expected = Ipv4 {
            ident: 1,
            ..Ipv4::new([192, 0, 2, 1].into(), [192, 0, 2, 2].into())
        };
        assert_eq!(ip, expected);
        assert_eq!(ip.emit(32), V4);
    }

    #[test]
    fn every_single_bit_breaks_the_ipv4_checksum() {
        for bit in 0..160 {
            let mut bytes = V4;
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(
                !Ipv4View::new_checked(bytes).unwrap().checksum_is_right(),
                "bit {bit}"
            );
        }
    }
}
