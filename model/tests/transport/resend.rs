//! What is sent again is read again: entries, memory, tokens. Failures by a check here, and go-backs.

use super::*;
use tandem_model::abi::{CommitKind, Fault, QpState, Status};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::wire::Opcode::{ReadResponseFirst, ReadResponseLast};

use Verdict::{Accept, Fatal, GoBack};

/// Memory is gathered anew; the ring's entry is read anew at the first packet after the go-back.
#[test]
fn memory_and_entries_are_read_again() {
    let (mut w, mine, _) = posted(options(), |w, mine| {
        w.a.post(QA, &Request::send(vec![mine.sge(0, 600)]));
    });
    assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 1)), GoBack);
    w.a.fill(&mine, 0, &[7; 600]);
    let frames = sent(&mut w);
    assert_eq!(psns(&frames), [0x101, 0x102]);
    assert!(
        frames
            .iter()
            .all(|frame| frame.payload.iter().all(|byte| *byte == 7))
    );
    // Another entry of the same length in the same place is what software must not write. It shows
    // that the ring was looked at.
    w.a.fill(&mine, 1000, &[8; 600]);
    w.a.qps.get_mut(&QA).unwrap().sq_producer = 0;
    w.a.place(QA, &Request::send(vec![mine.sge(1000, 600)]));
    expire(&mut w);
    let frames = sent(&mut w);
    assert_eq!(psns(&frames), [0x101, 0x102]);
    assert!(
        frames
            .iter()
            .all(|frame| frame.payload.iter().all(|byte| *byte == 8))
    );
}

/// The entry too if the go-back came in the middle of its message; but not again for each packet.
#[test]
fn the_entry_of_a_message_under_way() {
    let mut w = World::connected(Scheduler::Fair, options());
    let mine = w.a.region(4000, Access::ALL);
    w.a.fill(&mine, 1000, &[8; 1000]);
    let place = |w: &mut World, at| {
        w.a.qps.get_mut(&QA).unwrap().sq_producer = 0;
        w.a.place(QA, &Request::send(vec![mine.sge(at, 1000)]));
    };
    place(&mut w, 0);
    w.a.ring(QA);
    drive(&mut w, CommitKind::SqEmit);
    drive(&mut w, CommitKind::SqEmit);
    place(&mut w, 1000);
    assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 1)), GoBack);
    w.a.target.take_frames().unwrap();
    drive(&mut w, CommitKind::SqEmit);
    place(&mut w, 2000);
    let frames = sent(&mut w);
    assert_eq!(psns(&frames), [0x101, 0x102, 0x103]);
    assert!(
        frames
            .iter()
            .all(|frame| frame.payload.iter().all(|byte| *byte == 8))
    );
}

/// Inline data and messages of several elements come out the same (A10's kin).
#[test]
fn elements_and_inline_data() {
    let inline = pattern(200, 9);
    let (mut w, _, original) = posted(options(), |w, mine| {
        let sges = vec![
            mine.sge(3, 100),
            mine.sge(500, 0),
            mine.sge(4090, 300),
            mine.sge(9, 250),
        ];
        w.a.post(QA, &Request::write(sges, (77, 5)));
        w.a.post(
            QA,
            &Request {
                inline: Some(inline.clone()),
                ..Request::send(vec![])
            },
        );
    });
    for lost in 0..4 {
        assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, lost)), GoBack);
        assert_eq!(sent(&mut w), original[lost as usize..]);
    }
    assert_eq!(original[3].payload, inline);
}

/// Every token is checked anew: one that is gone meanwhile fails the request, which keeps its place.
#[test]
fn a_token_that_is_gone() {
    let (mut w, mine, _) = posted(options(), |w, mine| {
        w.a.post(QA, &Request::send(vec![]));
        w.a.post(QA, &Request::send(vec![mine.sge(0, 600)]));
        w.a.post(QA, &Request::send(vec![]));
    });
    assert_eq!(expire(&mut w).kind, CommitKind::Timeout);
    w.a.invalidate(mine.token);
    assert_eq!(psns(&sent(&mut w)), [0x100]);
    assert_eq!(w.a.poll(SEND_CQ), []);
    assert_eq!(judged(&mut w, &acknowledge(ACK, 0)), Accept);
    sent(&mut w);
    let completed = w.a.poll(SEND_CQ);
    let expected = [
        (0, Status::Success),
        (1, Status::LocalProtection),
        (2, Status::Flushed),
    ];
    assert_eq!(statuses(&completed), expected);
    assert_eq!(completed[1].error_code, Fault::TokenIndex as u32);
}

/// A queue that a failed request stopped, behind a request that is not acknowledged.
fn stopped() -> (World, Region) {
    let (mut w, mine, frames) = posted(options(), |w, mine| {
        w.a.post(QA, &Request::send(vec![mine.sge(0, 300)]));
        w.a.post(QA, &Request::send(vec![(0, 1, 0)]));
        w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
    });
    assert_eq!(psns(&frames), [0x100, 0x101]);
    assert_eq!(w.a.poll(SEND_CQ), []);
    (w, mine)
}

/// A go-back forgets a failure; the request is checked again when its turn comes, and no sooner.
#[test]
fn a_go_back_forgets_a_failure() {
    for by_timeout in [false, true] {
        for mended in [false, true] {
            let (mut w, mine) = stopped();
            if by_timeout {
                // A failure here does not stop the timer.
                assert_eq!(expire(&mut w), timeout(0x100, false));
            } else {
                assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 0)), GoBack);
            }
            if mended {
                w.a.qps.get_mut(&QA).unwrap().sq_producer = 1;
                w.a.place(QA, &Request::send(vec![mine.sge(0, 1)]));
                w.a.qps.get_mut(&QA).unwrap().sq_producer = 3;
            }
            let again = sent(&mut w);
            let expected: &[u32] = if mended {
                &[0x100, 0x101, 0x102, 0x103]
            } else {
                &[0x100, 0x101]
            };
            assert_eq!(psns(&again), expected);
            let last = if mended { 3 } else { 1 };
            assert_eq!(judged(&mut w, &acknowledge(ACK, last)), Accept);
            sent(&mut w);
            let expected = if mended {
                [Status::Success, Status::Success, Status::Success]
            } else {
                [Status::Success, Status::LocalProtection, Status::Flushed]
            };
            let entries = w.a.poll(SEND_CQ);
            let got: Vec<Status> = entries.iter().map(|entry| entry.status).collect();
            assert_eq!(got, expected);
        }
    }
}

/// The same for a request that fails in its middle.
#[test]
fn a_failure_in_the_middle_of_a_message() {
    let other = |w: &mut World| w.a.region(300, Access::ALL);
    let mut w = World::connected(Scheduler::Fair, options());
    let mine = w.a.region(300, Access::ALL);
    let gone = other(&mut w);
    w.a.invalidate(gone.token);
    w.a.post(QA, &Request::send(vec![mine.sge(0, 256), gone.sge(0, 256)]));
    let all = drive(&mut w, CommitKind::SqFail);
    assert_eq!(all.last().unwrap().psn, 0);
    assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 0)), GoBack);
    // It fails again at the same place; nothing else was sent.
    let all = drive(&mut w, CommitKind::SqFail);
    let emitted: Vec<u32> = all
        .iter()
        .filter(|action| action.kind == CommitKind::SqEmit)
        .map(|action| action.psn)
        .collect();
    assert_eq!(emitted, [0x100]);
    sent(&mut w);
    assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::LocalProtection)]);
}

/// Lets node a work until an action of a kind, which is the last of those returned.
fn drive(w: &mut World, kind: CommitKind) -> Vec<Action> {
    let mut all = Vec::new();
    loop {
        assert!(w.a.target.step().unwrap());
        let action = *w.a.target.last_action().unwrap();
        all.push(action);
        if action.kind == kind {
            return all;
        }
    }
}

/// A request that fails while it is sent again has failed, even if the peer had it all the first time.
#[test]
fn acknowledged_too_late() {
    let (mut w, mine, _) = posted(options(), |w, mine| {
        w.a.post(QA, &Request::send(vec![mine.sge(0, 300)]));
        w.a.post(QA, &Request::send(vec![]));
    });
    expire(&mut w);
    w.a.invalidate(mine.token);
    drive(&mut w, CommitKind::SqFail);
    assert_eq!(judged(&mut w, &acknowledge(ACK, 2)), Accept);
    sent(&mut w);
    let entries = w.a.poll(SEND_CQ);
    assert_eq!(
        (entries[0].index, entries[0].status),
        (0, Status::LocalProtection)
    );
    assert_eq!(w.a.state(QA), QpState::Err as u32);
}

/// A read that fails when it is sent again retires at once, but is told of when what had come of it is placed.
#[test]
fn a_failed_read_is_told_of_when_its_bytes_are_placed() {
    let (mut w, mine, _) = posted(options(), |w, mine| {
        w.a.post(QA, &Request::read(vec![mine.sge(0, 300)], (0, 0)));
    });
    let first = response(ReadResponseFirst, 0x100, ACK, &[3; 256]);
    assert_eq!(judged(&mut w, &first), Accept);
    expire(&mut w);
    w.a.invalidate(mine.token);
    drive(&mut w, CommitKind::Retire);
    let engine = w.a.target.engine();
    assert_eq!((engine.payload_writes(), engine.barrier()), (1, 0));
    drive(&mut w, CommitKind::Complete);
    assert_eq!(w.a.target.engine().barrier(), 1);
    assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::LocalProtection)]);
}

/// A refusal of a later request, which was sent before, counts instead: what precedes it was done.
#[test]
fn a_later_refusal_forgets_a_failure() {
    let (mut w, mine, _) = posted(options(), |w, mine| {
        w.a.post(QA, &Request::send(vec![mine.sge(0, 300)]));
        w.a.post(QA, &Request::send(vec![]));
        w.a.post(QA, &Request::send(vec![(0, 1, 0)]));
    });
    expire(&mut w);
    w.a.invalidate(mine.token);
    drive(&mut w, CommitKind::SqFail);
    assert_eq!(judged(&mut w, &acknowledge(0x62, 2)), Fatal);
    sent(&mut w);
    let expected = [
        (0, Status::Success),
        (1, Status::RemoteAccess),
        (2, Status::Flushed),
    ];
    assert_eq!(statuses(&w.a.poll(SEND_CQ)), expected);
}

/// A fence and max_ord are looked at when a request starts, not when it is sent again (WIRE-ORD-1).
#[test]
fn what_was_started_does_not_wait_again() {
    let options = QpOptions {
        max_ord: 1,
        ..options()
    };
    let (mut w, mine, frames) = posted(options, |w, mine| {
        w.a.post(QA, &Request::read(vec![mine.sge(0, 300)], (0, 0)));
        w.a.post(
            QA,
            &Request {
                fence: true,
                ..Request::send(vec![mine.sge(0, 300)])
            },
        );
    });
    assert_eq!(psns(&frames), [0x100]);
    expire(&mut w);
    assert_eq!(psns(&sent(&mut w)), [0x100]);
    let data = pattern(300, 4);
    let part = response(ReadResponseFirst, 0x100, ACK, &data[..256]);
    assert_eq!(judged(&mut w, &part), Accept);
    let part = response(ReadResponseLast, 0x101, ACK, &data[256..]);
    assert_eq!(judged(&mut w, &part), Accept);
    assert_eq!(psns(&sent(&mut w)), [0x102, 0x103]);
    expire(&mut w);
    assert_eq!(psns(&sent(&mut w)), [0x102, 0x103]);
    assert_eq!(w.a.bytes(&mine, 0, 300), data);
}
