//! Reads that lose requests or responses.

use super::*;
use tandem_model::abi::{Fault, QpState, Status};
use tandem_model::wire::Opcode::{
    self, ReadResponseFirst, ReadResponseLast, ReadResponseMiddle, ReadResponseOnly,
};

use Verdict::{Accept, Fatal, GoBack, Stale};

const LENGTH: u32 = 1000;
const REMOTE: u64 = 0x7_FFFF_FF00;

/// Node a has sent a send of 1 byte (packet 0), a read of 1000 bytes (packets 1 to 4), a send (5).
fn world(first: u32) -> (World, Region) {
    let options = QpOptions {
        psn: first,
        ..options()
    };
    let (w, mine, frames) = posted(options, |w, mine| {
        w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
        let sink = vec![mine.sge(9000, 300), mine.sge(10_000, LENGTH - 300)];
        w.a.post(QA, &Request::read(sink, (REMOTE, 5)));
        w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
    });
    assert_eq!(numbers(first, &frames), [0, 1, 5]);
    assert_eq!(frames[1].reth, Some((REMOTE, LENGTH)));
    (w, mine)
}

fn data() -> Vec<u8> {
    pattern(LENGTH as usize, 4)
}

/// The bytes of response `n` of the read, 1 to 4.
fn part(n: u32) -> Vec<u8> {
    let at = 256 * (n as usize - 1);
    data()[at..data().len().min(at + 256)].to_vec()
}

fn answer(first: u32, opcode: Opcode, n: u32) -> Vec<u8> {
    let psn = first.wrapping_add(n) & 0xFF_FFFF;
    response(opcode, psn, ACK, &part(n))
}

/// The opcode of response `n` as it is at first.
fn plain(n: u32) -> Opcode {
    match n {
        1 => ReadResponseFirst,
        4 => ReadResponseLast,
        _ => ReadResponseMiddle,
    }
}

/// All bytes are there, all requests done.
fn complete(w: &mut World, mine: &Region, first: u32) {
    assert_eq!(judged(w, &acknowledge_from(first, ACK, 5)), Accept);
    sent(w);
    let expected = [
        (0, Status::Success),
        (1, Status::Success),
        (2, Status::Success),
    ];
    assert_eq!(statuses(&w.a.poll(SEND_CQ)), expected);
    assert_eq!(w.a.bytes(mine, 9000, 300), data()[..300]);
    assert_eq!(w.a.bytes(mine, 10_000, 700), data()[300..]);
    assert_eq!(w.a.bytes(mine, 9300, 10), [0; 10]);
}

/// WIRE-RD-3: after k responses a retry asks for the rest, whatever brings it about; WIRE-RD-4: the rest
/// may come as a message of its own, or go on.
#[test]
fn partial_retry() {
    for first in FIRST {
        for k in 0..4u32 {
            for cause in 0..3 {
                for restarts in [false, true] {
                    let (mut w, mine) = world(first);
                    for n in 1..=k {
                        assert_eq!(judged(&mut w, &answer(first, plain(n), n)), Accept);
                    }
                    match cause {
                        0 => {
                            if k == 0 {
                                let ack = acknowledge_from(first, ACK, 0);
                                assert_eq!(judged(&mut w, &ack), Accept);
                            }
                            expire(&mut w);
                        }
                        // WIRE-ACK-13.
                        1 => {
                            let ack = acknowledge_from(first, ACK, 5);
                            assert_eq!(judged(&mut w, &ack), GoBack);
                        }
                        // WIRE-RD-2.
                        _ if k < 3 => {
                            let late = answer(first, plain(k + 2), k + 2);
                            assert_eq!(judged(&mut w, &late), GoBack);
                        }
                        _ => continue,
                    }
                    let again = sent(&mut w);
                    assert_eq!(numbers(first, &again), [k + 1, 5]);
                    let skipped = 256 * k;
                    let reth = (REMOTE + u64::from(skipped), LENGTH - skipped);
                    assert_eq!(again[0].reth, Some(reth));
                    assert!(again[0].ack_req);
                    for n in k + 1..=4 {
                        let opcode = match (restarts && n == k + 1, n == 4) {
                            (true, true) => ReadResponseOnly,
                            (true, false) => ReadResponseFirst,
                            _ => plain(n),
                        };
                        let frame = answer(first, opcode, n);
                        assert_eq!(judged(&mut w, &frame), Accept, "{n} after {k}");
                    }
                    complete(&mut w, &mine, first);
                }
            }
        }
    }
}

/// WIRE-RD-4: a response may begin a message in the middle of a read only if the read was sent again.
#[test]
fn no_restart_without_a_retry() {
    for (k, opcode) in [
        (1, ReadResponseFirst),
        (2, ReadResponseFirst),
        (3, ReadResponseOnly),
    ] {
        let (mut w, _) = world(0x100);
        for n in 1..=k {
            assert_eq!(judged(&mut w, &answer(0x100, plain(n), n)), Accept);
        }
        assert_eq!(judged(&mut w, &answer(0x100, opcode, k + 1)), Fatal);
        sent(&mut w);
        let entries = w.a.poll(SEND_CQ);
        assert_eq!(entries[1].status, Status::BadResponse);
    }
    // Sent again, but the wrong end: a message must end with the read, and nowhere else.
    for (k, opcode) in [
        (1, ReadResponseOnly),
        (2, ReadResponseLast),
        (3, ReadResponseMiddle),
    ] {
        let (mut w, _) = world(0x100);
        for n in 1..=k {
            assert_eq!(judged(&mut w, &answer(0x100, plain(n), n)), Accept);
        }
        expire(&mut w);
        sent(&mut w);
        assert_eq!(judged(&mut w, &answer(0x100, opcode, k + 1)), Fatal);
    }
    // The first response begins a message however often it was asked for.
    let (mut w, _) = world(0x100);
    expire(&mut w);
    sent(&mut w);
    assert_eq!(judged(&mut w, &answer(0x100, ReadResponseMiddle, 1)), Fatal);
}

/// A retry never goes back behind an earlier one, and late responses to the first asking serve as well
/// (WIRE-RD-3).
#[test]
fn retries_move_forward() {
    let (mut w, mine) = world(0x100);
    assert_eq!(judged(&mut w, &answer(0x100, ReadResponseFirst, 1)), Accept);
    expire(&mut w);
    assert_eq!(psns(&sent(&mut w)), [0x102, 0x105]);
    // What was asked for first arrives late, and the request leaves for what is missing then.
    assert_eq!(
        judged(&mut w, &answer(0x100, ReadResponseMiddle, 2)),
        Accept
    );
    expire(&mut w);
    assert_eq!(
        judged(&mut w, &answer(0x100, ReadResponseMiddle, 3)),
        Accept
    );
    let again = sent(&mut w);
    assert_eq!(psns(&again), [0x104, 0x105]);
    assert_eq!(again[0].reth, Some((REMOTE + 768, 232)));
    // Responses to the second asking: too old, each of them.
    for n in 1..=3 {
        assert_eq!(judged(&mut w, &answer(0x100, ReadResponseFirst, n)), Stale);
    }
    assert_eq!(judged(&mut w, &answer(0x100, ReadResponseOnly, 4)), Accept);
    complete(&mut w, &mine, 0x100);
}

/// A read that completes while it waits to be sent again is not sent again.
#[test]
fn completed_by_late_responses() {
    let (mut w, mine) = world(0xFF_FFFD);
    expire(&mut w);
    for n in 1..=4 {
        assert_eq!(judged(&mut w, &answer(0xFF_FFFD, plain(n), n)), Accept);
    }
    assert_eq!(numbers(0xFF_FFFD, &sent(&mut w)), [5]);
    complete(&mut w, &mine, 0xFF_FFFD);
}

/// A retry checks the sink from the first byte that it asks for.
#[test]
fn sink_of_a_retry() {
    for gone in 0..2 {
        let mut w = World::connected(Scheduler::Fair, options());
        let sinks = [w.a.region(256, Access::ALL), w.a.region(256, Access::ALL)];
        let request = Request::read(
            vec![sinks[0].sge(0, 256), sinks[1].sge(0, 256)],
            (REMOTE, 5),
        );
        w.a.post(QA, &request);
        assert_eq!(psns(&sent(&mut w)), [0x100]);
        let part = response(ReadResponseFirst, 0x100, ACK, &[1; 256]);
        assert_eq!(judged(&mut w, &part), Accept);
        w.a.invalidate(sinks[gone].token);
        expire(&mut w);
        let again = sent(&mut w);
        if gone == 0 {
            assert_eq!(again[0].reth, Some((REMOTE + 256, 256)));
            let part = response(ReadResponseOnly, 0x101, ACK, &[2; 256]);
            assert_eq!(judged(&mut w, &part), Accept);
            sent(&mut w);
            assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
        } else {
            assert_eq!(again, []);
            let entries = w.a.poll(SEND_CQ);
            assert_eq!(statuses(&entries), [(0, Status::LocalProtection)]);
            assert_eq!(entries[0].error_code, Fault::TokenIndex as u32);
        }
    }
}

/// Several open reads: a loss of the first asks for all again, one of the second for the second only.
#[test]
fn several_open_reads() {
    for first in FIRST {
        let options = QpOptions {
            psn: first,
            ..options()
        };
        let (mut w, mine, frames) = posted(options, |w, mine| {
            for i in 0..3 {
                let sink = vec![mine.sge(10_000 + 300 * i, 300)];
                w.a.post(QA, &Request::read(sink, (REMOTE + 0x1000 * i, 5)));
            }
        });
        assert_eq!(numbers(first, &frames), [0, 2, 4]);
        let answer = |opcode, n: u32| {
            let psn = first.wrapping_add(n) & 0xFF_FFFF;
            let length = if n.is_multiple_of(2) { 256 } else { 44 };
            response(opcode, psn, ACK, &pattern(length, n))
        };
        assert_eq!(judged(&mut w, &answer(ReadResponseFirst, 2)), GoBack);
        assert_eq!(numbers(first, &sent(&mut w)), [0, 2, 4]);
        assert_eq!(judged(&mut w, &answer(ReadResponseFirst, 0)), Accept);
        assert_eq!(judged(&mut w, &answer(ReadResponseLast, 1)), Accept);
        assert_eq!(judged(&mut w, &answer(ReadResponseLast, 3)), GoBack);
        let again = sent(&mut w);
        assert_eq!(numbers(first, &again), [2, 4]);
        assert_eq!(again[0].reth, Some((REMOTE + 0x1000, 300)));
        for (opcode, n) in [
            (ReadResponseFirst, 2),
            (ReadResponseLast, 3),
            (ReadResponseFirst, 4),
            (ReadResponseLast, 5),
        ] {
            assert_eq!(judged(&mut w, &answer(opcode, n)), Accept);
        }
        sent(&mut w);
        assert_eq!(w.a.poll(SEND_CQ).len(), 3);
        for i in 0..3 {
            let at = 10_000 + 300 * u64::from(i);
            assert_eq!(w.a.bytes(&mine, at, 256), pattern(256, 2 * i));
            assert_eq!(w.a.bytes(&mine, at + 256, 44), pattern(44, 2 * i + 1));
        }
    }
}

/// A read of 0 bytes is asked for again as it was (WIRE-RD-6); the sink's token is invalidated with the
/// last response only (WIRE-INV-10).
#[test]
fn zero_bytes_and_local_invalidation() {
    let mut w = World::connected(Scheduler::Fair, options());
    let sink = w.a.region(300, Access::FAST);
    w.a.post(QA, &Request::read(vec![], (REMOTE, 5)));
    w.a.post(
        QA,
        &Request {
            local_invalidate: true,
            ..Request::read(vec![sink.sge(0, 300)], (REMOTE, 5))
        },
    );
    let original = sent(&mut w);
    assert_eq!(psns(&original), [0x100, 0x101]);
    expire(&mut w);
    assert_eq!(sent(&mut w), original);
    let only = response(ReadResponseOnly, 0x100, ACK, &[]);
    assert_eq!(judged(&mut w, &only), Accept);
    let part = response(ReadResponseFirst, 0x101, ACK, &[3; 256]);
    assert_eq!(judged(&mut w, &part), Accept);
    expire(&mut w);
    assert_eq!(psns(&sent(&mut w)), [0x102]);
    let part = response(ReadResponseOnly, 0x102, ACK, &[4; 44]);
    assert_eq!(judged(&mut w, &part), Accept);
    w.a.post(QA, &Request::send(vec![sink.sge(0, 1)]));
    sent(&mut w);
    let expected = [
        (0, Status::Success),
        (1, Status::Success),
        (2, Status::LocalProtection),
    ];
    assert_eq!(statuses(&w.a.poll(SEND_CQ)), expected);
}

/// WIRE-NAK-11, A14: an access error after two of four responses is one error, at once.
#[test]
fn refused_in_the_middle() {
    let (mut w, _) = world(0x100);
    for n in 1..=2 {
        assert_eq!(judged(&mut w, &answer(0x100, plain(n), n)), Accept);
    }
    assert_eq!(judged(&mut w, &acknowledge(0x62, 3)), Fatal);
    assert_eq!(sent(&mut w), []);
    let entries = w.a.poll(SEND_CQ);
    let expected = [
        (0, Status::Success),
        (1, Status::RemoteAccess),
        (2, Status::Flushed),
    ];
    assert_eq!(statuses(&entries), expected);
    assert_eq!(entries[1].error_code, 0x62);
    assert_eq!(w.a.state(QA), QpState::Err as u32);
    assert_eq!(w.a.target.engine().timer_action(QA), None);
}
