//! Who is where: ARP and neighbour discovery, and what happens without an answer.

use std::time::Duration;

use tandem_model::ndk::{ConnectRequest, NtStatus};
use tandem_model::target::Scheduler;

use crate::world::{World, quick};

/// NDK-CONN-6: nobody answers. Afterwards connector and queue pair can be used again.
// Covers: NDK-CONN-6
#[test]
fn a_host_that_is_not_there() {
    for (ips, nobody) in [
        (["192.0.2.1", "192.0.2.2"], "192.0.2.9:7174"),
        (["fd77::1", "fd77::2"], "[fd77::9]:7174"),
    ] {
        let mut world = World::with(Scheduler::Fair, ips, quick());
        world.listener();
        let connector = world.a.nic.create_connector().unwrap();
        let qp = world.a.qp();
        let request = ConnectRequest::to(nobody.parse().unwrap());
        let local = world.a.at(50000);
        world
            .a
            .nic
            .connect(connector, qp, local, &request, 1)
            .unwrap();
        let began = world.now();
        world.run_until(|world| !world.a.told.is_empty());
        assert_eq!(world.a.completed(1), Some(NtStatus::HOST_UNREACHABLE));
        assert!((4.9..5.1).contains(&(world.now() - began).as_secs_f64()));
        let request = ConnectRequest::to(world.b.at(crate::world::PORT));
        world
            .a
            .nic
            .connect(connector, qp, local, &request, 2)
            .unwrap();
        assert!(world.run_until(|world| world.b.incoming().is_some()));
    }
}

/// NDK-CONN-6: no route.
// Covers: NDK-CONN-6
#[test]
fn a_network_that_is_not_there() {
    let mut world = World::new();
    let connector = world.a.nic.create_connector().unwrap();
    let qp = world.a.qp();
    let local = world.a.at(0);
    let request = ConnectRequest::to("198.51.100.1:7174".parse().unwrap());
    let outcome = world.a.nic.connect(connector, qp, local, &request, 1);
    assert_eq!(outcome, Err(NtStatus::NETWORK_UNREACHABLE.into()));
    // Nor does the adapter reach itself.
    let request = ConnectRequest::to(world.a.at(7174));
    let outcome = world.a.nic.connect(connector, qp, local, &request, 1);
    assert_eq!(outcome, Err(NtStatus::HOST_UNREACHABLE.into()));
}

/// A lost question about a neighbour is asked again.
#[test]
fn a_lost_question_is_asked_again() {
    let mut world = World::new();
    world.listener();
    let mut first = true;
    world.fate = Box::new(move |_| {
        if std::mem::take(&mut first) {
            vec![]
        } else {
            vec![0]
        }
    });
    world.ask(1);
    assert!(world.run_until(|world| world.b.incoming().is_some()));
    assert!(world.now() > Duration::from_millis(900));
}

/// What is known of a neighbour is used for a while, then asked for again.
#[test]
fn a_neighbour_is_remembered() {
    let mut world = World::new();
    world.listener();
    let asked = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = asked.clone();
    world.fate = Box::new(move |frame| {
        count.set(count.get() + u32::from(frame[12..14] == [8, 6]));
        vec![0]
    });
    world.connect();
    let first = asked.get();
    assert!(first >= 2);
    world.connect();
    assert_eq!(asked.get(), first);
}

/// Two connectors look for the same neighbour; one of them gives up.
#[test]
fn a_neighbour_is_looked_for_by_two() {
    let mut world = World::new();
    world.listener();
    world.fate = Box::new(|_| vec![]);
    let (first, _) = world.ask(1);
    let (_, _) = world.ask(2);
    let outcome = world.a.nic.close_connector(first);
    assert_eq!(outcome, Ok(NtStatus::PENDING));
    world.fate = Box::new(|_| vec![0]);
    assert!(world.run_until(|world| world.b.incoming().is_some()));
    assert_eq!(world.a.completed(1), Some(NtStatus::CANCELLED));
}
