//! Completion queues, arming, events and flushes, seen by two drivers.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{Arm, EventKind, QpState, Status};
use tandem_model::target::Scheduler;

#[test]
fn software_flushes() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(
            scheduler,
            QpOptions {
                max_ord: 0,
                ..small()
            },
        );
        let mine = w.a.region(100, Access::ALL);
        for _ in 0..3 {
            w.a.post(QA, &Request::read(vec![mine.sge(0, 10)], (0, 0)));
            w.a.receive(QA, &[]);
        }
        w.run();
        w.a.set_state(QA, &w.b, QB, QpState::Err);
        w.run();
        let all = [
            (0, Status::Flushed),
            (1, Status::Flushed),
            (2, Status::Flushed),
        ];
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), all);
        let received = w.a.poll(RECV_CQ);
        assert_eq!(statuses(&received), all);
        assert!(received.iter().all(|e| e.receive && e.opcode == 0x80));
        assert!(w.a.events().is_empty());
        // A new life: indices and PSNs start again.
        {
            let qp = w.a.qps.get_mut(&QA).unwrap();
            (qp.sq_producer, qp.rq_producer) = (0, 0);
        }
        w.a.set_state(QA, &w.b, QB, QpState::Init);
        w.a.set_state(QA, &w.b, QB, QpState::Rts);
        w.b.receive(QB, &[]);
        w.a.post(QA, &Request::send(vec![]));
        w.run();
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
    }
}

#[test]
fn arming() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        let fires = event(EventKind::Completion, 0, RECV_CQ.into());
        let send = |w: &mut World, solicited| {
            w.b.receive(QB, &[]);
            w.a.post(
                QA,
                &Request {
                    solicited,
                    ..Request::send(vec![])
                },
            );
            w.run();
            w.b.events()
        };
        // Never armed: no event, even for solicited ones.
        assert_eq!(send(&mut w, true), []);
        // An entry is there already.
        w.b.arm(RECV_CQ, Arm::Any);
        w.run();
        assert_eq!(w.b.events(), [fires]);
        // One arm, one event; the entry is consumed first.
        assert_eq!(send(&mut w, false), []);
        w.b.poll(RECV_CQ);
        w.b.arm(RECV_CQ, Arm::Any);
        w.run();
        assert_eq!(w.b.events(), []);
        assert_eq!(send(&mut w, false), [fires]);
        assert_eq!(send(&mut w, false), []);
        // Solicited.
        w.b.poll(RECV_CQ);
        w.b.arm(RECV_CQ, Arm::Solicited);
        assert_eq!(send(&mut w, false), []);
        assert_eq!(send(&mut w, true), [fires]);
        // Solicited, with a matching entry there; then without.
        w.b.arm(RECV_CQ, Arm::Solicited);
        w.run();
        assert_eq!(w.b.events(), [fires]);
        w.b.poll(RECV_CQ);
        assert_eq!(send(&mut w, false), []);
        w.b.arm(RECV_CQ, Arm::Solicited);
        w.run();
        assert_eq!(w.b.events(), []);
        // The stronger arm stays: any, then errors.
        w.b.poll(RECV_CQ);
        w.b.arm(RECV_CQ, Arm::Any);
        w.b.arm(RECV_CQ, Arm::Errors);
        assert_eq!(send(&mut w, false), [fires]);
        // Errors alone does not fire for entries.
        w.b.arm(RECV_CQ, Arm::Errors);
        assert_eq!(send(&mut w, true), []);
        assert!(!tandem_model::hal::Hal::interrupt(&mut w.b.target).unwrap());
    }
}

/// A flushed receive is an error entry: it fires a solicited arm.
#[test]
fn errors_are_solicited() {
    let mut w = World::connected(Scheduler::Fair, small());
    w.b.arm(RECV_CQ, Arm::Solicited);
    w.b.receive(QB, &[]);
    w.b.set_state(QB, &w.a, QA, QpState::Err);
    w.run();
    assert_eq!(
        w.b.events(),
        [event(EventKind::Completion, 0, RECV_CQ.into())]
    );
    assert_eq!(statuses(&w.b.peek(RECV_CQ)), [(0, Status::Flushed)]);
}

#[test]
fn completion_queue_overrun() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        let cq = w.a.create_cq(1);
        w.connect_on(9, 9, small(), small(), cq, RECV_CQ);
        let cq_b = w.b.create_cq(1);
        assert_eq!(cq, cq_b);
        for _ in 0..4 {
            w.b.receive(9, &[]);
            w.a.post(9, &Request::send(vec![]));
        }
        w.run();
        let lost = event(EventKind::CqError, 0, cq.into());
        assert_eq!(w.a.events(), [lost]);
        assert_eq!(
            statuses(&w.a.poll(cq)),
            [(0, Status::Success), (1, Status::Success)]
        );
        // Each arm tells it again; no further entry comes.
        w.a.arm(cq, Arm::Any);
        w.run();
        assert_eq!(w.a.events(), [lost]);
        w.b.receive(9, &[]);
        w.a.post(9, &Request::send(vec![]));
        w.run();
        assert!(w.a.poll(cq).is_empty() && w.a.events().is_empty());
    }
}
