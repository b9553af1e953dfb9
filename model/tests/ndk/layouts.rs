//! Sizes, offsets and values of what crosses the interface.

use std::mem::{offset_of, size_of};

use tandem_model::ndk::{
    AdapterFlags, ArmType, MrFlags, NdkAdapterInfo, NdkResult, NdkResultEx, NtStatus, Oid, OpFlags,
    OperationType, RdmaTechnology, RemoteToken, Sge,
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
