//! Whatever tells of an invalidation waits for the payload of all queue pairs.

use tandem_cosim::lockstep::{Difference, Divergence, Lockstep, Record, Summary};
use tandem_model::abi::CommitKind;
use tandem_model::engine::Config;

use crate::shadow::Bench;

/// The payload of queue pair 0: the first packet of a longer write, so that nothing acknowledges it.
fn first_of_a_write(bench: &mut Bench) -> (Vec<u8>, Vec<u8>) {
    bench.write(0, 1500);
    let [first, last] = <[_; 2]>::try_from(bench.run()).unwrap();
    (first, last)
}

/// Everything that is on its way arrives.
fn settle(bench: &mut Bench, mut frames: Vec<Vec<u8>>) {
    while !frames.is_empty() {
        for frame in frames {
            bench.deliver(frame);
        }
        frames = bench.run();
    }
}

/// Right behind payload of queue pair 0 a send arrives that invalidates a token, on queue pair 1.
fn by_the_peer() -> Bench {
    let mut bench = Bench::new(2, 2);
    bench.send_and_invalidate(1);
    let send = bench.run();
    let (first, last) = first_of_a_write(&mut bench);
    bench.deliver(first);
    for frame in send {
        bench.deliver(frame);
    }
    let mut frames = bench.run();
    frames.push(last);
    settle(&mut bench, frames);
    bench
}

/// Right behind payload of queue pair 0 the response arrives of a read that invalidates the token of its
/// sink, on queue pair 1.
fn by_a_read() -> Bench {
    let mut bench = Bench::new(2, 2);
    bench.read_and_invalidate(1);
    for request in bench.run() {
        bench.deliver(request);
    }
    let response = bench.run();
    let (first, last) = first_of_a_write(&mut bench);
    bench.deliver(first);
    for frame in response {
        bench.deliver(frame);
    }
    let mut frames = bench.run();
    frames.push(last);
    settle(&mut bench, frames);
    bench
}

/// Picks a record.
type Pick = fn(&Record) -> bool;

/// Checks the run; with `late` the oldest payload is answered right behind the first such record.
fn check(bench: Bench, late: Option<Pick>) -> Result<Summary, Box<Divergence>> {
    let (mut records, cycle, stalled) = bench.records();
    if let Some(behind) = late {
        let find = |wanted: Pick| records.iter().position(wanted).unwrap();
        let answer = find(|record| matches!(record, Record::Answered { id: 0 }));
        let behind = find(behind);
        assert!(answer < behind);
        records[answer..=behind].rotate_left(1);
    }
    let mut lockstep = Lockstep::start(Config::default(), "b", 7, None).unwrap();
    for record in records {
        lockstep.push(record);
    }
    lockstep.finish(cycle, stalled, false)
}

fn is_entry(record: &Record) -> bool {
    matches!(record, Record::Written { id: 1, .. })
}

fn is_retirement(record: &Record) -> bool {
    matches!(record, Record::Commit { action, .. } if action.kind == CommitKind::Retire)
}

#[test]
fn a_completion_with_payload_of_another_queue_pair_under_way_is_too_early() {
    check(by_the_peer(), None).unwrap_or_else(|divergence| panic!("{divergence}"));
    check(by_a_read(), None).unwrap_or_else(|divergence| panic!("{divergence}"));
    let runs: [(Bench, Pick, &str); 2] = [
        (by_the_peer(), is_entry, "a completion entry or event"),
        (by_a_read(), is_retirement, "the retirement of a read"),
    ];
    for (bench, behind, early) in runs {
        let divergence = check(bench, Some(behind)).expect_err("the checker must find it");
        assert!(
            matches!(
                divergence.difference,
                Difference::TooEarly { what, placed: 0, needed: 1 } if what == early
            ),
            "{divergence}"
        );
    }
}
