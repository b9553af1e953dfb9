//! Bad datagrams, and what the errors say.

use tandem_model::cm::{CmError, Datagram, IpCm, MAD_LEN, Mad, Message};
use tandem_model::wire::{Frame, seal};

use crate::golden::{packet, packets};

/// The datagram of a golden packet.
fn golden_mad(name: &str) -> Vec<u8> {
    Frame::parse(&packet(name).frame).unwrap().payload.to_vec()
}

fn refusal(bytes: &[u8]) -> String {
    Mad::parse(bytes).unwrap_err().to_string()
}

/// WIRE-CM-1.
// Covers: WIRE-CM-1
#[test]
fn header_fields_are_named() {
    let cases = [
        (0, 2, "MAD, base_version: 0x2 is not allowed there"),
        (1, 8, "MAD, class: 0x8 is not allowed there"),
        (2, 1, "MAD, class_version: 0x1 is not allowed there"),
        (3, 0x81, "MAD, method: 0x81 is not allowed there"),
        (17, 0x17, "MAD, attribute_id: 0x17 is not allowed there"),
        (16, 1, "MAD, attribute_id: 0x110 is not allowed there"),
    ];
    for (at, value, text) in cases {
        let mut bytes = golden_mad("cm_req");
        bytes[at] = value;
        assert_eq!(refusal(&bytes), text);
    }
}

#[test]
fn fields_of_messages_are_named() {
    let cases = [
        (
            "cm_req",
            24..28,
            0,
            "REQ, local_comm_id: 0x0 is not allowed there",
        ),
        (
            "cm_rep",
            24..28,
            0,
            "REP, local_comm_id: 0x0 is not allowed there",
        ),
        (
            "cm_rep",
            28..32,
            0,
            "REP, remote_comm_id: 0x0 is not allowed there",
        ),
        (
            "cm_rtu",
            28..32,
            0,
            "RTU, remote_comm_id: 0x0 is not allowed there",
        ),
        (
            "cm_dreq",
            28..32,
            0,
            "DREQ, remote_comm_id: 0x0 is not allowed there",
        ),
        (
            "cm_drep",
            24..28,
            0,
            "DREP, local_comm_id: 0x0 is not allowed there",
        ),
        (
            "cm_mra",
            24..28,
            0,
            "MRA, local_comm_id: 0x0 is not allowed there",
        ),
        (
            "cm_mra",
            32..33,
            0xC0,
            "MRA, message: 0x3 is not allowed there",
        ),
        (
            "cm_rej",
            32..33,
            0xFF,
            "REJ, message: 0x3 is not allowed there",
        ),
    ];
    for (name, place, value, text) in cases {
        let mut bytes = golden_mad(name);
        bytes[place].fill(value);
        assert_eq!(refusal(&bytes), text);
    }
}

/// Every prefix of every message, and more bytes than there are.
#[test]
fn other_lengths_are_refused() {
    for golden in packets() {
        if golden.record["fields"].get("cm_mad").is_none() {
            continue;
        }
        let mut bytes = golden_mad(golden.name());
        for length in 0..MAD_LEN {
            assert_eq!(
                Mad::parse(&bytes[..length]),
                Err(CmError::Length { length })
            );
        }
        bytes.push(0);
        assert_eq!(
            refusal(&bytes),
            "length: 257 bytes, a management datagram has 256"
        );
    }
}

/// Every prefix of a frame.
#[test]
fn cut_frames_are_refused() {
    let frame = packet("cm_req").frame;
    for length in 0..frame.len() {
        let error = Datagram::parse(&frame[..length]).unwrap_err();
        assert!(matches!(error, CmError::Frame(_)), "{length}: {error}");
    }
}

/// WIRE-EXT-8: frames in which nothing is wrong but that they are no datagrams of connection management.
// Covers: WIRE-EXT-8
#[test]
fn headers_before_the_datagram_are_named() {
    // Offsets of a frame over untagged IPv4: BTH at 42, DETH at 54.
    let cases = [
        (42, vec![0x65], "BTH, opcode: 0x65 is not allowed there"),
        (42, vec![0x04], "BTH, opcode: 0x4 is not allowed there"),
        (
            44,
            vec![0x12, 0x34],
            "BTH, pkey: 0x1234 is not allowed there",
        ),
        (47, vec![0, 0, 2], "BTH, dest_qp: 0x2 is not allowed there"),
        (
            54,
            vec![0x11, 0x11, 0x11, 0x11],
            "DETH, qkey: 0x11111111 is not allowed there",
        ),
        (
            59,
            vec![0, 0, 0x11],
            "DETH, src_qp: 0x11 is not allowed there",
        ),
        (
            43,
            vec![0x10],
            "length: 255 bytes, a management datagram has 256",
        ),
    ];
    for (at, bytes, text) in cases {
        let mut frame = packet("cm_req").frame;
        frame[at..at + bytes.len()].copy_from_slice(&bytes);
        assert!(seal(&mut frame));
        assert_eq!(Datagram::parse(&frame).unwrap_err().to_string(), text);
    }
}

/// A partial member of the default partition is heard (WIRE-BTH-4).
#[test]
fn limited_members_are_heard() {
    let mut frame = packet("cm_req").frame;
    frame[44..46].copy_from_slice(&[0x7F, 0xFF]);
    assert!(seal(&mut frame));
    assert!(Datagram::parse(&frame).is_ok());
}

/// WIRE-CM-5.
// Covers: WIRE-CM-5
#[test]
fn fields_of_the_ip_header_are_named() {
    let Message::Req(req) = Mad::parse(&golden_mad("cm_req")).unwrap().message else {
        panic!("no request");
    };
    let cases = [
        (0, 0x10, "IP CM header, major: 0x1 is not allowed there"),
        (0, 0x01, "IP CM header, minor: 0x1 is not allowed there"),
        (
            1,
            0x50,
            "IP CM header, ip_version: 0x5 is not allowed there",
        ),
        (
            4,
            0xFE,
            "IP CM header, source: 0xfe0000000000000000000000c0000201 is not allowed there",
        ),
        (
            27,
            1,
            "IP CM header, destination: 0x100000000c0000202 is not allowed there",
        ),
    ];
    for (at, value, text) in cases {
        let mut bytes = req.private_data;
        bytes[at] = value;
        assert_eq!(IpCm::parse(&bytes).unwrap_err().to_string(), text);
    }
}
