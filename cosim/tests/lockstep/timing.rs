//! Actions at the wrong time, and queue pairs that never have their turn.

use tandem_cosim::lockstep::{Difference, Divergence, Lockstep, Summary, Untimely};
use tandem_model::engine::Config;
use tandem_model::wire::{Frame, Ip, Opcode};

use crate::shadow::Bench;

/// Least clocks of the timer: the unit after reset, four times.
const T: u64 = 4 * 256;

fn check(bench: Bench) -> Result<Summary, Box<Divergence>> {
    let (records, cycle, stalled) = bench.records();
    let mut lockstep = Lockstep::start(Config::default(), "b", 7, None).unwrap();
    for record in records {
        lockstep.push(record);
    }
    lockstep.finish(cycle, stalled, false)
}

fn untimely(bench: Bench) -> Untimely {
    let divergence = check(bench).expect_err("the checker must find it");
    let text = divergence.to_string();
    match divergence.difference {
        Difference::Untimely(untimely) => untimely,
        other => panic!("{other:?}\n{text}"),
    }
}

/// A write whose frame is lost.
fn lost() -> Bench {
    let mut bench = Bench::new(1, 2);
    bench.write(0, 77);
    assert_eq!(bench.run().len(), 1);
    bench
}

fn timeout(bench: &mut Bench) {
    let number = bench.number(0);
    bench.commit(|engine| engine.timer_action(number));
}

#[test]
fn a_timer_that_ends_in_time_passes() {
    for clocks in [T - 1, 4 * T + 511] {
        let mut bench = lost();
        bench.pass(clocks);
        timeout(&mut bench);
        check(bench).unwrap_or_else(|divergence| panic!("{clocks}: {divergence}"));
    }
}

#[test]
fn a_timer_that_ends_early_is_found() {
    let mut bench = lost();
    bench.pass(T - 2);
    timeout(&mut bench);
    assert!(matches!(
        untimely(bench),
        Untimely::TimerEarly { elapsed, .. } if elapsed == T - 1
    ));
}

#[test]
fn stalled_clocks_do_not_count() {
    let mut bench = lost();
    bench.stall(1000);
    bench.pass(T - 2);
    timeout(&mut bench);
    assert!(matches!(untimely(bench), Untimely::TimerEarly { .. }));
    let mut bench = lost();
    bench.stall(10 * T);
    bench.pass(T);
    timeout(&mut bench);
    check(bench).unwrap_or_else(|divergence| panic!("{divergence}"));
}

#[test]
fn a_timer_that_is_overdue_is_found_at_the_next_action_and_at_the_end() {
    let mut late = lost();
    late.pass(4 * T + 512);
    timeout(&mut late);
    let mut never = lost();
    never.pass(4 * T + 513);
    for bench in [late, never] {
        assert!(matches!(
            untimely(bench),
            Untimely::TimerLate { elapsed, .. } if elapsed == 4 * T + 513
        ));
    }
}

/// The frame with a mark that a switch makes.
fn marked(frame: &[u8]) -> Vec<u8> {
    let mut frame = Frame::parse(frame).unwrap();
    frame.ip = match frame.ip {
        Ip::V4(ip) => Ip::V4(ip).with_path(3, 64),
        Ip::V6(ip) => Ip::V6(ip).with_path(3, 64),
    };
    frame.to_vec()
}

/// A write of 77 bytes; its frame comes back with a mark, and is answered.
fn marked_write(bench: &mut Bench) {
    bench.write(0, 77);
    let frame = bench.run().pop().unwrap();
    bench.deliver(marked(&frame));
    for answer in bench.run() {
        bench.deliver(answer);
    }
    assert!(bench.run().is_empty());
}

/// The notification that is owed leaves.
fn notification(bench: &mut Bench) -> Vec<u8> {
    let number = bench.number(0);
    bench.commit(|engine| engine.cnp_action(number));
    let frame = bench.run().pop().unwrap();
    assert_eq!(Frame::parse(&frame).unwrap().bth.opcode, Opcode::Cnp);
    frame
}

/// Two marked writes come in, and each is answered by a notification, with so many clocks between.
fn two_notifications(clocks: u64) -> Bench {
    let mut bench = Bench::new(1, 0);
    marked_write(&mut bench);
    notification(&mut bench);
    marked_write(&mut bench);
    bench.pass(clocks);
    notification(&mut bench);
    bench
}

#[test]
fn notifications_of_congestion_are_spaced() {
    check(two_notifications(3125)).unwrap_or_else(|divergence| panic!("{divergence}"));
    assert!(matches!(
        untimely(two_notifications(100)),
        Untimely::CnpTooSoon { least: 3125, .. }
    ));
}

/// A queue pair gets a notification, and sends two packets with so many clocks between.
fn slowed_down(clocks: u64) -> Bench {
    let mut bench = Bench::new(1, 0);
    marked_write(&mut bench);
    let notification = notification(&mut bench);
    bench.deliver(notification);
    bench.run();
    bench.write(0, 77);
    bench.run();
    bench.pass(clocks);
    bench.write(0, 77);
    bench.run();
    bench
}

#[test]
fn packets_keep_their_pace() {
    // 77 bytes and 64: 18 beats, and as many again at level 1.
    check(slowed_down(18)).unwrap_or_else(|divergence| panic!("{divergence}"));
    assert!(matches!(
        untimely(slowed_down(0)),
        Untimely::TooFast {
            level: 1,
            least: 18,
            ..
        }
    ));
}

/// Two queue pairs have something to send. One of them has its turn with its first packet, and later never.
fn unfair(turns: u32) -> (Bench, u32) {
    let mut bench = Bench::new(2, 0);
    let starved = bench.number(1);
    bench.write(1, 3000);
    bench.run_without(&[starved]);
    bench.send_one(starved);
    for _ in 0..turns {
        bench.write(0, 77);
        for frame in bench.run_without(&[starved]) {
            bench.deliver(frame);
        }
        for frame in bench.run_without(&[starved]) {
            bench.deliver(frame);
        }
        bench.run_without(&[starved]);
        bench.poll();
    }
    (bench, starved)
}

#[test]
fn a_queue_pair_that_never_has_its_turn_is_found() {
    let (bench, _) = unfair(250);
    check(bench).unwrap_or_else(|divergence| panic!("{divergence}"));
    let (bench, starved) = unfair(300);
    match untimely(bench) {
        Untimely::Starved { qpn, others, most } => {
            assert_eq!((qpn, most), (starved, 256));
            assert!(others > most, "{others}");
        }
        other => panic!("{other:?}"),
    }
}
