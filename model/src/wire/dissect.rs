//! A frame in human words.

use std::fmt::{self, Write};

use super::eth::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, EthView};
use super::icrc::{ICRC_LEN, icrc_bytes};
use super::ip::{IPV4_LEN, IPV6_LEN, Ipv4View, Ipv6View, PROTOCOL_UDP};
use super::udp::{ROCE_PORT, UDP_LEN, UdpView};
use super::{Aeth, BTH_LEN, BthView, Deth, DropCause, Ext, Frame, Opcode, Reth};

/// Payload bytes that are printed; the rest is counted.
const PAYLOAD_SHOWN: usize = 32;

/// Prints a frame, one header a line, with the parser's verdict last.
///
/// Fields are printed as they stand, as far as the frame goes, also those of a frame that the
/// parser drops. Any bytes will do.
pub fn dissect(frame: &[u8]) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = layers(frame, &mut text);
    let verdict = match Frame::parse(frame) {
        Ok(_) => DropCause::None,
        Err(cause) => cause,
    };
    let _ = match verdict {
        DropCause::None => writeln!(text, "accepted"),
        cause => writeln!(text, "dropped: {cause:?}, {}", reason(cause)),
    };
    text
}

/// The shared table's words for a cause.
fn reason(cause: DropCause) -> &'static str {
    DropCause::TABLE
        .variants
        .iter()
        .find(|variant| u128::from(variant.value) == u128::from(cause))
        .map_or("", |variant| variant.doc)
}

/// Prints as many layers as can be read.
fn layers(frame: &[u8], out: &mut String) -> fmt::Result {
    let Ok(eth) = EthView::new_checked(frame) else {
        return writeln!(out, "{} bytes, too short for Ethernet", frame.len());
    };
    write!(out, "Ethernet {} > {}", eth.src(), eth.dst())?;
    if let Some(vlan) = eth.vlan() {
        write!(out, ", VLAN {} priority {}", vlan.vid, vlan.pcp)?;
    }
    writeln!(out, ", {} bytes", frame.len())?;

    let packet = frame.get(eth.header_len()..).unwrap_or_default();
    let (protocol, ip_len) = match eth.ethertype() {
        ETHERTYPE_IPV4 => match Ipv4View::new_checked(packet) {
            Ok(view) => (ipv4(&view, out)?, IPV4_LEN),
            Err(_) => return writeln!(out, "IPv4 header cut off"),
        },
        ETHERTYPE_IPV6 => match Ipv6View::new_checked(packet) {
            Ok(view) => (ipv6(&view, out)?, IPV6_LEN),
            Err(_) => return writeln!(out, "IPv6 header cut off"),
        },
        other => return writeln!(out, "EtherType {other:#06x}"),
    };
    if protocol != PROTOCOL_UDP {
        return Ok(());
    }
    let segment = packet.get(ip_len..).unwrap_or_default();
    let Ok(udp) = UdpView::new_checked(segment) else {
        return writeln!(out, "UDP header cut off");
    };
    writeln!(
        out,
        "UDP {} > {}, length {}, checksum {:#06x}",
        udp.sport(),
        udp.dport(),
        udp.length(),
        udp.checksum()
    )?;
    if udp.dport() != ROCE_PORT {
        return Ok(());
    }
    let udp_end = usize::from(udp.length()).min(segment.len());
    let Some(ib) = segment.get(UDP_LEN..udp_end) else {
        return Ok(());
    };
    transport(ib, out)?;
    if let Some((covered, stored)) = packet
        .get(..ip_len + udp_end)
        .and_then(<[u8]>::split_last_chunk::<ICRC_LEN>)
    {
        let right = icrc_bytes(covered);
        write!(out, "ICRC {}", Hex(stored))?;
        match right == *stored {
            true => writeln!(out)?,
            false => writeln!(out, ", but {} would be right", Hex(&right))?,
        }
    }
    match segment.get(udp_end..) {
        None | Some([]) => Ok(()),
        Some(trailer) => writeln!(out, "trailer {} bytes", trailer.len()),
    }
}

/// Prints an IPv4 header, and returns its protocol.
fn ipv4<T: AsRef<[u8]>>(ip: &Ipv4View<T>, out: &mut String) -> Result<u8, fmt::Error> {
    write!(
        out,
        "IPv4 {} > {}, TOS {:#04x}, TTL {}, identification {:#06x}, total length {}",
        ip.src(),
        ip.dst(),
        ip.tos(),
        ip.ttl(),
        ip.ident(),
        ip.total_length()
    )?;
    let notes = [
        (ip.dont_fragment(), ", DF"),
        (ip.reserved_flag(), ", reserved flag"),
        (ip.is_fragment(), ", fragment"),
        (!ip.checksum_is_right(), ", header checksum wrong"),
    ];
    write_notes(&notes, out)?;
    if ip.version_ihl() != 0x45 {
        write!(out, ", version and IHL {:#04x}", ip.version_ihl())?;
    }
    protocol(ip.protocol(), out)
}

/// Prints an IPv6 header, and returns its next header.
fn ipv6<T: AsRef<[u8]>>(ip: &Ipv6View<T>, out: &mut String) -> Result<u8, fmt::Error> {
    write!(
        out,
        "IPv6 {} > {}, traffic class {:#04x}, flow label {:#07x}, hop limit {}, payload length {}",
        ip.src(),
        ip.dst(),
        ip.traffic_class(),
        ip.flow_label(),
        ip.hop_limit(),
        ip.payload_length()
    )?;
    if ip.version() != 6 {
        write!(out, ", version {}", ip.version())?;
    }
    protocol(ip.next_header(), out)
}

fn protocol(protocol: u8, out: &mut String) -> Result<u8, fmt::Error> {
    if protocol != PROTOCOL_UDP {
        write!(out, ", protocol {protocol}")?;
    }
    writeln!(out)?;
    Ok(protocol)
}

/// Prints BTH, extension headers, payload and pad of what UDP carries.
fn transport(ib: &[u8], out: &mut String) -> fmt::Result {
    let Ok(bth) = BthView::new_checked(ib) else {
        return writeln!(out, "BTH cut off");
    };
    let opcode = Opcode::from_u8(bth.opcode());
    write!(
        out,
        "BTH {} ({:#04x}), DestQP {}, PSN {}",
        opcode.map_or("unknown opcode", Opcode::name),
        bth.opcode(),
        bth.dest_qp(),
        bth.psn()
    )?;
    let notes = [
        (bth.ack_req(), ", AckReq"),
        (bth.solicited(), ", solicited"),
        (bth.migration(), ", MigReq"),
        (bth.fecn(), ", FECN"),
        (bth.becn(), ", BECN"),
    ];
    write_notes(&notes, out)?;
    write!(out, ", pad {}, P_Key {}", bth.pad(), bth.pkey())?;
    if bth.transport_version() != 0 {
        write!(out, ", TVer {}", bth.transport_version())?;
    }
    if bth.reserved6() != 0 || bth.reserved7() != 0 {
        write!(
            out,
            ", reserved bits {:#04x} {:#04x}",
            bth.reserved6(),
            bth.reserved7()
        )?;
    }
    writeln!(out)?;

    let Some(body) = ib
        .len()
        .checked_sub(ICRC_LEN + usize::from(bth.pad()))
        .and_then(|end| ib.get(BTH_LEN..end))
    else {
        return Ok(());
    };
    let Some(kind) = opcode.map(Opcode::ext) else {
        return Ok(());
    };
    let Some(ext) = Ext::parse(kind, body) else {
        return writeln!(out, "extension headers cut off");
    };
    extension(&ext, out)?;
    let payload = body.get(kind.len()..).unwrap_or_default();
    if payload.is_empty() {
        return Ok(());
    }
    let shown = payload.get(..PAYLOAD_SHOWN).unwrap_or(payload);
    let dots = if shown.len() < payload.len() {
        " ..."
    } else {
        ""
    };
    writeln!(out, "payload {} bytes: {}{dots}", payload.len(), Hex(shown))
}

/// Prints the extension headers, one a line.
fn extension(ext: &Ext, out: &mut String) -> fmt::Result {
    if let Some(Reth { va, token, length }) = ext.reth() {
        writeln!(out, "RETH VA {va:#018x}, R_Key {token}, length {length}")?;
    }
    if let Some(Aeth { syndrome, msn }) = ext.aeth() {
        writeln!(out, "AETH {syndrome}, MSN {msn}")?;
    }
    if let Some(token) = ext.ieth() {
        writeln!(out, "IETH R_Key {token}")?;
    }
    if let Some(Deth { qkey, src_qp, .. }) = ext.deth() {
        writeln!(out, "DETH Q_Key {qkey:#010x}, source QP {src_qp}")?;
    }
    if let Some(imm) = ext.immediate() {
        writeln!(out, "ImmDt {}", Hex(&imm))?;
    }
    match ext {
        Ext::Atomic(atomic) => writeln!(
            out,
            "AtomicETH VA {:#018x}, R_Key {}, swap or add {:#x}, compare {:#x}",
            atomic.va, atomic.token, atomic.swap_or_add, atomic.compare
        ),
        Ext::AethAtomicAck(_, original) => writeln!(out, "AtomicAckETH original {original:#x}"),
        Ext::Cnp(reserved) if *reserved != [0; 16] => {
            writeln!(out, "CNP reserved {}", Hex(reserved))
        }
        _ => Ok(()),
    }
}

fn write_notes(notes: &[(bool, &str)], out: &mut String) -> fmt::Result {
    notes
        .iter()
        .filter(|(applies, _)| *applies)
        .try_for_each(|(_, note)| out.write_str(note))
}

/// Bytes as hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
