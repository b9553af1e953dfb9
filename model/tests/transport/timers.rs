//! The timer of a queue pair: when it runs, when it begins anew, when it ends.

use super::*;
use tandem_model::abi::QpState;
use tandem_model::engine::{Timer, TimerChange};
use tandem_model::hal::Target;

use Verdict::{Accept, GoBack, RnrWait};

const T20: Timer = Timer::Acknowledge { clocks: 256 << 20 };

/// Node a acts once; what that did to the timer: `None` nothing, `Some(None)` it stopped.
fn step(w: &mut World) -> Option<Option<Timer>> {
    assert!(w.a.target.step().unwrap());
    change(w)
}

fn change(w: &World) -> Option<Option<Timer>> {
    let change = w.a.target.engine().timer_change();
    change.map(|TimerChange { qpn, timer }| {
        assert_eq!(qpn, QA);
        assert_eq!(timer, w.a.target.engine().timer(QA));
        timer
    })
}

/// WIRE-TMO-1: T for every code; none for 0. The units are registers.
#[test]
fn times() {
    for code in 0..32u8 {
        for unit in [1, 256, 0xFFFF] {
            let options = QpOptions {
                timeout: code,
                ..options()
            };
            let mut w = World::connected(Scheduler::Fair, options);
            w.a.write(reg::TIME_UNIT, unit);
            assert_eq!(w.a.read(reg::TIME_UNIT), unit);
            w.a.post(QA, &Request::send(vec![]));
            sent(&mut w);
            let clocks = u64::from(unit) << code;
            let expected = (code > 0).then_some(Timer::Acknowledge { clocks });
            assert_eq!(w.a.target.engine().timer(QA), expected);
        }
    }
}

/// WIRE-TMO-2: it begins with the first packet outstanding, begins anew with progress and only with that,
/// and stops when nothing is outstanding.
#[test]
fn acknowledgement_timer() {
    let mut w = World::connected(Scheduler::Fair, options());
    for _ in 0..3 {
        w.a.post(QA, &Request::send(vec![]));
    }
    while w.a.target.engine().timer(QA).is_none() {
        let begins = step(&mut w);
        let runs = w.a.target.engine().timer(QA);
        assert_eq!(begins, runs.map(Some));
    }
    // More packets change nothing.
    while w.a.target.step().unwrap() {
        assert_eq!(change(&w), None);
    }
    assert_eq!(judged(&mut w, &acknowledge(ACK, 0)), Accept);
    assert_eq!(change(&w), Some(Some(T20)));
    assert_eq!(judged(&mut w, &acknowledge(ACK, 0)), Verdict::Stale);
    assert_eq!(change(&w), None);
    // A go-back begins it anew, also without progress; a loss that is known does not.
    assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 1)), GoBack);
    assert_eq!(change(&w), Some(Some(T20)));
    assert_eq!(
        judged(&mut w, &acknowledge(NAK_SEQUENCE, 1)),
        Verdict::Stale
    );
    assert_eq!(change(&w), None);
    expire(&mut w);
    assert_eq!(change(&w), Some(Some(T20)));
    sent(&mut w);
    assert_eq!(judged(&mut w, &acknowledge(ACK, 2)), Accept);
    assert_eq!(change(&w), Some(None));
    while w.a.target.step().unwrap() {
        assert_eq!(change(&w), None);
    }
}

/// During a wait its timer runs and no other; progress and losses do not touch it, a new RNR NAK begins it
/// anew; after it the acknowledgement timer runs, if something is outstanding.
#[test]
fn timer_of_a_wait() {
    let rnr = |hundredths: u64| Timer::Rnr {
        clocks: 625 * hundredths,
    };
    let (mut w, ..) = posted(options(), |w, _| {
        for _ in 0..4 {
            w.a.post(QA, &Request::send(vec![]));
        }
    });
    assert_eq!(judged(&mut w, &acknowledge(0x21, 0)), RnrWait);
    assert_eq!(change(&w), Some(Some(rnr(1))));
    assert_eq!(judged(&mut w, &acknowledge(ACK, 0)), Accept);
    assert_eq!(change(&w), None);
    assert_eq!(judged(&mut w, &acknowledge(NAK_SEQUENCE, 2)), GoBack);
    assert_eq!(change(&w), None);
    // The same code again, with progress: a new wait.
    assert_eq!(judged(&mut w, &acknowledge(0x21, 3)), RnrWait);
    assert_eq!(change(&w), Some(Some(rnr(1))));
    expire(&mut w);
    assert_eq!(change(&w), Some(Some(T20)));
    sent(&mut w);
    assert_eq!(judged(&mut w, &acknowledge(0x24, 3)), RnrWait);
    assert_eq!(change(&w), Some(Some(rnr(4))));
    // Everything is acknowledged after all: the wait ends all the same, and nothing follows.
    assert_eq!(judged(&mut w, &acknowledge(ACK, 3)), Accept);
    assert_eq!(change(&w), None);
    assert_eq!(expire(&mut w), resume(PSN + 4));
    assert_eq!(change(&w), Some(None));
    sent(&mut w);
    assert_eq!(w.a.poll(SEND_CQ).len(), 4);
}

/// It stops with a failure and in every state but `QpRts`.
#[test]
fn stops() {
    let outstanding = || {
        let (w, ..) = posted(options(), |w, _| {
            w.a.post(QA, &Request::send(vec![]));
        });
        w
    };
    let mut w = outstanding();
    assert_eq!(judged(&mut w, &acknowledge(0x61, 0)), Verdict::Fatal);
    assert_eq!(change(&w), Some(None));
    for state in [QpState::Err, QpState::Reset, QpState::Init, QpState::Rtr] {
        let mut w = outstanding();
        w.a.set_state(QA, &w.b, QB, state);
        assert_eq!(w.a.target.engine().timer(QA), None);
        assert_eq!(w.a.target.next_deadline(), None, "{state:?}");
        assert_eq!(w.a.target.engine().timer_action(QA), None);
    }
    // The last go-back without progress, too.
    let mut w = World::connected(
        Scheduler::Fair,
        QpOptions {
            retry_cnt: 0,
            ..options()
        },
    );
    w.a.post(QA, &Request::send(vec![]));
    sent(&mut w);
    expire(&mut w);
    assert_eq!(change(&w), Some(None));
}

/// WIRE-TMO-1, B4's kin: by the clock it ends between T and 4 T after it last began anew.
#[test]
fn ends_in_time() {
    const T: u64 = 1000 << 3;
    for scheduler in SCHEDULERS {
        let options = QpOptions {
            timeout: 3,
            ..options()
        };
        let mut w = World::connected(scheduler, options);
        w.a.write(reg::TIME_UNIT, 1000);
        for _ in 0..3 {
            w.a.post(QA, &Request::send(vec![]));
        }
        let first = sent(&mut w).len();
        assert_eq!(first, 3);
        let waited = |w: &mut World| {
            let start = w.a.target.now();
            loop {
                w.a.target.advance(1).unwrap();
                let frames = w.a.target.take_frames().unwrap().len();
                if frames > 0 {
                    return w.a.target.now() - start;
                }
            }
        };
        let first = waited(&mut w);
        assert!((T - 20..=4 * T + 20).contains(&first), "{first}");
        // Progress shortly before it could end.
        w.a.target.advance(T as u32 - 100).unwrap();
        w.a.target.take_frames().unwrap();
        assert_eq!(judged(&mut w, &acknowledge(ACK, 0)), Accept);
        let second = waited(&mut w);
        assert!((T..=4 * T + 20).contains(&second), "{second}");
        match scheduler {
            Scheduler::Fair => assert!(second < T + 20),
            Scheduler::Adversarial => assert!(second > 4 * T - 20),
            Scheduler::Random(_) => {}
        }
    }
}

/// Queue pairs have timers of their own; a target tells the first end, and idle time costs nothing.
#[test]
fn deadlines() {
    let mut w = World::connected(Scheduler::Fair, options());
    let long = QpOptions {
        timeout: 31,
        ..options()
    };
    w.connect(9, 9, long);
    assert_eq!(w.a.target.next_deadline(), None);
    w.a.post(9, &Request::send(vec![]));
    sent(&mut w);
    let late = w.a.target.next_deadline().unwrap();
    assert!((256 << 31..(256 << 31) + 10_000).contains(&late));
    w.a.post(QA, &Request::send(vec![]));
    sent(&mut w);
    let early = w.a.target.next_deadline().unwrap();
    assert!(early < late && early >= 256 << 20);
    // A billion clocks.
    assert!(
        !w.a.target
            .advance((early - w.a.target.now() - 1) as u32)
            .unwrap()
    );
    assert!(w.a.target.advance(1).unwrap());
    assert_eq!(w.a.target.last_action(), Some(&timeout(PSN, false)));
}
