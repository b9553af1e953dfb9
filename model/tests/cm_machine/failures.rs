//! Connections that are not made.

use tandem_model::cm::machine::{Event, Failure, Refusal, State};
use tandem_model::cm::{RejectReason, RejectedMessage};

use crate::pair::{Pair, Side, acceptance, names, only_rej, request};

/// WIRE-CM-11, NDK-REJ-2: the passive consumer rejects, with its words.
// Covers: WIRE-CM-11
#[test]
fn a_request_is_rejected() {
    let (mut pair, a, b) = Pair::asked();
    pair.b.manager.reject(pair.now, b, &[7; 148]).unwrap();
    pair.collect(Side::B);
    let rej = only_rej(&pair.deliver());
    assert_eq!((rej.message, rej.reason.0), (RejectedMessage::Req, 28));
    let failure = Failure::Rejected {
        reason: RejectReason::CONSUMER_DEFINED,
        private_data: [7; 148],
    };
    assert_eq!(pair.a.told(), [Event::Failed(failure)]);
    assert_eq!(pair.a.manager.complete(pair.now, a), Err(Refusal::State));
    assert_eq!(
        pair.b.manager.accept(pair.now, b, &acceptance()),
        Err(Refusal::State)
    );
    assert_eq!((pair.a.stops, pair.b.stops), (0, 0));
}

/// NDK-REJ-1: the active consumer rejects the reply.
#[test]
fn a_reply_is_rejected() {
    let (mut pair, a, b) = Pair::asked();
    pair.accept(b, &acceptance());
    pair.deliver();
    pair.a.manager.reject(pair.now, a, b"no").unwrap();
    pair.collect(Side::A);
    assert_eq!(only_rej(&pair.deliver()).message, RejectedMessage::Rep);
    let [
        _,
        Event::Failed(Failure::Rejected {
            reason,
            private_data,
        }),
    ] = pair.b.told()[..]
    else {
        panic!("{:?}", pair.b.events);
    };
    assert_eq!(reason, RejectReason::CONSUMER_DEFINED);
    assert_eq!(private_data[..3], *b"no\0");
    // The queue pair that was ready is stopped.
    assert_eq!((pair.a.stops, pair.b.stops), (0, 1));
}

/// NDK-CONN-8: nobody answers. The peer, if it is there, is told; its consumer hears of it when it accepts (NDK-ACC-3).
#[test]
fn a_request_times_out() {
    let (mut pair, a, b) = Pair::asked();
    let mut sent = Vec::new();
    while pair.a.manager.state(a) == Some(State::ReqSent) {
        pair.wait();
        sent.extend(pair.lose());
    }
    assert_eq!(names(&sent)[..15], ["Req"; 15]);
    assert_eq!(pair.a.told(), [Event::Failed(Failure::TimedOut)]);
    let rej = only_rej(&sent[15..]);
    assert_eq!(
        (rej.reason, rej.remote_comm_id),
        (RejectReason::TIMEOUT, None)
    );
    assert_eq!(rej.info[..8], [0, 0, 0, 0, 0, 0, 0, 0xA]);
    pair.give(Side::A, &sent[15]);
    assert_eq!(
        pair.b.manager.accept(pair.now, b, &acceptance()),
        Err(Refusal::GaveUp)
    );
    assert_eq!(
        pair.b.manager.reject(pair.now, b, &[]),
        Err(Refusal::GaveUp)
    );
}

/// If it misses that, its reply tells: nobody is called so here.
#[test]
fn a_reply_to_nobody_is_rejected() {
    let (mut pair, a, b) = Pair::asked();
    pair.close(Side::A, a);
    pair.lose();
    pair.accept(b, &acceptance());
    let mads = pair.deliver();
    let rej = only_rej(&mads[1..]);
    assert_eq!(
        (rej.message, rej.reason),
        (RejectedMessage::Rep, RejectReason::INVALID_COMM_ID)
    );
    assert_eq!(pair.b.told()[1..], [Event::Failed(Failure::GaveUp)]);
    assert_eq!(pair.b.stops, 1);
}

/// NDK-ACC-4, NDK-CCON-3: the active consumer never completes; when it wants to, the peer has given up.
#[test]
fn a_reply_times_out() {
    let (mut pair, a, b) = Pair::asked();
    pair.accept(b, &acceptance());
    pair.deliver();
    let mut sent = Vec::new();
    while pair.b.manager.state(b) == Some(State::RepSent) {
        pair.wait();
        sent.extend(pair.deliver());
    }
    assert_eq!(pair.b.told()[1..], [Event::Failed(Failure::TimedOut)]);
    assert_eq!(pair.b.stops, 1);
    assert_eq!(pair.a.manager.complete(pair.now, a), Err(Refusal::GaveUp));
}

/// If the active side misses that, its RTU tells.
#[test]
fn an_rtu_to_nobody_is_rejected() {
    let (mut pair, a, b) = Pair::asked();
    pair.accept(b, &acceptance());
    pair.deliver();
    while pair.b.manager.state(b) == Some(State::RepSent) {
        pair.wait();
        pair.lose();
    }
    pair.complete(a);
    assert_eq!(names(&pair.deliver()), ["Rtu", "Rej"]);
    assert_eq!(pair.a.told()[1..], [Event::Aborted]);
    assert_eq!(pair.a.stops, 1);
}

/// Requests that come again for a conversation that failed make no second one.
#[test]
fn a_request_of_the_past_makes_no_connection() {
    let mut pair = Pair::new();
    pair.connect(&request());
    pair.deliver();
    // The passive side's consumer takes its time, and the active side is told so.
    pair.wait();
    let req = pair.deliver()[0];
    let (b, _) = pair.requested();
    pair.accept(b, &acceptance());
    while pair.b.manager.state(b) == Some(State::RepSent) {
        pair.lose();
        pair.wait();
    }
    pair.lose();
    pair.give(Side::A, &req);
    assert_eq!(pair.b.told().len(), 2);
    pair.deliver();
    assert_eq!(pair.a.told(), [Event::Failed(Failure::GaveUp)]);
}
