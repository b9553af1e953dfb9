//! Tokens that requests make valid and free again: fast registration, memory windows, invalidation.
//!
//! `fast`, `windows`: registration and binding. `invalidate`: by a request, by the peer, by a read. `order`: what local
//! requests wait for and what a resend does to them. `placement`: what is told before an entry tells of an
//! Invalidate. `random`: all of it in long histories.

#[path = "../engine_support/mod.rs"]
mod engine_support;

mod fast;
mod invalidate;
mod order;
mod placement;
mod random;
mod windows;

use engine_support::*;
use tandem_model::abi::{Fault, QpState, Status, WqeOpcode};
use tandem_model::target::Scheduler;

/// Node a's only requests end like this, and node a's queue pair is in this state then.
fn ends(w: &mut World, local: &Local, expected: Result<(), Fault>) {
    let index = w.a.post_local(QA, local);
    w.run();
    let entries = w.a.poll(SEND_CQ);
    let entry = entries.last().unwrap();
    let (status, code, state) = match expected {
        Ok(()) => (Status::Success, 0, QpState::Rts),
        Err(fault) => refused(local.opcode, fault),
    };
    let got = (entry.index, entry.opcode, entry.status, entry.error_code);
    assert_eq!(
        got,
        (index, local.opcode as u8, status, code),
        "{local:x?} {expected:?}"
    );
    assert_eq!((entry.byte_len, entry.invalidated), (0, None));
    assert_eq!(w.a.state(QA), state as u32);
    let told = match expected {
        Ok(()) => vec![],
        Err(_) => vec![qp_error(status, QA)],
    };
    assert_eq!(w.a.events(), told);
}

/// What becomes of node b's access to bytes of node a.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Granted,
    Refused,
}

/// Node b writes to and reads from node a; a refusal ends the connection.
fn reaches(w: &mut World, opcode: WqeOpcode, remote: (u64, u32), length: u32) -> Reach {
    let mine = w.b.region(u64::from(length).max(1), Access::ALL);
    w.b.fill(&mine, 0, &pattern(length as usize, 9));
    let request = Request {
        remote,
        ..Request::new(opcode, vec![mine.sge(0, length)])
    };
    w.b.post(QB, &request);
    w.run();
    let entries = w.b.poll(SEND_CQ);
    match entries.last().unwrap().status {
        Status::Success => Reach::Granted,
        Status::RemoteAccess => {
            assert_eq!(entries.last().unwrap().error_code, 0x62);
            assert_eq!(w.a.state(QA), QpState::Err as u32);
            Reach::Refused
        }
        other => panic!("{other:?}"),
    }
}

/// A world of a scheduler.
fn world(scheduler: Scheduler) -> World {
    World::connected(scheduler, small())
}
