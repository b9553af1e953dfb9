//! Rules of completions, fences, events, tokens and errors, seen by two drivers.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{Arm, EventKind, Fault, QpState, Status, TokenKind, WqeOpcode};
use tandem_model::target::Scheduler;
use tandem_model::wire::{Frame, Opcode, Operation};

const SCHEDULERS: [Scheduler; 4] = [
    Scheduler::Fair,
    Scheduler::Random(21),
    Scheduler::Random(22),
    Scheduler::Adversarial,
];

fn small() -> QpOptions {
    QpOptions {
        mtu: 1,
        ..QpOptions::default()
    }
}

fn event(kind: EventKind, code: u8, number: u32) -> Event {
    Event {
        kind: kind as u8,
        code,
        number,
    }
}

fn qp_error(status: Status, qpn: u32) -> Event {
    event(EventKind::QpError, status as u8, qpn)
}

/// Everything about one failing request: statuses and error codes of both sides, and that both queue
/// pairs end in `QpErr` with their events.
struct Failure {
    sender: (Status, u32),
    receiver: Option<(Status, u32)>,
    /// Event code at the receiver, if it goes to error.
    told: Option<Status>,
}

/// Runs `request`, followed by one more; the receiver has two receives of `sges`.
fn fails(w: &mut World, request: &Request, sges: &[(u64, u32, u32)], expected: Failure) {
    w.b.receive(QB, sges);
    w.b.receive(QB, sges);
    w.a.receive(QA, &[]);
    let failing = w.a.post(QA, request);
    let behind = w.a.post(QA, &Request::send(vec![]));
    w.run();
    let sent = w.a.poll(SEND_CQ);
    assert_eq!(
        statuses(&sent),
        [(failing, expected.sender.0), (behind, Status::Flushed)]
    );
    assert_eq!(sent[0].error_code, expected.sender.1);
    assert_eq!((sent[1].opcode, sent[1].error_code), (0, 0));
    let opcode = request.opcode as u8;
    assert_eq!((sent[0].opcode, sent[0].byte_len), (opcode, 0));
    assert_eq!(w.a.state(QA), QpState::Err as u32);
    assert_eq!(w.a.events(), [qp_error(expected.sender.0, QA)]);
    assert_eq!(statuses(&w.a.poll(RECV_CQ)), [(0, Status::Flushed)]);

    let received = w.b.poll(RECV_CQ);
    match expected.told {
        None => {
            assert_eq!(w.b.state(QB), QpState::Rts as u32);
            assert!(received.is_empty() && w.b.events().is_empty());
        }
        Some(status) => {
            assert_eq!(w.b.state(QB), QpState::Err as u32);
            assert_eq!(w.b.events(), [qp_error(status, QB)]);
            let (first, code) = expected.receiver.unwrap_or((Status::Flushed, 0));
            assert_eq!(statuses(&received), [(0, first), (1, Status::Flushed)]);
            assert_eq!((received[0].error_code, received[0].byte_len), (code, 0));
        }
    }
    // Later requests are flushed at once (WIRE-QP-5).
    let later = w.a.post(QA, &Request::send(vec![]));
    w.run();
    assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(later, Status::Flushed)]);
}

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

/// Local tokens of sends, writes and read sinks: each fault, in order of the checks.
#[test]
fn local_token_faults() {
    type Make = fn(&mut Node) -> (u64, u32, u32);
    let faults: [(Make, Fault, bool); 9] = [
        (|_| (0, 8, 0xFFFF_FF00), Fault::TokenIndex, true),
        (|_| (0, 8, 0x0000_FF00), Fault::TokenIndex, true),
        (
            |a| (0, 8, a.region(8, Access::ALL).token ^ 0x80),
            Fault::TokenKey,
            true,
        ),
        (
            |a| {
                a.region(
                    8,
                    Access {
                        pd: 9,
                        ..Access::ALL
                    },
                )
                .sge(0, 8)
            },
            Fault::Domain,
            true,
        ),
        (
            |a| {
                a.region(
                    8,
                    Access {
                        local_write: false,
                        ..Access::ALL
                    },
                )
                .sge(0, 8)
            },
            Fault::Right,
            false,
        ),
        (|a| a.region(8, Access::ALL).sge(0, 9), Fault::Bounds, true),
        (
            |a| {
                let r = a.region(8, Access::ALL);
                (r.address - 1, 4, r.token)
            },
            Fault::Bounds,
            true,
        ),
        (
            |a| {
                let r = a.region_at(u64::MAX - 0xFFFF, 0x8000, Access::ALL);
                (u64::MAX - 3, 8, r.token)
            },
            Fault::Bounds,
            true,
        ),
        (|a| (u64::MAX - 3, 8, a.privileged()), Fault::Bounds, true),
    ];
    for scheduler in SCHEDULERS {
        for (make, fault, also_gather) in &faults {
            for opcode in [WqeOpcode::Send, WqeOpcode::Write, WqeOpcode::Read] {
                if !also_gather && opcode != WqeOpcode::Read {
                    continue;
                }
                let mut w = World::connected(scheduler, small());
                let good = w.a.region(2000, Access::ALL);
                let theirs = w.b.region(3000, Access::ALL);
                let bad = make(&mut w.a);
                let request = Request {
                    remote: (theirs.address, theirs.token),
                    ..Request::new(opcode, vec![good.sge(0, 700), bad])
                };
                fails(
                    &mut w,
                    &request,
                    &[theirs.sge(0, 3000)],
                    Failure {
                        sender: (Status::LocalProtection, *fault as u32),
                        receiver: None,
                        told: None,
                    },
                );
                // A read fails before it is sent, the others after the two full packets.
                let sent = if opcode == WqeOpcode::Read { 0 } else { 2 };
                let requests = w.frames.iter().filter(|(from, _)| *from == 1).count();
                assert_eq!(requests, sent, "{opcode:?} {fault:?}");
            }
        }
    }
}

#[test]
fn malformed_requests() {
    for scheduler in SCHEDULERS {
        let good = Request::send(vec![]);
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.record(0);
            change(&mut bytes);
            bytes
        };
        let short = Request {
            length: Some(700),
            ..Request::send(vec![(0, 0, 0)])
        };
        let cases = [
            (with(&|b| b[4] = 1), Fault::WqeIndex, 1),
            (with(&|b| b[0] = 0), Fault::WqeOpcode, 0),
            (with(&|b| b[0] = 99), Fault::WqeOpcode, 99),
            (with(&|b| b[2] = 15), Fault::WqeLength, 1),
            (with(&|b| b[8..12].fill(0xFF)), Fault::WqeLength, 1),
            (short.record(0), Fault::WqeLength, 1),
        ];
        for (bytes, fault, opcode) in cases {
            let mut w = World::connected(scheduler, small());
            w.a.place_bytes(QA, &bytes);
            w.a.ring(QA);
            w.run();
            let entries = w.a.poll(SEND_CQ);
            assert_eq!(statuses(&entries), [(0, Status::LocalQpOperation)]);
            assert_eq!(
                (entries[0].error_code, entries[0].opcode),
                (fault as u32, opcode)
            );
            assert!(w.frames.is_empty());
        }
    }
}

/// A local failure waits until everything before it has completed.
#[test]
fn a_failed_request_keeps_its_place() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        let mine = w.a.region(3000, Access::ALL);
        let theirs = w.b.region(3000, Access::ALL);
        let remote = (theirs.address, theirs.token);
        w.a.post(QA, &Request::read(vec![mine.sge(0, 2000)], remote));
        w.a.post(QA, &Request::write(vec![mine.sge(0, 2000)], remote));
        w.a.post(QA, &Request::send(vec![(0, 1, 0)]));
        w.a.post(QA, &Request::send(vec![]));
        w.run();
        assert_eq!(
            statuses(&w.a.poll(SEND_CQ)),
            [
                (0, Status::Success),
                (1, Status::Success),
                (2, Status::LocalProtection),
                (3, Status::Flushed),
            ]
        );
    }
}

/// Remote tokens: each fault is NAK 0x62, nothing is placed (WIRE-KEY-1 to -6).
#[test]
fn remote_token_faults() {
    type Make = fn(&mut Node) -> (u64, u32);
    let faults: [Make; 9] = [
        |_| (0, 0xFFFF_FF00),
        |_| (0, 0x0000_FF00),
        |b| {
            let r = b.region(600, Access::ALL);
            (r.address, r.token ^ 1)
        },
        |b| {
            let r = b.region(
                600,
                Access {
                    pd: 9,
                    ..Access::ALL
                },
            );
            (r.address, r.token)
        },
        |b| {
            let none = Access {
                remote_read: false,
                remote_write: false,
                ..Access::ALL
            };
            let r = b.region(600, none);
            (r.address, r.token)
        },
        |b| {
            let r = b.region(600, Access::ALL);
            (r.address + 1, r.token)
        },
        |b| {
            let r = b.region(600, Access::ALL);
            (r.address - 1, r.token)
        },
        |b| {
            let r = b.region_at(u64::MAX - 0xFFFF, 0x8000, Access::ALL);
            (u64::MAX - 300, r.token)
        },
        |b| (0x1000_0000, b.privileged()),
    ];
    for scheduler in SCHEDULERS {
        for make in &faults {
            for opcode in [WqeOpcode::Write, WqeOpcode::Read] {
                let mut w = World::connected(scheduler, small());
                let mine = w.a.region(600, Access::ALL);
                let request = Request {
                    remote: make(&mut w.b),
                    ..Request::new(opcode, vec![mine.sge(0, 600)])
                };
                fails(
                    &mut w,
                    &request,
                    &[],
                    Failure {
                        sender: (Status::RemoteAccess, 0x62),
                        receiver: None,
                        told: Some(Status::RemoteInvalidRequest),
                    },
                );
            }
        }
    }
}

/// The right that counts is that of the direction; zero bytes need no token (WIRE-KEY-3, -5).
#[test]
fn remote_rights() {
    for scheduler in SCHEDULERS {
        let read_only = Access {
            remote_write: false,
            ..Access::ALL
        };
        let write_only = Access {
            remote_read: false,
            ..Access::ALL
        };
        for (access, opcode, legal) in [
            (read_only, WqeOpcode::Read, true),
            (read_only, WqeOpcode::Write, false),
            (write_only, WqeOpcode::Read, false),
            (write_only, WqeOpcode::Write, true),
        ] {
            let mut w = World::connected(scheduler, small());
            let mine = w.a.region(600, Access::ALL);
            let theirs = w.b.region(600, access);
            let request = |n, remote| Request {
                remote,
                ..Request::new(opcode, vec![mine.sge(0, n)])
            };
            w.a.post(QA, &request(0, (77, 0xFFFF_FFFF)));
            w.a.post(QA, &request(600, (theirs.address, theirs.token)));
            w.run();
            let last = if legal {
                Status::Success
            } else {
                Status::RemoteAccess
            };
            assert_eq!(
                statuses(&w.a.poll(SEND_CQ)),
                [(0, Status::Success), (1, last)]
            );
        }
    }
}

/// An access bit of the queue pair that is missing is NAK 0x61 (WIRE-NAK-7); max_ird 0 too (WIRE-NAK-9).
#[test]
fn queue_pair_rights() {
    for scheduler in SCHEDULERS {
        let no_write = QpOptions {
            remote_write: false,
            ..small()
        };
        let no_read = QpOptions {
            remote_read: false,
            ..small()
        };
        let no_ird = QpOptions {
            max_ird: 0,
            ..small()
        };
        for (options, opcode) in [
            (no_write, WqeOpcode::Write),
            (no_read, WqeOpcode::Read),
            (no_ird, WqeOpcode::Read),
        ] {
            let mut w = World::connected(scheduler, options);
            let mine = w.a.region(600, Access::ALL);
            let theirs = w.b.region(600, Access::ALL);
            let request = Request {
                remote: (theirs.address, theirs.token),
                ..Request::new(opcode, vec![mine.sge(0, 600)])
            };
            fails(
                &mut w,
                &request,
                &[],
                Failure {
                    sender: (Status::RemoteInvalidRequest, 0x61),
                    receiver: None,
                    told: Some(Status::RemoteInvalidRequest),
                },
            );
        }
    }
}

#[test]
fn a_send_longer_than_the_receive() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        let mine = w.a.region(2000, Access::ALL);
        let theirs = w.b.region(2000, Access::ALL);
        fails(
            &mut w,
            &Request::send(vec![mine.sge(0, 601)]),
            &[theirs.sge(0, 300), theirs.sge(300, 300)],
            Failure {
                sender: (Status::RemoteInvalidRequest, 0x61),
                receiver: Some((Status::LocalLength, 0x61)),
                told: Some(Status::LocalLength),
            },
        );
    }
}

#[test]
fn a_receive_without_right() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        let mine = w.a.region(2000, Access::ALL);
        let theirs = w.b.region(
            2000,
            Access {
                local_write: false,
                ..Access::ALL
            },
        );
        fails(
            &mut w,
            &Request::send(vec![mine.sge(0, 1)]),
            &[theirs.sge(0, 300)],
            Failure {
                sender: (Status::RemoteOperation, 0x63),
                receiver: Some((Status::LocalProtection, 0x63)),
                told: Some(Status::LocalProtection),
            },
        );
    }
}

/// Without retransmission an RNR NAK ends the sender's connection; the receiver stays (WIRE-RNR-4).
#[test]
fn receiver_not_ready() {
    let mut w = World::connected(Scheduler::Fair, small());
    w.a.post(QA, &Request::send(vec![]));
    w.run();
    let sent = w.a.poll(SEND_CQ);
    assert_eq!(statuses(&sent), [(0, Status::RnrRetryExceeded)]);
    assert_eq!(sent[0].error_code, 0x20 | 12);
    assert_eq!(w.b.state(QB), QpState::Rts as u32);
    assert!(w.b.events().is_empty());
}

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

/// Kinds of tokens for local use: a fast region and a window-to-be are as good as a region.
#[test]
fn kinds_of_tokens() {
    for kind in [TokenKind::Region, TokenKind::Fast, TokenKind::Window] {
        let mut w = World::connected(Scheduler::Fair, small());
        let access = Access {
            kind,
            ..Access::ALL
        };
        let mine = w.a.region(300, access);
        let theirs = w.b.region(300, access);
        let remote = (theirs.address, theirs.token);
        w.a.post(QA, &Request::write(vec![mine.sge(0, 300)], remote));
        w.a.post(QA, &Request::read(vec![mine.sge(0, 300)], remote));
        w.run();
        assert_eq!(
            statuses(&w.a.poll(SEND_CQ)),
            [(0, Status::Success), (1, Status::Success)]
        );
    }
}

/// A write to a token that vanishes in the middle stops with NAK 0x62; a read too (WIRE-NAK-11).
#[test]
fn a_token_vanishes_in_the_middle() {
    for opcode in [WqeOpcode::Write, WqeOpcode::Read] {
        let mut w = World::connected(Scheduler::Fair, small());
        let mine = w.a.region(20_000, Access::ALL);
        let theirs = w.b.region(20_000, Access::ALL);
        let request = Request {
            remote: (theirs.address, theirs.token),
            ..Request::new(opcode, vec![mine.sge(0, 20_000)])
        };
        w.a.post(QA, &request);
        // Let some packets across, then take the token away.
        use tandem_model::hal::Target;
        let (mut there, mut back) = (0, 0);
        while there + back < 12 {
            w.a.target.advance(1).unwrap();
            w.b.target.advance(1).unwrap();
            for frame in w.a.target.take_frames().unwrap() {
                w.b.target.send_frame(&frame).unwrap();
                there += 1;
            }
            for frame in w.b.target.take_frames().unwrap() {
                w.a.target.send_frame(&frame).unwrap();
                back += 1;
            }
        }
        w.b.invalidate(theirs.token);
        w.run();
        let sent = w.a.poll(SEND_CQ);
        assert_eq!(statuses(&sent), [(0, Status::RemoteAccess)], "{opcode:?}");
        assert_eq!(sent[0].error_code, 0x62);
        assert_eq!(w.b.state(QB), QpState::Err as u32);
        assert_eq!(w.b.events(), [qp_error(Status::RemoteInvalidRequest, QB)]);
    }
}
