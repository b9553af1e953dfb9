//! What rules are tested with: every scheduler, small packets, requests that fail.

use super::{Event, QA, QB, QpOptions, RECV_CQ, Request, SEND_CQ, World, statuses};
use tandem_model::abi::{EventKind, QpState, Status};
use tandem_model::target::Scheduler;

pub const SCHEDULERS: [Scheduler; 4] = [
    Scheduler::Fair,
    Scheduler::Random(21),
    Scheduler::Random(22),
    Scheduler::Adversarial,
];

pub fn small() -> QpOptions {
    QpOptions {
        mtu: 1,
        ..QpOptions::default()
    }
}

pub fn event(kind: EventKind, code: u8, number: u32) -> Event {
    Event {
        kind: kind as u8,
        code,
        number,
    }
}

pub fn qp_error(status: Status, qpn: u32) -> Event {
    event(EventKind::QpError, status as u8, qpn)
}

/// Everything about one failing request: statuses and error codes of both sides, and that both queue
/// pairs end in `QpErr` with their events.
pub struct Failure {
    pub sender: (Status, u32),
    pub receiver: Option<(Status, u32)>,
    /// Event code at the receiver, if it goes to error.
    pub told: Option<Status>,
}

/// Runs `request`, followed by one more; the receiver has two receives of `sges`.
pub fn fails(w: &mut World, request: &Request, sges: &[(u64, u32, u32)], expected: Failure) {
    w.b.receive(QB, sges);
    w.b.receive(QB, sges);
    w.a.receive(QA, &[]);
    let failing = w.a.post(QA, request);
    let behind = w.a.post(QA, &Request::send(vec![]));
    w.run();
    let sent = w.a.poll(SEND_CQ);
    assert_eq!(
        statuses(&sent),
        [(failing, expected.sender.0), (behind, Status::Flushed)]
    );
    assert_eq!(sent[0].error_code, expected.sender.1);
    assert_eq!((sent[1].opcode, sent[1].error_code), (0, 0));
    let opcode = request.opcode as u8;
    assert_eq!((sent[0].opcode, sent[0].byte_len), (opcode, 0));
    assert_eq!(w.a.state(QA), QpState::Err as u32);
    assert_eq!(w.a.events(), [qp_error(expected.sender.0, QA)]);
    assert_eq!(statuses(&w.a.poll(RECV_CQ)), [(0, Status::Flushed)]);

    let received = w.b.poll(RECV_CQ);
    match expected.told {
        None => {
            assert_eq!(w.b.state(QB), QpState::Rts as u32);
            assert!(received.is_empty() && w.b.events().is_empty());
        }
        Some(status) => {
            assert_eq!(w.b.state(QB), QpState::Err as u32);
            assert_eq!(w.b.events(), [qp_error(status, QB)]);
            let (first, code) = expected.receiver.unwrap_or((Status::Flushed, 0));
            assert_eq!(statuses(&received), [(0, first), (1, Status::Flushed)]);
            assert_eq!((received[0].error_code, received[0].byte_len), (code, 0));
        }
    }
    // Later requests are flushed at once (WIRE-QP-5).
    let later = w.a.post(QA, &Request::send(vec![]));
    w.run();
    assert_eq!(statuses(&w.a.poll(SEND_CQ)), [(later, Status::Flushed)]);
}
