//! Arming, events and notifications.

use tandem_model::abi::{Status, Table};
use tandem_model::ndk::{
    AdapterError, ArmType, NdkError, Notification, NtStatus, OpFlags, QpPhase,
};

use crate::fake::{
    Bed, COMPLETION, CQ_CONTEXT_VALUE, CQ_ERROR, DB_ARM, QP_CONTEXT_VALUE, QP_ERROR,
};

fn fired(bed: &Bed, status: NtStatus) -> Vec<Notification> {
    vec![Notification::Cq {
        cq: bed.cq,
        context: CQ_CONTEXT_VALUE,
        status,
    }]
}

fn events(bed: &mut Bed) -> Vec<Notification> {
    let notifications = bed.nic.poll_events().unwrap();
    bed.nic.hal_mut().interrupt = false;
    notifications
}

/// NDK-ARM-1: type, queue and consumer index go out as they are; the engine combines.
// Covers: NDK-ARM-1
#[test]
fn ndk_arm_1_doorbell() {
    let mut bed = Bed::new();
    let second = bed.nic.create_cq(16, 0).unwrap();
    bed.nic.arm_cq(second, ArmType::Solicited).unwrap();
    for index in 0..3 {
        bed.send(0, OpFlags::NONE).unwrap();
        let entry = bed.sent(index);
        bed.complete(entry);
    }
    assert_eq!(bed.poll().len(), 3);
    for arm in [ArmType::Errors, ArmType::Any] {
        bed.nic.arm_cq(bed.cq, arm).unwrap();
    }
    assert_eq!(
        bed.nic.hal().written(DB_ARM),
        [2 << 30 | 1 << 16, 3, 1 << 30 | 3]
    );
}

// Covers: NDK-CQCB-1, NDK-CQCB-2
#[test]
fn ndk_cqcb_1_notification() {
    let mut bed = Bed::new();
    bed.nic.arm_cq(bed.cq, ArmType::Any).unwrap();
    bed.send(0, OpFlags::NONE).unwrap();
    let entry = bed.sent(0);
    bed.complete(entry);
    assert_eq!(bed.nic.poll_events(), Ok(vec![]), "interrupt low");
    bed.nic.hal_mut().event(COMPLETION, 0, 0);
    let expected = fired(&bed, NtStatus::SUCCESS);
    assert_eq!(events(&mut bed), expected);
    assert_eq!(bed.nic.hal().registers[&0x020], 1, "EQ_CI");
    assert_eq!(events(&mut bed), []);
    assert_eq!(bed.poll().len(), 1);
}

/// The consumer fetched the entry between its arrival and the event: the arm has fired all the same.
#[test]
fn an_entry_fetched_before_its_event() {
    let mut bed = Bed::new();
    bed.nic.arm_cq(bed.cq, ArmType::Any).unwrap();
    bed.send(0, OpFlags::NONE).unwrap();
    let entry = bed.sent(0);
    bed.complete(entry);
    assert_eq!(bed.poll().len(), 1);
    bed.nic.hal_mut().event(COMPLETION, 0, 0);
    let expected = fired(&bed, NtStatus::SUCCESS);
    assert_eq!(events(&mut bed), expected);
}

/// NDK-CMPL-9: a result understood before the arm, but not fetched, counts.
#[test]
fn ndk_cmpl_9_armed_with_a_result_waiting() {
    let mut bed = Bed::new();
    for index in 0..2 {
        bed.send(0, OpFlags::NONE).unwrap();
        let entry = bed.sent(index);
        bed.complete(entry);
    }
    let mut one = [Default::default()];
    assert_eq!(bed.nic.get_cq_results_ex(bed.cq, &mut one), Ok(1));
    bed.nic.arm_cq(bed.cq, ArmType::Any).unwrap();
    assert_eq!(bed.nic.hal().written(DB_ARM), [1 << 30 | 1]);
    bed.nic.hal_mut().event(COMPLETION, 0, 0);
    let expected = fired(&bed, NtStatus::SUCCESS);
    assert_eq!(events(&mut bed), expected);
}

/// NDK-CMPL-8: own signals are no completions of the consumer's; the queue is armed again.
#[test]
fn ndk_cmpl_8_own_signals_do_not_notify() {
    let mut bed = Bed::depth(2);
    bed.nic.arm_cq(bed.cq, ArmType::Any).unwrap();
    bed.send(0, OpFlags::SILENT_SUCCESS).unwrap();
    let entry = bed.sent(0);
    bed.complete(entry);
    bed.nic.hal_mut().event(COMPLETION, 0, 0);
    assert_eq!(events(&mut bed), []);
    assert_eq!(bed.nic.hal().written(DB_ARM), [1 << 30, 1 << 30 | 1]);
    bed.send(1, OpFlags::NONE).unwrap();
    let entry = bed.sent(1);
    bed.complete(entry);
    bed.nic.hal_mut().event(COMPLETION, 0, 0);
    let expected = fired(&bed, NtStatus::SUCCESS);
    assert_eq!(events(&mut bed), expected);
}

// Covers: NDK-CQCB-3, NDK-CQCB-4
#[test]
fn ndk_cqcb_3_overrun() {
    let mut bed = Bed::new();
    bed.nic.arm_cq(bed.cq, ArmType::Errors).unwrap();
    bed.nic.hal_mut().event(CQ_ERROR, 0, 0);
    let expected = fired(&bed, NtStatus::BUFFER_OVERFLOW);
    assert_eq!(events(&mut bed), expected);
    assert_eq!(bed.nic.hal().entry(Table::Qp, bed.qpn).get("state"), 4);
    assert_eq!(bed.nic.qp_phase(bed.qp), Ok(QpPhase::Error));
    let mut bed = Bed::new();
    bed.nic.arm_cq(bed.cq, ArmType::Any).unwrap();
    bed.nic.hal_mut().event(CQ_ERROR, 1, 0);
    let expected = fired(&bed, NtStatus::INTERNAL_ERROR);
    assert_eq!(events(&mut bed), expected);
    assert_eq!(bed.nic.qp_phase(bed.qp), Ok(QpPhase::Error));
}

/// NDK-CMPL-6, reading O14: an error of a queue that is not armed is told at the next arm.
#[test]
fn o14_error_while_not_armed() {
    let mut bed = Bed::new();
    bed.nic.hal_mut().event(CQ_ERROR, 0, 0);
    assert_eq!(events(&mut bed), []);
    bed.nic.arm_cq(bed.cq, ArmType::Errors).unwrap();
    // A dead queue fires on each arm.
    bed.nic.hal_mut().event(CQ_ERROR, 0, 0);
    let expected = fired(&bed, NtStatus::BUFFER_OVERFLOW);
    assert_eq!(events(&mut bed), expected);
}

/// Two events for one queue of which the consumer saw neither when it armed the second time.
#[test]
fn rearming_before_the_event_was_seen() {
    let mut bed = Bed::new();
    for index in 0..2 {
        bed.nic.arm_cq(bed.cq, ArmType::Any).unwrap();
        bed.send(0, OpFlags::NONE).unwrap();
        let entry = bed.sent(index);
        bed.complete(entry);
        bed.nic.hal_mut().event(COMPLETION, 0, 0);
    }
    assert_eq!(events(&mut bed).len(), 2);
    bed.nic.hal_mut().event(CQ_ERROR, 0, 0);
    assert_eq!(events(&mut bed), [], "not armed");
}

#[test]
fn queue_pair_error() {
    let mut bed = Bed::new();
    bed.nic
        .hal_mut()
        .event(QP_ERROR, Status::RemoteAccess as u8, bed.qpn);
    assert_eq!(
        events(&mut bed),
        [Notification::QpError {
            qp: bed.qp,
            qp_context: QP_CONTEXT_VALUE,
            status: NtStatus::REMOTE_RESOURCES,
        }]
    );
    assert_eq!(bed.nic.qp_phase(bed.qp), Ok(QpPhase::Error));
    // Posting goes on (reading O7).
    bed.send(0, OpFlags::NONE).unwrap();
}

/// NDK-ARM-6: nothing after the close.
// Covers: NDK-OBJ-9
#[test]
fn ndk_arm_6_events_of_closed_objects() {
    let mut bed = Bed::new();
    let cq = bed.nic.create_cq(16, 0).unwrap();
    bed.nic.arm_cq(cq, ArmType::Any).unwrap();
    bed.nic.close_cq(cq).unwrap();
    let qpn = bed.qpn;
    bed.nic.close_qp(bed.qp).unwrap();
    let hal = bed.nic.hal_mut();
    hal.event(COMPLETION, 0, 1);
    hal.event(CQ_ERROR, 0, 1);
    hal.event(QP_ERROR, 9, qpn);
    assert_eq!(events(&mut bed), []);
}

#[test]
fn events_that_fit_nothing() {
    let cases = [
        (9, 0, "unknown kind"),
        (COMPLETION, 32, "no such completion queue"),
        (CQ_ERROR, 0xFF_FFFF, "no such completion queue"),
        (QP_ERROR, 1, "no such queue pair"),
        (QP_ERROR, 64, "no such queue pair"),
    ];
    let mut bed = Bed::new();
    for (index, (kind, number, cause)) in cases.into_iter().enumerate() {
        bed.nic.hal_mut().event(kind, 0, number);
        let expected = AdapterError::Event {
            index: index as u16,
            kind,
            number,
            cause,
        };
        assert_eq!(bed.nic.poll_events(), Err(NdkError::Adapter(expected)));
    }
    assert_eq!(bed.nic.poll_events(), Ok(vec![]), "each is told once");
}

#[test]
fn event_ring_wraps() {
    let mut bed = Bed::new();
    for round in 0..1000u32 {
        bed.nic.hal_mut().event(QP_ERROR, 9, bed.qpn);
        assert_eq!(events(&mut bed).len(), 1, "{round}");
        assert_eq!(bed.nic.hal().registers[&0x020], round + 1);
    }
}
