//! The Verilated engine: all vectors and some random traffic in lockstep, and worlds of both kinds of nodes.
#![cfg(feature = "rtl")]

use std::path::Path;

use tandem_testbench::targets::Choice;
use tandem_testbench::traffic::{self, TrafficOptions};
use tandem_testbench::vector::{self, TargetKind};
use tandem_testbench::world::{self, RunOptions};

fn run_all(options: &RunOptions) -> u64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let mut actions = 0;
    for path in vector::find(&[folder]).unwrap() {
        for vector in &vector::load(&path).unwrap().vectors {
            match world::run(vector, options) {
                Ok(report) => actions += report.checked.actions,
                Err(failure) => panic!("{}: {}", vector.title(), failure.fault.message),
            }
        }
    }
    actions
}

#[test]
fn all_vectors_pass_in_lockstep() {
    let actions = run_all(&RunOptions {
        target: TargetKind::Rtl,
        seed: 1,
        ..RunOptions::default()
    });
    assert!(actions > 10_000, "{actions} decisions checked");
}

#[test]
fn all_vectors_pass_between_engine_and_model() {
    run_all(&RunOptions {
        target: TargetKind::Rtl,
        node_targets: [("a".into(), TargetKind::Model)].into(),
        seed: 2,
        choice: Choice::Random,
        ..RunOptions::default()
    });
}

#[test]
fn traffic_holds_in_lockstep() {
    let options = TrafficOptions {
        requests: 1000,
        queue_pairs: 8,
        max_size: 65536,
        megabyte_every: 0,
        seed: 4,
        targets: [TargetKind::Rtl; 2],
        choice: Choice::Fair,
        capture: None,
    };
    let report = traffic::run(&options, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.checked.actions > 1000);
}
