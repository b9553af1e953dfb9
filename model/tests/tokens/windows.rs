//! Memory windows.

use super::*;
use tandem_model::abi::{Record, TOKEN_CONTEXT, Table, TokenKind};

/// Rights of a window: read only, write only.
const READ: Asked = (false, true, false);
const WRITE: Asked = (false, false, true);

/// A window of node a, bound to bytes of a region.
fn bound(w: &mut World, region: &Region, offset: u64, length: u32, rights: Asked) -> u32 {
    let window = w.a.free_window();
    let key = (window as u8).wrapping_add(1);
    let bind = Local {
        rights,
        ..Local::bind(window, key, region, offset, length)
    };
    ends(w, &bind, Ok(()));
    window & !0xFF | u32::from(key)
}

/// The bytes of a window are those of its region (WIRE-MW-1, -3), whatever the kind of the region.
#[test]
fn data_through_a_window() {
    for (i, (offset, length)) in [(0, 9000), (1, 1), (4095, 4097), (5000, 4000), (8999, 1)]
        .into_iter()
        .enumerate()
    {
        for fast in [false, true] {
            let mut w = world(SCHEDULERS[i % SCHEDULERS.len()]);
            let region = if fast {
                w.a.fast_region(QA, 9000, EVERY_RIGHT)
            } else {
                w.a.region(9000, Access::ALL)
            };
            w.a.fill(&region, 0, &pattern(9000, 2));
            let window = bound(&mut w, &region, offset, length, EVERY_RIGHT);
            let remote = (region.address + offset, window);
            // A read, then a write.
            let sink = w.b.region(9000, Access::ALL);
            w.b.post(QB, &Request::read(vec![sink.sge(0, length)], remote));
            w.run();
            let mut expected = pattern(9000, 2);
            let range = offset as usize..offset as usize + length as usize;
            let read = w.b.bytes(&sink, 0, length as usize);
            assert_eq!(read, expected[range.clone()]);
            let reach = reaches(&mut w, WqeOpcode::Write, remote, length);
            assert_eq!(reach, Reach::Granted);
            expected[range].copy_from_slice(&pattern(length as usize, 9));
            assert_eq!(w.a.bytes(&region, 0, 9000), expected);
        }
    }
}

/// Inside the region but outside the window is refused (WIRE-KEY-7).
// Covers: WIRE-KEY-7
#[test]
fn a_window_ends_where_it_ends() {
    for (from, length, granted) in [
        (100, 500, true),
        (99, 1, false),
        (99, 2, false),
        (599, 2, false),
        (600, 1, false),
        (599, 1, true),
    ] {
        for opcode in [WqeOpcode::Read, WqeOpcode::Write] {
            let mut w = world(Scheduler::Fair);
            let region = w.a.region(2000, Access::ALL);
            let window = bound(&mut w, &region, 100, 500, EVERY_RIGHT);
            let reach = reaches(&mut w, opcode, (region.address + from, window), length);
            assert_eq!(reach == Reach::Granted, granted, "{from} {length}");
        }
    }
}

/// A window grants its own rights, not those of its region; several overlap (WIRE-KEY-5, field bug D10).
#[test]
fn windows_overlap_with_rights_of_their_own() {
    for (rights, opcode, granted) in [
        (READ, WqeOpcode::Read, true),
        (READ, WqeOpcode::Write, false),
        (WRITE, WqeOpcode::Read, false),
        (WRITE, WqeOpcode::Write, true),
        ((true, false, false), WqeOpcode::Read, false),
        ((true, false, false), WqeOpcode::Write, false),
    ] {
        let mut w = world(Scheduler::Fair);
        let region = w.a.region(2000, Access::ALL);
        bound(&mut w, &region, 0, 2000, EVERY_RIGHT);
        let window = bound(&mut w, &region, 10, 1000, rights);
        let remote = (region.address + 10, window);
        let reach = reaches(&mut w, opcode, remote, 1000);
        assert_eq!(reach == Reach::Granted, granted, "{rights:?} {opcode:?}");
    }
    // Reading through a window needs no right of the region for the peer, writing its local write.
    let mut w = world(Scheduler::Fair);
    let region = w.a.region(
        2000,
        Access {
            local_write: false,
            remote_read: false,
            remote_write: false,
            ..Access::ALL
        },
    );
    let window = bound(&mut w, &region, 0, 2000, READ);
    let remote = (region.address, window);
    assert_eq!(
        reaches(&mut w, WqeOpcode::Read, remote, 2000),
        Reach::Granted
    );
}

/// Only the queue pair that bound it uses a window (WIRE-KEY-8).
// Covers: WIRE-KEY-8
#[test]
fn a_window_of_another_queue_pair() {
    for scheduler in SCHEDULERS {
        let mut w = world(scheduler);
        w.connect(QA + 1, QB + 1, small());
        let region = w.a.region(2000, Access::ALL);
        let window = w.a.free_window();
        w.a.post_local(QA + 1, &Local::bind(window, 7, &region, 0, 2000));
        w.run();
        assert_eq!(w.a.poll(SEND_CQ).last().unwrap().status, Status::Success);
        let token = window & !0xFF | 7;
        // On its own queue pair it works.
        let mine = w.b.region(10, Access::ALL);
        let remote = (region.address, token);
        w.b.post(QB + 1, &Request::write(vec![mine.sge(0, 10)], remote));
        w.run();
        assert_eq!(w.b.poll(SEND_CQ).last().unwrap().status, Status::Success);
        assert_eq!(
            reaches(&mut w, WqeOpcode::Write, remote, 10),
            Reach::Refused
        );
    }
}

/// The old key is stale after a bind, the new one may be the same (WIRE-MW-3, WIRE-KEY-6, field bug D5).
#[test]
fn keys_over_many_binds() {
    let mut w = world(Scheduler::Fair);
    let region = w.a.region(2000, Access::ALL);
    let mut token = w.a.free_window();
    for key in [token as u8, token as u8, 0xFF, 0, 0x80] {
        ends(&mut w, &Local::bind(token, key, &region, 0, 10), Ok(()));
        token = token & !0xFF | u32::from(key);
        let remote = (region.address, token);
        assert_eq!(
            reaches(&mut w, WqeOpcode::Write, remote, 10),
            Reach::Granted
        );
        ends(&mut w, &Local::invalidate(token), Ok(()));
    }
    // A bind names the key of now (WIRE-MW-1).
    let stale = Local::bind(token & !0xFF, 1, &region, 0, 10);
    ends(&mut w, &stale, Err(Fault::TokenKey));
}

#[test]
fn the_old_key_is_stale() {
    let mut w = world(Scheduler::Fair);
    let region = w.a.region(2000, Access::ALL);
    let window = w.a.free_window();
    let bind = Local::bind(window, window as u8 ^ 1, &region, 0, 10);
    ends(&mut w, &bind, Ok(()));
    let remote = (region.address, window);
    assert_eq!(
        reaches(&mut w, WqeOpcode::Write, remote, 10),
        Reach::Refused
    );
}

/// Each fault of a Bind in the order of the checks; of two that hold the first is told (WIRE-MW-1, -2, field bugs
/// D6, D7, D16).
#[test]
fn faults_in_their_order() {
    type Spoil = fn(&mut World, &mut Local);
    fn token(w: &mut World, token: u32, kind: TokenKind, valid: bool, pd: u16) {
        let record = Record::new(&TOKEN_CONTEXT)
            .with("valid", valid)
            .with("kind", kind)
            .with("pd", pd)
            .with("key", token as u8)
            .with("local_write", 1u8)
            .with("length", u64::from(u32::MAX));
        w.a.command(Table::Token, token >> 8, 0, record.as_bytes());
    }
    // Faults of the request alone can hold together with those of a table's entry.
    let spoils: [(Fault, bool, Spoil); 14] = [
        (Fault::WqeLength, true, |_, local| local.length = 0),
        (Fault::TokenIndex, true, |_, local| {
            local.token |= 0xFFFF_0000
        }),
        (Fault::TokenKey, true, |_, local| local.token ^= 1),
        (Fault::Domain, false, |w, local| {
            token(w, local.token, TokenKind::Window, false, PD + 1);
        }),
        (Fault::Kind, false, |w, local| {
            token(w, local.token, TokenKind::Fast, false, PD);
        }),
        (Fault::State, false, |w, local| {
            token(w, local.token, TokenKind::Window, true, PD);
        }),
        (Fault::TokenIndex, true, |_, local| {
            local.region |= 0xFFFF_0000
        }),
        (Fault::TokenIndex, false, |w, local| {
            token(w, local.region, TokenKind::Region, false, PD);
        }),
        (Fault::TokenKey, true, |_, local| local.region ^= 1),
        (Fault::Domain, false, |w, local| {
            token(w, local.region, TokenKind::Region, true, PD + 1);
        }),
        (Fault::Kind, false, |w, local| {
            token(w, local.region, TokenKind::Privileged, true, PD);
        }),
        (Fault::Kind, false, |w, local| {
            token(w, local.region, TokenKind::Window, true, PD);
        }),
        (Fault::Right, false, |w, local| {
            let record = Record::new(&TOKEN_CONTEXT)
                .with("valid", 1u8)
                .with("kind", TokenKind::Region)
                .with("pd", PD)
                .with("key", local.region as u8)
                .with("remote_write", 1u8);
            w.a.command(Table::Token, local.region >> 8, 0, record.as_bytes());
        }),
        (Fault::Bounds, true, |_, local| local.address += 1001),
    ];
    for (i, (fault, _, spoil)) in spoils.iter().enumerate() {
        for (j, (_, of_request, later)) in spoils.iter().enumerate().skip(i) {
            let mut w = world(SCHEDULERS[(i + j) % SCHEDULERS.len()]);
            let region = w.a.region(2000, Access::ALL);
            let window = w.a.free_window();
            let mut local = Local::bind(window, 5, &region, 0, 1000);
            spoil(&mut w, &mut local);
            if i != j && *of_request {
                later(&mut w, &mut local);
            }
            ends(&mut w, &local, Err(*fault));
        }
    }
}

/// Bounds of a bind: the first and the last byte, and the wrap (WIRE-KEY-2).
#[test]
fn bounds_of_a_bind() {
    for (offset, length, legal) in [
        (0i64, 2000, true),
        (0, 2001, false),
        (-1, 1, false),
        (-1, 2, false),
        (1999, 1, true),
        (1999, 2, false),
        (2000, 1, false),
    ] {
        let mut w = world(Scheduler::Fair);
        let region = w.a.region(2000, Access::ALL);
        let window = w.a.free_window();
        let bind = Local::bind(window, 5, &region, offset as u64, length);
        let expected = if legal { Ok(()) } else { Err(Fault::Bounds) };
        ends(&mut w, &bind, expected);
    }
    let mut w = world(Scheduler::Fair);
    let region = w.a.region_at(u64::MAX - 0xFFFF, 0x8000, Access::ALL);
    let window = w.a.free_window();
    let bind = Local {
        address: u64::MAX - 3,
        ..Local::bind(window, 5, &region, 0, 8)
    };
    ends(&mut w, &bind, Err(Fault::Bounds));
}

/// A window that only reads may be bound to a region without local write.
#[test]
fn only_a_window_that_writes_needs_local_write() {
    for (rights, legal) in [(READ, true), ((true, true, false), true), (WRITE, false)] {
        let mut w = world(Scheduler::Fair);
        let access = Access {
            local_write: false,
            ..Access::ALL
        };
        let region = w.a.region(2000, access);
        let window = w.a.free_window();
        let bind = Local {
            rights,
            ..Local::bind(window, 5, &region, 0, 8)
        };
        let expected = if legal { Ok(()) } else { Err(Fault::Right) };
        ends(&mut w, &bind, expected);
    }
}

/// A refused bind leaves window and region as they were.
#[test]
fn a_refused_bind_changes_nothing() {
    let mut w = world(Scheduler::Fair);
    w.connect(QA + 1, QB + 1, small());
    let region = w.a.fast_region(QA, 2000, EVERY_RIGHT);
    let window = w.a.free_window();
    let bind = Local::bind(window, 5, &region, 1, 2000);
    ends(&mut w, &bind, Err(Fault::Bounds));
    // The window is still free with its old key, the region has none bound.
    w.a.post_local(QA + 1, &Local::bind(window, 5, &region, 0, 2000));
    w.a.post_local(QA + 1, &Local::invalidate(window & !0xFF | 5));
    w.a.post_local(QA + 1, &Local::invalidate(region.token));
    w.run();
    let entries = w.a.poll(SEND_CQ);
    let done: Vec<_> = entries.iter().filter(|e| e.qpn == QA + 1).collect();
    assert_eq!(done.len(), 3);
    assert!(done.iter().all(|e| e.status == Status::Success));
}

/// While windows are bound to it a region is not invalidated; each way in which one ends counts (WIRE-INV-8, field
/// bug D8).
#[test]
fn a_region_counts_its_windows() {
    // How the last window ends: by a request, by the peer, by its table entry, free or replaced by a region.
    for way in 0..4 {
        for scheduler in [Scheduler::Fair, Scheduler::Random(4)] {
            let mut w = world(scheduler);
            let region = w.a.fast_region(QA, 2000, EVERY_RIGHT);
            let other = w.a.fast_region(QA, 2000, EVERY_RIGHT);
            let first = bound(&mut w, &region, 0, 100, EVERY_RIGHT);
            let last = bound(&mut w, &region, 50, 100, EVERY_RIGHT);
            bound(&mut w, &other, 0, 100, EVERY_RIGHT);
            ends(&mut w, &Local::invalidate(first), Ok(()));
            match way {
                0 => ends(&mut w, &Local::invalidate(last), Ok(())),
                1 => {
                    w.a.receive(QA, &[]);
                    let send = Request {
                        invalidate: last,
                        ..Request::new(WqeOpcode::SendInvalidate, vec![])
                    };
                    w.b.post(QB, &send);
                    w.run();
                    let entry = w.a.poll(RECV_CQ)[0];
                    assert_eq!(
                        (entry.status, entry.invalidated),
                        (Status::Success, Some(last))
                    );
                }
                2 => w.a.invalidate(last),
                _ => {
                    let record = Record::new(&TOKEN_CONTEXT).with("valid", 1u8);
                    w.a.command(Table::Token, last >> 8, 0, record.as_bytes());
                }
            }
            ends(&mut w, &Local::invalidate(region.token), Ok(()));
            ends(&mut w, &Local::invalidate(other.token), Err(Fault::State));
        }
    }
    // With one left it is not.
    let mut w = world(Scheduler::Fair);
    let region = w.a.fast_region(QA, 2000, EVERY_RIGHT);
    let first = bound(&mut w, &region, 0, 100, EVERY_RIGHT);
    bound(&mut w, &region, 0, 100, EVERY_RIGHT);
    ends(&mut w, &Local::invalidate(first), Ok(()));
    ends(&mut w, &Local::invalidate(region.token), Err(Fault::State));
}

/// `windows` of a written entry is 0 whatever was written; a free window that is written again counts nowhere; a region
/// whose entry is written again counts from 0, and less than 0 there is not.
#[test]
fn what_writing_an_entry_does_to_the_count() {
    let mut w = world(Scheduler::Fair);
    let record = Record::new(&TOKEN_CONTEXT)
        .with("valid", 1u8)
        .with("kind", TokenKind::Fast)
        .with("pd", PD)
        .with("key", 0x11u8)
        .with("length", 4096u16)
        .with("windows", 9u8)
        .with("local_write", 1u8);
    w.a.command(Table::Token, 200, 0, record.as_bytes());
    ends(&mut w, &Local::invalidate(200 << 8 | 0x11), Ok(()));

    w.a.command(Table::Token, 200, 0, record.as_bytes());
    let window = w.a.free_window();
    let bind = Local {
        region: 200 << 8 | 0x11,
        address: 0,
        length: 10,
        ..Local::bind(window, window as u8, &w.a.region(1, Access::ALL), 0, 10)
    };
    ends(&mut w, &bind, Ok(()));
    // The region's entry is written again: nothing is bound to it, though the window still is.
    w.a.command(Table::Token, 200, 0, record.as_bytes());
    w.a.invalidate(window);
    // A second window keeps it busy: the count did not wrap below 0.
    let second = w.a.free_window();
    let bind = Local {
        token: second,
        new_key: second as u8,
        ..bind
    };
    ends(&mut w, &bind, Ok(()));
    ends(&mut w, &Local::invalidate(second), Ok(()));
    ends(&mut w, &Local::invalidate(200 << 8 | 0x11), Ok(()));
}

/// A window that is free again counts nowhere: writing its entry takes nothing from the region that it was bound to.
#[test]
fn writing_a_free_window_takes_nothing_away() {
    let mut w = world(Scheduler::Fair);
    let region = w.a.fast_region(QA, 2000, EVERY_RIGHT);
    let first = bound(&mut w, &region, 0, 100, EVERY_RIGHT);
    bound(&mut w, &region, 0, 100, EVERY_RIGHT);
    ends(&mut w, &Local::invalidate(first), Ok(()));
    w.a.invalidate(first);
    ends(&mut w, &Local::invalidate(region.token), Err(Fault::State));
}
