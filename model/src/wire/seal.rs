//! Making a changed frame whole again.

use super::bytes::{be16, ones_fold, ones_sum, put};
use super::eth::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, EthView};
use super::icrc::{ICRC_LEN, icrc_bytes};
use super::ip::{IPV4_LEN, IPV6_LEN, Ipv4View, Ipv6View};
use super::ipv4;
use super::udp::{self, UDP_LEN, checksum};
use super::{BTH_LEN, Ip, Ipv4, Ipv6};

/// Gives a changed frame its right IPv4 header checksum, ICRC and, where one is there, UDP
/// checksum, so that only the change itself is wrong with it.
///
/// Nothing else is looked at or altered: opcode, versions, lengths stay as they are. Returns
/// `false`, and does nothing, if the frame has no room for the headers or its UDP length does
/// not fit into it.
pub fn seal(frame: &mut [u8]) -> bool {
    let Ok(eth) = EthView::new_checked(&*frame) else {
        return false;
    };
    let (ethertype, ip_start) = (eth.ethertype(), eth.header_len());
    let Some(packet) = frame.get_mut(ip_start..) else {
        return false;
    };
    let ip_len = match ethertype {
        ETHERTYPE_IPV4 => IPV4_LEN,
        ETHERTYPE_IPV6 => IPV6_LEN,
        _ => return false,
    };
    let udp_length = match packet.get(ip_len..) {
        Some(udp) if udp.len() >= UDP_LEN => usize::from(be16(udp, udp::field::LENGTH)),
        _ => return false,
    };
    let end = ip_len + udp_length;
    if udp_length < UDP_LEN + BTH_LEN + ICRC_LEN || packet.len() < end {
        return false;
    }

    let icrc = icrc_bytes(packet.get(..end - ICRC_LEN).unwrap_or_default());
    put(packet, end - ICRC_LEN..end, &icrc);
    let Some(ip) = read_ip(packet, ethertype) else {
        return false;
    };
    if let Some(datagram) = packet.get_mut(ip_len..end)
        && be16(datagram, udp::field::CHECKSUM) != 0
    {
        put(datagram, udp::field::CHECKSUM, &[0, 0]);
        let sum = checksum(&ip, datagram);
        put(datagram, udp::field::CHECKSUM, &sum.to_be_bytes());
    }
    if ethertype == ETHERTYPE_IPV4 {
        put(packet, ipv4::field::CHECKSUM, &[0, 0]);
        let sum = !ones_fold(ones_sum(packet.get(..IPV4_LEN).unwrap_or_default()));
        put(packet, ipv4::field::CHECKSUM, &sum.to_be_bytes());
    }
    true
}

/// The IP header of a packet, whatever its content.
fn read_ip(packet: &[u8], ethertype: u16) -> Option<Ip> {
    Some(if ethertype == ETHERTYPE_IPV4 {
        Ip::V4(Ipv4::parse(&Ipv4View::new_checked(packet).ok()?))
    } else {
        Ip::V6(Ipv6::parse(&Ipv6View::new_checked(packet).ok()?))
    })
}
