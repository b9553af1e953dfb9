//! How connections are made.

use tandem_model::ndk::{
    AcceptParameters, ConnectRequest, NdkError, Notification, NtStatus, OpFlags, QpPhase,
};
use tandem_model::target::Scheduler;

use crate::world::{PORT, World, quick};

/// NDK-CONN-1, NDK-CCON-1, NDK-LSTN-1, NDK-OVW-1: both IP versions, and data goes both ways.
// Covers: NDK-CONN-1, NDK-CCON-1, NDK-LSTN-1, NDK-OVW-1
#[test]
fn two_nodes_connect_and_talk() {
    for ips in [["192.0.2.1", "192.0.2.2"], ["fd77::1", "fd77::2"]] {
        for scheduler in [
            Scheduler::Fair,
            Scheduler::Random(3),
            Scheduler::Adversarial,
        ] {
            let mut world = World::with(scheduler, ips, quick());
            world.listener();
            let pair = world.connect();
            world.exchange(pair, 4);
            assert_eq!(world.a.nic.qp_phase(pair.qp_a), Ok(QpPhase::Connected));
            assert_eq!(world.b.nic.qp_phase(pair.qp_b), Ok(QpPhase::Connected));
            assert_eq!((&world.a.told[..], &world.b.told[..]), (&[][..], &[][..]));
        }
    }
}

/// NDK-CONN-5, NDK-ACC-2, NDK-GCD-1 to -3, NDK-LSTN-1: what the consumers tell each other, and what the event says.
// Covers: NDK-CONN-5, NDK-ACC-2, NDK-GCD-1, NDK-GCD-2, NDK-GCD-3, NDK-LSTN-1
#[test]
fn private_data_goes_both_ways() {
    let mut world = World::new();
    let listener = world.listener();
    let connector = world.a.nic.create_connector().unwrap();
    let qp = world.a.qp();
    let request = ConnectRequest {
        private_data: b"hello",
        ..ConnectRequest::to(world.b.at(PORT))
    };
    let local = world.a.at(0);
    world
        .a
        .nic
        .connect(connector, qp, local, &request, 1)
        .unwrap();
    world.run_until(|world| !world.b.told.is_empty());
    let incoming = match world.b.told[..] {
        [
            Notification::Connect {
                listener: from,
                context: 77,
                connector,
            },
        ] if from == listener => connector,
        ref other => panic!("{other:?}"),
    };
    let data = world.b.nic.connection_data(incoming).unwrap();
    assert_eq!(data.private_data.len(), 56);
    assert_eq!(data.private_data[..6], *b"hello\0");

    let qp_b = world.b.qp();
    let parameters = AcceptParameters {
        private_data: b"world",
        ..AcceptParameters::default()
    };
    world.b.nic.accept(incoming, qp_b, &parameters, 2).unwrap();
    world.run_until(|world| world.a.completed(1).is_some());
    let nic = &world.a.nic;
    assert_eq!(
        nic.connection_data_into(connector, &mut []),
        Ok((NtStatus::SUCCESS, 196))
    );
    let mut short = [0xEE; 195];
    let outcome = nic.connection_data_into(connector, &mut short);
    assert_eq!(outcome, Ok((NtStatus::BUFFER_TOO_SMALL, 196)));
    assert_eq!(short[..6], *b"world\0");
    let mut long = [0xEE; 200];
    let outcome = nic.connection_data_into(connector, &mut long);
    assert_eq!(outcome, Ok((NtStatus::SUCCESS, 196)));
    assert_eq!((long[195], long[196]), (0, 0xEE));
}

/// NDK-CONN-2 to -4, NDK-ACC-1, NDK-GCD-4: limits are capped by both sides, and by their adapters.
// Covers: NDK-CONN-2, NDK-CONN-3, NDK-CONN-4, NDK-ACC-1, NDK-GCD-4
#[test]
fn read_limits_are_agreed_on() {
    let mut world = World::new();
    world.listener();
    let most = world.a.nic.query_adapter_info().max_inbound_read_limit;
    let connector = world.a.nic.create_connector().unwrap();
    let qp = world.a.qp();
    let request = ConnectRequest {
        inbound_read_limit: 1000,
        outbound_read_limit: 3,
        ..ConnectRequest::to(world.b.at(PORT))
    };
    let local = world.a.at(0);
    world
        .a
        .nic
        .connect(connector, qp, local, &request, 1)
        .unwrap();
    let incoming = world.request();
    let offered = world.b.nic.connection_data(incoming).unwrap();
    assert_eq!(
        (offered.inbound_read_limit, offered.outbound_read_limit),
        (3, most)
    );
    let qp_b = world.b.qp();
    let parameters = AcceptParameters {
        inbound_read_limit: 7,
        outbound_read_limit: 2,
        ..AcceptParameters::default()
    };
    world.b.nic.accept(incoming, qp_b, &parameters, 2).unwrap();
    world.run_until(|world| world.a.completed(1).is_some());
    let agreed = world.a.nic.connection_data(connector).unwrap();
    assert_eq!(
        (agreed.inbound_read_limit, agreed.outbound_read_limit),
        (2, 3)
    );
    let agreed = world.b.nic.connection_data(incoming).unwrap();
    assert_eq!(
        (agreed.inbound_read_limit, agreed.outbound_read_limit),
        (3, 2)
    );
}

/// A connection without reads in one direction refuses them at posting.
#[test]
fn no_reads_means_none() {
    let mut world = World::new();
    world.listener();
    let connector = world.a.nic.create_connector().unwrap();
    let qp = world.a.qp();
    let request = ConnectRequest {
        outbound_read_limit: 0,
        ..ConnectRequest::to(world.b.at(PORT))
    };
    let local = world.a.at(0);
    world
        .a
        .nic
        .connect(connector, qp, local, &request, 1)
        .unwrap();
    let incoming = world.request();
    let qp_b = world.b.qp();
    let parameters = AcceptParameters::default();
    world.b.nic.accept(incoming, qp_b, &parameters, 2).unwrap();
    world.run_until(|world| world.a.completed(1).is_some());
    world.a.nic.complete_connect(connector, None).unwrap();
    let sge = world.a.sge(0, 8);
    let token = Default::default();
    let outcome = world.a.nic.read(qp, 9, &[sge], 0, token, OpFlags::NONE);
    assert_eq!(outcome, Err(NtStatus::INVALID_DEVICE_REQUEST.into()));
}

/// Initiator requests wait for the connection; receives do not. NDK-CCON-2: nothing can be completed yet.
// Covers: NDK-CCON-2
#[test]
fn only_receives_are_taken_before() {
    let mut world = World::new();
    world.listener();
    let (connector, qp) = world.ask(1);
    let invalid = Err(NdkError::from(NtStatus::CONNECTION_INVALID));
    let sge = world.a.sge(0, 8);
    assert_eq!(world.a.nic.send(qp, 9, &[sge], OpFlags::NONE), invalid);
    assert_eq!(world.a.nic.receive(qp, 9, &[sge]), Ok(()));
    assert_eq!(world.a.nic.complete_connect(connector, None), invalid);
    let incoming = world.request();
    let qp_b = world.b.qp();
    let parameters = AcceptParameters::default();
    world.b.nic.accept(incoming, qp_b, &parameters, 2).unwrap();
    let sge = world.b.sge(0, 8);
    assert_eq!(world.b.nic.send(qp_b, 9, &[sge], OpFlags::NONE), invalid);
    assert_eq!(world.b.nic.qp_phase(qp_b), Ok(QpPhase::Connecting));
}

/// An adapter that was opened without connections has none.
#[test]
fn connections_are_an_option() {
    let target = tandem_model::target::ModelTarget::new(Default::default(), Scheduler::Fair);
    let mut nic = tandem_model::ndk::Provider::open(target, Default::default()).unwrap();
    let no = NdkError::from(NtStatus::NOT_SUPPORTED);
    assert_eq!(nic.create_connector().err(), Some(no.clone()));
    assert_eq!(nic.create_listener(0).err(), Some(no));
    assert_eq!(nic.poll(std::time::Duration::ZERO), Ok(vec![]));
    assert_eq!(nic.next_deadline(), None);
}
