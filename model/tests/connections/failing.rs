//! Connections that are not made.

use tandem_model::abi::QpState;
use tandem_model::ndk::{
    AcceptParameters, ConnectRequest, NdkError, Notification, NtStatus, Object, QpPhase,
};

use crate::world::{PORT, World};

fn err<T>(status: NtStatus) -> Result<T, NdkError> {
    Err(status.into())
}

/// NDK-CONN-7: nobody listens. Connector and queue pair can be used again.
// Covers: NDK-CONN-7
#[test]
fn nobody_listens() {
    let mut world = World::new();
    let (connector, qp) = world.ask(1);
    world.run();
    assert_eq!(world.a.completed(1), Some(NtStatus::CONNECTION_REFUSED));
    assert_eq!(world.a.nic.qp_phase(qp), Ok(QpPhase::Idle));
    assert_eq!(world.a.counters(), [0, 0, 1, 0, 0]);
    assert_eq!(world.b.counters(), [0; 5]);
    world.listener();
    let request = ConnectRequest::to(world.b.at(PORT));
    let local = world.a.at(0);
    world
        .a
        .nic
        .connect(connector, qp, local, &request, 2)
        .unwrap();
    assert!(world.run_until(|world| world.b.incoming().is_some()));
}

/// NDK-CONN-7, NDK-REJ-1, -2: the passive side rejects.
// Covers: NDK-CONN-7, NDK-REJ-1, NDK-REJ-2
#[test]
fn a_request_is_rejected() {
    let mut world = World::new();
    world.listener();
    let (connector, _) = world.ask(1);
    let incoming = world.request();
    let outcome = world.b.nic.reject(incoming, &[0; 149]);
    assert_eq!(outcome, err(NtStatus::INVALID_BUFFER_SIZE));
    world.b.nic.reject(incoming, b"not today").unwrap();
    assert_eq!(
        world.b.nic.reject(incoming, b""),
        err(NtStatus::CONNECTION_INVALID)
    );
    world.run();
    assert_eq!(world.a.completed(1), Some(NtStatus::CONNECTION_REFUSED));
    let data = world.a.nic.connection_data(connector).unwrap();
    assert_eq!(data.private_data[..10], *b"not today\0");
    assert_eq!(data.private_data.len(), 148);
    assert_eq!(world.b.nic.close_connector(incoming), Ok(NtStatus::SUCCESS));
}

/// Reading O32: a connector that is closed without an answer rejects.
#[test]
fn a_close_rejects() {
    let mut world = World::new();
    world.listener();
    world.ask(1);
    let incoming = world.request();
    let outcome = world.b.nic.close_connector(incoming);
    assert_eq!(outcome, Ok(NtStatus::SUCCESS));
    world.run();
    assert_eq!(world.a.completed(1), Some(NtStatus::CONNECTION_REFUSED));
}

/// NDK-REJ-1, C35: the active side rejects the reply.
// Covers: NDK-REJ-1
#[test]
fn a_reply_is_rejected() {
    let mut world = World::new();
    world.listener();
    let (connector, qp) = world.ask(1);
    let incoming = world.request();
    let qp_b = world.b.qp();
    let parameters = AcceptParameters::default();
    let sge = world.b.sge(0, 8);
    world.b.nic.receive(qp_b, 5, &[sge]).unwrap();
    world.b.nic.accept(incoming, qp_b, &parameters, 2).unwrap();
    world.run_until(|world| world.a.completed(1).is_some());
    world.a.nic.reject(connector, b"").unwrap();
    assert_eq!(world.a.nic.qp_phase(qp), Ok(QpPhase::Idle));
    world.run();
    assert_eq!(world.b.completed(2), Some(NtStatus::CONNECTION_REFUSED));
    // The queue pair that was ready is of no use any more.
    assert_eq!(world.b.nic.qp_phase(qp_b), Ok(QpPhase::Error));
    assert_eq!(world.b.outcomes(), [(5, NtStatus::CANCELLED)]);
}

/// A queue pair that is flushed while its connection is made stays in error, whatever the peer says.
// Covers: WIRE-QP-3
#[test]
fn a_queue_pair_is_flushed_meanwhile() {
    let mut world = World::new();
    world.listener();
    let (connector, qp) = world.ask(1);
    let sge = world.a.sge(0, 8);
    world.a.nic.receive(qp, 5, &[sge]).unwrap();
    let incoming = world.request();
    world.a.nic.flush(qp).unwrap();
    let qp_b = world.b.qp();
    let parameters = AcceptParameters::default();
    let accepted = world.b.nic.accept(incoming, qp_b, &parameters, 2);
    assert_eq!(accepted, Ok(NtStatus::PENDING));
    world.run_until(|world| world.a.completed(1) == Some(NtStatus::SUCCESS));
    world.a.nic.complete_connect(connector, None).unwrap();
    world.run();
    let number = world.a.nic.qp_number(qp).unwrap();
    let engine = world.a.nic.hal().engine();
    assert_eq!(engine.qp_state(number), Some(QpState::Err));
    assert_eq!(world.a.nic.qp_phase(qp), Ok(QpPhase::Error));
    assert_eq!(world.a.outcomes(), [(5, NtStatus::CANCELLED)]);
}

/// NDK-CONN-8, NDK-ACC-3: the peer does not answer; when it wants to, nobody is there any more.
// Covers: NDK-CONN-8, NDK-ACC-3
#[test]
fn a_request_times_out() {
    let mut world = World::new();
    world.listener();
    world.ask(1);
    let incoming = world.request();
    world.fate = Box::new(|_| vec![]);
    world.run_until(|world| !world.a.told.is_empty());
    assert_eq!(world.a.completed(1), Some(NtStatus::IO_TIMEOUT));
    world.fate = Box::new(|_| vec![0]);
    let qp_b = world.b.qp();
    let parameters = AcceptParameters::default();
    world.b.nic.accept(incoming, qp_b, &parameters, 2).unwrap();
    world.run();
    assert_eq!(world.b.completed(2), Some(NtStatus::CONNECTION_ABORTED));
}

/// NDK-ACC-3, NDK-REJ-3: the peer gave up, and said so.
// Covers: NDK-ACC-3, NDK-REJ-3
#[test]
fn a_peer_gives_up() {
    for reject in [true, false] {
        let mut world = World::new();
        world.listener();
        let (connector, _) = world.ask(1);
        let incoming = world.request();
        let outcome = world.a.nic.close_connector(connector);
        assert_eq!(outcome, Ok(NtStatus::PENDING));
        world.run();
        // The close is told last.
        let cancelled = Notification::Completed {
            connector,
            request_context: 1,
            status: NtStatus::CANCELLED,
        };
        let closed = Notification::Closed(Object::Connector(connector));
        assert_eq!(world.a.told, [cancelled, closed]);
        let qp_b = world.b.qp();
        let aborted = NtStatus::CONNECTION_ABORTED;
        if reject {
            assert_eq!(world.b.nic.reject(incoming, b""), err(aborted));
        } else {
            let parameters = AcceptParameters::default();
            let outcome = world.b.nic.accept(incoming, qp_b, &parameters, 2);
            assert_eq!(outcome, err(aborted));
        }
    }
}

/// NDK-ACC-4, NDK-CCON-3: the active side never completes; when it wants to, the peer has given up.
// Covers: NDK-ACC-4, NDK-CCON-3
#[test]
fn a_reply_times_out() {
    let mut world = World::new();
    world.listener();
    let (connector, _) = world.ask(1);
    let incoming = world.request();
    let qp_b = world.b.qp();
    let parameters = AcceptParameters::default();
    world.b.nic.accept(incoming, qp_b, &parameters, 2).unwrap();
    world.run();
    assert_eq!(world.b.completed(2), Some(NtStatus::IO_TIMEOUT));
    let outcome = world.a.nic.complete_connect(connector, None);
    assert_eq!(outcome, err(NtStatus::CONNECTION_ABORTED));
    assert_eq!(
        world.a.nic.close_connector(connector),
        Ok(NtStatus::SUCCESS)
    );
}

/// Calls at the wrong time, and too much private data.
#[test]
fn calls_have_their_time() {
    let mut world = World::new();
    world.listener();
    let (connector, qp) = world.ask(1);
    let request = ConnectRequest::to(world.b.at(PORT));
    let local = world.a.at(0);
    let nic = &mut world.a.nic;
    let active = err(NtStatus::CONNECTION_ACTIVE);
    assert_eq!(nic.connect(connector, qp, local, &request, 2), active);
    let another = nic.create_connector().unwrap();
    assert_eq!(nic.connect(another, qp, local, &request, 2), active);
    let invalid = NtStatus::CONNECTION_INVALID;
    assert_eq!(nic.disconnect(another, 2), err(invalid));
    assert_eq!(nic.reject(another, b""), err(invalid));
    assert_eq!(nic.connection_data(another).err(), Some(invalid.into()));
    assert_eq!(nic.local_address(another).err(), Some(invalid.into()));
    assert_eq!(nic.peer_address(another).err(), Some(invalid.into()));
    let parameters = AcceptParameters::default();
    let qp = world.a.qp();
    let nic = &mut world.a.nic;
    assert_eq!(nic.accept(another, qp, &parameters, 2), active);
    let request = ConnectRequest {
        private_data: &[0; 57],
        ..request
    };
    let outcome = nic.connect(another, qp, local, &request, 2);
    assert_eq!(outcome, err(NtStatus::INVALID_BUFFER_SIZE));
}
