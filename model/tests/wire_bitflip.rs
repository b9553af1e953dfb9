//! Every single bit of every golden packet, flipped.
//!
//! [`lone`] and [`mended`] say by position what must become of the frame, from the reference and
//! the order of checks on the page of `wire`, not from what the code does. `lone` is the flip alone.
//! `mended` is the flip as a router or an attacker makes it, with the IPv4 header checksum put
//! right, so that the check behind it is the one under test.

#[path = "wire_support/golden.rs"]
mod golden;

use std::collections::BTreeMap;

use golden::{Golden, Layout, ext_len, fix_ipv4_checksum, packets};
use tandem_model::wire::{DropCause, Frame, dissect};

/// What becomes of a frame with one bit flipped at `bit` (0 is the most significant bit of byte 0).
fn lone(layout: &Layout, flipped: &[u8], bit: usize) -> DropCause {
    let byte = bit / 8;
    let in_ip = byte >= layout.ip && byte < layout.udp;
    match byte.wrapping_sub(layout.ip) {
        // Version and IHL are looked at before the checksum, which covers all the rest.
        1..=19 if in_ip && layout.ip_len == 20 => DropCause::IpChecksum,
        _ => mended(layout, flipped, bit),
    }
}

/// The same with a right IPv4 header checksum.
fn mended(layout: &Layout, flipped: &[u8], bit: usize) -> DropCause {
    let byte = bit / 8;
    if byte < layout.ip {
        return ethernet(layout, byte);
    }
    if byte < layout.udp {
        return match layout.ip_len {
            20 => ipv4(layout, flipped, bit),
            _ => ipv6(layout, flipped, bit),
        };
    }
    if byte < layout.bth {
        return match byte - layout.udp {
            // Source port: free to choose, but covered.
            0..2 => DropCause::Icrc,
            2..4 => DropCause::NotRoce,
            4..6 => DropCause::UdpLength,
            // No longer 0, and wrong.
            _ => DropCause::UdpChecksum,
        };
    }
    if byte < layout.bth + 12 {
        return bth(layout, flipped, bit);
    }
    match byte < layout.end {
        // Extension headers, payload, pad, ICRC.
        true => DropCause::Icrc,
        // Trailer.
        false => DropCause::None,
    }
}

fn ethernet(layout: &Layout, byte: usize) -> DropCause {
    match byte {
        // The destination is checked later, the source never.
        0..12 => DropCause::None,
        // EtherType or TPID: no single bit leads from one known type to another.
        12..14 => DropCause::NotRoce,
        14..16 if layout.tagged => DropCause::None,
        _ => DropCause::NotRoce,
    }
}

fn ipv4(layout: &Layout, flipped: &[u8], bit: usize) -> DropCause {
    let packet = &flipped[layout.ip..];
    match bit - layout.ip * 8 {
        // Version and IHL.
        0..8 => DropCause::IpVersion,
        // TOS.
        8..16 => DropCause::None,
        // Total length: longer than the frame, too short for UDP, or else at odds with UDP.
        16..32 => match usize::from(u16::from_be_bytes([packet[2], packet[3]])) {
            28.. if length(packet) <= packet.len() => DropCause::UdpLength,
            _ => DropCause::FrameShort,
        },
        // Identification, reserved flag, DF: covered.
        32..50 => DropCause::Icrc,
        // MF, fragment offset.
        50..64 => DropCause::IpFragment,
        // TTL.
        64..72 => DropCause::None,
        // Protocol.
        72..80 => DropCause::NotRoce,
        // Checksum: mending undoes the flip.
        80..96 => DropCause::None,
        // Addresses.
        _ => DropCause::Icrc,
    }
}

/// Total length of an IPv4 packet.
fn length(packet: &[u8]) -> usize {
    u16::from_be_bytes([packet[2], packet[3]]).into()
}

fn ipv6(layout: &Layout, flipped: &[u8], bit: usize) -> DropCause {
    let packet = &flipped[layout.ip..];
    match bit - layout.ip * 8 {
        0..4 => DropCause::IpVersion,
        // Traffic class and flow label.
        4..32 => DropCause::None,
        // Payload length.
        32..48 => match usize::from(u16::from_be_bytes([packet[4], packet[5]])) {
            len @ 8.. if 40 + len <= packet.len() => DropCause::UdpLength,
            _ => DropCause::FrameShort,
        },
        // Next header.
        48..56 => DropCause::NotRoce,
        // Hop limit.
        56..64 => DropCause::None,
        // Addresses.
        _ => DropCause::Icrc,
    }
}

fn bth(layout: &Layout, flipped: &[u8], bit: usize) -> DropCause {
    let bth = &flipped[layout.bth..];
    let pad = usize::from(bth[1] >> 4 & 3);
    match bit - layout.bth * 8 {
        // Opcode: unknown; known, with longer extension headers than there is room; or just wrong.
        0..8 => match ext_len(bth[0]) {
            None => DropCause::Opcode,
            Some(ext) if layout.end - layout.bth < 12 + ext + pad + 4 => DropCause::IbLength,
            Some(_) => DropCause::Icrc,
        },
        // SE, M.
        8..10 => DropCause::Icrc,
        // PadCnt: more than there is, or just wrong.
        10..12 => match ext_len(bth[0]) {
            Some(ext) if layout.end - layout.bth < 12 + ext + pad + 4 => DropCause::IbLength,
            _ => DropCause::Icrc,
        },
        12..16 => DropCause::Tver,
        // P_Key.
        16..32 => DropCause::Icrc,
        // FECN, BECN, reserved 6.
        32..40 => DropCause::None,
        // DestQP, A, reserved 7, PSN.
        _ => DropCause::Icrc,
    }
}

/// Parses a flipped frame, compares, and counts it.
fn check(
    golden: &Golden,
    flipped: &[u8],
    bit: usize,
    expected: DropCause,
    counts: &mut BTreeMap<DropCause, usize>,
) {
    let place = || format!("{}, bit {} of byte {}", golden.name(), 7 - bit % 8, bit / 8);
    let original = Frame::parse(&golden.frame).unwrap();
    match Frame::parse(flipped) {
        Ok(frame) => {
            assert_eq!(
                DropCause::None,
                expected,
                "{}\n{}",
                place(),
                dissect(flipped)
            );
            // Nothing that the transport acts on has changed.
            assert_eq!(frame.ext, original.ext, "{}", place());
            assert_eq!(frame.payload, original.payload, "{}", place());
            assert_eq!(
                (frame.bth.opcode, frame.bth.psn, frame.bth.dest_qp),
                (original.bth.opcode, original.bth.psn, original.bth.dest_qp),
                "{}",
                place()
            );
            assert_eq!(frame.to_vec(), flipped, "{}", place());
        }
        Err(cause) => assert_eq!(cause, expected, "{}\n{}", place(), dissect(flipped)),
    }
    *counts.entry(expected).or_default() += 1;
}

// Covers: WIRE-ICRC-5, WIRE-ICRC-6, WIRE-ICRC-7, WIRE-ICRC-8, WIRE-FRM-7, WIRE-FRM-9, WIRE-FRM-10, WIRE-FRM-11
#[test]
fn every_bit_is_free_or_caught_by_the_check_it_belongs_to() {
    let (mut alone, mut repaired) = (BTreeMap::new(), BTreeMap::new());
    let mut bits = 0;
    for golden in packets() {
        let layout = golden.layout();
        for bit in 0..golden.frame.len() * 8 {
            let mut flipped = golden.frame.clone();
            flipped[bit / 8] ^= 0x80 >> (bit % 8);
            check(
                &golden,
                &flipped,
                bit,
                lone(&layout, &flipped, bit),
                &mut alone,
            );
            if layout.ip_len == 20 && bit / 8 >= layout.ip && bit / 8 < layout.udp {
                fix_ipv4_checksum(&mut flipped, layout.ip);
                let expected = mended(&layout, &flipped, bit);
                check(&golden, &flipped, bit, expected, &mut repaired);
            }
            bits += 1;
        }
    }
    println!("{bits} bits, flipped alone: {alone:?}");
    println!("in IPv4 headers, checksum mended: {repaired:?}");
    assert_eq!(alone.values().sum::<usize>(), bits);

    use DropCause::*;
    for cause in [
        None,
        NotRoce,
        FrameShort,
        IpVersion,
        IpChecksum,
        UdpLength,
        UdpChecksum,
        Opcode,
        IbLength,
        Tver,
        Icrc,
    ] {
        assert!(
            alone.get(&cause).is_some_and(|count| *count > 0),
            "{cause:?} alone"
        );
    }
    for cause in [
        None, NotRoce, FrameShort, IpVersion, IpFragment, UdpLength, Icrc,
    ] {
        assert!(
            repaired.get(&cause).is_some_and(|count| *count > 0),
            "{cause:?} mended"
        );
    }
}
