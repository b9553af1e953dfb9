//! Sizes, offsets and values of what crosses the interface.

use std::mem::{align_of, offset_of, size_of};

use crate::fake::Fake;
use tandem_model::ndk::{
    AdapterFlags, ArmType, MrFlags, NdisMiniportAdapterNdkAttributes, NdisNdkCapabilities,
    NdisNdkConnectionEntry, NdisNdkConnections, NdisNdkLocalEndpointEntry, NdisNdkLocalEndpoints,
    NdisNdkPerformanceCounters, NdisNdkProviderCharacteristics, NdisNdkStatisticsInfo,
    NdisObjectHeader, NdisOidRequest, NdisOpenNdkAdapterParameters, NdkAdapterInfo, NdkResult,
    NdkResultEx, NtStatus, Oid, OpFlags, OperationType, RdmaTechnology, RemoteToken, Sge,
    SockaddrInet,
};

// Covers: NDK-SGE-1
#[test]
fn ndk_sge_1_layout() {
    assert_eq!(size_of::<Sge>(), 16);
    assert_eq!(
        [
            offset_of!(Sge, address),
            offset_of!(Sge, length),
            offset_of!(Sge, token)
        ],
        [0, 8, 12]
    );
}

// Covers: NDK-RES-1
#[test]
fn ndk_res_1_layouts() {
    assert_eq!(size_of::<NdkResult>(), 24);
    assert_eq!(
        [
            offset_of!(NdkResult, status),
            offset_of!(NdkResult, bytes_transferred),
            offset_of!(NdkResult, qp_context),
            offset_of!(NdkResult, request_context),
        ],
        [0, 4, 8, 16]
    );
    assert_eq!(size_of::<NdkResultEx>(), 40);
    assert_eq!(
        [
            offset_of!(NdkResultEx, status),
            offset_of!(NdkResultEx, bytes_transferred),
            offset_of!(NdkResultEx, qp_context),
            offset_of!(NdkResultEx, request_context),
            offset_of!(NdkResultEx, operation),
            offset_of!(NdkResultEx, provider_error_code),
            offset_of!(NdkResultEx, type_specific_completion_output),
        ],
        [0, 4, 8, 16, 24, 28, 32]
    );
}

// Covers: NDK-CAP-1
#[test]
fn ndk_cap_1_layout() {
    assert_eq!(size_of::<NdkAdapterInfo>(), 104);
    assert_eq!(
        [
            offset_of!(NdkAdapterInfo, version),
            offset_of!(NdkAdapterInfo, vendor_id),
            offset_of!(NdkAdapterInfo, device_id),
            offset_of!(NdkAdapterInfo, max_registration_size),
            offset_of!(NdkAdapterInfo, max_window_size),
            offset_of!(NdkAdapterInfo, frmr_page_count),
            offset_of!(NdkAdapterInfo, max_initiator_request_sge),
            offset_of!(NdkAdapterInfo, max_receive_request_sge),
            offset_of!(NdkAdapterInfo, max_read_request_sge),
            offset_of!(NdkAdapterInfo, max_transfer_length),
            offset_of!(NdkAdapterInfo, max_inline_data_size),
            offset_of!(NdkAdapterInfo, max_inbound_read_limit),
            offset_of!(NdkAdapterInfo, max_outbound_read_limit),
            offset_of!(NdkAdapterInfo, max_receive_queue_depth),
            offset_of!(NdkAdapterInfo, max_initiator_queue_depth),
            offset_of!(NdkAdapterInfo, max_srq_depth),
            offset_of!(NdkAdapterInfo, max_cq_depth),
            offset_of!(NdkAdapterInfo, large_request_threshold),
            offset_of!(NdkAdapterInfo, max_caller_data),
            offset_of!(NdkAdapterInfo, max_callee_data),
            offset_of!(NdkAdapterInfo, adapter_flags),
            offset_of!(NdkAdapterInfo, rdma_technology),
        ],
        [
            0x00, 0x04, 0x08, 0x10, 0x18, 0x20, 0x24, 0x28, 0x2C, 0x30, 0x34, 0x38, 0x3C, 0x40,
            0x44, 0x48, 0x4C, 0x50, 0x54, 0x58, 0x5C, 0x60
        ]
    );
}

#[test]
fn what_ndis_hands_over() {
    type Characteristics = NdisNdkProviderCharacteristics<Fake>;
    assert_eq!(size_of::<Characteristics>(), 24);
    assert_eq!(
        [
            offset_of!(Characteristics, header),
            offset_of!(Characteristics, flags),
            offset_of!(Characteristics, open_ndk_adapter_handler),
            offset_of!(Characteristics, close_ndk_adapter_handler),
        ],
        [0, 4, 8, 16]
    );
    type Open = NdisOpenNdkAdapterParameters;
    assert_eq!(size_of::<Open>(), 12);
    assert_eq!(
        [
            offset_of!(Open, version),
            offset_of!(Open, switch_id),
            offset_of!(Open, v_port_id),
        ],
        [0, 4, 8]
    );
    type Request = NdisOidRequest;
    assert_eq!(size_of::<Request>(), 64);
    assert_eq!(
        [
            offset_of!(Request, header),
            offset_of!(Request, request_type),
            offset_of!(Request, port_number),
            offset_of!(Request, timeout),
            offset_of!(Request, request_id),
            offset_of!(Request, request_handle),
            offset_of!(Request, oid),
            offset_of!(Request, information_buffer),
            offset_of!(Request, information_buffer_length),
            offset_of!(Request, bytes_written),
            offset_of!(Request, bytes_needed),
        ],
        [0, 4, 8, 12, 16, 24, 32, 40, 48, 52, 56]
    );
}

// Covers: NDK-STAT-1, NDK-STAT-2
#[test]
fn ndk_stat_1_offsets() {
    use NdisNdkPerformanceCounters as C;
    assert_eq!(size_of::<NdisObjectHeader>(), 4);
    assert_eq!(
        [
            offset_of!(NdisObjectHeader, object_type),
            offset_of!(NdisObjectHeader, revision),
            offset_of!(NdisObjectHeader, size),
        ],
        [0, 1, 2]
    );
    assert_eq!(size_of::<NdisNdkStatisticsInfo>(), 248);
    assert_eq!(
        [
            offset_of!(NdisNdkStatisticsInfo, flags),
            offset_of!(NdisNdkStatisticsInfo, counter_set),
        ],
        [4, 8]
    );
    assert_eq!(size_of::<C>(), 240);
    assert_eq!(
        [
            offset_of!(C, connect),
            offset_of!(C, accept),
            offset_of!(C, connect_failure),
            offset_of!(C, connection_error),
            offset_of!(C, active_connection),
            offset_of!(C, reserved),
            offset_of!(C, cq_error),
            offset_of!(C, rdma_in_octets),
            offset_of!(C, rdma_out_octets),
            offset_of!(C, rdma_in_frames),
            offset_of!(C, rdma_out_frames),
        ],
        [
            0x00, 0x08, 0x10, 0x18, 0x20, 0x28, 0xC8, 0xD0, 0xD8, 0xE0, 0xE8
        ]
    );
}

// Covers: NDK-LEP-1, NDK-LEP-8, NDK-CNX-1, NDK-CNX-2
#[test]
fn lists_of_oids() {
    use NdisNdkConnectionEntry as Cnx;
    use NdisNdkLocalEndpointEntry as Lee;
    assert_eq!(size_of::<SockaddrInet>(), 28);
    assert_eq!(align_of::<SockaddrInet>(), 4);
    assert_eq!(
        [
            offset_of!(SockaddrInet, family),
            offset_of!(SockaddrInet, port),
            offset_of!(SockaddrInet, ipv4_or_flow_info),
            offset_of!(SockaddrInet, ipv6),
            offset_of!(SockaddrInet, scope_id),
        ],
        [0, 2, 4, 8, 24]
    );
    assert_eq!(
        [
            offset_of!(NdisNdkLocalEndpoints, flags),
            offset_of!(NdisNdkLocalEndpoints, count),
            offset_of!(NdisNdkLocalEndpoints, mapped_to_tcp),
            offset_of!(NdisNdkLocalEndpoints, local_endpoints),
            size_of::<NdisNdkLocalEndpoints>(),
        ],
        [4, 8, 12, 16, 52]
    );
    assert_eq!(
        [
            offset_of!(Lee, local),
            offset_of!(Lee, user_mode_owner),
            offset_of!(Lee, listener),
            offset_of!(Lee, owner_pid),
            size_of::<Lee>(),
        ],
        [0, 28, 29, 32, 36]
    );
    assert_eq!(
        [
            offset_of!(NdisNdkConnections, flags),
            offset_of!(NdisNdkConnections, count),
            offset_of!(NdisNdkConnections, mapped_to_tcp),
            offset_of!(NdisNdkConnections, connections),
            size_of::<NdisNdkConnections>(),
        ],
        [4, 8, 12, 16, 80]
    );
    assert_eq!(
        [
            offset_of!(Cnx, local),
            offset_of!(Cnx, remote),
            offset_of!(Cnx, user_mode_owner),
            offset_of!(Cnx, owner_pid),
            size_of::<Cnx>(),
        ],
        [0, 28, 56, 60, 64]
    );
}

// Covers: NDK-NCAP-1
#[test]
fn ndk_ncap_1_offsets() {
    use NdisNdkCapabilities as C;
    assert_eq!(
        [
            offset_of!(C, flags),
            offset_of!(C, max_qp_count),
            offset_of!(C, max_cq_count),
            offset_of!(C, max_mr_count),
            offset_of!(C, max_pd_count),
            offset_of!(C, max_inbound_read_limit),
            offset_of!(C, max_outbound_read_limit),
            offset_of!(C, max_mw_count),
            offset_of!(C, max_srq_count),
            offset_of!(C, missing_counter_mask),
            offset_of!(C, ndk_info),
            size_of::<C>(),
        ],
        [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56]
    );
    use NdisMiniportAdapterNdkAttributes as A;
    assert_eq!(
        [
            offset_of!(A, enabled),
            offset_of!(A, ndk_capabilities),
            size_of::<A>()
        ],
        [4, 8, 16]
    );
}

// Covers: NDK-READ-14, NDK-RMR-1, NDK-CAP-11, NDK-ARM-1, NDK-OPT-1
#[test]
fn values_of_the_headers() {
    let op: Vec<u32> = OpFlags::NAMED.iter().map(|(flag, _)| flag.0).collect();
    assert_eq!(
        op,
        [
            0x001, 0x002, 0x004, 0x008, 0x010, 0x030, 0x040, 0x080, 0x100, 0x200
        ]
    );
    let mr: Vec<u32> = MrFlags::NAMED.iter().map(|(flag, _)| flag.0).collect();
    assert_eq!(mr, [0x1, 0x2, 0x5, 0x8]);
    let adapter: Vec<u32> = AdapterFlags::NAMED.iter().map(|(f, _)| f.0).collect();
    assert_eq!(adapter, [0x1, 0x2, 0x4, 0x8, 0x10, 0x100, 0x10000]);
    let arms = [ArmType::Errors, ArmType::Any, ArmType::Solicited].map(|arm| arm as u32);
    assert_eq!(arms, [0, 1, 2]);
    use OperationType as T;
    let types = [
        T::Receive,
        T::Send,
        T::FastRegister,
        T::Bind,
        T::Invalidate,
        T::Read,
        T::Write,
        T::ReceiveAndInvalidate,
    ];
    assert_eq!(types.map(|t| t as u32), [1, 2, 4, 8, 16, 32, 64, 32769]);
    assert_eq!(
        types.map(T::is_receive),
        [true, false, false, false, false, false, false, true]
    );
    assert_eq!(RdmaTechnology::RoCEv2 as u32, 4);
    let oids = [
        Oid::NDK_SET_STATE,
        Oid::NDK_STATISTICS,
        Oid::NDK_CONNECTIONS,
        Oid::NDK_LOCAL_ENDPOINTS,
    ];
    assert_eq!(
        oids.map(|oid| oid.0),
        [0xFC04_0201, 0xFC04_0202, 0xFC04_0203, 0xFC04_0204]
    );
}

#[test]
fn o30_success_is_by_sign_not_by_severity() {
    assert!(NtStatus::SUCCESS.is_success());
    assert!(NtStatus::PENDING.is_success());
    assert!(!NtStatus::BUFFER_OVERFLOW.is_success());
    assert!(!NtStatus::BUFFER_OVERFLOW.is_error());
    assert!(NtStatus::CANCELLED.is_error());
    assert_eq!(
        NtStatus::CONNECTION_INVALID.to_string(),
        "STATUS_CONNECTION_INVALID (0xc000023a)"
    );
    for (status, name) in NtStatus::NAMED {
        assert_eq!(NtStatus::from_name(name), Some(*status));
        assert_eq!(status.name(), Some(*name), "{:#x} stands twice", status.0);
    }
}

/// The consumer's octets in memory are those of the wire, which are the engine's number big-endian.
#[test]
fn ndk_read_9_octets_of_a_remote_token() {
    let engine = 0x0012_34AB;
    let token = RemoteToken::from_engine(engine);
    assert_eq!(token.0.to_le_bytes(), engine.to_be_bytes());
    assert_eq!(token.octets(), [0x00, 0x12, 0x34, 0xAB]);
    assert_eq!(token.to_engine(), engine);
}
