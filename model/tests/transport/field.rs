//! Faults that real adapters had, as far as an engine without its buses can have them. By their ids:
//! A2 to A4, A6, A7, A11, A16, A17 here; A5, A15 in `duplicates`; A9 in `replays`; A10 in `resend`; A14 in
//! `reads`; A20, B1, B3 to B6 in `rnr`. A19 is of services that the engine does not have.

use super::*;
use tandem_model::abi::{RxResult, Status};
use tandem_model::hal::Target;
use tandem_model::wire::{Ext, Opcode, Syndrome};

use Verdict::{Accept, GoBack, Stale};

/// Lets both nodes run; of the frames of node a that node b gets, those that `loses` names by their number
/// are lost. Timers do not end.
fn settle(w: &mut World, loses: impl Fn(usize) -> bool) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    loop {
        let a = w.a.target.advance(64).unwrap();
        let b = w.b.target.advance(64).unwrap();
        let forth = w.a.target.take_frames().unwrap();
        let back = w.b.target.take_frames().unwrap();
        if !a && !b && forth.is_empty() && back.is_empty() {
            return frames;
        }
        for frame in forth {
            if !loses(frames.len()) {
                w.b.target.send_frame(&frame).unwrap();
            }
            frames.push(frame);
        }
        for frame in back {
            w.a.target.send_frame(&frame).unwrap();
        }
    }
}

/// A2: two ACKs change places, also across the wrap: what is acknowledged never moves back.
#[test]
fn a2_acks_change_places() {
    for first in FIRST {
        let options = QpOptions {
            psn: first,
            ..options()
        };
        let (mut w, ..) = posted(options, |w, _| {
            for _ in 0..6 {
                w.a.post(QA, &Request::send(vec![]));
            }
        });
        for (psn, verdict, una) in [
            (1, Accept, 2),
            (0, Stale, 2),
            (4, Accept, 5),
            (3, Stale, 5),
            (2, Stale, 5),
        ] {
            assert_eq!(judged(&mut w, &acknowledge_from(first, ACK, psn)), verdict);
            assert_eq!(oldest(&w, first), una);
        }
    }
}

/// A3: exactly the last packet of a message is lost, whose PSN is 0xFFFFFF, or near it.
#[test]
fn a3_last_packet_before_the_wrap() {
    for first in 0xFF_FFF9..=0xFF_FFFF {
        let mut w = World::connected(
            Scheduler::Fair,
            QpOptions {
                psn: first,
                ..options()
            },
        );
        let mine = w.a.region(2000, Access::ALL);
        let theirs = w.b.region(2000, Access::ALL);
        w.a.fill(&mine, 0, &pattern(2000, 3));
        let remote = (theirs.address, theirs.token);
        w.a.post(QA, &Request::write(vec![mine.sge(0, 1300)], remote));
        let frames = settle(&mut w, |n| n == 5);
        assert_eq!(frames.len(), 6);
        let last = first.wrapping_add(5) & 0xFF_FFFF;
        assert_eq!(oldest(&w, first), 0);
        assert_eq!(expire(&mut w), timeout(first, false));
        // All again, for no packet of the middle asked for an acknowledgement.
        let again = settle(&mut w, |_| false);
        assert_eq!(again, frames);
        assert_eq!(w.b.bytes(&theirs, 0, 1300), pattern(1300, 3));
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
        // The next message follows it.
        w.a.post(QA, &Request::write(vec![], remote));
        let next = &sent(&mut w)[0];
        assert_eq!(next.psn, last.wrapping_add(1) & 0xFF_FFFF);
    }
}

/// A4: an ACK in the middle of a message, then its last packet is lost: that packet alone is sent again, and
/// the request has not completed before.
#[test]
fn a4_ack_in_the_middle() {
    let (mut w, _, original) = posted(options(), |w, mine| {
        w.a.post(QA, &Request::write(vec![mine.sge(0, 700)], (0, 0)));
        w.a.post(QA, &Request::write(vec![mine.sge(0, 700)], (0, 0)));
    });
    assert_eq!(judged(&mut w, &acknowledge(ACK, 1)), Accept);
    assert_eq!(sent(&mut w), []);
    assert_eq!(w.a.poll(SEND_CQ), []);
    assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 2)), GoBack);
    assert_eq!(sent(&mut w), original[2..]);
    assert_eq!(w.a.poll(SEND_CQ), []);
    assert_eq!(judged(&mut w, &acknowledge(ACK, 2)), Accept);
    sent(&mut w);
    assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
}

/// A6: a duplicate read in the middle of a write does not disturb it; a duplicate write after a read is
/// acknowledged with the newest PSN, behind the read's responses (WIRE-DUP-10, WIRE-ACK-3).
#[test]
fn a6_duplicate_read_in_a_write() {
    let mut w = World::connected(Scheduler::Fair, options());
    let theirs = w.b.region(30_000, Access::ALL);
    let (va, token) = (theirs.address, theirs.token);
    let read = frame(Opcode::ReadRequest, PSN, reth(va, token, 12 * 1024), &[]);
    let first = reth(va + 20_000, token, 600);
    let full = [5; 256];
    let write = [
        frame(Opcode::WriteFirst, PSN + 48, first, &full),
        frame(Opcode::WriteMiddle, PSN + 49, Ext::None, &full),
        frame(Opcode::WriteLast, PSN + 50, Ext::None, &full[..88]),
    ];
    assert_eq!(give(&mut w, &read).1.len(), 48);
    assert_eq!(give(&mut w, &write[0]).1, ack(PSN + 48, 1));
    let (verdict, answers) = give(&mut w, &read);
    assert_eq!(verdict, request(PSN, RxResult::Duplicate));
    assert_eq!(answers.len(), 48);
    assert_eq!(
        answers[47],
        (Opcode::ReadResponseLast, PSN + 47, Some(Syndrome::ACK), 1)
    );
    assert_eq!(
        give(&mut w, &write[1]).0,
        request(PSN + 49, RxResult::Accept)
    );
    assert_eq!(give(&mut w, &write[2]).1, ack(PSN + 50, 2));
    assert_eq!(w.b.bytes(&theirs, 20_000, 600), [5; 600]);
    // A read, then an old write.
    let later = frame(Opcode::ReadRequest, PSN + 51, reth(va, token, 300), &[]);
    w.b.target.send_frame(&later).unwrap();
    let (verdict, answers) = give(&mut w, &write[2]);
    assert_eq!(verdict, request(PSN + 50, RxResult::Duplicate));
    let kinds: Vec<(Opcode, u32)> = answers.iter().map(|a| (a.0, a.1)).collect();
    let expected = [
        (Opcode::ReadResponseFirst, PSN + 51),
        (Opcode::ReadResponseLast, PSN + 52),
        (Opcode::Acknowledge, PSN + 52),
    ];
    assert_eq!(kinds, expected);
}

/// A7: an ACK of a write behind a read whose data has not come: the read is asked for again, of what has
/// come in the meantime only the rest.
#[test]
fn a7_ack_passes_a_read() {
    for arrived in [0u32, 1, 2] {
        let (mut w, ..) = posted(options(), |w, mine| {
            w.a.post(QA, &Request::write(vec![mine.sge(0, 4)], (0, 0)));
            w.a.post(QA, &Request::read(vec![mine.sge(9000, 700)], (0x4000, 3)));
            w.a.post(QA, &Request::write(vec![mine.sge(0, 4)], (0, 0)));
        });
        for n in 0..arrived {
            let opcode = if n == 0 {
                Opcode::ReadResponseFirst
            } else {
                Opcode::ReadResponseMiddle
            };
            let part = response(opcode, PSN + 1 + n, ACK, &[1; 256]);
            assert_eq!(judged(&mut w, &part), Accept);
        }
        assert_eq!(judged(&mut w, &acknowledge(ACK, 4)), GoBack);
        let again = sent(&mut w);
        assert_eq!(psns(&again), [PSN + 1 + arrived, PSN + 4]);
        let skipped = 256 * arrived;
        assert_eq!(
            again[0].reth,
            Some((0x4000 + u64::from(skipped), 700 - skipped))
        );
        // What precedes the read is done, and nothing more.
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
    }
}

/// A11: one packet is lost, with twenty behind it: exactly one go-back, and no timeout.
#[test]
fn a11_one_loss_with_twenty_behind() {
    for lost in 0..4 {
        let mut w = World::connected(Scheduler::Adversarial, options());
        let mine = w.a.region(2000, Access::ALL);
        let theirs = w.b.region(2000, Access::ALL);
        let remote = (theirs.address, theirs.token);
        for _ in 0..24 {
            w.a.post(QA, &Request::write(vec![mine.sge(0, 100)], remote));
        }
        let frames = settle(&mut w, |n| n == lost);
        assert_eq!(frames.len(), 24 + 24 - lost);
        assert_eq!((w.a.read(reg::GO_BACKS), w.a.read(reg::TIMEOUTS)), (1, 0));
        assert_eq!((w.b.read(reg::NAKS_OUT), w.b.read(reg::DUPLICATES)), (1, 0));
        assert_eq!(w.a.poll(SEND_CQ).len(), 24);
    }
}

/// A16: a duplicate from before the window, after every so many packets; the responder goes on for a
/// thousand more.
#[test]
fn a16_old_duplicates_forever() {
    for first in FIRST {
        let mut w = World::connected(
            Scheduler::Fair,
            QpOptions {
                psn: first,
                ..options()
            },
        );
        let write = |n: u32| {
            let psn = first.wrapping_add(n) & 0xFF_FFFF;
            frame(Opcode::WriteOnly, psn, reth(0, 0, 0), &[])
        };
        let mut naks = 0;
        for n in 0..1200u32 {
            if n % 7 == 3 {
                assert_eq!(give(&mut w, &write(n + 1)).1.len(), 1);
                naks += 1;
            }
            if n % 5 == 4 {
                let (_, answers) = give(&mut w, &write(n / 2));
                assert_eq!(answers.len(), 1);
                assert_eq!(answers[0].3, n);
            }
            let psn = first.wrapping_add(n) & 0xFF_FFFF;
            assert_eq!(give(&mut w, &write(n)).1, ack(psn, n + 1));
        }
        assert_eq!(w.b.read(reg::NAKS_OUT), naks);
    }
}

/// A17: a loss while the send queue holds one less than it can, all it can, and has wrapped.
#[test]
fn a17_full_queues() {
    for before in 0..9 {
        for depth in [3, 4] {
            for lost in 0..depth {
                let mut w = World::connected(
                    Scheduler::Fair,
                    QpOptions {
                        sq_log: 2,
                        ..options()
                    },
                );
                let mine = w.a.region(2000, Access::ALL);
                let theirs = w.b.region(2000, Access::ALL);
                for n in 0..before {
                    let remote = (theirs.address, theirs.token);
                    w.a.post(QA, &Request::write(vec![mine.sge(0, 1)], remote));
                    settle(&mut w, |_| false);
                    assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(n, Status::Success)]);
                }
                for n in 0..depth {
                    w.a.fill(&mine, 100 * n, &pattern(100, n as u32));
                    let remote = (theirs.address + 100 * n, theirs.token);
                    w.a.post(QA, &Request::write(vec![mine.sge(100 * n, 100)], remote));
                }
                settle(&mut w, |n| n as u64 == lost);
                if lost + 1 == depth {
                    // Nothing behind it tells of the loss.
                    expire(&mut w);
                    settle(&mut w, |_| false);
                }
                let done = w.a.poll(SEND_CQ);
                assert_eq!(done.len() as u64, depth, "{before} {depth} {lost}");
                assert!(done.iter().all(|entry| entry.status == Status::Success));
                for n in 0..depth {
                    assert_eq!(w.b.bytes(&theirs, 100 * n, 100), pattern(100, n as u32));
                }
            }
        }
    }
}
