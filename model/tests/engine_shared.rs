//! Shared receive queues: who takes which entry, what is flushed, limits and their events.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{CommitKind, EventKind, QpState, RxResult, Status, Table};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;
use tandem_model::wire::{Ext, NakCode, Opcode, Syndrome};

/// Number of the shared receive queue of node b.
const SRQ: u16 = 3;

fn options() -> QpOptions {
    QpOptions {
        srq: Some(SRQ),
        ..small()
    }
}

/// Two connections; node b's ends take their receives from a shared receive queue of 2^log entries.
fn world(scheduler: Scheduler, log: u8) -> (World, Srq) {
    let mut w = World::connected(scheduler, small());
    let srq = w.b.create_srq(SRQ, log);
    for i in 1..3 {
        w.connect_on(QA + i, QB + i, small(), options(), SEND_CQ, RECV_CQ);
    }
    (w, srq)
}

fn limit_event() -> Event {
    event(EventKind::SrqLimit, 0, SRQ.into())
}

/// Queue pair QB has no entry of the shared queue any more.
fn last_wqe() -> Event {
    event(EventKind::LastWqe, Status::Flushed as u8, QB)
}

/// What node b does until nothing happens.
fn actions(w: &mut World) -> Vec<Action> {
    let mut all = Vec::new();
    while w.b.target.step().unwrap() {
        all.push(*w.b.target.last_action().unwrap());
    }
    all
}

/// Messages of several queue pairs take entries in the order of their first packets, over many turns of the ring; each
/// completes with its own index, wherever it was placed.
#[test]
fn messages_take_entries_in_order() {
    for scheduler in SCHEDULERS {
        let (mut w, mut srq) = world(scheduler, 2);
        let mine = w.a.region(2000, Access::ALL);
        let places: Vec<Region> = (0..4).map(|_| w.b.region(700, Access::ALL)).collect();
        let mut taken = 0u16;
        for round in 0..5u32 {
            for place in &places {
                w.b.post_shared(&mut srq, &[place.sge(0, 700)]);
            }
            // Lengths tell the messages apart.
            for i in 0..4 {
                w.a.fill(&mine, 0, &pattern(2000, round));
                let length = 300 + 4 * round + i;
                w.a.post(
                    QA + 1 + i % 2,
                    &Request::send(vec![mine.sge(u64::from(i), length)]),
                );
            }
            w.run();
            let mut received = w.b.poll(RECV_CQ);
            assert_eq!(received.len(), 4);
            received.sort_by_key(|entry| entry.index.wrapping_sub(taken));
            for (entry, place) in received.iter().zip(&places) {
                assert_eq!(entry.status, Status::Success);
                assert_eq!(entry.index, taken);
                taken += 1;
                let i = entry.byte_len - 300 - 4 * round;
                assert_eq!(entry.qpn, QB + 1 + i % 2);
                let bytes = w.b.bytes(place, 0, entry.byte_len as usize);
                let from = pattern(2000, round);
                assert_eq!(bytes, from[i as usize..][..entry.byte_len as usize]);
            }
            w.a.poll(SEND_CQ);
        }
    }
}

/// An entry belongs to the queue pair from the first packet on: two long messages are under way at once.
#[test]
fn two_messages_under_way() {
    let (mut w, mut srq) = world(Scheduler::Fair, 2);
    let mine = w.a.region(1000, Access::ALL);
    w.a.fill(&mine, 0, &pattern(1000, 1));
    let places = [0, 1].map(|_| w.b.region(1000, Access::ALL));
    for place in &places {
        w.b.post_shared(&mut srq, &[place.sge(0, 1000)]);
    }
    w.a.post(QA + 1, &Request::send(vec![mine.sge(0, 600)]));
    w.a.post(QA + 2, &Request::send(vec![mine.sge(300, 700)]));
    while w.a.target.step().unwrap() {}
    actions(&mut w);
    let mut frames = w.a.target.take_frames().unwrap();
    assert_eq!(frames.len(), 6);
    // The second connection's message begins first.
    let is_second = |bytes: &Vec<u8>| {
        let frame = tandem_model::wire::Frame::parse(bytes).unwrap();
        frame.bth.dest_qp.get() == QB + 2
    };
    let first = frames.iter().position(is_second).unwrap();
    let first = frames.remove(first);
    w.b.target.send_frame(&first).unwrap();
    for frame in frames {
        w.b.target.send_frame(&frame).unwrap();
    }
    w.run();
    let received = w.b.poll(RECV_CQ);
    let mut got: Vec<_> = received
        .iter()
        .map(|e| (e.qpn, e.index, e.byte_len))
        .collect();
    got.sort_unstable();
    assert_eq!(got, [(QB + 1, 1, 600), (QB + 2, 0, 700)]);
    assert_eq!(w.b.bytes(&places[0], 0, 700), pattern(1000, 1)[300..]);
    assert_eq!(w.b.bytes(&places[1], 0, 600), pattern(1000, 1)[..600]);
}

/// A send to an empty queue waits (RNR), also one whose queue is not valid or not in the table (WIRE-RNR-1).
#[test]
fn an_empty_queue_is_no_receive() {
    for scheduler in SCHEDULERS {
        let (mut w, mut srq) = world(scheduler, 2);
        w.a.post(QA + 1, &Request::send(vec![]));
        w.settle();
        assert!(w.a.read(reg::RNR_WAITS) > 0);
        assert_eq!(w.b.state(QB + 1), QpState::Rts as u32);
        w.b.post_shared(&mut srq, &[]);
        w.run();
        assert_eq!(statuses(&w.b.poll(RECV_CQ)), [(0, Status::Success)]);
        assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(0, Status::Success)]);
    }
    for number in [SRQ + 1, 16, 0xFFFF] {
        let mut w = World::connected(Scheduler::Fair, small());
        let srq = w.b.create_srq(SRQ, 2);
        let options = QpOptions {
            srq: Some(number),
            ..small()
        };
        w.connect_on(QA + 1, QB, small(), options, SEND_CQ, RECV_CQ);
        // Its doorbell has no effect; a doorbell of its own ring neither.
        w.b.write(reg::DB_SRQ, u32::from(number) << 16 | 1);
        w.b.write(reg::DB_RQ, QB << 16 | 1);
        actions(&mut w);
        let send = frame(Opcode::SendOnly, PSN, Ext::None, &[]);
        let (verdict, answers) = give(&mut w, &send);
        assert_eq!(verdict, request(PSN, RxResult::Rnr));
        let rnr = Syndrome::Rnr { timer: 12 };
        assert_eq!(answers, [(Opcode::Acknowledge, PSN, Some(rnr), 0)]);
        if number == SRQ + 1 {
            // Made valid afterwards: what was rung before is not there.
            let context = srq.context();
            w.b.command(Table::Srq, number.into(), 0, context.as_bytes());
            assert_eq!(give(&mut w, &send).0, request(PSN, RxResult::Rnr));
            w.b.write(reg::DB_SRQ, u32::from(number) << 16 | 1);
            actions(&mut w);
            assert_eq!(give(&mut w, &send).0, request(PSN, RxResult::Accept));
        }
    }
}

/// Node b alone: QB takes from the shared queue, and the peer is made by hand.
fn alone(log: u8) -> (World, Srq) {
    let mut w = World::connected(Scheduler::Fair, small());
    let srq = w.b.create_srq(SRQ, log);
    w.connect_on(QA, QB, small(), options(), SEND_CQ, RECV_CQ);
    (w, srq)
}

/// A refused first packet takes an entry if its receive completes with it, and only then.
#[test]
fn a_refusal_takes_an_entry_if_it_completes_it() {
    // Too long for the elements: the receive tells it.
    let (mut w, mut srq) = alone(2);
    let place = w.b.region(100, Access::ALL);
    w.b.post_shared(&mut srq, &[place.sge(0, 10)]);
    w.b.post_shared(&mut srq, &[place.sge(0, 10)]);
    w.b.arm_srq(SRQ, 2);
    actions(&mut w);
    let send = frame(Opcode::SendOnly, PSN, Ext::None, &[0; 11]);
    let (verdict, answers) = give(&mut w, &send);
    assert_eq!(verdict, request(PSN, RxResult::NakInvalid));
    assert_eq!(answers, nak(NakCode::InvalidRequest, PSN, 0));
    // The other entry stays for other queue pairs.
    assert_eq!(statuses(&w.b.poll(RECV_CQ)), [(0, Status::LocalLength)]);
    assert!(w.b.events().contains(&limit_event()));

    // A refused write takes none.
    let (mut w, mut srq) = alone(2);
    w.b.post_shared(&mut srq, &[]);
    w.b.arm_srq(SRQ, 1);
    actions(&mut w);
    let write = frame(Opcode::WriteOnly, PSN, reth(0, 0xFF00, 1), &[0]);
    assert_eq!(give(&mut w, &write).0, request(PSN, RxResult::NakAccess));
    assert_eq!(w.b.poll(RECV_CQ), []);
    let failed = qp_error(Status::RemoteInvalidRequest, QB);
    assert_eq!(w.b.events(), [failed, last_wqe()]);

    // An immediate that is not implemented is refused before the queue is looked at: with an entry it takes it, without
    // one it is no RNR.
    for posted in [false, true] {
        let (mut w, mut srq) = alone(2);
        if posted {
            w.b.post_shared(&mut srq, &[]);
        }
        actions(&mut w);
        let send = frame(Opcode::SendOnlyImmediate, PSN, Ext::Imm([0; 4]), &[]);
        assert_eq!(give(&mut w, &send).0, request(PSN, RxResult::NakInvalid));
        let status = Status::RemoteInvalidRequest;
        let expected = if posted { vec![(0, status)] } else { vec![] };
        assert_eq!(statuses(&w.b.poll(RECV_CQ)), expected);
    }
}

/// In QpErr only the entry of the message under way is flushed; the rest serves other queue pairs.
#[test]
fn only_the_entry_under_way_is_flushed() {
    for under_way in [false, true] {
        let (mut w, mut srq) = alone(2);
        let place = w.b.region(1000, Access::ALL);
        w.connect_on(QA + 1, QB + 1, small(), options(), SEND_CQ, RECV_CQ);
        for _ in 0..3 {
            w.b.post_shared(&mut srq, &[place.sge(0, 1000)]);
        }
        // A doorbell of a ring of its own has no effect, so nothing of it is flushed.
        w.b.write(reg::DB_RQ, QB << 16 | 3);
        if under_way {
            actions(&mut w);
            let first = frame(Opcode::SendFirst, PSN, Ext::None, &[0; 256]);
            assert_eq!(give(&mut w, &first).0, request(PSN, RxResult::Accept));
        }
        w.b.set_state(QB, &w.a, QA, QpState::Err);
        let ends = |action: &Action| {
            use CommitKind::{Complete, Flush, QpEvent};
            let told = matches!(action.kind, Flush | Complete | QpEvent);
            told.then_some((action.kind, action.cause))
        };
        let all = actions(&mut w);
        let ends: Vec<_> = all.iter().filter_map(ends).collect();
        let flushed = statuses(&w.b.poll(RECV_CQ));
        let [entry, last] = [(CommitKind::Flush, 1), (CommitKind::Flush, 2)];
        let told = (CommitKind::QpEvent, Status::Flushed as u8);
        if under_way {
            assert_eq!(flushed, [(0, Status::Flushed)]);
            let written = ends.iter().position(|end| end.0 == CommitKind::Complete);
            // The event comes after the entry.
            assert_eq!(ends[written.unwrap() + 1..].last(), Some(&told));
            assert_eq!(ends.len(), 4);
            assert!(ends.contains(&entry) && ends.contains(&last));
        } else {
            assert_eq!((flushed, ends), (vec![], vec![last, told]));
        }
        assert_eq!(w.b.events(), [last_wqe()]);
        w.a.post(QA + 1, &Request::send(vec![]));
        w.run();
        let next = u16::from(under_way);
        let received = w.b.poll(RECV_CQ);
        assert_eq!(statuses(&received), [(next, Status::Success)]);
        assert_eq!(received[0].qpn, QB + 1);
    }
}

/// A message that is refused in its middle completes the entry that it took; nothing more is taken.
#[test]
fn a_message_refused_in_its_middle() {
    let (mut w, mut srq) = alone(2);
    let place = w.b.region(1000, Access::ALL);
    w.b.post_shared(&mut srq, &[place.sge(0, 300)]);
    w.b.post_shared(&mut srq, &[place.sge(0, 300)]);
    w.b.arm_srq(SRQ, 1);
    actions(&mut w);
    let first = frame(Opcode::SendFirst, PSN, Ext::None, &[0; 256]);
    assert_eq!(give(&mut w, &first).0, request(PSN, RxResult::Accept));
    let last = frame(Opcode::SendLast, PSN + 1, Ext::None, &[0; 256]);
    assert_eq!(
        give(&mut w, &last).0,
        request(PSN + 1, RxResult::NakInvalid)
    );
    assert_eq!(statuses(&w.b.poll(RECV_CQ)), [(0, Status::LocalLength)]);
    // One is left: not below the limit.
    let failed = qp_error(Status::LocalLength, QB);
    assert_eq!(w.b.events(), [failed, last_wqe()]);
}

/// The limit: an event once fewer are left, once, then disarmed.
#[test]
fn the_limit_event() {
    for scheduler in SCHEDULERS {
        let (mut w, mut srq) = world(scheduler, 3);
        let send = |w: &mut World| {
            w.a.post(QA + 1, &Request::send(vec![]));
            w.run();
            w.b.events()
        };
        for _ in 0..5 {
            w.b.post_shared(&mut srq, &[]);
        }
        w.run();
        // Never armed.
        assert_eq!(send(&mut w), []);
        w.b.arm_srq(SRQ, 3);
        w.run();
        assert_eq!(w.b.events(), []);
        // Three left: not fewer.
        assert_eq!(send(&mut w), []);
        assert_eq!(send(&mut w), [limit_event()]);
        assert_eq!(send(&mut w), []);
        // One left, armed with two: at once; not again.
        w.b.arm_srq(SRQ, 2);
        w.run();
        assert_eq!(w.b.events(), [limit_event()]);
        w.b.post_shared(&mut srq, &[]);
        assert_eq!(send(&mut w), []);
        // 0 disarms.
        w.b.arm_srq(SRQ, 1);
        w.b.arm_srq(SRQ, 0);
        assert_eq!(send(&mut w), []);
        // Empty: a limit of 1 fires at once; receives posted after that do not take it back.
        w.b.arm_srq(SRQ, 1);
        w.b.post_shared(&mut srq, &[]);
        w.run();
        assert_eq!(w.b.events(), [limit_event()]);
    }
}

/// Doorbells and limits of shared queues keep their order, and are reported whatever they are for.
#[test]
fn doorbells_in_order() {
    let (mut w, _) = world(Scheduler::Fair, 3);
    actions(&mut w);
    w.b.write(reg::DB_SRQ, u32::from(SRQ) << 16 | 2);
    w.b.arm_srq(SRQ, 2);
    w.b.write(reg::DB_SRQ, 0xFFFF << 16 | 9);
    w.b.arm_srq(5, 7);
    let doorbell = Action::new(CommitKind::SrqDoorbell, SRQ.into()).with_index(2);
    let limit = Action::new(CommitKind::SrqArm, SRQ.into()).with_index(2);
    assert!(w.b.target.apply(&limit).is_err());
    assert!(w.b.target.apply(&doorbell.with_index(3)).is_err());
    let expected = [
        doorbell,
        limit,
        Action::new(CommitKind::SrqDoorbell, 0xFFFF).with_index(9),
        Action::new(CommitKind::SrqArm, 5).with_index(7),
    ];
    for action in expected {
        let all = w.b.target.enabled().unwrap();
        assert!(all.contains(&action), "{all:?}");
        w.b.target.apply(&action).unwrap();
    }
    // Neither of them made an event: of SRQ two are there, 5 is not valid.
    assert_eq!(actions(&mut w), []);
}

/// `SrqEvent` is legal while the event is due, and only then; armed again meanwhile it is still one.
#[test]
fn one_event_at_a_time() {
    let (mut w, _) = world(Scheduler::Fair, 3);
    actions(&mut w);
    let due = Action::new(CommitKind::SrqEvent, SRQ.into());
    assert!(w.b.target.apply(&due).is_err());
    for _ in 0..2 {
        w.b.arm_srq(SRQ, 1);
        let arm = Action::new(CommitKind::SrqArm, SRQ.into()).with_index(1);
        w.b.target.apply(&arm).unwrap();
    }
    assert!(!w.b.target.engine().is_idle());
    for wrong in [
        due.with_index(1),
        due.with_cause(1),
        Action { qpn: 4, ..due },
    ] {
        assert!(w.b.target.apply(&wrong).is_err(), "{wrong}");
    }
    w.b.target.apply(&due).unwrap();
    assert!(w.b.target.apply(&due).is_err());
    assert_eq!(actions(&mut w), []);
    assert_eq!(w.b.events(), [limit_event()]);
}

/// Writing a shared queue's entry clears indices and limit, but an event that is due is still written.
#[test]
fn writing_the_entry() {
    let (mut w, mut srq) = world(Scheduler::Fair, 3);
    for _ in 0..3 {
        w.b.post_shared(&mut srq, &[]);
    }
    w.b.arm_srq(SRQ, 3);
    actions(&mut w);
    w.a.post(QA + 1, &Request::send(vec![]));
    // The action that takes the entry makes the event due.
    while w.a.target.step().unwrap() {}
    for bytes in w.a.target.take_frames().unwrap() {
        w.b.target.send_frame(&bytes).unwrap();
    }
    while w.b.target.last_action().unwrap().kind != CommitKind::RxRequest {
        assert!(w.b.target.step().unwrap());
    }
    w.b.arm_srq(SRQ, 1);
    w.b.stage(Table::Srq, SRQ.into(), 0, srq.context().as_bytes());
    let arm = Action::new(CommitKind::SrqArm, SRQ.into()).with_index(1);
    w.b.target.apply(&arm).unwrap();
    let context = Action::new(CommitKind::Context, SRQ.into())
        .with_index(1)
        .with_cause(Table::Srq as u8);
    w.b.target.apply(&context).unwrap();
    srq.producer = 0;
    w.run();
    assert_eq!(w.b.events(), [limit_event()]);
    assert_eq!(statuses(&w.b.poll(RECV_CQ)), [(0, Status::Success)]);
    // A new life from index 0: nothing is posted, no limit armed.
    w.a.post(QA + 1, &Request::send(vec![]));
    w.settle();
    assert_eq!(w.b.poll(RECV_CQ), []);
    w.b.post_shared(&mut srq, &[]);
    w.run();
    assert_eq!(statuses(&w.b.poll(RECV_CQ)), [(0, Status::Success)]);
    assert_eq!(w.b.events(), []);
}

/// The table's entry goes while a message is under way: what was taken belongs to the queue pair.
#[test]
fn an_entry_taken_outlives_its_queue() {
    let (mut w, mut srq) = alone(2);
    let place = w.b.region(1000, Access::ALL);
    w.b.post_shared(&mut srq, &[place.sge(0, 1000)]);
    actions(&mut w);
    let first = frame(Opcode::SendFirst, PSN, Ext::None, &[7; 256]);
    assert_eq!(give(&mut w, &first).0, request(PSN, RxResult::Accept));
    w.b.command(Table::Srq, SRQ.into(), 0, &[0; 16]);
    let last = frame(Opcode::SendLast, PSN + 1, Ext::None, &[7; 4]);
    assert_eq!(give(&mut w, &last).0, request(PSN + 1, RxResult::Accept));
    assert_eq!(statuses(&w.b.poll(RECV_CQ)), [(0, Status::Success)]);
    assert_eq!(w.b.bytes(&place, 0, 260), [7; 260]);
}

/// What the capability register tells.
#[test]
fn capabilities() {
    let (mut w, _) = world(Scheduler::Fair, 2);
    assert_eq!(w.b.read(0x00C) >> 16, 4);
}
