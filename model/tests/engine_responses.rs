//! One requester without retries against responses made by hand: each loss is a failure.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{CommitKind, DropCause, QpState, RxResult, Status};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;
use tandem_model::wire::Opcode;

/// Node a has sent, in this order: a write of 600 bytes (PSN 0 to 2), a read of 600 (3 to 5), a read of
/// 0 (6), a send of 1 (7).
fn world(reads: bool) -> (World, Region) {
    let options = QpOptions {
        mtu: 1,
        retry_cnt: 0,
        rnr_retry: 0,
        ..QpOptions::default()
    };
    let mut w = World::connected(Scheduler::Fair, options);
    let mine = w.a.region(2000, Access::ALL);
    w.a.post(QA, &Request::write(vec![mine.sge(0, 600)], (0, 0)));
    if reads {
        w.a.post(QA, &Request::read(vec![mine.sge(1000, 600)], (0, 0)));
        w.a.post(QA, &Request::read(vec![], (0, 0)));
    }
    w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
    while w.a.target.advance(1).unwrap() {}
    w.a.target.take_frames().unwrap();
    (w, mine)
}

fn response(opcode: Opcode, psn: u32, syndrome: u8, payload: &[u8]) -> Vec<u8> {
    engine_support::response(opcode, PSN + psn, syndrome, payload)
}

fn ack(psn: u32) -> Vec<u8> {
    response(Opcode::Acknowledge, psn, 0x1F, &[])
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Accept,
    Fatal,
    Drop(DropCause),
}

fn give(w: &mut World, frame: &[u8]) -> Verdict {
    w.a.target.send_frame(frame).unwrap();
    let mut verdict = None;
    while w.a.target.step().unwrap() {
        let action: Action = *w.a.target.last_action().unwrap();
        match action.kind {
            CommitKind::RxResponse if action.cause == RxResult::Accept as u8 => {
                verdict = Some(Verdict::Accept);
            }
            CommitKind::RxResponse => verdict = Some(Verdict::Fatal),
            CommitKind::RxDrop => {
                let cause = DropCause::from_bits(action.cause.into()).unwrap();
                verdict = Some(Verdict::Drop(cause));
            }
            _ => {}
        }
    }
    verdict.unwrap()
}

/// Statuses of all completions, with the error code of the last.
fn told(w: &mut World) -> (Vec<Status>, u32) {
    let entries = w.a.poll(SEND_CQ);
    let failed = entries.iter().find(|e| e.status != Status::Success);
    let code = failed.map_or(0, |e| e.error_code);
    (entries.iter().map(|e| e.status).collect(), code)
}

use Status::{BadResponse, Flushed, LocalLength, LocalProtection, RetryExceeded, Success};

/// WIRE-ACK-8 to -11, -16.
#[test]
fn acknowledges() {
    let stale = Verdict::Drop(DropCause::StaleResponse);
    let (mut w, _) = world(false);
    assert_eq!(give(&mut w, &ack(4)), stale);
    assert_eq!(give(&mut w, &ack(0)), Verdict::Accept);
    assert_eq!(give(&mut w, &ack(0)), stale);
    assert_eq!(told(&mut w).0, []);
    // Credits do not matter.
    let frame = response(Opcode::Acknowledge, 3, 0, &[]);
    assert_eq!(give(&mut w, &frame), Verdict::Accept);
    assert_eq!(told(&mut w).0, [Success, Success]);
    assert_eq!(give(&mut w, &ack(3)), stale);
    assert_eq!(w.a.state(QA), QpState::Rts as u32);
}

/// The expected responses, one after another (WIRE-RD-6, -7, WIRE-ACK-12).
#[test]
fn read_responses() {
    let (mut w, mine) = world(true);
    let data = pattern(600, 1);
    let first = response(Opcode::ReadResponseFirst, 3, 0x1F, &data[..256]);
    assert_eq!(give(&mut w, &first), Verdict::Accept);
    assert_eq!(told(&mut w).0, [Success]);
    assert_eq!(
        give(&mut w, &first),
        Verdict::Drop(DropCause::StaleResponse)
    );
    let middle = response(Opcode::ReadResponseMiddle, 4, 0, &data[256..512]);
    assert_eq!(give(&mut w, &middle), Verdict::Accept);
    let last = response(Opcode::ReadResponseLast, 5, 0x1F, &data[512..]);
    assert_eq!(give(&mut w, &last), Verdict::Accept);
    assert_eq!(w.a.bytes(&mine, 1000, 600), data);
    assert_eq!(told(&mut w).0, [Success]);
    let only = response(Opcode::ReadResponseOnly, 6, 0x1F, &[]);
    assert_eq!(give(&mut w, &only), Verdict::Accept);
    assert_eq!(give(&mut w, &ack(7)), Verdict::Accept);
    assert_eq!(told(&mut w).0, [Success, Success]);
}

/// NAKs and what they mean for the request that contains their PSN (WIRE-NAK-14 to -16).
#[test]
fn negative_acknowledges() {
    for (syndrome, status) in [
        (0x60, Status::RetryExceeded),
        (0x20, Status::RnrRetryExceeded),
        (0x3F, Status::RnrRetryExceeded),
        (0x61, Status::RemoteInvalidRequest),
        (0x62, Status::RemoteAccess),
        (0x63, Status::RemoteOperation),
        (0x64, Status::RemoteOperation),
        (0x7F, Status::RemoteOperation),
        (0x40, BadResponse),
        (0x80, BadResponse),
        (0xFF, BadResponse),
    ] {
        for psn in 0..4u32 {
            let (mut w, _) = world(false);
            let frame = response(Opcode::Acknowledge, psn, syndrome, &[]);
            assert_eq!(give(&mut w, &frame), Verdict::Fatal);
            let expected = if psn < 3 {
                vec![status, Flushed]
            } else {
                vec![Success, status]
            };
            assert_eq!(told(&mut w), (expected, syndrome.into()), "{syndrome:#x}");
            let event = Event {
                kind: 3,
                code: status as u8,
                number: QA,
            };
            assert_eq!(w.a.events(), [event]);
            assert_eq!(give(&mut w, &ack(3)), Verdict::Drop(DropCause::QpState));
        }
    }
}

/// A NAK at a read's first missing PSN fails the read; one behind it, and an ACK at or behind it,
/// means a lost response (WIRE-ACK-13).
#[test]
fn acknowledges_and_open_reads() {
    let nak = |psn| response(Opcode::Acknowledge, psn, 0x62, &[]);
    let cases = [
        (ack(2), Verdict::Accept, vec![Success], 0),
        (
            ack(3),
            Verdict::Fatal,
            vec![Success, RetryExceeded, Flushed, Flushed],
            0,
        ),
        (
            ack(7),
            Verdict::Fatal,
            vec![Success, RetryExceeded, Flushed, Flushed],
            0,
        ),
        (
            nak(2),
            Verdict::Fatal,
            vec![Status::RemoteAccess, Flushed, Flushed, Flushed],
            0x62,
        ),
        (
            nak(3),
            Verdict::Fatal,
            vec![Success, Status::RemoteAccess, Flushed, Flushed],
            0x62,
        ),
        (
            nak(4),
            Verdict::Fatal,
            vec![Success, RetryExceeded, Flushed, Flushed],
            0,
        ),
        (
            nak(7),
            Verdict::Fatal,
            vec![Success, RetryExceeded, Flushed, Flushed],
            0,
        ),
    ];
    for (frame, verdict, statuses, code) in cases {
        let (mut w, _) = world(true);
        assert_eq!(give(&mut w, &frame), verdict);
        assert_eq!(told(&mut w), (statuses, code));
    }
}

/// Wrong read responses (WIRE-RD-2, -5, -8).
#[test]
fn wrong_read_responses() {
    const FULL: [u8; 256] = [9; 256];
    let failed = |status| vec![Success, status, Flushed, Flushed];
    use Opcode::{ReadResponseFirst, ReadResponseLast, ReadResponseMiddle, ReadResponseOnly};
    let cases = [
        (
            response(ReadResponseMiddle, 4, 0, &FULL),
            failed(RetryExceeded),
        ),
        (
            response(ReadResponseOnly, 6, 0x1F, &[]),
            failed(RetryExceeded),
        ),
        (
            response(ReadResponseFirst, 3, 0x61, &FULL),
            failed(BadResponse),
        ),
        (
            response(ReadResponseMiddle, 3, 0, &FULL),
            failed(BadResponse),
        ),
        (
            response(ReadResponseLast, 3, 0x1F, &FULL),
            failed(BadResponse),
        ),
        (
            response(ReadResponseOnly, 3, 0x1F, &FULL),
            failed(BadResponse),
        ),
        (
            response(ReadResponseFirst, 3, 0x1F, &FULL[1..]),
            failed(LocalLength),
        ),
        (
            response(ReadResponseFirst, 3, 0x1F, &[9; 257]),
            failed(LocalLength),
        ),
        (response(ReadResponseFirst, 2, 0x1F, &FULL), vec![]),
    ];
    for (frame, statuses) in cases {
        let (mut w, mine) = world(true);
        let stale = statuses.is_empty();
        let verdict = give(&mut w, &frame);
        if stale {
            assert_eq!(verdict, Verdict::Drop(DropCause::StaleResponse));
        } else {
            assert_eq!(verdict, Verdict::Fatal);
        }
        assert_eq!(told(&mut w), (statuses, 0));
        assert_eq!(w.a.bytes(&mine, 1000, 600), [0; 600]);
    }
    // No read open: the request that contains the PSN fails.
    let (mut w, _) = world(false);
    let frame = response(ReadResponseOnly, 3, 0x1F, b"x");
    assert_eq!(give(&mut w, &frame), Verdict::Fatal);
    assert_eq!(told(&mut w), (vec![Success, BadResponse], 0));
    // The sink's token is gone.
    let (mut w, mine) = world(true);
    w.a.invalidate(mine.token);
    let frame = response(ReadResponseFirst, 3, 0x1F, &FULL);
    assert_eq!(give(&mut w, &frame), Verdict::Fatal);
    assert_eq!(told(&mut w), (failed(LocalProtection), 0));
}

/// A local failure that waits for its turn is forgotten when an earlier request fails.
#[test]
fn an_earlier_failure_counts() {
    let (mut w, _) = world(false);
    w.a.post(QA, &Request::send(vec![(0, 1, 0)]));
    while w.a.target.advance(1).unwrap() {}
    assert_eq!(told(&mut w).0, []);
    let frame = response(Opcode::Acknowledge, 3, 0x61, &[]);
    assert_eq!(give(&mut w, &frame), Verdict::Fatal);
    let expected = vec![Success, Status::RemoteInvalidRequest, Flushed];
    assert_eq!(told(&mut w), (expected, 0x61));
}
