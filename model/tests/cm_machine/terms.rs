//! What both sides agree on.

use tandem_model::cm::TimeCode;
use tandem_model::cm::machine::{CmConfig, Event, ReadLimits};

use crate::pair::{Pair, Side, acceptance, config, request};

/// NDK-CONN-2, -3, -4, NDK-ACC-1, WIRE-CM-13: the lesser of what both want, each way.
// Covers: WIRE-CM-13
#[test]
fn read_limits_are_the_lesser_ones() {
    for ours in [(0, 0), (1, 5), (16, 2), (255, 255)] {
        for theirs in [(0, 0), (3, 1), (2, 16), (255, 255)] {
            let mut pair = Pair::new();
            let mut connect = request();
            connect.limits = limits(ours);
            let a = pair.connect(&connect);
            pair.deliver();
            let (b, requested) = pair.requested();
            assert_eq!(requested.limits, limits((ours.1, ours.0)));
            let mut accept = acceptance();
            accept.limits = limits(theirs);
            pair.accept(b, &accept);
            pair.deliver();
            let agreed = limits((ours.0.min(theirs.1), ours.1.min(theirs.0)));
            let [Event::Replied { limits: told, .. }] = pair.a.told()[..] else {
                panic!("{:?}", pair.a.events);
            };
            assert_eq!(told, agreed);
            pair.complete(a);
            assert_eq!(pair.a.ready[0].limits, agreed);
            assert_eq!(
                pair.b.ready[0].limits,
                limits((agreed.outbound, agreed.inbound))
            );
        }
    }
}

fn limits((inbound, outbound): (u8, u8)) -> ReadLimits {
    ReadLimits { inbound, outbound }
}

/// A peer that offers more than it was asked for does not raise a limit.
#[test]
fn a_generous_reply_raises_nothing() {
    let mut pair = Pair::new();
    let mut connect = request();
    connect.limits = limits((3, 4));
    let a = pair.connect(&connect);
    pair.deliver();
    let (b, _) = pair.requested();
    pair.accept(b, &acceptance());
    let mut mad = pair.lose()[0];
    let tandem_model::cm::Message::Rep(rep) = &mut mad.message else {
        panic!("{mad:?}");
    };
    (rep.responder_resources, rep.initiator_depth) = (200, 200);
    pair.give(Side::B, &mad);
    pair.complete(a);
    assert_eq!(pair.a.ready[0].limits, limits((3, 4)));
}

/// Retries, RNR retries and the time for acknowledgements: each side's wishes for the other's requests.
#[test]
fn retries_come_from_the_other_side() {
    let mut pair = Pair::with(
        CmConfig {
            packet_life: TimeCode::new(10),
            ack_delay: TimeCode::new(4),
            ..config(Side::A)
        },
        CmConfig {
            packet_life: TimeCode::new(5),
            ack_delay: TimeCode::new(12),
            ..config(Side::B)
        },
    );
    let mut connect = request();
    (connect.retry_count, connect.rnr_retry_count) = (5, 3);
    (connect.traffic_class, connect.hop_limit) = (0x68, 9);
    let a = pair.connect(&connect);
    pair.deliver();
    let (b, _) = pair.requested();
    let mut accept = acceptance();
    accept.rnr_retry_count = 2;
    pair.accept(b, &accept);
    pair.deliver();
    pair.complete(a);
    let (a, b) = (pair.a.ready[0], pair.b.ready[0]);
    assert_eq!((a.retry_count, a.rnr_retry_count), (5, 2));
    assert_eq!((b.retry_count, b.rnr_retry_count), (5, 3));
    assert_eq!((a.ack_timeout.get(), b.ack_timeout.get()), (13, 11));
    assert_eq!((a.traffic_class, a.hop_limit), (0x68, 9));
    assert_eq!((b.traffic_class, b.hop_limit), (0x68, 9));
}
