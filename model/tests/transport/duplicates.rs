//! Requests that come again, too early or too late, at a responder.

use super::*;
use tandem_model::abi::{DropCause, QpState, RxResult};
use tandem_model::wire::{AtomicEth, Ext, NakCode, Opcode, Syndrome, Token};

const FULL: [u8; 256] = [7; 256];

fn world(first: u32) -> (World, Region) {
    let options = QpOptions {
        psn: first,
        ..options()
    };
    let mut w = World::connected(Scheduler::Fair, options);
    let theirs = w.b.region(20_000, Access::ALL);
    for i in 0..8 {
        w.b.receive(QB, &[theirs.sge(1000 * i, 1000)]);
    }
    (w, theirs)
}

fn at(first: u32, n: u32) -> u32 {
    first.wrapping_add(n) & 0xFF_FFFF
}

/// The packets of a send of 600 bytes and a write of 600 bytes at byte 10,000, from packet 0.
fn packets(first: u32, theirs: &Region) -> Vec<Vec<u8>> {
    let to = reth(theirs.address + 10_000, theirs.token, 600);
    vec![
        frame(Opcode::SendFirst, at(first, 0), Ext::None, &FULL),
        frame(Opcode::SendMiddle, at(first, 1), Ext::None, &FULL),
        frame(Opcode::SendLast, at(first, 2), Ext::None, &FULL[..88]),
        frame(Opcode::WriteFirst, at(first, 3), to, &FULL),
        frame(Opcode::WriteMiddle, at(first, 4), Ext::None, &FULL),
        frame(Opcode::WriteLast, at(first, 5), Ext::None, &FULL[..88]),
    ]
}

/// MSN after so many of these packets (WIRE-ACK-5, -7, A15).
fn msn(taken: u32) -> u32 {
    u32::from(taken >= 3) + u32::from(taken >= 6)
}

fn duplicate(psn: u32) -> tandem_model::engine::Action {
    request(psn, RxResult::Duplicate)
}

/// WIRE-DUP-1, -2, -9: each packet again at each later time: acknowledged with the newest executed PSN, not
/// executed; the message under way goes on.
#[test]
fn every_packet_again_at_every_time() {
    for first in FIRST {
        let (mut w, theirs) = world(first);
        let packets = packets(first, &theirs);
        for (taken, packet) in (1..).zip(&packets) {
            let psn = at(first, taken - 1);
            let expected = (request(psn, RxResult::Accept), ack(psn, msn(taken)));
            assert_eq!(give(&mut w, packet), expected);
            w.b.fill(&theirs, 0, &[0xAA; 600]);
            w.b.fill(&theirs, 10_000, &[0xBB; 600]);
            for (n, old) in (0..taken).zip(&packets) {
                let expected = (duplicate(at(first, n)), ack(psn, msn(taken)));
                assert_eq!(give(&mut w, old), expected, "{n} after {taken}");
            }
            assert_eq!(w.b.bytes(&theirs, 0, 600), [0xAA; 600]);
            assert_eq!(w.b.bytes(&theirs, 10_000, 600), [0xBB; 600]);
        }
        assert_eq!(w.b.read(reg::DUPLICATES), 21);
        let received = w.b.poll(RECV_CQ);
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].byte_len, 600);
    }
}

/// WIRE-PSN-1: what is 2^23 steps behind is old, what is one step less ahead is new.
#[test]
fn half_of_all_psns_are_old() {
    for first in FIRST {
        let (mut w, _) = world(first);
        let send = |psn| frame(Opcode::SendOnly, psn, Ext::None, b"x");
        let old = at(first, 0x80_0000);
        let expected = (duplicate(old), ack(at(first, 0xFF_FFFF), 0));
        assert_eq!(give(&mut w, &send(old)), expected);
        let new = at(first, 0x7F_FFFF);
        let expected = (
            request(new, RxResult::NakSequence),
            nak(NakCode::PsnSequence, first, 0),
        );
        assert_eq!(give(&mut w, &send(new)), expected);
    }
}

/// WIRE-NAK-1 to -3, A5: a gap is told of once, whatever comes behind it; the MSN stays; duplicates are
/// answered; the packet that was missing ends it, and the next gap is told of again.
#[test]
fn gaps() {
    for first in FIRST {
        let (mut w, theirs) = world(first);
        let packets = packets(first, &theirs);
        let mut naks = 0;
        for (n, packet) in (0..).zip(&packets) {
            for (ahead, later) in (n + 1..).zip(&packets[n as usize + 1..]) {
                let psn = at(first, ahead);
                let verdict = give(&mut w, later);
                if ahead == n + 1 {
                    let expected = (
                        request(psn, RxResult::NakSequence),
                        nak(NakCode::PsnSequence, at(first, n), msn(n)),
                    );
                    assert_eq!(verdict, expected);
                    naks += 1;
                } else {
                    assert_eq!(verdict, (dropped(psn, DropCause::Sequence), vec![]));
                }
                if n > 0 {
                    let expected = (duplicate(first), ack(at(first, n - 1), msn(n)));
                    assert_eq!(give(&mut w, &packets[0]), expected);
                }
            }
            let psn = at(first, n);
            let expected = (request(psn, RxResult::Accept), ack(psn, msn(n + 1)));
            assert_eq!(give(&mut w, packet), expected);
        }
        assert_eq!(w.b.read(reg::NAKS_OUT), naks);
        assert_eq!(w.b.bytes(&theirs, 10_000, 600), [7; 600]);
    }
}

/// WIRE-DUP-8, -9: an old atomic is dropped; an old packet that could never have been legal is a
/// duplicate like any other, and ends nothing.
#[test]
fn odd_duplicates() {
    let (mut w, theirs) = world(0x100);
    let to = reth(theirs.address, theirs.token, 1);
    assert_eq!(
        give(&mut w, &frame(Opcode::WriteOnly, 0x100, to, b"x")).1,
        ack(0x100, 1)
    );
    let atomic = Ext::Atomic(AtomicEth {
        va: theirs.address,
        token: Token(theirs.token),
        swap_or_add: 1,
        compare: 0,
    });
    let dropped = (dropped(0x100, DropCause::Sequence), vec![]);
    assert_eq!(
        give(&mut w, &frame(Opcode::FetchAdd, 0x100, atomic, &[])),
        dropped
    );
    assert_eq!(
        give(&mut w, &frame(Opcode::CompareSwap, 0x100, atomic, &[])),
        dropped
    );
    let again = (duplicate(0x100), ack(0x100, 1));
    for (opcode, ext, payload) in [
        (Opcode::SendOnlyImmediate, Ext::Imm([0; 4]), &FULL[..]),
        (Opcode::SendMiddle, Ext::None, &FULL[..3]),
        (
            Opcode::SendLastInvalidate,
            Ext::Ieth(Token(theirs.token)),
            &[],
        ),
        (
            Opcode::WriteOnly,
            reth(0, 0xFFFF_FFFF, u32::MAX),
            &FULL[..1],
        ),
    ] {
        assert_eq!(
            give(&mut w, &frame(opcode, 0x100, ext, payload)),
            again,
            "{opcode:?}"
        );
    }
    assert_eq!(w.b.state(QB), QpState::Rts as u32);
}

/// A refused request is answered once; then silence, also for its duplicates (WIRE-NAK-4 to -6).
#[test]
fn nothing_after_a_fatal_nak() {
    let (mut w, theirs) = world(0x100);
    let bad = frame(Opcode::WriteOnly, 0x100, reth(theirs.address, 0, 1), b"x");
    assert_eq!(give(&mut w, &bad).1, nak(NakCode::RemoteAccess, 0x100, 0));
    assert_eq!(
        give(&mut w, &bad),
        (dropped(0x100, DropCause::QpState), vec![])
    );
    assert_eq!(w.b.read(reg::NAKS_OUT), 1);
}

/// WIRE-RNR-3 and a gap: the RNR NAK is the NAK that is outstanding.
#[test]
fn a_gap_behind_an_rnr_nak() {
    let options = QpOptions {
        min_rnr_timer: 9,
        ..options()
    };
    let mut w = World::connected(Scheduler::Fair, options);
    let theirs = w.b.region(1000, Access::ALL);
    let send = |psn| frame(Opcode::SendOnly, psn, Ext::None, b"x");
    let rnr = |psn, msn| {
        vec![(
            Opcode::Acknowledge,
            psn,
            Some(Syndrome::Rnr { timer: 9 }),
            msn,
        )]
    };
    assert_eq!(give(&mut w, &send(PSN)).1, rnr(PSN, 0));
    for ahead in 1..5 {
        assert_eq!(give(&mut w, &send(PSN + ahead)).1, []);
    }
    w.b.receive(QB, &[theirs.sge(0, 10)]);
    assert_eq!(give(&mut w, &send(PSN)).1, ack(PSN, 1));
    assert_eq!(
        give(&mut w, &send(PSN + 3)).1,
        nak(NakCode::PsnSequence, PSN + 1, 1)
    );
    assert_eq!(give(&mut w, &send(PSN + 1)).1, rnr(PSN + 1, 1));
}
