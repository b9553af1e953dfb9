//! Checks at posting, and deferred requests.

use tandem_model::abi::{Status, Table, WqeOpcode};
use tandem_model::ndk::{
    AdapterConfig, Mdl, MrFlags, MrUse, NdkError, NtStatus, OpFlags, Provider, QpParameters,
    QpPhase, RemoteToken, Sge,
};

use crate::fake::{Bed, DB_RQ, DB_SQ, Fake, cqe, peer, receive_cqe, sge};

type Outcome = Result<(), NdkError>;

/// The four initiator calls with the same elements and flags.
fn each(bed: &mut Bed, sgl: &[Sge], flags: OpFlags) -> [Outcome; 4] {
    let (nic, qp, token) = (&mut bed.nic, bed.qp, RemoteToken(1));
    [
        nic.send(qp, 0, sgl, flags),
        nic.send_and_invalidate(qp, 0, sgl, flags, token),
        nic.read(qp, 0, sgl, 0, token, flags),
        nic.write(qp, 0, sgl, 0, token, flags),
    ]
}

fn fails(status: NtStatus) -> Outcome {
    Err(status.into())
}

// Covers: NDK-SEND-8, NDK-SINV-22, NDK-READ-24, NDK-WRITE-8, NDK-RECV-3
#[test]
fn ndk_read_24_not_connected() {
    let mut nic = Provider::open(Fake::new(), AdapterConfig::default()).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
    let mut bed = Bed {
        nic,
        pd,
        cq,
        qp,
        qpn: 2,
    };
    // Before any other check: NDK-SEND-8, NDK-SINV-22, NDK-READ-24, NDK-WRITE-8.
    for flags in [OpFlags::NONE, OpFlags(0x8000_0000)] {
        let outcomes = each(&mut bed, &[], flags);
        assert_eq!(
            outcomes,
            [(); 4].map(|()| fails(NtStatus::CONNECTION_INVALID))
        );
    }
    // NDK-RECV-3.
    assert_eq!(bed.nic.receive(qp, 0, &[]), Ok(()));
    assert_eq!(bed.nic.hal().written(DB_RQ), [2 << 16 | 1]);
}

/// NDK-READ-10, reading O6: every combination of an operation's own flags is taken, every foreign bit refused.
// Covers: NDK-READ-10
#[test]
fn o6_flags() {
    let own = [0x247, 0x247, 0x303, 0x243];
    for bit in 0..32 {
        let mut bed = Bed::new();
        // A fast region, so that a read may invalidate its first element.
        let chain = [Mdl::identity(0x20_0000, 4096)];
        let pd = bed.pd;
        let mr = bed
            .nic
            .bench()
            .place_fast_region(pd, &chain, 4096, MrFlags::ALLOW_LOCAL_WRITE)
            .unwrap();
        let token = bed.nic.local_token_from_mr(mr).unwrap();
        let sgl = [sge(0x20_0000, 8, token.0)];
        let outcomes = each(&mut bed, &sgl, OpFlags(1 << bit));
        for (outcome, own) in outcomes.iter().zip(own) {
            let expected = if own >> bit & 1 == 1 {
                Ok(())
            } else {
                fails(NtStatus::INVALID_PARAMETER)
            };
            assert_eq!(*outcome, expected, "bit {bit}");
        }
    }
    for flags in (0..0x400).filter(|flags| flags & !0x303 == 0) {
        let mut bed = Bed::new();
        let outcome = bed.nic.read(
            bed.qp,
            0,
            &[sge(0, 8, 0xFF00)],
            0,
            RemoteToken(1),
            OpFlags(flags),
        );
        assert_eq!(outcome, Ok(()), "{flags:#x}");
    }
}

/// C7.
#[test]
fn c7_inline_write_can_be_switched_off() {
    let config = AdapterConfig {
        inline_write: false,
        ..AdapterConfig::default()
    };
    let mut bed = Bed::with(config, |_| ());
    let outcomes = each(&mut bed, &[], OpFlags::INLINE);
    let invalid = fails(NtStatus::INVALID_PARAMETER);
    assert_eq!(outcomes, [Ok(()), Ok(()), invalid.clone(), invalid]);
}

/// Reading O5, O35, NDK-CAP-6.
// Covers: NDK-CAP-6
#[test]
fn o5_number_of_elements() {
    let mut bed = Bed::with(AdapterConfig::default(), |p| {
        p.max_initiator_request_sge = 6
    });
    let sgl = [sge(0, 1, 1); 7];
    let overrun = fails(NtStatus::DATA_OVERRUN);
    let [a, b, c, d] = each(&mut bed, &sgl, OpFlags::NONE);
    assert_eq!([a, b, c, d], [(); 4].map(|()| overrun.clone()));
    let [a, b, c, d] = each(&mut bed, &sgl[..6], OpFlags::NONE);
    assert_eq!([a, b, c, d], [Ok(()), Ok(()), overrun.clone(), Ok(())]);
    let [.., c, _] = each(&mut bed, &sgl[..4], OpFlags::NONE);
    assert_eq!(c, Ok(()));
    assert_eq!(bed.nic.receive(bed.qp, 0, &sgl[..5]), overrun);
    assert_eq!(bed.nic.receive(bed.qp, 0, &sgl[..4]), Ok(()));
    let mut narrow = Bed::with(AdapterConfig::default(), |p| {
        p.max_initiator_request_sge = 3
    });
    let [.., c, _] = each(&mut narrow, &sgl[..4], OpFlags::NONE);
    assert_eq!(c, overrun, "the queue pair's limit holds for reads too");
}

#[test]
fn o5_length() {
    let mut bed = Bed::new();
    let overflow = fails(NtStatus::BUFFER_OVERFLOW);
    let half = sge(0, bed.nic.query_adapter_info().max_transfer_length / 2, 1);
    let most = [half, half];
    let more = [half, half, sge(0, 1, 1)];
    let huge = [sge(0, u32::MAX, 1); 4];
    assert_eq!(
        each(&mut bed, &most, OpFlags::NONE),
        [(); 4].map(|()| Ok(()))
    );
    for sgl in [&more[..], &huge[..]] {
        let outcomes = each(&mut bed, sgl, OpFlags::NONE);
        assert_eq!(outcomes, [(); 4].map(|()| overflow.clone()));
        assert_eq!(bed.nic.receive(bed.qp, 0, sgl), overflow);
    }
    assert_eq!(bed.nic.hal().sq_wqe(bed.qpn, 0).get("length"), 4 << 20);
}

// Covers: NDK-SINV-14, NDK-SINV-15, NDK-SEND-6
#[test]
fn ndk_sinv_15_inline() {
    let mut bed = Bed::new();
    let address = 0x20_0000;
    let sgl: Vec<Sge> = (0..32)
        .map(|i| sge(address + 2 * i, 2, 0xDEAD_0000))
        .collect();
    let [a, b, _, d] = each(&mut bed, &sgl, OpFlags::INLINE);
    assert_eq!([a, b, d], [(); 3].map(|()| Ok(())));
    let more: Vec<Sge> = sgl.iter().copied().chain([sge(address, 1, 0)]).collect();
    let [a, b, c, d] = each(&mut bed, &more, OpFlags::INLINE);
    assert_eq!(
        [a, b, d],
        [(); 3].map(|()| fails(NtStatus::BUFFER_OVERFLOW))
    );
    assert_eq!(c, fails(NtStatus::INVALID_PARAMETER));
    let outcome = bed.nic.send(bed.qp, 0, &[sge(8, 1, 0)], OpFlags::INLINE);
    assert_eq!(outcome, fails(NtStatus::ACCESS_VIOLATION), "no such memory");
}

/// Reading O12.
#[test]
fn o12_no_reads_with_limit_0() {
    let mut nic = Provider::open(Fake::new(), AdapterConfig::default()).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
    let mut parameters = peer();
    parameters.outbound_read_limit = 0;
    nic.bench().connect(qp, &parameters).unwrap();
    let outcome = nic.read(qp, 0, &[], 0, RemoteToken(0), OpFlags::NONE);
    assert_eq!(outcome, fails(NtStatus::INVALID_DEVICE_REQUEST));
    assert_eq!(nic.send(qp, 0, &[], OpFlags::NONE), Ok(()));
}

/// Reading O10, NDK-READ-18.
// Covers: NDK-READ-18
#[test]
fn o10_local_invalidation() {
    for supported in [true, false] {
        let config = AdapterConfig {
            read_local_invalidate: supported,
            ..AdapterConfig::default()
        };
        let mut bed = Bed::with(config, |_| ());
        let chain = [Mdl::identity(0x20_0000, 4096)];
        let region = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
        bed.nic
            .register_mr(region, &chain, 4096, MrFlags::ALLOW_LOCAL_WRITE)
            .unwrap();
        let pd = bed.pd;
        let fast = bed
            .nic
            .bench()
            .place_fast_region(pd, &chain, 4096, MrFlags::ALLOW_LOCAL_WRITE)
            .unwrap();
        let region = bed.nic.local_token_from_mr(region).unwrap().0;
        let fast = bed.nic.local_token_from_mr(fast).unwrap().0;
        let privileged = bed.nic.privileged_memory_region_token(pd).unwrap().0;
        let (good, bad) = if supported {
            (Ok(()), fails(NtStatus::INVALID_PARAMETER))
        } else {
            (Ok(()), Ok(()))
        };
        let cases = [
            (vec![], &bad),
            (vec![privileged], &bad),
            (vec![region, fast], &bad),
            (vec![fast, region], &good),
            // Not a token now: the engine's affair.
            (vec![fast ^ 0xFF], &good),
        ];
        for (tokens, expected) in cases {
            let sgl: Vec<Sge> = tokens.iter().map(|t| sge(0x20_0000, 8, *t)).collect();
            let flags = OpFlags::RDMA_READ_LOCAL_INVALIDATE;
            let outcome = bed.nic.read(bed.qp, 0, &sgl, 0, RemoteToken(0), flags);
            assert_eq!(outcome, *expected, "{supported} {tokens:x?}");
        }
        let wqe = bed.nic.hal().sq_wqe(bed.qpn, 0);
        assert_eq!(wqe.get("local_invalidate"), u128::from(supported));
    }
}

/// Reading O3, NDK-QPC-3.
// Covers: NDK-QPC-3
#[test]
fn o3_full_queues() {
    let mut bed = Bed::with(AdapterConfig::default(), |p| {
        p.initiator_queue_depth = 3;
        p.receive_queue_depth = 5;
    });
    let full = fails(NtStatus::NO_MORE_ENTRIES);
    for _ in 0..3 {
        assert_eq!(bed.send(0, OpFlags::NONE), Ok(()));
    }
    assert_eq!(bed.send(0, OpFlags::NONE), full);
    // The slot is free when the completion is in the queue, not only when it was fetched.
    let entry = bed.sent(0);
    bed.complete(entry);
    assert_eq!(bed.send(0, OpFlags::NONE), Ok(()));
    assert_eq!(bed.send(0, OpFlags::NONE), full);
    assert_eq!(bed.poll().len(), 1);
    for _ in 0..5 {
        assert_eq!(bed.nic.receive(bed.qp, 0, &[]), Ok(()));
    }
    assert_eq!(bed.nic.receive(bed.qp, 0, &[]), full);
    let entry = receive_cqe(bed.qpn, 0, 0, Status::Success);
    bed.complete(entry);
    assert_eq!(bed.nic.receive(bed.qp, 0, &[]), Ok(()));
    assert_eq!(bed.nic.receive(bed.qp, 0, &[]), full);
}

#[test]
fn queues_of_depth_0() {
    let mut bed = Bed::with(AdapterConfig::default(), |p| {
        p.initiator_queue_depth = 0;
        p.receive_queue_depth = 0;
    });
    let full = fails(NtStatus::NO_MORE_ENTRIES);
    assert_eq!(bed.send(0, OpFlags::NONE), full);
    assert_eq!(bed.send(0, OpFlags::SILENT_SUCCESS), full);
    assert_eq!(bed.nic.receive(bed.qp, 0, &[]), full);
}

fn doorbells(bed: &Bed) -> Vec<u16> {
    let values = bed.nic.hal().written(DB_SQ);
    assert!(values.iter().all(|value| value >> 16 == bed.qpn));
    values.iter().map(|value| *value as u16).collect()
}

// Covers: NDK-DEFER-7
#[test]
fn ndk_defer_7_the_next_request_indicates() {
    let mut bed = Bed::new();
    for _ in 0..16 {
        bed.send(0, OpFlags::DEFER).unwrap();
    }
    assert_eq!(doorbells(&bed), [0; 0]);
    // The requests are in the ring all the same.
    assert_eq!(bed.nic.hal().sq_wqe(bed.qpn, 15).get("index"), 15);
    bed.send(0, OpFlags::NONE).unwrap();
    assert_eq!(doorbells(&bed), [17]);
    bed.send(0, OpFlags::NONE).unwrap();
    assert_eq!(doorbells(&bed), [17, 18]);
}

/// NDK-DEFER-3, -5, -8: #1 deferred, #2 deferred fails inline; #1 is indicated, and it alone completes.
// Covers: NDK-DEFER-3, NDK-DEFER-5
#[test]
fn ndk_defer_8_inline_failure_indicates_what_was_deferred() {
    let bad: [(&[Sge], OpFlags, NtStatus); 4] = [
        (&[], OpFlags(0x400 | 0x200), NtStatus::INVALID_PARAMETER),
        (&[sge(0, 1, 1); 5], OpFlags::DEFER, NtStatus::DATA_OVERRUN),
        (
            &[sge(0, u32::MAX, 1)],
            OpFlags::DEFER,
            NtStatus::BUFFER_OVERFLOW,
        ),
        (
            &[sge(0, 4, 0)],
            OpFlags(OpFlags::INLINE.0 | OpFlags::DEFER.0),
            NtStatus::ACCESS_VIOLATION,
        ),
    ];
    for (sgl, flags, status) in bad {
        let mut bed = Bed::new();
        bed.send(77, OpFlags::DEFER).unwrap();
        let outcome = bed.nic.send(bed.qp, 78, sgl, flags);
        assert_eq!(outcome, fails(status));
        assert_eq!(doorbells(&bed), [1]);
        let entry = bed.sent(0);
        bed.complete(entry);
        assert_eq!(bed.contexts(), [77]);
        // The queue pair works on, and the failed request left no gap.
        bed.send(79, OpFlags::NONE).unwrap();
        assert_eq!(doorbells(&bed), [1, 2]);
    }
}

// Covers: NDK-DEFER-5
#[test]
fn ndk_defer_5_a_full_queue_indicates() {
    let mut bed = Bed::depth(2);
    bed.send(0, OpFlags::DEFER).unwrap();
    bed.send(1, OpFlags::DEFER).unwrap();
    assert_eq!(doorbells(&bed), [0; 0]);
    assert_eq!(
        bed.send(2, OpFlags::DEFER),
        fails(NtStatus::NO_MORE_ENTRIES)
    );
    assert_eq!(doorbells(&bed), [2]);
}

/// NDK-FLUSH-1, readings O7 and O19.
#[test]
fn o19_flush_reaches_deferred_requests() {
    let mut bed = Bed::new();
    bed.send(5, OpFlags::DEFER).unwrap();
    bed.nic.flush(bed.qp).unwrap();
    assert_eq!(bed.nic.hal().entry(Table::Qp, bed.qpn).get("state"), 4);
    assert_eq!(bed.nic.qp_phase(bed.qp), Ok(QpPhase::Error));
    assert_eq!(doorbells(&bed), [1]);
    // Posting goes on.
    bed.send(6, OpFlags::NONE).unwrap();
    bed.nic.receive(bed.qp, 7, &[]).unwrap();
    for index in 0..2 {
        let entry = cqe(bed.qpn, index, WqeOpcode::None, Status::Flushed);
        bed.complete(entry);
    }
    let entry = receive_cqe(bed.qpn, 0, 0, Status::Flushed);
    bed.complete(entry);
    let results = bed.poll();
    assert!(results.iter().all(|r| r.status == NtStatus::CANCELLED));
    let contexts: Vec<u64> = results.iter().map(|r| r.request_context).collect();
    assert_eq!(contexts, [5, 6, 7]);
}
