//! Fetches of work requests that are too old to be used, although they have the right bytes.

use tandem_cosim::bus::ReadBurst;
use tandem_cosim::lockstep::{Difference, Divergence, Lockstep, Record, Summary};
use tandem_model::engine::Config;

use crate::shadow::Bench;

/// Clocks after which the timer has ended: the unit after reset, four times.
const T: u64 = 4 * 256;

/// The records of a run, and the clock at its end.
type Run = (Vec<Record>, u64);

fn check((records, end): Run) -> Result<Summary, Box<Divergence>> {
    let mut lockstep = Lockstep::start(Config::default(), "b", 7, None).unwrap();
    for record in records {
        lockstep.push(record);
    }
    lockstep.finish(end, 0, false)
}

/// A write whose frame is lost.
fn lost() -> Bench {
    let mut bench = Bench::new(1, 2);
    bench.write(0, 77);
    assert_eq!(bench.run().len(), 1);
    bench
}

/// ... and is sent again.
fn sent_again() -> Bench {
    let mut bench = lost();
    bench.pass(T);
    let number = bench.number(0);
    bench.commit(|engine| engine.timer_action(number));
    assert_eq!(bench.run().len(), 1);
    bench
}

fn run(bench: Bench) -> Run {
    let (records, end, _) = bench.records();
    (records, end)
}

/// Places of the fetches of the send queue.
fn fetches(records: &[Record]) -> Vec<usize> {
    let all = records.iter().enumerate();
    all.filter(|(_, record)| matches!(record, Record::Read(burst) if burst.id == 0))
        .map(|(at, _)| at)
        .collect()
}

/// A fetch as if its address had been taken in that clock.
fn asked(fetch: &Record, clock: u64) -> ReadBurst {
    match fetch {
        Record::Read(burst) => ReadBurst {
            asked: clock,
            ..burst.clone()
        },
        other => panic!("not a read: {other:?}"),
    }
}

#[track_caller]
fn misses_a_fetch(run: Run) {
    let divergence = check(run).expect_err("the checker must find it");
    assert!(
        matches!(
            divergence.difference,
            Difference::Read { observed: None, .. }
        ),
        "{divergence}"
    );
}

#[test]
fn runs_with_all_their_fetches_pass() {
    for bench in [lost(), sent_again()] {
        check(run(bench)).unwrap_or_else(|divergence| panic!("{divergence}"));
    }
}

/// As if an earlier life of the queue pair had left it.
#[test]
fn a_fetch_from_before_the_first_doorbell_is_not_used() {
    let (mut records, end) = run(lost());
    let at = fetches(&records)[0];
    let old = asked(&records[at], 0);
    let other = ReadBurst {
        bytes: vec![0xEE; old.bytes.len()],
        ..old.clone()
    };
    let mut both = records.clone();
    both.insert(0, Record::Read(other));
    check((both, end)).unwrap_or_else(|divergence| panic!("{divergence}"));

    records.remove(at);
    records.insert(0, Record::Read(old));
    misses_a_fetch((records, end));
}

/// It came late: it was on its way when the doorbell was rung.
#[test]
fn a_fetch_that_was_asked_for_before_the_first_doorbell_is_not_used() {
    let (mut records, end) = run(lost());
    let at = fetches(&records)[0];
    records[at] = Record::Read(asked(&records[at], 0));
    misses_a_fetch((records, end));
}

#[test]
fn a_fetch_from_before_a_go_back_is_not_used() {
    let (mut records, end) = run(sent_again());
    let [first, again] = fetches(&records)[..] else {
        panic!("a fetch for each time that it is sent");
    };
    let Record::Read(burst) = &records[first] else {
        panic!("not a read");
    };
    let ahead = Record::Read(burst.clone());
    records.remove(again);
    records.insert(first + 1, ahead);
    misses_a_fetch((records, end));
}
