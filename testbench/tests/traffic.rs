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

/// Tokens that live short lives, shared receive queues and connection management, on such a network.
fn run_short_lives(choice: Choice, seed: u64) -> TrafficReport {
    let wanted = RandomTraffic {
        requests: 3000,
        megabyte_every: 1000,
        tokens: 60,
        srqs: 2,
        connect: true,
        loss: 1.0,
        duplicate: 1.0,
        reorder: 1.0,
        corrupt: 0.5,
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
fn short_lives_hold_with_each_scheduler() {
    for (seed, choice) in [
        (21, Choice::Fair),
        (22, Choice::Random),
        (23, Choice::Adversarial),
    ] {
        let report = run_short_lives(choice, seed);
        assert_eq!(report.requests.len(), 7, "{:?}", report.requests);
        for what in [
            "ended by a read",
            "ended by an invalidate",
            "ended by the peer's send",
            "limit events",
            "pieces sent from own regions",
            "reads into own regions",
            "reads through regions",
            "reads through windows",
            "receives from shared queues",
            "writes through regions",
            "writes through windows",
        ] {
            let count = report.lives.get(what).copied().unwrap_or_default();
            assert!(count > 0, "{choice:?}: no {what} in {:?}", report.lives);
        }
        assert_eq!(report.connections, 8);
    }
}

#[test]
fn short_lives_hold_on_one_connection_and_on_many() {
    for queue_pairs in [1, 60] {
        let wanted = RandomTraffic {
            requests: 2000,
            queue_pairs,
            tokens: 80,
            srqs: 4,
            ..RandomTraffic::default()
        };
        let report = run_of(&wanted, Choice::Random, u64::from(queue_pairs));
        assert_eq!(report.requests.len(), 7, "{:?}", report.requests);
    }
}

#[test]
fn the_same_seed_makes_the_same_run() {
    let of = |report: TrafficReport| {
        let what = (report.requests, report.lives, report.refused);
        (what, report.bytes, report.frames, report.checked)
    };
    let run = || of(run_badly(Choice::Random, 9));
    assert_eq!(run(), run());
    let run = || of(run_short_lives(Choice::Random, 9));
    assert_eq!(run(), run());
}

#[cfg(feature = "rtl")]
#[test]
fn traffic_holds_on_the_engine_in_lockstep() {
    let usual = RandomTraffic {
        requests: 1000,
        megabyte_every: 0,
        ..RandomTraffic::default()
    };
    let short_lives = RandomTraffic {
        tokens: 60,
        srqs: 2,
        connect: true,
        loss: 1.0,
        ..usual.clone()
    };
    for wanted in [usual, short_lives] {
        let options = RunOptions {
            target: tandem_testbench::vector::TargetKind::Rtl,
            seed: 4,
            ..RunOptions::default()
        };
        let report = traffic::run(&wanted, &options, &|_| {});
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        assert!(report.checked.actions > 1000);
    }
}
