//! Events of completion queues that are put off, and rings that are exchanged.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{Arm, CQ_CONTEXT, CommitKind, EventKind, Record, Status, Table};
use tandem_model::engine::{Action, DueChange, DueEvent};
use tandem_model::hal::{Hal, Target};
use tandem_model::target::Scheduler;

/// Clocks of 1 µs in these tests.
const UNIT: u32 = 10;
/// A count or interval without end.
const ENDLESS: u16 = 0xFFFF;

fn moderation(count: u16, interval: u16) -> Record {
    Record::new(&CQ_CONTEXT)
        .with("moderation_count", count)
        .with("moderation_interval", interval)
}

fn moderate(w: &mut World, count: u16, interval: u16) {
    let record = moderation(count, interval);
    w.b.command(Table::CqModeration, RECV_CQ.into(), 0, record.as_bytes());
}

fn world(scheduler: Scheduler, count: u16, interval: u16) -> World {
    let mut w = World::connected(scheduler, small());
    w.b.write(reg::MODERATION_UNIT, UNIT);
    moderate(&mut w, count, interval);
    w
}

const FIRES: Event = Event {
    kind: EventKind::Completion as u8,
    code: 0,
    number: RECV_CQ as u32,
};

/// One more entry in node b's receive queue; time passes to no deadline.
fn entry(w: &mut World, solicited: bool) {
    w.b.receive(QB, &[]);
    while w.b.target.step().unwrap() {}
    let send = Request {
        solicited,
        ..Request::send(vec![])
    };
    w.a.post(QA, &send);
    let before = w.b.peek(RECV_CQ).len();
    while w.a.target.step().unwrap() {}
    for bytes in w.a.target.take_frames().unwrap() {
        w.b.target.send_frame(&bytes).unwrap();
    }
    while w.b.peek(RECV_CQ).len() == before {
        assert!(w.b.target.step().unwrap(), "no entry comes");
    }
    for bytes in w.b.target.take_frames().unwrap() {
        w.a.target.send_frame(&bytes).unwrap();
    }
}

/// The arm is taken; time passes to no deadline.
fn arm(w: &mut World, arm: Arm) {
    w.b.arm(RECV_CQ, arm);
    loop {
        assert!(w.b.target.step().unwrap(), "no arm is taken");
        if w.b.target.last_action().unwrap().kind == CommitKind::Arm {
            break;
        }
    }
}

fn due(w: &World) -> Option<Option<u64>> {
    let event = w.b.target.engine().due_event(RECV_CQ.into());
    event.map(|event| event.clocks)
}

/// No moderation without an interval or with a count of 0 or 1, whatever the other is.
#[test]
fn settings_that_do_not_moderate() {
    for (count, interval) in [(0, 100), (1, 100), (ENDLESS, 0), (5, 0), (1, ENDLESS)] {
        let mut w = world(Scheduler::Fair, count, interval);
        arm(&mut w, Arm::Any);
        entry(&mut w, false);
        assert_eq!(w.b.events(), [FIRES], "{count} {interval}");
        assert_eq!(due(&w), None);
        arm(&mut w, Arm::Any);
        assert_eq!(w.b.events(), [FIRES]);
    }
}

/// The interval alone: the event follows after it, with whatever has come; one event, and the arm is gone.
#[test]
fn an_event_waits_for_its_interval() {
    for scheduler in SCHEDULERS {
        for count in [100, ENDLESS] {
            let mut w = world(scheduler, count, 300);
            arm(&mut w, Arm::Any);
            let begin = w.b.target.now();
            entry(&mut w, false);
            assert_eq!(due(&w), Some(Some(3000)));
            if scheduler == Scheduler::Fair {
                for _ in 0..5 {
                    entry(&mut w, true);
                }
                assert_eq!(w.b.events(), []);
            }
            w.run();
            assert_eq!(w.b.events(), [FIRES]);
            assert_eq!(due(&w), None);
            let passed = w.b.target.now() - begin;
            assert!(passed <= 3000 + 512 + 200, "{passed}");
            assert!(scheduler != Scheduler::Fair || passed >= 3000, "{passed}");
            entry(&mut w, true);
            w.run();
            assert_eq!(w.b.events(), []);
        }
    }
}

/// The count alone: nothing follows by time.
#[test]
fn an_event_waits_for_its_count() {
    for scheduler in SCHEDULERS {
        let mut w = world(scheduler, 3, ENDLESS);
        arm(&mut w, Arm::Any);
        for _ in 0..2 {
            entry(&mut w, false);
            w.run();
            assert_eq!(w.b.events(), []);
            assert_eq!(due(&w), Some(None));
        }
        assert_eq!(w.b.target.next_deadline(), None);
        entry(&mut w, false);
        assert_eq!(w.b.events(), [FIRES]);
        assert_eq!(due(&w), None);
        // Armed with three there: at once.
        arm(&mut w, Arm::Any);
        assert_eq!(w.b.events(), [FIRES]);
        // What was consumed does not count.
        w.b.poll(RECV_CQ);
        arm(&mut w, Arm::Any);
        entry(&mut w, false);
        entry(&mut w, false);
        w.b.poll(RECV_CQ);
        w.run();
        entry(&mut w, false);
        w.run();
        assert_eq!(w.b.events(), []);
        assert_eq!(due(&w), Some(None));
    }
}

/// Armed while entries are there that count, but not enough of them: the event is due by the arm.
#[test]
fn an_arm_makes_an_event_due() {
    let mut w = world(Scheduler::Fair, 3, 50);
    entry(&mut w, false);
    assert_eq!(due(&w), None);
    arm(&mut w, Arm::Solicited);
    assert_eq!(due(&w), None);
    arm(&mut w, Arm::Any);
    assert_eq!(due(&w), Some(Some(500)));
    w.run();
    assert_eq!(w.b.events(), [FIRES]);
}

/// Entries that do not match the arm neither make an event due; while one is due any entry reaches the count.
#[test]
fn any_entry_counts_while_an_event_is_due() {
    let mut w = world(Scheduler::Fair, 4, ENDLESS);
    arm(&mut w, Arm::Solicited);
    entry(&mut w, false);
    entry(&mut w, false);
    assert_eq!(due(&w), None);
    entry(&mut w, true);
    assert_eq!(due(&w), Some(None));
    entry(&mut w, false);
    assert_eq!(w.b.events(), [FIRES]);
    // Without a due event the count alone fires nothing.
    arm(&mut w, Arm::Errors);
    entry(&mut w, false);
    assert_eq!((w.b.events(), due(&w)), (vec![], None));
}

/// An arm while an event is due combines with the one before, and finds the count reached.
#[test]
fn arms_while_an_event_is_due() {
    let mut w = world(Scheduler::Fair, 2, ENDLESS);
    arm(&mut w, Arm::Solicited);
    entry(&mut w, true);
    assert_eq!(due(&w), Some(None));
    arm(&mut w, Arm::Errors);
    assert_eq!(due(&w), Some(None));
    // With a smaller count the arm fires, although errors alone would fire nothing.
    entry(&mut w, false);
    assert_eq!(w.b.events(), [FIRES]);
    w.b.poll(RECV_CQ);
    arm(&mut w, Arm::Solicited);
    entry(&mut w, true);
    moderate(&mut w, 3, ENDLESS);
    entry(&mut w, false);
    moderate(&mut w, 2, ENDLESS);
    assert_eq!((w.b.events(), due(&w)), (vec![], Some(None)));
    arm(&mut w, Arm::Errors);
    assert_eq!((w.b.events(), due(&w)), (vec![FIRES], None));
}

/// `CqEvent` is legal at any time while an event is due, and only then; it disarms.
#[test]
fn an_event_may_come_early() {
    let mut w = world(Scheduler::Fair, ENDLESS, 1000);
    let early = Action::new(CommitKind::CqEvent, RECV_CQ.into());
    assert!(w.b.target.apply(&early).is_err());
    arm(&mut w, Arm::Any);
    assert!(w.b.target.apply(&early).is_err());
    entry(&mut w, false);
    let all = w.b.target.enabled().unwrap();
    assert!(all.contains(&early), "{all:?}");
    for wrong in [
        early.with_index(1),
        early.with_cause(1),
        Action { qpn: 1, ..early },
    ] {
        assert!(w.b.target.apply(&wrong).is_err(), "{wrong}");
    }
    w.b.target.apply(&early).unwrap();
    let change = w.b.target.engine().due_change();
    let cq = RECV_CQ.into();
    assert_eq!(change, Some(DueChange { cq, event: None }));
    assert!(w.b.target.apply(&early).is_err());
    entry(&mut w, false);
    w.run();
    assert_eq!(w.b.events(), [FIRES]);
}

/// What is told after each action: when an event begins to be put off, and when it no longer is.
#[test]
fn changes_are_told_once() {
    let mut w = world(Scheduler::Fair, ENDLESS, 7);
    arm(&mut w, Arm::Any);
    let cq = u32::from(RECV_CQ);
    let event = Some(DueEvent { clocks: Some(70) });
    entry(&mut w, false);
    let told = w.b.target.engine().due_change();
    assert_eq!(told, Some(DueChange { cq, event }));
    // A later entry does not begin the time anew.
    entry(&mut w, false);
    assert_eq!(w.b.target.last_action().unwrap().kind, CommitKind::Complete);
    assert_eq!(w.b.target.engine().due_change(), None);
    // A unit of 0 counts as 1.
    w.b.write(reg::MODERATION_UNIT, 0);
    assert_eq!(due(&w), Some(Some(7)));
}

/// A new setting holds from then on: its time begins anew, and one that ends moderation leaves the event due.
#[test]
fn new_settings_while_an_event_is_due() {
    let mut w = world(Scheduler::Fair, ENDLESS, 10_000);
    arm(&mut w, Arm::Any);
    entry(&mut w, false);
    let before = w.b.target.now();
    moderate(&mut w, ENDLESS, 20);
    assert_eq!(due(&w), Some(Some(200)));
    w.run();
    assert_eq!(w.b.events(), [FIRES]);
    assert!(w.b.target.now() - before < 600);

    // From never to at once.
    for (count, interval) in [(1, 5), (5, 0)] {
        let mut w = world(Scheduler::Fair, 9, ENDLESS);
        arm(&mut w, Arm::Any);
        entry(&mut w, false);
        let record = moderation(count, interval);
        w.b.stage(Table::CqModeration, RECV_CQ.into(), 0, record.as_bytes());
        let context = Action::new(CommitKind::Context, RECV_CQ.into())
            .with_index(1)
            .with_cause(Table::CqModeration as u8);
        w.b.target.apply(&context).unwrap();
        assert_eq!((w.b.events(), due(&w)), (vec![], Some(Some(0))));
        w.run();
        assert_eq!((w.b.events(), due(&w)), (vec![FIRES], None));
    }
    // An entry that fires then goes before: no second event.
    let mut w = world(Scheduler::Adversarial, 9, ENDLESS);
    arm(&mut w, Arm::Any);
    entry(&mut w, false);
    moderate(&mut w, 0, 0);
    entry(&mut w, false);
    assert_eq!((w.b.events(), due(&w)), (vec![FIRES], None));
    w.run();
    assert_eq!(w.b.events(), []);
}

/// An event that is due and no longer moderated: an entry that does not match the arm does not write it.
#[test]
fn an_entry_that_fires_nothing_after_moderation_ended() {
    let mut w = world(Scheduler::Fair, 9, ENDLESS);
    arm(&mut w, Arm::Solicited);
    entry(&mut w, true);
    w.b.receive(QB, &[]);
    while w.b.target.step().unwrap() {}
    w.a.post(QA, &Request::send(vec![]));
    while w.a.target.step().unwrap() {}
    for bytes in w.a.target.take_frames().unwrap() {
        w.b.target.send_frame(&bytes).unwrap();
    }
    while w.b.target.last_action().unwrap().kind != CommitKind::RxRequest {
        assert!(w.b.target.step().unwrap());
    }
    let record = moderation(0, 0);
    w.b.stage(Table::CqModeration, RECV_CQ.into(), 0, record.as_bytes());
    let context = Action::new(CommitKind::Context, RECV_CQ.into())
        .with_index(1)
        .with_cause(Table::CqModeration as u8);
    w.b.target.apply(&context).unwrap();
    let complete = Action::new(CommitKind::Complete, RECV_CQ.into())
        .with_index(1)
        .with_token(1 << 24 | QB);
    w.b.target.apply(&complete).unwrap();
    assert_eq!((w.b.events(), due(&w)), (vec![], Some(Some(0))));
    w.run();
    assert_eq!(w.b.events(), [FIRES]);
}

/// An overrun tells at once, and takes a due event with it; so does writing the entry of the queue.
#[test]
fn an_overrun_is_never_put_off() {
    let lost = event(EventKind::CqError, 0, 3);
    let mut w = World::connected(Scheduler::Fair, small());
    let cq = w.b.create_cq(1);
    assert_eq!(cq, 3);
    w.connect_on(9, 9, small(), small(), SEND_CQ, cq);
    let record = moderation(ENDLESS, ENDLESS);
    w.b.command(Table::CqModeration, cq.into(), 0, record.as_bytes());
    w.b.arm(cq, Arm::Any);
    for _ in 0..3 {
        w.b.receive(9, &[]);
        w.a.post(9, &Request::send(vec![]));
    }
    w.run();
    assert_eq!(w.b.events(), [lost]);
    assert_eq!(w.b.target.engine().due_event(cq.into()), None);
    // An arm of the dead queue tells it again, at once.
    w.b.arm(cq, Arm::Any);
    w.run();
    assert_eq!(w.b.events(), [lost]);

    let mut w = world(Scheduler::Fair, ENDLESS, 1000);
    arm(&mut w, Arm::Any);
    entry(&mut w, false);
    let cq = w.b.cqs[&RECV_CQ];
    let record = moderation(ENDLESS, 1000)
        .with("valid", 1u8)
        .with("log_size", cq.log)
        .with("base", cq.base);
    w.b.command(Table::Cq, RECV_CQ.into(), 0, record.as_bytes());
    assert_eq!((due(&w), w.b.target.next_deadline()), (None, None));
    w.run();
    assert_eq!(w.b.events(), []);
}

/// Moderation comes with the entry of the queue, too.
#[test]
fn settings_of_the_table() {
    let mut w = World::connected(Scheduler::Fair, small());
    let cq = w.b.cqs[&RECV_CQ];
    let record = moderation(2, ENDLESS)
        .with("valid", 1u8)
        .with("log_size", cq.log)
        .with("base", cq.base);
    w.b.command(Table::Cq, RECV_CQ.into(), 0, record.as_bytes());
    arm(&mut w, Arm::Any);
    entry(&mut w, false);
    assert_eq!(due(&w), Some(None));
    // A new entry brings its own.
    let mut w = world(Scheduler::Fair, 2, ENDLESS);
    let plain = record.with("moderation_count", 0u8);
    w.b.command(Table::Cq, RECV_CQ.into(), 0, plain.as_bytes());
    arm(&mut w, Arm::Any);
    entry(&mut w, false);
    assert_eq!((due(&w), w.b.events()), (None, vec![FIRES]));
}

/// Gives the receive queue of node b another ring of 2^log entries; what was in the old one at that time.
fn resize(w: &mut World, log: u8) -> Vec<Cqe> {
    let base = w.b.target.allocate(32 << log, 4096).unwrap();
    let record = Record::new(&CQ_CONTEXT)
        .with("log_size", log)
        .with("base", base)
        .with("moderation_count", 9u8)
        .with("moderation_interval", 9u8);
    w.b.command(Table::CqRing, RECV_CQ.into(), 0, record.as_bytes());
    let old = w.b.peek(RECV_CQ);
    let consumer = w.b.cqs[&RECV_CQ].consumer;
    // The register tells where the old ring ends.
    let end = w.b.read(reg::CQ_SWITCH);
    assert_eq!(end, u32::from(consumer.wrapping_add(old.len() as u16)));
    let cq = w.b.cqs.get_mut(&RECV_CQ).unwrap();
    (cq.base, cq.log, cq.consumer) = (base, log, 0);
    old
}

/// No entry is lost or told twice over exchanges of the ring, to larger and smaller ones; phases begin anew.
#[test]
fn entries_over_exchanges_of_the_ring() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, small());
        assert_eq!(w.b.read(reg::CQ_SWITCH), 0);
        let mut next = 0;
        for log in [1, 0, 2, 5, 3] {
            for _ in 0..3 {
                w.b.receive(QB, &[]);
            }
            w.run();
            for _ in 0..3 {
                w.a.post(QA, &Request::send(vec![]));
                w.run();
                if log != 5 {
                    let got = statuses(&w.b.poll(RECV_CQ));
                    assert_eq!(got, [(next, Status::Success)]);
                    next += 1;
                }
            }
            for old in resize(&mut w, log) {
                assert_eq!(old.index, next);
                next += 1;
            }
            w.a.poll(SEND_CQ);
        }
        assert_eq!(next, 15);
    }
}

/// The exchange keeps arm and moderation, and the consumer starts at 0: the new ring takes all its entries.
#[test]
fn what_an_exchange_keeps() {
    let mut w = World::connected(Scheduler::Fair, small());
    // Solicited entries of the old ring do not fire an arm in the new one.
    entry(&mut w, true);
    resize(&mut w, 1);
    arm(&mut w, Arm::Solicited);
    assert_eq!(w.b.events(), []);
    // The arm stays over the exchange.
    resize(&mut w, 1);
    entry(&mut w, true);
    assert_eq!(w.b.events(), [FIRES]);
    entry(&mut w, false);
    let old = resize(&mut w, 1);
    assert_eq!(old.len(), 2);
    arm(&mut w, Arm::Any);
    assert_eq!(w.b.events(), []);
    // Two entries fit, and the third is one too many.
    entry(&mut w, false);
    entry(&mut w, false);
    w.b.receive(QB, &[]);
    w.a.post(QA, &Request::send(vec![]));
    w.run();
    let lost = event(EventKind::CqError, 0, RECV_CQ.into());
    assert_eq!(w.b.events(), [FIRES, lost]);
    // Death stays.
    resize_dead(&mut w);
    w.b.arm(RECV_CQ, Arm::Errors);
    w.run();
    assert_eq!(w.b.events(), [lost]);
}

fn resize_dead(w: &mut World) {
    resize(w, 4);
    w.b.receive(QB, &[]);
    w.a.post(QA, &Request::send(vec![]));
    w.run();
    assert_eq!(w.b.peek(RECV_CQ), []);
}

/// The consumer index of the old ring does not count in the new one: one entry fills it.
#[test]
fn a_new_ring_is_empty() {
    let mut w = World::connected(Scheduler::Fair, small());
    entry(&mut w, false);
    w.b.poll(RECV_CQ);
    resize(&mut w, 0);
    entry(&mut w, false);
    w.b.receive(QB, &[]);
    w.a.post(QA, &Request::send(vec![]));
    w.run();
    let lost = event(EventKind::CqError, 0, RECV_CQ.into());
    assert_eq!(w.b.events(), [lost]);
}

/// A due event stays due over an exchange; its moderation is the one before.
#[test]
fn a_due_event_outlives_an_exchange() {
    let mut w = world(Scheduler::Fair, 2, ENDLESS);
    arm(&mut w, Arm::Any);
    entry(&mut w, false);
    resize(&mut w, 3);
    assert_eq!((w.b.events(), due(&w)), (vec![], Some(None)));
    // The entry in the old ring does not count any more.
    entry(&mut w, false);
    assert_eq!((w.b.events(), due(&w)), (vec![], Some(None)));
    entry(&mut w, false);
    assert_eq!((w.b.events(), due(&w)), (vec![FIRES], None));
}

/// Doorbells written before an exchange take effect before it: their index is one of the old ring.
#[test]
fn doorbells_before_an_exchange() {
    let mut w = World::connected(Scheduler::Fair, small());
    entry(&mut w, false);
    entry(&mut w, false);
    w.b.write(reg::DB_CQ, u32::from(RECV_CQ) << 16 | 1);
    w.b.write(reg::DB_CQ, 9 << 16 | 4);
    let record = Record::new(&CQ_CONTEXT).with("log_size", 3u8);
    let number = u32::from(RECV_CQ);
    w.b.stage(Table::CqRing, number, 0, record.as_bytes());
    w.b.write(reg::DB_CQ, u32::from(RECV_CQ) << 16);
    let context = Action::new(CommitKind::Context, number)
        .with_index(1)
        .with_cause(Table::CqRing as u8);
    for (cq, index) in [(number, 1), (9, 4)] {
        assert!(w.b.target.apply(&context).is_err());
        assert!(!w.b.target.enabled().unwrap().contains(&context));
        let doorbell = Action::new(CommitKind::CqDoorbell, cq).with_index(index);
        w.b.target.apply(&doorbell).unwrap();
    }
    // Not after the one written later.
    w.b.target.apply(&context).unwrap();
    assert_eq!(w.b.read(reg::CQ_SWITCH), 2);
}

/// An exchange for a queue that is not valid, or not in the table, is reported and does nothing.
#[test]
fn an_exchange_of_nothing() {
    let mut w = World::connected(Scheduler::Fair, small());
    entry(&mut w, false);
    resize(&mut w, 2);
    assert_eq!(w.b.read(reg::CQ_SWITCH), 1);
    let record = Record::new(&CQ_CONTEXT)
        .with("valid", 1u8)
        .with("log_size", 1u8);
    for number in [40, 64, 0xFF_FFFF] {
        w.b.stage(Table::CqRing, number, 0, record.as_bytes());
        let action = Action::new(CommitKind::Context, number)
            .with_index(1)
            .with_cause(Table::CqRing as u8);
        w.b.target.apply(&action).unwrap();
        assert_eq!(w.b.read(reg::CQ_SWITCH), 1);
    }
}

/// Registers after reset, and their widths.
#[test]
fn registers() {
    let mut w = World::new(Scheduler::Fair);
    assert_eq!(w.a.read(reg::MODERATION_UNIT), 62);
    w.a.write(reg::MODERATION_UNIT, 0xABCD_1234);
    assert_eq!(w.a.read(reg::MODERATION_UNIT), 0x1234);
    w.a.write(reg::CQ_SWITCH, 5);
    assert_eq!(w.a.read(reg::CQ_SWITCH), 0);
}
