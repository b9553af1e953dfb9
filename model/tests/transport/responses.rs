//! Every row of the table of responses, in the middle of the PSNs and where they wrap.

use super::*;
use tandem_model::abi::Status;
use tandem_model::wire::Opcode;

/// Node a has sent a write of 600 bytes (packets 0 to 2), with `reads` also a read of 600 (3 to 5) and a
/// read of 0 (6), and a send of 1 byte.
fn world(first: u32, reads: bool) -> (World, Region) {
    let options = QpOptions {
        psn: first,
        ..options()
    };
    let (w, mine, frames) = posted(options, |w, mine| {
        w.a.post(QA, &Request::write(vec![mine.sge(0, 600)], (0, 0)));
        if reads {
            w.a.post(QA, &Request::read(vec![mine.sge(10_000, 600)], (0x1000, 5)));
            w.a.post(QA, &Request::read(vec![], (0, 0)));
        }
        w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
    });
    let expected = if reads {
        vec![0, 1, 2, 3, 6, 7]
    } else {
        vec![0, 1, 2, 3]
    };
    assert_eq!(numbers(first, &frames), expected);
    (w, mine)
}

struct Row {
    frame: (Opcode, u32, u8, usize),
    verdict: Verdict,
    /// The oldest packet not acknowledged after it.
    una: u32,
    /// What is sent then.
    sent: &'static [u32],
}

const fn row(
    frame: (Opcode, u32, u8, usize),
    verdict: Verdict,
    una: u32,
    sent: &'static [u32],
) -> Row {
    Row {
        frame,
        verdict,
        una,
        sent,
    }
}

const fn ack(psn: u32) -> (Opcode, u32, u8, usize) {
    (Opcode::Acknowledge, psn, ACK, 0)
}

const fn nak(syndrome: u8, psn: u32) -> (Opcode, u32, u8, usize) {
    (Opcode::Acknowledge, psn, syndrome, 0)
}

const fn read(opcode: Opcode, psn: u32, length: usize) -> (Opcode, u32, u8, usize) {
    (opcode, psn, ACK, length)
}

use Opcode::{ReadResponseFirst, ReadResponseLast, ReadResponseMiddle, ReadResponseOnly};
use Verdict::{Accept, Fatal, GoBack, RnrWait, Stale};

/// Without an open read: WIRE-ACK-8 to -11, WIRE-NAK-12, -14 to -16, WIRE-RD-8, WIRE-RNR-6.
const PLAIN: &[Row] = &[
    row(ack(0), Accept, 1, &[]),
    row(ack(2), Accept, 3, &[]),
    row(ack(4), Stale, 0, &[]),
    row(ack(0xFF_FFFF), Stale, 0, &[]),
    row(nak(0x60, 0), GoBack, 0, &[0, 1, 2, 3]),
    row(nak(0x60, 2), GoBack, 2, &[2, 3]),
    row(nak(0x60, 3), GoBack, 3, &[3]),
    row(nak(0x60, 4), Stale, 0, &[]),
    row(nak(0x20, 0), RnrWait, 0, &[]),
    row(nak(0x3F, 3), RnrWait, 3, &[]),
    row(nak(0x61, 1), Fatal, 1, &[]),
    row(nak(0x62, 3), Fatal, 3, &[]),
    row(nak(0x63, 0), Fatal, 0, &[]),
    row(nak(0x7F, 0), Fatal, 0, &[]),
    row(nak(0x40, 0), Fatal, 0, &[]),
    row(nak(0xFF, 3), Fatal, 3, &[]),
    row(read(ReadResponseOnly, 3, 1), Fatal, 3, &[]),
];

/// With open reads, the oldest of which expects packet 3: WIRE-ACK-12, -13, WIRE-RD-2, -3.
const READS: &[Row] = &[
    row(ack(1), Accept, 2, &[]),
    row(ack(2), Accept, 3, &[]),
    row(ack(3), GoBack, 3, &[3, 6, 7]),
    row(ack(5), GoBack, 3, &[3, 6, 7]),
    row(ack(7), GoBack, 3, &[3, 6, 7]),
    row(ack(8), Stale, 0, &[]),
    row(read(ReadResponseFirst, 3, 256), Accept, 4, &[]),
    row(read(ReadResponseFirst, 2, 256), Stale, 0, &[]),
    row(read(ReadResponseMiddle, 4, 256), GoBack, 3, &[3, 6, 7]),
    row(read(ReadResponseLast, 5, 88), GoBack, 3, &[3, 6, 7]),
    row(read(ReadResponseOnly, 6, 0), GoBack, 3, &[3, 6, 7]),
    row(read(ReadResponseMiddle, 3, 256), Fatal, 3, &[]),
    row(read(ReadResponseOnly, 3, 256), Fatal, 3, &[]),
    row(read(ReadResponseLast, 3, 88), Fatal, 3, &[]),
    row(read(ReadResponseFirst, 3, 255), Fatal, 3, &[]),
    row((ReadResponseFirst, 3, 0x62, 256), Fatal, 3, &[]),
    row(nak(0x60, 1), GoBack, 1, &[1, 2, 3, 6, 7]),
    row(nak(0x60, 3), GoBack, 3, &[3, 6, 7]),
    row(nak(0x60, 4), GoBack, 3, &[3, 6, 7]),
    row(nak(0x62, 2), Fatal, 2, &[]),
    row(nak(0x62, 3), Fatal, 3, &[]),
    row(nak(0x62, 4), GoBack, 3, &[3, 6, 7]),
    row(nak(0x40, 6), GoBack, 3, &[3, 6, 7]),
    row(nak(0x21, 2), RnrWait, 2, &[]),
    row(nak(0x21, 3), RnrWait, 3, &[]),
    row(nak(0x21, 7), GoBack, 3, &[3, 6, 7]),
];

fn frame(first: u32, (opcode, psn, syndrome, length): (Opcode, u32, u8, usize)) -> Vec<u8> {
    let psn = first.wrapping_add(psn) & 0xFF_FFFF;
    response(opcode, psn, syndrome, &vec![9; length])
}

#[test]
fn table() {
    for first in FIRST {
        for (reads, rows) in [(false, PLAIN), (true, READS)] {
            for row in rows {
                let (mut w, _) = world(first, reads);
                let verdict = judged(&mut w, &frame(first, row.frame));
                assert_eq!(verdict, row.verdict, "{:?}", row.frame);
                if verdict != Fatal {
                    assert_eq!(oldest(&w, first), row.una, "{:?}", row.frame);
                }
                let frames = sent(&mut w);
                assert_eq!(numbers(first, &frames), row.sent, "{:?}", row.frame);
                let completed = w.a.poll(SEND_CQ);
                let succeeded = completed
                    .iter()
                    .filter(|entry| entry.status == Status::Success)
                    .count();
                // The write is done at 3; the other requests never are here.
                let done = usize::from(row.una >= 3);
                assert_eq!(succeeded, done, "{:?}", row.frame);
                assert_eq!(w.a.read(reg::GO_BACKS), u32::from(verdict == GoBack));
                assert_eq!(w.a.read(reg::RNR_WAITS), u32::from(verdict == RnrWait));
                let failed = completed.len() > succeeded;
                assert_eq!(failed, verdict == Fatal, "{:?}", row.frame);
            }
        }
    }
}

/// After a loss the same rows mean less: what only repeats it is dropped, what moves on counts
/// (WIRE-NAK-13, WIRE-TMO-6, -8).
#[test]
fn table_while_recovering() {
    let rows = [
        row(nak(0x60, 1), Stale, 1, &[]),
        row(ack(3), GoBack, 3, &[3, 6, 7]),
        row(ack(1), Accept, 2, &[]),
        row(nak(0x60, 2), GoBack, 2, &[2, 3, 6, 7]),
        row(nak(0x22, 1), RnrWait, 1, &[]),
        row(nak(0x61, 1), Fatal, 1, &[]),
        row(read(ReadResponseFirst, 3, 256), Accept, 4, &[]),
        row(read(ReadResponseMiddle, 4, 256), GoBack, 3, &[3, 6, 7]),
    ];
    for first in FIRST {
        for row in &rows {
            let (mut w, _) = world(first, true);
            assert_eq!(judged(&mut w, &frame(first, nak(0x60, 1))), GoBack);
            assert_eq!(numbers(first, &sent(&mut w)), [1, 2, 3, 6, 7]);
            let verdict = judged(&mut w, &frame(first, row.frame));
            assert_eq!(verdict, row.verdict, "{:?}", row.frame);
            if verdict != Fatal {
                assert_eq!(oldest(&w, first), row.una, "{:?}", row.frame);
            }
            assert_eq!(numbers(first, &sent(&mut w)), row.sent, "{:?}", row.frame);
        }
    }
}

/// During a wait for RNR: losses and RNR NAKs without progress are dropped, nothing is sent, progress
/// counts and does not end the wait (WIRE-RNR-6, -9).
#[test]
fn table_while_waiting() {
    let rows = [
        (nak(0x60, 1), Stale, 1),
        (nak(0x25, 1), Stale, 1),
        (ack(1), Accept, 2),
        (nak(0x60, 2), GoBack, 2),
        (nak(0x25, 2), RnrWait, 2),
        (ack(6), GoBack, 3),
        (read(ReadResponseFirst, 3, 256), Accept, 4),
        (nak(0x62, 1), Fatal, 1),
    ];
    for first in FIRST {
        for (what, verdict, una) in rows {
            let (mut w, _) = world(first, true);
            assert_eq!(judged(&mut w, &frame(first, nak(0x2F, 1))), RnrWait);
            assert_eq!(judged(&mut w, &frame(first, what)), verdict, "{what:?}");
            assert_eq!(sent(&mut w), []);
            if verdict != Fatal {
                let psn = first.wrapping_add(una) & 0xFF_FFFF;
                assert_eq!(expire(&mut w), resume(psn));
                let all = [0, 1, 2, una.max(3), 6, 7];
                let rest: Vec<u32> = all.into_iter().filter(|n| *n >= una).collect();
                assert_eq!(numbers(first, &sent(&mut w)), rest, "{what:?}");
            }
        }
    }
}
