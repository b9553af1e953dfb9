//! Rules that one frame keeps or breaks alone.

use tandem_model::wire::{
    Bth, Deth, DropCause, Ext, Frame, Ip, NakCode, Opcode, Operation, PayloadRule, Pkey, Psn, Qpn,
    Service, Syndrome, UdpChecksum,
};

use super::finding::{At, Findings};
use super::quirks;

/// Longest message in bytes.
const MAX_MESSAGE: u32 = 1 << 31;
/// Least frame in bytes.
const MIN_FRAME: usize = 60;

/// The requirement that a frame breaks which every receiver drops, and what is wrong with it.
pub(super) fn dropped(cause: DropCause) -> (&'static str, &'static str) {
    match cause {
        DropCause::IpVersion => ("WIRE-FRM-1", "version or length of the IP header"),
        DropCause::IpChecksum => ("WIRE-FRM-1", "the checksum of the IP header is wrong"),
        DropCause::IpFragment => ("WIRE-FRM-1", "a fragment"),
        DropCause::FrameShort => ("WIRE-FRM-10", "the frame is shorter than its lengths say"),
        DropCause::UdpLength => ("WIRE-FRM-4", "the UDP length does not fit the frame"),
        DropCause::UdpChecksum => ("WIRE-FRM-7", "the UDP checksum is neither 0 nor right"),
        DropCause::Opcode => ("WIRE-BTH-9", "an opcode that the service does not have"),
        DropCause::IbLength => ("WIRE-BTH-12", "the packet is shorter than its headers"),
        DropCause::Tver => ("WIRE-BTH-2", "the transport version is not 0"),
        DropCause::Icrc => ("WIRE-ICRC-8", "the ICRC is wrong"),
        _ => ("WIRE-BTH-9", "every receiver drops it"),
    }
}

/// Checks the fields of a good frame; `length` is that of the frame.
pub(super) fn check(at: At, frame: &Frame<'_>, length: usize, out: &mut Findings) {
    let rules: [fn(At, &Frame<'_>, &mut Findings); 5] =
        [network, base, payload, extension, service];
    rules.iter().for_each(|rule| rule(at, frame, out));
    filling(at, frame, length, out);
}

/// IP and UDP.
fn network(at: At, frame: &Frame<'_>, out: &mut Findings) {
    if let Ip::V4(ip) = frame.ip
        && (!ip.dont_fragment || ip.reserved_flag)
    {
        out.violation(at, "WIRE-FRM-1", "the IPv4 flags are not DF alone");
    }
    if frame.udp_checksum == UdpChecksum::Computed {
        out.violation(at, "WIRE-FRM-5", "there is a UDP checksum");
    }
    // Adapters send congestion notifications from port 0.
    if frame.udp_sport < 0xC000 && frame.bth.opcode != Opcode::Cnp {
        let message = format!("UDP source port {} is below 0xC000", frame.udp_sport);
        out.violation(at, "WIRE-UDP-1", message);
    }
}

/// What fills the frame to the least that Ethernet has.
fn filling(at: At, frame: &Frame<'_>, length: usize, out: &mut Findings) {
    if length < MIN_FRAME {
        let message = format!("a frame of {length} bytes");
        out.quirk(at, "WIRE-FRM-8", &quirks::NOT_FILLED, message);
    } else if length == MIN_FRAME && frame.trailer.iter().any(|byte| *byte != 0) {
        out.violation(
            at,
            "WIRE-FRM-8",
            "the frame is filled with something else than zeros",
        );
    }
}

/// The BTH.
fn base(at: At, frame: &Frame<'_>, out: &mut Findings) {
    let bth = &frame.bth;
    if bth.reserved6 != 0 || bth.reserved7 != 0 {
        out.violation(at, "WIRE-BTH-1", "reserved bits of the BTH are not 0");
    }
    if bth.pkey != Pkey::DEFAULT {
        out.violation(at, "WIRE-BTH-3", format!("P_Key {}", bth.pkey));
    }
    if bth.solicited && !may_solicit(bth.opcode) {
        let message = format!("SE in a {}", bth.opcode);
        out.violation(at, "WIRE-BTH-5", message);
    }
    if bth.ack_req {
        match bth.opcode.service() {
            Service::Rc if bth.opcode.is_request() => {}
            Service::Ud => out.quirk(at, "WIRE-CM-15", &quirks::MAD_ASKS, "AckReq in a datagram"),
            _ => {
                let message = format!("AckReq in a {}", bth.opcode);
                out.violation(at, "WIRE-BTH-7", message);
            }
        }
    }
    if bth.dest_qp == Qpn::new(0) {
        out.violation(at, "WIRE-BTH-9", "queue pair 0");
    }
    let asks = bth.opcode.ends_message() && bth.opcode.is_request();
    if asks && bth.opcode.service() == Service::Rc && !bth.ack_req {
        let message = format!("a {} does not ask for an acknowledgement", bth.opcode);
        out.violation(at, "WIRE-ACK-14", message);
    }
}

/// Whether a packet of an opcode may have SE: the end of a SEND, and of a WRITE with immediate data.
fn may_solicit(opcode: Opcode) -> bool {
    match opcode.operation() {
        Operation::Send | Operation::Datagram => opcode.ends_message(),
        Operation::Write => opcode.has_immediate(),
        _ => false,
    }
}

/// Payload and pad, as far as the path MTU does not matter.
fn payload(at: At, frame: &Frame<'_>, out: &mut Findings) {
    let opcode = frame.bth.opcode;
    let length = frame.payload.len();
    if frame.bth.pad != Bth::pad_for(length) {
        let message = format!("{} pad bytes behind {length} bytes", frame.bth.pad);
        out.violation(at, "WIRE-BTH-10", message);
    } else if frame.pad_bytes != [0; 3] {
        out.violation(at, "WIRE-BTH-10", "pad bytes are not 0");
    }
    match opcode.payload_rule() {
        PayloadRule::Empty if length > 0 => {
            let id = match opcode.operation() {
                Operation::Acknowledge => "WIRE-EXT-5",
                Operation::AtomicAcknowledge => "WIRE-EXT-10",
                Operation::Atomic => "WIRE-EXT-9",
                Operation::Congestion => "WIRE-CNP-1",
                _ => "WIRE-EXT-1",
            };
            out.violation(
                at,
                id,
                format!("{length} bytes behind the headers of a {opcode}"),
            );
        }
        PayloadRule::Tail if length == 0 => {
            let id = if opcode.is_response() {
                "WIRE-RD-5"
            } else {
                "WIRE-SEG-3"
            };
            out.violation(at, id, format!("a {opcode} without payload"));
        }
        _ => {}
    }
}

/// Extension headers.
fn extension(at: At, frame: &Frame<'_>, out: &mut Findings) {
    let opcode = frame.bth.opcode;
    if let Some(reth) = frame.ext.reth() {
        if reth.length > MAX_MESSAGE {
            let message = format!("a message of {} bytes", reth.length);
            out.violation(at, "WIRE-SEG-10", message);
        }
        let only = opcode.operation() == Operation::Write && opcode.ends_message();
        if only && reth.length as usize != frame.payload.len() {
            let message = format!(
                "RETH says {} bytes, the packet has {}",
                reth.length,
                frame.payload.len()
            );
            out.violation(at, "WIRE-EXT-2", message);
        }
    }
    if let Some(aeth) = frame.ext.aeth() {
        syndrome(at, opcode, aeth.syndrome, out);
    }
    if let Ext::Atomic(atomic) = frame.ext
        && atomic.va % 8 != 0
    {
        let message = format!("an atomic at {:#x}, not a multiple of 8", atomic.va);
        out.violation(at, "WIRE-NAK-10", message);
    }
}

fn syndrome(at: At, opcode: Opcode, syndrome: Syndrome, out: &mut Findings) {
    match syndrome {
        Syndrome::Reserved(byte) => {
            let message = format!("syndrome {byte:#04x} does not exist");
            out.violation(at, "WIRE-EXT-6", message);
        }
        Syndrome::Nak(NakCode::InvalidRd | NakCode::Reserved(_)) => {
            let message = format!("NAK {:#04x} does not exist here", syndrome.encode());
            out.violation(at, "WIRE-NAK-15", message);
        }
        Syndrome::Ack { .. } => {}
        _ if opcode != Opcode::Acknowledge => {
            let message = format!("syndrome {:#04x} in a {opcode}", syndrome.encode());
            out.violation(at, "WIRE-EXT-7", message);
        }
        _ => {}
    }
}

/// Packets outside the connection's own service.
fn service(at: At, frame: &Frame<'_>, out: &mut Findings) {
    if let Ext::Cnp(reserved) = frame.ext
        && (reserved != [0; 16] || !frame.bth.becn || frame.bth.psn != Psn::ZERO)
    {
        out.violation(at, "WIRE-CNP-1", "a CNP has BECN, PSN 0 and 16 zero bytes");
    }
    if frame.bth.opcode.service() == Service::Ud && frame.ext.deth() != Some(Deth::GSI) {
        out.violation(
            at,
            "WIRE-EXT-8",
            "the DETH is not that of connection management",
        );
    }
    if frame.bth.opcode.service() != Service::Ud && frame.bth.dest_qp == Qpn::GSI {
        out.violation(at, "WIRE-BTH-9", "queue pair 1 has no such opcode");
    }
}
