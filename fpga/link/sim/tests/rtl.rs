//! The RTL against the client, and against the model of the board, in the scenarios of both.

#[path = "../../tests/scenario/mod.rs"]
mod scenario;

use scenario::{Bench, everything, exactly_once, faults};
use std::time::Duration;

use tandem_link::model::{Access, Channel, Noise, Scratch};
use tandem_link::{Board, Policy};
use tandem_link_sim::Link;

struct Rtl(Link<Scratch>);

fn rtl(seed: u64) -> Rtl {
    Rtl(Link::new(Scratch::new(65536), seed).unwrap())
}

impl tandem_link::model::Peer for Rtl {
    fn receive(&mut self, byte: Option<u8>) {
        self.0.receive(byte);
    }

    fn pass(&mut self, time: std::time::Duration) {
        self.0.pass(time);
    }

    fn take(&mut self) -> Option<u8> {
        self.0.take()
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

impl Bench for Rtl {
    fn accesses(&mut self) -> Vec<Access> {
        self.0.behind().core.accesses.clone()
    }
}

#[test]
fn a_bench_gets_all_it_needs() {
    everything(rtl(2), 0x1000_0000);
}

#[test]
fn a_bench_gets_all_it_needs_of_a_slow_core() {
    everything(rtl(3), 0x1000_0000);
}

#[test]
fn each_fault_is_named() {
    faults(rtl(4));
}

#[test]
fn a_quiet_line_needs_no_repetition() {
    let tally = exactly_once(rtl(5), Noise::default(), 5, 100);
    assert_eq!((tally.done, tally.failed), (100, 0));
    assert_eq!(tally.seen.sent, 101);
}

#[test]
fn each_request_is_executed_once() {
    for (seed, rate) in [(1, 300), (2, 1000), (3, 3000), (4, 10_000)] {
        let tally = exactly_once(rtl(seed), Noise::of(rate), seed, 150);
        assert!(tally.seen.sent > 150, "{tally:?}");
    }
}

#[test]
fn resets_in_the_middle_are_told() {
    let mut resets = 0;
    for seed in 10..14 {
        let noise = Noise {
            resets: 2000,
            ..Noise::of(500)
        };
        let tally = exactly_once(rtl(seed), noise, seed, 100);
        assert!(tally.done > 0, "{tally:?}");
        resets += tally.resets;
    }
    assert!(resets > 10);
}

/// A host that asks again too soon: the board has better to do, or answers twice.
#[test]
fn late_replies_are_not_taken_for_others() {
    let policy = Policy {
        deadline: Duration::from_micros(300),
        attempts: 40,
        ..scenario::policy()
    };
    let mut board = Board::open(Channel::new(rtl(8), Noise::default(), 1), policy).unwrap();
    for round in 0..20u32 {
        let bytes: Vec<u8> = (0..700 + 3 * round)
            .map(|i| (i * 31 + round) as u8)
            .collect();
        board.write_memory(0x1000_0000, &bytes).unwrap();
        board.write_register(0x10, round).unwrap();
        let mut read = vec![0; bytes.len()];
        board.read_memory(0x1000_0000, &mut read).unwrap();
        assert_eq!(read, bytes);
    }
    let counters = board.counters().unwrap();
    assert!(counters.busy > 0 && counters.repeated > 0, "{counters:?}");
    assert!(board.client().seen().stale > 0);
    let writes = |access: &&Access| matches!(access, Access::Write(..));
    let accesses = board.client().line().peer().accesses();
    assert_eq!(accesses.iter().filter(writes).count(), 20);
}
