//! Local endpoints: listeners, shared endpoints, and the ports of connectors.

use tandem_model::ndk::{ConnectRequest, EndpointKind, NdkError, Notification, NtStatus, Object};

use crate::world::{PORT, World};

fn err<T>(status: NtStatus) -> Result<T, NdkError> {
    Err(status.into())
}

/// NDK-LSTN-2, NDK-CONN-9: addresses in use, and addresses of others.
// Covers: NDK-LSTN-2, NDK-CONN-9
#[test]
fn addresses_are_exclusive() {
    let mut world = World::new();
    world.listener();
    let (at, foreign) = (world.b.at(PORT), world.a.at(PORT));
    let nic = &mut world.b.nic;
    let second = nic.create_listener(0).unwrap();
    assert_eq!(nic.listen(second, at), err(NtStatus::SHARING_VIOLATION));
    assert_eq!(nic.listen(second, foreign), err(NtStatus::INVALID_ADDRESS));
    assert_eq!(
        nic.create_shared_endpoint(at).err(),
        Some(NtStatus::SHARING_VIOLATION.into())
    );
    let outcome = nic.create_shared_endpoint(foreign).err();
    assert_eq!(outcome, Some(NtStatus::INVALID_ADDRESS.into()));
    let (connector, qp) = (nic.create_connector().unwrap(), world.b.qp());
    let request = ConnectRequest::to(foreign);
    let nic = &mut world.b.nic;
    let outcome = nic.connect(connector, qp, at, &request, 1);
    assert_eq!(outcome, err(NtStatus::SHARING_VIOLATION));
    let outcome = nic.connect(connector, qp, foreign, &request, 1);
    assert_eq!(outcome, err(NtStatus::INVALID_ADDRESS));
}

/// NDK-CONN-10, NDK-ADDR-1 to -3: port 0 is any port, which can be read back.
// Covers: NDK-CONN-10, NDK-ADDR-1, NDK-ADDR-2, NDK-ADDR-3
#[test]
fn a_port_is_chosen() {
    let mut world = World::new();
    let any = world.b.at(0);
    let nic = &mut world.b.nic;
    let listener = nic.create_listener(0).unwrap();
    nic.listen(listener, any).unwrap();
    let local = nic.listener_local_address(listener).unwrap();
    assert!(local.port() >= 49152);
    let endpoint = nic.create_shared_endpoint(any).unwrap();
    let other = nic.shared_endpoint_local_address(endpoint).unwrap();
    assert!(other.port() >= 49152 && other != local);

    let mut short = [0; 15];
    let outcome = nic.listener_local_address_into(listener, &mut short);
    assert_eq!(outcome, Ok((NtStatus::BUFFER_TOO_SMALL, 16)));
    let mut bytes = [0xEE; 20];
    let outcome = nic.listener_local_address_into(listener, &mut bytes);
    assert_eq!(outcome, Ok((NtStatus::SUCCESS, 16)));
    let [high, low] = local.port().to_be_bytes();
    assert_eq!(bytes[..8], [2, 0, high, low, 192, 0, 2, 2]);
    assert_eq!(bytes[8..], [0, 0, 0, 0, 0, 0, 0, 0, 0xEE, 0xEE, 0xEE, 0xEE]);
    let outcome = nic.shared_endpoint_local_address_into(endpoint, &mut bytes);
    assert_eq!(outcome, Ok((NtStatus::SUCCESS, 16)));
}

/// NDK-ADDR-1: both ends of a connection, IPv6 too.
// Covers: NDK-ADDR-1
#[test]
fn both_ends_know_both_addresses() {
    for ips in [["192.0.2.1", "192.0.2.2"], ["fd77::1", "fd77::2"]] {
        let fair = tandem_model::target::Scheduler::Fair;
        let mut world = World::with(fair, ips, crate::world::quick());
        world.listener();
        let pair = world.connect();
        let caller = world.a.nic.local_address(pair.a).unwrap();
        assert_eq!(caller.ip(), world.a.ip);
        assert_eq!(world.b.nic.peer_address(pair.b), Ok(caller));
        assert_eq!(world.b.nic.local_address(pair.b), Ok(world.b.at(PORT)));
        assert_eq!(world.a.nic.peer_address(pair.a), Ok(world.b.at(PORT)));
        assert_eq!(
            world.a.nic.active_connections(),
            [(caller, world.b.at(PORT))]
        );
        assert_eq!(
            world.b.nic.active_connections(),
            [(world.b.at(PORT), caller)]
        );
        let length = if caller.is_ipv4() { 16 } else { 28 };
        let mut bytes = [0; 28];
        let outcome = world.a.nic.peer_address_into(pair.a, &mut bytes);
        assert_eq!(outcome, Ok((NtStatus::SUCCESS, length)));
        assert_eq!(bytes[2..4], PORT.to_be_bytes());
        let outcome = world
            .a
            .nic
            .local_address_into(pair.a, &mut bytes[..length - 1]);
        assert_eq!(outcome, Ok((NtStatus::BUFFER_TOO_SMALL, length)));
    }
}

/// NDK-CONN-11, -12: many connections over one endpoint, but not two to the same place.
// Covers: NDK-CONN-11, NDK-CONN-12, NDK-EPT-3, NDK-EPT-5
#[test]
fn a_shared_endpoint_is_shared() {
    let mut world = World::new();
    world.listener();
    let second = world.b.nic.create_listener(78).unwrap();
    world.b.nic.listen(second, world.b.at(8000)).unwrap();
    let any = world.a.at(0);
    let endpoint = world.a.nic.create_shared_endpoint(any).unwrap();
    let local = world.a.nic.shared_endpoint_local_address(endpoint).unwrap();
    let mut connectors = Vec::new();
    for (port, context) in [(PORT, 1), (8000, 2)] {
        let (connector, qp) = (world.a.nic.create_connector().unwrap(), world.a.qp());
        let request = ConnectRequest::to(world.b.at(port));
        let nic = &mut world.a.nic;
        let outcome = nic.connect_with_shared_endpoint(connector, qp, endpoint, &request, context);
        assert_eq!(outcome, Ok(NtStatus::PENDING));
        connectors.push(connector);
    }
    world.run_until(|world| world.b.told.len() == 2);
    for _ in 0..2 {
        let incoming = world.b.incoming().unwrap();
        assert_eq!(world.b.nic.peer_address(incoming), Ok(local));
    }
    let (connector, qp) = (world.a.nic.create_connector().unwrap(), world.a.qp());
    let request = ConnectRequest::to(world.b.at(PORT));
    let nic = &mut world.a.nic;
    let outcome = nic.connect_with_shared_endpoint(connector, qp, endpoint, &request, 3);
    assert_eq!(outcome, err(NtStatus::ADDRESS_ALREADY_EXISTS));

    // NDK-EPT-3, -5: it goes when its last connector has gone.
    assert_eq!(nic.close_shared_endpoint(endpoint), Ok(NtStatus::PENDING));
    assert_eq!(
        nic.create_shared_endpoint(local).err(),
        Some(NtStatus::SHARING_VIOLATION.into())
    );
    for connector in connectors {
        assert_eq!(nic.close_connector(connector), Ok(NtStatus::PENDING));
    }
    world.run();
    let closed = Notification::Closed(Object::SharedEndpoint(endpoint));
    assert!(world.a.told.contains(&closed));
    assert!(world.a.nic.create_shared_endpoint(local).is_ok());
}

/// NDK-EPT-1, -4, -5, NDK-OBJ-11: a listener's endpoint lives as long as the connections over it.
// Covers: NDK-EPT-1, NDK-EPT-4, NDK-EPT-5, NDK-OBJ-11
#[test]
fn a_listener_lives_with_its_connections() {
    let mut world = World::new();
    let listener = world.listener();
    let pair = world.connect();
    assert_eq!(world.b.nic.close_listener(listener), Ok(NtStatus::PENDING));
    // Nothing new is delivered.
    world.ask(9);
    world.run();
    assert_eq!(world.a.completed(9), Some(NtStatus::CONNECTION_REFUSED));
    let again = world.b.nic.create_listener(0).unwrap();
    let at = world.b.at(PORT);
    assert_eq!(
        world.b.nic.listen(again, at),
        err(NtStatus::SHARING_VIOLATION)
    );
    assert_eq!(world.b.nic.close_connector(pair.b), Ok(NtStatus::SUCCESS));
    world.run();
    let closed = Notification::Closed(Object::Listener(listener));
    assert!(world.b.told.contains(&closed), "{:?}", world.b.told);
    assert_eq!(world.b.nic.listen(again, at), Ok(()));
}

/// NDK-EPT-2: the port of a connector is free when it is closed.
// Covers: NDK-EPT-2
#[test]
fn a_connector_holds_its_port() {
    let mut world = World::new();
    world.listener();
    let pair = world.connect();
    let local = world.a.nic.local_address(pair.a).unwrap();
    let (connector, qp) = (world.a.nic.create_connector().unwrap(), world.a.qp());
    let request = ConnectRequest::to(world.b.at(8000));
    let outcome = world.a.nic.connect(connector, qp, local, &request, 3);
    assert_eq!(outcome, err(NtStatus::SHARING_VIOLATION));
    let request = ConnectRequest::to(world.b.at(PORT));
    let outcome = world.a.nic.connect(connector, qp, local, &request, 3);
    assert_eq!(outcome, err(NtStatus::ADDRESS_ALREADY_EXISTS));
    world.a.nic.close_connector(pair.a).unwrap();
    world.run();
    let outcome = world.a.nic.connect(connector, qp, local, &request, 3);
    assert_eq!(outcome, Ok(NtStatus::PENDING));
}

/// NDK-LSTN-3, -4: a pause is as if nobody listened.
// Covers: NDK-LSTN-3, NDK-LSTN-4
#[test]
fn a_listener_pauses() {
    let mut world = World::new();
    let listener = world.listener();
    world.b.nic.pause_connect_events(listener).unwrap();
    world.ask(1);
    world.run();
    assert_eq!(world.a.completed(1), Some(NtStatus::CONNECTION_REFUSED));
    world.b.nic.resume_connect_events(listener).unwrap();
    world.ask(2);
    assert!(world.run_until(|world| world.b.incoming().is_some()));
}

/// NDK-OLEP-1, NDK-LEE-3: what OID queries list.
// Covers: NDK-OLEP-1, NDK-LEE-3
#[test]
fn endpoints_are_listed() {
    let mut world = World::new();
    let listener = world.listener();
    let shared = world.b.at(9000);
    let endpoint = world.b.nic.create_shared_endpoint(shared).unwrap();
    let kinds: Vec<_> = world
        .b
        .nic
        .endpoints()
        .iter()
        .map(|e| (e.local, e.kind))
        .collect();
    let expected = [
        (world.b.at(PORT), EndpointKind::Listener),
        (shared, EndpointKind::SharedEndpoint),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(world.b.nic.close_listener(listener), Ok(NtStatus::SUCCESS));
    assert_eq!(
        world.b.nic.close_shared_endpoint(endpoint),
        Ok(NtStatus::SUCCESS)
    );
    assert_eq!(world.b.nic.endpoints(), []);
}
