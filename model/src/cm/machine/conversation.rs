//! One conversation: its state, its timer, and the messages of it.

use std::time::Duration;

use super::action::{Action, Event, Path, Refusal};
use super::config::CmConfig;
use super::terms::QpAttributes;
use crate::cm::{
    CommId, Guid, Mad, Message, Mra, REJ_PRIVATE, ReceivedMessage, Rej, RejectReason,
    RejectedMessage, Req, Rtu,
};
use crate::wire::Qpn;

/// Where a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Active side: the request is sent.
    ReqSent,
    /// Active side: the reply came, and the consumer has not said yet whether it takes it.
    RepReceived,
    /// Passive side: a request came, and the consumer has not said yet whether it accepts.
    ReqReceived,
    /// Passive side: the reply is sent.
    RepSent,
    /// Connected.
    Established,
    /// This side disconnects.
    DreqSent,
    /// The peer disconnects, and the consumer has not done so yet.
    DreqReceived,
    /// Disconnected; late messages are still answered.
    TimeWait,
    /// This side rejected; what comes again is rejected again.
    Rejected,
    /// Ended otherwise. The peer gave up, if anybody did.
    Over {
        /// Whether the peer gave up before the consumer had its say.
        gave_up: bool,
    },
}

/// The other side, once it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) comm_id: CommId,
    pub(super) guid: Guid,
    pub(super) qpn: Qpn,
}

/// A message that is sent until it is answered.
#[derive(Clone, Copy, Debug)]
struct Resend {
    mad: Mad,
    at: Duration,
    interval: Duration,
    left: u8,
}

/// What a step has besides the conversation.
pub(super) struct Step<'a> {
    pub(super) now: Duration,
    pub(super) config: &'a CmConfig,
    pub(super) out: &'a mut Vec<Action>,
}

/// A conversation.
pub(super) struct Conversation {
    pub(super) id: CommId,
    pub(super) path: Path,
    /// The request that began it, sent or received, and its transaction id.
    pub(super) req: Req,
    pub(super) transaction: u64,
    pub(super) peer: Option<Peer>,
    /// This side's queue pair; the passive side has none until it accepts.
    pub(super) qpn: Option<Qpn>,
    pub(super) attributes: Option<QpAttributes>,
    pub(super) state: State,
    /// Whether a consumer still holds it.
    pub(super) owned: bool,
    /// Whether the consumer disconnects and waits for the end.
    pub(super) ending: bool,
    /// What a message that comes again is answered with.
    pub(super) answer: Option<Mad>,
    /// Transaction id of the peer's disconnect request.
    pub(super) peer_dreq: u64,
    resend: Option<Resend>,
    expiry: Option<Duration>,
}

impl Conversation {
    pub(super) fn new(id: CommId, path: Path, req: Req, transaction: u64, state: State) -> Self {
        Self {
            id,
            path,
            req,
            transaction,
            peer: None,
            qpn: None,
            attributes: None,
            state,
            owned: true,
            ending: false,
            answer: None,
            peer_dreq: 0,
            resend: None,
            expiry: None,
        }
    }

    /// Whether a message that names these ids belongs here.
    pub(super) fn is_with(&self, path: Path, remote: Option<CommId>) -> bool {
        let known = self.peer.map(|peer| peer.comm_id);
        self.path == path && (known.is_none() || remote.is_none() || known == remote)
    }

    /// When it wants to be woken.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.resend.map(|resend| resend.at).or(self.expiry)
    }

    /// Whether it has ended, and no connection or disconnect is to be expected of it.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Over { .. })
    }

    /// Whether nobody needs it any more.
    pub(super) fn is_forgotten(&self) -> bool {
        !self.owned && self.is_over() && self.deadline().is_none()
    }

    /// Sends a datagram of this conversation.
    pub(super) fn send(&self, step: &mut Step<'_>, mad: Mad) {
        step.out.push(Action::Send {
            path: self.path,
            mad,
        });
    }

    /// Sends a message, again and again until [`Conversation::answered`].
    pub(super) fn send_until_answered(
        &mut self,
        step: &mut Step<'_>,
        mad: Mad,
        interval: Duration,
        retries: u8,
    ) {
        self.expiry = None;
        self.resend = Some(Resend {
            mad,
            at: step.now + interval,
            interval,
            left: retries,
        });
        self.send(step, mad);
    }

    /// The peer answered.
    pub(super) fn answered(&mut self) {
        self.resend = None;
    }

    /// The message that waits for an answer, once more and out of turn.
    pub(super) fn send_again(&self, step: &mut Step<'_>) {
        if let Some(resend) = &self.resend {
            self.send(step, resend.mad);
        }
    }

    /// The peer wants patience.
    pub(super) fn receive_mra(&mut self, step: &Step<'_>, mra: &Mra) {
        let message = match self.state {
            State::ReqSent => ReceivedMessage::Req,
            State::RepSent => ReceivedMessage::Rep,
            _ => return,
        };
        if mra.message == message
            && let Some(resend) = &mut self.resend
        {
            let patience = mra.service_timeout.duration() + resend.interval;
            resend.at = resend.at.max(step.now + patience);
        }
    }

    /// Asks the peer for patience with this side's consumer.
    pub(super) fn send_mra(&self, step: &mut Step<'_>, message: ReceivedMessage) {
        let Some(peer) = self.peer else { return };
        let mra = Mra {
            local_comm_id: self.id,
            remote_comm_id: peer.comm_id,
            message,
            service_timeout: step.config.service_timeout,
            private_data: [0; 222],
        };
        self.send(step, Mad::new(self.transaction, mra));
    }

    /// The word that the reply came.
    pub(super) fn rtu(&self, peer: Peer) -> Mad {
        let rtu = Rtu {
            local_comm_id: self.id,
            remote_comm_id: peer.comm_id,
            private_data: [0; 224],
        };
        Mad::new(self.transaction, rtu)
    }

    /// A reject in this conversation.
    pub(super) fn rej(
        &self,
        message: RejectedMessage,
        reason: RejectReason,
        private_data: [u8; REJ_PRIVATE],
    ) -> Mad {
        let rej = Rej {
            local_comm_id: Some(self.id),
            remote_comm_id: self.peer.map(|peer| peer.comm_id),
            message,
            info_length: 0,
            reason,
            info: [0; 72],
            private_data,
        };
        Mad::new(self.transaction, rej)
    }

    /// Tells the consumer, if there still is one.
    pub(super) fn tell(&self, step: &mut Step<'_>, event: Event) {
        if self.owned {
            step.out.push(Action::Event { id: self.id, event });
        }
    }

    /// Cancels what is posted on the queue pair.
    pub(super) fn stop(&self, step: &mut Step<'_>) {
        step.out.push(Action::Stop { id: self.id });
    }

    /// Goes on to a state in which no answer is waited for, and that ends after a while.
    pub(super) fn linger(&mut self, step: &Step<'_>, state: State, time: Duration) {
        self.state = state;
        self.resend = None;
        self.expiry = Some(step.now + time);
    }

    /// Ends. Messages that are still under way find it for a while.
    pub(super) fn finish(&mut self, step: &Step<'_>, gave_up: bool) {
        let life = 2 * step.config.packet_life.duration();
        self.linger(step, State::Over { gave_up }, life);
    }

    /// Rejects, and goes on doing so while the peer may ask again.
    pub(super) fn reject(&mut self, step: &mut Step<'_>, rej: Mad) {
        self.answer = Some(rej);
        self.send(step, rej);
        let patience = step.config.interval(self.req.local_response_timeout)
            * (u32::from(self.req.max_cm_retries) + 1);
        self.linger(step, State::Rejected, patience);
    }

    /// What the consumer is told of a call that comes at the wrong time.
    pub(super) fn refusal(&self) -> Refusal {
        match self.state {
            State::Over { gave_up: true } => Refusal::GaveUp,
            _ => Refusal::State,
        }
    }

    /// Time has passed.
    pub(super) fn wake(&mut self, step: &mut Step<'_>) {
        if let Some(resend) = &mut self.resend {
            if resend.at > step.now {
                return;
            }
            if resend.left > 0 {
                resend.left -= 1;
                resend.at = step.now + resend.interval;
                let mad = resend.mad;
                self.send(step, mad);
            } else {
                self.give_up(step);
            }
        } else if self.expiry.is_some_and(|expiry| expiry <= step.now) {
            self.expiry = None;
            if !self.is_over() {
                self.state = State::Over { gave_up: false };
            }
        }
    }

    /// A message that belongs here.
    pub(super) fn receive(&mut self, step: &mut Step<'_>, mad: &Mad) {
        match &mad.message {
            Message::Req(_) => self.receive_req_again(step),
            Message::Rep(rep) => self.receive_rep(step, rep),
            Message::Rtu(_) => self.receive_rtu(step),
            Message::Rej(rej) => self.receive_rej(step, rej),
            Message::Mra(mra) => self.receive_mra(step, mra),
            Message::Dreq(dreq) => self.receive_dreq(step, dreq, mad.transaction_id),
            Message::Drep(_) => self.receive_drep(step),
        }
    }
}
