//! Opening, adapter information, object limits and lifetimes.

use tandem_model::abi::{Status, Table, WqeOpcode};
use tandem_model::hal::HalError;
use tandem_model::ndk::{
    AdapterConfig, AdapterError, AdapterFlags, MrUse, NdkError, NdkVersion, Notification, NtStatus,
    Object, OpFlags, Provider, QpParameters, RdmaTechnology, Timing,
};

use crate::fake::{Bed, Fake, cqe, peer};

fn open(config: AdapterConfig) -> Result<Provider<Fake>, NdkError> {
    Provider::open(Fake::new(), config)
}

// Covers: NDK-OPEN-1
#[test]
fn ndk_open_versions() {
    let asked = |major, minor| {
        let version = NdkVersion { major, minor };
        let config = AdapterConfig {
            version,
            ..AdapterConfig::default()
        };
        open(config).map(|nic| nic.query_adapter_info().version)
    };
    let bad = Err(NtStatus::NDIS_BAD_VERSION.into());
    assert_eq!(asked(1, 1), Ok(NdkVersion::V1_2));
    assert_eq!(asked(1, 2), Ok(NdkVersion::V1_2));
    assert_eq!(asked(1, 3), bad);
    assert_eq!(asked(2, 0), Ok(NdkVersion::V2_1));
    assert_eq!(asked(2, 2), bad);
    assert_eq!(asked(3, 0), bad);
}

#[test]
fn open_sets_addresses_units_of_time_and_event_queue() {
    let nic = open(AdapterConfig {
        timing: Timing {
            time_unit: 0,
            rnr_unit: 1000,
            cnp_interval: 0x0100_0005,
        },
        mac: [1, 2, 3, 4, 5, 6],
        ipv4: Some([10, 0, 0, 1].into()),
        ipv6: Some("fe80::1".parse().unwrap()),
        ..AdapterConfig::default()
    })
    .unwrap();
    let registers = &nic.hal().registers;
    assert_eq!(registers[&0x028], 0x0403_0201);
    assert_eq!(registers[&0x02C], 0x0605);
    assert_eq!(registers[&0x030], 0x0100_000A);
    assert_eq!(
        [0x040, 0x044, 0x048, 0x04C].map(|offset| registers[&offset]),
        [0x0000_80FE, 0, 0, 0x0100_0000]
    );
    assert_eq!(registers[&0x014], 8, "2 × 64 + 32 + 1 events at least");
    let units = [0x034, 0x038, 0x03C].map(|offset| registers[&offset]);
    assert_eq!(units, [1, 1000, 0xFF_FFFF]);
    let nic = open(AdapterConfig::default()).unwrap();
    let registers = &nic.hal().registers;
    let units = [0x034, 0x038, 0x03C].map(|offset| registers[&offset]);
    assert_eq!(units, [256, 625, 3125], "as after reset");
    // NDK-MOD-9.
    assert_eq!(registers[&0x064], 62);
}

#[test]
fn open_refuses_strangers() {
    let mut hal = Fake::new();
    hal.registers.insert(0, 5);
    let error = Provider::open(hal, AdapterConfig::default()).err();
    assert_eq!(error, Some(AdapterError::NotTandem { id: 5 }.into()));
    let mut hal = Fake::new();
    hal.registers.insert(4, 2);
    let error = Provider::open(hal, AdapterConfig::default()).err();
    assert_eq!(error, Some(AdapterError::Version { version: 2 }.into()));
}

// Covers: NDK-OVW-5
#[test]
fn ndk_cap_adapter_info() {
    let nic = open(AdapterConfig::default()).unwrap();
    let info = nic.query_adapter_info();
    assert_eq!(info.version, NdkVersion { major: 2, minor: 1 });
    assert_eq!(info.max_initiator_request_sge, 14);
    assert_eq!(info.max_read_request_sge, 4);
    assert_eq!(info.max_receive_request_sge, 4);
    assert_eq!(info.max_inline_data_size, 224);
    assert_eq!(info.max_transfer_length, 4 << 20);
    assert_eq!(info.max_registration_size, 4 << 20);
    assert_eq!(info.max_window_size, 4 << 20);
    assert_eq!(info.frmr_page_count, 16);
    assert_eq!(info.max_outbound_read_limit, 16);
    assert_eq!(info.rdma_technology, RdmaTechnology::RoCEv2);
    assert_eq!(
        info.adapter_flags,
        AdapterFlags::RDMA_READ_SINK_NOT_REQUIRED
            | AdapterFlags::RDMA_READ_LOCAL_INVALIDATE_SUPPORTED
            | AdapterFlags::CQ_INTERRUPT_MODERATION_SUPPORTED
            | AdapterFlags::CQ_RESIZE_SUPPORTED
    );
    let bytes = info.to_bytes();
    assert_eq!(bytes[..8], [2, 0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[0x24..0x30], [14, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0]);
    assert_eq!(bytes[0x5C..], [0x16, 1, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
}

/// No instance of any version promises that the last byte of a buffer comes last.
// Covers: NDK-CAP-8
#[test]
fn ndk_cap_8_order_of_writes_is_not_promised() {
    for version in [NdkVersion::V1_2, NdkVersion::V2_1] {
        let config = AdapterConfig {
            version,
            ..AdapterConfig::default()
        };
        let flags = open(config).unwrap().query_adapter_info().adapter_flags;
        assert!(!flags.contains(AdapterFlags::IN_ORDER_DMA_SUPPORTED));
    }
}

// Covers: NDK-CAP-2
#[test]
fn ndk_cap_2_short_buffer() {
    let nic = open(AdapterConfig::default()).unwrap();
    let mut short = [0xEE; 103];
    let answer = nic.query_adapter_info_into(&mut short);
    assert_eq!(answer, (NtStatus::BUFFER_TOO_SMALL, 104));
    assert_eq!(short, [0xEE; 103]);
    let mut long = [0xEE; 105];
    let answer = nic.query_adapter_info_into(&mut long);
    assert_eq!(answer, (NtStatus::SUCCESS, 104));
    assert_eq!(long[104], 0xEE);
}

// Covers: NDK-CQC-1
#[test]
fn ndk_cqc_1_depth() {
    let mut nic = open(AdapterConfig::default()).unwrap();
    let most = nic.query_adapter_info().max_cq_depth;
    assert!(nic.create_cq(most, 0).is_ok());
    for depth in [0, most + 1, u32::MAX] {
        let outcome = nic.create_cq(depth, 0);
        assert_eq!(outcome, Err(NtStatus::INVALID_PARAMETER.into()), "{depth}");
    }
}

// Covers: NDK-MOD-1
#[test]
fn ndk_cqc_2_ring_holds_the_depth() {
    let mut nic = open(AdapterConfig::default()).unwrap();
    let cq = nic.create_cq(100, 0).unwrap();
    assert_eq!(nic.cq_depth(cq), Ok(100));
    assert_eq!(
        nic.cq_ring_entries(cq),
        Ok(256),
        "100 and two for each queue pair"
    );
    let exact = AdapterConfig {
        cq_reserve: Some(0),
        ..AdapterConfig::default()
    };
    let mut nic = open(exact).unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    assert_eq!(nic.cq_ring_entries(cq), Ok(16));
    let entry = nic.hal().entry(Table::Cq, 0);
    assert_eq!((entry.get("valid"), entry.get("log_size")), (1, 4));
    let moderation = ["moderation_count", "moderation_interval"];
    assert_eq!(moderation.map(|field| entry.get(field)), [0, 0]);
}

// Covers: NDK-QPC-1
#[test]
fn ndk_qpc_1_limits() {
    let mut nic = open(AdapterConfig::default()).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(64, 0).unwrap();
    let info = nic.query_adapter_info();
    let good = QpParameters {
        receive_queue_depth: info.max_receive_queue_depth,
        initiator_queue_depth: info.max_initiator_queue_depth,
        max_receive_request_sge: info.max_receive_request_sge,
        max_initiator_request_sge: info.max_initiator_request_sge,
        inline_data_size: info.max_inline_data_size,
        ..QpParameters::new(cq, cq)
    };
    let changes: [fn(&mut QpParameters); 5] = [
        |p| p.receive_queue_depth += 1,
        |p| p.initiator_queue_depth += 1,
        |p| p.max_receive_request_sge += 1,
        |p| p.max_initiator_request_sge += 1,
        |p| p.inline_data_size += 1,
    ];
    for change in changes {
        let mut bad = good;
        change(&mut bad);
        let outcome = nic.create_qp(pd, &bad);
        assert_eq!(outcome, Err(NtStatus::INVALID_PARAMETER.into()), "{bad:?}");
    }
    assert!(nic.create_qp(pd, &good).is_ok());
}

// Covers: WIRE-UDP-2, WIRE-ADR-2
#[test]
fn queue_pair_entry_of_the_engine() {
    let bed = Bed::with(AdapterConfig::default(), |p| {
        p.max_initiator_request_sge = 5;
        p.initiator_queue_depth = 32;
        p.receive_queue_depth = 33;
    });
    let entry = bed.nic.hal().entry(Table::Qp, bed.qpn);
    assert_eq!(bed.qpn, 2, "0 and 1 belong to management");
    assert_eq!(entry.get("state"), 3, "QpRts");
    assert_eq!(entry.get("sq_stride"), 1, "32 + 5 * 16 bytes");
    assert_eq!(entry.get("sq_log"), 6, "32 requests and a spare entry");
    assert_eq!(entry.get("rq_log"), 6);
    assert_eq!(entry.get("sq_base") % (128 << 6), 0, "aligned to its size");
    assert_eq!(entry.get("rq_base") % (64 << 6), 0);
    assert_eq!(entry.get("remote_qpn"), 0x11);
    assert_eq!(entry.get("mtu"), 3);
    assert_eq!(entry.get("hop_limit"), 64);
    assert_eq!((entry.get("max_ord"), entry.get("max_ird")), (16, 16));
    assert_eq!(entry.get("remote_mac"), 0x0200_0000_0002);
    let ip = entry.get("remote_ip").to_le_bytes();
    assert_eq!(ip[10..], [0xFF, 0xFF, 10, 0, 0, 2]);
    // 2 * 0x11 = 0x22: no higher bits to fold.
    assert_eq!(entry.get("udp_sport"), 0xC022, "WIRE-UDP-2");
}

#[test]
fn o33_connecting_twice() {
    let mut bed = Bed::new();
    let outcome = bed.nic.bench().connect(bed.qp, &peer());
    assert_eq!(outcome, Err(NtStatus::CONNECTION_ACTIVE.into()));
    bed.nic.flush(bed.qp).unwrap();
    let outcome = bed.nic.bench().connect(bed.qp, &peer());
    assert_eq!(outcome, Err(NtStatus::INVALID_DEVICE_STATE.into()));
}

#[test]
fn read_limits_are_capped() {
    let mut nic = open(AdapterConfig::default()).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(64, 0).unwrap();
    let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
    let mut parameters = peer();
    parameters.outbound_read_limit = 1000;
    parameters.inbound_read_limit = 3;
    nic.bench().connect(qp, &parameters).unwrap();
    let entry = nic.hal().entry(Table::Qp, 2);
    assert_eq!((entry.get("max_ord"), entry.get("max_ird")), (16, 3));
}

#[test]
fn tables_of_the_engine_run_out() {
    let mut nic = open(AdapterConfig::default()).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    let mut parameters = QpParameters::new(cq, cq);
    parameters.receive_queue_depth = 1;
    parameters.initiator_queue_depth = 1;
    let qps: Vec<_> = std::iter::from_fn(|| nic.create_qp(pd, &parameters).ok()).collect();
    assert_eq!(qps.len(), 62);
    let none = Err(NtStatus::INSUFFICIENT_RESOURCES.into());
    assert_eq!(nic.create_qp(pd, &parameters), none);
    assert_eq!(nic.close_qp(qps[5]), Ok(NtStatus::SUCCESS));
    let again = nic.create_qp(pd, &parameters).unwrap();
    assert_eq!(nic.qp_number(again), Ok(7));
    assert_ne!(again, qps[5]);
    assert_eq!(
        nic.receive(qps[5], 0, &[]),
        Err(NdkError::StaleHandle {
            object: "queue pair"
        })
    );
    let pds = std::iter::from_fn(|| nic.create_pd().ok()).count();
    assert_eq!(pds, 254, "255 tokens, one taken");
}

// Covers: NDK-OBJ-4, NDK-OBJ-5, NDK-CLS-2, NDK-CLS-3
#[test]
fn ndk_obj_4_antecedents_close_after_successors() {
    let mut bed = Bed::new();
    let mr = bed.nic.create_mr(bed.pd, MrUse::Register).unwrap();
    assert_eq!(bed.nic.close_pd(bed.pd), Ok(NtStatus::PENDING));
    assert_eq!(bed.nic.close_cq(bed.cq), Ok(NtStatus::PENDING));
    assert_eq!(bed.nic.close_mr(mr), Ok(NtStatus::SUCCESS));
    assert_eq!(bed.nic.poll_events(), Ok(vec![]));
    assert_eq!(bed.nic.close_qp(bed.qp), Ok(NtStatus::SUCCESS));
    assert_eq!(
        bed.nic.poll_events(),
        Ok(vec![
            Notification::Closed(Object::Cq(bed.cq)),
            Notification::Closed(Object::Pd(bed.pd)),
        ])
    );
    assert_eq!(bed.nic.hal().entry(Table::Qp, bed.qpn).get("state"), 0);
    assert_eq!(bed.nic.hal().entry(Table::Cq, 0).get("valid"), 0);
    assert_eq!(bed.nic.hal().entry(Table::Token, 1).get("valid"), 0);
}

/// NDK-OBJ-8: close cancels; O26: what completed stays to be fetched.
// Covers: NDK-OBJ-8
#[test]
fn ndk_obj_8_close_with_requests_outstanding() {
    let mut bed = Bed::new();
    bed.send(1, OpFlags::NONE).unwrap();
    bed.nic.receive(bed.qp, 2, &[]).unwrap();
    bed.send(3, OpFlags::SILENT_SUCCESS | OpFlags::DEFER)
        .unwrap();
    assert_eq!(bed.nic.close_qp(bed.qp), Ok(NtStatus::PENDING));
    assert_eq!(bed.nic.hal().entry(Table::Qp, bed.qpn).get("state"), 4);
    // The deferred request is indicated, and the marker that shows the end of the silent one.
    assert_eq!(
        bed.nic.hal().written(crate::fake::DB_SQ).last(),
        Some(&(bed.qpn << 16 | 3))
    );
    assert_eq!(bed.nic.poll_events(), Ok(vec![]));
    let flushed = |index| cqe(bed.qpn, index, WqeOpcode::None, Status::Flushed);
    let (a, marker) = (flushed(0), flushed(2));
    bed.complete(a);
    bed.complete(marker);
    assert_eq!(bed.nic.poll_events(), Ok(vec![]), "the receive is missing");
    let receive = crate::fake::receive_cqe(bed.qpn, 0, 0, Status::Flushed);
    bed.complete(receive);
    assert_eq!(
        bed.nic.poll_events(),
        Ok(vec![Notification::Closed(Object::Qp(bed.qp))])
    );
    assert_eq!(bed.nic.hal().entry(Table::Qp, bed.qpn).get("state"), 0);
    assert_eq!(bed.contexts(), [1, 2], "the silent one had succeeded");
}

#[test]
fn a_broken_adapter_is_no_status() {
    let mut bed = Bed::new();
    let stopped = HalError::Stopped("divergence at action 7".into());
    bed.nic.hal_mut().broken = Some(stopped.clone());
    let outcome = bed.send(0, OpFlags::NONE);
    assert_eq!(outcome, Err(stopped.clone().into()));
    assert_eq!(NtStatus::of(&outcome), Err(&AdapterError::Hal(stopped)));
}

#[test]
fn a_stuck_context_command_is_an_error() {
    let mut bed = Bed::new();
    bed.nic.hal_mut().busy = u32::MAX;
    let outcome = bed.nic.create_pd();
    assert!(
        matches!(
            outcome,
            Err(NdkError::Adapter(AdapterError::ContextBusy {
                command: 2,
                ..
            }))
        ),
        "{outcome:?}"
    );
}
