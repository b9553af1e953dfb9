//! The miniport: versions, several instances, enabling and disabling, capabilities, keywords.

use tandem_model::abi::{Status, WqeOpcode};
use tandem_model::ndk::bench::PathMtu;
use tandem_model::ndk::{
    Adapter, AdapterConfig, ConnectionConfig, Keywords, LogEvent, Miniport, MiniportConfig, MrUse,
    NdisNdkPerformanceCounters, NdisObjectHeader, NdisOidRequest, NdisOpenNdkAdapterParameters,
    NdkError, NdkState, NdkVersion, NetEvent, Notification, NtStatus, Object, Oid, OidOutcome,
    OidRequestType, OpFlags, QpParameters, RdmaTechnology,
};

use crate::fake::{Fake, cqe, peer, srq_parameters};

const V1: NdkVersion = NdkVersion::V1_2;
const V2: NdkVersion = NdkVersion::V2_1;

fn with(keywords: Keywords) -> Result<Miniport<Fake>, NdkError> {
    let adapter = AdapterConfig {
        connections: Some(ConnectionConfig::default()),
        ..AdapterConfig::default()
    };
    Miniport::initialize(Fake::new(), MiniportConfig { adapter, keywords })
}

/// Without connections.
fn miniport() -> Miniport<Fake> {
    Miniport::initialize(Fake::new(), MiniportConfig::default()).unwrap()
}

fn set_state(miniport: &mut Miniport<Fake>, buffer: &[u8]) -> OidOutcome {
    let set = OidRequestType::SetInformation;
    miniport.oid_request(set, Oid::NDK_SET_STATE, &mut buffer.to_vec())
}

fn set(miniport: &mut Miniport<Fake>, enable: bool) {
    let expected = OidOutcome {
        status: NtStatus::SUCCESS,
        bytes_written: 1,
        bytes_needed: 0,
    };
    assert_eq!(set_state(miniport, &[enable.into()]), expected);
}

fn net_events(miniport: &mut Miniport<Fake>) -> Vec<NetEvent> {
    std::iter::from_fn(|| miniport.next_net_event()).collect()
}

// Covers: NDK-OPEN-1, NDK-OPEN-2
#[test]
fn ndk_open_1_versions_of_instances() {
    let mut miniport = miniport();
    let mut asked = |major, minor| {
        let adapter = miniport.open_adapter(NdkVersion { major, minor })?;
        let instance = miniport.adapter(adapter)?;
        let pd = instance.create_pd()?;
        let header = instance.object(Object::Pd(pd))?.header;
        let info = instance.query_adapter_info();
        assert_eq!(header.version, info.version);
        Ok::<_, NdkError>(info.version)
    };
    let bad = Err(NtStatus::NDIS_BAD_VERSION.into());
    assert_eq!(asked(1, 0), Ok(V1));
    assert_eq!(asked(1, 2), Ok(V1));
    assert_eq!(asked(1, 3), bad);
    assert_eq!(asked(2, 0), Ok(V2));
    assert_eq!(asked(2, 1), Ok(V2));
    assert_eq!(asked(2, 2), bad);
    assert_eq!(asked(0, 0), bad);
    assert_eq!(asked(3, 0), bad);
}

/// NDIS opens and closes instances by what the driver registered.
#[test]
fn registered_handlers() {
    let registered = Miniport::<Fake>::characteristics();
    let header = registered.header;
    assert_eq!(
        (header.object_type, header.revision, header.size),
        (0xB2, 1, 24)
    );
    assert_eq!(registered.flags, 0);
    let mut miniport = miniport();
    let mut parameters = NdisOpenNdkAdapterParameters {
        version: V1,
        switch_id: 0,
        v_port_id: 0,
    };
    let adapter = (registered.open_ndk_adapter_handler)(&mut miniport, &parameters).unwrap();
    assert!(miniport.adapter(adapter).is_ok());
    let closed = (registered.close_ndk_adapter_handler)(&mut miniport, adapter);
    assert_eq!(closed, Ok(vec![]));
    parameters.version.major = 9;
    let opened = (registered.open_ndk_adapter_handler)(&mut miniport, &parameters);
    assert_eq!(opened, Err(NtStatus::NDIS_BAD_VERSION.into()));
}

/// Only as much of the buffer counts as the request says.
// Covers: NDK-OIDQ-1, NDK-OIDQ-2, NDK-OIDQ-3
#[test]
fn ndk_oidq_1_as_ndis_hands_it_over() {
    let mut miniport = miniport();
    let mut request = NdisOidRequest {
        header: NdisObjectHeader {
            object_type: 0x96,
            revision: 1,
            size: 64,
        },
        request_type: OidRequestType::QueryInformation,
        port_number: 0,
        timeout: 0,
        request_id: 1,
        request_handle: 2,
        oid: Oid::NDK_LOCAL_ENDPOINTS,
        information_buffer: 0x1000,
        information_buffer_length: 15,
        bytes_written: 99,
        bytes_needed: 99,
    };
    let mut buffer = [0xEE; 32];
    let status = miniport.ndis_oid_request(&mut request, &mut buffer);
    assert_eq!(status, NtStatus::NDIS_BUFFER_TOO_SHORT);
    assert_eq!((request.bytes_written, request.bytes_needed), (0, 16));
    assert_eq!(buffer, [0xEE; 32]);
    request.information_buffer_length = 16;
    let status = miniport.ndis_oid_request(&mut request, &mut buffer);
    assert_eq!(status, NtStatus::SUCCESS);
    assert_eq!((request.bytes_written, request.bytes_needed), (16, 0));
    assert_eq!(buffer[16..], [0xEE; 16]);
}

// Covers: NDK-OPEN-3
#[test]
fn ndk_open_3_not_enabled() {
    let mut miniport = with(Keywords {
        network_direct: false,
        ..Keywords::default()
    })
    .unwrap();
    assert_eq!(miniport.state(), NdkState::Disabled);
    let not_ready = Err(NtStatus::NDIS_ADAPTER_NOT_READY.into());
    assert_eq!(miniport.open_adapter(V2), not_ready);
    // Enabling needs the keyword.
    let outcome = set_state(&mut miniport, &[1]);
    assert_eq!(outcome.status, NtStatus::UNSUCCESSFUL);
    assert_eq!(miniport.open_adapter(V2), not_ready);
    set(&mut miniport, false);
    assert_eq!(net_events(&mut miniport), []);
}

/// Each hears of its own objects only, results carry error codes from 2.1 on, and the numbers of objects are those of
/// the adapter.
// Covers: NDK-OPEN-4, NDK-HDR-1
#[test]
fn ndk_open_4_several_instances() {
    let mut miniport = miniport();
    let adapters = [V1, V2, V2].map(|version| miniport.open_adapter(version).unwrap());
    let mut beds = Vec::new();
    for adapter in adapters {
        let nic = miniport.adapter(adapter).unwrap();
        let pd = nic.create_pd().unwrap();
        let cq = nic.create_cq(16, 7).unwrap();
        let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
        nic.bench().connect(qp, &peer()).unwrap();
        nic.send(qp, 1, &[], OpFlags::NONE).unwrap();
        beds.push((adapter, pd, cq, qp));
    }
    let numbers: Vec<u32> = beds
        .iter()
        .map(|(adapter, .., qp)| miniport.adapter(*adapter).unwrap().qp_number(*qp).unwrap())
        .collect();
    assert_eq!(numbers, [2, 3, 4]);
    for (number, (adapter, _, cq, qp)) in (0u32..).zip(&beds) {
        let failed = cqe(number + 2, 0, WqeOpcode::Send, Status::RetryExceeded);
        miniport
            .hal_mut()
            .complete(number, failed.with("error_code", 9u8));
        let nic = miniport.adapter(*adapter).unwrap();
        let [result] = nic.poll_cq(*cq).unwrap()[..] else {
            panic!("one result");
        };
        assert_eq!(result.status, NtStatus::IO_TIMEOUT);
        let told = result.provider_error_code != 0;
        assert_eq!(told, nic.version() >= V2, "{qp:?}");
    }
    // An event of the last instance, found by the first.
    let (last, .., qp) = beds[2];
    let code = Status::RetryExceeded as u8;
    miniport.hal_mut().event(crate::fake::QP_ERROR, code, 4);
    let first = miniport.adapter(beds[0].0).unwrap();
    assert_eq!(first.poll_events(), Ok(vec![]));
    let told = miniport.adapter(last).unwrap().poll_events().unwrap();
    let expected = Notification::QpError {
        qp,
        qp_context: 0,
        status: NtStatus::IO_TIMEOUT,
    };
    assert_eq!(told, [expected]);
}

/// Objects of different instances do not go together.
// Covers: NDK-OPEN-4
#[test]
fn ndk_open_4_objects_of_another_instance() {
    let mut miniport = miniport();
    let [one, other] = [V2, V2].map(|version| miniport.open_adapter(version).unwrap());
    let nic = miniport.adapter(one).unwrap();
    let foreign_pd = nic.create_pd().unwrap();
    let foreign_cq = nic.create_cq(16, 0).unwrap();
    let srq = srq_parameters();
    let foreign_srq = nic.create_srq(foreign_pd, &srq).unwrap();
    let nic = miniport.adapter(other).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    let refused = Some(NtStatus::INVALID_PARAMETER);
    let status = |error: NdkError| error.status();
    let own = QpParameters::new(cq, cq);
    let mixed = QpParameters::new(cq, foreign_cq);
    let outcomes = [
        nic.create_mr(foreign_pd, MrUse::Register).err(),
        nic.create_mw(foreign_pd).err(),
        nic.create_srq(foreign_pd, &srq).err(),
        nic.create_qp(foreign_pd, &own).err(),
        nic.create_qp(pd, &mixed).err(),
        nic.create_qp_with_srq(pd, foreign_srq, &own).err(),
    ];
    for outcome in outcomes {
        assert_eq!(outcome.and_then(status), refused);
    }
    assert_eq!(nic.create_qp(pd, &own).err(), None);
}

// Covers: NDK-OBJ-6, NDK-OBJ-7
#[test]
fn ndk_obj_7_close_of_an_adapter() {
    let mut miniport = miniport();
    let adapter = miniport.open_adapter(V2).unwrap();
    let other = miniport.open_adapter(V2).unwrap();
    let nic = miniport.adapter(other).unwrap();
    nic.create_pd().unwrap();
    let nic = miniport.adapter(adapter).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
    // Left open: the consumer would wait for ever.
    let busy = Err(NtStatus::DEVICE_BUSY.into());
    assert_eq!(miniport.close_adapter(adapter), busy);
    let nic = miniport.adapter(adapter).unwrap();
    nic.receive(qp, 1, &[]).unwrap();
    assert_eq!(nic.close_pd(pd), Ok(NtStatus::PENDING));
    assert_eq!(nic.close_cq(cq), Ok(NtStatus::PENDING));
    assert_eq!(nic.close_qp(qp), Ok(NtStatus::PENDING));
    assert_eq!(miniport.close_adapter(adapter), busy);
    // What was pending ends while the adapter goes on.
    let flushed = crate::fake::receive_cqe(2, 0, 0, Status::Flushed);
    miniport.hal_mut().complete(0, flushed);
    let told = miniport.close_adapter(adapter).unwrap();
    let closed = [Object::Qp(qp), Object::Cq(cq), Object::Pd(pd)];
    assert_eq!(told, closed.map(Notification::Closed));
    let stale = NdkError::StaleHandle {
        object: "adapter instance",
    };
    assert_eq!(miniport.adapter(adapter).err(), Some(stale.clone()));
    assert_eq!(miniport.close_adapter(adapter), Err(stale));
    assert!(miniport.adapter(other).is_ok());
}

// Covers: NDK-SET-1, NDK-OIDQ-4, NDK-OIDQ-5
#[test]
fn ndk_set_1_one_boolean() {
    let mut miniport = miniport();
    for length in [0, 2, 4] {
        let expected = OidOutcome {
            status: NtStatus::NDIS_INVALID_LENGTH,
            bytes_written: 0,
            bytes_needed: 1,
        };
        assert_eq!(set_state(&mut miniport, &vec![0; length]), expected);
    }
    for value in [2, 0x80, 0xFF] {
        let outcome = set_state(&mut miniport, &[value]);
        assert_eq!(outcome.status, NtStatus::NDIS_INVALID_DATA, "{value}");
    }
    assert_eq!(miniport.state(), NdkState::Enabled);
    for kind in [OidRequestType::QueryInformation, OidRequestType::Method] {
        let outcome = miniport.oid_request(kind, Oid::NDK_SET_STATE, &mut [0]);
        assert_eq!(outcome.status, NtStatus::NOT_SUPPORTED);
    }
    let set = OidRequestType::SetInformation;
    let outcome = miniport.direct_oid_request(set, Oid::NDK_SET_STATE, &mut [0]);
    assert_eq!(outcome.status, NtStatus::NOT_SUPPORTED);
    assert_eq!(miniport.state(), NdkState::Enabled);
}

/// The announcements wait for somebody else to make them.
// Covers: NDK-SET-2, NDK-SET-4
#[test]
fn ndk_set_2_enabled_and_disabled() {
    let mut miniport = miniport();
    assert_eq!(net_events(&mut miniport), []);
    set(&mut miniport, true);
    assert_eq!(net_events(&mut miniport), [], "it was enabled before");
    set(&mut miniport, false);
    assert_eq!(miniport.state(), NdkState::Disabled);
    let not_ready = Err(NtStatus::NDIS_ADAPTER_NOT_READY.into());
    assert_eq!(miniport.open_adapter(V2), not_ready);
    set(&mut miniport, true);
    assert!(miniport.open_adapter(V2).is_ok());
    let events = [NetEvent::NdkDisable, NetEvent::NdkEnable];
    assert_eq!(net_events(&mut miniport), events);
}

/// Open objects work on until their consumer closes them.
// Covers: NDK-OVW-2, NDK-SET-3
#[test]
fn ndk_ovw_2_disable_waits_for_instances() {
    let mut miniport = miniport();
    let adapters: [Adapter; 2] = [V1, V2].map(|version| miniport.open_adapter(version).unwrap());
    let nic = miniport.adapter(adapters[1]).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
    nic.bench().connect(qp, &peer()).unwrap();
    // Success at once, though it is not done.
    set(&mut miniport, false);
    assert_eq!(miniport.state(), NdkState::Disabling);
    assert_eq!(net_events(&mut miniport), [NetEvent::NdkDisable]);
    let not_ready = Err(NtStatus::NDIS_ADAPTER_NOT_READY.into());
    assert_eq!(miniport.open_adapter(V2), not_ready);
    let nic = miniport.adapter(adapters[1]).unwrap();
    nic.send(qp, 1, &[], OpFlags::NONE).unwrap();
    nic.create_mr(pd, MrUse::Register).unwrap();
    let sent = cqe(2, 0, WqeOpcode::Send, Status::Success);
    miniport.hal_mut().complete(0, sent);
    let nic = miniport.adapter(adapters[1]).unwrap();
    assert_eq!(nic.poll_cq(cq).unwrap()[0].status, NtStatus::SUCCESS);
    miniport.close_adapter(adapters[0]).unwrap();
    assert_eq!(miniport.state(), NdkState::Disabling);
}

/// What is asked for while a disable is pending comes after it; the last wish counts.
// Covers: NDK-OVW-2, NDK-SET-2
#[test]
fn ndk_ovw_2_enable_while_a_disable_is_pending() {
    let last_wishes: [(&[bool], NdkState); 3] = [
        (&[true], NdkState::Enabled),
        (&[true, false], NdkState::Disabled),
        (&[false, true], NdkState::Enabled),
    ];
    for (wishes, outcome) in last_wishes {
        let mut miniport = miniport();
        let adapter = miniport.open_adapter(V2).unwrap();
        set(&mut miniport, false);
        for wish in wishes {
            set(&mut miniport, *wish);
            assert_eq!(miniport.state(), NdkState::Disabling);
        }
        assert_eq!(net_events(&mut miniport), [NetEvent::NdkDisable]);
        miniport.close_adapter(adapter).unwrap();
        assert_eq!(miniport.state(), outcome);
        let enabled = net_events(&mut miniport) == [NetEvent::NdkEnable];
        assert_eq!(enabled, outcome == NdkState::Enabled);
    }
}

// Covers: NDK-NCAP-1, NDK-NCAP-2, NDK-NCAP-3
#[test]
fn ndk_ncap_1_capabilities() {
    for network_direct in [true, false] {
        let mut miniport = with(Keywords {
            network_direct,
            ..Keywords::default()
        })
        .unwrap();
        let attributes = miniport.attributes();
        let header = attributes.header;
        assert_eq!(
            (header.object_type, header.revision, header.size),
            (0xB3, 1, 16)
        );
        assert_eq!(attributes.enabled, network_direct.into());
        let capabilities = *attributes.ndk_capabilities;
        assert_eq!(capabilities, miniport.capabilities());
        let header = capabilities.header;
        assert_eq!(
            (header.object_type, header.revision, header.size),
            (0x80, 1, 56)
        );
        assert_eq!(capabilities.flags, 0);
        assert_eq!(capabilities.max_qp_count, 62);
        // A completion queue and a token are connection management's.
        assert_eq!(capabilities.max_cq_count, 31);
        assert_eq!(capabilities.max_mr_count, 253);
        assert_eq!(capabilities.max_mw_count, 253);
        assert_eq!(capabilities.max_pd_count, 254);
        assert_eq!(capabilities.max_srq_count, 1);
        // No limit of the whole adapter; that of each queue pair holds.
        assert_eq!(capabilities.max_inbound_read_limit, 0);
        assert_eq!(capabilities.max_outbound_read_limit, 0);
        assert_eq!(capabilities.ndk_info.max_inbound_read_limit, 16);
        assert_eq!(capabilities.ndk_info.max_outbound_read_limit, 16);
        assert_eq!(capabilities.missing_counter_mask, 0);
        if network_direct {
            let adapter = miniport.open_adapter(V2).unwrap();
            let info = miniport.adapter(adapter).unwrap().query_adapter_info();
            assert_eq!(*capabilities.ndk_info, info);
        }
    }
    let offset = std::mem::offset_of!(NdisNdkPerformanceCounters, rdma_out_frames);
    assert_eq!(NdisNdkPerformanceCounters::mask(offset), 1 << 29);
    assert_eq!(NdisNdkPerformanceCounters::mask(0), 1);
}

/// The numbers of objects that the capabilities promise can be made, and no more.
// Covers: NDK-NCAP-1
#[test]
fn ndk_ncap_1_counts_are_true() {
    let with_connections = || with(Keywords::default()).unwrap();
    let makes: [fn() -> Miniport<Fake>; 2] = [miniport, with_connections];
    for make in makes {
        let mut miniport = make();
        let capabilities = miniport.capabilities();
        let adapter = miniport.open_adapter(V2).unwrap();
        let nic = miniport.adapter(adapter).unwrap();
        let pd = nic.create_pd().unwrap();
        let cqs = (0..100).map_while(|_| nic.create_cq(4, 0).ok()).count();
        assert_eq!(cqs, capabilities.max_cq_count as usize);
        let mws = (0..1000).map_while(|_| nic.create_mw(pd).ok()).count();
        assert_eq!(mws, capabilities.max_mw_count as usize);

        let mut miniport = make();
        let adapter = miniport.open_adapter(V2).unwrap();
        let nic = miniport.adapter(adapter).unwrap();
        let cq = nic.create_cq(4, 0).unwrap();
        let pds: Vec<_> = (0..1000).map_while(|_| nic.create_pd().ok()).collect();
        assert_eq!(pds.len(), capabilities.max_pd_count as usize);
        let parameters = QpParameters::new(cq, cq);
        let made = (0..100).map_while(|_| nic.create_qp(pds[0], &parameters).ok());
        assert_eq!(made.count(), capabilities.max_qp_count as usize);
    }
}

/// 1024 by default; the size configured, or the largest one not above `*JumboPacket`.
// Covers: NDK-OVW-3, NDK-OVW-4
#[test]
fn ndk_ovw_3_mtu() {
    let cases = [
        (1024, 1514, PathMtu::B1024),
        (256, 9014, PathMtu::B256),
        (4096, 9014, PathMtu::B4096),
        (4096, 4096, PathMtu::B4096),
        (4096, 4088, PathMtu::B2048),
        (4096, 1514, PathMtu::B1024),
        (2048, 1514, PathMtu::B1024),
        (1500, 9014, PathMtu::B1024),
        (8192, 9014, PathMtu::B4096),
        (1024, 900, PathMtu::B512),
        (100, 1514, PathMtu::B256),
    ];
    for (configured, jumbo_packet, active) in cases {
        let mut miniport = with(Keywords {
            roce_frame_size: configured,
            jumbo_packet,
            ..Keywords::default()
        })
        .unwrap();
        assert_eq!(miniport.path_mtu(), active, "{configured} {jumbo_packet}");
        let adapter = miniport.open_adapter(V2).unwrap();
        let config = miniport.adapter(adapter).unwrap().config();
        let of_connections = config.connections.map(|connections| connections.path_mtu);
        assert_eq!(of_connections, Some(active));
        let expected = LogEvent::RoceMtu { configured, active };
        let logged = miniport.take_log();
        if active.bytes() == configured {
            assert_eq!(logged, []);
        } else {
            assert_eq!(logged, [expected]);
        }
        assert_eq!(miniport.take_log(), []);
    }
}

// Covers: NDK-OVW-5
#[test]
fn ndk_ovw_5_one_technology() {
    use RdmaTechnology as T;
    for technology in [T::Undefined, T::IWarp, T::InfiniBand, T::RoCE] {
        let error = with(Keywords {
            technology,
            ..Keywords::default()
        });
        assert_eq!(error.err(), Some(NtStatus::NOT_SUPPORTED.into()));
    }
    let technology = miniport().capabilities().ndk_info.rdma_technology;
    assert_eq!(technology, T::RoCEv2);
}
