//! What a capture shows of a network that is not whole.

use std::fs::File;
use std::path::Path;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use tandem_testbench::vector;
use tandem_testbench::world::{self, RunOptions};

/// Interface and comment of each frame of a run.
fn frames(vector: &str) -> Vec<(String, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("vectors")
        .join(vector);
    let name = format!(
        "tandem-{}-{}.pcapng",
        std::process::id(),
        vector.replace('/', "-")
    );
    let path = std::env::temp_dir().join(name);
    let options = RunOptions {
        seed: 1,
        capture: Some(path.clone()),
        ..RunOptions::default()
    };
    world::run(&vector::load(&source).unwrap().vectors[0], &options).unwrap();
    let mut reader = PcapNgReader::new(File::open(&path).unwrap()).unwrap();
    let (mut interfaces, mut frames) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                interfaces.extend(interface.options.iter().find_map(|option| match option {
                    InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                    _ => None,
                }));
            }
            Block::EnhancedPacket(packet) => {
                let comment = packet.options.iter().find_map(|option| match option {
                    EnhancedPacketOption::Comment(comment) => Some(comment.to_string()),
                    _ => None,
                });
                let interface = interfaces[packet.interface_id as usize].clone();
                frames.push((interface, comment.unwrap_or_default()));
            }
            _ => {}
        }
    }
    std::fs::remove_file(path).unwrap();
    frames
}

#[test]
fn what_was_lost_is_there_with_a_comment() {
    let frames = frames("loss/one_of_thirty.toml");
    let lost: Vec<_> = frames
        .iter()
        .filter(|(_, comment)| !comment.is_empty())
        .collect();
    assert_eq!(lost, [&("a".to_owned(), "lost".to_owned())]);
}

#[test]
fn what_arrives_otherwise_is_there_twice() {
    let frames = frames("loss/corrupted.toml");
    let noted: Vec<_> = frames
        .iter()
        .filter(|(_, comment)| !comment.is_empty())
        .map(|(interface, comment)| format!("{interface}: {comment}"))
        .collect();
    let expected = [
        "a: bit 1 of byte 2 turned over",
        "network: arrives at b: bit 1 of byte 2 turned over",
    ];
    assert_eq!(noted, expected);
}

#[test]
fn frames_that_nobody_sent_are_there() {
    let frames = frames("duplicates/half_way_round.toml");
    let injected = (
        "network".to_owned(),
        "arrives at b: sent by nobody".to_owned(),
    );
    assert!(frames.contains(&injected), "{frames:?}");
}
