//! States that the engine's queue pairs are put into.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tandem_model::abi::{QpState, Status};
use tandem_model::ndk::{NtStatus, Qp, QpParameters};

use crate::fake::{Bed, QP_ERROR, peer};

const RESET: u8 = QpState::Reset as u8;
const INIT: u8 = QpState::Init as u8;
const RTR: u8 = QpState::Rtr as u8;
const RTS: u8 = QpState::Rts as u8;
const ERR: u8 = QpState::Err as u8;

/// The transitions of a reliable connection that there are.
fn is_one(from: u8, to: u8) -> bool {
    match (from, to) {
        (_, RESET) | (RESET | INIT, INIT) | (INIT, RTR) | (RTR | RTS, RTS) => true,
        // Both steps in one entry.
        (INIT, RTS) => true,
        (from, to) => to == ERR && from != RESET,
    }
}

/// What a consumer does, or the peer.
#[derive(Clone, Copy, Debug)]
enum Act {
    Create,
    Connect(usize),
    Post(usize),
    Flush(usize),
    Fails(usize),
    Close(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = (0..6u8, 0..4usize).prop_map(|(kind, which)| match kind {
        0 => Act::Create,
        1 => Act::Connect(which),
        2 => Act::Post(which),
        3 => Act::Flush(which),
        4 => Act::Fails(which),
        _ => Act::Close(which),
    });
    proptest::collection::vec(act, 1..60)
}

fn perform(bed: &mut Bed, qps: &mut Vec<Qp>, act: Act) {
    let nic = &mut bed.nic;
    // What is refused is as good as what is done: only the states count.
    match act {
        Act::Create => {
            let parameters = QpParameters::new(bed.cq, bed.cq);
            qps.extend(nic.create_qp(bed.pd, &parameters));
        }
        Act::Connect(which) => {
            let _ = qps.get(which).map(|qp| nic.bench().connect(*qp, &peer()));
        }
        Act::Post(which) => {
            let _ = qps.get(which).map(|qp| nic.receive(*qp, 1, &[]));
        }
        Act::Flush(which) => {
            let _ = qps.get(which).map(|qp| nic.flush(*qp));
        }
        Act::Fails(which) => {
            if let Some(number) = qps.get(which).and_then(|qp| nic.qp_number(*qp).ok()) {
                let code = Status::RetryExceeded as u8;
                nic.hal_mut().event(QP_ERROR, code, number);
                nic.poll_events().unwrap();
            }
        }
        Act::Close(which) if which < qps.len() => {
            let _ = nic.close_qp(qps.remove(which));
        }
        Act::Close(_) => {}
    }
}

proptest! {
    /// WIRE-QP-3: whatever is done with queue pairs, and in whatever order.
    // Covers: WIRE-QP-3
    #[test]
    fn wire_qp_3_no_other_transitions(acts in acts()) {
        let mut bed = Bed::new();
        let mut qps = vec![bed.qp];
        for act in &acts {
            perform(&mut bed, &mut qps, *act);
        }
        let mut now = BTreeMap::new();
        for (number, to) in &bed.nic.hal().states {
            let from = now.insert(*number, *to).unwrap_or(RESET);
            prop_assert!(is_one(from, *to), "queue pair {}: {} to {}", number, from, to);
        }
    }
}

/// A queue pair is made ready once, and not from error; what is refused writes nothing.
// Covers: WIRE-QP-3
#[test]
fn wire_qp_3_refused() {
    let mut bed = Bed::new();
    let before = bed.nic.hal().states.len();
    let outcome = bed.nic.bench().connect(bed.qp, &peer());
    assert_eq!(outcome, Err(NtStatus::CONNECTION_ACTIVE.into()));
    assert_eq!(bed.nic.hal().states.len(), before);
    bed.nic.flush(bed.qp).unwrap();
    assert_eq!(bed.nic.hal().states.last(), Some(&(bed.qpn, ERR)));
    let outcome = bed.nic.bench().connect(bed.qp, &peer());
    assert_eq!(outcome, Err(NtStatus::INVALID_DEVICE_STATE.into()));
    assert_eq!(bed.nic.hal().states.last(), Some(&(bed.qpn, ERR)));
}
