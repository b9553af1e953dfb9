//! What a search through all choices uses: engines compared by hash, and payload writes that are forgotten.

mod engine_support;

use std::hash::{DefaultHasher, Hash, Hasher};

use engine_support::*;
use tandem_model::abi::{CommitKind, WqeOpcode};
use tandem_model::engine::Engine;
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;

fn hash(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.hash(&mut hasher);
    hasher.finish()
}

/// Two connections, a write through a token of b on the first, a send on the second. The frames of a, which b
/// has not got yet.
fn write_and_send(opcode: WqeOpcode, message: u32) -> (World, Vec<Vec<u8>>) {
    let mut w = World::connected(Scheduler::Fair, small());
    w.connect(QA + 1, QB + 1, small());
    let mine = w.a.region(100, Access::ALL);
    let target = w.b.region(100, Access::FAST);
    let place = w.b.region(100, Access::ALL);
    w.b.receive(QB + 1, &[place.sge(0, 100)]);
    w.run();
    let write = Request::write(vec![mine.sge(0, 100)], (target.address, target.token));
    w.a.post(QA, &write);
    let send = Request {
        invalidate: target.token,
        ..Request::new(opcode, vec![mine.sge(0, message)])
    };
    while w.a.target.step().unwrap() {}
    w.a.post(QA + 1, &send);
    while w.a.target.step().unwrap() {}
    let frames = w.a.target.take_frames().unwrap();
    assert_eq!(frames.len(), 2);
    (w, frames)
}

#[test]
fn a_completion_that_tells_of_an_invalidation_waits_for_all_payload() {
    for message in [0, 10] {
        let (mut w, frames) = write_and_send(WqeOpcode::SendInvalidate, message);
        for frame in frames {
            w.b.target.send_frame(&frame).unwrap();
        }
        let mut told = 0;
        while w.b.target.step().unwrap() {
            let action = w.b.target.last_action().unwrap();
            let engine = w.b.target.engine();
            if action.kind == CommitKind::Complete {
                assert!(engine.payload_writes() > 0);
                assert_eq!(engine.barrier(), engine.payload_writes());
                told += 1;
            }
        }
        assert_eq!(told, 1);
    }
}

#[test]
fn the_order_of_writes_that_are_answered_makes_no_difference() {
    let engines = [false, true].map(|swapped| {
        let (mut w, mut frames) = write_and_send(WqeOpcode::Send, 10);
        if swapped {
            frames.swap(0, 1);
        }
        for frame in frames {
            w.b.target.send_frame(&frame).unwrap();
            while w.b.target.step().unwrap() {}
        }
        w.b.target.engine().clone()
    });
    assert_ne!(hash(&engines[0]), hash(&engines[1]));
    let [one, other] = engines.map(|mut engine| {
        engine.forget_writes(engine.payload_writes());
        assert_eq!((engine.payload_writes(), engine.barrier()), (0, 0));
        hash(&engine)
    });
    assert_eq!(one, other);
}

#[test]
fn a_hash_tells_states_apart_and_takes_no_notice_of_counters() {
    let mut w = World::connected(Scheduler::Fair, small());
    let before = hash(w.a.target.engine());
    // A frame that is dropped changes nothing but counters.
    w.a.target.send_frame(&[0; 60]).unwrap();
    assert_ne!(hash(w.a.target.engine()), before);
    while w.a.target.step().unwrap() {}
    assert_eq!(hash(w.a.target.engine()), before);
    w.a.receive(QA, &[]);
    while w.a.target.step().unwrap() {}
    assert_ne!(hash(w.a.target.engine()), before);
    assert_eq!(
        hash(&w.a.target.engine().clone()),
        hash(w.a.target.engine())
    );
}
