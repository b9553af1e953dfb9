//! Ethernet header with an optional 802.1Q tag (WIRE-FRM-12).

use super::bytes::{array, be16};
use super::{MacAddr, TooShort};

mod field {
    use std::ops::Range;

    pub const DST: Range<usize> = 0..6;
    pub const SRC: Range<usize> = 6..12;
    /// EtherType, or the tag's TPID.
    pub const TYPE: Range<usize> = 12..14;
    /// PCP 15:13, DEI 12, VID 11:0.
    pub const TCI: Range<usize> = 14..16;
    pub const TAGGED_TYPE: Range<usize> = 16..18;
}

/// Length of an untagged header in bytes.
pub const ETH_LEN: usize = 14;
/// Length of the 802.1Q tag in bytes.
pub const VLAN_LEN: usize = 4;
/// Least length of a frame without FCS; shorter ones are padded when sent (WIRE-FRM-8).
pub const MIN_FRAME: usize = 60;

/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86DD;
/// TPID of an 802.1Q tag. A second tag is an EtherType like any other, and not ours.
pub const TPID: u16 = 0x8100;

/// An 802.1Q tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VlanTag {
    /// Priority, 0 to 7.
    pub pcp: u8,
    /// Drop eligible.
    pub dei: bool,
    /// VLAN number, 0 to 4095.
    pub vid: u16,
}

impl VlanTag {
    /// The tag of its 16 control bits.
    pub const fn from_tci(tci: u16) -> Self {
        Self {
            pcp: (tci >> 13) as u8,
            dei: tci & 0x1000 != 0,
            vid: tci & 0xFFF,
        }
    }

    /// Its 16 control bits; bits that do not fit their field are dropped.
    pub const fn tci(self) -> u16 {
        (self.pcp as u16) << 13 | (self.dei as u16) << 12 | self.vid & 0xFFF
    }
}

/// An Ethernet header in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct EthView<T>(T);

impl<T: AsRef<[u8]>> EthView<T> {
    /// A view of the header at the start of a frame.
    ///
    /// # Errors
    /// [`TooShort`] if the frame ends before its EtherType.
    pub fn new_checked(frame: T) -> Result<Self, TooShort> {
        let view = Self(frame);
        TooShort::unless(view.0.as_ref().len() >= view.header_len())?;
        Ok(view)
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// Destination address.
    pub fn dst(&self) -> MacAddr {
        MacAddr(array(self.bytes(), field::DST))
    }

    /// Source address.
    pub fn src(&self) -> MacAddr {
        MacAddr(array(self.bytes(), field::SRC))
    }

    /// The 802.1Q tag, if there is one.
    pub fn vlan(&self) -> Option<VlanTag> {
        (be16(self.bytes(), field::TYPE) == TPID)
            .then(|| VlanTag::from_tci(be16(self.bytes(), field::TCI)))
    }

    /// EtherType, that behind the tag if there is one.
    pub fn ethertype(&self) -> u16 {
        match be16(self.bytes(), field::TYPE) {
            TPID => be16(self.bytes(), field::TAGGED_TYPE),
            ethertype => ethertype,
        }
    }

    /// Length of the header, 14 or 18 bytes.
    pub fn header_len(&self) -> usize {
        match be16(self.bytes(), field::TYPE) {
            TPID => ETH_LEN + VLAN_LEN,
            _ => ETH_LEN,
        }
    }
}

/// Addresses and tag of a frame. The EtherType follows from the IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Eth {
    /// Destination address.
    pub dst: MacAddr,
    /// Source address.
    pub src: MacAddr,
    /// 802.1Q tag.
    pub vlan: Option<VlanTag>,
}

impl Eth {
    /// The record of a header.
    pub fn parse<T: AsRef<[u8]>>(view: &EthView<T>) -> Self {
        Self {
            dst: view.dst(),
            src: view.src(),
            vlan: view.vlan(),
        }
    }

    /// Appends the header's bytes.
    pub fn emit(&self, ethertype: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.dst.0);
        out.extend_from_slice(&self.src.0);
        if let Some(vlan) = self.vlan {
            out.extend_from_slice(&TPID.to_be_bytes());
            out.extend_from_slice(&vlan.tci().to_be_bytes());
        }
        out.extend_from_slice(&ethertype.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Header of the golden packet `send_only_vlan`.
    const TAGGED: [u8; 18] = [
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0, 0x60, 0x64, 8, 0,
    ];

    #[test]
    fn a_tagged_header_comes_apart_and_together() {
        let view = EthView::new_checked(TAGGED).unwrap();
        assert_eq!((view.ethertype(), view.header_len()), (0x0800, 18));
        let eth = Eth::parse(&view);
        let tag = VlanTag {
            pcp: 3,
            dei: false,
            vid: 100,
        };
        assert_eq!(eth.vlan, Some(tag));
        let mut out = Vec::new();
        eth.emit(view.ethertype(), &mut out);
        assert_eq!(out, TAGGED);
    }

    #[test]
    fn the_whole_header_must_be_there() {
        assert!(EthView::new_checked(&TAGGED[..17]).is_err());
        assert!(EthView::new_checked(&TAGGED[..13]).is_err());
        let mut untagged = TAGGED;
        untagged[12] = 8;
        assert!(EthView::new_checked(&untagged[..14]).is_ok());
    }
}
