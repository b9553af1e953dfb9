//! Requests that fail, and with what status.

use tandem_model::ndk::{Notification, NtStatus, OperationType, RemoteToken};

use crate::world::{BUFFER, PLAIN, VA, World};
use crate::{NONE, SILENT, each};

use NtStatus as S;
use OperationType as T;

/// Reading O9: normal regions and the privileged token are no targets.
#[test]
fn invalidation_of_what_must_not_be() {
    each(&PLAIN, |w| {
        w.b.nic.receive(w.b.qp, 0, &[]).unwrap();
        w.run();
        let token = w.b.remote_token();
        w.a.nic
            .send_and_invalidate(w.a.qp, 0, &[], NONE, token)
            .unwrap();
        w.run();
        assert_eq!(w.a.results(), [(0, T::Send, S::REMOTE_RESOURCES)]);
        // The region is as it was: no token changed hands.
        assert_eq!(w.b.remote_token(), token);
    });
}

/// NDK-READ-25, C3; reading O2: the rest is cancelled. The peer's driver hears of it.
// Covers: NDK-READ-25, NDK-TOK-4
#[test]
fn remote_access_errors() {
    type Post = fn(&mut World) -> (OperationType, RemoteToken, u64);
    let cases: [Post; 4] = [
        |w| (T::Read, w.b.remote_token(), VA + u64::from(BUFFER) - 63),
        |w| (T::Write, w.b.remote_token(), VA + u64::from(BUFFER) - 63),
        |w| (T::Write, w.b.remote_token(), VA - 1),
        // NDK-TOK-4.
        |w| {
            let privileged = w.b.nic.privileged_memory_region_token(w.b.pd).unwrap();
            (T::Read, RemoteToken::from_engine(privileged.0), w.b.buffer)
        },
    ];
    for case in cases {
        each(&PLAIN, |w| {
            let (operation, token, address) = case(w);
            let (qp, sgl) = (w.a.qp, [w.a.sge(0, 64)]);
            w.b.nic.receive(w.b.qp, 70, &[]).unwrap();
            w.run();
            w.a.nic.send(qp, 1, &[], SILENT).unwrap();
            match operation {
                T::Read => w.a.nic.read(qp, 2, &sgl, address, token, SILENT),
                _ => w.a.nic.write(qp, 2, &sgl, address, token, SILENT),
            }
            .unwrap();
            w.a.nic.send(qp, 3, &[], SILENT).unwrap();
            w.a.nic.receive(qp, 4, &[]).unwrap();
            w.b.nic.receive(w.b.qp, 71, &[]).unwrap();
            w.run();
            w.run();
            let mut results = w.a.results();
            results.sort_by_key(|(context, ..)| *context);
            assert_eq!(
                results,
                [
                    (2, operation, S::REMOTE_RESOURCES),
                    (3, T::Send, S::CANCELLED),
                    (4, T::Receive, S::CANCELLED),
                ]
            );
            assert_eq!(
                w.b.results(),
                [(70, T::Receive, S::SUCCESS), (71, T::Receive, S::CANCELLED)]
            );
            let events = w.b.nic.poll_events().unwrap();
            assert!(
                matches!(events[..], [Notification::QpError { .. }]),
                "{events:?}"
            );
            // Reading O7.
            w.a.nic.send(qp, 5, &[], NONE).unwrap();
            w.run();
            assert_eq!(w.a.results(), [(5, T::Send, S::CANCELLED)]);
        });
    }
}

/// Reading O18, NDK-SGE-3.
// Covers: NDK-SGE-3
#[test]
fn local_access_errors() {
    each(&PLAIN, |w| {
        w.b.nic.receive(w.b.qp, 0, &[]).unwrap();
        w.run();
        let beyond = [w.a.sge(BUFFER - 10, 11)];
        w.a.nic.send(w.a.qp, 1, &beyond, NONE).unwrap();
        w.run();
        assert_eq!(w.a.results(), [(1, T::Send, S::ACCESS_VIOLATION)]);
        let events = w.a.nic.poll_events().unwrap();
        assert_eq!(events, [w.a.qp_error(S::ACCESS_VIOLATION)]);
    });
    // The receiver's elements: NDK side C10's neighbour, a scatter fault.
    each(&PLAIN, |w| {
        let beyond = [w.b.sge(BUFFER - 10, 11)];
        w.b.nic.receive(w.b.qp, 1, &beyond).unwrap();
        w.run();
        let source = [w.a.sge(0, 11)];
        w.a.nic.send(w.a.qp, 2, &source, NONE).unwrap();
        w.run();
        assert_eq!(w.b.results(), [(1, T::Receive, S::ACCESS_VIOLATION)]);
        assert_eq!(w.a.results(), [(2, T::Send, S::REMOTE_RESOURCES)]);
    });
}

/// C10.
#[test]
fn message_longer_than_the_receive() {
    each(&PLAIN, |w| {
        let sink = [w.b.sge(0, 1500)];
        w.b.nic.receive(w.b.qp, 1, &sink).unwrap();
        w.run();
        let source = [w.a.sge(0, 1501)];
        w.a.nic.send(w.a.qp, 2, &source, NONE).unwrap();
        w.run();
        assert_eq!(w.b.results(), [(1, T::Receive, S::BUFFER_OVERFLOW)]);
        assert_eq!(w.a.results(), [(2, T::Send, S::REMOTE_RESOURCES)]);
    });
}

/// NDK-RMR-8, reading O29.
// Covers: NDK-RMR-8
#[test]
fn deregistered_memory() {
    each(&PLAIN, |w| {
        let token = w.b.remote_token();
        w.b.nic.deregister_mr(w.b.mr).unwrap();
        let sgl = [w.a.sge(0, 8)];
        w.a.nic.write(w.a.qp, 1, &sgl, VA, token, NONE).unwrap();
        w.run();
        assert_eq!(w.a.results(), [(1, T::Write, S::REMOTE_RESOURCES)]);
    });
}
