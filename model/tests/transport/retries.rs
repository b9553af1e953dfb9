//! Retry counts: how often what is tried again, and how it ends.

use super::*;
use tandem_model::abi::{DropCause, QpState, Status};

use Verdict::{Accept, Drop, Fatal, GoBack};

/// Node a has sent four sends, packets 0 to 3, with a retry count.
fn world(retry_cnt: u8) -> World {
    let options = QpOptions {
        retry_cnt,
        ..options()
    };
    let (w, ..) = posted(options, |w, mine| {
        for _ in 0..4 {
            w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
        }
    });
    w
}

/// All requests have ended: `done` successes, then this status, then flushes.
fn ended(w: &mut World, done: usize, status: Status, error_code: u32) {
    assert_eq!(sent(w), []);
    let entries = w.a.poll(SEND_CQ);
    let got: Vec<Status> = entries.iter().map(|entry| entry.status).collect();
    let mut expected = vec![Status::Success; done];
    expected.push(status);
    expected.resize(4, Status::Flushed);
    assert_eq!(got, expected);
    assert_eq!(entries[done].error_code, error_code);
    assert_eq!(w.a.state(QA), QpState::Err as u32);
    assert_eq!(w.a.events(), [qp_error(status, QA)]);
    // Nothing that still arrives has a meaning (WIRE-QP-4).
    let late = judged(w, &acknowledge(ACK, 3));
    assert_eq!(late, Drop(DropCause::QpState));
    assert_eq!(w.a.target.engine().timer_action(QA), None);
}

/// WIRE-TMO-4, -5: retry_cnt timeouts send again, the next one fails; 7 is a number like the others.
#[test]
fn timeouts() {
    for retry_cnt in [0, 1, 3, 6, 7] {
        for done in 0..3 {
            let mut w = world(retry_cnt);
            if done > 0 {
                assert_eq!(judged(&mut w, &acknowledge(ACK, done - 1)), Accept);
            }
            for _ in 0..retry_cnt {
                assert_eq!(expire(&mut w), timeout(PSN + done, false));
                assert_eq!(psns(&sent(&mut w))[0], PSN + done);
            }
            assert_eq!(expire(&mut w), timeout(PSN + done, true));
            ended(&mut w, done as usize, Status::RetryExceeded, 0);
            assert_eq!(w.a.read(reg::TIMEOUTS), u32::from(retry_cnt) + 1);
        }
    }
}

/// WIRE-TMO-7: timeouts, NAKs of a sequence error and implied ones count alike.
#[test]
fn losses_share_a_count() {
    for retry_cnt in [1, 2, 7] {
        let mut w = world(retry_cnt);
        for used in 0..retry_cnt {
            // A NAK that counts must not follow one without a timeout or progress between.
            if used % 2 == 0 {
                assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 0)), GoBack);
            } else {
                assert_eq!(expire(&mut w), timeout(PSN, false));
            }
            assert_eq!(psns(&sent(&mut w))[0], PSN);
        }
        if retry_cnt % 2 == 0 {
            assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 0)), Fatal);
            ended(&mut w, 0, Status::RetryExceeded, 0x60);
        } else {
            assert_eq!(expire(&mut w), timeout(PSN, true));
            ended(&mut w, 0, Status::RetryExceeded, 0);
        }
    }
}

/// retry_cnt 0: the first loss fails, at its PSN, even if it comes with progress.
#[test]
fn no_retries() {
    for lost in 0..4 {
        let mut w = world(0);
        assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, lost)), Fatal);
        ended(&mut w, lost as usize, Status::RetryExceeded, 0x60);
    }
}

/// WIRE-TMO-6: progress gives all retries back.
#[test]
fn progress_reloads() {
    let mut w = world(2);
    for done in 0..3 {
        for _ in 0..2 {
            assert_eq!(expire(&mut w), timeout(PSN + done, false));
            sent(&mut w);
        }
        assert_eq!(judged(&mut w, &acknowledge(ACK, done)), Accept);
    }
    // Also if the progress is what a NAK tells.
    let mut w = world(1);
    for lost in 1..4 {
        assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, lost)), GoBack);
        assert_eq!(psns(&sent(&mut w))[0], PSN + lost);
    }
    assert_eq!(expire(&mut w), timeout(PSN + 3, true));
    ended(&mut w, 3, Status::RetryExceeded, 0);
}

/// The same for the waits for RNR; and a wait ends `recovering`, so that a loss after it counts.
#[test]
fn progress_reloads_waits() {
    let options = QpOptions {
        rnr_retry: 2,
        ..options()
    };
    let (mut w, ..) = posted(options, |w, mine| {
        for _ in 0..4 {
            w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
        }
    });
    for done in 0..3 {
        for _ in 0..2 {
            assert_eq!(judged(&mut w, &acknowledge(0x21, done)), Verdict::RnrWait);
            expire(&mut w);
            sent(&mut w);
        }
        assert_eq!(judged(&mut w, &acknowledge(ACK, done)), Accept);
    }
    assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 3)), GoBack);
    assert_eq!(judged(&mut w, &acknowledge(0x21, 3)), Verdict::RnrWait);
    expire(&mut w);
    sent(&mut w);
    assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 3)), GoBack);
    assert_eq!(w.a.read(reg::GO_BACKS), 2);
}

/// A loss that a NAK behind it tells of fails without that NAK's syndrome.
#[test]
fn error_code_of_an_implied_loss() {
    let options = QpOptions {
        retry_cnt: 0,
        ..options()
    };
    for syndrome in [ACK, 0x60, 0x62, 0x25] {
        let (mut w, ..) = posted(options, |w, mine| {
            w.a.post(QA, &Request::send(vec![]));
            w.a.post(QA, &Request::read(vec![mine.sge(0, 300)], (0, 0)));
            w.a.post(QA, &Request::send(vec![]));
            w.a.post(QA, &Request::send(vec![]));
        });
        assert_eq!(judged(&mut w, &acknowledge(syndrome, 3)), Fatal);
        ended(&mut w, 1, Status::RetryExceeded, 0);
    }
}

/// RNR has a count of its own: neither uses up the other (WIRE-TMO-7).
#[test]
fn rnr_counts_apart() {
    let options = QpOptions {
        retry_cnt: 2,
        rnr_retry: 2,
        ..options()
    };
    let (mut w, ..) = posted(options, |w, mine| {
        w.a.post(QA, &Request::send(vec![mine.sge(0, 1)]));
    });
    for _ in 0..2 {
        assert_eq!(expire(&mut w), timeout(PSN, false));
        sent(&mut w);
        assert_eq!(judged(&mut w, &acknowledge(0x21, 0)), Verdict::RnrWait);
        assert_eq!(expire(&mut w), resume(PSN));
        sent(&mut w);
    }
    assert_eq!(judged(&mut w, &acknowledge(0x21, 0)), Fatal);
    sent(&mut w);
    let entries = w.a.poll(SEND_CQ);
    assert_eq!(statuses(&entries), [(0, Status::RnrRetryExceeded)]);
    assert_eq!(entries[0].error_code, 0x21);
}

/// WIRE-QP-6: a new life begins with all counts at 0.
#[test]
fn init_clears_the_counts() {
    let mut w = world(1);
    assert_eq!(expire(&mut w), timeout(PSN, false));
    sent(&mut w);
    w.a.set_state(QA, &w.b, QB, QpState::Err);
    w.a.set_state(QA, &w.b, QB, QpState::Reset);
    assert_eq!(w.a.target.engine().timer(QA), None);
    w.a.qps.get_mut(&QA).unwrap().sq_producer = 0;
    for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
        w.a.set_state(QA, &w.b, QB, state);
    }
    sent(&mut w);
    w.a.poll(SEND_CQ);
    w.a.post(QA, &Request::send(vec![]));
    assert_eq!(psns(&sent(&mut w)), [PSN]);
    assert_eq!(expire(&mut w), timeout(PSN, false));
    assert_eq!(psns(&sent(&mut w)), [PSN]);
    assert_eq!(expire(&mut w), timeout(PSN, true));
}
