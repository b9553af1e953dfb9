//! The room against golden packets and captures: WIRE-FRM, WIRE-BTH, WIRE-EXT, WIRE-ICRC.

use std::fs::{self, File};
use std::net::IpAddr;
use std::path::PathBuf;

use pcap_file::pcap::PcapReader;
use tandem_cosim_wire::{Gather, Judged, Sent, Wire};
use tandem_model::wire::{DropCause, Ext, Frame, Ip, Opcode, dissect, seal};

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../model/tests/data")
}

struct Golden {
    name: String,
    frame: Vec<u8>,
}

fn golden() -> Vec<Golden> {
    let text = fs::read_to_string(data().join("rocev2-golden-packets.jsonl")).unwrap();
    let packets: Vec<Golden> = text
        .lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let hex = record["hex"].as_str().unwrap();
            let byte = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
            let frame = (0..hex.len()).step_by(2).map(byte).collect();
            Golden {
                name: record["name"].as_str().unwrap().to_owned(),
                frame,
            }
        })
        .collect();
    assert_eq!(packets.len(), 111);
    packets
}

fn captured() -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(data().join("rxe-captures"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "pcap"));
    paths.sort();
    assert_eq!(paths.len(), 35);
    let mut frames = Vec::new();
    for path in paths {
        let mut reader = PcapReader::new(File::open(path).unwrap()).unwrap();
        while let Some(packet) = reader.next_packet() {
            frames.push(packet.unwrap().data.into_owned());
        }
    }
    frames
}

fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}

fn be(bytes: [u8; 4]) -> u32 {
    u32::from_be_bytes(bytes)
}

/// Compares a verdict of the room with the model's reading of the same bytes.
fn compare(frame: &[u8], judged: &Judged) {
    let place = || format!("{judged:?}\n{}", dissect(frame));
    let record = &judged.record;
    assert_eq!(usize::from(record.frame_len), frame.len(), "{}", place());
    let parsed = Frame::parse(frame);
    let whole = match &parsed {
        Ok(parsed) => parsed.bth.dest_qp.get() == 1,
        Err(cause) => *cause == DropCause::NotRoce,
    };
    assert_eq!(record.whole, whole, "{}", place());
    if whole {
        compare_whole(frame, judged);
    }
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(cause) => {
            assert_eq!(record.drop, cause as u8, "{cause:?} {}", place());
            assert!(whole || judged.payload.is_empty(), "{}", place());
            return;
        }
    };
    assert_eq!(record.drop, DropCause::None as u8, "{}", place());
    let bth = parsed.bth;
    assert_eq!(record.dst_mac, parsed.eth.dst.0, "{}", place());
    assert_eq!(record.ipv6, matches!(parsed.ip, Ip::V6(_)), "{}", place());
    assert_eq!(record.src_ip, octets(parsed.ip.src()), "{}", place());
    assert_eq!(record.dst_ip, octets(parsed.ip.dst()), "{}", place());
    assert_eq!(record.opcode, bth.opcode as u8, "{}", place());
    assert_eq!(
        (record.solicited, record.ack_req, record.pad),
        (bth.solicited, bth.ack_req, bth.pad),
        "{}",
        place()
    );
    assert_eq!(record.pkey, bth.pkey.0, "{}", place());
    let ecn = parsed.ip.traffic_class() & 3;
    assert_eq!(record.ecn, ecn, "{}", place());
    assert_eq!(
        (record.dest_qpn, record.psn),
        (bth.dest_qp.get(), bth.psn.get()),
        "{}",
        place()
    );
    if let Some(reth) = parsed.ext.reth() {
        assert_eq!(
            (record.va, record.token, record.dma_len),
            (reth.va, reth.token.0, reth.length),
            "{}",
            place()
        );
    }
    if let Some(aeth) = parsed.ext.aeth() {
        assert_eq!(record.aeth, be(aeth.emit()), "{}", place());
    }
    if let Some(token) = parsed.ext.ieth() {
        assert_eq!(record.ieth, token.0, "{}", place());
    }
    if let Some(immediate) = parsed.ext.immediate() {
        assert_eq!(record.ieth, be(immediate), "{}", place());
    }
    if whole {
        return;
    }
    if record.oversize {
        assert!(parsed.payload.len() > 4096, "{}", place());
        return;
    }
    assert_eq!(usize::from(record.len), parsed.payload.len(), "{}", place());
    assert_eq!(
        judged.payload.len(),
        parsed.payload.len().next_multiple_of(8),
        "{}",
        place()
    );
    assert_eq!(
        &judged.payload[..parsed.payload.len()],
        parsed.payload,
        "{}",
        place()
    );
}

/// A frame that queue pair 1 may take is handed on as it came, if it is not too long.
fn compare_whole(frame: &[u8], judged: &Judged) {
    const MOST: usize = 2048;
    let (record, length) = (&judged.record, frame.len());
    let too_long = length > MOST;
    assert_eq!(record.oversize, too_long, "{}", dissect(frame));
    assert_eq!(usize::from(record.len), length.min(MOST));
    let mut expected = if too_long { Vec::new() } else { frame.to_vec() };
    expected.resize(expected.len().next_multiple_of(8), 0);
    assert_eq!(judged.payload, expected, "{}", dissect(frame));
}

fn judge(wire: &mut Wire, frames: &[Vec<u8>]) -> Vec<Judged> {
    let judged = wire.receive(frames).unwrap();
    assert_eq!(judged.len(), frames.len(), "each frame has one verdict");
    for (frame, judged) in frames.iter().zip(&judged) {
        compare(frame, judged);
    }
    judged
}

#[test]
fn golden_packets_and_captures_are_read_as_the_reference_says() {
    for seed in [2, 3] {
        let mut wire = Wire::new(seed).unwrap();
        let packets: Vec<Vec<u8>> = golden().into_iter().map(|packet| packet.frame).collect();
        let accepted = judge(&mut wire, &packets)
            .iter()
            .filter(|j| j.record.drop == 0)
            .count();
        assert_eq!(accepted, packets.len(), "all golden packets are right");
        let frames = captured();
        let dropped = judge(&mut wire, &frames)
            .iter()
            .filter(|j| j.record.drop == DropCause::Icrc as u8)
            .count();
        assert_eq!(
            dropped, 1,
            "one frame of the captures is corrupt on purpose"
        );
    }
}

/// Each single bit of each golden packet, flipped: dropped under the same cause as by the model, whose
/// classes are held against a table written from the reference in its own tests.
#[test]
fn every_flipped_bit_is_dropped_under_its_cause_or_accepted() {
    let mut wire = Wire::new(2).unwrap();
    let (mut flips, mut accepted) = (0, 0);
    for packet in golden() {
        let frames: Vec<Vec<u8>> = (0..packet.frame.len() * 8)
            .map(|bit| {
                let mut frame = packet.frame.clone();
                frame[bit / 8] ^= 1 << (bit % 8);
                frame
            })
            .collect();
        flips += frames.len();
        accepted += judge(&mut wire, &frames)
            .iter()
            .filter(|j| j.record.drop == 0)
            .count();
    }
    assert_eq!(flips, 118_624);
    // MAC addresses, ECN and reserved bits, IPv6 class, label and hop limit, trailers.
    assert_eq!(accepted, 11_756);
}

#[test]
fn frames_cut_at_every_length_never_stop_the_room() {
    let mut wire = Wire::new(5).unwrap();
    for packet in golden().into_iter().take(12) {
        let frames: Vec<Vec<u8>> = (1..packet.frame.len())
            .map(|n| packet.frame[..n].to_vec())
            .collect();
        judge(&mut wire, &frames);
        judge(&mut wire, std::slice::from_ref(&packet.frame));
    }
}

/// What the engine itself would put into the fields that it does not choose: identification 0, no tag, M 0,
/// full-member P_Key, no congestion marks; and nothing else changed.
fn as_the_engine_sends_it(frame: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = frame.to_vec();
    if bytes[12..14] == [0x81, 0x00] {
        bytes.drain(12..16);
    }
    let bth = if bytes[12..14] == [0x08, 0x00] {
        bytes[18..20].fill(0);
        42
    } else {
        bytes[15..18].fill(0);
        62
    };
    bytes[bth + 1] &= !0x40;
    let becn = u8::from(bytes[bth] == Opcode::Cnp as u8) << 6;
    bytes[bth + 2..bth + 5].copy_from_slice(&[0xFF, 0xFF, becn]);
    bytes[bth + 8] &= 0x80;
    // Not a checksum to be kept.
    bytes[bth - 2..bth].fill(0);
    seal(&mut bytes).then_some(bytes)
}

/// The descriptor of a frame, and the address that it goes to.
fn described(parsed: &Frame) -> Sent {
    let ext = parsed.ext;
    let reth = ext.reth();
    Sent {
        opcode: parsed.bth.opcode as u8,
        solicited: parsed.bth.solicited,
        ack_req: parsed.bth.ack_req,
        psn: parsed.bth.psn.get(),
        len: parsed.payload.len() as u16,
        va: reth.map_or(0, |reth| reth.va),
        token: reth.map_or(0, |reth| reth.token.0),
        dma_len: reth.map_or(0, |reth| reth.length),
        aeth: ext.aeth().map_or(0, |aeth| be(aeth.emit())),
        ieth: ext.ieth().map_or(0, |token| token.0),
        ipv6: matches!(parsed.ip, Ip::V6(_)),
        traffic_class: parsed.ip.traffic_class(),
        hop_limit: parsed.ip.hop_limit(),
        udp_sport: parsed.udp_sport,
        remote_qpn: parsed.bth.dest_qp.get(),
        remote_mac: parsed.eth.dst.0,
        remote_ip: octets(parsed.ip.dst()),
    }
}

/// Has the room build a frame from its own descriptor, which must give the same bytes but for pad and trailer.
fn build(wire: &mut Wire, name: &str, bytes: &[u8]) -> Vec<u8> {
    let parsed = Frame::parse(bytes).unwrap();
    wire.own(parsed.eth.src.0, octets(parsed.ip.src()));
    let got = wire
        .send(&described(&parsed), parsed.payload, Gather::Done)
        .unwrap();
    let plain = Frame {
        pad_bytes: [0; 3],
        trailer: &[],
        ..parsed
    };
    let expected = plain.to_vec();
    assert_eq!(
        got,
        expected,
        "{name}\n{}\n{}",
        dissect(&got),
        dissect(&expected)
    );
    got
}

#[test]
fn golden_packets_are_built_byte_for_byte() {
    let mut built = 0;
    for seed in [2, 3] {
        let mut wire = Wire::new(seed).unwrap();
        for packet in golden() {
            let Some(bytes) = as_the_engine_sends_it(&packet.frame) else {
                continue;
            };
            match Frame::parse(&bytes).unwrap().ext {
                Ext::None | Ext::Reth(_) | Ext::Aeth(_) | Ext::Ieth(_) | Ext::Cnp(_) => {}
                // The engine never sends immediates, atomics or datagrams.
                _ => continue,
            }
            build(&mut wire, &packet.name, &bytes);
            built += 1;
        }
    }
    assert!(built >= 2 * 62, "only {built} packets were built");
}

fn named(name: &str) -> Vec<u8> {
    let packet = golden().into_iter().find(|packet| packet.name == name);
    packet.unwrap_or_else(|| panic!("no packet {name}")).frame
}

/// WIRE-CNP-1 and -2, and ECN: notifications are read whatever their reserved bytes say.
#[test]
fn notifications_are_read_and_built() {
    let mut wire = Wire::new(3).unwrap();
    for name in ["cnp", "hw_cnp"] {
        let golden = named(name);
        let mut reserved = golden.clone();
        reserved[54..70].copy_from_slice(b"whatever it says");
        assert!(seal(&mut reserved));
        for judged in judge(&mut wire, &[golden, reserved]) {
            let record = judged.record;
            assert_eq!((record.drop, record.opcode, record.len), (0, 0x81, 0));
            assert_eq!(record.ecn, 2, "TOS 0xC2");
        }
    }

    // Byte for byte, but for the identification of the IP header, which is the sender's to choose.
    let mut bytes = named("cnp");
    bytes[18..20].fill(0);
    assert!(seal(&mut bytes));
    assert_eq!(build(&mut wire, "cnp", &bytes), bytes);
    let parsed = Frame::parse(&bytes).unwrap();
    let plain = described(&parsed);
    // Nothing else of its descriptor counts.
    let noise = Sent {
        solicited: true,
        ack_req: true,
        psn: 0x00AB_CDEF,
        va: u64::MAX,
        token: u32::MAX,
        dma_len: u32::MAX,
        aeth: u32::MAX,
        ieth: u32::MAX,
        ..plain.clone()
    };
    assert_eq!(wire.send(&noise, &[], Gather::Done).unwrap(), bytes);
    let v6 = Sent {
        ipv6: true,
        remote_ip: *b"another address!",
        ..plain
    };
    let built = wire.send(&v6, &[], Gather::Done).unwrap();
    for frame in [built, bytes] {
        let [judged] = judge(&mut wire, std::slice::from_ref(&frame))
            .try_into()
            .unwrap();
        assert_eq!((judged.record.drop, judged.record.opcode), (0, 0x81));
        let parsed = Frame::parse(&frame).unwrap();
        assert!(parsed.bth.becn && !parsed.bth.fecn, "{}", dissect(&frame));
        assert_eq!(parsed.ext, Ext::Cnp([0; 16]), "{}", dissect(&frame));
        let flipped: Vec<Vec<u8>> = (0..frame.len() * 8)
            .map(|bit| {
                let mut frame = frame.clone();
                frame[bit / 8] ^= 1 << (bit % 8);
                frame
            })
            .collect();
        judge(&mut wire, &flipped);
    }
}

/// A payload that the bus could not give leaves with an ICRC whose bits are all inverted, and the peer drops
/// it; what follows is right again. All places of the ICRC in its word, and a beat of any length.
#[test]
fn a_payload_that_could_not_be_read_is_dropped_by_the_peer() {
    let mut wire = Wire::new(3).unwrap();
    let payload: Vec<u8> = (0..4096).map(|i| (i * 7 + i / 256) as u8).collect();
    let lengths = (1..=40).chain([255, 1024, 4093, 4096]);
    let shapes = [
        (0x04, false),
        (0x04, true),
        (0x0A, false),
        (0x0A, true),
        (0x10, false),
        (0x17, true),
    ];
    for (len, (opcode, ipv6)) in lengths.flat_map(|len| shapes.map(|shape| (len, shape))) {
        let frame = Sent {
            opcode,
            ipv6,
            len: len as u16,
            psn: 0x0001_0203,
            hop_limit: 64,
            remote_qpn: 0x11,
            remote_ip: [0xFE; 16],
            ..Sent::default()
        };
        let good = wire.send(&frame, &payload[..len], Gather::Done).unwrap();
        let bad = wire.send(&frame, &payload[..len], Gather::Failed).unwrap();
        let next = wire.send(&frame, &payload[..len], Gather::Done).unwrap();
        let mut inverted = good.clone();
        let icrc = good.len() - 4;
        inverted[icrc..].iter_mut().for_each(|byte| *byte ^= 0xFF);
        assert_eq!(bad, inverted, "{len} {opcode:#x}\n{}", dissect(&bad));
        assert_eq!(next, good, "{len} {opcode:#x}\n{}", dissect(&next));
        let judged = judge(&mut wire, &[good, bad]);
        let drops = [judged[0].record.drop, judged[1].record.drop];
        assert_eq!(drops, [DropCause::None as u8, DropCause::Icrc as u8]);
    }
}

/// Frames of no known type, and good ones for queue pair 1, among others: each comes as a whole, or not.
#[test]
fn whole_frames_come_in() {
    let mut wire = Wire::new(5).unwrap();
    let payload = |length: usize| {
        (0..length)
            .map(|i| (i * 11 + length) as u8)
            .collect::<Vec<_>>()
    };
    let mut frames = Vec::new();
    for length in (14..=150).chain(2030..=2070).chain([4000, 9000]) {
        let mut foreign = payload(length);
        foreign[12..14].copy_from_slice(&[0x88, 0xB5]);
        frames.push(foreign);
        let packet = Sent {
            opcode: 0x04,
            hop_limit: 64,
            remote_qpn: 1 + length as u32 % 2,
            len: (length - 14) as u16,
            remote_ip: *b"\0\0\0\0\0\0\0\0\0\0\xFF\xFF\x0A\0\0\x01",
            ..Sent::default()
        };
        if length < 4096 {
            let bytes = payload(length - 14);
            frames.push(wire.send(&packet, &bytes, Gather::Done).unwrap());
        }
    }
    judge(&mut wire, &frames);
}

/// A whole frame leaves as it is, also if the bus could not give its bytes; what follows is right.
#[test]
fn whole_frames_go_out() {
    let mut wire = Wire::new(5).unwrap();
    let bytes: Vec<u8> = (0..2048).map(|i| (i * 7 + i / 256) as u8).collect();
    let packet = Sent {
        opcode: 0x04,
        hop_limit: 64,
        len: 33,
        ..Sent::default()
    };
    let expected = wire.send(&packet, &bytes[..33], Gather::Done).unwrap();
    for len in (14..=80).chain(2040..=2048) {
        let whole = Sent {
            opcode: 0xFF,
            len: len as u16,
            ..Sent::default()
        };
        for gather in [Gather::Done, Gather::Failed] {
            let sent = wire.send(&whole, &bytes[..len], gather).unwrap();
            assert_eq!(sent, bytes[..len], "{len}");
        }
        let next = wire.send(&packet, &bytes[..33], Gather::Done).unwrap();
        assert_eq!(next, expected, "after {len}");
    }
}
