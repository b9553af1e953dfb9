//! What comes twice is answered twice and done once.

use tandem_model::cm::machine::{Event, State};
use tandem_model::cm::{Mad, RejectReason};

use crate::pair::{Pair, Side, acceptance, names, only_rej, request};

/// Gives a datagram once more, and returns what it is answered with.
fn again(pair: &mut Pair, from: Side, mad: &Mad) -> Vec<Mad> {
    let before = (pair.a.events.len(), pair.b.events.len());
    pair.give(from, mad);
    assert_eq!(
        (pair.a.events.len(), pair.b.events.len()),
        before,
        "acted on twice"
    );
    pair.lose()
}

/// WIRE-CM-7, -8, -10: every message of a connection's life, given again at every later time.
// Covers: WIRE-CM-7, WIRE-CM-8, WIRE-CM-10
#[test]
fn every_message_may_come_again() {
    let mut pair = Pair::new();
    let a = pair.connect(&request());
    let req = pair.deliver()[0];
    let (b, _) = pair.requested();
    assert_eq!(names(&again(&mut pair, Side::A, &req)), ["Mra"]);

    pair.accept(b, &acceptance());
    let rep = pair.lose()[0];
    assert_eq!(again(&mut pair, Side::A, &req), [rep]);
    pair.give(Side::B, &rep);
    assert_eq!(names(&again(&mut pair, Side::B, &rep)), ["Mra"]);

    pair.complete(a);
    let rtu = pair.deliver()[0];
    assert_eq!(again(&mut pair, Side::A, &req), []);
    assert_eq!(again(&mut pair, Side::B, &rep), [rtu]);
    assert_eq!(again(&mut pair, Side::A, &rtu), []);

    pair.disconnect(Side::A, a);
    let dreq = pair.deliver()[0];
    assert_eq!(again(&mut pair, Side::A, &dreq), []);
    assert_eq!(again(&mut pair, Side::A, &rtu), []);
    pair.disconnect(Side::B, b);
    let drep = pair.deliver()[0];
    assert_eq!(pair.states(a, b), [Some(State::TimeWait); 2]);
    assert_eq!(again(&mut pair, Side::A, &dreq), [drep]);
    assert_eq!(again(&mut pair, Side::B, &drep), []);
    let rej = only_rej(&again(&mut pair, Side::A, &req));
    assert_eq!(rej.reason, RejectReason::STALE_CONNECTION);
    assert_eq!(again(&mut pair, Side::B, &rep), []);

    // A disconnect request is answered even if nobody remembers.
    pair.close(Side::A, a);
    pair.close(Side::B, b);
    while pair
        .a
        .manager
        .next_deadline()
        .or(pair.b.manager.next_deadline())
        .is_some()
    {
        pair.wait();
    }
    assert_eq!(pair.states(a, b), [None, None]);
    assert_eq!(again(&mut pair, Side::A, &dreq), [drep]);
    assert_eq!(pair.lose(), []);
}

/// A reject that is lost is repeated when the request comes again.
#[test]
fn a_reject_is_repeated() {
    let mut pair = Pair::new();
    pair.connect(&request());
    let req = pair.deliver()[0];
    let (b, _) = pair.requested();
    pair.b.manager.reject(pair.now, b, b"no").unwrap();
    pair.collect(Side::B);
    let rej = pair.lose()[0];
    assert_eq!(again(&mut pair, Side::A, &req), [rej]);
    // Also when the consumer has closed in the meantime.
    pair.close(Side::B, b);
    pair.wait();
    pair.deliver();
    assert!(matches!(pair.a.told()[..], [Event::Failed(_)]));
    assert_eq!(pair.b.told().len(), 1);
}

/// NDK-REJ-1: so is the reject of a reply.
#[test]
fn a_reject_of_a_reply_is_repeated() {
    let (mut pair, a, b) = Pair::asked();
    pair.accept(b, &acceptance());
    let rep = pair.deliver()[0];
    pair.a.manager.reject(pair.now, a, b"no").unwrap();
    pair.collect(Side::A);
    let rej = pair.lose()[0];
    assert_eq!(again(&mut pair, Side::B, &rep), [rej]);
}
