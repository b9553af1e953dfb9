//! Going back: where sending starts again, and where it does not.

use super::*;
use tandem_model::abi::{CommitKind, Status};
use tandem_model::hal::Target;
use tandem_model::wire::Opcode;

use Verdict::{Accept, GoBack, Stale};

/// Five writes of 600 bytes: packets 0 to 14.
fn writes(first: u32) -> (World, Region, Vec<Sent>) {
    let options = QpOptions {
        psn: first,
        ..options()
    };
    posted(options, |w, mine| {
        for i in 0..5 {
            let source = vec![mine.sge(600 * i, 600)];
            w.a.post(QA, &Request::write(source, (0x5000 * i, 7)));
        }
    })
}

fn nak(first: u32, n: u32) -> Vec<u8> {
    acknowledge_from(first, NAK_SEQUENCE, n)
}

fn ack(first: u32, n: u32) -> Vec<u8> {
    acknowledge_from(first, ACK, n)
}

/// WIRE-NAK-12, WIRE-PSN-8: whatever is lost, exactly the rest is sent again, bit for bit.
#[test]
fn everything_from_the_loss_on_is_sent_again() {
    for first in FIRST {
        for lost in 0..15u32 {
            let (mut w, _, original) = writes(first);
            assert_eq!(numbers(first, &original), (0..15).collect::<Vec<_>>());
            assert_eq!(judged(&mut w, &nak(first, lost)), GoBack);
            assert_eq!(oldest(&w, first), lost);
            assert_eq!(sent(&mut w), original[lost as usize..]);
            // What precedes it is done.
            assert_eq!(w.a.poll(SEND_CQ).len() as u32, lost / 3);
            assert_eq!(judged(&mut w, &ack(first, 14)), Accept);
            sent(&mut w);
            assert_eq!(w.a.poll(SEND_CQ).len() as u32, 5 - lost / 3);
        }
    }
}

/// WIRE-TMO-3: a timeout starts again at the oldest packet not acknowledged.
#[test]
fn timeout_sends_everything_again() {
    for first in FIRST {
        for done in 0..14u32 {
            let (mut w, _, original) = writes(first);
            assert_eq!(judged(&mut w, &ack(first, done)), Accept);
            let psn = first.wrapping_add(done + 1) & 0xFF_FFFF;
            assert_eq!(expire(&mut w), timeout(psn, false));
            assert_eq!(sent(&mut w), original[done as usize + 1..]);
        }
    }
}

/// WIRE-NAK-13, WIRE-TMO-8: one loss, one go-back, until something moves or the timer ends.
#[test]
fn one_loss_one_go_back() {
    let (mut w, _, original) = writes(0x100);
    assert_eq!(judged(&mut w, &nak(0x100, 4)), GoBack);
    assert_eq!(sent(&mut w), original[4..]);
    for _ in 0..20 {
        assert_eq!(judged(&mut w, &nak(0x100, 4)), Stale);
        assert_eq!(sent(&mut w), []);
    }
    assert_eq!(w.a.read(reg::GO_BACKS), 1);
    // The resend is lost too: the timer helps, and a NAK counts again.
    assert_eq!(expire(&mut w), timeout(0x104, false));
    assert_eq!(sent(&mut w), original[4..]);
    assert_eq!(judged(&mut w, &nak(0x100, 4)), GoBack);
    assert_eq!(sent(&mut w), original[4..]);
    assert_eq!(judged(&mut w, &nak(0x100, 4)), Stale);
    // Progress: the next loss is another one.
    assert_eq!(judged(&mut w, &nak(0x100, 9)), GoBack);
    assert_eq!(sent(&mut w), original[9..]);
    assert_eq!((w.a.read(reg::GO_BACKS), w.a.read(reg::TIMEOUTS)), (3, 1));
}

/// An acknowledgement of what is about to be sent again: sending jumps over it, also into the middle
/// of a message and of another message, and goes on with the same bytes.
#[test]
fn acknowledged_meanwhile() {
    for first in FIRST {
        for again in 0..6usize {
            for done in 0..15u32 {
                let (mut w, _, original) = writes(first);
                assert_eq!(expire(&mut w).kind, CommitKind::Timeout);
                // Some packets leave again, and then the acknowledgement arrives.
                for _ in 0..again {
                    assert!(w.a.target.step().unwrap());
                }
                let frames = w.a.target.take_frames().unwrap();
                assert_eq!(frames.len(), again);
                assert_eq!(judged(&mut w, &ack(first, done)), Accept);
                let from = (done as usize + 1).max(again);
                assert_eq!(sent(&mut w), original[from..], "{again} again, {done} done");
                assert_eq!(w.a.poll(SEND_CQ).len() as u32, (done + 1) / 3);
            }
        }
    }
}

/// New requests are sent behind what is sent again, in order and with new PSNs (WIRE-PSN-3, -8).
#[test]
fn new_requests_follow() {
    let (mut w, mine, original) = writes(0xFF_FFFD);
    assert_eq!(judged(&mut w, &nak(0xFF_FFFD, 13)), GoBack);
    w.a.post(QA, &Request::send(vec![mine.sge(0, 300)]));
    let frames = sent(&mut w);
    assert_eq!(frames[..2], original[13..]);
    assert_eq!(numbers(0xFF_FFFD, &frames), [13, 14, 15, 16]);
    assert_eq!(frames[2].opcode, Opcode::SendFirst);
    assert_eq!(judged(&mut w, &ack(0xFF_FFFD, 16)), Accept);
    sent(&mut w);
    assert_eq!(w.a.poll(SEND_CQ).len(), 6);
}

/// A message that was sent in part goes on where it was, after a go-back in front of it and in it.
#[test]
fn go_back_in_the_middle_of_sending() {
    for already in 1..12usize {
        for lost in 0..already as u32 {
            let mut w = World::connected(Scheduler::Fair, options());
            let mine = w.a.region(4000, Access::ALL);
            w.a.fill(&mine, 0, &pattern(4000, 1));
            w.a.post(QA, &Request::write(vec![mine.sge(0, 3000)], (0x9000, 7)));
            let mut frames = Vec::new();
            while frames.len() < already {
                assert!(w.a.target.step().unwrap());
                frames.extend(w.a.target.take_frames().unwrap());
            }
            assert_eq!(judged(&mut w, &nak(0x100, lost)), GoBack);
            let again = sent(&mut w);
            assert_eq!(psns(&again), (0x100 + lost..0x10C).collect::<Vec<_>>());
            for (frame, bytes) in again.iter().zip(&frames[lost as usize..]) {
                assert_eq!(&frame.bytes, bytes);
            }
            let payload: Vec<u8> = again.iter().flat_map(|f| f.payload.clone()).collect();
            assert_eq!(payload, pattern(3000, 1)[256 * lost as usize..]);
            assert!(again.last().unwrap().ack_req);
            assert_eq!(judged(&mut w, &ack(0x100, 11)), Accept);
            sent(&mut w);
            assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
        }
    }
}
