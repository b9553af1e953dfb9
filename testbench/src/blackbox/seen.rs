//! What a captured frame is.

use std::net::IpAddr;

use tandem_model::wire::{DropCause, Frame, Qpn, Service, seal};

use super::file::Packet;

/// Queue pair that a frame goes to, and who sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Flow {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) qpn: Qpn,
}

impl Flow {
    pub(crate) fn of(frame: &Frame<'_>) -> Self {
        Self {
            src: frame.ip.src(),
            dst: frame.ip.dst(),
            qpn: frame.bth.dest_qp,
        }
    }
}

/// A captured frame, as far as the check is concerned.
#[derive(Debug)]
pub(crate) enum Seen<'a> {
    /// No RoCEv2.
    Other,
    /// RoCEv2, but not all of it was captured.
    Cut,
    /// An opcode of a service that is not checked: unreliable connection, datagrams of others, extended connection.
    OtherService,
    /// A frame that every receiver drops.
    Bad(DropCause),
    /// Whole but for a checksum: the frame as it would be with a right one.
    Damaged(DropCause, Vec<u8>),
    /// A good frame.
    Good(Frame<'a>),
}

impl<'a> Seen<'a> {
    pub(crate) fn of(packet: &'a Packet) -> Self {
        let cause = match Frame::parse(&packet.bytes) {
            Ok(frame) => {
                let datagram = frame.bth.opcode.service() == Service::Ud;
                return match datagram && frame.bth.dest_qp != Qpn::GSI {
                    true => Self::OtherService,
                    false => Self::Good(frame),
                };
            }
            Err(cause) => cause,
        };
        match cause {
            DropCause::NotRoce => Self::Other,
            _ if packet.is_cut() => Self::Cut,
            DropCause::Opcode if other_service(&packet.bytes) => Self::OtherService,
            DropCause::IpChecksum | DropCause::UdpChecksum | DropCause::Icrc => {
                let mut whole = packet.bytes.clone();
                // Unsealed it stays what it is.
                seal(&mut whole);
                match Frame::parse(&whole).map(|_| ()) {
                    Ok(()) => Self::Damaged(cause, whole),
                    // What claims to be IP and is broken need not be RoCEv2.
                    Err(DropCause::NotRoce) => Self::Other,
                    Err(_) => Self::Bad(cause),
                }
            }
            DropCause::FrameShort | DropCause::IpVersion | DropCause::IpFragment
                if !claims_roce(&packet.bytes) =>
            {
                Self::Other
            }
            cause => Self::Bad(cause),
        }
    }
}

/// Where UDP stands in an untagged or tagged frame of either IP version.
fn udp_offset(bytes: &[u8]) -> Option<usize> {
    let pair = |offset: usize| bytes.get(offset..offset + 2)?.first_chunk::<2>().copied();
    let (kind, base) = match pair(12)? {
        [0x81, 0x00] => (pair(16)?, 18),
        kind => (kind, 14),
    };
    match kind {
        [0x08, 0x00] if *bytes.get(base + 9)? == 17 => {
            Some(base + 4 * usize::from(*bytes.get(base)? & 0xF))
        }
        [0x86, 0xDD] if *bytes.get(base + 6)? == 17 => Some(base + 40),
        _ => None,
    }
}

/// Whether a frame that the parser does not take is RoCEv2 by its UDP port.
fn claims_roce(bytes: &[u8]) -> bool {
    udp_offset(bytes).is_some_and(|udp| bytes.get(udp + 2..udp + 4) == Some(&4791u16.to_be_bytes()))
}

/// Whether an unknown opcode is one of a service that this check knows nothing of.
fn other_service(bytes: &[u8]) -> bool {
    let opcode = udp_offset(bytes).and_then(|udp| bytes.get(udp + 8));
    opcode.is_some_and(|opcode| !matches!(opcode >> 5, 0b000 | 0b011 | 0b100))
}
