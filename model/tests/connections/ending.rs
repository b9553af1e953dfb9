//! How connections end, and what becomes of requests.

use tandem_model::ndk::{NdkError, Notification, NtStatus, Object, OpFlags, QpPhase};

use crate::world::{Pair, World};

fn err<T>(status: NtStatus) -> Result<T, NdkError> {
    Err(status.into())
}

/// A connection, with a receive posted at each side.
fn connected() -> (World, Pair) {
    let mut world = World::new();
    world.listener();
    let pair = world.connect();
    let (a, b) = (world.a.sge(0, 64), world.b.sge(0, 64));
    world.a.nic.receive(pair.qp_a, 10, &[a]).unwrap();
    world.b.nic.receive(pair.qp_b, 20, &[b]).unwrap();
    (world, pair)
}

fn disconnect_event(pair: Pair) -> Notification {
    Notification::Disconnect {
        connector: pair.b,
        context: 0xB,
        reason: 0,
    }
}

/// NDK-DISC-1, -2, -5, -6, -7, NDK-DEV-1, -3 to -5: A asks, B is told, and nothing of B's is cancelled until B disconnects too.
// Covers: NDK-DISC-1, NDK-DISC-2, NDK-DISC-5, NDK-DISC-6, NDK-DISC-7, NDK-DEV-1, NDK-DEV-3
// Covers: NDK-DEV-4, NDK-DEV-5
#[test]
fn both_disconnect() {
    let (mut world, pair) = connected();
    assert_eq!(world.a.nic.disconnect(pair.a, 3), Ok(NtStatus::PENDING));
    world.run_until(|world| !world.b.told.is_empty());
    assert_eq!(world.b.told, [disconnect_event(pair)]);
    assert_eq!(world.a.outcomes(), [(10, NtStatus::CANCELLED)]);
    assert_eq!(world.b.outcomes(), []);
    assert_eq!(world.b.nic.qp_phase(pair.qp_b), Ok(QpPhase::Connected));
    assert_eq!(world.a.completed(3), None);

    assert_eq!(world.b.nic.disconnect(pair.b, 4), Ok(NtStatus::PENDING));
    world.run();
    assert_eq!(world.b.completed(4), Some(NtStatus::SUCCESS));
    assert_eq!(world.a.completed(3), Some(NtStatus::SUCCESS));
    assert_eq!(world.b.outcomes(), [(20, NtStatus::CANCELLED)]);
    // No way back, and nobody is told anything more.
    assert_eq!(
        world.a.nic.disconnect(pair.a, 5),
        err(NtStatus::CONNECTION_INVALID)
    );
    let request = tandem_model::ndk::ConnectRequest::to(world.b.at(crate::world::PORT));
    let local = world.a.at(0);
    let outcome = world.a.nic.connect(pair.a, pair.qp_a, local, &request, 5);
    assert_eq!(outcome, err(NtStatus::INVALID_DEVICE_STATE));
    assert_eq!(world.a.nic.close_connector(pair.a), Ok(NtStatus::SUCCESS));
    assert_eq!(world.b.nic.close_connector(pair.b), Ok(NtStatus::SUCCESS));
    world.run();
    assert_eq!((&world.a.told[..], &world.b.told[1..]), (&[][..], &[][..]));
    assert_eq!(world.a.counters(), [1, 0, 0, 0, 0]);
    assert_eq!(world.b.counters(), [0, 1, 0, 0, 0]);
}

/// Both at once: neither is told of the other (NDK-DEV-2).
#[test]
fn both_disconnect_at_once() {
    let (mut world, pair) = connected();
    world.a.nic.disconnect(pair.a, 3).unwrap();
    world.b.nic.disconnect(pair.b, 4).unwrap();
    world.run();
    assert_eq!(world.a.completed(3), Some(NtStatus::SUCCESS));
    assert_eq!(world.b.completed(4), Some(NtStatus::SUCCESS));
    assert_eq!((&world.a.told[..], &world.b.told[..]), (&[][..], &[][..]));
}

/// NDK-DISC-3: a peer that is not there any more.
// Covers: NDK-DISC-3
#[test]
fn a_disconnect_times_out() {
    let (mut world, pair) = connected();
    world.fate = Box::new(|_| vec![]);
    world.a.nic.disconnect(pair.a, 3).unwrap();
    world.run_until(|world| !world.a.told.is_empty());
    assert_eq!(world.a.completed(3), Some(NtStatus::IO_TIMEOUT));
}

/// NDK-DISC-4: a silent request that succeeded, of which no result tells, holds no disconnect up for ever.
// Covers: NDK-DISC-4
#[test]
fn silent_requests_are_accounted_for() {
    let (mut world, pair) = connected();
    let sge = world.a.sge(0, 64);
    let silent = OpFlags::SILENT_SUCCESS;
    world.a.nic.send(pair.qp_a, 11, &[sge], silent).unwrap();
    world.run();
    assert_eq!(world.b.outcomes(), [(20, NtStatus::SUCCESS)]);
    world.a.nic.disconnect(pair.a, 3).unwrap();
    world.run_until(|world| world.b.told.contains(&disconnect_event(pair)));
    world.b.nic.disconnect(pair.b, 4).unwrap();
    world.run();
    assert_eq!(world.a.completed(3), Some(NtStatus::SUCCESS));
    assert_eq!(world.a.outcomes(), [(10, NtStatus::CANCELLED)]);
}

/// NDK-DISC-4: the handshake is over at once at the side that is asked; its disconnect ends with its last request.
// Covers: NDK-DISC-4
#[test]
fn a_disconnect_ends_with_the_last_request() {
    let (mut world, pair) = connected();
    for context in 21..80 {
        let sge = world.b.sge(0, 64);
        world.b.nic.receive(pair.qp_b, context, &[sge]).unwrap();
    }
    world.a.nic.disconnect(pair.a, 3).unwrap();
    world.run_until(|world| world.b.told.contains(&disconnect_event(pair)));
    world.b.nic.disconnect(pair.b, 4).unwrap();
    let mut steps = 0;
    assert!(world.run_until(|world| {
        steps += 1;
        world.b.completed(4) == Some(NtStatus::SUCCESS)
    }));
    assert_eq!(world.b.outcomes().len(), 60, "after {steps} steps");
}

/// C34: a connector closed without a disconnect breaks the connection off. The peer's requests are cancelled, its consumer is
/// told once, and its own disconnect fails.
#[test]
fn a_close_breaks_off() {
    let (mut world, pair) = connected();
    let closed = world.a.nic.close_connector(pair.a).unwrap();
    world.run();
    if closed == NtStatus::PENDING {
        let told = Notification::Closed(Object::Connector(pair.a));
        assert_eq!(world.a.told, [told]);
    }
    assert_eq!(world.a.outcomes(), [(10, NtStatus::CANCELLED)]);
    assert_eq!(world.b.told, [disconnect_event(pair)]);
    assert_eq!(world.b.outcomes(), [(20, NtStatus::CANCELLED)]);
    assert_eq!(world.b.nic.disconnect(pair.b, 4), Ok(NtStatus::PENDING));
    world.run();
    assert_eq!(world.b.completed(4), Some(NtStatus::CONNECTION_ABORTED));
    // Who closes ends it; whom it is closed upon, it fails.
    assert_eq!(world.a.counters(), [1, 0, 0, 0, 0]);
    assert_eq!(world.b.counters(), [0, 1, 0, 1, 0]);
}

/// NDK-DEV-1: a request that fails breaks the connection; the consumer is told once, and can still say goodbye.
// Covers: NDK-DEV-1, NDK-STAT-7
#[test]
fn a_failed_request_breaks_the_connection() {
    let (mut world, pair) = connected();
    let sge = world.b.sge(0, 64);
    let token = Default::default();
    world
        .b
        .nic
        .write(pair.qp_b, 21, &[sge], 0, token, OpFlags::NONE)
        .unwrap();
    world.run();
    let told = world
        .b
        .told
        .iter()
        .filter(|told| **told == disconnect_event(pair))
        .count();
    assert_eq!(told, 1, "{:?}", world.b.told);
    assert_eq!(world.b.nic.disconnect(pair.b, 4), Ok(NtStatus::PENDING));
    world.run_until(|world| {
        world
            .a
            .told
            .iter()
            .any(|told| matches!(told, Notification::Disconnect { context: 0xA, .. }))
    });
    world.a.nic.disconnect(pair.a, 3).unwrap();
    world.run();
    assert_eq!(world.b.completed(4), Some(NtStatus::SUCCESS));
    assert_eq!(world.a.completed(3), Some(NtStatus::SUCCESS));
    assert_eq!(world.a.counters(), [1, 0, 0, 1, 0]);
    assert_eq!(world.b.counters(), [0, 1, 0, 1, 0]);
}

/// NDK-DEV-1: what broke is not told of again when the peer disconnects.
// Covers: NDK-DEV-1
#[test]
fn an_end_is_told_once() {
    let (mut world, pair) = connected();
    let sge = world.b.sge(0, 64);
    let token = Default::default();
    let none = OpFlags::NONE;
    world
        .b
        .nic
        .write(pair.qp_b, 21, &[sge], 0, token, none)
        .unwrap();
    world.run();
    world.a.nic.disconnect(pair.a, 3).unwrap();
    world.run_until(|world| world.now() > std::time::Duration::from_secs(2));
    let told = world.b.told.iter();
    let events = told.filter(|told| **told == disconnect_event(pair));
    assert_eq!(events.count(), 1, "{:?}", world.b.told);
}

/// A queue pair stays until its connector has gone.
#[test]
fn a_queue_pair_outlives_its_connector() {
    let (mut world, pair) = connected();
    world.a.nic.disconnect(pair.a, 3).unwrap();
    world.b.nic.disconnect(pair.b, 4).unwrap();
    world.run();
    assert_eq!(world.a.nic.close_qp(pair.qp_a), Ok(NtStatus::PENDING));
    world.run();
    let told = Notification::Closed(Object::Qp(pair.qp_a));
    assert!(!world.a.told.contains(&told));
    assert_eq!(world.a.nic.close_connector(pair.a), Ok(NtStatus::SUCCESS));
    world.run();
    assert!(world.a.told.contains(&told));
}
