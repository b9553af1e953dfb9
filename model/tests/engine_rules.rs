//! Rules of silent requests, fences, reads and invalidation, seen by two drivers.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{Fault, Status, WqeOpcode};
use tandem_model::target::Scheduler;
use tandem_model::wire::{Frame, Opcode, Operation};

#[test]
fn silent_requests_complete_only_if_they_fail() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        let mine = w.a.region(1000, Access::ALL);
        let theirs = w.b.region(1000, Access::ALL);
        let silent = Request {
            silent: true,
            ..Request::write(vec![mine.sge(0, 600)], (theirs.address, theirs.token))
        };
        w.a.post(QA, &silent);
        w.a.post(
            QA,
            &Request {
                silent: false,
                ..silent.clone()
            },
        );
        w.a.post(QA, &silent);
        w.run();
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(1, Status::Success)]);
        w.a.post(
            QA,
            &Request {
                remote: (0, theirs.token),
                ..silent.clone()
            },
        );
        w.a.post(QA, &silent);
        w.run();
        let expected = [(3, Status::RemoteAccess), (4, Status::Flushed)];
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), expected);
    }
}

/// A fenced request sends nothing until earlier reads have completed (WIRE-ORD-1).
#[test]
fn fence() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        let mine = w.a.region(3000, Access::ALL);
        let theirs = w.b.region(3000, Access::ALL);
        w.b.fill(&theirs, 0, &pattern(3000, 1));
        let remote = (theirs.address, theirs.token);
        w.a.post(QA, &Request::read(vec![mine.sge(0, 1500)], remote));
        w.a.post(
            QA,
            &Request::read(vec![mine.sge(1500, 1500)], (remote.0 + 1500, remote.1)),
        );
        let fenced = Request {
            fence: true,
            ..Request::write(vec![mine.sge(0, 3000)], remote)
        };
        w.a.post(QA, &fenced);
        w.run();
        assert_eq!(w.b.bytes(&theirs, 0, 3000), pattern(3000, 1));
        let kinds: Vec<Operation> = w
            .frames
            .iter()
            .map(|(_, bytes)| Frame::parse(bytes).unwrap().bth.opcode.operation())
            .collect();
        let last_response = kinds.iter().rposition(|k| *k == Operation::ReadResponse);
        let first_write = kinds.iter().position(|k| *k == Operation::Write);
        assert!(last_response < first_write, "{kinds:?}");
    }
}

/// Never more reads under way than max_ord allows (WIRE-RD-1).
// Covers: WIRE-RD-1, NDK-CAP-5
#[test]
fn reads_are_limited() {
    for scheduler in SCHEDULERS {
        for max_ord in 1..=4 {
            let mut w = World::connected(scheduler, QpOptions { max_ord, ..small() });
            let mine = w.a.region(3000, Access::ALL);
            let theirs = w.b.region(3000, Access::ALL);
            let remote = (theirs.address, theirs.token);
            for _ in 0..9 {
                w.a.post(QA, &Request::read(vec![mine.sge(0, 500)], remote));
            }
            w.run();
            assert_eq!(w.a.poll(SEND_CQ).len(), 9);
            let (mut open, mut most) = (0, 0);
            for (_, bytes) in &w.frames {
                match Frame::parse(bytes).unwrap().bth.opcode {
                    Opcode::ReadRequest => open += 1,
                    Opcode::ReadResponseLast => open -= 1,
                    _ => {}
                }
                most = most.max(open);
            }
            assert!(most <= max_ord, "{most} of {max_ord}");
        }
    }
}

#[test]
fn max_ord_0_never_starts_a_read() {
    let mut w = World::connected(
        Scheduler::Fair,
        QpOptions {
            max_ord: 0,
            ..small()
        },
    );
    let mine = w.a.region(100, Access::ALL);
    w.a.post(QA, &Request::read(vec![mine.sge(0, 10)], (0, 0)));
    w.a.post(QA, &Request::send(vec![]));
    w.run();
    assert!(w.frames.is_empty() && w.a.poll(SEND_CQ).is_empty());
}

#[test]
fn send_and_invalidate() {
    for scheduler in SCHEDULERS {
        for size in [0u32, 600] {
            let mut w = World::connected(scheduler, small());
            let mine = w.a.region(1000, Access::ALL);
            let theirs = w.b.region(1000, Access::ALL);
            let fast = w.b.region(1000, Access::FAST);
            let request = Request {
                invalidate: fast.token,
                ..Request::new(WqeOpcode::SendInvalidate, vec![mine.sge(0, size)])
            };
            w.b.receive(QB, &[theirs.sge(0, 1000)]);
            w.a.post(
                QA,
                &Request::write(vec![mine.sge(0, 10)], (fast.address, fast.token)),
            );
            w.a.post(QA, &request);
            w.run();
            assert_eq!(w.a.poll(SEND_CQ).len(), 2);
            let received = w.b.poll(RECV_CQ);
            assert_eq!(received[0].invalidated, Some(fast.token));
            assert_eq!(
                (received[0].status, received[0].byte_len),
                (Status::Success, size)
            );
            // WIRE-INV-2: the token is refused from now on.
            let request = Request::write(vec![mine.sge(0, 10)], (fast.address, fast.token));
            w.a.post(QA, &request);
            w.run();
            assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(2, Status::RemoteAccess)]);
        }
    }
}

/// WIRE-INV-3, -4: what must not be invalidated ends the connection, without an ACK.
#[test]
fn refused_invalidation() {
    for scheduler in SCHEDULERS {
        let refused: [fn(&mut Node) -> u32; 7] = [
            |_| 0xFFFF_FFFF,
            |b| b.region(100, Access::FAST).token ^ 1,
            |b| b.region(100, Access::ALL).token,
            |b| {
                b.region(
                    100,
                    Access {
                        pd: PD + 1,
                        ..Access::FAST
                    },
                )
                .token
            },
            |b| {
                let local = Access {
                    remote_read: false,
                    remote_write: false,
                    ..Access::FAST
                };
                b.region(100, local).token
            },
            |b| b.privileged(),
            |b| {
                let token = b.region(100, Access::FAST).token;
                b.invalidate(token);
                token
            },
        ];
        for make in refused {
            let mut w = World::connected(scheduler, small());
            let mine = w.a.region(1000, Access::ALL);
            let theirs = w.b.region(1000, Access::ALL);
            let request = Request {
                invalidate: make(&mut w.b),
                ..Request::new(WqeOpcode::SendInvalidate, vec![mine.sge(0, 600)])
            };
            fails(
                &mut w,
                &request,
                &[theirs.sge(0, 1000)],
                Failure {
                    sender: (Status::RemoteAccess, 0x62),
                    receiver: Some((Status::RemoteInvalidRequest, 0x62)),
                    told: Some(Status::RemoteInvalidRequest),
                },
            );
        }
    }
}

/// WIRE-INV-10: the sink's token is gone when the read completes.
#[test]
fn read_with_local_invalidate() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        let sink = w.a.region(1000, Access::FAST);
        let other = w.a.region(1000, Access::FAST);
        let theirs = w.b.region(1000, Access::ALL);
        w.b.fill(&theirs, 0, &pattern(900, 3));
        let request = Request {
            local_invalidate: true,
            ..Request::read(
                vec![sink.sge(1, 500), other.sge(0, 400)],
                (theirs.address, theirs.token),
            )
        };
        w.a.post(QA, &request);
        w.run();
        assert_eq!(w.a.bytes(&sink, 1, 500), pattern(900, 3)[..500]);
        assert_eq!(w.a.bytes(&other, 0, 400), pattern(900, 3)[500..]);
        w.b.receive(QB, &[theirs.sge(0, 10)]);
        w.a.post(QA, &Request::send(vec![other.sge(0, 10)]));
        w.a.post(QA, &Request::send(vec![sink.sge(0, 10)]));
        w.run();
        let entries = w.a.poll(SEND_CQ);
        assert_eq!(
            statuses(&entries),
            [
                (0, Status::Success),
                (1, Status::Success),
                (2, Status::LocalProtection),
            ]
        );
        assert_eq!(entries[2].error_code, Fault::TokenIndex as u32);
    }
}
