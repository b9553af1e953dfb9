//! Requests that fail: malformed, by tokens here and there, by rights, by lengths.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{Fault, QpState, Status, TokenKind, WqeOpcode};
use tandem_model::target::Scheduler;

/// Local tokens of sends, writes and read sinks: each fault, in order of the checks.
#[test]
fn local_token_faults() {
    type Make = fn(&mut Node) -> (u64, u32, u32);
    let faults: [(Make, Fault, bool); 10] = [
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
        (
            |a| {
                a.region(
                    8,
                    Access {
                        kind: TokenKind::Window,
                        ..Access::ALL
                    },
                )
                .sge(0, 8)
            },
            Fault::Kind,
            true,
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

/// Kinds of tokens for local use: a fast region is as good as a region.
#[test]
fn kinds_of_tokens() {
    for kind in [TokenKind::Region, TokenKind::Fast] {
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
