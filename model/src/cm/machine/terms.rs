//! What two sides agree on.

use std::net::{IpAddr, SocketAddr};

use super::config::{CmConfig, ack_timeout};
use crate::cm::{Rep, Req, TimeCode};
use crate::wire::{Psn, Qpn};

/// Reads that can be outstanding at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Reads of the peer (IRD).
    pub inbound: u8,
    /// Reads of this side (ORD).
    pub outbound: u8,
}

impl ReadLimits {
    /// The lesser of each: what both agree to (NDK-CONN-2, -3).
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self {
            inbound: self.inbound.min(other.inbound),
            outbound: self.outbound.min(other.outbound),
        }
    }

    /// What the sender of a request agrees to, as the receiver counts (WIRE-CM-13).
    pub(super) fn offered_by_req(req: &Req) -> Self {
        Self {
            inbound: req.initiator_depth,
            outbound: req.responder_resources,
        }
    }

    /// What the sender of a reply agrees to, as the receiver counts (WIRE-CM-13).
    pub(super) fn offered_by_rep(rep: &Rep) -> Self {
        Self {
            inbound: rep.initiator_depth,
            outbound: rep.responder_resources,
        }
    }
}

/// What the active side brings to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// Address and port of this side.
    pub local: SocketAddr,
    /// Address and port of the listener, of the same IP version.
    pub remote: SocketAddr,
    /// This side's queue pair.
    pub qpn: Qpn,
    /// Limits that it agrees to.
    pub limits: ReadLimits,
    /// Path MTU, 128 × 2^code bytes.
    pub path_mtu: u8,
    /// Go-backs of a request, 0 to 7.
    pub retry_count: u8,
    /// Waits of the peer for this side's receives, 0 to 6; 7 for ever.
    pub rnr_retry_count: u8,
    /// DSCP and ECN of both sides' packets.
    pub traffic_class: u8,
    /// TTL or hop limit of both sides' packets.
    pub hop_limit: u8,
    /// What the consumer says; at most 56 bytes.
    pub private_data: &'a [u8],
}

/// What the passive side brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accept<'a> {
    /// This side's queue pair.
    pub qpn: Qpn,
    /// Limits that it agrees to.
    pub limits: ReadLimits,
    /// Waits of the peer for this side's receives, 0 to 6; 7 for ever.
    pub rnr_retry_count: u8,
    /// What the consumer says; at most 196 bytes.
    pub private_data: &'a [u8],
}

/// How a queue pair speaks with its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpAttributes {
    /// Peer's address.
    pub remote_ip: IpAddr,
    /// Peer's queue pair.
    pub remote_qpn: Qpn,
    /// PSN of the first request sent.
    pub sq_psn: Psn,
    /// PSN of the first request expected.
    pub rq_psn: Psn,
    /// Path MTU, 128 × 2^code bytes.
    pub path_mtu: u8,
    /// Limits that both sides agreed on.
    pub limits: ReadLimits,
    /// Go-backs of a request.
    pub retry_count: u8,
    /// Waits for a receive of the peer.
    pub rnr_retry_count: u8,
    /// How long an acknowledgement may take.
    pub ack_timeout: TimeCode,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// TTL or hop limit.
    pub hop_limit: u8,
}

impl QpAttributes {
    /// Those of the active side, from its request and the reply to it.
    pub(super) fn active(config: &CmConfig, remote_ip: IpAddr, req: &Req, rep: &Rep) -> Self {
        let own = ReadLimits {
            inbound: req.responder_resources,
            outbound: req.initiator_depth,
        };
        Self {
            remote_ip,
            remote_qpn: rep.local_qpn,
            sq_psn: rep.starting_psn,
            rq_psn: req.starting_psn,
            path_mtu: req.path_mtu,
            limits: own.min(ReadLimits::offered_by_rep(rep)),
            retry_count: req.retry_count,
            rnr_retry_count: rep.rnr_retry_count,
            ack_timeout: ack_timeout(config.packet_life, rep.target_ack_delay),
            flow_label: req.primary.flow_label,
            traffic_class: req.primary.traffic_class,
            hop_limit: req.primary.hop_limit,
        }
    }

    /// Those of the passive side, from the request and its reply.
    pub(super) fn passive(remote_ip: IpAddr, req: &Req, rep: &Rep) -> Self {
        Self {
            remote_ip,
            remote_qpn: req.local_qpn,
            sq_psn: req.starting_psn,
            rq_psn: rep.starting_psn,
            path_mtu: req.path_mtu,
            limits: ReadLimits {
                inbound: rep.responder_resources,
                outbound: rep.initiator_depth,
            },
            retry_count: req.retry_count,
            rnr_retry_count: req.rnr_retry_count,
            ack_timeout: req.primary.local_ack_timeout,
            flow_label: req.primary.flow_label,
            traffic_class: req.primary.traffic_class,
            hop_limit: req.primary.hop_limit,
        }
    }
}
