//! How a connection is made.

use std::time::Duration;

use tandem_model::cm::machine::{Event, State};
use tandem_model::cm::{IpCm, Message, ServiceId};

use crate::pair::{PORT, Pair, Side, acceptance, caller, listener, names, request};

/// WIRE-CM-4, -5: a request, its reply, and the word that it came.
// Covers: WIRE-CM-4, WIRE-CM-5
#[test]
fn three_messages_make_a_connection() {
    let mut pair = Pair::new();
    let mut connect = request();
    connect.private_data = b"hello";
    let a = pair.connect(&connect);
    let mads = pair.deliver();
    let [Message::Req(req)] = mads.iter().map(|mad| mad.message).collect::<Vec<_>>()[..] else {
        panic!("{mads:?}");
    };
    assert_eq!(req.service_id, ServiceId::tcp(PORT));
    let ip = IpCm::parse(&req.private_data).unwrap();
    assert_eq!((ip.source, ip.destination), (caller(), Side::B.ip()));

    let (b, requested) = pair.requested();
    assert_eq!((requested.local, requested.remote), (listener(), caller()));
    assert_eq!(requested.private_data[..6], *b"hello\0");
    let mut accept = acceptance();
    accept.private_data = b"world";
    pair.accept(b, &accept);
    // The passive side is ready before its reply can arrive.
    assert_eq!(pair.b.ready.len(), 1);
    let rep = pair.deliver();
    assert_eq!(names(&rep), ["Rep"]);
    assert_eq!(rep[0].transaction_id, mads[0].transaction_id);
    let [Event::Replied { private_data, .. }] = pair.a.told()[..] else {
        panic!("{:?}", pair.a.events);
    };
    assert_eq!(private_data[..6], *b"world\0");
    assert_eq!(
        pair.states(a, b),
        [Some(State::RepReceived), Some(State::RepSent)]
    );

    pair.complete(a);
    assert_eq!(names(&pair.deliver()), ["Rtu"]);
    assert_eq!(pair.b.told().last(), Some(&Event::Established));
    assert_eq!(pair.states(a, b), [Some(State::Established); 2]);
    assert_eq!(
        (
            pair.a.manager.next_deadline(),
            pair.b.manager.next_deadline()
        ),
        (None, None)
    );
}

/// WIRE-CM-3, -13: each side's queue pair mirrors the other's.
// Covers: WIRE-CM-3, WIRE-CM-13
#[test]
fn queue_pairs_fit_together() {
    let mut pair = Pair::new();
    pair.connected();
    let (a, b) = (pair.a.ready[0], pair.b.ready[0]);
    assert_eq!((a.remote_qpn, b.remote_qpn), (Side::B.qpn(), Side::A.qpn()));
    assert_eq!((a.remote_ip, b.remote_ip), (Side::B.ip(), Side::A.ip()));
    assert_eq!((a.sq_psn, a.rq_psn), (b.rq_psn, b.sq_psn));
    assert_ne!(a.sq_psn, a.rq_psn);
    assert_eq!(a.path_mtu, b.path_mtu);
    assert_eq!(a.flow_label, b.flow_label);
    assert_eq!(a.flow_label, (50000 * 31 + u32::from(PORT)) & 0xF_FFFF);
}

/// WIRE-CM-14, NDK-CONN-8: a lost request is sent again, the same.
// Covers: WIRE-CM-14
#[test]
fn a_lost_request_is_sent_again() {
    let mut pair = Pair::new();
    pair.connect(&request());
    let first = pair.lose();
    pair.wait();
    assert_eq!(
        pair.now,
        Duration::from_secs(1) + Duration::from_nanos(4096 * (2 * 16 + 64))
    );
    assert_eq!(pair.deliver(), first);
    pair.requested();
}

/// WIRE-CM-14: a lost reply is sent again.
// Covers: WIRE-CM-14
#[test]
fn a_lost_reply_is_sent_again() {
    let (mut pair, _, b) = Pair::asked();
    pair.now += Duration::from_micros(100);
    pair.accept(b, &acceptance());
    let first = pair.lose();
    // The active side asks again, in vain; then the passive side's own time is up.
    pair.wait();
    assert_eq!(names(&pair.lose()), ["Req"]);
    pair.wait();
    assert_eq!(pair.deliver(), first);
    assert!(matches!(pair.a.told()[..], [Event::Replied { .. }]));
}

/// WIRE-CM-7: a lost RTU is repaired by the reply, sent again, and another RTU.
// Covers: WIRE-CM-7
#[test]
fn a_lost_rtu_is_repaired_by_the_reply() {
    let (mut pair, a, b) = Pair::asked();
    pair.accept(b, &acceptance());
    pair.deliver();
    pair.complete(a);
    assert_eq!(names(&pair.lose()), ["Rtu"]);
    pair.wait();
    assert_eq!(names(&pair.deliver()), ["Rep", "Rtu"]);
    assert_eq!(pair.b.told().last(), Some(&Event::Established));
    assert_eq!(pair.a.ready.len(), 1);
}

/// A peer that takes its time says so, and is waited for.
#[test]
fn an_mra_gives_the_consumer_time() {
    let mut pair = Pair::new();
    let a = pair.connect(&request());
    pair.deliver();
    pair.wait();
    assert_eq!(names(&pair.deliver()), ["Req", "Mra"]);
    let asked = pair.now;
    pair.wait();
    let patience = pair.now - asked;
    assert_eq!(patience, Duration::from_nanos(4096 * (256 + 2 * 16 + 64)));
    pair.lose();

    // So is an active side's consumer.
    let (b, _) = pair.requested();
    pair.accept(b, &acceptance());
    pair.deliver();
    pair.wait();
    assert_eq!(names(&pair.deliver()), ["Rep", "Mra"]);
    let asked = pair.now;
    pair.wait();
    assert_eq!(pair.now - asked, patience);
    pair.lose();
    pair.complete(a);
    assert_eq!(names(&pair.deliver()), ["Rtu"]);
    assert_eq!(pair.states(a, b), [Some(State::Established); 2]);
}

/// A peer that disconnects had the reply: its RTU is not needed.
#[test]
fn a_disconnect_stands_for_a_lost_rtu() {
    let (mut pair, a, b) = Pair::asked();
    pair.accept(b, &acceptance());
    pair.deliver();
    pair.complete(a);
    pair.lose();
    pair.disconnect(Side::A, a);
    assert_eq!(names(&pair.deliver()), ["Dreq"]);
    assert_eq!(
        pair.b.told()[1..],
        [Event::Established, Event::Disconnected]
    );
    pair.disconnect(Side::B, b);
    pair.deliver();
    assert_eq!(pair.states(a, b), [Some(State::TimeWait); 2]);
}

/// Connections in both directions and many at once do not disturb each other.
#[test]
fn conversations_do_not_mix() {
    let mut pair = Pair::new();
    for at in 0..20 {
        let mut connect = request();
        connect.local.set_port(50000 + at);
        connect.qpn = tandem_model::wire::Qpn::new(100 + u32::from(at));
        pair.connect(&connect);
    }
    pair.deliver();
    assert_eq!(pair.b.events.len(), 20);
    let ids: Vec<_> = pair.b.events.iter().map(|(id, _)| *id).rev().collect();
    for id in ids {
        pair.accept(id, &acceptance());
    }
    pair.deliver();
    let replied: Vec<_> = pair.a.events.iter().map(|(id, _)| *id).collect();
    assert_eq!(replied.len(), 20);
    for id in replied {
        pair.complete(id);
    }
    pair.deliver();
    let established = pair
        .b
        .told()
        .iter()
        .filter(|event| **event == Event::Established)
        .count();
    assert_eq!(established, 20);
}
