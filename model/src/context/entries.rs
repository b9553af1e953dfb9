//! Entries of the tables, decoded once when they are written.

use crate::abi::{QpState, TokenKind};
use crate::engine::bits::field;
use crate::wire::{MacAddr, Psn, Qpn, Token};

/// Bytes of a staged entry.
pub(crate) const ENTRY_BYTES: usize = 64;

/// A staged entry: CTX_DATA, lowest bits first.
pub(crate) type Staged = [u8; ENTRY_BYTES];

/// Queue-pair context. Codes out of range are brought into it, so that nothing has to check them again.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct QpContext {
    /// Its own number.
    pub number: u32,
    /// An unknown code counts as `QpReset`.
    pub state: QpState,
    /// Path MTU in bytes.
    pub mtu: u32,
    pub ipv6: bool,
    pub sq_log: u8,
    /// Bytes of a send-queue entry: 64, 128 or 256.
    pub sq_entry: u16,
    /// Receives come from the shared receive queue that `rq_base` names.
    pub srq: bool,
    pub rq_log: u8,
    pub remote_read: bool,
    pub remote_write: bool,
    pub traffic_class: u8,
    pub pd: u16,
    pub udp_sport: u16,
    pub send_cq: u16,
    pub recv_cq: u16,
    pub remote_qpn: Qpn,
    pub hop_limit: u8,
    pub sq_psn: Psn,
    pub max_ord: u8,
    pub rq_psn: Psn,
    pub max_ird: u8,
    pub sq_base: u64,
    pub rq_base: u64,
    pub remote_mac: MacAddr,
    /// Local ACK timeout code; 0 for none.
    pub timeout: u8,
    /// Go-backs without progress before a request fails.
    pub retry_cnt: u8,
    /// Waits without progress before a request fails; [`QpContext::ENDLESS`] for any number.
    pub rnr_retry: u8,
    /// Timer code of the RNR NAKs that are sent.
    pub min_rnr_timer: u8,
    /// IPv4 as `::ffff:a.b.c.d`.
    pub remote_ip: [u8; 16],
}

impl QpContext {
    /// The rnr_retry that never ends (WIRE-RNR-8).
    pub const ENDLESS: u8 = 7;

    pub fn parse(number: u32, e: &[u8]) -> Self {
        let ip = field!(QP_CONTEXT, remote_ip);
        let mut remote_ip = [0; 16];
        let halves = [ip.get(e), ip.following().get(e)];
        for (to, from) in remote_ip
            .iter_mut()
            .zip(halves.iter().flat_map(|half| half.to_le_bytes()))
        {
            *to = from;
        }
        let [m0, m1, m2, m3, m4, m5, ..] = field!(QP_CONTEXT, remote_mac).get(e).to_le_bytes();
        Self {
            number,
            state: QpState::from_bits(field!(QP_CONTEXT, state).get(e).into())
                .unwrap_or(QpState::Reset),
            mtu: 128 << field!(QP_CONTEXT, mtu).get(e).clamp(1, 5),
            ipv6: field!(QP_CONTEXT, ipv6).get(e) != 0,
            sq_log: field!(QP_CONTEXT, sq_log).get(e) as u8,
            sq_entry: 64 << field!(QP_CONTEXT, sq_stride).get(e).min(2),
            srq: field!(QP_CONTEXT, srq).get(e) != 0,
            rq_log: field!(QP_CONTEXT, rq_log).get(e) as u8,
            remote_read: field!(QP_CONTEXT, remote_read).get(e) != 0,
            remote_write: field!(QP_CONTEXT, remote_write).get(e) != 0,
            traffic_class: field!(QP_CONTEXT, traffic_class).get(e) as u8,
            pd: field!(QP_CONTEXT, pd).get(e) as u16,
            udp_sport: field!(QP_CONTEXT, udp_sport).get(e) as u16,
            send_cq: field!(QP_CONTEXT, send_cq).get(e) as u16,
            recv_cq: field!(QP_CONTEXT, recv_cq).get(e) as u16,
            remote_qpn: Qpn::new(field!(QP_CONTEXT, remote_qpn).get(e) as u32),
            hop_limit: field!(QP_CONTEXT, hop_limit).get(e) as u8,
            sq_psn: Psn::new(field!(QP_CONTEXT, sq_psn).get(e) as u32),
            max_ord: field!(QP_CONTEXT, max_ord).get(e) as u8,
            rq_psn: Psn::new(field!(QP_CONTEXT, rq_psn).get(e) as u32),
            max_ird: field!(QP_CONTEXT, max_ird).get(e) as u8,
            sq_base: field!(QP_CONTEXT, sq_base).get(e),
            rq_base: field!(QP_CONTEXT, rq_base).get(e),
            remote_mac: MacAddr([m0, m1, m2, m3, m4, m5]),
            timeout: field!(QP_CONTEXT, timeout).get(e) as u8,
            retry_cnt: field!(QP_CONTEXT, retry_cnt).get(e) as u8,
            rnr_retry: field!(QP_CONTEXT, rnr_retry).get(e) as u8,
            min_rnr_timer: field!(QP_CONTEXT, min_rnr_timer).get(e) as u8,
            remote_ip,
        }
    }

    /// Address of entry `index` of the send ring.
    pub fn sq_address(&self, index: u16) -> u64 {
        let slot = u64::from(index) & ((1 << self.sq_log) - 1);
        self.sq_base.wrapping_add(slot * u64::from(self.sq_entry))
    }

    /// Address of entry `index` of the receive ring.
    pub fn rq_address(&self, index: u16) -> u64 {
        let slot = u64::from(index) & ((1 << self.rq_log) - 1);
        self.rq_base.wrapping_add(slot * 64)
    }

    /// Number of its shared receive queue, if it has one.
    pub fn shared_queue(&self) -> Option<u16> {
        self.srq.then_some(self.rq_base as u16)
    }

    /// Packets of a message of `length` bytes (WIRE-SEG-1, WIRE-SEG-4, WIRE-PSN-4).
    pub fn packets(&self, length: u32) -> u32 {
        length.div_ceil(self.mtu).max(1)
    }
}

/// Completion-queue context.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct CqContext {
    pub valid: bool,
    /// At most 15.
    pub log_size: u8,
    pub base: u64,
    pub moderation: Moderation,
}

/// For how long, and for how many entries, an event of a completion queue is put off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Moderation {
    /// Entries not consumed at which it is not put off longer.
    count: u16,
    /// µs for which it is put off at most.
    interval: u16,
}

impl Moderation {
    /// A count that is never reached, or an interval that never ends.
    const ENDLESS: u16 = 0xFFFF;

    /// Whether events are put off at all.
    pub fn is_on(self) -> bool {
        self.interval > 0 && self.count > 1
    }

    /// Whether an event is put off while so many entries are not consumed.
    pub fn puts_off(self, entries: u16) -> bool {
        self.is_on() && (self.count == Self::ENDLESS || entries < self.count)
    }

    /// µs for which an event is put off at most; `None` if there is no end.
    pub fn limit(self) -> Option<u16> {
        match (self.is_on(), self.interval) {
            (false, _) => Some(0),
            (true, Self::ENDLESS) => None,
            (true, interval) => Some(interval),
        }
    }
}

impl CqContext {
    pub fn parse(e: &[u8]) -> Self {
        Self {
            valid: field!(CQ_CONTEXT, valid).get(e) != 0,
            log_size: field!(CQ_CONTEXT, log_size).get(e).min(15) as u8,
            base: field!(CQ_CONTEXT, base).get(e),
            moderation: Moderation {
                count: field!(CQ_CONTEXT, moderation_count).get(e) as u16,
                interval: field!(CQ_CONTEXT, moderation_interval).get(e) as u16,
            },
        }
    }
}

/// Shared-receive-queue context.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct SrqContext {
    pub valid: bool,
    /// At most 15.
    pub log_size: u8,
    pub base: u64,
}

impl SrqContext {
    pub fn parse(e: &[u8]) -> Self {
        Self {
            valid: field!(SRQ_CONTEXT, valid).get(e) != 0,
            log_size: field!(SRQ_CONTEXT, log_size).get(e).min(15) as u8,
            base: field!(SRQ_CONTEXT, base).get(e),
        }
    }

    /// Address of entry `index` of the ring.
    pub fn address(&self, index: u16) -> u64 {
        let slot = u64::from(index) & ((1 << self.log_size) - 1);
        self.base.wrapping_add(slot * 64)
    }
}

/// Memory-token context.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct TokenContext {
    pub valid: bool,
    pub kind: TokenKind,
    pub local_write: bool,
    pub remote_read: bool,
    pub remote_write: bool,
    pub key: u8,
    pub pd: u16,
    pub first_page: u32,
    pub base_address: u64,
    pub length: u64,
    pub page_offset: u16,
    /// Of a fast-registered region: pages reserved for it.
    pub max_pages: u16,
    /// Of a bound window: its queue pair.
    pub window_qp: u16,
    /// Of a bound window: index of its region.
    pub parent: u32,
    /// Of a region: windows bound to it.
    pub windows: u32,
}

impl TokenContext {
    pub fn parse(e: &[u8]) -> Self {
        Self {
            valid: field!(TOKEN_CONTEXT, valid).get(e) != 0,
            kind: TokenKind::from_bits(field!(TOKEN_CONTEXT, kind).get(e).into())
                .unwrap_or(TokenKind::Region),
            local_write: field!(TOKEN_CONTEXT, local_write).get(e) != 0,
            remote_read: field!(TOKEN_CONTEXT, remote_read).get(e) != 0,
            remote_write: field!(TOKEN_CONTEXT, remote_write).get(e) != 0,
            key: field!(TOKEN_CONTEXT, key).get(e) as u8,
            pd: field!(TOKEN_CONTEXT, pd).get(e) as u16,
            first_page: field!(TOKEN_CONTEXT, first_page).get(e) as u32,
            base_address: field!(TOKEN_CONTEXT, base_address).get(e),
            length: field!(TOKEN_CONTEXT, length).get(e),
            page_offset: field!(TOKEN_CONTEXT, page_offset).get(e) as u16,
            max_pages: field!(TOKEN_CONTEXT, max_pages).get(e) as u16,
            window_qp: field!(TOKEN_CONTEXT, window_qp).get(e) as u16,
            parent: field!(TOKEN_CONTEXT, parent).get(e) as u32,
            // Only the engine counts: a new entry has none, whatever was written.
            windows: 0,
        }
    }

    /// Whether it is a window that is bound.
    pub fn is_bound_window(&self) -> bool {
        self.valid && self.kind == TokenKind::Window
    }
}

/// Scatter/gather element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Sge {
    pub address: u64,
    pub length: u32,
    pub token: Token,
}

impl Sge {
    /// Bytes of an element.
    pub const LEN: usize = 16;

    pub fn parse(e: &[u8]) -> Self {
        Self {
            address: field!(SGE, address).get(e),
            length: field!(SGE, length).get(e) as u32,
            token: Token(field!(SGE, token).get(e) as u32),
        }
    }
}
