//! The adapter: opening it, its parts, and what it says of itself.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::hal::Hal;

use super::connection::Connections;
use super::counters::{NdkCounters, Traffic};
use super::cq::CqObject;
use super::endpoint::Endpoint;
use super::error::AdapterError;
use super::events::EventQueue;
use super::instance::InstanceObject;
use super::lam::Mappings;
use super::layout::number;
use super::mr::MrObject;
use super::mw::MwObject;
use super::object::Owner;
use super::pages::{PageTable, RingPool};
use super::pd::PdObject;
use super::qp::QpObject;
use super::slots::{Handle, Slots};
use super::srq::SrqObject;
use super::tokens::TokenTable;
use super::{
    ADAPTER_INFO_SIZE, AdapterFlags, ConnectionConfig, EndpointMapping, EngineCaps, NdkAdapterInfo,
    NdkError, NdkVersion, Notification, NtStatus, RdmaTechnology, Timing,
};
use crate::abi::offsets as reg;

/// Elements of a send or write.
pub(super) const MAX_SQ_SGE: u32 = number("MaxSqSge") as u32;
/// Elements of a read.
pub(super) const MAX_READ_SGE: u32 = number("MaxReadSge") as u32;
/// Elements of a receive.
pub(super) const MAX_RQ_SGE: u32 = number("MaxRqSge") as u32;
/// Inline bytes.
pub(super) const MAX_INLINE: u32 = number("MaxInline") as u32;
/// Bytes of a message.
pub(super) const MAX_MESSAGE: u64 = number("MaxMessage");
/// Depths that the provider offers. Rings are at most 2^15 entries; a send queue has a spare entry and a
/// completion queue [`AdapterConfig::cq_reserve`] of them, so depths end at half.
pub(super) const MAX_DEPTH: u32 = 1 << 14;
/// Entries of the greatest ring.
pub(super) const MAX_RING: u32 = 1 << 15;
/// Pages of a fast-register region.
const FRMR_PAGES: u32 = 16;
/// Private data of a connection request: 92 bytes less the 36 of the IP header.
const MAX_CALLER_DATA: u32 = 56;
/// Private data of a reply (196 bytes) or reject (148).
const MAX_CALLEE_DATA: u32 = 148;

/// How to open an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterConfig {
    /// Own MAC address.
    pub mac: [u8; 6],
    /// Own IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// Own IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
    /// NDKPI version asked for by [`Provider::open`] (NDK-OPEN-1).
    pub version: NdkVersion,
    /// Whether a read can invalidate the token of its first element; if not, the flag is ignored
    /// (NDK-READ-18).
    pub read_local_invalidate: bool,
    /// Whether a write can be inline, where the documentation contradicts itself (C7).
    pub inline_write: bool,
    /// Status of a request that the peer refused for its token, bounds or rights: `STATUS_REMOTE_RESOURCES`, or
    /// `STATUS_ACCESS_VIOLATION` as Microsoft's NDSPI tests expect (C11).
    pub remote_access_status: NtStatus,
    /// Whether ND endpoints lie on TCP endpoints in OID answers (NDK-LEP-9, -10).
    pub endpoint_mapping: EndpointMapping,
    /// Clocks of the engine in its units of time.
    pub timing: Timing,
    /// Entries that a completion queue's ring has beyond its depth for signals of the provider's own.
    /// `None`: two for each queue pair of the engine, which always suffices. `Some(0)` makes the ring exactly
    /// as deep as asked (rounded up to a power of two), for overruns on purpose; silent requests
    /// must then leave room in the queue.
    pub cq_reserve: Option<u32>,
    /// How connections are made by datagrams; `None`: not at all, and queue pair 1 is left alone.
    pub connections: Option<ConnectionConfig>,
    /// Whether notifications of completion queues can be moderated; if not, NdkControlCqInterruptModeration is refused
    /// (NDK-MOD-12).
    pub interrupt_moderation: bool,
    /// Receives that a shared receive queue can hold, at most 2^14: each has a ring of that size, 64 bytes a receive.
    pub max_srq_depth: u32,
}

impl Default for AdapterConfig {
    fn default() -> Self {
        Self {
            mac: [0x02, 0, 0, 0, 0, 0x01],
            ipv4: None,
            ipv6: None,
            version: NdkVersion::V2_1,
            read_local_invalidate: true,
            inline_write: true,
            remote_access_status: NtStatus::REMOTE_RESOURCES,
            endpoint_mapping: EndpointMapping::None,
            timing: Timing::default(),
            cq_reserve: None,
            connections: None,
            interrupt_moderation: true,
            max_srq_depth: 1024,
        }
    }
}

/// The provider on one adapter: an NDK_ADAPTER with its objects, above any [`Hal`].
///
/// One thread, and handles for objects. Calls that depend on the peer, and closes, may return `STATUS_PENDING`; all others
/// are done when they return. Callbacks are [`Notification`]s that the consumer takes with [`Provider::poll`], or
/// [`Provider::poll_events`] if the adapter makes no connections.
#[doc(alias = "NDK_ADAPTER")]
pub struct Provider<H> {
    pub(super) hal: H,
    pub(super) config: AdapterConfig,
    /// For whom the provider acts.
    pub(super) owner: Owner,
    pub(super) instances: Slots<InstanceObject>,
    pub(super) caps: EngineCaps,
    pub(super) pds: Slots<PdObject>,
    pub(super) cqs: Slots<CqObject>,
    pub(super) qps: Slots<QpObject>,
    pub(super) mrs: Slots<MrObject>,
    pub(super) mws: Slots<MwObject>,
    pub(super) srqs: Slots<SrqObject>,
    pub(super) tokens: TokenTable,
    pub(super) page_table: PageTable,
    pub(super) rings: RingPool,
    pub(super) events: EventQueue,
    pub(super) notifications: Vec<Notification>,
    pub(super) closing: Vec<super::Qp>,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) mappings: Mappings,
    pub(super) counters: NdkCounters,
    pub(super) traffic: Traffic,
    pub(super) connections: Option<Box<Connections>>,
}

impl<H: Hal> Provider<H> {
    /// Starts the adapter and opens one instance on it: all that a consumer needs who is alone. See
    /// [`Miniport`](super::Miniport) for several.
    pub fn open(hal: H, config: AdapterConfig) -> Result<Self, NdkError> {
        let version = config.version;
        if version.negotiate().is_none() {
            return Err(NtStatus::NDIS_BAD_VERSION.into());
        }
        let mut provider = Self::start(hal, config)?;
        provider.open_instance(version)?;
        Ok(provider)
    }

    /// Starts the adapter, without an instance: checks what it is, and sets its addresses, units of time and the
    /// event queue.
    pub(super) fn start(mut hal: H, config: AdapterConfig) -> Result<Self, NdkError> {
        let id = hal.read_register(reg::ID)?;
        if id != reg::ID_VALUE {
            return Err(AdapterError::NotTandem { id }.into());
        }
        let engine = hal.read_register(reg::VERSION)?;
        if engine != reg::VERSION_VALUE {
            return Err(AdapterError::Version { version: engine }.into());
        }
        let caps0 = hal.read_register(reg::CAPS0)?;
        let caps1 = hal.read_register(reg::CAPS1)?;
        let caps = EngineCaps::from_registers(caps0, caps1);
        set_addresses(&mut hal, &config)?;
        config.timing.apply(&mut hal)?;
        // Of each queue pair one when it fails and one when it has let its shared receives go.
        let events = 2 * caps.queue_pairs + caps.completion_queues + caps.shared_receive_queues;
        let events = EventQueue::open(&mut hal, events)?;
        let mut tokens = TokenTable::new(caps.tokens);
        let connections = match config.connections {
            Some(how) => Some(Connections::open(
                &mut hal,
                &mut tokens,
                &config,
                how,
                caps,
            )?),
            None => None,
        };
        let cqs = match &connections {
            Some(_) => Connections::completion_queue(caps),
            None => caps.completion_queues,
        };
        Ok(Self {
            hal,
            config,
            owner: Owner {
                instance: u32::MAX,
                version: NdkVersion::V2_1,
            },
            instances: Slots::new(0, u16::MAX.into()),
            caps,
            pds: Slots::new(1, 1 << 16),
            cqs: Slots::new(0, cqs),
            // Numbers 0 and 1 belong to management.
            qps: Slots::new(2, caps.queue_pairs),
            mrs: Slots::new(0, u32::MAX),
            mws: Slots::new(0, u32::MAX),
            srqs: Slots::new(0, caps.shared_receive_queues),
            tokens,
            page_table: PageTable::new(caps.pages),
            rings: RingPool::default(),
            events,
            notifications: Vec::new(),
            closing: Vec::new(),
            endpoints: Vec::new(),
            mappings: Mappings::default(),
            counters: NdkCounters::default(),
            traffic: Traffic::default(),
            connections: connections.map(Box::new),
        })
    }

    /// The adapter below. What a bench does with it must leave the provider's registers and rings alone.
    pub fn hal(&self) -> &H {
        &self.hal
    }

    /// The adapter below, to let time pass or to reach host memory.
    pub fn hal_mut(&mut self) -> &mut H {
        &mut self.hal
    }

    /// Gives the adapter back.
    pub fn into_hal(self) -> H {
        self.hal
    }

    /// How it was opened.
    pub fn config(&self) -> &AdapterConfig {
        &self.config
    }

    /// Sizes of the engine.
    pub fn engine_caps(&self) -> EngineCaps {
        self.caps
    }

    /// NDKPI version in use on the instance (NDK-OPEN-2).
    pub fn version(&self) -> NdkVersion {
        self.owner.version
    }

    /// What the adapter is and can do.
    #[doc(alias = "NdkQueryAdapterInfo")]
    pub fn query_adapter_info(&self) -> NdkAdapterInfo {
        self.adapter_info(self.version())
    }

    /// The same for an instance of some version.
    pub(super) fn adapter_info(&self, version: NdkVersion) -> NdkAdapterInfo {
        // Not IN_ORDER_DMA_SUPPORTED (NDK-CAP-8): the engine issues the writes of what comes in in their order, but what
        // lies between it and memory may finish a later one first, and only the completion waits for all.
        let mut adapter_flags =
            AdapterFlags::RDMA_READ_SINK_NOT_REQUIRED | AdapterFlags::CQ_RESIZE_SUPPORTED;
        if self.config.interrupt_moderation {
            adapter_flags |= AdapterFlags::CQ_INTERRUPT_MODERATION_SUPPORTED;
        }
        if self.config.read_local_invalidate {
            adapter_flags |= AdapterFlags::RDMA_READ_LOCAL_INVALIDATE_SUPPORTED;
        }
        NdkAdapterInfo {
            version,
            vendor_id: 0,
            device_id: reg::ID_VALUE,
            max_registration_size: u64::from(self.caps.pages) * super::PAGE_SIZE,
            max_window_size: self.max_region(),
            frmr_page_count: FRMR_PAGES,
            max_initiator_request_sge: MAX_SQ_SGE,
            max_receive_request_sge: MAX_RQ_SGE,
            max_read_request_sge: MAX_READ_SGE,
            max_transfer_length: self.max_region() as u32,
            max_inline_data_size: MAX_INLINE,
            max_inbound_read_limit: self.caps.max_ird.into(),
            max_outbound_read_limit: self.caps.max_ord.into(),
            max_receive_queue_depth: MAX_DEPTH,
            max_initiator_queue_depth: MAX_DEPTH,
            max_srq_depth: self.max_srq_depth(),
            max_cq_depth: self.max_cq_depth(),
            large_request_threshold: super::PAGE_SIZE as u32,
            max_caller_data: MAX_CALLER_DATA,
            max_callee_data: MAX_CALLEE_DATA,
            adapter_flags,
            rdma_technology: RdmaTechnology::RoCEv2,
        }
    }

    /// NdkQueryAdapterInfo into a buffer: the bytes written, or `STATUS_BUFFER_TOO_SMALL` with the bytes
    /// needed (NDK-CAP-2).
    pub fn query_adapter_info_into(&self, buffer: &mut [u8]) -> (NtStatus, usize) {
        match buffer.get_mut(..ADAPTER_INFO_SIZE) {
            Some(place) => {
                place.copy_from_slice(&self.query_adapter_info().to_bytes());
                (NtStatus::SUCCESS, ADAPTER_INFO_SIZE)
            }
            None => (NtStatus::BUFFER_TOO_SMALL, ADAPTER_INFO_SIZE),
        }
    }

    /// Bytes of the greatest window or fast registration, and of the greatest request (NDK-CAP-7): more would find no
    /// region of the peer's to go to.
    pub(super) fn max_region(&self) -> u64 {
        MAX_MESSAGE.min(u64::from(self.caps.pages) * super::PAGE_SIZE)
    }

    pub(super) fn cq_reserve(&self) -> u32 {
        self.config
            .cq_reserve
            .unwrap_or(2 * self.caps.queue_pairs)
            .min(MAX_RING / 2)
    }

    pub(super) fn max_cq_depth(&self) -> u32 {
        MAX_DEPTH.min(MAX_RING - self.cq_reserve())
    }
}

/// The error of a handle that finds nothing.
pub(super) fn stale<K: Handle>(_: K) -> NdkError {
    NdkError::StaleHandle { object: K::OBJECT }
}

fn set_addresses<H: Hal>(hal: &mut H, config: &AdapterConfig) -> Result<(), AdapterError> {
    let [a, b, c, d, e, f] = config.mac;
    hal.write_register(reg::MAC_LO, u32::from_le_bytes([a, b, c, d]))?;
    hal.write_register(reg::MAC_HI, u32::from_le_bytes([e, f, 0, 0]))?;
    let ipv4 = config.ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED);
    hal.write_register(reg::IPV4, u32::from_le_bytes(ipv4.octets()))?;
    let ipv6 = u128::from_le_bytes(config.ipv6.unwrap_or(Ipv6Addr::UNSPECIFIED).octets());
    for (word, offset) in (reg::IPV6..).step_by(4).take(4).enumerate() {
        hal.write_register(offset, (ipv6 >> (32 * word)) as u32)?;
    }
    Ok(())
}
