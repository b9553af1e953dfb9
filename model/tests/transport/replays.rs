//! Reads that a responder answers again.

use super::*;
use tandem_model::abi::{CommitKind, DropCause, QpState, RespondKind, RxResult, Status};
use tandem_model::hal::Target;
use tandem_model::wire::{Frame, NakCode, Opcode, Syndrome};

const LENGTH: u32 = 1000;

fn world(options: QpOptions) -> (World, Region) {
    let mut w = World::connected(Scheduler::Fair, options);
    let theirs = w.b.region(20_000, Access::ALL);
    w.b.fill(&theirs, 0, &pattern(4000, 2));
    (w, theirs)
}

fn at(first: u32, n: u32) -> u32 {
    first.wrapping_add(n) & 0xFF_FFFF
}

fn read(psn: u32, address: u64, token: u32, length: u32) -> Vec<u8> {
    frame(Opcode::ReadRequest, psn, reth(address, token, length), &[])
}

/// Answers to a read of `count` responses from packet `from` on, with an MSN.
fn responses(first: u32, from: u32, to: u32, msn: u32) -> Vec<Answer> {
    let positive = Some(Syndrome::ACK);
    (from..to)
        .map(|n| {
            let psn = at(first, n);
            match (n == from, n + 1 == to) {
                (true, true) => (Opcode::ReadResponseOnly, psn, positive, msn),
                (true, false) => (Opcode::ReadResponseFirst, psn, positive, msn),
                (false, true) => (Opcode::ReadResponseLast, psn, positive, msn),
                (false, false) => (Opcode::ReadResponseMiddle, psn, None, 0),
            }
        })
        .collect()
}

/// The bytes of the responses to a frame.
fn bytes(w: &mut World, frame: &[u8]) -> Vec<u8> {
    w.b.target.send_frame(frame).unwrap();
    while w.b.target.step().unwrap() {}
    let frames = w.b.target.take_frames().unwrap();
    let payload = |bytes: &Vec<u8>| Frame::parse(bytes).unwrap().payload.to_vec();
    frames.iter().flat_map(payload).collect()
}

/// WIRE-DUP-3, -5, -9: the read or any tail of it again, as often as asked, in any order, as a message of its
/// own, with the MSN of now and from memory as it is now.
#[test]
fn tails() {
    for first in FIRST {
        let (mut w, theirs) = world(QpOptions {
            psn: first,
            ..options()
        });
        let whole = read(first, theirs.address, theirs.token, LENGTH);
        let expected = (request(first, RxResult::Accept), responses(first, 0, 4, 1));
        assert_eq!(give(&mut w, &whole), expected);
        let write = frame(Opcode::WriteOnly, at(first, 4), reth(0, 0, 0), &[]);
        assert_eq!(give(&mut w, &write).1, ack(at(first, 4), 2));
        for k in [2, 0, 3, 1, 0, 3] {
            let skipped = 256 * k;
            let tail = read(
                at(first, k),
                theirs.address + u64::from(skipped),
                theirs.token,
                LENGTH - skipped,
            );
            let expected = (
                request(at(first, k), RxResult::Duplicate),
                responses(first, k, 4, 2),
            );
            assert_eq!(give(&mut w, &tail), expected);
            w.b.fill(&theirs, 0, &pattern(1000, 10 + k));
            let expected = &pattern(1000, 10 + k)[skipped as usize..];
            assert_eq!(bytes(&mut w, &tail), expected);
        }
        // The next new request has its own PSN and MSN.
        let write = frame(Opcode::WriteOnly, at(first, 5), reth(0, 0, 0), &[]);
        assert_eq!(give(&mut w, &write).1, ack(at(first, 5), 3));
    }
}

/// WIRE-DUP-6: what is neither a remembered read nor a tail of one is dropped.
#[test]
fn no_match() {
    let (mut w, theirs) = world(options());
    let (va, token) = (theirs.address, theirs.token);
    give(&mut w, &read(PSN, va, token, LENGTH));
    give(&mut w, &read(PSN + 4, va, token, 0));
    let cases = [
        (PSN, va, token ^ 1, LENGTH),
        (PSN, va + 1, token, LENGTH),
        (PSN, va, token, LENGTH - 1),
        (PSN, va, token, LENGTH + 1),
        (PSN + 1, va, token, LENGTH),
        (PSN + 1, va + 256, token, LENGTH),
        (PSN + 1, va + 256, token, LENGTH - 255),
        (PSN + 1, va + 255, token, LENGTH - 256),
        (PSN + 3, va + 768, token, 256),
        (PSN + 4, va, token, 1),
        (PSN - 1, va, token, LENGTH),
        // Address and length that wrap to the right ones.
        (
            PSN.wrapping_sub(4) & 0xFF_FFFF,
            va.wrapping_sub(1024),
            token,
            LENGTH + 1024,
        ),
    ];
    for (psn, va, token, length) in cases {
        let result = give(&mut w, &read(psn, va, token, length));
        assert_eq!(result, (dropped(psn, DropCause::Sequence), vec![]));
    }
    let expected = (
        request(PSN + 4, RxResult::Duplicate),
        responses(PSN, 4, 5, 2),
    );
    assert_eq!(give(&mut w, &read(PSN + 4, va, token, 0)), expected);
    assert_eq!(w.b.read(reg::DUPLICATES), 1);
}

/// WIRE-DUP-11: the last max_ird reads are remembered; a duplicate does not count as one.
#[test]
fn as_many_as_max_ird() {
    for max_ird in 1..=4u8 {
        let (mut w, theirs) = world(QpOptions {
            max_ird,
            ..options()
        });
        let one = |n: u32| read(PSN + n, theirs.address + u64::from(n), theirs.token, 8);
        for n in 0..6 {
            assert_eq!(give(&mut w, &one(n)).0, request(PSN + n, RxResult::Accept));
            for old in 0..=n {
                let remembered = n - old < u32::from(max_ird);
                let (verdict, answers) = give(&mut w, &one(old));
                if remembered {
                    assert_eq!(verdict, request(PSN + old, RxResult::Duplicate));
                    assert_eq!(answers, responses(PSN, old, old + 1, n + 1));
                } else {
                    assert_eq!(verdict, dropped(PSN + old, DropCause::Sequence));
                }
            }
        }
    }
}

/// No more reads are in progress than max_ird: the next one is refused, and those before it are answered.
// Covers: NDK-CAP-4
#[test]
fn no_more_in_progress_than_max_ird() {
    for max_ird in 1..=4u8 {
        let (w, theirs) = world(QpOptions {
            max_ird,
            ..options()
        });
        let mut engine = Driver::new(w);
        let give = |engine: &mut Driver, n: u32| {
            let one = read(PSN + n, theirs.address, theirs.token, 8);
            engine.world.b.target.send_frame(&one).unwrap();
            engine.take_frame();
            *engine.world.b.target.last_action().unwrap()
        };
        let respond = |kind: RespondKind, n: u32| {
            tandem_model::engine::Action::new(CommitKind::Respond, QB)
                .with_psn(PSN + n)
                .with_cause(kind as u8)
        };
        let most = u32::from(max_ird);
        for n in 0..most {
            assert_eq!(give(&mut engine, n), request(PSN + n, RxResult::Accept));
        }
        // One that was answered makes room for one.
        engine.accepted(respond(RespondKind::Read, 0));
        let verdict = give(&mut engine, most);
        assert_eq!(verdict, request(PSN + most, RxResult::Accept));
        let verdict = give(&mut engine, most + 1);
        assert_eq!(verdict, request(PSN + most + 1, RxResult::NakInvalid));
        for n in 1..=most {
            engine.accepted(respond(RespondKind::Read, n));
        }
        engine.accepted(respond(RespondKind::Nak, most + 1));
    }
}

/// The responses to a duplicate wait behind what is queued, and are not among the reads that max_ird limits.
#[test]
fn queued_replays() {
    let (w, theirs) = world(QpOptions {
        max_ird: 1,
        ..options()
    });
    let (va, token) = (theirs.address, theirs.token);
    let mut engine = Driver::new(w);
    let give = |engine: &mut Driver, bytes: &[u8]| {
        engine.world.b.target.send_frame(bytes).unwrap();
        engine.take_frame();
        *engine.world.b.target.last_action().unwrap()
    };
    let respond = |kind: RespondKind, psn| {
        tandem_model::engine::Action::new(CommitKind::Respond, QB)
            .with_psn(psn)
            .with_cause(kind as u8)
    };
    give(&mut engine, &read(PSN, va, token, 300));
    engine.accepted(respond(RespondKind::Read, PSN));
    engine.accepted(respond(RespondKind::Read, PSN + 1));
    for _ in 0..3 {
        let verdict = give(&mut engine, &read(PSN + 1, va + 256, token, 44));
        assert_eq!(verdict, request(PSN + 1, RxResult::Duplicate));
    }
    let verdict = give(&mut engine, &read(PSN + 2, va, token, 1));
    assert_eq!(verdict, request(PSN + 2, RxResult::Accept));
    for _ in 0..3 {
        // It may be discarded, as another answer to this read was asked for, or it is remembered no more.
        let both = [RespondKind::Discard, RespondKind::Read];
        let both = both.map(|kind| respond(kind, PSN + 1));
        assert_eq!(engine.listed(CommitKind::Respond), both);
        engine.accepted(both[1]);
    }
    // The one that is accepted has not left: max_ird is 1.
    let verdict = give(&mut engine, &read(PSN + 3, va, token, 1));
    assert_eq!(verdict, request(PSN + 3, RxResult::NakInvalid));
    engine.accepted(respond(RespondKind::Read, PSN + 2));
    engine.accepted(respond(RespondKind::Nak, PSN + 3));
}

/// WIRE-DUP-4, A9: the token of a duplicate is checked again, packet by packet; without right the connection
/// ends with a NAK in the place of the response (WIRE-NAK-11).
#[test]
fn checked_again() {
    for k in [0, 2] {
        let (mut w, theirs) = world(options());
        let (va, token) = (theirs.address, theirs.token);
        give(&mut w, &read(PSN, va, token, LENGTH));
        w.b.invalidate(token);
        let tail = read(PSN + k, va + 256 * u64::from(k), token, LENGTH - 256 * k);
        let expected = (
            request(PSN + k, RxResult::Duplicate),
            nak(NakCode::RemoteAccess, PSN + k, 1),
        );
        assert_eq!(give(&mut w, &tail), expected);
        assert_eq!(w.b.state(QB), QpState::Err as u32);
        assert_eq!(w.b.events(), [qp_error(Status::RemoteInvalidRequest, QB)]);
    }
}

/// WIRE-QP-6: `QpInit` forgets what was remembered, and what is queued.
#[test]
fn forgotten_by_init() {
    let (mut w, theirs) = world(options());
    let (va, token) = (theirs.address, theirs.token);
    give(&mut w, &read(PSN, va, token, LENGTH));
    for state in [QpState::Err, QpState::Reset, QpState::Init, QpState::Rtr] {
        w.b.set_state(QB, &w.a, QA, state);
    }
    let write = frame(Opcode::WriteOnly, PSN, reth(0, 0, 0), &[]);
    assert_eq!(give(&mut w, &write).1, ack(PSN, 1));
    let result = give(&mut w, &read(PSN, va, token, LENGTH));
    assert_eq!(result, (dropped(PSN, DropCause::Sequence), vec![]));
}

/// A read that was asked for again is answered from there on: what is left of its older answer may be discarded, and is not
/// mistaken for that of another read. Sending it stays legal.
#[test]
fn an_older_answer_gives_way() {
    for discarded in [true, false] {
        let (w, theirs) = world(options());
        let (va, token) = (theirs.address, theirs.token);
        let mut engine = Driver::new(w);
        let answer = |psn: u32, kind: RespondKind| {
            tandem_model::engine::Action::new(CommitKind::Respond, QB)
                .with_psn(psn)
                .with_cause(kind as u8)
        };
        let (sent, dropped) = (RespondKind::Read, RespondKind::Discard);
        let take = |engine: &mut Driver, psn, skipped: u64, length| {
            let frame = read(psn, va + skipped, token, length);
            engine.world.b.target.send_frame(&frame).unwrap();
            engine.take_frame();
        };
        take(&mut engine, PSN, 0, LENGTH);
        take(&mut engine, PSN + 4, 0, 300);
        engine.accepted(answer(PSN, sent));
        engine.refused(answer(PSN + 1, dropped));
        // Its second packet was lost.
        take(&mut engine, PSN + 1, 256, LENGTH - 256);
        let both = [answer(PSN + 1, dropped), answer(PSN + 1, sent)];
        assert_eq!(engine.listed(CommitKind::Respond), both);
        if discarded {
            engine.accepted(answer(PSN + 1, dropped));
        } else {
            for n in 1..4 {
                engine.accepted(answer(PSN + n, sent));
            }
        }
        // The other read was not asked for again.
        engine.refused(answer(PSN + 4, dropped));
        for psn in [PSN + 4, PSN + 5, PSN + 1, PSN + 2, PSN + 3] {
            engine.refused(answer(psn, dropped));
            engine.accepted(answer(psn, sent));
        }
        assert!(engine.listed(CommitKind::Respond).is_empty());
    }
}
