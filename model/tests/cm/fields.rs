//! The fields of a datagram under the names and in the spelling of the golden data.

use serde_json::{Map, Value, json};
use tandem_model::cm::{IpCm, Mad, Message, PathRecord, Rej, Rep, Req};
use tandem_model::wire::Qpn;

use crate::golden;

fn digits(value: impl Into<u128>, count: usize) -> Value {
    json!(format!("0x{:0count$x}", value.into()))
}

fn octets(bytes: &[u8]) -> Value {
    json!(format!("0x{}", golden::hex(bytes)))
}

fn qpn(qpn: Qpn) -> Value {
    digits(qpn.get(), 6)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// All fields of a datagram.
pub fn fields(mad: &Mad) -> Value {
    let mut all = object(json!({
        "base_version": 1, "mgmt_class": 7, "class_version": 2, "method": 3, "status": 0,
        "tid": digits(mad.transaction_id, 16),
        "attr_id": digits(mad.message.attribute_id(), 4),
        "attr_name": mad.message.name().to_uppercase(),
        "attr_mod": digits(mad.attribute_modifier, 8),
    }));
    let ids = |local: u32, remote: u32| json!({"local_comm_id": digits(local, 8), "remote_comm_id": digits(remote, 8)});
    let (ids, rest) = match &mad.message {
        Message::Req(req) => (request(req), path(&req.primary)),
        Message::Rep(m) => (ids(m.local_comm_id.get(), m.remote_comm_id.get()), reply(m)),
        Message::Rtu(m) => (
            ids(m.local_comm_id.get(), m.remote_comm_id.get()),
            json!({}),
        ),
        Message::Drep(m) => (
            ids(m.local_comm_id.get(), m.remote_comm_id.get()),
            json!({}),
        ),
        Message::Rej(m) => (
            ids(
                m.local_comm_id.map_or(0, |id| id.get()),
                m.remote_comm_id.map_or(0, |id| id.get()),
            ),
            reject(m),
        ),
        Message::Mra(m) => (
            ids(m.local_comm_id.get(), m.remote_comm_id.get()),
            json!({"message_mraed": m.message as u8, "service_timeout": m.service_timeout.get()}),
        ),
        Message::Dreq(m) => (
            ids(m.local_comm_id.get(), m.remote_comm_id.get()),
            json!({"remote_qpn": qpn(m.remote_qpn)}),
        ),
    };
    all.extend(object(ids));
    all.extend(object(rest));
    Value::Object(all)
}

fn request(req: &Req) -> Value {
    let ip = IpCm::parse(&req.private_data).unwrap();
    let plain = |ip: std::net::IpAddr| match ip {
        std::net::IpAddr::V4(ip) => digits(u32::from(ip), 32),
        std::net::IpAddr::V6(ip) => digits(ip, 32),
    };
    json!({
        "local_comm_id": digits(req.local_comm_id.get(), 8),
        "service_id": digits(req.service_id.0, 16),
        "local_ca_guid": digits(req.local_ca_guid.0, 16),
        "local_qpn": qpn(req.local_qpn),
        "responder_resources": req.responder_resources,
        "initiator_depth": req.initiator_depth,
        "remote_cm_resp_timeout": req.remote_response_timeout.get(),
        "transport_service": req.transport_service as u8,
        "e2e_flow_ctl": u8::from(req.flow_control),
        "starting_psn": digits(req.starting_psn.get(), 6),
        "local_cm_resp_timeout": req.local_response_timeout.get(),
        "retry_count": req.retry_count,
        "pkey": digits(req.pkey.0, 4),
        "path_mtu_code": req.path_mtu,
        "rnr_retry_count": req.rnr_retry_count,
        "max_cm_retries": req.max_cm_retries,
        "srq": u8::from(req.srq),
        "ip_cm_version": 0,
        "ip_cm_ip_version": if ip.source.is_ipv4() { 4 } else { 6 },
        "ip_cm_src_port": ip.source.port(),
        "ip_cm_src": plain(ip.source.ip()),
        "ip_cm_dst": plain(ip.destination),
        "user_private_data": octets(&ip.consumer_data),
    })
}

fn path(path: &PathRecord) -> Value {
    json!({
        "primary_local_lid": digits(path.local_lid, 4),
        "primary_remote_lid": digits(path.remote_lid, 4),
        "primary_local_gid": digits(path.local_gid, 32),
        "primary_remote_gid": digits(path.remote_gid, 32),
        "primary_flow_label": digits(path.flow_label, 5),
        "primary_packet_rate": path.packet_rate,
        "primary_traffic_class": path.traffic_class,
        "primary_hop_limit": path.hop_limit,
        "primary_sl": path.service_level,
        "primary_subnet_local": u8::from(path.subnet_local),
        "primary_local_ack_timeout": path.local_ack_timeout.get(),
    })
}

fn reply(rep: &Rep) -> Value {
    json!({
        "local_qpn": qpn(rep.local_qpn),
        "starting_psn": digits(rep.starting_psn.get(), 6),
        "responder_resources": rep.responder_resources,
        "initiator_depth": rep.initiator_depth,
        "target_ack_delay": rep.target_ack_delay.get(),
        "failover_accepted": rep.failover_accepted,
        "e2e_flow_ctl": u8::from(rep.flow_control),
        "rnr_retry_count": rep.rnr_retry_count,
        "srq": u8::from(rep.srq),
        "local_ca_guid": digits(rep.local_ca_guid.0, 16),
        "private_data": octets(&rep.private_data),
    })
}

fn reject(rej: &Rej) -> Value {
    json!({
        "message_rejected": rej.message as u8,
        "reject_info_length": rej.info_length,
        "reason": rej.reason.0,
        "ari": octets(&rej.info),
        "private_data": octets(&rej.private_data),
    })
}
