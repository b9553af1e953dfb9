//! A frame in a few words.

use std::fmt::Write;

use serde::Serialize;
use tandem_model::wire::eth::EthView;
use tandem_model::wire::{DropCause, Frame, Opcode, Operation, Service, Syndrome};

use super::frame_of;
use crate::blackbox::Seen;
use crate::blackbox::file::Packet;

/// Kinds of frames that look different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// A request.
    Request,
    /// An answer.
    Response,
    /// An answer that refuses, or asks to wait.
    Refusal,
    /// Connection management and congestion.
    Management,
    /// A frame that every receiver drops.
    Broken,
    /// No RoCEv2.
    Other,
}

/// Opcode, queue pair, PSN, syndrome, lengths.
pub fn label(packet: &Packet) -> (String, Tone) {
    let words = || frame_of(packet, |frame| (words(frame), tone(frame)));
    match Seen::of(packet) {
        Seen::Other => (other(&packet.bytes), Tone::Other),
        Seen::Cut => ("RoCEv2, not captured whole".into(), Tone::Other),
        Seen::OtherService => ("RoCEv2 of another service".into(), Tone::Other),
        Seen::Bad(cause) => (format!("dropped: {}", reason(cause)), Tone::Broken),
        Seen::Damaged(cause, _) => match words() {
            Some((words, _)) => (format!("{words}, {} wrong", checksum(cause)), Tone::Broken),
            None => (format!("dropped: {}", reason(cause)), Tone::Broken),
        },
        Seen::Good(frame) => (self::words(&frame), tone(&frame)),
    }
}

fn words(frame: &Frame<'_>) -> String {
    let bth = &frame.bth;
    let mut text = format!("{}, QP {}, PSN {}", bth.opcode, bth.dest_qp, bth.psn);
    // Writing to a string does not fail.
    if let Some(aeth) = frame.ext.aeth() {
        let _ = write!(text, ", {}, MSN {}", aeth.syndrome, aeth.msn);
    }
    match (frame.ext.reth(), frame.payload.len()) {
        (Some(reth), 0) => {
            let _ = write!(text, ", {} bytes", reth.length);
        }
        (Some(reth), length) if length != reth.length as usize => {
            let _ = write!(text, ", {length} of {} bytes", reth.length);
        }
        (None, 0) => {}
        (_, length) => {
            let _ = write!(text, ", {length} bytes");
        }
    }
    text
}

fn tone(frame: &Frame<'_>) -> Tone {
    let opcode = frame.bth.opcode;
    let refused = frame
        .ext
        .aeth()
        .is_some_and(|aeth| !matches!(aeth.syndrome, Syndrome::Ack { .. }));
    match opcode.operation() {
        _ if opcode.service() == Service::Ud => Tone::Management,
        Operation::Congestion => Tone::Management,
        _ if refused => Tone::Refusal,
        _ if opcode.is_response() && opcode != Opcode::Cnp => Tone::Response,
        _ => Tone::Request,
    }
}

fn checksum(cause: DropCause) -> &'static str {
    match cause {
        DropCause::IpChecksum => "IP checksum",
        DropCause::UdpChecksum => "UDP checksum",
        _ => "ICRC",
    }
}

/// The shared table's words for a cause.
pub(crate) fn reason(cause: DropCause) -> &'static str {
    DropCause::TABLE
        .variants
        .iter()
        .find(|variant| u128::from(variant.value) == u128::from(cause))
        .map_or("", |variant| variant.doc)
}

/// What is no RoCEv2, by its EtherType and its IP protocol.
fn other(bytes: &[u8]) -> String {
    let Ok(eth) = EthView::new_checked(bytes) else {
        return format!("{} bytes, too short for Ethernet", bytes.len());
    };
    let byte = |offset: usize| bytes.get(eth.header_len() + offset).copied();
    match (eth.ethertype(), byte(9), byte(6)) {
        (0x0806, _, _) => match byte(7) {
            Some(1) => "ARP request".into(),
            Some(2) => "ARP reply".into(),
            _ => "ARP".into(),
        },
        (0x0800, Some(protocol), _) | (0x86DD, _, Some(protocol)) => match (protocol, byte(40)) {
            (58, Some(135)) => "neighbour solicitation".into(),
            (58, Some(136)) => "neighbour advertisement".into(),
            (6, _) => "TCP".into(),
            (17, _) => "UDP".into(),
            (protocol, _) => format!("IP protocol {protocol}"),
        },
        (kind, _, _) => format!("EtherType {kind:#06x}"),
    }
}
