//! Each promise broken, and found.

use tandem_model::ndk::{NdkResultEx, NtStatus, OperationType, Qp};

use super::{Entry, Ledger, Outcome, What};

const CONTEXT: u64 = 77;

/// A handle: the ledger never looks into it.
fn handle() -> Qp {
    use tandem_model::engine::Config;
    use tandem_model::ndk::{AdapterConfig, Provider, QpParameters};
    use tandem_model::target::{ModelTarget, Scheduler};

    let target = ModelTarget::new(Config::default(), Scheduler::Fair);
    let mut nic = Provider::open(target, AdapterConfig::default()).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(4, 0).unwrap();
    nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap()
}

/// Two connected queue pairs, `qa` on node 0 and `qb` on node 1.
fn ledger() -> Ledger {
    let mut ledger = Ledger {
        kept: true,
        ..Ledger::default()
    };
    ledger.born("qa", 0, handle(), CONTEXT, None);
    ledger.born("qb", 1, handle(), CONTEXT, None);
    ledger.joined("qa", "qb", [false; 2]);
    ledger
}

fn result(context: u64, operation: OperationType, status: NtStatus) -> NdkResultEx {
    NdkResultEx {
        status,
        qp_context: CONTEXT,
        request_context: context,
        operation,
        ..NdkResultEx::default()
    }
}

fn write(context: u64) -> Entry {
    Entry::new(context, What::Write)
}

fn came(ledger: &mut Ledger, context: u64, status: NtStatus) {
    ledger.result(0, &result(context, OperationType::Write, status));
}

#[track_caller]
fn says(mut ledger: Ledger, words: &str) {
    let wrong = ledger.wrong().unwrap_or_default();
    assert!(wrong.contains(words), "{wrong:?}");
}

#[test]
fn results_in_order_are_right() {
    let mut ledger = ledger();
    for context in 1..=3 {
        ledger.posted("qa", write(context).silent(context == 2));
    }
    came(&mut ledger, 1, NtStatus::SUCCESS);
    came(&mut ledger, 3, NtStatus::SUCCESS);
    ledger.settled(0, false);
    assert_eq!(ledger.wrong(), None);
    assert_eq!(ledger.entries[1].outcome, Outcome::Silent);
    assert_eq!(ledger.tally.silent, 1);
}

#[test]
fn a_result_that_comes_twice() {
    let mut ledger = ledger();
    ledger.posted("qa", write(1));
    came(&mut ledger, 1, NtStatus::SUCCESS);
    came(&mut ledger, 1, NtStatus::SUCCESS);
    says(ledger, "came twice");
}

#[test]
fn a_result_before_an_older_one() {
    let mut ledger = ledger();
    ledger.posted("qa", write(1));
    ledger.posted("qa", write(2));
    came(&mut ledger, 2, NtStatus::SUCCESS);
    says(ledger, "context 0x1, which is older");
}

#[test]
fn a_result_of_nobody() {
    let mut ledger = ledger();
    ledger.result(3, &result(1, OperationType::Write, NtStatus::SUCCESS));
    says(ledger, "no queue pair");
}

#[test]
fn a_result_of_another_type() {
    let mut ledger = ledger();
    ledger.posted("qa", write(1));
    ledger.result(0, &result(1, OperationType::Read, NtStatus::SUCCESS));
    says(ledger, "type Read");
}

#[test]
fn a_silent_success_that_is_told() {
    let mut ledger = ledger();
    ledger.posted("qa", write(1).silent(true));
    came(&mut ledger, 1, NtStatus::SUCCESS);
    says(ledger, "is silent");
}

#[test]
fn a_status_that_may_not_be() {
    let mut ledger = ledger();
    ledger.posted("qa", write(1).ends(vec![NtStatus::CANCELLED]));
    came(&mut ledger, 1, NtStatus::SUCCESS);
    says(ledger, "may end with STATUS_CANCELLED");
}

#[test]
fn a_result_that_never_comes() {
    let mut waiting = ledger();
    waiting.posted("qa", write(1));
    waiting.settled(0, false);
    says(waiting, "everything is idle");

    // One that is held back may wait, until the hardware is told.
    let mut held = ledger();
    held.posted("qa", write(1).held(true));
    held.settled(0, false);
    assert_eq!(held.wrong(), None);
    held.indicated("qa");
    held.settled(0, false);
    says(held, "has no result");

    // A receive waits for a send, but not in error.
    let mut receive = ledger();
    receive.posted("qa", Entry::new(1, What::Receive));
    receive.settled(0, false);
    assert_eq!(receive.wrong(), None);
    receive.settled(0, true);
    says(receive, "in error");
}

#[test]
fn a_success_behind_a_failure() {
    let mut ledger = ledger();
    ledger.posted("qa", write(1));
    ledger.posted("qa", write(2));
    came(&mut ledger, 1, NtStatus::IO_TIMEOUT);
    came(&mut ledger, 2, NtStatus::SUCCESS);
    ledger.settled(0, true);
    says(ledger, "before it had failed");
}

#[test]
fn what_may_be_done_before_an_older_request_fails() {
    for (what, early) in [
        (What::Bind, true),
        (What::FastRegister, true),
        (What::Invalidate, false),
    ] {
        let mut ledger = ledger();
        ledger.posted("qa", write(1));
        ledger.posted("qa", Entry::new(2, what).silent(true));
        ledger.posted("qa", write(3));
        came(&mut ledger, 1, NtStatus::IO_TIMEOUT);
        came(&mut ledger, 3, NtStatus::CANCELLED);
        ledger.lives[0].told = Some(NtStatus::IO_TIMEOUT);
        ledger.settled(0, true);
        assert_eq!(ledger.wrong().is_none(), early, "{what:?}");
    }
}

#[test]
fn an_error_that_nobody_tells_of_and_one_that_is_none() {
    let mut silent = ledger();
    silent.settled(0, true);
    says(silent, "told nobody");
    let mut loud = ledger();
    loud.lives[0].told = Some(NtStatus::IO_TIMEOUT);
    loud.settled(0, false);
    says(loud, "is not in error");
    let mut flushed = ledger();
    flushed.cut("qa");
    flushed.settled(0, true);
    assert_eq!(flushed.wrong(), None);
}

#[test]
fn both_ends_of_a_message_agree() {
    let both = |send: Option<NtStatus>, receive: NdkResultEx| {
        let mut ledger = ledger();
        ledger.posted("qb", Entry::new(2, What::Receive));
        ledger.posted("qa", Entry::new(1, What::Send(Some(9))).length(10));
        if let Some(status) = send {
            ledger.result(0, &result(1, OperationType::Send, status));
        }
        ledger.result(1, &receive);
        assert_eq!(ledger.wrong(), None);
        ledger.both_ends(&ledger.lives[1])
    };
    let right = NdkResultEx {
        bytes_transferred: 10,
        type_specific_completion_output: 9,
        ..result(2, OperationType::ReceiveAndInvalidate, NtStatus::SUCCESS)
    };
    assert_eq!(both(Some(NtStatus::SUCCESS), right), Ok(()));
    assert_eq!(both(None, right), Ok(()));
    let failed = result(2, OperationType::Receive, NtStatus::CANCELLED);
    let wrong = both(Some(NtStatus::SUCCESS), failed).unwrap_err();
    assert!(wrong.contains("which is for it, did not"), "{wrong}");
    for other in [
        NdkResultEx {
            bytes_transferred: 11,
            ..right
        },
        NdkResultEx {
            type_specific_completion_output: 8,
            ..right
        },
        NdkResultEx {
            operation: OperationType::Receive,
            ..right
        },
    ] {
        let wrong = both(Some(NtStatus::SUCCESS), other).unwrap_err();
        assert!(wrong.contains("the peer's send"), "{wrong}");
    }
}

#[test]
fn a_receive_without_send_and_a_send_without_receive() {
    let mut more = ledger();
    more.posted("qb", Entry::new(2, What::Receive));
    more.result(1, &result(2, OperationType::Receive, NtStatus::SUCCESS));
    let wrong = more.both_ends(&more.lives[1]).unwrap_err();
    assert!(wrong.contains("has not sent so often"), "{wrong}");
    let mut fewer = ledger();
    fewer.posted("qa", Entry::new(1, What::Send(None)));
    fewer.result(0, &result(1, OperationType::Send, NtStatus::SUCCESS));
    let wrong = fewer.both_ends(&fewer.lives[1]).unwrap_err();
    assert!(wrong.contains("no receive for it"), "{wrong}");
}

/// As `ledger`, with receives 10, 11 and 12 in a queue that `qb` and `qd` share, and two sends to each.
fn shared() -> Ledger {
    let mut ledger = Ledger {
        kept: true,
        ..Ledger::default()
    };
    for (a, b, context) in [("qa", "qb", CONTEXT), ("qc", "qd", CONTEXT + 1)] {
        ledger.born(a, 0, handle(), context, None);
        ledger.born(b, 1, handle(), context, Some("s".into()));
        ledger.joined(a, b, [false; 2]);
    }
    for context in 10..13 {
        ledger.posted_shared("s", Entry::new(context, What::Receive));
    }
    for name in ["qa", "qa", "qc", "qc"] {
        ledger.posted(name, Entry::new(1, What::Send(None)));
    }
    ledger
}

/// The queue pair with that context has completed a receive.
fn received(ledger: &mut Ledger, qp_context: u64, context: u64) {
    let result = NdkResultEx {
        qp_context,
        ..result(context, OperationType::Receive, NtStatus::SUCCESS)
    };
    ledger.result(1, &result);
}

#[test]
fn shared_receives_are_of_those_who_complete_them() {
    let mut ledger = shared();
    for (qp, context) in [(CONTEXT, 11), (CONTEXT + 1, 10), (CONTEXT, 12)] {
        received(&mut ledger, qp, context);
    }
    assert_eq!(ledger.wrong(), None);
    assert_eq!(ledger.shared_in_order(), Ok(()));
    assert_eq!(ledger.pairs(&ledger.lives[1]).count(), 2);
    assert_eq!(ledger.pairs(&ledger.lives[3]).count(), 1);
    assert_eq!(ledger.held().count(), 0);
}

#[test]
fn a_shared_receive_that_is_taken_twice() {
    let mut ledger = shared();
    received(&mut ledger, CONTEXT, 10);
    received(&mut ledger, CONTEXT + 1, 10);
    says(ledger, "it came twice");
}

#[test]
fn a_shared_receive_behind_a_younger_one() {
    let mut ledger = shared();
    received(&mut ledger, CONTEXT, 11);
    received(&mut ledger, CONTEXT, 10);
    says(ledger, "behind that of a younger receive");
}

#[test]
fn shared_receives_that_are_passed_over() {
    let mut ledger = shared();
    received(&mut ledger, CONTEXT, 12);
    // Both queue pairs may hold one of the other two.
    assert_eq!(ledger.shared_in_order(), Ok(()));
    assert_eq!(ledger.held().count(), 2);
    ledger.closed("qd");
    let wrong = ledger.shared_in_order().unwrap_err();
    assert!(wrong.contains("2 receives of shared queue `s`"), "{wrong}");
}
