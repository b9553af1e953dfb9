//! Random traffic on the golden model, with each scheduler.

use tandem_testbench::targets::Choice;
use tandem_testbench::traffic::{self, TrafficOptions};
use tandem_testbench::vector::TargetKind;

fn options(choice: Choice, seed: u64) -> TrafficOptions {
    TrafficOptions {
        requests: 3000,
        queue_pairs: 8,
        max_size: 65536,
        megabyte_every: 1000,
        seed,
        targets: [TargetKind::Model; 2],
        choice,
        capture: None,
    }
}

#[test]
fn traffic_holds_with_each_scheduler() {
    for (seed, choice) in [
        (1, Choice::Fair),
        (2, Choice::Random),
        (3, Choice::Adversarial),
    ] {
        let report = traffic::run(&options(choice, seed), &|_| {});
        let report = report.unwrap_or_else(|error| panic!("{choice:?}, seed {seed}: {error}"));
        assert_eq!(report.requests.len(), 4, "all four initiator requests");
        assert!(report.silent > 0 && report.refused > 0 && report.notifications > 0);
        assert!(report.bytes > 1 << 20);
    }
}

#[test]
fn the_same_seed_makes_the_same_run() {
    let run = || {
        let report = traffic::run(&options(Choice::Random, 9), &|_| {}).unwrap();
        (report.requests, report.bytes, report.frames, report.checked)
    };
    assert_eq!(run(), run());
}

#[cfg(feature = "rtl")]
#[test]
fn traffic_holds_on_the_engine_in_lockstep() {
    let options = TrafficOptions {
        requests: 1000,
        megabyte_every: 0,
        targets: [TargetKind::Rtl; 2],
        ..options(Choice::Fair, 4)
    };
    let report = traffic::run(&options, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.checked.actions > 1000);
}
