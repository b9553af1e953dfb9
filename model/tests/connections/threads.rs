//! A connector that is closed while other threads post to its queue pair.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use tandem_model::ndk::{
    NdkError, NdkResultEx, Notification, NtStatus, Object, OpFlags, OperationType, RemoteToken,
};

use crate::world::World;

use NtStatus as S;

/// Requests that each thread posts.
const REQUESTS: u64 = 300;
/// Writes after which the connector is closed.
const BEFORE_CLOSE: usize = 80;

/// Calls take turns, as they do behind a [`SharedProvider`](tandem_model::ndk::SharedProvider).
fn turn(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap()
}

/// Posts all, giving way while the queue is full.
fn post_all(world: &Mutex<World>, post: impl Fn(&mut World, u64) -> Result<(), NdkError>) {
    for context in 0..REQUESTS {
        loop {
            let outcome = post(&mut turn(world), context);
            match outcome {
                Ok(()) => break,
                Err(NdkError::Status(S::NO_MORE_ENTRIES)) => thread::yield_now(),
                Err(error) => panic!("request {context}: {error}"),
            }
        }
    }
}

/// All requests of one queue, each once and in order, done or cancelled; how many were done. One that is done when the end
/// comes may be cancelled all the same.
fn check(results: &[NdkResultEx]) -> usize {
    let contexts: Vec<u64> = results.iter().map(|r| r.request_context).collect();
    assert_eq!(contexts, (0..REQUESTS).collect::<Vec<_>>());
    let ends = |r: &NdkResultEx| matches!(r.status, S::SUCCESS | S::CANCELLED);
    assert!(results.iter().all(ends));
    let done = results.iter().filter(|r| r.status == S::SUCCESS);
    done.count()
}

// Covers: NDK-POST-4, NDK-POST-6
#[test]
fn ndk_post_6_close_of_the_connector_while_two_threads_post() {
    let mut world = World::new();
    world.listener();
    let pair = world.connect();
    let closed = Notification::Closed(Object::Connector(pair.a));
    let world = Mutex::new(world);
    let threads = AtomicUsize::new(3);
    let writes_done = AtomicUsize::new(0);
    let mut results = Vec::new();
    thread::scope(|scope| {
        let (world, threads, writes_done) = (&world, &threads, &writes_done);
        scope.spawn(move || {
            // Of no bytes: the peer's token is not looked at.
            let token = RemoteToken::default();
            post_all(world, |world, context| {
                let nic = &mut world.a.nic;
                nic.write(pair.qp_a, context, &[], 0, token, OpFlags::NONE)
            });
            threads.fetch_sub(1, Ordering::Release);
        });
        scope.spawn(move || {
            post_all(world, |world, context| {
                world.a.nic.receive(pair.qp_a, context, &[])
            });
            threads.fetch_sub(1, Ordering::Release);
        });
        scope.spawn(move || {
            while writes_done.load(Ordering::Acquire) < BEFORE_CLOSE {
                thread::yield_now();
            }
            let status = turn(world).a.nic.close_connector(pair.a);
            assert!(matches!(status, Ok(S::SUCCESS | S::PENDING)), "{status:?}");
            if status == Ok(S::SUCCESS) {
                turn(world).a.told.push(closed);
            }
            threads.fetch_sub(1, Ordering::Release);
        });
        // Results are taken, and time passes, while all of them post.
        while threads.load(Ordering::Acquire) > 0 {
            let mut turn = turn(world);
            turn.step();
            results.extend(turn.a.results());
            drop(turn);
            let writes = results.iter().filter(|r| !r.operation.is_receive());
            writes_done.store(writes.count(), Ordering::Release);
        }
    });
    let mut world = world.into_inner().unwrap();
    world.run();
    results.extend(world.a.results());
    let (receives, writes): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|r| r.operation.is_receive());
    assert!(check(&writes) >= BEFORE_CLOSE);
    assert_eq!(check(&receives), 0);
    assert!(writes.iter().all(|r| r.operation == OperationType::Write));
    let told = world.a.told.iter().filter(|told| **told == closed);
    assert_eq!(told.count(), 1);
    assert_eq!(world.a.nic.close_qp(pair.qp_a), Ok(S::SUCCESS));
}
