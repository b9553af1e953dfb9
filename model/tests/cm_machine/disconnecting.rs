//! How a connection ends.

use tandem_model::cm::machine::{Event, Refusal, State};
use tandem_model::cm::{Message, RejectReason};

use crate::pair::{Pair, Side, acceptance, names, only_rej};

/// NDK-DISC-1, -2, -5, -6, NDK-DEV-1, -3, WIRE-CM-9: one side asks, the other's consumer agrees; nothing is cancelled at
/// the other side before it does.
// Covers: WIRE-CM-9
#[test]
fn a_disconnect_takes_both_consumers() {
    for side in [Side::A, Side::B] {
        let mut pair = Pair::new();
        let (a, b) = pair.connected();
        let [mine, theirs] = match side {
            Side::A => [a, b],
            Side::B => [b, a],
        };
        pair.disconnect(side, mine);
        assert_eq!(pair.end(side).stops, 1);
        let mads = pair.deliver();
        let [Message::Dreq(dreq)] = mads.iter().map(|mad| mad.message).collect::<Vec<_>>()[..]
        else {
            panic!("{mads:?}");
        };
        assert_eq!(dreq.remote_qpn, side.other().qpn());
        assert_eq!(pair.end(side).told(), []);
        assert_eq!(pair.end(side.other()).told(), [Event::Disconnected]);
        assert_eq!(pair.end(side.other()).stops, 0);

        pair.disconnect(side.other(), theirs);
        assert_eq!(pair.end(side.other()).stops, 1);
        assert_eq!(names(&pair.deliver()), ["Drep"]);
        assert_eq!(pair.end(side).told(), [Event::Ended { graceful: true }]);
        assert_eq!(
            pair.end(side.other()).told(),
            [Event::Disconnected, Event::Ended { graceful: true }]
        );
        assert_eq!(pair.states(a, b), [Some(State::TimeWait); 2]);
        // No way back.
        let now = pair.now;
        assert!(pair.end(side).manager.disconnect(now, mine).is_err());
    }
}

/// Both disconnect at once: both answer, and neither is told of the other.
#[test]
fn disconnects_may_cross() {
    let mut pair = Pair::new();
    let (a, b) = pair.connected();
    pair.disconnect(Side::A, a);
    pair.disconnect(Side::B, b);
    assert_eq!(names(&pair.deliver()), ["Dreq", "Dreq", "Drep", "Drep"]);
    assert_eq!(pair.a.told(), [Event::Ended { graceful: true }]);
    assert_eq!(pair.b.told(), [Event::Ended { graceful: true }]);
    assert_eq!(pair.states(a, b), [Some(State::TimeWait); 2]);
}

/// WIRE-CM-14: a lost DREQ is sent again, a lost DREP too, since the DREQ is.
// Covers: WIRE-CM-14
#[test]
fn lost_disconnects_are_repaired() {
    let mut pair = Pair::new();
    let (a, b) = pair.connected();
    pair.disconnect(Side::A, a);
    pair.lose();
    pair.wait();
    assert_eq!(names(&pair.deliver()), ["Dreq"]);
    pair.disconnect(Side::B, b);
    assert_eq!(names(&pair.lose()), ["Drep"]);
    while pair.a.manager.state(a) == Some(State::DreqSent) {
        pair.wait();
        pair.deliver();
    }
    assert_eq!(pair.a.told(), [Event::Ended { graceful: true }]);
}

/// NDK-DISC-3: a peer that never answers.
#[test]
fn a_disconnect_times_out() {
    let mut pair = Pair::new();
    let (a, _) = pair.connected();
    pair.disconnect(Side::A, a);
    let mut sent = pair.lose().len();
    while pair.a.manager.state(a) == Some(State::DreqSent) {
        pair.wait();
        sent += pair.lose().len();
    }
    assert_eq!(sent, 16);
    assert_eq!(pair.a.told(), [Event::Ended { graceful: false }]);
}

/// NDK-DISC-3: a peer that breaks off meanwhile is not one that never answers.
#[test]
fn a_disconnect_is_broken_off() {
    let mut pair = Pair::new();
    let (a, b) = pair.connected();
    pair.disconnect(Side::A, a);
    assert_eq!(names(&pair.lose()), ["Dreq"]);
    pair.close(Side::B, b);
    assert_eq!(names(&pair.deliver()), ["Rej", "Dreq", "Drep"]);
    assert_eq!(pair.a.told(), [Event::Aborted]);
}

/// WIRE-CM-9: a DREQ to another queue pair number is ignored.
// Covers: WIRE-CM-9
#[test]
fn a_disconnect_of_another_queue_pair_is_ignored() {
    let mut pair = Pair::new();
    let (a, b) = pair.connected();
    pair.disconnect(Side::A, a);
    let mut mad = pair.lose()[0];
    let Message::Dreq(dreq) = &mut mad.message else {
        panic!("{mad:?}");
    };
    dreq.remote_qpn = Side::A.qpn();
    pair.give(Side::A, &mad);
    assert_eq!(pair.lose(), []);
    assert_eq!(pair.b.told(), []);
    assert_eq!(pair.b.manager.state(b), Some(State::Established));
}

/// A connector closed without a disconnect breaks the connection off: the peer's queue pair stops too.
#[test]
fn a_close_breaks_off() {
    for side in [Side::A, Side::B] {
        let mut pair = Pair::new();
        let (a, b) = pair.connected();
        let [mine, theirs] = match side {
            Side::A => [a, b],
            Side::B => [b, a],
        };
        pair.close(side, mine);
        assert_eq!(names(&pair.deliver()), ["Rej", "Dreq", "Drep"]);
        assert_eq!(pair.end(side).told(), []);
        assert_eq!(pair.end(side.other()).told(), [Event::Aborted]);
        assert_eq!((pair.a.stops, pair.b.stops), (1, 1));
        let now = pair.now;
        let manager = &mut pair.end(side.other()).manager;
        assert_eq!(manager.disconnect(now, theirs), Err(Refusal::GaveUp));
    }
}

/// If the reject that says so is lost, it looks like a disconnect; in the other order it is told once.
#[test]
fn a_close_is_told_once() {
    let mut pair = Pair::new();
    let (a, b) = pair.connected();
    pair.close(Side::A, a);
    let mads = pair.lose();
    pair.give(Side::A, &mads[1]);
    assert_eq!(pair.b.told(), [Event::Disconnected]);
    assert_eq!(pair.b.stops, 0);
    pair.give(Side::A, &mads[0]);
    assert_eq!(pair.b.told(), [Event::Disconnected]);
    assert_eq!(pair.b.stops, 1);
    pair.close(Side::B, b);
    pair.wait();
    pair.deliver();
    assert_eq!(pair.a.told(), []);
}

/// A consumer that closes while its reply is under way: whatever the other side does, it comes to an end.
#[test]
fn a_close_while_replying_comes_through() {
    for lost in [false, true] {
        let (mut pair, a, b) = Pair::asked();
        pair.accept(b, &acceptance());
        pair.deliver();
        pair.close(Side::B, b);
        if lost {
            assert_eq!(
                only_rej(&pair.lose()).reason,
                RejectReason::CONSUMER_DEFINED
            );
            pair.complete(a);
            assert_eq!(names(&pair.deliver()), ["Rtu", "Rej", "Dreq", "Drep"]);
            assert_eq!(pair.a.told().last(), Some(&Event::Aborted));
        } else {
            pair.deliver();
            assert_eq!(pair.a.manager.complete(pair.now, a), Err(Refusal::GaveUp));
        }
    }
}
