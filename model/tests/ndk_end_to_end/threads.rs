//! Threads that post to the queues of one queue pair at once, while another flushes it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use tandem_model::hal::Target;
use tandem_model::ndk::{
    NdkError, NdkResultEx, NtStatus, OperationType, Provider, Qp, SharedProvider,
};
use tandem_model::target::{ModelTarget, Scheduler};

use crate::NONE;
use crate::world::{Change, Node, PLAIN, VA, World};

use NtStatus as S;

/// Requests that each posting thread posts.
const REQUESTS: u64 = 400;
/// Completions of writes after which the queue pair is flushed.
const BEFORE_FLUSH: usize = 100;
/// Messages that the peer sends.
const MESSAGES: u64 = 40;

type Nic = SharedProvider<ModelTarget>;

fn is_send<T: Send>() {}

/// Posts all, giving way while the queue is full.
fn post_all(nic: &Nic, post: impl Fn(&mut Provider<ModelTarget>, u64) -> Result<(), NdkError>) {
    for context in 0..REQUESTS {
        loop {
            match nic.call(|nic| post(nic, context)) {
                Ok(()) => break,
                Err(NdkError::Status(S::NO_MORE_ENTRIES)) => thread::yield_now(),
                Err(error) => panic!("request {context}: {error}"),
            }
        }
    }
}

/// Lets both nodes run a little.
fn pass_time(nic: &Nic, peer: &mut Provider<ModelTarget>) {
    let frames = nic.call(|nic| {
        nic.hal_mut().advance(16).unwrap();
        nic.hal_mut().take_frames().unwrap()
    });
    let target = peer.hal_mut();
    frames
        .iter()
        .for_each(|frame| target.send_frame(frame).unwrap());
    target.advance(16).unwrap();
    let frames = target.take_frames().unwrap();
    nic.call(|nic| {
        let target = nic.hal_mut();
        frames
            .iter()
            .for_each(|frame| target.send_frame(frame).unwrap());
    });
}

/// Results of one queue: all requests, in the order of their posting, done or cancelled; how many were done. A request that is
/// done when the flush comes may be cancelled all the same, and one behind it not.
fn check(results: &[NdkResultEx], operation: OperationType) -> usize {
    let contexts: Vec<u64> = results.iter().map(|r| r.request_context).collect();
    assert_eq!(contexts, (0..REQUESTS).collect::<Vec<_>>());
    for (place, result) in results.iter().enumerate() {
        assert!(
            matches!(result.status, S::SUCCESS | S::CANCELLED),
            "{place}: {}",
            result.status
        );
        assert_eq!(result.operation, operation);
    }
    let is_done = |result: &&NdkResultEx| result.status == S::SUCCESS;
    results.iter().filter(is_done).count()
}

fn flushed_while_posting(
    scheduler: Scheduler,
    end: impl Fn(&mut Provider<ModelTarget>, Qp) + Sync,
) {
    let change = Change {
        rnr_retry: 7,
        ..PLAIN
    };
    let World { a, mut b, .. } = World::new(scheduler, &change);
    let target = b.remote_token();
    let element = a.sge(0, 64);
    for context in 0..MESSAGES {
        b.nic.send(b.qp, context, &[], NONE).unwrap();
    }
    let Node { nic, cq, qp, .. } = a;
    let nic = Nic::new(nic);
    let done = AtomicUsize::new(0);
    let enough = AtomicBool::new(false);
    let mut results = Vec::new();
    thread::scope(|scope| {
        let writer = nic.clone();
        scope.spawn({
            let done = &done;
            move || {
                post_all(&writer, |nic, context| {
                    nic.write(qp, context, &[element], VA + 4096, target, NONE)
                });
                done.fetch_add(1, Ordering::Release);
            }
        });
        let receiver = nic.clone();
        scope.spawn({
            let done = &done;
            move || {
                post_all(&receiver, |nic, context| nic.receive(qp, context, &[]));
                done.fetch_add(1, Ordering::Release);
            }
        });
        let ender = nic.clone();
        scope.spawn({
            let (done, enough, end) = (&done, &enough, &end);
            move || {
                while !enough.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                ender.call(|nic| end(nic, qp));
                done.fetch_add(1, Ordering::Release);
            }
        });
        // Results are taken, and time passes, while all of them post.
        let mut idle = 0;
        while idle < 1000 {
            pass_time(&nic, &mut b.nic);
            let mut new = nic.call(|nic| nic.poll_cq(cq).unwrap());
            let posting = done.load(Ordering::Acquire) < 3;
            idle = if posting || !new.is_empty() {
                0
            } else {
                idle + 1
            };
            results.append(&mut new);
            let writes = results.iter().filter(|r| !r.operation.is_receive());
            if writes.count() >= BEFORE_FLUSH {
                enough.store(true, Ordering::Release);
            }
        }
    });
    let (receives, writes): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|r| r.operation.is_receive());
    assert!(check(&writes, OperationType::Write) >= BEFORE_FLUSH);
    check(&receives, OperationType::Receive);
    // Nothing is left, and nothing was torn.
    let mut nic = nic.into_inner().expect("the threads are done");
    assert_eq!(nic.close_qp(qp), Ok(S::SUCCESS));
}

/// Each request completes once and in its order, whatever the threads' luck.
// Covers: NDK-POST-4, NDK-POST-5
#[test]
fn ndk_post_5_flush_while_two_threads_post() {
    is_send::<Nic>();
    for scheduler in [Scheduler::Fair, Scheduler::Random(1), Scheduler::Random(2)] {
        println!("{scheduler:?}");
        flushed_while_posting(scheduler, |nic, qp| nic.flush(qp).unwrap());
    }
}
