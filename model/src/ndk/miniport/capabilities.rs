//! NDIS_NDK_CAPABILITIES.

use crate::hal::Hal;
use crate::ndk::adapter::Provider;
use crate::ndk::oid::REVISION_1;
use crate::ndk::{NdisObjectHeader, NdkAdapterInfo, NdkVersion};

const NDIS_OBJECT_TYPE_MINIPORT_ADAPTER_NDK_ATTRIBUTES: u8 = 0xB3;

/// What the adapter can do, 56 bytes.
///
/// Memory regions, memory windows and protection domains take entries of one table, so the maximum of one is reached only
/// with as few as possible of the others.
#[doc(alias = "NDIS_NDK_CAPABILITIES")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisNdkCapabilities {
    /// Type 0x80, revision 1, size 56.
    pub header: NdisObjectHeader,
    /// Reserved, 0.
    pub flags: u32,
    /// Queue pairs.
    pub max_qp_count: u32,
    /// Completion queues.
    pub max_cq_count: u32,
    /// Memory regions.
    pub max_mr_count: u32,
    /// Protection domains.
    pub max_pd_count: u32,
    /// Incoming reads in progress, on all queue pairs. 0: no limit but that of each queue pair (NDK-NCAP-2).
    pub max_inbound_read_limit: u32,
    /// Outgoing reads in progress, the same.
    pub max_outbound_read_limit: u32,
    /// Memory windows.
    pub max_mw_count: u32,
    /// Shared receive queues.
    pub max_srq_count: u32,
    /// Bit i: counter i of [`NdisNdkPerformanceCounters`](crate::ndk::NdisNdkPerformanceCounters) is not supported. None
    /// is missing (NDK-NCAP-3).
    pub missing_counter_mask: u64,
    /// What an instance of the highest version says of itself.
    pub ndk_info: Box<NdkAdapterInfo>,
}

impl NdisNdkCapabilities {
    pub(super) fn of<H: Hal>(provider: &Provider<H>) -> Self {
        // Entry 0 is never used, connection management has one; a region or window has a domain, which takes one too.
        let reserved = 1 + u32::from(provider.connections.is_some());
        let tokens = provider.caps.tokens.saturating_sub(reserved);
        let in_a_domain = tokens.saturating_sub(1);
        Self {
            header: NdisObjectHeader::of::<Self>(),
            flags: 0,
            max_qp_count: provider.qps.capacity(),
            max_cq_count: provider.cqs.capacity(),
            max_mr_count: in_a_domain,
            max_pd_count: provider.pds.capacity().min(tokens),
            max_inbound_read_limit: 0,
            max_outbound_read_limit: 0,
            max_mw_count: in_a_domain,
            max_srq_count: provider.srqs.capacity(),
            missing_counter_mask: 0,
            ndk_info: Box::new(provider.adapter_info(NdkVersion::V2_1)),
        }
    }
}

/// What a miniport reports of NDK at its initialisation, 16 bytes.
#[doc(alias = "NDIS_MINIPORT_ADAPTER_NDK_ATTRIBUTES")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisMiniportAdapterNdkAttributes {
    /// Type 0xB3, revision 1, size 16.
    pub header: NdisObjectHeader,
    /// BOOLEAN.
    pub enabled: u8,
    /// The capabilities, enabled or not (NDK-NCAP-1).
    pub ndk_capabilities: Box<NdisNdkCapabilities>,
}

impl NdisMiniportAdapterNdkAttributes {
    pub(super) fn new(enabled: bool, capabilities: NdisNdkCapabilities) -> Self {
        Self {
            header: NdisObjectHeader {
                object_type: NDIS_OBJECT_TYPE_MINIPORT_ADAPTER_NDK_ATTRIBUTES,
                revision: REVISION_1,
                size: size_of::<Self>() as u16,
            },
            enabled: enabled.into(),
            ndk_capabilities: Box::new(capabilities),
        }
    }
}
