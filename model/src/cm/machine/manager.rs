//! All conversations of an adapter, and to which of them a datagram belongs.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::action::{Action, Event, Path, Refusal, Requested};
use super::config::CmConfig;
use super::conversation::{Conversation, Peer, State, Step};
use super::ending::drep;
use super::terms::{Accept, Connect, ReadLimits};
use crate::cm::{
    CommId, Guid, IpCm, Mad, Message, REJ_PRIVATE, Rej, RejectReason, RejectedMessage, Req,
    TransportService, gid,
};
use crate::wire::Psn;

/// The conversations of an adapter.
///
/// Times are since any moment that all calls agree on, and do not go back.
pub struct Manager {
    config: CmConfig,
    random: ChaCha8Rng,
    conversations: BTreeMap<CommId, Conversation>,
    listeners: BTreeSet<SocketAddr>,
    actions: Vec<Action>,
}

impl Manager {
    /// A manager without conversations. The seed makes its ids and PSNs, which should differ between adapters and
    /// between lives of an adapter.
    pub fn new(config: CmConfig, seed: u64) -> Self {
        Self {
            config,
            random: ChaCha8Rng::seed_from_u64(seed),
            conversations: BTreeMap::new(),
            listeners: BTreeSet::new(),
            actions: Vec::new(),
        }
    }

    /// How it was made.
    pub fn config(&self) -> &CmConfig {
        &self.config
    }

    /// Takes what is to be done, in order.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// When [`Manager::poll`] should next be called, if nothing else happens.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.conversations
            .values()
            .filter_map(Conversation::deadline)
            .min()
    }

    /// Where a conversation is; `None` if it is forgotten.
    pub fn state(&self, id: CommId) -> Option<State> {
        self.conversations.get(&id).map(|known| known.state)
    }

    /// Requests to this address and port reach the consumer from now on.
    pub fn listen(&mut self, at: SocketAddr) {
        self.listeners.insert(at);
    }

    /// Requests to this address and port are rejected from now on.
    pub fn stop_listening(&mut self, at: SocketAddr) {
        self.listeners.remove(&at);
    }

    /// Begins a conversation. [`Event::Replied`] or [`Event::Failed`] will follow.
    pub fn connect(&mut self, now: Duration, connect: &Connect<'_>) -> Result<CommId, Refusal> {
        let private_data = padded(connect.private_data)?;
        let (id, psn) = (self.new_id(), self.new_psn());
        let mut step = Step {
            now,
            config: &self.config,
            out: &mut self.actions,
        };
        let conversation = Conversation::connect(&mut step, id, psn, connect, private_data);
        self.conversations.insert(id, conversation);
        Ok(id)
    }

    /// Active side: takes the peer's reply. The connection is there when this returns.
    pub fn complete(&mut self, now: Duration, id: CommId) -> Result<(), Refusal> {
        self.with(now, id, Conversation::complete)
    }

    /// Passive side: accepts a request. [`Event::Established`] or [`Event::Failed`] will follow.
    pub fn accept(
        &mut self,
        now: Duration,
        id: CommId,
        accept: &Accept<'_>,
    ) -> Result<(), Refusal> {
        let private_data = padded(accept.private_data)?;
        let psn = self.new_psn();
        self.with(now, id, |conversation, step| {
            conversation.accept(step, psn, accept, private_data)
        })
    }

    /// Rejects a request, or a reply.
    pub fn reject(
        &mut self,
        now: Duration,
        id: CommId,
        private_data: &[u8],
    ) -> Result<(), Refusal> {
        let private_data = padded(private_data)?;
        self.with(now, id, |conversation, step| {
            conversation.refuse(step, private_data)
        })
    }

    /// Disconnects. [`Event::Ended`] will follow.
    pub fn disconnect(&mut self, now: Duration, id: CommId) -> Result<(), Refusal> {
        self.with(now, id, Conversation::disconnect)
    }

    /// Ends a conversation in whatever state it is. No event will follow.
    pub fn close(&mut self, now: Duration, id: CommId) {
        // One that is not known is closed.
        let _ = self.with(now, id, |conversation, step| {
            conversation.close(step);
            Ok(())
        });
    }

    /// Lets time pass: what was not answered is sent again, or given up.
    pub fn poll(&mut self, now: Duration) {
        let mut step = Step {
            now,
            config: &self.config,
            out: &mut self.actions,
        };
        for conversation in self.conversations.values_mut() {
            conversation.wake(&mut step);
        }
        self.forget();
    }

    /// A datagram came from `path.remote` to `path.local`.
    pub fn receive(&mut self, now: Duration, path: Path, mad: &Mad) {
        match self.find(path, &mad.message) {
            Some(id) => {
                // It was found just now.
                let _ = self.with(now, id, |conversation, step| {
                    conversation.receive(step, mad);
                    Ok(())
                });
            }
            None => self.receive_unknown(now, path, mad),
        }
    }

    /// Which conversation a message belongs to.
    fn find(&self, path: Path, message: &Message) -> Option<CommId> {
        let by_ids = |own: CommId, remote: Option<CommId>| {
            let known = self.conversations.get(&own)?;
            known.is_with(path, remote).then_some(own)
        };
        // A peer that waits for a conversation which is over is told so.
        let alive = |own: &CommId| {
            self.conversations
                .get(own)
                .is_some_and(|known| !known.is_over())
        };
        match message {
            Message::Req(m) => self.find_by_peer(path, m.local_comm_id, m.local_ca_guid),
            Message::Rep(m) => by_ids(m.remote_comm_id, Some(m.local_comm_id)).filter(alive),
            Message::Rtu(m) => by_ids(m.remote_comm_id, Some(m.local_comm_id)).filter(alive),
            Message::Mra(m) => by_ids(m.remote_comm_id, Some(m.local_comm_id)),
            Message::Dreq(m) => by_ids(m.remote_comm_id, Some(m.local_comm_id)),
            Message::Drep(m) => by_ids(m.remote_comm_id, Some(m.local_comm_id)),
            Message::Rej(m) => match (m.remote_comm_id, m.local_comm_id) {
                (Some(own), remote) => by_ids(own, remote),
                (None, Some(remote)) if m.reason == RejectReason::TIMEOUT => {
                    let guid = m.info.first_chunk().copied().unwrap_or_default();
                    self.find_by_peer(path, remote, Guid(u64::from_be_bytes(guid)))
                }
                (None, _) => None,
            },
        }
    }

    /// The passive conversation that a request began.
    fn find_by_peer(&self, path: Path, comm_id: CommId, guid: Guid) -> Option<CommId> {
        self.conversations
            .values()
            .find(|known| {
                known.path == path
                    && known.req.local_comm_id == comm_id
                    && known
                        .peer
                        .is_some_and(|peer| (peer.comm_id, peer.guid) == (comm_id, guid))
            })
            .map(|known| known.id)
    }

    /// A message of no conversation: a new request, or the end of something forgotten.
    fn receive_unknown(&mut self, now: Duration, path: Path, mad: &Mad) {
        let answer = match &mad.message {
            Message::Req(req) => match self.receive_req(now, path, req, mad.transaction_id) {
                Ok(()) => return,
                Err(ground) => Mad::new(mad.transaction_id, rejection(req, &ground)),
            },
            Message::Rep(m) => nobody(mad, RejectedMessage::Rep, m.local_comm_id, m.remote_comm_id),
            Message::Rtu(m) => nobody(
                mad,
                RejectedMessage::Other,
                m.local_comm_id,
                m.remote_comm_id,
            ),
            Message::Dreq(dreq) => drep(dreq, mad.transaction_id),
            Message::Rej(_) | Message::Mra(_) | Message::Drep(_) => return,
        };
        self.actions.push(Action::Send { path, mad: answer });
    }

    /// A new request, which may come to nothing.
    fn receive_req(
        &mut self,
        now: Duration,
        path: Path,
        req: &Req,
        transaction: u64,
    ) -> Result<(), Ground> {
        let peer = Peer {
            comm_id: req.local_comm_id,
            guid: req.local_ca_guid,
            qpn: req.local_qpn,
        };
        if self.is_stale(now, peer) {
            return Err(RejectReason::STALE_CONNECTION.into());
        }
        if req.transport_service != TransportService::Rc {
            return Err(RejectReason::INVALID_TRANSPORT.into());
        }
        if req.primary.remote_gid != gid(path.local) || req.primary.local_gid != gid(path.remote) {
            return Err(Ground {
                reason: RejectReason::INVALID_GID,
                about: gid(path.local).octets().into(),
            });
        }
        let local = req
            .service_id
            .tcp_port()
            .map(|port| SocketAddr::new(path.local, port))
            .filter(|local| self.listeners.contains(local))
            .ok_or(RejectReason::INVALID_SERVICE_ID)?;
        let ip = IpCm::parse(&req.private_data)
            .ok()
            .filter(|ip| ip.destination == path.local && ip.source.ip() == path.remote)
            .ok_or(RejectReason::CONSUMER_DEFINED)?;
        if !(1..=self.config.max_mtu).contains(&req.path_mtu) {
            return Err(Ground {
                reason: RejectReason::INVALID_MTU,
                about: [self.config.max_mtu << 4].into(),
            });
        }
        if self.waiting_at(local) >= self.config.backlog {
            return Err(RejectReason::NO_RESOURCES.into());
        }
        let id = self.new_id();
        let mut conversation = Conversation::new(id, path, *req, transaction, State::ReqReceived);
        conversation.peer = Some(peer);
        let event = Event::Requested(Requested {
            local,
            remote: ip.source,
            limits: ReadLimits::offered_by_req(req),
            private_data: ip.consumer_data,
        });
        self.conversations.insert(id, conversation);
        self.actions.push(Action::Event { id, event });
        Ok(())
    }

    /// Whether the peer's queue pair is known from another conversation. The peer has forgotten that one, which ends.
    fn is_stale(&mut self, now: Duration, peer: Peer) -> bool {
        let older = self.conversations.values().find(|known| {
            let over = known.is_over() || known.state == State::Rejected;
            !over
                && known
                    .peer
                    .is_some_and(|known| (known.guid, known.qpn) == (peer.guid, peer.qpn))
        });
        let Some(older) = older.map(|older| older.id) else {
            return false;
        };
        // It was found just now.
        let _ = self.with(now, older, |conversation, step| {
            conversation.lose(step);
            Ok(())
        });
        true
    }

    /// Requests at a listener that its consumer has not answered yet.
    fn waiting_at(&self, local: SocketAddr) -> usize {
        self.conversations
            .values()
            .filter(|known| {
                known.state == State::ReqReceived
                    && known.path.local == local.ip()
                    && known.req.service_id.tcp_port() == Some(local.port())
            })
            .count()
    }

    fn with<T>(
        &mut self,
        now: Duration,
        id: CommId,
        call: impl FnOnce(&mut Conversation, &mut Step<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let conversation = self.conversations.get_mut(&id).ok_or(Refusal::State)?;
        let mut step = Step {
            now,
            config: &self.config,
            out: &mut self.actions,
        };
        let outcome = call(conversation, &mut step);
        self.forget();
        outcome
    }

    fn forget(&mut self) {
        self.conversations.retain(|_, known| !known.is_forgotten());
    }

    /// An id that no conversation has.
    fn new_id(&mut self) -> CommId {
        loop {
            if let Some(id) = CommId::new(self.random.next_u32())
                && !self.conversations.contains_key(&id)
            {
                return id;
            }
        }
    }

    fn new_psn(&mut self) -> Psn {
        Psn::new(self.random.next_u32())
    }
}

/// Private data, filled with zeros.
fn padded<const N: usize>(data: &[u8]) -> Result<[u8; N], Refusal> {
    let mut all = [0; N];
    let place = all.get_mut(..data.len()).ok_or(Refusal::PrivateData {
        length: data.len(),
        most: N,
    })?;
    place.copy_from_slice(data);
    Ok(all)
}

/// Why a request comes to nothing, and what the peer is told about it.
struct Ground {
    reason: RejectReason,
    about: Vec<u8>,
}

impl From<RejectReason> for Ground {
    fn from(reason: RejectReason) -> Self {
        Self {
            reason,
            about: Vec::new(),
        }
    }
}

/// A reject of a request by a side that has no id for it.
fn rejection(req: &Req, ground: &Ground) -> Rej {
    let Ground { reason, about } = ground;
    let mut info = [0; 72];
    info.iter_mut()
        .zip(about)
        .for_each(|(to, from)| *to = *from);
    Rej {
        local_comm_id: None,
        remote_comm_id: Some(req.local_comm_id),
        message: RejectedMessage::Req,
        info_length: about.len().min(info.len()) as u8,
        reason: *reason,
        info,
        private_data: [0; REJ_PRIVATE],
    }
}

/// Tells the sender of a message that nobody here is called by the id that it names.
fn nobody(mad: &Mad, message: RejectedMessage, sender: CommId, receiver: CommId) -> Mad {
    let rej = Rej {
        local_comm_id: Some(receiver),
        remote_comm_id: Some(sender),
        message,
        info_length: 0,
        reason: RejectReason::INVALID_COMM_ID,
        info: [0; 72],
        private_data: [0; REJ_PRIVATE],
    };
    Mad::new(mad.transaction_id, rej)
}
