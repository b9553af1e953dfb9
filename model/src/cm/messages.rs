//! The messages: what stands in the 232 bytes behind the datagram's header.

use std::net::Ipv6Addr;

use super::record::{Part, bits, bytes, record};
use super::{
    CmError, CommId, Guid, ReceivedMessage, RejectReason, RejectedMessage, ServiceId, TimeCode,
    TransportService,
};
use crate::wire::{Pkey, Psn, Qpn};

record! {
    /// A path in a request: addresses of both ports, and how packets travel between them.
    PathRecord, "REQ path", 44 bytes {
        /// LID of the sender's port; 0xFFFF behind a router.
        local_lid: u16 = [bytes(0, 2)];
        /// LID of the receiver's port; 0xFFFF behind a router.
        remote_lid: u16 = [bytes(2, 2)];
        /// Sender's address.
        local_gid: Ipv6Addr = [bytes(4, 16)];
        /// Receiver's address.
        remote_gid: Ipv6Addr = [bytes(20, 16)];
        /// Flow label, 20 bits.
        flow_label: u32 = [bits(36, 7, 20)];
        /// Packet rate, 6 bits.
        packet_rate: u8 = [bits(39, 5, 6)];
        /// Traffic class.
        traffic_class: u8 = [bytes(40, 1)];
        /// Hop limit.
        hop_limit: u8 = [bytes(41, 1)];
        /// Service level, 4 bits.
        service_level: u8 = [bits(42, 7, 4)];
        /// Whether the peer is in the same subnet.
        subnet_local: bool = [bits(42, 3, 1)];
        /// Local ACK timeout that the receiver shall use.
        local_ack_timeout: TimeCode = [bits(43, 7, 5)];
    }
}

impl PathRecord {
    /// No path: what stands in place of an alternate path that is not there.
    pub const NONE: Self = Self {
        local_lid: 0,
        remote_lid: 0,
        local_gid: Ipv6Addr::UNSPECIFIED,
        remote_gid: Ipv6Addr::UNSPECIFIED,
        flow_label: 0,
        packet_rate: 0,
        traffic_class: 0,
        hop_limit: 0,
        service_level: 0,
        subnet_local: false,
        local_ack_timeout: TimeCode::new(0),
    };
}

/// Private data of a request, the IP header of [`IpCm`](super::IpCm) included.
pub const REQ_PRIVATE: usize = 92;
/// Private data of a reply.
pub const REP_PRIVATE: usize = 196;
/// Private data of a reject.
pub const REJ_PRIVATE: usize = 148;

record! {
    /// Connection request.
    #[doc(alias = "ConnectRequest")]
    Req, "REQ", 232 bytes {
        /// Sender's communication id.
        local_comm_id: CommId = [bytes(0, 4)];
        /// Vendor of enhanced connection establishment, 24 bits; 0.
        vendor_id: u32 = [bytes(5, 3)];
        /// What the sender wants to be connected with.
        service_id: ServiceId = [bytes(8, 8)];
        /// Sender's adapter.
        local_ca_guid: Guid = [bytes(16, 8)];
        /// Q_Key, 0 for a reliable connection.
        local_qkey: u32 = [bytes(28, 4)];
        /// Sender's queue pair.
        local_qpn: Qpn = [bytes(32, 3)];
        /// Reads that the sender can answer at a time (WIRE-CM-13).
        responder_resources: u8 = [bytes(35, 1)];
        /// End-to-end context number, 0.
        local_eecn: u32 = [bytes(36, 3)];
        /// Reads that the sender wants to have outstanding.
        initiator_depth: u8 = [bytes(39, 1)];
        /// End-to-end context number, 0.
        remote_eecn: u32 = [bytes(40, 3)];
        /// How long the receiver may take to answer.
        remote_response_timeout: TimeCode = [bits(43, 7, 5)];
        /// Transport service.
        transport_service: TransportService = [bits(43, 2, 2)];
        /// End-to-end flow control.
        flow_control: bool = [bits(43, 0, 1)];
        /// PSN of the receiver's first request (WIRE-CM-3).
        starting_psn: Psn = [bytes(44, 3)];
        /// How long the sender takes to answer.
        local_response_timeout: TimeCode = [bits(47, 7, 5)];
        /// Go-backs of the receiver's requests, 0 to 7.
        retry_count: u8 = [bits(47, 2, 3)];
        /// Partition key.
        pkey: Pkey = [bytes(48, 2)];
        /// Path MTU, 128 × 2^code bytes; 1 to 5 are legal.
        path_mtu: u8 = [bits(50, 7, 4)];
        /// RDC exists, 0.
        rdc_exists: bool = [bits(50, 3, 1)];
        /// RNR retries of the receiver's requests, 0 to 7.
        rnr_retry_count: u8 = [bits(50, 2, 3)];
        /// How often a message is sent again, 0 to 15.
        max_cm_retries: u8 = [bits(51, 7, 4)];
        /// Whether the sender's queue pair has a shared receive queue.
        srq: bool = [bits(51, 3, 1)];
        /// Extended transport type, 0.
        extended_transport: u8 = [bits(51, 2, 3)];
        /// The path to use.
        primary: PathRecord = [bytes(52, 44)];
        /// Another path; [`PathRecord::NONE`].
        alternate: PathRecord = [bytes(96, 44)];
        /// Private data.
        private_data: [u8; REQ_PRIVATE] = [bytes(140, REQ_PRIVATE)];
    }
}

record! {
    /// Reply to a request: the passive side accepts.
    #[doc(alias = "ConnectReply")]
    Rep, "REP", 232 bytes {
        /// Sender's communication id.
        local_comm_id: CommId = [bytes(0, 4)];
        /// Receiver's communication id.
        remote_comm_id: CommId = [bytes(4, 4)];
        /// Q_Key, 0 for a reliable connection.
        local_qkey: u32 = [bytes(8, 4)];
        /// Sender's queue pair.
        local_qpn: Qpn = [bytes(12, 3)];
        /// Vendor of enhanced connection establishment, 24 bits; 0.
        vendor_id: u32 = [bytes(15, 1), bytes(19, 1), bytes(23, 1)];
        /// End-to-end context number, 0.
        local_eecn: u32 = [bytes(16, 3)];
        /// PSN of the receiver's first request (WIRE-CM-3).
        starting_psn: Psn = [bytes(20, 3)];
        /// Reads that the sender can answer at a time (WIRE-CM-13).
        responder_resources: u8 = [bytes(24, 1)];
        /// Reads that the sender will have outstanding at most.
        initiator_depth: u8 = [bytes(25, 1)];
        /// How long the sender's adapter takes to acknowledge.
        target_ack_delay: TimeCode = [bits(26, 7, 5)];
        /// Whether the alternate path was accepted, 2 bits.
        failover_accepted: u8 = [bits(26, 2, 2)];
        /// End-to-end flow control.
        flow_control: bool = [bits(26, 0, 1)];
        /// RNR retries of the receiver's requests, 0 to 7.
        rnr_retry_count: u8 = [bits(27, 7, 3)];
        /// Whether the sender's queue pair has a shared receive queue.
        srq: bool = [bits(27, 4, 1)];
        /// Sender's adapter.
        local_ca_guid: Guid = [bytes(28, 8)];
        /// Private data.
        private_data: [u8; REP_PRIVATE] = [bytes(36, REP_PRIVATE)];
    }
}

record! {
    /// Ready to use: the active side got the reply.
    #[doc(alias = "ReadyToUse")]
    Rtu, "RTU", 232 bytes {
        /// Sender's communication id.
        local_comm_id: CommId = [bytes(0, 4)];
        /// Receiver's communication id.
        remote_comm_id: CommId = [bytes(4, 4)];
        /// Private data.
        private_data: [u8; 224] = [bytes(8, 224)];
    }
}

record! {
    /// Reject.
    #[doc(alias = "ConnectReject")]
    Rej, "REJ", 232 bytes {
        /// Sender's communication id, if it has one.
        local_comm_id: Option<CommId> = [bytes(0, 4)];
        /// Receiver's communication id, if the sender knows it.
        remote_comm_id: Option<CommId> = [bytes(4, 4)];
        /// What is rejected.
        message: RejectedMessage = [bits(8, 7, 2)];
        /// Bytes of the additional information, 7 bits.
        info_length: u8 = [bits(9, 7, 7)];
        /// Why.
        reason: RejectReason = [bytes(10, 2)];
        /// Additional information.
        info: [u8; 72] = [bytes(12, 72)];
        /// Private data.
        private_data: [u8; REJ_PRIVATE] = [bytes(84, REJ_PRIVATE)];
    }
}

record! {
    /// A message was received, and an answer will take its time.
    #[doc(alias = "MsgRcptAck")]
    Mra, "MRA", 232 bytes {
        /// Sender's communication id.
        local_comm_id: CommId = [bytes(0, 4)];
        /// Receiver's communication id.
        remote_comm_id: CommId = [bytes(4, 4)];
        /// What was received.
        message: ReceivedMessage = [bits(8, 7, 2)];
        /// How long the sender may take.
        service_timeout: TimeCode = [bits(9, 7, 5)];
        /// Private data.
        private_data: [u8; 222] = [bytes(10, 222)];
    }
}

record! {
    /// Disconnect request.
    #[doc(alias = "DisconnectRequest")]
    Dreq, "DREQ", 232 bytes {
        /// Sender's communication id.
        local_comm_id: CommId = [bytes(0, 4)];
        /// Receiver's communication id.
        remote_comm_id: CommId = [bytes(4, 4)];
        /// The receiver's queue pair (WIRE-CM-9).
        remote_qpn: Qpn = [bytes(8, 3)];
        /// Private data.
        private_data: [u8; 220] = [bytes(12, 220)];
    }
}

record! {
    /// Reply to a disconnect request.
    #[doc(alias = "DisconnectReply")]
    Drep, "DREP", 232 bytes {
        /// Sender's communication id.
        local_comm_id: CommId = [bytes(0, 4)];
        /// Receiver's communication id.
        remote_comm_id: CommId = [bytes(4, 4)];
        /// Private data.
        private_data: [u8; 224] = [bytes(8, 224)];
    }
}
