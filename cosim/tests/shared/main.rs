//! Shared receive queues of one engine in lockstep, with peers made by hand: several queue pairs take entries, queues
//! run empty, frames get lost, limits are armed, entries of the table are written anew, and queue pairs fail and begin
//! anew, all in the midst of messages.
//!
//! The ordinary run has a few seeds. `TANDEM_HOSTILE_SEEDS=1000 cargo test --release -p tandem-cosim --test shared` has
//! more.

#[path = "../card/mod.rs"]
mod card;
mod history;
mod peer;
mod queue;

use card::seeds;
use history::{History, Seen};
use tandem_cosim::bus::Traffic;

/// How many seeds, and how many steps each has.
const SEEDS: u64 = 12;
const STEPS: u32 = 400;

fn traffic(seed: u64) -> Traffic {
    match seed % 4 {
        0 => Traffic::IDEAL,
        // Entries that come long after their doorbell, and after their queue was written anew.
        1 => Traffic {
            read_latency: (2, 900),
            ..Traffic::RANDOM
        },
        _ => Traffic::RANDOM,
    }
}

#[test]
fn many_queue_pairs_share_receives() {
    let mut all = Seen::default();
    for seed in seeds(SEEDS) {
        let mut history = History::new(seed, traffic(seed))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        history
            .run(STEPS)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", history.log()));
        all.add(&history.seen);
    }
    println!("{all:?}");
    // A history in which one of these never happened says nothing of it.
    let Seen {
        received,
        refused,
        flushed,
        not_ready,
        lost,
        limits,
        last,
        rewritten,
    } = all;
    let counts = [
        received, refused, flushed, not_ready, lost, limits, last, rewritten,
    ];
    assert!(counts.iter().all(|count| *count > 0), "{all:?}");
}
