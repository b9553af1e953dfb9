//! A whole RoCEv2 frame: taken apart with all checks, and put together.

use super::bytes::put;
use super::eth::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, EthView, MIN_FRAME};
use super::icrc::{ICRC_LEN, icrc_bytes};
use super::ip::{IPV4_LEN, IPV6_LEN, Ipv4View, Ipv6View, PROTOCOL_UDP};
use super::udp::{self, MIN_UDP_LENGTH, ROCE_PORT, UDP_LEN, UdpView};
use super::{BTH_LEN, Bth, BthView, DropCause, Eth, Ext, Ip, Ipv4, Ipv6, UdpChecksum};

/// A RoCEv2 frame without FCS. Lengths, checksums and the ICRC follow from the fields.
///
/// [`Frame::parse`] and [`Frame::emit`] are inverse: an accepted frame is emitted again byte for
/// byte, and an emitted frame with legal fields parses to the record it came from, up to
/// the zero bytes that fill it to 60.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Addresses and VLAN tag.
    pub eth: Eth,
    /// IP header.
    pub ip: Ip,
    /// UDP source port (WIRE-UDP-1); the destination port is 4791.
    pub udp_sport: u16,
    /// Whether a UDP checksum is there.
    pub udp_checksum: UdpChecksum,
    /// Base Transport Header.
    pub bth: Bth,
    /// Extension headers, of the kind that the opcode asks for.
    pub ext: Ext,
    /// Payload without pad.
    pub payload: &'a [u8],
    /// Pad bytes, of which the first [`Bth::pad`] count; sent as 0, any content is accepted
    /// (WIRE-BTH-11).
    pub pad_bytes: [u8; 3],
    /// Bytes after the ICRC: padding to the Ethernet minimum, or whatever a switch left there
    /// (WIRE-FRM-9).
    pub trailer: &'a [u8],
}

impl<'a> Frame<'a> {
    /// A frame without payload, with checksum 0, pad 0 and no trailer.
    pub const fn new(eth: Eth, ip: Ip, udp_sport: u16, bth: Bth, ext: Ext) -> Self {
        Self {
            eth,
            ip,
            udp_sport,
            udp_checksum: UdpChecksum::Zero,
            bth,
            ext,
            payload: &[],
            pad_bytes: [0; 3],
            trailer: &[],
        }
    }

    /// The same frame with this payload and the pad count that belongs to it (WIRE-BTH-10).
    #[must_use]
    pub const fn with_payload(mut self, payload: &'a [u8]) -> Self {
        self.payload = payload;
        self.bth.pad = Bth::pad_for(payload.len());
        self
    }

    /// Takes a frame apart. Nothing is copied but the headers.
    ///
    /// **Never panics**, whatever the bytes: every access is a checked one, and all lengths are
    /// compared with what the buffer holds before they are used.
    ///
    /// # Errors
    /// The first failing check, in the order of the [module's page](super): one of the causes
    /// 1 ([`DropCause::NotRoce`]) to 11 ([`DropCause::Icrc`]).
    pub fn parse(frame: &'a [u8]) -> Result<Self, DropCause> {
        let eth = EthView::new_checked(frame)?;
        let packet = frame.get(eth.header_len()..).unwrap_or_default();
        let (ip, ip_len, end) = match eth.ethertype() {
            ETHERTYPE_IPV4 => parse_ipv4(packet)?,
            ETHERTYPE_IPV6 => parse_ipv6(packet)?,
            _ => return Err(DropCause::NotRoce),
        };
        let datagram = packet.get(ip_len..end).ok_or(DropCause::FrameShort)?;
        let udp = UdpView::new_checked(datagram)?;
        if udp.dport() != ROCE_PORT {
            return Err(DropCause::NotRoce);
        }
        if usize::from(udp.length()) != datagram.len() || datagram.len() < MIN_UDP_LENGTH {
            return Err(DropCause::UdpLength);
        }
        let udp_checksum = match udp.checksum() {
            0 => UdpChecksum::Zero,
            _ if udp::checksum_is_right(&ip, datagram) => UdpChecksum::Computed,
            _ => return Err(DropCause::UdpChecksum),
        };

        let ib = datagram.get(UDP_LEN..).ok_or(DropCause::UdpLength)?;
        let view = BthView::new_checked(ib).map_err(|_| DropCause::UdpLength)?;
        let bth = Bth::parse(&view).ok_or(DropCause::Opcode)?;
        let (body, pad) = ib
            .len()
            .checked_sub(ICRC_LEN)
            .and_then(|len| ib.get(BTH_LEN..len))
            .and_then(|body| body.split_at_checked(body.len().checked_sub(bth.pad.into())?))
            .ok_or(DropCause::IbLength)?;
        let ext = Ext::parse(bth.opcode.ext(), body).ok_or(DropCause::IbLength)?;
        if view.transport_version() != 0 {
            return Err(DropCause::Tver);
        }
        let (covered, icrc) = packet
            .get(..end)
            .and_then(<[u8]>::split_last_chunk)
            .ok_or(DropCause::IbLength)?;
        if icrc_bytes(covered) != *icrc {
            return Err(DropCause::Icrc);
        }

        let mut pad_bytes = [0; 3];
        pad_bytes
            .iter_mut()
            .zip(pad)
            .for_each(|(to, from)| *to = *from);
        Ok(Self {
            eth: Eth::parse(&eth),
            ip,
            udp_sport: udp.sport(),
            udp_checksum,
            bth,
            ext,
            payload: body.get(bth.opcode.ext().len()..).unwrap_or_default(),
            pad_bytes,
            trailer: packet.get(end..).unwrap_or_default(),
        })
    }

    /// UDP length: 8 + 12 + extension headers + payload + pad + 4 (WIRE-FRM-4).
    pub const fn udp_length(&self) -> usize {
        UDP_LEN
            + BTH_LEN
            + self.ext.kind().len()
            + self.payload.len()
            + (self.bth.pad & 3) as usize
            + ICRC_LEN
    }

    /// Appends the frame's bytes to `out`, with right lengths, checksums and ICRC, filled with
    /// zeros to 60 bytes (WIRE-FRM-8).
    ///
    /// Fields are emitted as they are: an `ext` that does not belong to the opcode, or a wrong
    /// pad count, makes the frame that a bench wants for it. Of a packet above 65,535 bytes the
    /// length fields hold the low 16 bits.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let udp_length = self.udp_length() as u16;
        out.reserve(self.eth_len() + self.ip.len() + self.udp_length() + self.trailer.len() + 2);
        self.eth.emit(self.ip.ethertype(), out);
        let ip_start = out.len();
        self.ip.emit(udp_length, out);
        let udp_start = out.len();
        out.extend_from_slice(&udp::emit(self.udp_sport, udp_length));
        out.extend_from_slice(&self.bth.emit());
        self.ext.emit(out);
        out.extend_from_slice(self.payload);
        out.extend(self.pad_bytes.iter().take((self.bth.pad & 3).into()));
        let icrc = icrc_bytes(out.get(ip_start..).unwrap_or_default());
        out.extend_from_slice(&icrc);
        if self.udp_checksum == UdpChecksum::Computed
            && let Some(datagram) = out.get_mut(udp_start..)
        {
            // The ICRC masks the checksum, which covers the ICRC.
            let checksum = udp::checksum(&self.ip, datagram);
            put(datagram, udp::field::CHECKSUM, &checksum.to_be_bytes());
        }
        out.extend_from_slice(self.trailer);
        if out.len() - start < MIN_FRAME {
            out.resize(start + MIN_FRAME, 0);
        }
    }

    /// [`Frame::emit`] into a buffer of its own.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.emit(&mut out);
        out
    }

    const fn eth_len(&self) -> usize {
        use super::eth::{ETH_LEN, VLAN_LEN};
        match self.eth.vlan {
            Some(_) => ETH_LEN + VLAN_LEN,
            None => ETH_LEN,
        }
    }
}

/// The checks of an IPv4 header; the record, its length, and where the packet ends.
#[inline]
fn parse_ipv4(packet: &[u8]) -> Result<(Ip, usize, usize), DropCause> {
    let view = Ipv4View::new_checked(packet)?;
    if view.version_ihl() != 0x45 {
        return Err(DropCause::IpVersion);
    }
    if !view.checksum_is_right() {
        return Err(DropCause::IpChecksum);
    }
    if view.is_fragment() {
        return Err(DropCause::IpFragment);
    }
    if view.protocol() != PROTOCOL_UDP {
        return Err(DropCause::NotRoce);
    }
    let ip = Ip::V4(Ipv4::parse(&view));
    Ok((ip, IPV4_LEN, view.total_length().into()))
}

/// The checks of an IPv6 header; the record, its length, and where the packet ends.
#[inline]
fn parse_ipv6(packet: &[u8]) -> Result<(Ip, usize, usize), DropCause> {
    let view = Ipv6View::new_checked(packet)?;
    if view.version() != 6 {
        return Err(DropCause::IpVersion);
    }
    if view.next_header() != PROTOCOL_UDP {
        return Err(DropCause::NotRoce);
    }
    let ip = Ip::V6(Ipv6::parse(&view));
    Ok((ip, IPV6_LEN, IPV6_LEN + usize::from(view.payload_length())))
}
