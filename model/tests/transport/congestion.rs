//! Notifications of congestion: sent for marked frames, and what they do to a sender.

use super::*;
use tandem_model::abi::{CommitKind, DropCause, QpState, RespondKind, RxResult};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::wire::{Bth, Eth, Ext, Frame, Ip, Ipv4, MacAddr, Opcode, Pkey, Psn, Qpn};

fn with_ecn(frame: &mut Frame<'_>, ecn: u8) {
    if let Ip::V4(ip) = &mut frame.ip {
        ip.tos = 0x28 | ecn;
    }
}

fn write(psn: u32, ecn: u8) -> Vec<u8> {
    built(Opcode::WriteOnly, psn, reth(0, 0, 0), &[], |frame| {
        with_ecn(frame, ecn)
    })
}

/// A notification from node b to node a.
fn cnp(change: impl FnOnce(&mut Frame<'_>)) -> Vec<u8> {
    let eth = Eth {
        dst: MacAddr([2, 0, 0, 0, 0, 1]),
        src: MacAddr([2, 0, 0, 0, 0, 2]),
        vlan: None,
    };
    let ip = Ip::V4(Ipv4::new([192, 0, 2, 2].into(), [192, 0, 2, 1].into()));
    let bth = Bth::new(Opcode::Cnp, Qpn::new(QA), Psn::ZERO);
    let mut frame = Frame::new(eth, ip, 0, bth, Ext::Cnp([0; 16]));
    change(&mut frame);
    frame.to_vec()
}

fn respond_cnp() -> Action {
    Action::new(CommitKind::Respond, QB).with_cause(RespondKind::Cnp as u8)
}

/// Node b takes frames without answering.
fn take(engine: &mut Driver, frames: &[Vec<u8>]) {
    for frame in frames {
        engine.world.b.target.send_frame(frame).unwrap();
        engine.take_frame();
    }
}

/// WIRE-CNP-1: the notification on the wire.
// Covers: WIRE-CNP-1, WIRE-BTH-7
#[test]
fn on_the_wire() {
    let w = World::connected(Scheduler::Fair, options());
    let mut engine = Driver::new(w);
    take(&mut engine, &[write(PSN, 3)]);
    engine.refused(respond_cnp().with_psn(1));
    engine.accepted(respond_cnp());
    engine.refused(respond_cnp());
    let w = &mut engine.world;
    let frames = w.b.target.take_frames().unwrap();
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].len(), 74);
    let frame = Frame::parse(&frames[0]).unwrap();
    let expected = Bth {
        becn: true,
        ..Bth::new(Opcode::Cnp, Qpn::new(QA), Psn::ZERO)
    };
    assert_eq!((frame.bth, frame.ext), (expected, Ext::Cnp([0; 16])));
    assert!(!frame.bth.ack_req && !frame.bth.solicited && !frame.bth.migration);
    assert_eq!((frame.eth.src.0, frame.eth.dst.0), (w.b.mac(), w.a.mac()));
    assert_eq!(w.b.read(reg::CNP_OUT), 1);
}

/// What marks a queue pair: each request or response with ECN 11 that is taken, however it ends, and
/// no other (WIRE-CNP-3: nothing else changes).
#[test]
fn marks() {
    for ecn in 0..4 {
        for (psn, accepted) in [(PSN, true), (PSN - 1, true), (PSN + 1, true)] {
            let w = World::connected(Scheduler::Fair, options());
            let mut engine = Driver::new(w);
            take(&mut engine, &[write(psn, ecn)]);
            let listed = engine.listed(CommitKind::Respond);
            assert_eq!(
                listed.contains(&respond_cnp()),
                ecn == 3 && accepted,
                "{ecn}"
            );
            // The answer is that of an unmarked frame.
            assert_eq!(listed.len(), 1 + usize::from(ecn == 3));
        }
    }
    // Dropped: behind a gap that was told of.
    let w = World::connected(Scheduler::Fair, options());
    let mut engine = Driver::new(w);
    take(&mut engine, &[write(PSN + 1, 0), write(PSN + 2, 3)]);
    assert!(!engine.listed(CommitKind::Respond).contains(&respond_cnp()));
    // A response marks too, a notification does not.
    for (opcode, marks) in [(Opcode::Acknowledge, true), (Opcode::Cnp, false)] {
        let (mut w, ..) = posted(options(), |w, _| {
            w.a.post(QA, &Request::send(vec![]));
        });
        let mut bytes = match opcode {
            Opcode::Cnp => cnp(|_| {}),
            _ => acknowledge(ACK, 0),
        };
        // ECN is not covered by the ICRC, but by the header's checksum.
        bytes[15] |= 3;
        assert!(tandem_model::wire::seal(&mut bytes));
        judged(&mut w, &bytes);
        assert_eq!(w.a.target.engine().cnp_action(QA).is_some(), marks);
    }
}

/// Legal in `QpRtr` and `QpRts` only; the mark goes with `QpInit`.
#[test]
fn states_of_the_marked() {
    for (state, legal) in [
        (QpState::Rtr, true),
        (QpState::Rts, true),
        (QpState::Err, false),
        (QpState::Reset, false),
        (QpState::Init, false),
    ] {
        let mut w = World::connected(Scheduler::Fair, options());
        w.b.write(reg::CNP_INTERVAL, 0xFF_FFFF);
        let mut engine = Driver::new(w);
        // The second one has to wait, by the clock.
        take(&mut engine, &[write(PSN, 3)]);
        engine.accepted(respond_cnp());
        take(&mut engine, &[write(PSN + 1, 3)]);
        let w = &mut engine.world;
        w.b.set_state(QB, &w.a, QA, state);
        assert_eq!(
            w.b.target.engine().cnp_action(QB).is_some(),
            legal,
            "{state:?}"
        );
        w.b.set_state(QB, &w.a, QA, QpState::Rts);
        let kept = state != QpState::Init;
        assert_eq!(
            w.b.target.engine().cnp_action(QB).is_some(),
            kept,
            "{state:?}"
        );
    }
}

/// WIRE-CNP-1: two notifications of a queue pair are at least CNP_INTERVAL apart, under every scheduler;
/// queue pairs do not share it.
#[test]
fn interval() {
    const INTERVAL: u64 = 500;
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, options());
        w.connect(9, 9, options());
        w.b.write(reg::CNP_INTERVAL, INTERVAL as u32);
        assert_eq!(w.b.read(reg::CNP_INTERVAL), INTERVAL as u32);
        let mut left: [Vec<u64>; 2] = Default::default();
        for n in 0..400 {
            let to = |qpn| {
                built(Opcode::WriteOnly, PSN + n, reth(0, 0, 0), &[], |frame| {
                    with_ecn(frame, 3);
                    frame.bth.dest_qp = Qpn::new(qpn);
                })
            };
            w.b.target.send_frame(&to(QB)).unwrap();
            w.b.target.send_frame(&to(9)).unwrap();
            for _ in 0..20 {
                w.b.target.step().unwrap();
                for frame in w.b.target.take_frames().unwrap() {
                    let frame = Frame::parse(&frame).unwrap();
                    if frame.bth.opcode == Opcode::Cnp {
                        let second = frame.bth.dest_qp.get() == 9;
                        left[usize::from(second)].push(w.b.target.now());
                    }
                }
            }
        }
        for left in &left {
            assert!(left.is_sorted_by(|a, b| a + INTERVAL <= *b), "{left:?}");
            let least = match scheduler {
                Scheduler::Fair => 15,
                _ => 3,
            };
            assert!(left.len() >= least, "{scheduler:?}: {}", left.len());
        }
        let sum = left[0].len() + left[1].len();
        let counted = w.b.read(reg::CNP_OUT) as usize;
        // Reading takes a clock, in which one more may leave.
        assert!((sum..=sum + 1).contains(&counted));
    }
}

/// WIRE-CNP-2: a notification that arrives is counted, never answered, changes no PSN, MSN, timer or
/// request; also after a failure of the queue.
#[test]
fn received() {
    let (mut w, ..) = posted(options(), |w, _| {
        w.a.post(QA, &Request::send(vec![]));
    });
    let before = w.a.target.engine().describe_qp(QA);
    for _ in 0..3 {
        assert_eq!(judged(&mut w, &cnp(|_| {})), Verdict::Cnp);
        assert_eq!(w.a.target.engine().timer_change(), None);
    }
    assert_eq!(w.a.target.engine().describe_qp(QA), before);
    assert_eq!(sent(&mut w), []);
    // Its PSN and the reserved bytes do not matter.
    let odd = cnp(|frame| {
        frame.bth.psn = Psn::new(77);
        frame.bth.becn = false;
        frame.ext = Ext::Cnp([9; 16]);
    });
    w.a.target.send_frame(&odd).unwrap();
    while w.a.target.step().unwrap() {
        let action = *w.a.target.last_action().unwrap();
        let expected = Action::new(CommitKind::RxResponse, QA)
            .with_psn(77)
            .with_cause(RxResult::Cnp as u8);
        assert_eq!(action, expected);
    }
    assert_eq!(judged(&mut w, &acknowledge(0x61, 0)), Verdict::Fatal);
    assert_eq!(judged(&mut w, &cnp(|_| {})), Verdict::Cnp);
    assert_eq!(w.a.read(reg::CNP_IN), 5);
    sent(&mut w);
    assert_eq!(w.a.state(QA), QpState::Err as u32);
    let late = judged(&mut w, &cnp(|_| {}));
    assert_eq!(late, Verdict::Drop(DropCause::QpState));
}

/// It passes the checks of a response.
#[test]
fn received_and_dropped() {
    type Change = fn(&mut Frame<'_>);
    let cases: [(Change, DropCause); 4] = [
        (|f| f.eth.dst.0[5] = 9, DropCause::DestAddress),
        (|f| f.bth.dest_qp = Qpn::new(33), DropCause::Qpn),
        (
            |f| f.ip = Ip::V4(Ipv4::new([192, 0, 2, 9].into(), [192, 0, 2, 1].into())),
            DropCause::SourceAddress,
        ),
        (|f| f.bth.pkey = Pkey(0x1234), DropCause::Pkey),
    ];
    let mut w = World::connected(Scheduler::Fair, options());
    for (change, cause) in cases {
        assert_eq!(judged(&mut w, &cnp(change)), Verdict::Drop(cause));
    }
    w.a.set_state(QA, &w.b, QB, QpState::Rtr);
    let dropped = Verdict::Drop(DropCause::QpState);
    assert_eq!(judged(&mut w, &cnp(|_| {})), dropped);
    assert_eq!(w.a.read(reg::CNP_IN), 0);
}

/// Each level halves the share of the line; a level is lost after 16 intervals without a notification, and
/// the other queue pairs do not notice.
#[test]
fn pace() {
    const INTERVAL: u64 = 100_000;
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, options());
        w.connect(9, 9, options());
        w.a.write(reg::CNP_INTERVAL, INTERVAL as u32);
        let mine = w.a.region(10_000, Access::ALL);
        for level in 0..=9u32 {
            w.a.post(QA, &Request::write(vec![mine.sge(0, 600)], (0, 0)));
            w.a.post(9, &Request::write(vec![mine.sge(0, 600)], (0, 0)));
            let mut at = Vec::new();
            let mut other = 0;
            for _ in 0..60_000 {
                w.a.target.step().unwrap();
                for frame in w.a.target.take_frames().unwrap() {
                    let frame = Frame::parse(&frame).unwrap();
                    match frame.bth.dest_qp.get() {
                        QB => at.push((w.a.target.now(), frame.payload.len())),
                        _ => other = w.a.target.now(),
                    }
                }
                if at.len() == 3 && level > 0 {
                    break;
                }
            }
            assert_eq!(at.len(), 3, "level {level}");
            let factor = (1 << level.min(7)) - 1;
            for pair in at.windows(2) {
                let beats = (pair[0].1 as u64 + 64).div_ceil(8);
                let gap = pair[1].0 - pair[0].0;
                assert!(gap >= factor * beats, "level {level}: {gap}");
                assert!(gap < factor * beats + 50, "level {level}: {gap}");
            }
            assert!(level < 2 || other < at[1].0, "level {level}");
            // Two at once count as one.
            w.a.target.advance(INTERVAL as u32).unwrap();
            assert_eq!(judged(&mut w, &cnp(|_| {})), Verdict::Cnp);
            assert_eq!(judged(&mut w, &cnp(|_| {})), Verdict::Cnp);
        }
        // From level 7 back to full speed.
        w.a.target.advance(16 * 7 * INTERVAL as u32 + 1).unwrap();
        w.a.post(QA, &Request::write(vec![mine.sge(0, 600)], (0, 0)));
        let start = w.a.target.now();
        assert_eq!(sent(&mut w).len(), 3);
        assert!(w.a.target.now() - start < 50);
    }
}
