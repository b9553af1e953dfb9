//! Hostile traffic against one engine in lockstep: whatever comes, the engine does what the model allows, does not
//! stop, and works afterwards.
//!
//! The ordinary run has a few seeds. `TANDEM_HOSTILE_SEEDS=1000 cargo test --release -p tandem-cosim --test hostile`
//! has more.

mod bad;
#[path = "../card/mod.rs"]
mod card;
mod flood;
mod lane;
mod mutate;
mod quiet;
mod spoil;

use std::collections::BTreeSet;

use card::seeds;
use flood::Flood;
use tandem_cosim::bus::Traffic;
use tandem_model::abi::DropCause;

/// How many seeds, and how long a flood of each is.
const SEEDS: u64 = 8;
const STEPS: u32 = 1000;
/// Seeds of single frames.
const SINGLE_SEEDS: u64 = 3;
/// Floods from one that has nothing wrong on purpose to one in which much is.
const HEATS: [u32; 4] = [0, 2, 6, 15];

fn traffic(seed: u64) -> Traffic {
    match seed % 3 {
        0 => Traffic::IDEAL,
        _ => Traffic::RANDOM,
    }
}

#[test]
fn an_engine_survives_floods() {
    for seed in seeds(SEEDS) {
        let flood = Flood {
            seed,
            steps: STEPS,
            heat: HEATS[seed as usize % HEATS.len()],
            traffic: traffic(seed),
        };
        flood
            .run()
            .unwrap_or_else(|error| panic!("{flood:?}: {error}"));
    }
}

// Covers: WIRE-FRM-7, WIRE-FRM-10, WIRE-FRM-11, WIRE-FRM-13, WIRE-FRM-14, WIRE-BTH-2, WIRE-BTH-9, WIRE-BTH-12
// Covers: WIRE-ICRC-8
#[test]
fn a_frame_that_is_not_valid_changes_nothing_but_counters() {
    for seed in seeds(SINGLE_SEEDS) {
        quiet::run(seed, traffic(seed)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

#[test]
fn there_is_a_bad_frame_for_each_cause_of_a_drop() {
    let causes: BTreeSet<DropCause> = bad::KINDS.iter().map(|kind| kind.cause).collect();
    let missing = DropCause::ALL
        .iter()
        .filter(|cause| !causes.contains(cause));
    // A frame alone always finds room for its answer.
    assert!(missing.eq(&[DropCause::None, DropCause::NoBuffer]));
}
