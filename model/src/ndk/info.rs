//! What the adapter says of itself: NDK_ADAPTER_INFO.

use super::AdapterFlags;

/// A version of the interface.
#[doc(alias = "NDK_VERSION")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct NdkVersion {
    /// Major number.
    pub major: u16,
    /// Minor number.
    pub minor: u16,
}

impl NdkVersion {
    /// 1.2, Windows Server 2012 R2.
    pub const V1_2: Self = Self { major: 1, minor: 2 };
    /// 2.1, Windows Server 2022.
    pub const V2_1: Self = Self { major: 2, minor: 1 };

    /// The version in use when this one is asked for: the highest minor of a supported major that is
    /// not below it (NDK-OPEN-1, NDK-OPEN-2).
    pub fn negotiate(self) -> Option<Self> {
        [Self::V1_2, Self::V2_1]
            .into_iter()
            .find(|highest| highest.major == self.major && self.minor <= highest.minor)
    }
}

/// The RDMA technology.
#[doc(alias = "NDK_RDMA_TECHNOLOGY")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RdmaTechnology {
    /// None.
    #[doc(alias = "NdkUndefined")]
    Undefined = 0,
    /// iWARP.
    #[doc(alias = "NdkiWarp")]
    IWarp = 1,
    /// InfiniBand.
    #[doc(alias = "NdkInfiniBand")]
    InfiniBand = 2,
    /// RoCE.
    #[doc(alias = "NdkRoCE")]
    RoCE = 3,
    /// RoCEv2.
    #[doc(alias = "NdkRoCEv2")]
    RoCEv2 = 4,
}

/// Adapter information of NdkQueryAdapterInfo, 104 bytes (NDK-CAP-1).
#[doc(alias = "NDK_ADAPTER_INFO")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdkAdapterInfo {
    /// Interface version in use.
    pub version: NdkVersion,
    /// Vendor OUI.
    pub vendor_id: u32,
    /// Defined by the vendor.
    pub device_id: u32,
    /// Bytes of one memory region.
    pub max_registration_size: u64,
    /// Bytes of one memory window.
    pub max_window_size: u64,
    /// Pages of a fast-register region.
    pub frmr_page_count: u32,
    /// Elements of an initiator request.
    pub max_initiator_request_sge: u32,
    /// Elements of a receive.
    pub max_receive_request_sge: u32,
    /// Elements of a read; overrides the initiator value (NDK-CAP-6).
    pub max_read_request_sge: u32,
    /// Bytes of one request.
    pub max_transfer_length: u32,
    /// Inline bytes of one send or write.
    pub max_inline_data_size: u32,
    /// Incoming reads in progress, a queue pair.
    pub max_inbound_read_limit: u32,
    /// Outgoing reads in progress, a queue pair.
    pub max_outbound_read_limit: u32,
    /// Receives outstanding, a queue pair.
    pub max_receive_queue_depth: u32,
    /// Initiator requests outstanding, a queue pair.
    pub max_initiator_queue_depth: u32,
    /// Receives outstanding, a shared receive queue; 0: there are none.
    pub max_srq_depth: u32,
    /// Entries of a completion queue.
    pub max_cq_depth: u32,
    /// Above this many bytes a read or write is better than sends.
    pub large_request_threshold: u32,
    /// Private data with a connect.
    pub max_caller_data: u32,
    /// Private data with an accept or reject.
    pub max_callee_data: u32,
    /// Flags.
    pub adapter_flags: AdapterFlags,
    /// Technology.
    pub rdma_technology: RdmaTechnology,
}

/// Size of NDK_ADAPTER_INFO with its padding.
pub const ADAPTER_INFO_SIZE: usize = 104;

impl NdkAdapterInfo {
    /// The structure as it lies in memory, padding zero.
    pub fn to_bytes(&self) -> [u8; ADAPTER_INFO_SIZE] {
        let mut bytes = [0; ADAPTER_INFO_SIZE];
        let mut put = |offset: usize, value: &[u8]| {
            bytes
                .iter_mut()
                .skip(offset)
                .zip(value)
                .for_each(|(to, from)| *to = *from);
        };
        put(0x00, &self.version.major.to_le_bytes());
        put(0x02, &self.version.minor.to_le_bytes());
        put(0x04, &self.vendor_id.to_le_bytes());
        put(0x08, &self.device_id.to_le_bytes());
        put(0x10, &self.max_registration_size.to_le_bytes());
        put(0x18, &self.max_window_size.to_le_bytes());
        let words = [
            self.frmr_page_count,
            self.max_initiator_request_sge,
            self.max_receive_request_sge,
            self.max_read_request_sge,
            self.max_transfer_length,
            self.max_inline_data_size,
            self.max_inbound_read_limit,
            self.max_outbound_read_limit,
            self.max_receive_queue_depth,
            self.max_initiator_queue_depth,
            self.max_srq_depth,
            self.max_cq_depth,
            self.large_request_threshold,
            self.max_caller_data,
            self.max_callee_data,
            self.adapter_flags.0,
            self.rdma_technology as u32,
        ];
        for (offset, word) in (0x20..).step_by(4).zip(words) {
            put(offset, &word.to_le_bytes());
        }
        bytes
    }
}

/// What the registers say that the engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineCaps {
    /// Entries of the queue-pair table.
    pub queue_pairs: u32,
    /// Entries of the completion-queue table.
    pub completion_queues: u32,
    /// Entries of the token table.
    pub tokens: u32,
    /// Entries of the page table.
    pub pages: u32,
    /// Shared receive queues.
    pub shared_receive_queues: u32,
    /// Greatest number of reads that may be outstanding to a peer.
    pub max_ord: u8,
    /// Greatest number of reads that a peer may have outstanding here.
    pub max_ird: u8,
}

impl EngineCaps {
    /// Takes CAPS0 and CAPS1 apart. Numbers that no field of the ABI can hold are capped.
    pub fn from_registers(caps0: u32, caps1: u32) -> Self {
        let power = |caps: u32, shift: u32, most: u32| 1 << (caps >> shift & 0x1F).min(most);
        let entries = |shift, most| power(caps0, shift, most);
        Self {
            queue_pairs: entries(0, 16),
            completion_queues: entries(8, 14),
            tokens: entries(16, 24),
            pages: entries(24, 24),
            shared_receive_queues: power(caps1, 16, 14),
            max_ord: caps1 as u8,
            max_ird: (caps1 >> 8) as u8,
        }
    }
}
