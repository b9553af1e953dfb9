//! Receivers that are not ready.

use super::*;
use tandem_model::abi::{RxResult, Status};
use tandem_model::engine::Timer;
use tandem_model::hal::Target;
use tandem_model::wire::{Ext, Opcode, Syndrome};

use Verdict::{Accept, Fatal, RnrWait, Stale};

/// WIRE-RNR-7, -8, B1: rnr_retry waits, then the failure; 7 never ends.
#[test]
fn retry_counts() {
    for rnr_retry in [0, 1, 6, 7] {
        let options = QpOptions {
            rnr_retry,
            ..options()
        };
        let (mut w, ..) = posted(options, |w, mine| {
            w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
        });
        let waits = if rnr_retry == 7 {
            300
        } else {
            rnr_retry.into()
        };
        for _ in 0..waits {
            assert_eq!(judged(&mut w, &acknowledge(0x21, 0)), RnrWait);
            assert_eq!(sent(&mut w), []);
            assert_eq!(expire(&mut w), resume(PSN));
            assert_eq!(psns(&sent(&mut w)), [PSN]);
        }
        assert_eq!(w.a.read(reg::RNR_WAITS), waits);
        if rnr_retry == 7 {
            assert_eq!(judged(&mut w, &acknowledge(ACK, 0)), Accept);
            sent(&mut w);
            assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
            continue;
        }
        assert_eq!(judged(&mut w, &acknowledge(0x35, 0)), Fatal);
        sent(&mut w);
        let entries = w.a.poll(SEND_CQ);
        assert_eq!(statuses(&entries), [(0, Status::RnrRetryExceeded)]);
        assert_eq!(entries[0].error_code, 0x35);
        assert_eq!(w.a.events(), [qp_error(Status::RnrRetryExceeded, QA)]);
    }
}

/// WIRE-RNR-5, WIRE-EXT-6: how long a wait lasts at least, for every code; 0 is the longest.
#[test]
fn times() {
    const HUNDREDTHS: [u64; 32] = [
        65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
        1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768, 49_152,
    ];
    let (mut w, ..) = posted(options(), |w, mine| {
        w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
    });
    for (code, hundredths) in (0..).zip(HUNDREDTHS) {
        assert_eq!(judged(&mut w, &acknowledge(0x20 | code, 0)), RnrWait);
        let clocks = 625 * hundredths;
        let timer = Some(Timer::Rnr { clocks });
        assert_eq!(w.a.target.engine().timer(QA), timer, "code {code}");
        expire(&mut w);
        sent(&mut w);
    }
}

/// WIRE-RNR-6, -11, A20: nothing from the refused packet on is sent during the wait, also nothing new;
/// then the whole message is sent again. Nothing completes by the NAK but what precedes it.
#[test]
fn a_wait() {
    for first in FIRST {
        let options = QpOptions {
            psn: first,
            ..options()
        };
        let (mut w, mine, original) = posted(options, |w, mine| {
            w.a.post(QA, &Request::send(vec![mine.sge(0, 300)]));
            w.a.post(QA, &Request::send(vec![mine.sge(0, 600)]));
            w.a.post(QA, &Request::write(vec![mine.sge(0, 1)], (0, 0)));
        });
        assert_eq!(numbers(first, &original), [0, 1, 2, 3, 4, 5]);
        let not_ready = acknowledge_from(first, 0x2C, 2);
        assert_eq!(judged(&mut w, &not_ready), RnrWait);
        w.a.post(QA, &Request::write(vec![mine.sge(0, 1)], (0, 0)));
        assert_eq!(sent(&mut w), []);
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
        // A NAK of the packets behind, as some peers send it, changes nothing (WIRE-RNR-9).
        let sequence = acknowledge_from(first, NAK_SEQUENCE, 2);
        assert_eq!(judged(&mut w, &sequence), Stale);
        assert_eq!(w.a.target.engine().timer_change(), None);
        assert_eq!(judged(&mut w, &not_ready), Stale);
        assert_eq!(sent(&mut w), []);
        expire(&mut w);
        let again = sent(&mut w);
        assert_eq!(again[..4], original[2..]);
        assert_eq!(numbers(first, &again), [2, 3, 4, 5, 6]);
        // Neither used a retry, and a loss counts again.
        assert_eq!(judged(&mut w, &sequence), Verdict::GoBack);
        assert_eq!(w.a.read(reg::GO_BACKS), 1);
    }
}

/// WIRE-RNR-10, B3: a wait that is ten times as long as the acknowledgement timer ends by itself only.
#[test]
fn no_timeout_during_a_wait() {
    for scheduler in SCHEDULERS {
        let options = QpOptions {
            timeout: 1,
            ..options()
        };
        let mut w = World::connected(scheduler, options);
        // T is 20 clocks, the wait 200.
        w.a.write(reg::TIME_UNIT, 10);
        w.a.write(reg::RNR_UNIT, 200);
        w.a.post(QA, &Request::send(vec![]));
        w.a.target.advance(4).unwrap();
        assert_eq!(w.a.target.take_frames().unwrap().len(), 1);
        assert_eq!(judged(&mut w, &acknowledge(0x21, 0)), RnrWait);
        let start = w.a.target.now();
        let mut frames = 0;
        while frames == 0 {
            w.a.target.advance(1).unwrap();
            frames = w.a.target.take_frames().unwrap().len();
        }
        let waited = w.a.target.now() - start;
        assert!((200..=4 * 200 + 2).contains(&waited), "{waited}");
        assert_eq!(w.a.read(reg::TIMEOUTS), 0);
    }
}

/// WIRE-RNR-1, -3, -4, B4: whether the resend comes a little too early or late, the responder answers it by what it
/// has then; in between it is silent.
#[test]
fn early_and_late_resend() {
    let mut w = World::connected(Scheduler::Fair, options());
    let theirs = w.b.region(1000, Access::ALL);
    let send = |psn| frame(Opcode::SendOnly, psn, Ext::None, b"abc");
    let rnr = vec![(
        Opcode::Acknowledge,
        PSN,
        Some(Syndrome::Rnr { timer: 12 }),
        0,
    )];
    for _ in 0..100 {
        assert_eq!(
            give(&mut w, &send(PSN)),
            (request(PSN, RxResult::Rnr), rnr.clone())
        );
        assert_eq!(give(&mut w, &send(PSN + 1)).1, []);
    }
    assert_eq!(w.b.read(reg::NAKS_OUT), 100);
    // B6: nothing is held by all these refusals.
    w.b.receive(QB, &[theirs.sge(0, 100)]);
    assert_eq!(
        give(&mut w, &send(PSN)),
        (request(PSN, RxResult::Accept), ack(PSN, 1))
    );
    w.b.invalidate(theirs.token);
    assert_eq!(w.b.poll(RECV_CQ).len(), 1);
}

/// B5: a receiver that is slower than the sender, with the shortest timer code: the waits bound the NAKs.
#[test]
fn slow_receiver() {
    const MESSAGES: u32 = 1000;
    let options = QpOptions {
        min_rnr_timer: 1,
        ..options()
    };
    let mut w = World::connected(Scheduler::Fair, options);
    w.record = false;
    let mine = w.a.region(100, Access::ALL);
    let (mut posted, mut done, mut received) = (0, 0, 0);
    let mut next_receive = 0;
    while done < MESSAGES || received < MESSAGES {
        while posted < MESSAGES && posted - done < 32 {
            w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
            posted += 1;
        }
        // One receive every 100 clocks.
        if w.b.target.now() >= next_receive && received < MESSAGES {
            w.b.receive(QB, &[]);
            next_receive = w.b.target.now() + 100;
        }
        w.b.target.advance(10).unwrap();
        w.a.target.advance(10).unwrap();
        for frame in w.a.target.take_frames().unwrap() {
            w.b.target.send_frame(&frame).unwrap();
        }
        for frame in w.b.target.take_frames().unwrap() {
            w.a.target.send_frame(&frame).unwrap();
        }
        done += w.a.poll(SEND_CQ).len() as u32;
        received += w.b.poll(RECV_CQ).len() as u32;
    }
    // A wait is 625 clocks, in which six receives are posted.
    let naks = w.b.read(reg::NAKS_OUT);
    let clocks = w.a.target.now() as u32;
    assert!(naks > 0 && naks <= clocks / 625 + 1, "{naks} in {clocks}");
    assert!(naks < MESSAGES / 3, "{naks}");
}
