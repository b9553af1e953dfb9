//! Silent requests: slots come free though nothing completes.

use std::collections::VecDeque;

use tandem_model::abi::{Status, WqeOpcode};
use tandem_model::ndk::{NdkError, NtStatus, OpFlags};

use proptest::prelude::*;

use crate::fake::{Bed, DB_CQ, cqe};

const SILENT: OpFlags = OpFlags::SILENT_SUCCESS;

/// Executes everything posted from `next` on, as the engine would; returns the new `next`.
fn execute(bed: &mut Bed, mut next: u16, until: u16) -> u16 {
    while next != until {
        let silent = bed.nic.hal().sq_wqe(bed.qpn, next).get("silent") == 1;
        if !silent {
            let entry = bed.sent(next);
            bed.complete(entry);
        }
        next = next.wrapping_add(1);
    }
    next
}

/// NDK-SEND-3, NDK-READ-11: a consumer that is silent for ever never runs out of slots, and never sees an entry.
#[test]
fn ndk_send_3_silent_for_ever() {
    for depth in [1, 2, 3, 4, 5, 64] {
        let mut bed = Bed::depth(depth);
        let mut next = 0;
        for post in 0..1000u16 {
            bed.send(post.into(), SILENT)
                .unwrap_or_else(|error| panic!("depth {depth}, post {post}: {error}"));
            next = execute(&mut bed, next, post + 1);
        }
        assert_eq!(bed.contexts(), [0; 0]);
    }
}

/// Reading O3: a queue full of unfinished silent requests is full, and empties with their completion.
#[test]
fn o3_silent_requests_take_slots() {
    let mut bed = Bed::depth(8);
    for post in 0..8 {
        bed.send(post, SILENT).unwrap();
    }
    assert_eq!(bed.send(8, SILENT), Err(NtStatus::NO_MORE_ENTRIES.into()));
    execute(&mut bed, 0, 8);
    for post in 8..12 {
        bed.send(post, SILENT).unwrap();
    }
    assert_eq!(bed.contexts(), [0; 0]);
}

#[test]
fn every_half_queue_has_an_own_signal() {
    let mut bed = Bed::depth(8);
    let mut signals = Vec::new();
    for post in 0..20u16 {
        bed.send(0, SILENT).unwrap();
        if bed.nic.hal().sq_wqe(bed.qpn, post).get("silent") == 0 {
            signals.push(post);
            execute(&mut bed, post, post + 1);
        }
    }
    assert_eq!(signals, [3, 7, 11, 15, 19]);
    // A signalled request of the consumer's serves as well.
    bed.send(1, OpFlags::NONE).unwrap();
    execute(&mut bed, 20, 21);
    for post in 21..24 {
        bed.send(0, SILENT).unwrap();
        assert_eq!(bed.nic.hal().sq_wqe(bed.qpn, post).get("silent"), 1);
    }
    assert_eq!(bed.contexts(), [1]);
}

/// NDK-READ-12, NDK-SINV-6: an own signal that fails is the consumer's.
#[test]
fn ndk_read_12_a_failing_own_signal_is_told() {
    let mut bed = Bed::depth(2);
    bed.send(10, SILENT).unwrap();
    bed.send(11, SILENT).unwrap();
    let entry = cqe(bed.qpn, 0, WqeOpcode::Send, Status::RemoteAccess);
    bed.complete(entry);
    let entry = cqe(bed.qpn, 1, WqeOpcode::None, Status::Flushed);
    bed.complete(entry);
    let statuses: Vec<_> = bed
        .poll()
        .iter()
        .map(|r| (r.request_context, r.status))
        .collect();
    assert_eq!(
        statuses,
        [(10, NtStatus::REMOTE_RESOURCES), (11, NtStatus::CANCELLED)]
    );
}

/// Own signals behind results wait in the ring; then no other one is made, and the last slot is kept.
#[test]
fn own_signals_behind_unfetched_results() {
    let mut bed = Bed::depth(4);
    bed.send(1, OpFlags::NONE).unwrap();
    let mut next = execute(&mut bed, 0, 1);
    let mut posted = 1;
    let full: Result<(), NdkError> = Err(NtStatus::NO_MORE_ENTRIES.into());
    let mut refused = 0;
    for _ in 0..20 {
        match bed.send(2, SILENT) {
            Ok(()) => posted += 1,
            outcome => {
                assert_eq!(outcome, full);
                refused += 1;
            }
        }
        next = execute(&mut bed, next, posted);
    }
    assert!(
        refused > 0,
        "results are not fetched, so one own signal is all there is"
    );
    assert_eq!(bed.nic.hal().written(DB_CQ), [0; 0]);
    // Fetching frees everything.
    assert_eq!(bed.contexts(), [1]);
    for _ in 0..20 {
        bed.send(3, SILENT).unwrap();
        posted += 1;
        next = execute(&mut bed, next, posted);
    }
    assert_eq!(bed.contexts(), [0; 0]);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Post { silent: bool },
    Execute(u16),
    Fetch(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => any::<bool>().prop_map(|silent| Step::Post { silent }),
        1 => Just(Step::Post { silent: true }),
        1 => (1u16..6).prop_map(Step::Execute),
        1 => (1usize..6).prop_map(Step::Fetch),
    ];
    prop::collection::vec(step, 1..400)
}

proptest! {
    /// Against the rule itself: at most depth outstanding; results are exactly the signalled requests in order;
    /// a consumer that fetches everything can always post when less than the depth is unfinished; the
    /// completion queue never holds more than its results and two own signals.
    #[test]
    fn slots_against_the_rule(depth in 1u32..9, steps in steps()) {
        let mut bed = Bed::depth(depth);
        let (mut posted, mut executed) = (0u16, 0u16);
        let mut expected = VecDeque::new();
        let mut context = 0u64;
        for step in steps {
            match step {
                Step::Post { silent } => {
                    let outcome = bed.send(context, if silent { SILENT } else { OpFlags::NONE });
                    if outcome.is_ok() {
                        if !silent {
                            expected.push_back((posted, context));
                        }
                        posted += 1;
                        context += 1;
                        prop_assert!(u32::from(posted - executed) <= depth);
                    } else {
                        prop_assert_eq!(outcome, Err(NtStatus::NO_MORE_ENTRIES.into()));
                    }
                }
                Step::Execute(count) => {
                    let until = executed + count.min(posted - executed);
                    executed = execute(&mut bed, executed, until);
                }
                Step::Fetch(count) => {
                    let mut results = vec![Default::default(); count];
                    let n = bed.nic.get_cq_results_ex(bed.cq, &mut results).unwrap();
                    for result in &results[..n] {
                        let (index, context) = expected.pop_front().unwrap();
                        prop_assert!(index < executed);
                        prop_assert_eq!(result.request_context, context);
                    }
                }
            }
        }
        // Everything executed and fetched: the whole depth is free but for what trails silently.
        executed = execute(&mut bed, executed, posted);
        let contexts = bed.contexts();
        let rest: Vec<u64> = expected.iter().map(|(_, context)| *context).collect();
        prop_assert_eq!(contexts, rest);
        for _ in 0..3 * depth {
            bed.send(0, SILENT).unwrap();
            posted += 1;
            executed = execute(&mut bed, executed, posted);
        }
        prop_assert_eq!(bed.contexts(), Vec::<u64>::new());
    }
}
