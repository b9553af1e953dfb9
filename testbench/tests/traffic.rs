//! Random traffic on the golden model, with each scheduler.

use tandem_testbench::targets::Choice;
use tandem_testbench::traffic::{self, TrafficReport};
use tandem_testbench::vector::RandomTraffic;
use tandem_testbench::world::RunOptions;

fn run(choice: Choice, seed: u64) -> TrafficReport {
    let wanted = RandomTraffic {
        requests: 3000,
        megabyte_every: 1000,
        ..RandomTraffic::default()
    };
    run_of(&wanted, choice, seed)
}

/// Traffic on a network that does everything that a network can do.
fn run_badly(choice: Choice, seed: u64) -> TrafficReport {
    let wanted = RandomTraffic {
        requests: 1500,
        megabyte_every: 1000,
        loss: 2.0,
        duplicate: 2.0,
        reorder: 2.0,
        corrupt: 1.0,
        ..RandomTraffic::default()
    };
    run_of(&wanted, choice, seed)
}

fn run_of(wanted: &RandomTraffic, choice: Choice, seed: u64) -> TrafficReport {
    let options = RunOptions {
        seed,
        choice,
        ..RunOptions::default()
    };
    let report = traffic::run(wanted, &options, &|_| {});
    report.unwrap_or_else(|failure| panic!("{choice:?}, seed {seed}: {failure}"))
}

#[test]
fn traffic_holds_with_each_scheduler() {
    for (seed, choice) in [
        (1, Choice::Fair),
        (2, Choice::Random),
        (3, Choice::Adversarial),
    ] {
        let report = run(choice, seed);
        assert_eq!(report.requests.len(), 4, "all four initiator requests");
        assert!(report.silent > 0 && report.refused > 0 && report.notifications > 0);
        assert!(report.bytes > 1 << 20);
    }
}

#[test]
fn traffic_holds_on_a_bad_network() {
    for (seed, choice) in [
        (11, Choice::Fair),
        (12, Choice::Random),
        (13, Choice::Adversarial),
    ] {
        run_badly(choice, seed);
    }
}

#[test]
fn the_same_seed_makes_the_same_run() {
    let run = || {
        let report = run_badly(Choice::Random, 9);
        (report.requests, report.bytes, report.frames, report.checked)
    };
    assert_eq!(run(), run());
}

#[cfg(feature = "rtl")]
#[test]
fn traffic_holds_on_the_engine_in_lockstep() {
    let wanted = RandomTraffic {
        requests: 1000,
        megabyte_every: 0,
        ..RandomTraffic::default()
    };
    let options = RunOptions {
        target: tandem_testbench::vector::TargetKind::Rtl,
        seed: 4,
        ..RunOptions::default()
    };
    let report = traffic::run(&wanted, &options, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.checked.actions > 1000);
}
