//! Captures of vectors on the golden model: they keep to the specification.

use std::time::Duration;

use tandem_testbench::blackbox;
use tandem_testbench::blackbox::Options;
use tandem_testbench::vector::{self, Vector};

use crate::support::{complete, of_vector, repository, violations};

/// What the engines of a vector take for 10 µs: clocks of 8 ns.
fn rnr_unit(vector: &Vector) -> Duration {
    let units = vector.head.node.values().map(|node| {
        let unit = node.value().rnr_unit.as_ref();
        unit.map_or(10, |unit| *unit.value())
    });
    Duration::from_nanos(8 * u64::from(units.min().unwrap_or(10)))
}

#[test]
fn captures_of_all_vectors_pass() {
    let files = vector::find(&[repository("testbench/vectors")]).unwrap();
    let (mut wrong, mut runs, mut frames) = (Vec::new(), 0, 0);
    let (mut connections, mut uncertain) = (0, 0);
    for path in &files {
        let file = vector::load(path).unwrap();
        for vector in &file.vectors {
            let packets = of_vector(vector, runs);
            runs += 1;
            frames += packets.len();
            for options in [Options::default(), complete(&packets)] {
                let options = Options {
                    rnr_unit: rnr_unit(vector),
                    strict: true,
                    ..options
                };
                let report = blackbox::check(&packets, &options);
                let disturbed = report.connections.iter().filter(|one| one.excuse.is_some());
                uncertain += disturbed.count();
                connections += report.connections.len();
                let lines = violations(&report);
                wrong.extend(
                    lines
                        .iter()
                        .map(|line| format!("{}, {line}", vector.title())),
                );
            }
        }
    }
    // Vectors put frames of nobody on the wire, which explain everything.
    println!("{runs} runs, {frames} frames, {connections} connections, {uncertain} disturbed");
    assert!(10 * uncertain < connections, "{uncertain} of {connections}");
    assert!(
        runs > 300 && frames > 20_000,
        "{runs} runs, {frames} frames"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
