//! The side that is connected to.

use super::action::{Action, Event, Refusal};
use super::conversation::{Conversation, State, Step};
use super::terms::{Accept, QpAttributes, ReadLimits};
use crate::cm::{
    Mad, REJ_PRIVATE, REP_PRIVATE, ReceivedMessage, RejectReason, RejectedMessage, Rep,
};
use crate::wire::Psn;

impl Conversation {
    /// The request came again: it makes no second connection (WIRE-CM-8).
    pub(super) fn receive_req_again(&mut self, step: &mut Step<'_>) {
        match self.state {
            State::ReqReceived => self.send_mra(step, ReceivedMessage::Req),
            State::RepSent => self.send_again(step),
            State::Rejected => {
                if let Some(answer) = self.answer {
                    self.send(step, answer);
                }
            }
            State::TimeWait => self.reject_again(step, RejectReason::STALE_CONNECTION),
            State::Over { .. } => self.reject_again(step, RejectReason::TIMEOUT),
            _ => {}
        }
    }

    fn reject_again(&self, step: &mut Step<'_>, reason: RejectReason) {
        let rej = self.rej(RejectedMessage::Req, reason, [0; REJ_PRIVATE]);
        self.send(step, rej);
    }

    /// The consumer accepts.
    pub(super) fn accept(
        &mut self,
        step: &mut Step<'_>,
        starting_psn: Psn,
        accept: &Accept<'_>,
        private_data: [u8; REP_PRIVATE],
    ) -> Result<(), Refusal> {
        let (State::ReqReceived, Some(peer)) = (self.state, self.peer) else {
            return Err(self.refusal());
        };
        let limits = accept.limits.min(ReadLimits::offered_by_req(&self.req));
        let rep = Rep {
            local_comm_id: self.id,
            remote_comm_id: peer.comm_id,
            local_qkey: 0,
            local_qpn: accept.qpn,
            vendor_id: 0,
            local_eecn: 0,
            starting_psn,
            responder_resources: limits.inbound,
            initiator_depth: limits.outbound,
            target_ack_delay: step.config.ack_delay,
            failover_accepted: 0,
            flow_control: false,
            rnr_retry_count: accept.rnr_retry_count,
            srq: false,
            local_ca_guid: step.config.guid,
            private_data,
        };
        let attributes = QpAttributes::passive(self.path.remote, &self.req, &rep);
        self.qpn = Some(accept.qpn);
        self.attributes = Some(attributes);
        self.state = State::RepSent;
        step.out.push(Action::Ready {
            id: self.id,
            attributes,
        });
        let interval = step.config.interval(self.req.local_response_timeout);
        let mad = Mad::new(self.transaction, rep);
        self.send_until_answered(step, mad, interval, self.req.max_cm_retries);
        Ok(())
    }

    /// The active side has the reply.
    pub(super) fn receive_rtu(&mut self, step: &mut Step<'_>) {
        match self.state {
            State::RepSent => {
                self.answered();
                self.state = State::Established;
                self.tell(step, Event::Established);
                if !self.owned {
                    self.close(step);
                }
            }
            State::Rejected => {
                if let Some(answer) = self.answer {
                    self.send(step, answer);
                }
            }
            _ => {}
        }
    }
}
