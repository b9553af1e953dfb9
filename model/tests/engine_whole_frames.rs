//! Whole Ethernet frames on queue pair 1, in and out.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{CommitKind, DropCause, Fault, QpState, Status, WqeOpcode};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;
use tandem_model::wire::{Deth, Ext, Frame, MacAddr, Opcode, Qpn};

/// Queue pair 1 on both nodes.
fn world(scheduler: Scheduler) -> World {
    let mut w = World::connected(scheduler, small());
    w.connect(1, 1, small());
    w
}

/// An Ethernet frame of a type that nobody knows, for everyone.
fn broadcast(length: usize) -> Vec<u8> {
    let mut bytes = pattern(length, 6);
    bytes[..6].fill(0xFF);
    bytes[12..14].copy_from_slice(&[0x88, 0xB5]);
    bytes
}

/// A good RoCEv2 frame for queue pair 1 of node b.
fn management(change: impl FnOnce(&mut Frame<'_>)) -> Vec<u8> {
    let payload = pattern(256, 2);
    built(
        Opcode::UdSendOnly,
        0x77,
        Ext::Deth(Deth::GSI),
        &payload,
        |f| {
            f.bth.dest_qp = Qpn::new(1);
            change(f);
        },
    )
}

fn taken(index: u16, status: Status) -> Action {
    Action::new(CommitKind::RxFrame, 1)
        .with_index(index)
        .with_cause(status as u8)
}

/// A drop with the number and PSN that the frame's cause would have.
fn lost(frame: &[u8], cause: DropCause) -> Action {
    let (qpn, psn) = match Frame::parse(frame) {
        Ok(frame) => (frame.bth.dest_qp.get(), frame.bth.psn.get()),
        Err(_) => (0, 0),
    };
    Action::new(CommitKind::RxDrop, qpn)
        .with_psn(psn)
        .with_cause(cause as u8)
}

/// What is no RoCEv2, and what is for queue pair 1, goes there as it is, whatever its addresses.
#[test]
fn frames_come_in_whole() {
    let mut w = world(Scheduler::Fair);
    let place = w.b.region(3000, Access::ALL);
    let other_mac = |f: &mut Frame<'_>| f.eth.dst = MacAddr([2, 9, 9, 9, 9, 9]);
    let marked = |f: &mut Frame<'_>| f.ip = f.ip.with_path(3, 9);
    let frames = [
        broadcast(60),
        broadcast(1514),
        management(|_| {}),
        management(other_mac),
        management(marked),
        management(|f| f.bth.pkey.0 = 0x1234),
    ];
    for (i, bytes) in (0..).zip(&frames) {
        // Two elements, and a page boundary somewhere.
        w.b.receive(1, &[place.sge(0, 40), place.sge(100, 2900)]);
        while w.b.target.step().unwrap() {}
        let before = [reg::DROP, reg::RX_FRAMES, 0x288].map(|offset| w.b.read(offset));
        assert_eq!(give(&mut w, bytes), (taken(i, Status::Success), vec![]));
        let after = [reg::DROP, reg::RX_FRAMES, 0x288].map(|offset| w.b.read(offset));
        let more = [1, 1, bytes.len() as u32];
        assert_eq!(after, [0, 1, 2].map(|i| before[i] + more[i]));
        let entry = w.b.poll(RECV_CQ)[0];
        let expected = Cqe {
            index: i,
            opcode: 0x80,
            status: Status::Success,
            qpn: 1,
            receive: true,
            solicited: true,
            invalidated: None,
            byte_len: bytes.len() as u32,
            error_code: 0,
        };
        assert_eq!(entry, expected);
        let mut got = w.b.bytes(&place, 0, 40);
        got.extend(w.b.bytes(&place, 100, bytes.len() - 40));
        assert_eq!(&got, bytes);
        // No congestion is noticed.
        assert_eq!(w.b.target.engine().cnp_action(1), None);
    }
    assert_eq!(w.b.events(), []);
}

/// Without queue pair 1 in QpRtr or QpRts the frames are dropped as others are.
#[test]
fn without_the_queue_pair() {
    let wrong_mac = management(|f| f.eth.dst = MacAddr([2, 9, 9, 9, 9, 9]));
    let cases = [
        (broadcast(60), DropCause::NotRoce),
        (management(|_| {}), DropCause::Qpn),
        (wrong_mac, DropCause::DestAddress),
    ];
    for state in [None, Some(QpState::Init), Some(QpState::Err)] {
        let mut w = match state {
            None => World::connected(Scheduler::Fair, small()),
            Some(_) => world(Scheduler::Fair),
        };
        if let Some(state) = state {
            w.b.set_state(1, &w.a, 1, state);
        }
        for (bytes, cause) in &cases {
            assert_eq!(give(&mut w, bytes).0, lost(bytes, *cause), "{state:?}");
        }
    }
    let mut w = world(Scheduler::Fair);
    w.b.set_state(1, &w.a, 1, QpState::Init);
    w.b.receive(1, &[]);
    let place = w.b.region(100, Access::ALL);
    w.b.receive(1, &[place.sge(0, 100)]);
    w.b.set_state(1, &w.a, 1, QpState::Rtr);
    // An empty receive holds no frame, and stays the oldest.
    let bytes = broadcast(60);
    assert_eq!(give(&mut w, &bytes).0, lost(&bytes, DropCause::NoBuffer));
    assert_eq!(w.b.poll(RECV_CQ), []);
}

/// What the wire refuses goes nowhere, nor does what is for another queue pair.
#[test]
fn what_is_not_for_queue_pair_1() {
    let mut w = world(Scheduler::Fair);
    let place = w.b.region(3000, Access::ALL);
    w.b.receive(1, &[place.sge(0, 3000)]);
    let mut bad = management(|_| {});
    *bad.last_mut().unwrap() ^= 1;
    let expected = Action::new(CommitKind::RxDrop, 0).with_cause(DropCause::Icrc as u8);
    assert_eq!(give(&mut w, &bad).0, expected);
    let other = management(|f| f.bth.dest_qp = Qpn::new(0));
    assert_eq!(give(&mut w, &other).0, lost(&other, DropCause::Qpn));
    let ordinary = frame(Opcode::SendOnly, PSN, Ext::None, &[]);
    assert_eq!(give(&mut w, &ordinary).0.kind, CommitKind::RxRequest);
    // A request of a connection names queue pair 1: it is a frame, not a request.
    let request = built(Opcode::WriteOnly, PSN, reth(0, 0, 0), &[], |f| {
        f.bth.dest_qp = Qpn::new(1);
    });
    assert_eq!(give(&mut w, &request), (taken(0, Status::Success), vec![]));
}

/// No receive, too small a receive, too long a frame; the receive stays.
#[test]
fn no_room_for_a_frame() {
    let mut w = world(Scheduler::Fair);
    let place = w.b.region(4000, Access::ALL);
    for bytes in [broadcast(60), management(|_| {})] {
        assert_eq!(give(&mut w, &bytes).0, lost(&bytes, DropCause::NoBuffer));
        assert_eq!(w.b.read(reg::DROP), 0);
    }
    assert_eq!(w.b.read(reg::DROP + 4 * DropCause::NoBuffer as u32), 2);
    w.b.receive(1, &[place.sge(0, 30), place.sge(30, 30)]);
    let bytes = broadcast(61);
    assert_eq!(give(&mut w, &bytes).0, lost(&bytes, DropCause::NoBuffer));
    assert_eq!(give(&mut w, &broadcast(60)).0, taken(0, Status::Success));
    w.b.receive(1, &[place.sge(0, 4000)]);
    let bytes = broadcast(2049);
    assert_eq!(give(&mut w, &bytes).0, lost(&bytes, DropCause::NoBuffer));
    assert_eq!(give(&mut w, &broadcast(2048)).0, taken(1, Status::Success));
    assert_eq!(w.b.events(), []);
}

/// A receive whose token refuses the frame ends the queue pair; nothing is placed.
#[test]
fn a_receive_that_must_not_be_used() {
    for scheduler in SCHEDULERS {
        let mut w = world(scheduler);
        let good = w.b.region(100, Access::ALL);
        let bad = w.b.region(
            100,
            Access {
                local_write: false,
                ..Access::ALL
            },
        );
        w.b.receive(1, &[good.sge(0, 50), bad.sge(0, 50)]);
        w.b.receive(1, &[good.sge(0, 50)]);
        // It ends inside the first element: the second is not looked at.
        while w.b.target.step().unwrap() {}
        assert_eq!(give(&mut w, &broadcast(50)).0, taken(0, Status::Success));
        w.b.receive(1, &[good.sge(0, 50), bad.sge(0, 50)]);
        assert_eq!(give(&mut w, &broadcast(50)).0, taken(1, Status::Success));
        let placed = w.b.bytes(&good, 0, 100);
        let mut bytes = broadcast(60);
        bytes[20] ^= 0xFF;
        let verdict = give(&mut w, &bytes).0;
        assert_eq!(verdict, taken(2, Status::LocalProtection));
        w.b.receive(1, &[]);
        w.run();
        let entries = w.b.poll(RECV_CQ);
        let last = entries[2];
        assert_eq!(
            (last.status, last.error_code, last.byte_len, last.solicited),
            (Status::LocalProtection, Fault::Right as u32, 0, false)
        );
        assert_eq!(entries[3].status, Status::Flushed);
        assert_eq!(w.b.bytes(&good, 0, 100), placed);
        assert_eq!(w.b.state(1), QpState::Err as u32);
        assert_eq!(w.b.events(), [qp_error(Status::LocalProtection, 1)]);
    }
}

/// The frame is in memory before its entry is seen, and only the frame is waited for.
#[test]
fn placement_of_frames() {
    let mut w = world(Scheduler::Fair);
    let place = w.b.region_at(0x4000_0FF0, 100, Access::ALL);
    w.b.receive(1, &[place.sge(0, 100)]);
    while w.b.target.step().unwrap() {}
    w.b.target.send_frame(&broadcast(60)).unwrap();
    while w.b.target.last_action().unwrap().kind != CommitKind::Complete {
        assert!(w.b.target.step().unwrap());
    }
    let engine = w.b.target.engine();
    // Two pages.
    assert_eq!((engine.payload_writes(), engine.barrier()), (2, 2));
}

/// Queue pair 1 may take its receives from a shared queue.
#[test]
fn receives_of_a_shared_queue() {
    let mut w = World::connected(Scheduler::Fair, small());
    let mut srq = w.b.create_srq(2, 3);
    let options = QpOptions {
        srq: Some(2),
        ..small()
    };
    w.connect_on(1, 1, small(), options, SEND_CQ, RECV_CQ);
    let bytes = broadcast(60);
    assert_eq!(give(&mut w, &bytes).0, lost(&bytes, DropCause::NoBuffer));
    let place = w.b.region(100, Access::ALL);
    for _ in 0..2 {
        w.b.post_shared(&mut srq, &[place.sge(0, 100)]);
    }
    w.b.arm_srq(2, 1);
    while w.b.target.step().unwrap() {}
    assert_eq!(give(&mut w, &bytes).0, taken(0, Status::Success));
    assert_eq!(w.b.events(), []);
    assert_eq!(give(&mut w, &bytes).0, taken(1, Status::Success));
    assert_eq!(w.b.events().len(), 1);
    let ok = Status::Success;
    assert_eq!(statuses(&w.b.poll(RECV_CQ)), [(0, ok), (1, ok)]);
}

fn send_frame(sges: Vec<(u64, u32, u32)>) -> Request {
    Request::new(WqeOpcode::Frame, sges)
}

/// Frames go out as they are, from elements or inline, and are done at once; what one node sends the other takes.
#[test]
fn frames_go_out_whole() {
    for scheduler in SCHEDULERS {
        let mut w = world(scheduler);
        let mine = w.a.region_at(0x4000_0F00, 4000, Access::ALL);
        let theirs = w.b.region(4000, Access::ALL);
        let long = broadcast(2048);
        w.a.fill(&mine, 0, &long);
        for at in [0, 1500] {
            w.b.receive(1, &[theirs.sge(at, 2100)]);
        }
        w.run();
        let octets = w.a.read(0x290);
        w.a.post(
            1,
            &send_frame(vec![mine.sge(0, 1000), mine.sge(1000, 1048)]),
        );
        let short = broadcast(14);
        let inline = Request {
            inline: Some(short.clone()),
            silent: true,
            ..send_frame(vec![])
        };
        w.a.post(1, &inline);
        w.run();
        let sent: Vec<_> = w.frames.iter().map(|(_, bytes)| bytes.clone()).collect();
        assert_eq!(sent, [long.clone(), short.clone()]);
        assert_eq!(w.a.read(reg::TX_FRAMES), 2);
        assert_eq!(w.a.read(0x290) - octets, 2048 + 14);
        let done = w.a.poll(SEND_CQ);
        assert_eq!(statuses(&done), [(0, Status::Success)]);
        assert_eq!(done[0].opcode, WqeOpcode::Frame as u8);
        let received = w.b.poll(RECV_CQ);
        let lengths: Vec<u32> = received.iter().map(|entry| entry.byte_len).collect();
        assert_eq!(lengths, [2048, 14]);
        assert_eq!(w.b.bytes(&theirs, 0, 1500), long[..1500]);
        assert_eq!(w.b.bytes(&theirs, 1500, 14), short);
    }
}

/// `SqEmit` of a frame has PSN 0; no timer runs, nothing is outstanding.
#[test]
fn a_frame_has_no_psn() {
    let options = QpOptions {
        timeout: 1,
        ..small()
    };
    let mut w = World::connected(Scheduler::Fair, small());
    w.connect(1, 1, options);
    let mine = w.a.region(100, Access::ALL);
    for _ in 0..3 {
        w.a.post(1, &send_frame(vec![mine.sge(0, 60)]));
    }
    let mut emitted = Vec::new();
    while w.a.target.step().unwrap() {
        let action = *w.a.target.last_action().unwrap();
        if action.kind == CommitKind::SqEmit {
            emitted.push(action);
        }
        assert_eq!(w.a.target.engine().timer(1), None);
    }
    let expected = [0, 1, 2].map(|index| Action::new(CommitKind::SqEmit, 1).with_index(index));
    assert_eq!(emitted, expected);
}

/// What the send queue of queue pair 1 refuses, and other queues of it.
#[test]
fn refused_frames() {
    let status = Status::LocalQpOperation;
    let cases: [(u32, WqeOpcode, u32, Status, Fault); 7] = [
        (1, WqeOpcode::Frame, 13, status, Fault::WqeLength),
        (1, WqeOpcode::Frame, 2049, status, Fault::WqeLength),
        (1, WqeOpcode::Send, 60, status, Fault::WqeOpcode),
        (1, WqeOpcode::Read, 60, status, Fault::WqeOpcode),
        (1, WqeOpcode::Invalidate, 60, status, Fault::WqeOpcode),
        (QA, WqeOpcode::Frame, 60, status, Fault::WqeOpcode),
        (
            1,
            WqeOpcode::Frame,
            1001,
            Status::LocalProtection,
            Fault::Bounds,
        ),
    ];
    for scheduler in SCHEDULERS {
        for (qpn, opcode, length, status, fault) in cases {
            let mut w = world(scheduler);
            let mine = w.a.region(1000, Access::ALL);
            w.a.post(qpn, &Request::new(opcode, vec![mine.sge(0, length)]));
            w.a.post(qpn, &send_frame(vec![mine.sge(0, 60)]));
            w.run();
            let entries = w.a.poll(SEND_CQ);
            let expected = [(0, status), (1, Status::Flushed)];
            assert_eq!(statuses(&entries), expected, "{opcode:?} {length}");
            assert_eq!(entries[0].error_code, fault as u32);
            assert_eq!(entries[0].opcode, opcode as u8);
            assert_eq!(w.a.events(), [qp_error(status, qpn)]);
            assert_eq!(w.frames, []);
        }
    }
    // Elements that end before the length.
    let mut w = world(Scheduler::Fair);
    let mine = w.a.region(1000, Access::ALL);
    let short = Request {
        length: Some(61),
        ..send_frame(vec![mine.sge(0, 60)])
    };
    w.a.post(1, &short);
    w.run();
    let entry = w.a.poll(SEND_CQ)[0];
    assert_eq!((entry.status, entry.error_code), (status, 10));
}

/// Nothing is sent before QpRts.
#[test]
fn frames_leave_in_rts_only() {
    let mut w = world(Scheduler::Fair);
    let mine = w.a.region(100, Access::ALL);
    w.a.set_state(1, &w.b, 1, QpState::Init);
    w.a.post(1, &send_frame(vec![mine.sge(0, 60)]));
    w.run();
    assert_eq!(w.frames, []);
    w.a.set_state(1, &w.b, 1, QpState::Rtr);
    w.run();
    assert_eq!(w.frames, []);
    w.a.set_state(1, &w.b, 1, QpState::Rts);
    w.run();
    assert_eq!(w.frames.len(), 1);
}
