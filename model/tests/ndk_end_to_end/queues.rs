//! Deferred requests, flushes, notifications, closing.

use tandem_model::hal::Hal;
use tandem_model::ndk::{ArmType, Notification, NtStatus, Object, OpFlags, OperationType, QpPhase};

use crate::world::{Change, PLAIN, World};
use crate::{NONE, SILENT, each};

use NtStatus as S;
use OperationType as T;

// Covers: NDK-DEFER-4, NDK-DEFER-7
#[test]
fn deferred_requests() {
    each(&PLAIN, |w| {
        for context in 0..4 {
            w.b.nic.receive(w.b.qp, context, &[]).unwrap();
        }
        w.run();
        let qp = w.a.qp;
        w.a.nic.send(qp, 1, &[], OpFlags::DEFER).unwrap();
        w.a.nic.send(qp, 2, &[], OpFlags::DEFER).unwrap();
        w.run();
        assert_eq!(w.b.results(), []);
        // Fails inline: what was deferred goes out, and nothing else completes.
        let outcome = w.a.nic.send(qp, 3, &[], OpFlags(0x8000));
        assert_eq!(outcome, Err(S::INVALID_PARAMETER.into()));
        w.run();
        let expected = [(1, T::Send, S::SUCCESS), (2, T::Send, S::SUCCESS)];
        assert_eq!(w.a.results(), expected);
        assert_eq!(w.b.results().len(), 2);
        w.a.nic.send(qp, 4, &[], OpFlags::DEFER).unwrap();
        w.a.nic.send(qp, 5, &[], NONE).unwrap();
        w.run();
        let expected = [(4, T::Send, S::SUCCESS), (5, T::Send, S::SUCCESS)];
        assert_eq!(w.a.results(), expected);
    });
}

/// NDK-FLUSH-2, -3, reading O19: nothing of what was deferred reaches the peer.
// Covers: NDK-FLUSH-2, NDK-FLUSH-3
#[test]
fn flush() {
    each(&PLAIN, |w| {
        w.b.nic.receive(w.b.qp, 0, &[]).unwrap();
        w.a.nic.receive(w.a.qp, 1, &[]).unwrap();
        w.a.nic.receive(w.a.qp, 2, &[]).unwrap();
        w.a.nic
            .send(w.a.qp, 3, &[], OpFlags::DEFER | SILENT)
            .unwrap();
        w.a.nic.send(w.a.qp, 4, &[], OpFlags::DEFER).unwrap();
        w.a.nic.flush(w.a.qp).unwrap();
        w.run();
        let mut results = w.a.results();
        results.sort_by_key(|(context, ..)| *context);
        let types = [T::Receive, T::Receive, T::Send, T::Send];
        let expected: Vec<_> = (1..)
            .zip(types)
            .map(|(c, t)| (c, t, S::CANCELLED))
            .collect();
        assert_eq!(results, expected);
        assert_eq!(w.b.results(), []);
    });
}

// Covers: NDK-SEND-5, NDK-CMPL-6, NDK-CMPL-7, NDK-CMPL-9, NDK-ARM-3, NDK-ARM-4, NDK-CQCB-1
#[test]
fn notifications() {
    each(&PLAIN, |w| {
        let (a, b) = (w.a.qp, w.b.qp);
        for context in 0..8 {
            w.b.nic.receive(b, context, &[]).unwrap();
        }
        w.run();
        let fired = [w.b.fired(S::SUCCESS)];
        let events = |w: &mut World| w.b.nic.poll_events().unwrap();
        // Not armed.
        w.a.nic
            .send(a, 0, &[], OpFlags::SEND_AND_SOLICIT_EVENT)
            .unwrap();
        w.run();
        assert_eq!(events(w), []);
        // Armed with an entry there: at once. Once only.
        w.b.nic.arm_cq(w.b.cq, ArmType::Any).unwrap();
        w.run();
        assert_eq!(events(w), fired);
        w.a.nic.send(a, 0, &[], NONE).unwrap();
        w.run();
        assert_eq!(events(w), []);
        assert_eq!(w.b.results().len(), 2);
        // Solicited: the second of two sends.
        w.b.nic.arm_cq(w.b.cq, ArmType::Solicited).unwrap();
        w.a.nic.send(a, 0, &[], NONE).unwrap();
        w.run();
        assert_eq!(events(w), []);
        w.a.nic
            .send(a, 0, &[], OpFlags::SEND_AND_SOLICIT_EVENT)
            .unwrap();
        w.run();
        assert_eq!(events(w), fired);
        assert_eq!(w.b.results().len(), 2);
        // NDK-SINV-13, reading O31: an error is always solicited.
        w.b.nic.arm_cq(w.b.cq, ArmType::Solicited).unwrap();
        w.b.nic.flush(b).unwrap();
        w.run();
        assert_eq!(events(w), fired);
    });
}

/// Reading O15.
// Covers: NDK-CQCB-3, NDK-CQCB-5
#[test]
fn overrun() {
    let change = Change {
        cq_depth: 4,
        cq_reserve: Some(0),
        ..PLAIN
    };
    each(&change, |w| {
        w.b.nic.arm_cq(w.b.cq, ArmType::Errors).unwrap();
        for context in 0..6 {
            w.b.nic.receive(w.b.qp, context, &[]).unwrap();
        }
        w.run();
        for _ in 0..5 {
            w.a.nic.send(w.a.qp, 0, &[], NONE).unwrap();
            w.run();
            w.a.results();
        }
        let events = w.b.nic.poll_events().unwrap();
        assert_eq!(events, [w.b.fired(S::BUFFER_OVERFLOW)]);
        assert_eq!(w.b.nic.qp_phase(w.b.qp), Ok(QpPhase::Error));
        w.run();
        let contexts: Vec<u64> = w.b.results().iter().map(|(c, ..)| *c).collect();
        assert_eq!(contexts, [0, 1, 2, 3]);
        // Closing does not wait for what will never complete.
        w.b.nic.close_qp(w.b.qp).unwrap();
        w.run();
        let events = w.b.nic.poll_events().unwrap();
        assert_eq!(events, [Notification::Closed(Object::Qp(w.b.qp))]);
    });
}

/// NDK-OBJ-8, reading O26: also with silent requests at the end of the queue.
// Covers: NDK-OBJ-8
#[test]
fn close_with_requests_outstanding() {
    each(&PLAIN, |w| {
        let qp = w.a.qp;
        w.b.nic.receive(w.b.qp, 0, &[]).unwrap();
        w.a.nic.receive(qp, 1, &[]).unwrap();
        w.run();
        w.a.nic.send(qp, 2, &[], SILENT).unwrap();
        w.run();
        w.a.nic.send(qp, 3, &[], SILENT | OpFlags::DEFER).unwrap();
        assert_eq!(w.a.nic.close_qp(qp), Ok(S::PENDING));
        w.run();
        let events = w.a.nic.poll_events().unwrap();
        assert_eq!(events, [Notification::Closed(Object::Qp(qp))]);
        let mut results = w.a.results();
        results.sort_by_key(|(context, ..)| *context);
        assert_eq!(
            results,
            [(1, T::Receive, S::CANCELLED), (3, T::Send, S::CANCELLED)]
        );
        assert_eq!(w.a.nic.close_cq(w.a.cq), Ok(S::SUCCESS));
        assert_eq!(w.a.nic.close_mr(w.a.mr), Ok(S::SUCCESS));
        assert_eq!(w.a.nic.close_pd(w.a.pd), Ok(S::SUCCESS));
        assert!(!w.a.nic.hal_mut().interrupt().unwrap());
    });
}
