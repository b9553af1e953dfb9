//! Every frame of every capture of the Linux peer.

use std::fs::{self, File};
use std::path::PathBuf;

use pcap_file::pcap::PcapReader;
use tandem_model::wire::{DropCause, Frame, dissect};

struct Capture {
    name: String,
    frames: Vec<Vec<u8>>,
}

fn captures() -> Vec<Capture> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/rxe-captures");
    let mut captures: Vec<Capture> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "pcap"))
        .map(|path| {
            let mut reader = PcapReader::new(File::open(&path).unwrap()).unwrap();
            let mut frames = Vec::new();
            while let Some(packet) = reader.next_packet() {
                let packet = packet.unwrap();
                assert_eq!(packet.orig_len as usize, packet.data.len(), "a cut frame");
                frames.push(packet.data.into_owned());
            }
            Capture {
                name: path.file_stem().unwrap().to_string_lossy().into_owned(),
                frames,
            }
        })
        .collect();
    captures.sort_by(|a, b| a.name.cmp(&b.name));
    captures
}

/// What a frame is, told without the library: UDP to port 4791 or not.
fn is_roce(frame: &[u8]) -> bool {
    let (protocol, udp) = match frame[12..14] {
        [0x08, 0x00] => (frame[23], 34),
        [0x86, 0xDD] => (frame[20], 54),
        _ => return false,
    };
    protocol == 17 && frame[udp + 2..udp + 4] == 4791u16.to_be_bytes()
}

/// What the parser should say of frame `number` (from 1) of a capture.
fn expected(capture: &str, number: usize, frame: &[u8]) -> DropCause {
    match (capture, is_roce(frame)) {
        (_, false) => DropCause::NotRoce,
        // Corrupt on purpose.
        ("corrupt_icrc.b", true) if number == 1 => DropCause::Icrc,
        // Unreliable connected service, which the engine does not have.
        ("uc", true) => DropCause::Opcode,
        _ => DropCause::None,
    }
}

#[test]
fn all_frames_are_told_apart_and_rebuilt() {
    let captures = captures();
    assert_eq!(captures.len(), 35);
    let mut counts = [0; 32];
    for Capture { name, frames } in &captures {
        assert!(!frames.is_empty(), "{name}");
        for (number, frame) in (1..).zip(frames) {
            let place = || format!("frame {number} of {name}:\n{}", dissect(frame));
            let cause = match Frame::parse(frame) {
                Ok(parsed) => {
                    let rebuilt = parsed.to_vec();
                    // The emulated NIC of the peer does not pad: its zero-length SEND has 58 bytes,
                    // ours 60 (WIRE-FRM-8). All frames are equal as far as the capture goes.
                    assert_eq!(rebuilt.len(), frame.len().max(60), "{}", place());
                    assert_eq!(rebuilt[..frame.len()], frame[..], "{}", place());
                    assert!(rebuilt[frame.len()..].iter().all(|byte| *byte == 0));
                    DropCause::None
                }
                Err(cause) => cause,
            };
            assert_eq!(cause, expected(name, number, frame), "{}", place());
            counts[cause as usize] += 1;
        }
    }
    assert_eq!(counts[DropCause::Icrc as usize], 1);
    assert_eq!(counts[DropCause::Opcode as usize], 5);
    assert!(counts[DropCause::NotRoce as usize] > 20);
    assert!(counts[DropCause::None as usize] > 600);
}
