//! How a conversation ends, on either side.

use super::action::{Event, Failure, Refusal};
use super::conversation::{Conversation, State, Step};
use crate::cm::{Drep, Dreq, Mad, REJ_PRIVATE, Rej, RejectReason, RejectedMessage};

/// The reply to a disconnect request, which needs no conversation (WIRE-CM-10).
pub(super) fn drep(dreq: &Dreq, transaction: u64) -> Mad {
    let drep = Drep {
        local_comm_id: dreq.remote_comm_id,
        remote_comm_id: dreq.local_comm_id,
        private_data: [0; 224],
    };
    Mad::new(transaction, drep)
}

impl Conversation {
    /// The consumer rejects: a request, or a reply (NDK-REJ-1, WIRE-CM-11).
    pub(super) fn refuse(
        &mut self,
        step: &mut Step<'_>,
        private_data: [u8; REJ_PRIVATE],
    ) -> Result<(), Refusal> {
        let message = match self.state {
            State::ReqReceived => RejectedMessage::Req,
            State::RepReceived => RejectedMessage::Rep,
            _ => return Err(self.refusal()),
        };
        let rej = self.rej(message, RejectReason::CONSUMER_DEFINED, private_data);
        self.reject(step, rej);
        Ok(())
    }

    /// The peer rejects, gave up, or ended what was a connection.
    pub(super) fn receive_rej(&mut self, step: &mut Step<'_>, rej: &Rej) {
        let failure = match rej.reason {
            RejectReason::TIMEOUT | RejectReason::INVALID_COMM_ID => Failure::GaveUp,
            reason => Failure::Rejected {
                reason,
                private_data: rej.private_data,
            },
        };
        // What is rejected must be the last that this side said: else the reject is late.
        match (self.state, rej.message) {
            (State::ReqSent, _) => self.fail(step, failure),
            (State::ReqReceived | State::RepReceived, RejectedMessage::Other) => {
                // The consumer has been told of the peer already, and hears of this when it answers.
                self.finish(step, true);
            }
            (State::RepSent, RejectedMessage::Rep | RejectedMessage::Other) => {
                self.stop(step);
                self.fail(step, failure);
            }
            (State::Established | State::DreqReceived, RejectedMessage::Other) => {
                let told = self.state == State::DreqReceived;
                self.stop(step);
                self.time_wait(step);
                if !told {
                    self.tell(step, Event::Aborted);
                }
            }
            // No end that both want, and not one that nobody answers either.
            (State::DreqSent, RejectedMessage::Other) => {
                self.time_wait(step);
                if self.ending {
                    self.tell(step, Event::Aborted);
                }
            }
            _ => {}
        }
    }

    fn fail(&mut self, step: &mut Step<'_>, failure: Failure) {
        self.finish(step, failure == Failure::GaveUp);
        self.tell(step, Event::Failed(failure));
    }

    /// The peer shows by a new conversation that it knows nothing of this one.
    pub(super) fn lose(&mut self, step: &mut Step<'_>) {
        match self.state {
            State::ReqReceived => self.finish(step, true),
            State::RepSent => {
                self.stop(step);
                self.fail(step, Failure::GaveUp);
            }
            State::Established => {
                self.stop(step);
                self.send_dreq(step);
                self.tell(step, Event::Aborted);
            }
            _ => {}
        }
    }

    /// The consumer disconnects.
    pub(super) fn disconnect(&mut self, step: &mut Step<'_>) -> Result<(), Refusal> {
        match self.state {
            State::Established => {
                self.ending = true;
                self.send_dreq(step);
                self.stop(step);
                Ok(())
            }
            State::DreqReceived => {
                self.answer_dreq(step);
                self.stop(step);
                self.ending = true;
                self.end(step, true);
                Ok(())
            }
            // It broke, and the consumer may not know yet.
            State::TimeWait | State::DreqSent => Err(Refusal::GaveUp),
            _ => Err(self.refusal()),
        }
    }

    fn send_dreq(&mut self, step: &mut Step<'_>) {
        let Some(peer) = self.peer else { return };
        let dreq = Dreq {
            local_comm_id: self.id,
            remote_comm_id: peer.comm_id,
            remote_qpn: peer.qpn,
            private_data: [0; 220],
        };
        self.state = State::DreqSent;
        let mad = Mad::new(2 << 32 | u64::from(self.id.get()), dreq);
        let interval = step.config.interval(step.config.response_timeout);
        self.send_until_answered(step, mad, interval, step.config.max_retries);
    }

    /// The peer disconnects (WIRE-CM-9, -10). Its own queue pair number in the message must be this side's.
    pub(super) fn receive_dreq(&mut self, step: &mut Step<'_>, dreq: &Dreq, transaction: u64) {
        if self.qpn != Some(dreq.remote_qpn) {
            return;
        }
        self.peer_dreq = transaction;
        match self.state {
            State::RepSent => {
                // It had the reply, else it could not disconnect.
                self.answered();
                self.tell(step, Event::Established);
                self.follow(step);
            }
            State::Established => self.follow(step),
            State::DreqSent => {
                self.answer_dreq(step);
                self.end(step, true);
            }
            State::TimeWait | State::Rejected | State::Over { .. } => self.answer_dreq(step),
            _ => {}
        }
    }

    /// The peer's disconnect waits for the consumer, if there still is one.
    fn follow(&mut self, step: &mut Step<'_>) {
        self.state = State::DreqReceived;
        self.tell(step, Event::Disconnected);
        if !self.owned {
            self.close(step);
        }
    }

    fn answer_dreq(&self, step: &mut Step<'_>) {
        let Some(peer) = self.peer else { return };
        let drep = Drep {
            local_comm_id: self.id,
            remote_comm_id: peer.comm_id,
            private_data: [0; 224],
        };
        self.send(step, Mad::new(self.peer_dreq, drep));
    }

    /// The peer agrees to the end.
    pub(super) fn receive_drep(&mut self, step: &mut Step<'_>) {
        if self.state == State::DreqSent {
            self.end(step, true);
        }
    }

    fn end(&mut self, step: &mut Step<'_>, graceful: bool) {
        self.time_wait(step);
        if self.ending {
            self.tell(step, Event::Ended { graceful });
        }
    }

    fn time_wait(&mut self, step: &Step<'_>) {
        let code = self.req.primary.local_ack_timeout;
        self.linger(step, State::TimeWait, code.duration());
    }

    /// All retries are used up.
    pub(super) fn give_up(&mut self, step: &mut Step<'_>) {
        match self.state {
            State::ReqSent => {
                self.send_timeout(step);
                self.fail(step, Failure::TimedOut);
            }
            State::RepSent => {
                self.send_timeout(step);
                self.stop(step);
                self.fail(step, Failure::TimedOut);
            }
            State::DreqSent => {
                self.end(step, false);
            }
            _ => self.answered(),
        }
    }

    /// Tells the peer that this side waits no longer. It may not know the peer's id, so it says its own GUID.
    fn send_timeout(&self, step: &mut Step<'_>) {
        let mut info = [0; 72];
        let guid = step.config.guid.0.to_be_bytes();
        info.iter_mut().zip(guid).for_each(|(to, from)| *to = from);
        let rej = Rej {
            local_comm_id: Some(self.id),
            remote_comm_id: self.peer.map(|peer| peer.comm_id),
            message: RejectedMessage::Other,
            info_length: guid.len() as u8,
            reason: RejectReason::TIMEOUT,
            info,
            private_data: [0; REJ_PRIVATE],
        };
        self.send(step, Mad::new(self.transaction, rej));
    }

    /// The consumer wants no more of it, whatever its state. A connection is broken off: the peer is told by a REJ
    /// that it was no orderly end, and by a DREQ that is repeated until it is answered.
    pub(super) fn close(&mut self, step: &mut Step<'_>) {
        self.owned = false;
        let abort = self.rej(
            RejectedMessage::Other,
            RejectReason::CONSUMER_DEFINED,
            [0; REJ_PRIVATE],
        );
        match self.state {
            State::ReqSent => {
                self.send_timeout(step);
                self.finish(step, false);
            }
            State::ReqReceived | State::RepReceived => {
                // The state is one of those in which a consumer can refuse.
                let _ = self.refuse(step, [0; REJ_PRIVATE]);
            }
            State::RepSent => {
                // The peer may hold the connection for made, or be about to: what it says next will tell.
                self.stop(step);
                self.send(step, abort);
            }
            State::Established => {
                self.stop(step);
                self.send(step, abort);
                self.send_dreq(step);
            }
            State::DreqReceived => {
                self.answer_dreq(step);
                self.stop(step);
                self.time_wait(step);
            }
            State::DreqSent | State::TimeWait | State::Rejected | State::Over { .. } => {}
        }
    }
}
