//! Invalidation: by a request, by the peer, by a read.

use super::*;
use tandem_model::abi::{Record, TOKEN_CONTEXT, Table, TokenKind};

/// Node a's fast region of 100 bytes, and a window to all of it.
fn with_window(w: &mut World) -> (Region, u32) {
    let region = w.a.fast_region(QA, 100, EVERY_RIGHT);
    let window = w.a.free_window();
    let bind = Local::bind(window, window as u8, &region, 0, 100);
    ends(w, &bind, Ok(()));
    (region, window)
}

/// After an Invalidate the token is refused, and free (WIRE-INV-2); rights do not matter for it.
#[test]
fn a_request_frees_a_token() {
    for scheduler in SCHEDULERS {
        for rights in [(false, false, false), EVERY_RIGHT] {
            let mut w = world(scheduler);
            let region = w.a.fast_region(QA, 100, rights);
            ends(&mut w, &Local::invalidate(region.token), Ok(()));
            let remote = (region.address, region.token);
            assert_eq!(reaches(&mut w, WqeOpcode::Read, remote, 1), Reach::Refused);
        }
        let mut w = world(scheduler);
        let (region, window) = with_window(&mut w);
        ends(&mut w, &Local::invalidate(window), Ok(()));
        // The region is untouched.
        let remote = (region.address, region.token);
        assert_eq!(reaches(&mut w, WqeOpcode::Read, remote, 1), Reach::Granted);
        let remote = (region.address, window);
        assert_eq!(reaches(&mut w, WqeOpcode::Read, remote, 1), Reach::Refused);
    }
}

/// Each fault of an Invalidate (WIRE-INV-9, -8, WIRE-KEY-8).
#[test]
fn faults() {
    type Make = fn(&mut World) -> u32;
    let makes: [(Fault, Make); 10] = [
        (Fault::TokenIndex, |_| 0xFFFF_FF00),
        (Fault::TokenIndex, |w| w.a.free_window()),
        (Fault::TokenIndex, |w| {
            // Once, and then again (field bug D9).
            let (_, window) = with_window(w);
            ends(w, &Local::invalidate(window), Ok(()));
            window
        }),
        (Fault::TokenKey, |w| with_window(w).1 ^ 0x80),
        (Fault::TokenKey, |w| {
            w.a.fast_region(QA, 100, EVERY_RIGHT).token ^ 1
        }),
        (Fault::Domain, |w| {
            let access = Access {
                pd: PD + 1,
                ..Access::FAST
            };
            w.a.region(100, access).token
        }),
        (Fault::Kind, |w| w.a.region(100, Access::ALL).token),
        (Fault::Kind, |w| w.a.privileged()),
        (Fault::QueuePair, |w| {
            let region = w.a.region(100, Access::ALL);
            let window = w.a.free_window();
            w.connect(QA + 1, QB + 1, small());
            w.a.post_local(QA + 1, &Local::bind(window, 3, &region, 0, 100));
            w.run();
            window & !0xFF | 3
        }),
        (Fault::State, |w| with_window(w).0.token),
    ];
    for scheduler in SCHEDULERS {
        for (fault, make) in makes {
            let mut w = world(scheduler);
            let token = make(&mut w);
            ends(&mut w, &Local::invalidate(token), Err(fault));
        }
    }
}

/// Node b sends with invalidation of a token of node a; the receive's status, and what it tells.
fn asks(w: &mut World, token: u32) -> (Status, Option<u32>) {
    w.a.receive(QA, &[]);
    let send = Request {
        invalidate: token,
        ..Request::new(WqeOpcode::SendInvalidate, vec![])
    };
    w.b.post(QB, &send);
    w.run();
    let sent = w.b.poll(SEND_CQ);
    let received = w.a.poll(RECV_CQ)[0];
    let refused = received.status != Status::Success;
    let status = if refused {
        Status::RemoteAccess
    } else {
        Status::Success
    };
    // A refused key is never acknowledged (WIRE-INV-4).
    assert_eq!(sent[0].status, status);
    (received.status, received.invalidated)
}

/// What the peer may invalidate: its window, a fast region with a right for it (WIRE-INV-1, -2, -7).
#[test]
fn the_peer_frees_a_token() {
    for scheduler in SCHEDULERS {
        // A window, whatever its rights.
        for rights in [(false, false, false), EVERY_RIGHT] {
            let mut w = world(scheduler);
            let region = w.a.fast_region(QA, 100, EVERY_RIGHT);
            let window = w.a.free_window();
            let bind = Local {
                rights,
                ..Local::bind(window, window as u8, &region, 0, 100)
            };
            ends(&mut w, &bind, Ok(()));
            assert_eq!(asks(&mut w, window), (Status::Success, Some(window)));
            // It can be bound again, and the region has none bound.
            ends(&mut w, &bind, Ok(()));
            ends(&mut w, &Local::invalidate(window), Ok(()));
            ends(&mut w, &Local::invalidate(region.token), Ok(()));
            let remote = (region.address, window);
            assert_eq!(reaches(&mut w, WqeOpcode::Read, remote, 1), Reach::Refused);
        }
        for rights in [(false, true, false), (false, false, true)] {
            let mut w = world(scheduler);
            let region = w.a.fast_region(QA, 100, rights);
            w.run();
            let told = asks(&mut w, region.token);
            assert_eq!(told, (Status::Success, Some(region.token)));
            ends(
                &mut w,
                &Local::invalidate(region.token),
                Err(Fault::TokenIndex),
            );
        }
    }
}

/// What the peer must not invalidate, and that it stays as it is (WIRE-INV-3, -4, -5, -8).
#[test]
fn what_the_peer_must_not_free() {
    type Make = fn(&mut World) -> (u32, u32);
    // The token named, and the one that must still be there.
    let makes: [Make; 7] = [
        |w| {
            let region = w.a.fast_region(QA, 100, (true, false, false));
            w.run();
            (region.token, region.token)
        },
        |w| {
            let token = with_window(w).0.token;
            (token, token)
        },
        |w| {
            let window = with_window(w).1;
            (window ^ 1, window)
        },
        |w| {
            let token = w.a.region(100, Access::ALL).token;
            (token, token)
        },
        |w| {
            let token = w.a.privileged();
            (token, token)
        },
        |w| {
            let (region, window) = with_window(w);
            w.connect(QA + 1, QB + 1, small());
            let foreign = w.a.free_window();
            w.a.post_local(QA + 1, &Local::bind(foreign, 3, &region, 0, 100));
            w.run();
            ends(w, &Local::invalidate(window), Ok(()));
            (foreign & !0xFF | 3, foreign & !0xFF | 3)
        },
        |w| {
            let access = Access {
                pd: PD + 1,
                ..Access::FAST
            };
            let token = w.a.region(100, access).token;
            (token, token)
        },
    ];
    for scheduler in SCHEDULERS {
        for (i, make) in makes.iter().enumerate() {
            let mut w = world(scheduler);
            let (named, there) = make(&mut w);
            let told = asks(&mut w, named);
            assert_eq!(told, (Status::RemoteInvalidRequest, None), "{i}");
            assert_eq!(w.a.state(QA), QpState::Err as u32);
            // Still there: an Invalidate on another queue pair finds it valid.
            w.connect(QA + 2, QB + 2, small());
            w.a.post_local(QA + 2, &Local::invalidate(there));
            w.run();
            let entry = *w.a.poll(SEND_CQ).last().unwrap();
            assert_eq!(entry.qpn, QA + 2);
            assert_ne!(entry.error_code, Fault::TokenIndex as u32, "{i}");
            assert_ne!(entry.error_code, Fault::TokenKey as u32, "{i}");
        }
    }
}

/// A free token is refused, too, as one that was invalidated before (WIRE-INV-3).
#[test]
fn the_peer_names_a_free_token() {
    for scheduler in SCHEDULERS {
        let mut w = world(scheduler);
        let window = w.a.free_window();
        let told = asks(&mut w, window);
        assert_eq!(told, (Status::RemoteInvalidRequest, None));
    }
}

/// A read with local invalidate frees its sink's region, but none with a window bound (WIRE-INV-10, -8).
#[test]
fn a_read_frees_its_sink() {
    for scheduler in SCHEDULERS {
        for bound in [false, true] {
            let mut w = world(scheduler);
            let region = w.a.fast_region(QA, 100, EVERY_RIGHT);
            let window = w.a.free_window();
            if bound {
                w.a.post_local(QA, &Local::bind(window, 1, &region, 0, 100));
            }
            let theirs = w.b.region(100, Access::ALL);
            let read = Request {
                local_invalidate: true,
                ..Request::read(vec![region.sge(0, 100)], (theirs.address, theirs.token))
            };
            w.a.post(QA, &read);
            w.run();
            assert_eq!(w.a.poll(SEND_CQ).last().unwrap().status, Status::Success);
            let expected = if bound {
                Fault::State
            } else {
                Fault::TokenIndex
            };
            ends(&mut w, &Local::invalidate(region.token), Err(expected));
        }
    }
}

/// A token of the table that claims windows or a queue pair but is no window is not asked for them.
#[test]
fn the_queue_pair_of_what_is_no_window() {
    let mut w = world(Scheduler::Fair);
    let record = Record::new(&TOKEN_CONTEXT)
        .with("valid", 1u8)
        .with("kind", TokenKind::Fast)
        .with("pd", PD)
        .with("window_qp", 99u8)
        .with("parent", 1u8);
    w.a.command(Table::Token, 77, 0, record.as_bytes());
    ends(&mut w, &Local::invalidate(77 << 8), Ok(()));
}
