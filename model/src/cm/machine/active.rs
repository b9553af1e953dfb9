//! The side that connects.

use std::net::IpAddr;

use super::action::{Action, Event, Path, Refusal};
use super::config::{CmConfig, ack_timeout};
use super::conversation::{Conversation, Peer, State, Step};
use super::terms::{Connect, QpAttributes};
use crate::cm::{
    CommId, IpCm, Mad, PathRecord, ReceivedMessage, Rep, Req, ServiceId, TransportService, gid,
};
use crate::wire::{Pkey, Psn};

impl Conversation {
    /// Sends a request.
    pub(super) fn connect(
        step: &mut Step<'_>,
        id: CommId,
        starting_psn: Psn,
        connect: &Connect<'_>,
        private_data: [u8; crate::cm::REQ_CONSUMER],
    ) -> Self {
        let (local, remote) = (connect.local.ip(), connect.remote.ip());
        let ip = IpCm {
            source: connect.local,
            destination: remote,
            consumer_data: private_data,
        };
        let config = step.config;
        let req = Req {
            local_comm_id: id,
            vendor_id: 0,
            service_id: ServiceId::tcp(connect.remote.port()),
            local_ca_guid: config.guid,
            local_qkey: 0,
            local_qpn: connect.qpn,
            responder_resources: connect.limits.inbound,
            local_eecn: 0,
            initiator_depth: connect.limits.outbound,
            remote_eecn: 0,
            remote_response_timeout: config.response_timeout,
            transport_service: TransportService::Rc,
            flow_control: false,
            starting_psn,
            local_response_timeout: config.response_timeout,
            retry_count: connect.retry_count,
            pkey: Pkey::DEFAULT,
            path_mtu: connect.path_mtu,
            rdc_exists: false,
            rnr_retry_count: connect.rnr_retry_count,
            max_cm_retries: config.max_retries,
            srq: false,
            extended_transport: 0,
            primary: path_record(config, local, remote, connect),
            alternate: PathRecord::NONE,
            private_data: ip.emit(),
        };
        let transaction = 1 << 32 | u64::from(id.get());
        let mut conversation =
            Self::new(id, Path { local, remote }, req, transaction, State::ReqSent);
        conversation.qpn = Some(connect.qpn);
        let interval = config.interval(config.response_timeout);
        let retries = config.max_retries;
        conversation.send_until_answered(step, Mad::new(transaction, req), interval, retries);
        conversation
    }

    /// A reply, for the first time or again (WIRE-CM-7).
    pub(super) fn receive_rep(&mut self, step: &mut Step<'_>, rep: &Rep) {
        match self.state {
            State::ReqSent => {
                self.answered();
                self.state = State::RepReceived;
                self.peer = Some(Peer {
                    comm_id: rep.local_comm_id,
                    guid: rep.local_ca_guid,
                    qpn: rep.local_qpn,
                });
                let attributes =
                    QpAttributes::active(step.config, self.path.remote, &self.req, rep);
                self.attributes = Some(attributes);
                let event = Event::Replied {
                    limits: attributes.limits,
                    private_data: rep.private_data,
                };
                self.tell(step, event);
            }
            State::RepReceived => self.send_mra(step, ReceivedMessage::Rep),
            State::Established | State::Rejected => {
                if let Some(answer) = self.answer {
                    self.send(step, answer);
                }
            }
            _ => {}
        }
    }

    /// The consumer takes the reply.
    pub(super) fn complete(&mut self, step: &mut Step<'_>) -> Result<(), Refusal> {
        let (State::RepReceived, Some(peer), Some(attributes)) =
            (self.state, self.peer, self.attributes)
        else {
            return Err(self.refusal());
        };
        let rtu = self.rtu(peer);
        step.out.push(Action::Ready {
            id: self.id,
            attributes,
        });
        self.send(step, rtu);
        self.answer = Some(rtu);
        self.state = State::Established;
        Ok(())
    }
}

/// The path of a request.
fn path_record(
    config: &CmConfig,
    local: IpAddr,
    remote: IpAddr,
    connect: &Connect<'_>,
) -> PathRecord {
    let subnet_local = connect.hop_limit <= 1;
    let lid = if subnet_local { 0 } else { 0xFFFF };
    let ports = (
        u32::from(connect.local.port()),
        u32::from(connect.remote.port()),
    );
    PathRecord {
        local_lid: lid,
        remote_lid: lid,
        local_gid: gid(local),
        remote_gid: gid(remote),
        flow_label: (ports.0 * 31 + ports.1) & 0xF_FFFF,
        packet_rate: 0,
        traffic_class: connect.traffic_class,
        hop_limit: connect.hop_limit,
        service_level: 0,
        subnet_local,
        local_ack_timeout: ack_timeout(config.packet_life, config.ack_delay),
    }
}
