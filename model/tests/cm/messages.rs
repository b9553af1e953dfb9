//! Any message of any content.

use proptest::prelude::*;
use proptest::sample::select;
use tandem_model::cm::{
    CommId, Drep, Dreq, Guid, Mad, Message, Mra, PathRecord, ReceivedMessage, Rej, RejectReason,
    RejectedMessage, Rep, Req, Rtu, ServiceId, TimeCode, TransportService,
};
use tandem_model::wire::{Pkey, Psn, Qpn};

fn comm_id() -> impl Strategy<Value = CommId> {
    (1..=u32::MAX).prop_map(|number| CommId::new(number).unwrap())
}

fn bytes<const N: usize>() -> impl Strategy<Value = [u8; N]> {
    proptest::collection::vec(any::<u8>(), N).prop_map(|bytes| bytes.try_into().unwrap())
}

fn time_code() -> impl Strategy<Value = TimeCode> {
    any::<u8>().prop_map(TimeCode::new)
}

fn u24() -> impl Strategy<Value = u32> {
    0..1u32 << 24
}

prop_compose! {
    fn path()(
        (local_lid, remote_lid) in any::<(u16, u16)>(),
        (local, remote) in any::<(u128, u128)>(),
        (flow_label, packet_rate, service_level) in (0..1u32 << 20, 0..64u8, 0..16u8),
        (traffic_class, hop_limit, subnet_local) in any::<(u8, u8, bool)>(),
        local_ack_timeout in time_code(),
    ) -> PathRecord {
        PathRecord {
            local_lid, remote_lid, flow_label, packet_rate, traffic_class, hop_limit, service_level,
            subnet_local, local_ack_timeout,
            local_gid: local.into(),
            remote_gid: remote.into(),
        }
    }
}

prop_compose! {
    fn req()(
        local_comm_id in comm_id(),
        (vendor_id, local_eecn, remote_eecn) in (u24(), u24(), u24()),
        (service, guid, local_qkey, qpn, psn) in any::<(u64, u64, u32, u32, u32)>(),
        (responder_resources, initiator_depth, pkey) in any::<(u8, u8, u16)>(),
        (remote_response_timeout, local_response_timeout) in (time_code(), time_code()),
        transport_service in select(TransportService::ALL),
        (flow_control, rdc_exists, srq) in any::<(bool, bool, bool)>(),
        (retry_count, rnr_retry_count, extended_transport) in (0..8u8, 0..8u8, 0..8u8),
        (path_mtu, max_cm_retries) in (0..16u8, 0..16u8),
        (primary, alternate) in (path(), path()),
        private_data in bytes(),
    ) -> Req {
        Req {
            local_comm_id, vendor_id, local_qkey, responder_resources, local_eecn, initiator_depth,
            remote_eecn, remote_response_timeout, transport_service, flow_control,
            local_response_timeout, retry_count, path_mtu, rdc_exists, rnr_retry_count,
            max_cm_retries, srq, extended_transport, primary, alternate, private_data,
            service_id: ServiceId(service),
            local_ca_guid: Guid(guid),
            local_qpn: Qpn::new(qpn),
            starting_psn: Psn::new(psn),
            pkey: Pkey(pkey),
        }
    }
}

prop_compose! {
    fn rep()(
        (local_comm_id, remote_comm_id) in (comm_id(), comm_id()),
        (vendor_id, local_eecn) in (u24(), u24()),
        (guid, local_qkey, qpn, psn) in any::<(u64, u32, u32, u32)>(),
        (responder_resources, initiator_depth) in any::<(u8, u8)>(),
        target_ack_delay in time_code(),
        (failover_accepted, rnr_retry_count) in (0..4u8, 0..8u8),
        (flow_control, srq) in any::<(bool, bool)>(),
        private_data in bytes(),
    ) -> Rep {
        Rep {
            local_comm_id, remote_comm_id, local_qkey, vendor_id, local_eecn, responder_resources,
            initiator_depth, target_ack_delay, failover_accepted, flow_control, rnr_retry_count,
            srq, private_data,
            local_qpn: Qpn::new(qpn),
            starting_psn: Psn::new(psn),
            local_ca_guid: Guid(guid),
        }
    }
}

prop_compose! {
    fn rej()(
        local_comm_id in proptest::option::of(comm_id()),
        remote_comm_id in proptest::option::of(comm_id()),
        message in select(RejectedMessage::ALL),
        info_length in 0..128u8,
        reason in any::<u16>(),
        info in bytes(),
        private_data in bytes(),
    ) -> Rej {
        Rej {
            local_comm_id, remote_comm_id, message, info_length, info, private_data,
            reason: RejectReason(reason),
        }
    }
}

/// Any message.
pub fn message() -> impl Strategy<Value = Message> {
    let ids = || (comm_id(), comm_id());
    let rtu = (ids(), bytes()).prop_map(|((local_comm_id, remote_comm_id), private_data)| Rtu {
        local_comm_id,
        remote_comm_id,
        private_data,
    });
    let drep = (ids(), bytes()).prop_map(|((local_comm_id, remote_comm_id), private_data)| Drep {
        local_comm_id,
        remote_comm_id,
        private_data,
    });
    let mra = (ids(), bytes(), select(ReceivedMessage::ALL), time_code()).prop_map(
        |((local_comm_id, remote_comm_id), private_data, message, service_timeout)| Mra {
            local_comm_id,
            remote_comm_id,
            message,
            service_timeout,
            private_data,
        },
    );
    let dreq = (ids(), bytes(), any::<u32>()).prop_map(
        |((local_comm_id, remote_comm_id), private_data, qpn)| Dreq {
            local_comm_id,
            remote_comm_id,
            remote_qpn: Qpn::new(qpn),
            private_data,
        },
    );
    prop_oneof![
        req().prop_map(Message::from),
        rep().prop_map(Message::from),
        rtu.prop_map(Message::from),
        rej().prop_map(Message::from),
        mra.prop_map(Message::from),
        dreq.prop_map(Message::from),
        drep.prop_map(Message::from),
    ]
}

prop_compose! {
    /// Any datagram.
    pub fn mad()(
        (transaction_id, attribute_modifier) in any::<(u64, u32)>(),
        message in message(),
    ) -> Mad {
        Mad { transaction_id, attribute_modifier, message }
    }
}
