//! The client against the model of a board over a bad line.

mod scenario;

use proptest::prelude::*;
use scenario::{Bench, everything, exactly_once, faults};
use tandem_link::model::{Access, Board, Noise, Scratch, Shape};

impl Bench for Board<Scratch> {
    fn accesses(&mut self) -> Vec<Access> {
        self.parts().core.accesses.clone()
    }
}

fn board() -> Board<Scratch> {
    let shape = Shape {
        max_packet: 960,
        beats: 128,
        log: 128,
        memory_base: 0x1000_0000,
        ..Shape::default()
    };
    Board::new(Scratch::new(65536), shape)
}

#[test]
fn a_bench_gets_all_it_needs() {
    everything(board(), 0x1000_0000);
}

#[test]
fn each_fault_is_named() {
    faults(board());
}

#[test]
fn a_quiet_line_needs_no_repetition() {
    let tally = exactly_once(board(), Noise::default(), 5, 200);
    assert_eq!((tally.done, tally.failed), (200, 0));
    assert_eq!(tally.seen.sent, 201);
}

#[test]
fn a_bad_line_costs_repetitions() {
    let tally = exactly_once(board(), Noise::of(1000), 6, 2000);
    assert!(tally.done > 1900, "{tally:?}");
    assert!(tally.seen.sent > 2200, "{tally:?}");
    assert!(
        tally.seen.garbage > 100 && tally.seen.broken > 100,
        "{tally:?}"
    );
}

proptest! {
    #[test]
    fn each_request_is_executed_once(seed: u64, rate in 0u32..20_000, resets in 0u32..200) {
        let noise = Noise { resets, ..Noise::of(rate) };
        exactly_once(board(), noise, seed, 60);
    }
}
