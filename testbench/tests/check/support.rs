//! Captures to check.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use tandem_model::wire::Frame;
use tandem_testbench::blackbox::file::{self, Packet};
use tandem_testbench::blackbox::{Options, Report};
use tandem_testbench::vector::{self, Vector};
use tandem_testbench::world::{self, RunOptions};

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A capture of the Linux peer.
pub fn linux(name: &str) -> Vec<Packet> {
    file::read(&repository("model/tests/data/rxe-captures").join(name)).unwrap()
}

/// What a vector puts on the wire; `None` if it does not run on its own.
pub fn of_vector(vector: &Vector, number: usize) -> Vec<Packet> {
    let name = format!("tandem-check-{}-{number}.pcapng", std::process::id());
    let path = std::env::temp_dir().join(name);
    let options = RunOptions {
        seed: 1,
        capture: Some(path.clone()),
        ..RunOptions::default()
    };
    world::run(vector, &options)
        .unwrap_or_else(|failure| panic!("{}: {}", vector.title(), failure.fault.message));
    let packets = file::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    packets
}

/// What the first case of a vector of the repository puts on the wire.
pub fn of_file(path: &str, number: usize) -> Vec<Packet> {
    let file = vector::load(&repository("testbench/vectors").join(path)).unwrap();
    of_vector(&file.vectors[0], number)
}

/// Options for a capture that has every frame where it was sent.
pub fn complete(packets: &[Packet]) -> Options {
    let sent = packets.iter().filter(|packet| !packet.is_arrival());
    let at: BTreeSet<IpAddr> = sent
        .filter_map(|packet| Frame::parse(&packet.bytes).ok().map(|frame| frame.ip.src()))
        .collect();
    Options {
        at,
        ..Options::default()
    }
}

/// The violations, one a line.
pub fn violations(report: &Report) -> Vec<String> {
    report
        .violations()
        .map(|finding| {
            format!(
                "frame {}: {}: {}",
                finding.at.number, finding.id, finding.message
            )
        })
        .collect()
}
