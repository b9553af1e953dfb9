//! Completion entries to results.

use tandem_model::abi::{CQE, Record, Status, Table, WqeOpcode};
use tandem_model::ndk::{
    AdapterConfig, AdapterError, CompletionFault, NdkError, NdkResult, NdkResultEx, NdkVersion,
    NtStatus, OpFlags, OperationType, QpParameters, QpPhase, RemoteToken,
};

use proptest::prelude::*;

use crate::fake::{Bed, DB_CQ, QP_CONTEXT_VALUE, cqe, peer, receive_cqe};

// Covers: NDK-RES-4, NDK-RES-5, NDK-RES-9
#[test]
fn ndk_res_types_and_contexts() {
    let mut bed = Bed::new();
    let (nic, qp, token) = (&mut bed.nic, bed.qp, RemoteToken(1));
    let context = |i: u64| u64::MAX - i;
    nic.send(qp, context(0), &[], OpFlags::NONE).unwrap();
    nic.send_and_invalidate(qp, context(1), &[], OpFlags::NONE, token)
        .unwrap();
    nic.read(qp, context(2), &[], 0, token, OpFlags::NONE)
        .unwrap();
    nic.write(qp, context(3), &[], 0, token, OpFlags::NONE)
        .unwrap();
    // NDK-READ-4.
    nic.receive(qp, 0, &[]).unwrap();
    let opcodes = [
        WqeOpcode::Send,
        WqeOpcode::SendInvalidate,
        WqeOpcode::Read,
        WqeOpcode::Write,
    ];
    for (index, opcode) in opcodes.into_iter().enumerate() {
        let entry = cqe(bed.qpn, index as u16, opcode, Status::Success);
        bed.complete(entry);
    }
    let entry = receive_cqe(bed.qpn, 0, 0x1234, Status::Success);
    bed.complete(entry);
    let results = bed.poll();
    let types: Vec<_> = results.iter().map(|r| r.operation).collect();
    use OperationType as T;
    assert_eq!(types, [T::Send, T::Send, T::Read, T::Write, T::Receive]);
    let contexts: Vec<_> = results.iter().map(|r| r.request_context).collect();
    assert_eq!(
        contexts,
        [context(0), context(1), context(2), context(3), 0]
    );
    assert!(results.iter().all(|r| r.qp_context == QP_CONTEXT_VALUE));
    assert!(results.iter().all(|r| r.status == NtStatus::SUCCESS));
    assert!(results.iter().all(|r| r.provider_error_code == 0));
    assert_eq!(results[4].bytes_transferred, 0x1234);
}

/// Reference, section 3.6; C11.
// Covers: NDK-RES-10
#[test]
fn status_mapping() {
    let cases = [
        (
            Status::LocalLength,
            NtStatus::DATA_OVERRUN,
            NtStatus::BUFFER_OVERFLOW,
        ),
        (
            Status::LocalQpOperation,
            NtStatus::INTERNAL_ERROR,
            NtStatus::INTERNAL_ERROR,
        ),
        (
            Status::LocalProtection,
            NtStatus::ACCESS_VIOLATION,
            NtStatus::ACCESS_VIOLATION,
        ),
        (Status::Flushed, NtStatus::CANCELLED, NtStatus::CANCELLED),
        (
            Status::Bind,
            NtStatus::ACCESS_VIOLATION,
            NtStatus::ACCESS_VIOLATION,
        ),
        (
            Status::BadResponse,
            NtStatus::REMOTE_RESOURCES,
            NtStatus::REMOTE_RESOURCES,
        ),
        (
            Status::RemoteInvalidRequest,
            NtStatus::REMOTE_RESOURCES,
            NtStatus::REMOTE_RESOURCES,
        ),
        (
            Status::RemoteAccess,
            NtStatus::REMOTE_RESOURCES,
            NtStatus::REMOTE_RESOURCES,
        ),
        (
            Status::RemoteOperation,
            NtStatus::REMOTE_RESOURCES,
            NtStatus::REMOTE_RESOURCES,
        ),
        (
            Status::RetryExceeded,
            NtStatus::IO_TIMEOUT,
            NtStatus::IO_TIMEOUT,
        ),
        (
            Status::RnrRetryExceeded,
            NtStatus::IO_TIMEOUT,
            NtStatus::IO_TIMEOUT,
        ),
    ];
    assert_eq!(cases.len() + 1, Status::ALL.len());
    for (status, initiator, receive) in cases {
        let mut bed = Bed::new();
        // NDK-READ-12: failures of silent requests make results.
        bed.send(1, OpFlags::SILENT_SUCCESS).unwrap();
        bed.nic.receive(bed.qp, 2, &[]).unwrap();
        let sent = cqe(bed.qpn, 0, WqeOpcode::Send, status).with("error_code", 0x62u8);
        let received = receive_cqe(bed.qpn, 0, 7, status).with("error_code", 0x61u8);
        bed.complete(sent);
        bed.complete(received);
        let results = bed.poll();
        assert_eq!(results[0].status, initiator, "{status:?}");
        assert_eq!(results[1].status, receive, "{status:?}");
        // NDK-RES-10.
        assert_eq!(results[0].provider_error_code, 0x62);
        assert_eq!(results[1].provider_error_code, 0x61);
        assert_eq!(bed.nic.qp_phase(bed.qp), Ok(QpPhase::Error));
    }
    let config = AdapterConfig {
        remote_access_status: NtStatus::ACCESS_VIOLATION,
        version: NdkVersion::V1_2,
        ..AdapterConfig::default()
    };
    let mut bed = Bed::with(config, |_| ());
    bed.send(1, OpFlags::NONE).unwrap();
    let entry = cqe(bed.qpn, 0, WqeOpcode::Send, Status::RemoteAccess).with("error_code", 0x62u8);
    bed.complete(entry);
    let results = bed.poll();
    assert_eq!(results[0].status, NtStatus::ACCESS_VIOLATION);
    assert_eq!(results[0].provider_error_code, 0, "a member of 2.1");
}

// Covers: NDK-RES-6, NDK-OPT-2, NDK-CMPL-2
#[test]
fn ndk_res_6_invalidated_token() {
    let mut bed = Bed::new();
    for context in 0..2 {
        bed.nic.receive(bed.qp, context, &[]).unwrap();
    }
    for index in 0..2 {
        let entry = receive_cqe(bed.qpn, index, 8, Status::Success)
            .with("invalidated", 1u8)
            .with("token", 0x0000_0302u32);
        bed.complete(entry);
    }
    let mut ex = [NdkResultEx::default()];
    assert_eq!(bed.nic.get_cq_results_ex(bed.cq, &mut ex), Ok(1));
    assert_eq!(ex[0].operation, OperationType::ReceiveAndInvalidate);
    assert_eq!(
        ex[0].type_specific_completion_output,
        u64::from(RemoteToken::from_engine(0x302).0)
    );
    let mut plain = [NdkResult::default()];
    assert_eq!(bed.nic.get_cq_results(bed.cq, &mut plain), Ok(1));
    assert_eq!(plain[0].request_context, 1);
    assert_eq!(plain[0].bytes_transferred, 8);
}

// Covers: NDK-GCQ-1, NDK-GCQ-2
#[test]
fn ndk_gcq_1_no_more_than_asked() {
    let mut bed = Bed::new();
    for context in 0..5 {
        bed.send(context, OpFlags::NONE).unwrap();
    }
    for index in 0..5 {
        let entry = bed.sent(index);
        bed.complete(entry);
    }
    let mut none: [NdkResultEx; 0] = [];
    assert_eq!(bed.nic.get_cq_results_ex(bed.cq, &mut none), Ok(0));
    let mut three = [NdkResultEx::default(); 3];
    assert_eq!(bed.nic.get_cq_results_ex(bed.cq, &mut three), Ok(3));
    assert_eq!(bed.nic.hal().written(DB_CQ), [3], "consumer index");
    assert_eq!(bed.nic.get_cq_results_ex(bed.cq, &mut three), Ok(2));
    assert_eq!(bed.nic.hal().written(DB_CQ), [3, 5]);
    assert_eq!(bed.nic.get_cq_results_ex(bed.cq, &mut three), Ok(0));
    assert_eq!(
        bed.nic.hal().written(DB_CQ),
        [3, 5],
        "nothing new, no doorbell"
    );
}

/// The phase bit turns with every pass; indices wrap at 2^16.
#[test]
fn phase_over_many_passes() {
    let config = AdapterConfig {
        cq_reserve: Some(0),
        ..AdapterConfig::default()
    };
    let mut bed = Bed::with(config, |_| ());
    let cq = bed.nic.create_cq(4, 0).unwrap();
    let mut parameters = QpParameters::new(cq, cq);
    parameters.initiator_queue_depth = 7;
    let qp = bed.nic.create_qp(bed.pd, &parameters).unwrap();
    bed.nic.bench().connect(qp, &peer()).unwrap();
    let qpn = bed.nic.qp_number(qp).unwrap();
    let mut index = 0u16;
    for round in 0..25_000u64 {
        let batch = 1 + round % 4;
        for i in 0..batch {
            bed.nic
                .send(qp, round << 8 | i, &[], OpFlags::NONE)
                .unwrap();
        }
        for _ in 0..batch {
            let entry = cqe(qpn, index, WqeOpcode::Send, Status::Success);
            bed.nic.hal_mut().complete(1, entry);
            index = index.wrapping_add(1);
        }
        let contexts: Vec<u64> = bed
            .nic
            .poll_cq(cq)
            .unwrap()
            .iter()
            .map(|r| r.request_context)
            .collect();
        let expected: Vec<u64> = (0..batch).map(|i| round << 8 | i).collect();
        assert_eq!(contexts, expected, "round {round}");
    }
    assert_eq!(
        bed.nic.hal().written(DB_CQ).last(),
        Some(&(1 << 16 | u32::from(index)))
    );
}

/// The memory of a closed queue serves again, without its old entries.
#[test]
fn a_ring_is_used_again() {
    let mut bed = Bed::new();
    bed.send(1, OpFlags::NONE).unwrap();
    let entry = bed.sent(0);
    bed.complete(entry);
    let base = bed.nic.hal().entry(Table::Cq, 0).get("base");
    assert_eq!(bed.contexts(), [1]);
    bed.nic.close_qp(bed.qp).unwrap();
    bed.nic.close_cq(bed.cq).unwrap();
    let cq = bed.nic.create_cq(256, 0).unwrap();
    assert_eq!(bed.nic.hal().entry(Table::Cq, 1).get("base"), base);
    assert_eq!(bed.nic.poll_cq(cq), Ok(vec![]));
}

fn fault(bed: &mut Bed) -> CompletionFault {
    match bed.nic.poll_cq(bed.cq) {
        Err(NdkError::Adapter(AdapterError::Completion { cause, .. })) => cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn entries_that_fit_nothing() {
    let mut bed = Bed::new();
    let qpn = bed.qpn;
    bed.send(1, OpFlags::NONE).unwrap();
    bed.send(2, OpFlags::SILENT_SUCCESS).unwrap();
    bed.send(3, OpFlags::NONE).unwrap();
    let entry = bed.sent(0).with("qpn", 0xFF_FFFFu32);
    bed.complete(entry);
    assert_eq!(
        fault(&mut bed),
        CompletionFault::UnknownQp { qpn: 0xFF_FFFF }
    );
    let out_of_order = |queue, got, producer| CompletionFault::OutOfOrder {
        qpn,
        queue,
        got,
        oldest: 0,
        producer,
        expected: 0,
    };
    // The one in front needs an entry of its own.
    let entry = bed.sent(2);
    bed.complete(entry);
    assert_eq!(fault(&mut bed), out_of_order("send", 2, 3));
    let entry = bed.sent(3);
    bed.complete(entry);
    assert_eq!(fault(&mut bed), out_of_order("send", 3, 3));
    bed.complete(receive_cqe(qpn, 0, 0, Status::Success));
    assert_eq!(fault(&mut bed), out_of_order("receive", 0, 0));
    // What fits in between is not lost.
    let entry = bed.sent(0);
    bed.complete(entry);
    let entry = bed.sent(1);
    bed.complete(entry);
    let entry = bed.sent(2);
    bed.complete(entry);
    assert_eq!(bed.contexts(), [1]);
    assert_eq!(
        fault(&mut bed),
        CompletionFault::SilentSuccess { qpn, wqe: 1 }
    );
    assert_eq!(bed.contexts(), [3]);
    bed.send(4, OpFlags::NONE).unwrap();
    bed.send(5, OpFlags::NONE).unwrap();
    bed.complete(cqe(qpn, 3, WqeOpcode::Read, Status::Success));
    assert_eq!(
        fault(&mut bed),
        CompletionFault::WrongOpcode {
            qpn,
            wqe: 3,
            got: 3,
            expected: 1
        }
    );
    bed.complete(cqe(qpn, 4, WqeOpcode::Send, Status::Success).with("status", 77u8));
    assert_eq!(
        fault(&mut bed),
        CompletionFault::UnknownStatus {
            qpn,
            wqe: 4,
            status: 77
        }
    );
}

// Covers: NDK-QPC-2
#[test]
fn ndk_qpc_2_each_queue_has_its_completion_queue() {
    let mut bed = Bed::new();
    let other = bed.nic.create_cq(16, 0).unwrap();
    let qp = bed
        .nic
        .create_qp(bed.pd, &QpParameters::new(other, bed.cq))
        .unwrap();
    bed.nic.bench().connect(qp, &peer()).unwrap();
    let qpn = bed.nic.qp_number(qp).unwrap();
    bed.nic.send(qp, 1, &[], OpFlags::NONE).unwrap();
    bed.nic.receive(qp, 2, &[]).unwrap();
    bed.complete(receive_cqe(qpn, 0, 0, Status::Success));
    let queue = "receive";
    assert_eq!(fault(&mut bed), CompletionFault::WrongCq { qpn, queue });
    bed.complete(cqe(qpn, 0, WqeOpcode::Send, Status::Success));
    assert_eq!(bed.contexts(), [1]);
    let entry = receive_cqe(qpn, 0, 0, Status::Success);
    bed.nic.hal_mut().complete(1, entry);
    assert_eq!(bed.nic.poll_cq(other).unwrap()[0].request_context, 2);
}

proptest! {
    /// Whatever the adapter writes, the provider neither panics nor hangs.
    #[test]
    fn arbitrary_entries_do_no_harm(
        posts in prop::collection::vec(0u32..4, 0..40),
        entries in prop::collection::vec(any::<[u8; 32]>(), 0..40),
        near in prop::collection::vec((0u16..48, 0u8..16, 0u8..6, 0u32..4, any::<bool>()), 0..40),
    ) {
        let mut bed = Bed::depth(16);
        for post in posts {
            let _ = match post {
                0 => bed.nic.receive(bed.qp, 0, &[]),
                1 => bed.send(0, OpFlags::SILENT_SUCCESS),
                _ => bed.send(0, OpFlags::NONE),
            };
        }
        for bytes in entries {
            bed.complete(Record::from_bytes(&CQE, &bytes));
        }
        for (index, status, opcode, qpn, receive) in near {
            bed.complete(
                Record::new(&CQE)
                    .with("wqe_index", index)
                    .with("status", status)
                    .with("opcode", opcode)
                    .with("qpn", qpn)
                    .with("receive", receive),
            );
            let _ = bed.nic.poll_cq(bed.cq);
        }
        for _ in 0..100 {
            let _ = bed.nic.poll_cq(bed.cq);
        }
        prop_assert_eq!(bed.nic.poll_cq(bed.cq), Ok(vec![]));
    }
}
