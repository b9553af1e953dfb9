//! Requests that reach no consumer, and calls that make no sense.

use tandem_model::cm::machine::{CmConfig, Event, Failure, Refusal, State};
use tandem_model::cm::{CommId, Mad, Message, Rej, RejectReason, Req, TransportService};
use tandem_model::wire::Qpn;

use crate::pair::{Pair, Side, acceptance, config, listener, names, only_rej, request};

/// The reject of a request that was altered under way.
fn rejected(alter: impl FnOnce(&mut Req)) -> Rej {
    let mut pair = Pair::new();
    pair.connect(&request());
    let mut mad = pair.lose()[0];
    let Message::Req(req) = &mut mad.message else {
        panic!("{mad:?}");
    };
    alter(req);
    let id = req.local_comm_id;
    pair.give(Side::A, &mad);
    assert_eq!(pair.b.told(), []);
    let mads = pair.lose();
    assert_eq!(mads[0].transaction_id, mad.transaction_id);
    let rej = only_rej(&mads);
    assert_eq!((rej.local_comm_id, rej.remote_comm_id), (None, Some(id)));
    rej
}

/// WIRE-CM-12, and the other reasons.
// Covers: WIRE-CM-12
#[test]
fn requests_have_reasons_to_be_rejected() {
    let reason = |alter: fn(&mut Req)| rejected(alter).reason;
    assert_eq!(
        reason(|req| req.service_id.0 += 1),
        RejectReason::INVALID_SERVICE_ID
    );
    assert_eq!(
        reason(|req| req.service_id.0 |= 1 << 40),
        RejectReason::INVALID_SERVICE_ID
    );
    assert_eq!(
        reason(|req| req.transport_service = TransportService::Uc),
        RejectReason::INVALID_TRANSPORT
    );
    assert_eq!(
        reason(|req| req.private_data[0] = 0x10),
        RejectReason::CONSUMER_DEFINED
    );
    assert_eq!(
        reason(|req| req.private_data[1] = 0x60),
        RejectReason::CONSUMER_DEFINED
    );
    assert_eq!(
        reason(|req| req.private_data[35] = 9),
        RejectReason::CONSUMER_DEFINED
    );
    assert_eq!(
        reason(|req| req.private_data[19] = 9),
        RejectReason::CONSUMER_DEFINED
    );
    let mtu = rejected(|req| req.path_mtu = 6);
    assert_eq!(
        (mtu.reason, mtu.info_length, mtu.info[0]),
        (RejectReason::INVALID_MTU, 1, 0x50)
    );
    assert_eq!(reason(|req| req.path_mtu = 0), RejectReason::INVALID_MTU);
    let gid = rejected(|req| req.primary.remote_gid = req.primary.local_gid);
    assert_eq!(
        (gid.reason, gid.info_length),
        (RejectReason::INVALID_GID, 16)
    );
    assert_eq!(
        gid.info[..16],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 2]
    );
    assert_eq!(
        reason(|req| req.primary.local_gid = req.primary.remote_gid),
        RejectReason::INVALID_GID
    );
}

/// NDK-CONN-7, NDK-LSTN-3, -4: nobody listens, then somebody does.
#[test]
fn listeners_come_and_go() {
    let mut pair = Pair::new();
    pair.b.manager.stop_listening(listener());
    pair.connect(&request());
    assert_eq!(names(&pair.deliver()), ["Req", "Rej"]);
    let [Event::Failed(Failure::Rejected { reason, .. })] = pair.a.told()[..] else {
        panic!("{:?}", pair.a.events);
    };
    assert_eq!(reason, RejectReason::INVALID_SERVICE_ID);
    pair.b.manager.listen(listener());
    pair.connect(&request());
    pair.deliver();
    pair.requested();
}

/// NDK-CONN-7: a listener that has enough requests already.
#[test]
fn the_backlog_is_limited() {
    let mut pair = Pair::with(
        config(Side::A),
        CmConfig {
            backlog: 2,
            ..config(Side::B)
        },
    );
    for at in 0..3 {
        let mut connect = request();
        connect.qpn = Qpn::new(100 + at);
        pair.connect(&connect);
    }
    let mads = pair.deliver();
    assert_eq!(names(&mads), ["Req", "Req", "Req", "Rej"]);
    assert_eq!(only_rej(&mads[3..]).reason, RejectReason::NO_RESOURCES);
    // One answered makes room for one.
    let (b, _) = pair.requested();
    pair.accept(b, &acceptance());
    pair.lose();
    let mut connect = request();
    connect.qpn = Qpn::new(200);
    pair.connect(&connect);
    assert_eq!(names(&pair.deliver()), ["Req"]);
}

/// A peer that was born again and uses the same queue pair: the old connection ends, and the new one is refused
/// until it has.
#[test]
fn an_old_connection_is_stale() {
    let mut pair = Pair::new();
    let (a, b) = pair.connected();
    let mut reborn = Pair::new();
    reborn.a.manager = tandem_model::cm::machine::Manager::new(config(Side::A), 99);
    std::mem::swap(&mut pair.a, &mut reborn.a);
    pair.connect(&request());
    let mads = pair.deliver();
    assert_eq!(names(&mads), ["Req", "Dreq", "Rej", "Drep"]);
    assert_eq!(only_rej(&mads[2..3]).reason, RejectReason::STALE_CONNECTION);
    assert_eq!(pair.b.told(), [Event::Aborted]);
    assert_eq!(pair.b.stops, 1);
    assert_eq!(pair.b.manager.state(b), Some(State::TimeWait));
    assert_eq!(pair.a.manager.state(a), None);

    // In time-wait it still is; then no more.
    pair.connect(&request());
    assert_eq!(names(&pair.deliver()), ["Req", "Rej"]);
    pair.wait();
    pair.connect(&request());
    assert_eq!(names(&pair.deliver()), ["Req"]);
    pair.requested();
}

/// Calls at the wrong time.
#[test]
fn calls_have_their_time() {
    let mut pair = Pair::new();
    let now = pair.now;
    let nobody = CommId::new(7).unwrap();
    assert_eq!(pair.a.manager.complete(now, nobody), Err(Refusal::State));
    pair.a.manager.close(now, nobody);
    assert_eq!(pair.a.manager.take_actions(), []);

    let a = pair.connect(&request());
    assert_eq!(pair.a.manager.complete(now, a), Err(Refusal::State));
    assert_eq!(
        pair.a.manager.accept(now, a, &acceptance()),
        Err(Refusal::State)
    );
    assert_eq!(pair.a.manager.reject(now, a, &[]), Err(Refusal::State));
    assert_eq!(pair.a.manager.disconnect(now, a), Err(Refusal::State));
    pair.deliver();
    let (b, _) = pair.requested();
    assert_eq!(pair.b.manager.disconnect(now, b), Err(Refusal::State));
    assert_eq!(pair.b.manager.complete(now, b), Err(Refusal::State));
    pair.accept(b, &acceptance());
    assert_eq!(
        pair.b.manager.accept(now, b, &acceptance()),
        Err(Refusal::State)
    );
    assert_eq!(pair.b.manager.reject(now, b, &[]), Err(Refusal::State));
}

/// NDK-CONN-5, NDK-ACC-2, NDK-REJ-2: how much private data there is room for.
#[test]
fn private_data_has_limits() {
    let mut pair = Pair::new();
    let now = pair.now;
    let mut connect = request();
    connect.private_data = &[0; 57];
    let too_much = |length, most| Err(Refusal::PrivateData { length, most });
    assert_eq!(
        pair.a.manager.connect(now, &connect).map(drop),
        too_much(57, 56)
    );
    connect.private_data = &[0; 56];
    pair.connect(&connect);
    pair.deliver();
    let (b, _) = pair.requested();
    let mut accept = acceptance();
    accept.private_data = &[0; 197];
    assert_eq!(pair.b.manager.accept(now, b, &accept), too_much(197, 196));
    assert_eq!(pair.b.manager.reject(now, b, &[0; 149]), too_much(149, 148));
    accept.private_data = &[0; 196];
    pair.accept(b, &accept);
}

/// Messages of somebody else, under ids of this conversation.
#[test]
fn strangers_are_not_heard() {
    let mut pair = Pair::new();
    let (a, b) = pair.connected();
    pair.disconnect(Side::A, a);
    let mad: Mad = pair.lose()[0];
    let path = tandem_model::cm::machine::Path {
        local: Side::B.ip(),
        remote: [192, 0, 2, 99].into(),
    };
    pair.b.manager.receive(pair.now, path, &mad);
    assert_eq!(pair.b.manager.state(b), Some(State::Established));
    let [tandem_model::cm::machine::Action::Send { path: answered, .. }] =
        pair.b.manager.take_actions()[..]
    else {
        panic!("no answer");
    };
    assert_eq!(answered, path);
}
