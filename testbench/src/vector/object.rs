//! Objects of a vector: nodes, and what is created on them before the first step.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::Deserialize;

use super::value::{At, Number, Pattern, RegionFlags, Status, TargetKind};

/// A node: a provider on a target.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// What it runs on; the command line's choice if absent.
    pub target: Option<TargetKind>,
    /// NDKPI version asked for at opening: "1.2" or "2.1" (default).
    pub version: Option<At<String>>,
    /// Whether the adapter advertises RDMA_READ_LOCAL_INVALIDATE (default true).
    pub read_local_invalidate: Option<bool>,
    /// Whether a write may be inline (default true).
    pub inline_write: Option<bool>,
    /// Status of requests that the peer refused (default STATUS_REMOTE_RESOURCES).
    pub remote_access_status: Option<Status>,
    /// Whether ND endpoints lie on TCP endpoints (default false).
    #[serde(default)]
    pub mapped_to_tcp: bool,
    /// Spare entries of completion rings; 0 for overruns on purpose.
    pub cq_reserve: Option<u32>,
    /// Clocks that the engine takes for 4.096 µs (default 32, shorter than they are, so that timers end within a run).
    pub time_unit: Option<At<u32>>,
    /// Clocks that the engine takes for 10 µs (default 10).
    pub rnr_unit: Option<At<u32>>,
    /// Least clocks between two CNPs of a queue pair (default 1000).
    pub cnp_interval: Option<At<u32>>,
}

/// A protection domain. Each node has one that is not named.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pd {
    /// Its node.
    pub node: At<String>,
}

/// A completion queue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cq {
    /// Its node.
    pub node: At<String>,
    /// Entries (default 64).
    pub depth: Option<At<u32>>,
    /// Context of its notifications; a number of its own if absent.
    pub context: Option<Number>,
}

/// Order of the pages under a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Side by side.
    #[default]
    Contiguous,
    /// The last page first, each with a page between that belongs to nobody.
    Reversed,
    /// In seeded disorder, with pages between that belong to nobody.
    Scattered,
}

/// Host memory of a node: virtually contiguous, on pages that need not be.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Its node.
    pub node: At<String>,
    /// Its length.
    pub bytes: At<u64>,
    /// Offset of the first byte in the first page (default 0).
    pub page_offset: Option<At<u32>>,
    /// Where its pages lie.
    #[serde(default)]
    pub pages: Pages,
    /// Address by which regions know its first byte; a different one for each memory if absent.
    pub virtual_address: Option<At<Number>>,
    /// What it holds at first (default zeros).
    #[serde(default)]
    pub fill: Pattern,
}

/// Kind of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RegionKind {
    /// NdkRegisterMr.
    #[default]
    Registered,
    /// Fast-registered, valid: can be invalidated.
    Fast,
    /// For NdkFastRegister, and initialised for it: registered by `fast_register` steps.
    FastRegister,
    /// Not registered: elements carry the privileged token and logical addresses.
    Privileged,
}

/// A memory region.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The memory that it registers.
    pub memory: At<String>,
    /// Its protection domain (default: the node's).
    pub pd: Option<At<String>>,
    /// First byte in the memory (default 0).
    #[serde(default)]
    pub offset: u64,
    /// Bytes (default: the rest of the memory).
    pub length: Option<At<u64>>,
    /// Its rights.
    #[serde(default)]
    pub flags: RegionFlags,
    /// Its kind.
    #[serde(default)]
    pub kind: RegionKind,
    /// Registered by a `register` step only.
    #[serde(default)]
    pub later: bool,
    /// Pages that a region of kind `fast_register` is initialised for (default: those of its bytes).
    pub max_pages: Option<u32>,
    /// Whether it is initialised for remote access (default true).
    pub remote_access: Option<bool>,
    /// Cuts the MDL in two with a hole of so many bytes of virtual addresses between (for registrations that must
    /// fail).
    pub hole: Option<u64>,
}

/// A memory window, bound by `bind` steps.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Its node.
    pub node: At<String>,
    /// Its protection domain (default: the node's).
    pub pd: Option<At<String>>,
}

/// A shared receive queue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Srq {
    /// Its node.
    pub node: At<String>,
    /// Its protection domain (default: the node's).
    pub pd: Option<At<String>>,
    /// Receives that can be outstanding (default 64).
    pub depth: Option<u32>,
    /// Elements of a receive (default 4).
    pub receive_sge: Option<u32>,
    /// Notifies once fewer receives are queued (default 0: does not).
    #[serde(default)]
    pub threshold: u32,
    /// Context of its notifications; a number of its own if absent.
    pub context: Option<Number>,
}

/// A queue pair.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Qp {
    /// Its node.
    pub node: At<String>,
    /// Its protection domain (default: the node's).
    pub pd: Option<At<String>>,
    /// Completion queue of both its queues.
    pub cq: Option<At<String>>,
    /// Completion queue of receives, if not `cq`.
    pub receive_cq: Option<At<String>>,
    /// Completion queue of initiator requests, if not `cq`.
    pub initiator_cq: Option<At<String>>,
    /// QPContext; a number of its own if absent.
    pub context: Option<Number>,
    /// Receives that can be outstanding (default 64).
    pub receive_depth: Option<u32>,
    /// Initiator requests that can be outstanding (default 64).
    pub initiator_depth: Option<u32>,
    /// Elements of a receive (default 4).
    pub receive_sge: Option<u32>,
    /// Elements of an initiator request (default 4).
    pub initiator_sge: Option<u32>,
    /// Inline bytes (default 0).
    pub inline: Option<u32>,
    /// Shared receive queue that its receives come from, in place of a queue of its own.
    pub srq: Option<At<String>>,
}

/// A connection of two queue pairs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// One queue pair.
    pub a: At<String>,
    /// The other queue pair.
    pub b: At<String>,
    /// Path MTU (default 1024).
    pub mtu: Option<At<u32>>,
    /// IP version, 4 (default) or 6.
    pub ip: Option<At<u8>>,
    /// First PSN of requests of `a` (default 0).
    pub a_psn: Option<At<u32>>,
    /// First PSN of requests of `b` (default 0).
    pub b_psn: Option<At<u32>>,
    /// Read limits of `a`: inbound and outbound (default: the adapter's).
    pub a_reads: Option<ReadLimits>,
    /// Read limits of `b`: inbound and outbound (default: the adapter's).
    pub b_reads: Option<ReadLimits>,
    /// Code t of the acknowledgement timer, 0 to 31: it fires after time_unit × 2^t clocks; 0: never (default 12).
    pub timeout: Option<At<u8>>,
    /// Go-backs without progress before a request fails, 0 to 7 (default 7).
    pub retry: Option<At<u8>>,
    /// Waits for a receiver that is not ready before a request fails, 0 to 6; 7: without end (default 6).
    pub rnr_retry: Option<At<u8>>,
    /// Code, 0 to 31, of the time that a peer without receive asks for (default 12: 0.64 ms).
    pub rnr_timer: Option<At<u8>>,
    /// Timers of `a`, where they differ.
    pub a_timers: Option<At<Timers>>,
    /// Timers of `b`, where they differ.
    pub b_timers: Option<At<Timers>>,
    /// Each side keeps its own limits, instead of the smaller of both as NDKPI wants it (default false).
    #[serde(default)]
    pub unnegotiated: bool,
    /// Whether `b` refuses reads of `a` whatever the token says.
    #[serde(default)]
    pub no_remote_read: bool,
    /// Whether `b` refuses writes of `a` whatever the token says.
    #[serde(default)]
    pub no_remote_write: bool,
    /// Made by a `connect` step only.
    #[serde(default)]
    pub later: bool,
}

/// Timers and retries of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timers {
    /// Code of the acknowledgement timer.
    pub timeout: Option<u8>,
    /// Go-backs without progress.
    pub retry: Option<u8>,
    /// Waits for a receiver that is not ready.
    pub rnr_retry: Option<u8>,
    /// Code of the time that this side asks for when it has no receive.
    pub rnr_timer: Option<u8>,
}

impl Timers {
    /// These, and where they say nothing, others.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            timeout: self.timeout.or(other.timeout),
            retry: self.retry.or(other.retry),
            rnr_retry: self.rnr_retry.or(other.rnr_retry),
            rnr_timer: self.rnr_timer.or(other.rnr_timer),
        }
    }
}

impl Connection {
    /// Timers of both sides: `a`, `b`.
    pub fn timers(&self) -> [Timers; 2] {
        let value = |code: &Option<At<u8>>| code.as_ref().map(|code| *code.value());
        let both = Timers {
            timeout: value(&self.timeout),
            retry: value(&self.retry),
            rnr_retry: value(&self.rnr_retry),
            rnr_timer: value(&self.rnr_timer),
        };
        [&self.a_timers, &self.b_timers]
            .map(|own| own.as_ref().map_or(both, |own| own.value().or(both)))
    }
}

/// Read limits of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadLimits {
    /// Reads that the peer may have outstanding here.
    pub inbound: u32,
    /// Reads outstanding to the peer.
    pub outbound: u32,
}

/// Kind of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndpointKind {
    /// A listener.
    Listener,
    /// A shared endpoint.
    Shared,
}

/// A listener or shared endpoint, for OID answers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Local address and ND port, as `10.0.0.1:5445` or `[fd00::1]:5445`.
    #[schemars(with = "String")]
    pub address: SocketAddr,
    /// Port of the TCP endpoint below (default 0).
    #[serde(default)]
    pub tcp_port: u16,
    /// Listener or shared endpoint.
    pub kind: EndpointKind,
    /// Process of a user-mode owner; absent: the kernel.
    pub pid: Option<u32>,
    /// So many of them, on ascending ports (default 1).
    pub count: Option<u16>,
}
