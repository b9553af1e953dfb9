//! The order of checks: each cause alone, and each pair of neighbours at once.

#[path = "wire_support/golden.rs"]
mod golden;

use golden::{fix_ipv4_checksum, packet};
use tandem_model::wire::{DropCause, Frame, seal};

use DropCause::*;

/// Offsets in an untagged IPv4 frame.
const IP: usize = 14;
const UDP: usize = 34;
const BTH: usize = 42;

/// One fault, and the cause that it has alone.
struct Fault {
    cause: DropCause,
    inflict: fn(&mut Vec<u8>),
}

/// Faults of an IPv4 frame in the order in which they are reported.
const FAULTS: &[Fault] = &[
    Fault {
        cause: NotRoce,
        inflict: |frame| frame[12] = 0x88,
    },
    Fault {
        cause: IpVersion,
        inflict: |frame| frame[IP] = 0x46,
    },
    Fault {
        cause: IpChecksum,
        inflict: |frame| frame[IP + 11] ^= 1,
    },
    Fault {
        cause: IpFragment,
        inflict: |frame| frame[IP + 6] |= 0x20,
    },
    Fault {
        cause: NotRoce,
        inflict: |frame| frame[IP + 9] = 6,
    },
    Fault {
        cause: FrameShort,
        inflict: |frame| frame[IP + 2] = 0x7F,
    },
    Fault {
        cause: NotRoce,
        inflict: |frame| frame[UDP + 3] ^= 1,
    },
    Fault {
        cause: UdpLength,
        inflict: |frame| frame[UDP + 5] -= 1,
    },
    Fault {
        cause: UdpChecksum,
        inflict: |frame| frame[UDP + 6] = 0x5A,
    },
    Fault {
        cause: Opcode,
        inflict: |frame| frame[BTH] = 0x15,
    },
    // AtomicETH does not fit behind an ACK's BTH.
    Fault {
        cause: IbLength,
        inflict: |frame| frame[BTH] = 0x13,
    },
    Fault {
        cause: Tver,
        inflict: |frame| frame[BTH + 1] |= 1,
    },
    Fault {
        cause: Icrc,
        inflict: |frame| *frame.last_mut().unwrap() ^= 1,
    },
];

/// Place of the header checksum's own fault, which mending would undo.
const CHECKSUM: usize = 2;

fn cause(frame: &[u8]) -> DropCause {
    Frame::parse(frame).err().unwrap_or(None)
}

#[test]
fn the_first_fault_of_the_list_is_reported() {
    let whole = packet("ack_100").frame;
    assert_eq!(whole.len(), 62, "the ICRC ends the frame");
    let mut pairs = 0;
    for (early, first) in FAULTS.iter().enumerate() {
        for (late, second) in FAULTS.iter().enumerate().skip(early) {
            // Both are values of the opcode byte.
            if (first.cause, second.cause) == (Opcode, IbLength) {
                continue;
            }
            let mut frame = whole.clone();
            let both = [early, late];
            let distinct = if early == late { &both[..1] } else { &both };
            for at in distinct.iter().filter(|at| **at != CHECKSUM) {
                (FAULTS[*at].inflict)(&mut frame);
            }
            fix_ipv4_checksum(&mut frame, IP);
            if both.contains(&CHECKSUM) {
                (FAULTS[CHECKSUM].inflict)(&mut frame);
            }
            assert_eq!(cause(&frame), first.cause, "faults {early} and {late}");
            pairs += 1;
        }
    }
    assert_eq!(pairs, FAULTS.len() * (FAULTS.len() + 1) / 2 - 1);
}

/// Every frame cut at every length: `FrameShort`, until only the trailer is missing.
#[test]
fn a_cut_frame_is_short() {
    for golden in golden::packets() {
        let layout = golden.layout();
        for len in 0..golden.frame.len() {
            let expected = if len < layout.end { FrameShort } else { None };
            assert_eq!(
                cause(&golden.frame[..len]),
                expected,
                "{} cut to {len}",
                golden.name()
            );
        }
    }
}

// Covers: WIRE-FRM-9
#[test]
fn a_trailer_of_any_length_is_ignored_and_kept() {
    let whole = packet("v6_send_only").frame;
    for extra in [1, 2, 3, 17, 1500] {
        let mut frame = whole.clone();
        frame.resize(whole.len() + extra, 0xA5);
        let parsed = Frame::parse(&frame).unwrap();
        assert_eq!(parsed.trailer, vec![0xA5; extra]);
        assert_eq!(parsed.to_vec(), frame);
    }
}

// Covers: WIRE-BTH-11
#[test]
fn pad_bytes_may_be_anything() {
    let mut frame = packet("send_only").frame;
    frame[59..62].copy_from_slice(&[1, 2, 3]);
    assert_eq!(cause(&frame), Icrc);
    assert!(seal(&mut frame));
    let parsed = Frame::parse(&frame).unwrap();
    assert_eq!(
        (parsed.payload, parsed.pad_bytes),
        (&b"hello"[..], [1, 2, 3])
    );
    assert_eq!(parsed.to_vec(), frame);
}

/// WIRE-BTH-2, -9, -12: with a right ICRC, so that nothing but the fault is wrong.
// Covers: WIRE-BTH-2, WIRE-BTH-6, WIRE-BTH-9, WIRE-BTH-12
#[test]
fn faults_under_a_right_icrc() {
    for (at, value, expected) in [
        (BTH, 0x15, Opcode),
        (BTH, 0x18, Opcode),
        (BTH, 0x1C, Opcode),
        (BTH, 0x24, Opcode),
        (BTH, 0xFF, Opcode),
        (BTH, 0x13, IbLength),
        // An ACK with pad: 12 + 4 + 3 + 4 bytes do not fit into 20.
        (BTH + 1, 0x30, IbLength),
        (BTH + 1, 0x01, Tver),
        (BTH + 1, 0x0F, Tver),
        // MigReq alone is no fault (WIRE-BTH-6).
        (BTH + 1, 0x40, None),
    ] {
        let mut frame = packet("ack_100").frame;
        frame[at] = value;
        assert!(seal(&mut frame));
        assert_eq!(cause(&frame), expected, "byte {at} = {value:#04x}");
    }
}

/// WIRE-FRM-10: a BTH and an ICRC are the least.
// Covers: WIRE-FRM-10
#[test]
fn the_shortest_udp_lengths() {
    let whole = packet("send_only_zero").frame;
    assert_eq!(cause(&whole), None);
    for udp_length in 0..24u16 {
        let mut frame = whole.clone();
        frame[IP + 2..IP + 4].copy_from_slice(&(20 + udp_length).to_be_bytes());
        frame[UDP + 4..UDP + 6].copy_from_slice(&udp_length.to_be_bytes());
        fix_ipv4_checksum(&mut frame, IP);
        let expected = if udp_length < 8 {
            FrameShort
        } else {
            UdpLength
        };
        assert_eq!(cause(&frame), expected, "UDP length {udp_length}");
    }
}

/// A second tag is an EtherType like any other.
#[test]
fn two_tags_are_not_ours() {
    let mut frame = packet("send_only_vlan").frame;
    frame.splice(12..12, [0x81, 0, 0, 1]);
    assert_eq!(cause(&frame), NotRoce);
}
