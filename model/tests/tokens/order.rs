//! What local requests wait for, and what a resend does to them.

use super::*;
use tandem_model::abi::CommitKind;
use tandem_model::engine::Action;
use tandem_model::hal::Target;

/// What node a does until nothing happens before the first deadline.
fn actions(w: &mut World) -> Vec<Action> {
    let mut all = Vec::new();
    while w.a.target.step().unwrap() {
        all.push(*w.a.target.last_action().unwrap());
    }
    all
}

/// Requests executed and packets sent among actions, as (kind, index).
fn sends(actions: &[Action]) -> Vec<(CommitKind, u16)> {
    use CommitKind::{SqEmit, SqFail, SqLocal};
    actions
        .iter()
        .filter(|action| matches!(action.kind, SqEmit | SqFail | SqLocal))
        .map(|action| (action.kind, action.index))
        .collect()
}

fn retired(actions: &[Action]) -> Vec<(u16, u8)> {
    let retires = actions.iter().filter(|a| a.kind == CommitKind::Retire);
    retires.map(|a| (a.index, a.cause)).collect()
}

/// Node a with a region, a free window, and what node b's responses would be.
struct Bench {
    w: World,
    region: Region,
    window: u32,
}

impl Bench {
    fn new() -> Self {
        let mut w = World::connected(
            Scheduler::Fair,
            QpOptions {
                timeout: 20,
                ..small()
            },
        );
        let region = w.a.region(2000, Access::ALL);
        let window = w.a.free_window();
        Self { w, region, window }
    }

    fn write(&mut self, length: u32) -> u16 {
        let sges = vec![self.region.sge(0, length)];
        self.w.a.post(QA, &Request::write(sges, (0, 0)))
    }

    fn bind(&self) -> Local {
        Local::bind(self.window, 7, &self.region, 0, 100)
    }

    fn acknowledged(&mut self, packet: u32) -> Vec<Action> {
        self.w
            .a
            .target
            .send_frame(&acknowledge(ACK, packet))
            .unwrap();
        actions(&mut self.w)
    }
}

use CommitKind::{SqEmit, SqFail, SqLocal};

/// An Invalidate waits until all earlier requests have retired (WIRE-ORD-2, field bugs D2, D4), Bind and FastRegister
/// wait for nothing, a fenced send for reads only (WIRE-ORD-1).
// Covers: WIRE-ORD-2
#[test]
fn an_invalidate_waits_for_all() {
    let mut b = Bench::new();
    let fast = b.w.a.fast_region(QA, 100, EVERY_RIGHT);
    b.write(300);
    b.w.a.post_local(QA, &b.bind());
    let fenced = Request {
        fence: true,
        ..Request::send(vec![])
    };
    b.w.a.post(QA, &fenced);
    b.w.a.post_local(QA, &Local::invalidate(fast.token));
    let behind = b.w.a.post(QA, &Request::send(vec![]));
    let done = actions(&mut b.w);
    let expected = [
        (SqLocal, 0),
        (SqEmit, 1),
        (SqEmit, 1),
        (SqLocal, 2),
        (SqEmit, 3),
    ];
    assert_eq!(sends(&done), expected);
    assert_eq!(retired(&done), [(0, 0)]);
    // Two packets of the write: it retires, the Bind with it, but the send has not.
    let done = b.acknowledged(1);
    assert_eq!(retired(&done), [(1, 0), (2, 0)]);
    assert_eq!(sends(&done), []);
    let done = b.acknowledged(2);
    assert_eq!(retired(&done), [(3, 0), (4, 0)]);
    assert_eq!(sends(&done), [(SqLocal, 4), (SqEmit, behind)]);
    let done = b.acknowledged(3);
    assert_eq!(retired(&done), [(behind, 0)]);
    // Local requests took no PSN.
    let frames = b.w.a.target.take_frames().unwrap();
    assert_eq!(frames.len(), 4);
}

/// It waits for a Bind before it, too, that was executed but has not retired.
#[test]
fn an_invalidate_waits_for_local_requests() {
    let mut b = Bench::new();
    b.w.a.post_local(QA, &b.bind());
    b.w.a
        .post_local(QA, &Local::invalidate(b.window & !0xFF | 7));
    let done = actions(&mut b.w);
    let steps: Vec<_> = done
        .iter()
        .filter(|a| matches!(a.kind, SqLocal | CommitKind::Retire))
        .map(|a| (a.kind, a.index))
        .collect();
    let retire = CommitKind::Retire;
    assert_eq!(
        steps,
        [(SqLocal, 0), (retire, 0), (SqLocal, 1), (retire, 1)]
    );
    // By hand: it is not legal before the Retire.
    let mut b = Bench::new();
    let token = b.window & !0xFF | 7;
    let requests = [b.bind(), Local::invalidate(token)];
    for (index, local) in (0..).zip(&requests) {
        b.w.a.place_bytes(QA, &local.record(index));
    }
    b.w.a.ring(QA);
    while b.w.a.target.last_action().unwrap().kind != SqLocal {
        assert!(b.w.a.target.step().unwrap());
    }
    let second = Action::new(SqLocal, QA).with_index(1).with_token(token);
    let retire = Action::new(CommitKind::Retire, QA);
    assert!(b.w.a.target.apply(&second).is_err());
    b.w.a.target.apply(&retire).unwrap();
    b.w.a.target.apply(&second).unwrap();
}

/// Acknowledged is not retired: an Invalidate waits for the Retire.
#[test]
fn an_invalidate_waits_for_the_retire() {
    let mut b = Bench::new();
    let fast = b.w.a.region(100, Access::FAST);
    b.write(10);
    b.w.a.post_local(QA, &Local::invalidate(fast.token));
    actions(&mut b.w);
    b.w.a.target.send_frame(&acknowledge(ACK, 0)).unwrap();
    assert!(b.w.a.target.step().unwrap());
    let last = b.w.a.target.last_action().unwrap().kind;
    assert_eq!(last, CommitKind::RxResponse);
    let local = Action::new(SqLocal, QA)
        .with_index(1)
        .with_token(fast.token);
    assert!(b.w.a.target.apply(&local).is_err());
    b.w.a
        .target
        .apply(&Action::new(CommitKind::Retire, QA))
        .unwrap();
    b.w.a.target.apply(&local).unwrap();
}

/// A fence holds for a local request as for others (WIRE-ORD-1, field bug D1).
#[test]
fn a_fenced_local_request_waits_for_reads() {
    for fence in [false, true] {
        let mut b = Bench::new();
        let read = Request::read(vec![b.region.sge(0, 10)], (0, 0));
        b.w.a.post(QA, &read);
        b.w.a.post(QA, &read);
        b.w.a.post_local(QA, &Local { fence, ..b.bind() });
        let before = sends(&actions(&mut b.w));
        assert_eq!(before.contains(&(SqLocal, 2)), !fence);
        let answer = |psn| {
            let opcode = tandem_model::wire::Opcode::ReadResponseOnly;
            response(opcode, PSN + psn, ACK, &[1; 10])
        };
        b.w.a.target.send_frame(&answer(0)).unwrap();
        assert_eq!(sends(&actions(&mut b.w)), []);
        b.w.a.target.send_frame(&answer(1)).unwrap();
        let after = sends(&actions(&mut b.w));
        assert_eq!(after.contains(&(SqLocal, 2)), fence);
    }
}

/// Its turn comes when all packets before it were sent, not earlier, and it is legal then only as itself.
#[test]
fn its_turn() {
    let mut b = Bench::new();
    b.write(700);
    b.w.a.post_local(QA, &b.bind());
    let mut emitted = 0;
    loop {
        let all = b.w.a.target.enabled().unwrap();
        let local = all.iter().find(|action| action.kind == SqLocal).copied();
        assert_eq!(local.is_some(), emitted == 3, "after {emitted} packets");
        let Some(local) = local else {
            assert!(b.w.a.target.step().unwrap());
            emitted += u32::from(b.w.a.target.last_action().unwrap().kind == SqEmit);
            continue;
        };
        assert_eq!(
            local,
            Action::new(SqLocal, QA).with_index(1).with_token(b.window)
        );
        for wrong in [
            local.with_index(2),
            local.with_token(b.window ^ 1),
            local.with_psn(1),
            local.with_cause(1),
            Action {
                kind: SqEmit,
                ..local
            },
            Action { qpn: 3, ..local },
        ] {
            assert!(b.w.a.target.apply(&wrong).is_err(), "{wrong}");
        }
        b.w.a.target.apply(&local).unwrap();
        assert!(b.w.a.target.apply(&local).is_err());
        break;
    }
}

/// A go-back sends again what was sent, and executes nothing again; requests retire in their order.
#[test]
fn a_resend_executes_nothing_again() {
    let mut b = Bench::new();
    b.write(10);
    b.w.a.post_local(QA, &b.bind());
    b.write(20);
    let first = actions(&mut b.w);
    let expected = [(SqEmit, 0), (SqLocal, 1), (SqEmit, 2)];
    assert_eq!(sends(&first), expected);
    assert_eq!(retired(&first), []);
    expire(&mut b.w);
    let again = actions(&mut b.w);
    assert_eq!(sends(&again), [(SqEmit, 0), (SqEmit, 2)]);
    let psns: Vec<u32> = again
        .iter()
        .filter(|a| a.kind == SqEmit)
        .map(|a| a.psn)
        .collect();
    assert_eq!(psns, [PSN, PSN + 1]);
    // The first is acknowledged, then lost again is only the second.
    assert_eq!(retired(&b.acknowledged(0)), [(0, 0), (1, 0)]);
    expire(&mut b.w);
    assert_eq!(sends(&actions(&mut b.w)), [(SqEmit, 2)]);
    assert_eq!(retired(&b.acknowledged(1)), [(2, 0)]);
    // Bound once: invalidated once, the region's count is 0 (an ordinary region tells it not, so by the window).
    let (token, w) = (b.window & !0xFF | 7, &mut b.w);
    w.a.poll(SEND_CQ);
    w.a.post_local(QA, &Local::invalidate(token));
    let done = actions(w);
    assert_eq!(sends(&done), [(SqLocal, 3)]);
}

/// A local request that failed is checked again after a go-back, when its turn comes.
#[test]
fn a_go_back_forgets_a_failure() {
    let mut b = Bench::new();
    b.write(10);
    let wrong = Local {
        region: b.region.token ^ 1,
        ..b.bind()
    };
    b.w.a.post_local(QA, &wrong);
    let first = actions(&mut b.w);
    assert_eq!(sends(&first), [(SqEmit, 0), (SqFail, 1)]);
    let failed = first.iter().find(|a| a.kind == SqFail).unwrap();
    assert_eq!(failed.cause, Status::Bind as u8);
    assert_eq!(failed.token, Fault::TokenKey as u32);
    expire(&mut b.w);
    // The entry is read again, and it is another one meanwhile.
    let bytes = b.bind().record(1);
    b.w.a.qps.get_mut(&QA).unwrap().sq_producer = 1;
    b.w.a.place_bytes(QA, &bytes);
    let again = actions(&mut b.w);
    assert_eq!(sends(&again), [(SqEmit, 0), (SqLocal, 1)]);
    assert_eq!(retired(&b.acknowledged(0)), [(0, 0), (1, 0)]);
}

/// A failed request waits for its place, and what is behind it is flushed (WIRE-MW-2).
#[test]
fn a_failure_keeps_its_place() {
    let mut b = Bench::new();
    b.write(10);
    b.w.a.post_local(
        QA,
        &Local {
            length: 0,
            ..b.bind()
        },
    );
    b.w.a.post_local(QA, &b.bind());
    let first = actions(&mut b.w);
    assert_eq!(sends(&first), [(SqEmit, 0), (SqFail, 1)]);
    assert_eq!(retired(&first), []);
    let done = b.acknowledged(0);
    assert_eq!(retired(&done), [(0, 0), (1, Status::Bind as u8)]);
    let entries = b.w.a.poll(SEND_CQ);
    let expected = [Status::Success, Status::Bind, Status::Flushed];
    let got: Vec<Status> = entries.iter().map(|e| e.status).collect();
    assert_eq!(got, expected);
    assert_eq!(b.w.a.events(), [qp_error(Status::Bind, QA)]);
}

/// A failure of a request before it or behind it does not touch one that was executed.
#[test]
fn an_executed_request_succeeds_whatever_fails_around_it() {
    // The write before it fails: it retires in QpErr, or is flushed.
    let success = Action::new(CommitKind::Retire, QA).with_index(1);
    let flushed = Action::new(CommitKind::Flush, QA).with_index(1);
    for (chosen, status) in [(success, Status::Success), (flushed, Status::Flushed)] {
        let mut b = Bench::new();
        b.write(10);
        b.w.a.post_local(QA, &b.bind());
        actions(&mut b.w);
        b.w.a.target.send_frame(&acknowledge(0x62, 0)).unwrap();
        while b.w.a.target.engine().qp_state(QA) != Some(QpState::Err) {
            assert!(b.w.a.target.step().unwrap());
        }
        let all = b.w.a.target.enabled().unwrap();
        assert!(all.contains(&success) && all.contains(&flushed), "{all:?}");
        b.w.a.target.apply(&chosen).unwrap();
        actions(&mut b.w);
        let expected = [(0, Status::RemoteAccess), (1, status)];
        assert_eq!(statuses(&b.w.a.poll(SEND_CQ)), expected);
    }
    // The write behind it fails.
    let mut b = Bench::new();
    b.write(10);
    b.w.a.post_local(QA, &b.bind());
    b.write(10);
    actions(&mut b.w);
    b.w.a.target.send_frame(&acknowledge(0x62, 1)).unwrap();
    actions(&mut b.w);
    let got = statuses(&b.w.a.poll(SEND_CQ));
    let expected = [
        (0, Status::Success),
        (1, Status::Success),
        (2, Status::RemoteAccess),
    ];
    assert_eq!(got, expected);
}

/// Nothing is executed before QpRts, and nothing behind a failure.
#[test]
fn only_in_rts() {
    let mut b = Bench::new();
    b.w.a.set_state(QA, &b.w.b, QB, QpState::Init);
    b.w.a.post_local(QA, &b.bind());
    for state in [QpState::Init, QpState::Rtr] {
        b.w.a.set_state(QA, &b.w.b, QB, state);
        assert_eq!(sends(&actions(&mut b.w)), []);
        if state == QpState::Init {
            b.w.a.ring(QA);
        }
    }
    b.w.a.set_state(QA, &b.w.b, QB, QpState::Rts);
    assert_eq!(sends(&actions(&mut b.w)), [(SqLocal, 0)]);
    let mut b = Bench::new();
    b.write(10);
    actions(&mut b.w);
    b.w.a.target.send_frame(&acknowledge(0x62, 0)).unwrap();
    b.w.a.post_local(QA, &b.bind());
    assert_eq!(sends(&actions(&mut b.w)), []);
    let got = statuses(&b.w.a.poll(SEND_CQ));
    assert_eq!(got, [(0, Status::RemoteAccess), (1, Status::Flushed)]);
}

/// A silent one that succeeded makes no entry, a silent one that fails does (WIRE-ORD-4).
#[test]
fn silent_local_requests() {
    for scheduler in SCHEDULERS {
        let mut w = world(scheduler);
        let region = w.a.region(100, Access::ALL);
        let window = w.a.free_window();
        let bind = Local {
            silent: true,
            ..Local::bind(window, 7, &region, 0, 100)
        };
        w.a.post_local(QA, &bind);
        w.run();
        assert_eq!(w.a.poll(SEND_CQ), []);
        ends(
            &mut w,
            &Local {
                token: window & !0xFF | 7,
                ..bind
            },
            Err(Fault::State),
        );
    }
}

/// An entry's own checks come first, whatever the request would wait for: length above 2^31.
#[test]
fn a_malformed_entry_does_not_wait() {
    let mut b = Bench::new();
    let fast = b.w.a.region(100, Access::FAST);
    b.write(10);
    let long = Local {
        length: (1 << 31) + 1,
        ..Local::invalidate(fast.token)
    };
    b.w.a.post_local(QA, &long);
    let done = actions(&mut b.w);
    assert_eq!(sends(&done), [(SqEmit, 0), (SqFail, 1)]);
    let failed = done.iter().find(|a| a.kind == SqFail).unwrap();
    assert_eq!(failed.cause, Status::LocalQpOperation as u8);
    assert_eq!(failed.token, Fault::WqeLength as u32);
    // A Bind that long fails with the entry's status too.
    let mut w = world(Scheduler::Fair);
    let region = w.a.region(100, Access::ALL);
    let window = w.a.free_window();
    let bind = Local::bind(window, 7, &region, 0, (1 << 31) + 1);
    w.a.post_local(QA, &bind);
    w.run();
    let entry = w.a.poll(SEND_CQ)[0];
    assert_eq!(entry.status, Status::LocalQpOperation);
}
