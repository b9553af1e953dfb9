//! Files: what is read, what is refused, and the command's exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use proptest::prelude::*;
use tandem_model::wire::seal;
use tandem_testbench::blackbox::file::{self, Cause};
use tandem_testbench::blackbox::{self, Options};

use crate::support::{linux, repository};

fn linux_bytes(name: &str) -> Vec<u8> {
    std::fs::read(repository("model/tests/data/rxe-captures").join(name)).unwrap()
}

/// The same frames as pcapng, with whole blocks and a resolution of 2^-20 s, in big-endian order.
fn as_pcapng(name: &str) -> Vec<u8> {
    let block = |kind: u32, body: Vec<u8>| {
        let length = (12 + body.len().next_multiple_of(4)) as u32;
        let mut bytes = [kind.to_be_bytes(), length.to_be_bytes()].concat();
        bytes.extend(body);
        bytes.resize(length as usize - 4, 0);
        bytes.extend(length.to_be_bytes());
        bytes
    };
    let section = [&0x1A2B_3C4Du32.to_be_bytes()[..], &[0, 1, 0, 0], &[0xFF; 8]].concat();
    let mut file = block(0x0A0D_0D0A, section);
    // if_tsresol, and no end of the options.
    file.extend(block(
        1,
        vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0x94, 0, 0, 0],
    ));
    for packet in linux(name) {
        let units = (packet.time.as_nanos() << 20) / 1_000_000_000;
        let mut body = vec![0; 4];
        body.extend((units as u64).to_be_bytes());
        body.extend((packet.bytes.len() as u32).to_be_bytes());
        body.extend((packet.length as u32).to_be_bytes());
        body.extend(&packet.bytes);
        file.extend(block(6, body));
    }
    file
}

#[test]
fn both_formats_say_the_same() {
    let packets = file::parse(&as_pcapng("send_recv.pcap")).unwrap();
    let expected = linux("send_recv.pcap");
    assert_eq!(packets.len(), expected.len());
    for (packet, expected) in packets.iter().zip(&expected) {
        assert_eq!(packet.bytes, expected.bytes);
        assert!(
            packet.time.abs_diff(expected.time).as_nanos() < 1000,
            "{packet:?}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    let good = linux_bytes("atomic.pcap");
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        file::parse(&bytes).unwrap_err()
    };
    assert_eq!(changed(0, 7), (0, Cause::Magic(0x07C3_B2A1)));
    assert_eq!(changed(4, 3), (4, Cause::Version(3)));
    assert_eq!(changed(20, 113), (20, Cause::LinkType(113, "Linux cooked")));
    assert_eq!(
        file::parse(&good[..30]).unwrap_err(),
        (24, Cause::CutOff("a frame's header"))
    );
    assert_eq!(
        file::parse(&good[..50]).unwrap_err(),
        (24, Cause::CutOff("a frame"))
    );
    assert_eq!(
        file::parse(&[]).unwrap_err(),
        (0, Cause::CutOff("its first four bytes"))
    );

    let good = as_pcapng("atomic.pcap");
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        file::parse(&bytes).unwrap_err()
    };
    assert_eq!(changed(7, 29), (0, Cause::BlockLength(29)));
    assert_eq!(changed(8, 0), (8, Cause::Magic(0x002B_3C4D)));
    assert_eq!(changed(27, 32), (0, Cause::Trailer(28, 32)));
    assert_eq!(changed(37, 101), (28, Cause::LinkType(101, "raw IP")));
    assert_eq!(changed(67, 1), (56, Cause::Interface(1)));
    assert_eq!(changed(78, 9), (56, Cause::Frame(0x0956)));
}

/// Runs `tandem check` on a file.
fn check(path: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem"))
        .arg("check")
        .arg("--capture")
        .arg(path)
        .args(more)
        .output()
        .unwrap()
}

/// A file of the temporary folder with this content.
fn put(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tandem-check-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn the_exit_code_says_how_it_went() {
    let good = repository("model/tests/data/rxe-captures/send_recv.pcap");
    let output = check(&good, &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("no violation") && text.contains("path MTU 1024"),
        "{text}"
    );

    let mut bytes = linux_bytes("send_recv.pcap");
    // The last byte of the last frame: an ICRC.
    *bytes.last_mut().unwrap() ^= 1;
    let broken = put("broken.pcap", &bytes);
    let output = check(&broken, &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let lines = [
        "frame 23, ",
        "  WIRE-ICRC-8: one bit of it wrong: a silent drop, without a trace",
        "    BTH Acknowledge",
        "1 violation",
    ];
    assert!(lines.iter().all(|line| text.contains(line)), "{text}");

    let output = check(&broken, &["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json["violations"][0]["id"], "WIRE-ICRC-8");
    assert_eq!(json["violations"][0]["frame"], 23);
    assert_eq!(json["connections"][0]["path_mtu"], 1024);
    std::fs::remove_file(broken).unwrap();

    let cut = put("cut.pcap", &linux_bytes("send_recv.pcap")[..50]);
    let output = check(&cut, &[]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("byte 24: the file ends inside a frame"),
        "{text}"
    );
    std::fs::remove_file(cut).unwrap();
    assert_eq!(check(Path::new("no such file"), &[]).status.code(), Some(2));
}

/// Checks what may be a capture, in both ways.
fn anything(bytes: &[u8]) {
    if let Ok(packets) = file::parse(bytes) {
        let options = Options {
            at: [[10, 77, 0, 1].into(), [10, 77, 0, 2].into()].into(),
            ..Options::default()
        };
        for options in [Options::default(), options] {
            let report = blackbox::check(&packets, &options);
            report.text(&packets, 3);
            report.json();
        }
    }
}

const SEEDS: [&str; 8] = [
    "cm_rping.pcap",
    "duplicated.b.pcap",
    "ipv6.pcap",
    "lost_read_response.a.pcap",
    "rdma_read.pcap",
    "rnr_nak.pcap",
    "send_invalidate.pcap",
    "two_qps.pcap",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        anything(&bytes);
        for magic in [[0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0], [0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0]] {
            anything(&[&magic[..], &bytes].concat());
        }
    }

    #[test]
    fn no_change_of_a_file_makes_it_panic(
        seed in 0..SEEDS.len(),
        ng in any::<bool>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = if ng { as_pcapng(SEEDS[seed]) } else { linux_bytes(SEEDS[seed]) };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut {
            bytes.truncate(keep.index(bytes.len()));
        }
        anything(&bytes);
    }

    #[test]
    fn no_change_of_whole_frames_makes_it_panic(
        seed in 0..SEEDS.len(),
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), 14..90usize, any::<u8>(), 0..4u8),
            1..20,
        ),
    ) {
        let mut packets = linux(SEEDS[seed]);
        for (which, at, byte, kind) in changes {
            let place = which.index(packets.len());
            match kind {
                0 => { packets.swap(place, 0); }
                1 => { let copy = packets[place].clone(); packets.push(copy); }
                _ => {
                    let bytes = &mut packets[place].bytes;
                    if let Some(old) = bytes.get_mut(at) {
                        *old = byte;
                    }
                    seal(bytes);
                }
            }
        }
        for options in [Options::default(), crate::support::complete(&packets)] {
            let report = blackbox::check(&packets, &options);
            report.text(&packets, 3);
        }
    }
}
