//! Two sides and what is under way between them, delivered by hand.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tandem_model::cm::machine::{
    Accept, Action, CmConfig, Connect, Event, Manager, Path, QpAttributes, ReadLimits, Requested,
    State,
};
use tandem_model::cm::{CommId, Guid, Mad, Message, TimeCode};
use tandem_model::wire::Qpn;

/// Port of the listener.
pub const PORT: u16 = 7174;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Connects.
    A,
    /// Listens.
    B,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Its address.
    pub fn ip(self) -> IpAddr {
        match self {
            Self::A => [192, 0, 2, 1].into(),
            Self::B => [192, 0, 2, 2].into(),
        }
    }

    /// Its queue pair.
    pub fn qpn(self) -> Qpn {
        match self {
            Self::A => Qpn::new(0xA00),
            Self::B => Qpn::new(0xB00),
        }
    }
}

/// A side's manager, and what came out of it.
pub struct End {
    pub manager: Manager,
    pub events: Vec<(CommId, Event)>,
    pub ready: Vec<QpAttributes>,
    pub stops: usize,
}

/// Both sides, a clock, and datagrams that nobody has delivered yet.
pub struct Pair {
    pub a: End,
    pub b: End,
    pub now: Duration,
    pub wire: Vec<(Side, Mad)>,
}

/// Packets live 66 µs at most, answers take 262 µs at most: what is not answered is sent again after 393 µs.
pub fn config(side: Side) -> CmConfig {
    CmConfig {
        packet_life: TimeCode::new(4),
        response_timeout: TimeCode::new(6),
        service_timeout: TimeCode::new(8),
        ack_delay: TimeCode::new(3),
        ..CmConfig::new(Guid(match side {
            Side::A => 0xA,
            Side::B => 0xB,
        }))
    }
}

/// Address and port of the caller.
pub fn caller() -> SocketAddr {
    SocketAddr::new(Side::A.ip(), 50000)
}

/// Address and port of the listener.
pub fn listener() -> SocketAddr {
    SocketAddr::new(Side::B.ip(), PORT)
}

/// A request without private data.
pub fn request() -> Connect<'static> {
    Connect {
        local: caller(),
        remote: listener(),
        qpn: Side::A.qpn(),
        limits: ReadLimits {
            inbound: 16,
            outbound: 16,
        },
        path_mtu: 3,
        retry_count: 7,
        rnr_retry_count: 6,
        traffic_class: 0,
        hop_limit: 64,
        private_data: &[],
    }
}

/// An accept without private data.
pub fn acceptance() -> Accept<'static> {
    Accept {
        qpn: Side::B.qpn(),
        limits: ReadLimits {
            inbound: 16,
            outbound: 16,
        },
        rnr_retry_count: 6,
        private_data: &[],
    }
}

impl Pair {
    /// Two sides, and a listener at B.
    pub fn new() -> Self {
        Self::with(config(Side::A), config(Side::B))
    }

    /// The same, with a request of A that has come to B; their ids of it.
    pub fn asked() -> (Self, CommId, CommId) {
        let mut pair = Self::new();
        let a = pair.connect(&request());
        pair.deliver();
        let (b, _) = pair.requested();
        (pair, a, b)
    }

    /// Two sides of these configurations, and a listener at B.
    pub fn with(a: CmConfig, b: CmConfig) -> Self {
        let end = |config, seed| End {
            manager: Manager::new(config, seed),
            events: Vec::new(),
            ready: Vec::new(),
            stops: 0,
        };
        let mut pair = Self {
            a: end(a, 1),
            b: end(b, 2),
            now: Duration::from_secs(1),
            wire: Vec::new(),
        };
        pair.b.manager.listen(listener());
        pair
    }

    /// A side.
    pub fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }

    /// Takes what a side wants done.
    pub fn collect(&mut self, side: Side) {
        let expected = Path {
            local: side.ip(),
            remote: side.other().ip(),
        };
        let actions = self.end(side).manager.take_actions();
        for action in actions {
            match action {
                Action::Send { path, mad } => {
                    assert_eq!(path, expected);
                    self.wire.push((side, mad));
                }
                Action::Ready { attributes, .. } => self.end(side).ready.push(attributes),
                Action::Stop { .. } => self.end(side).stops += 1,
                Action::Event { id, event } => self.end(side).events.push((id, event)),
            }
        }
    }

    /// Gives a datagram of a side to the other one.
    pub fn give(&mut self, from: Side, mad: &Mad) {
        let now = self.now;
        let path = Path {
            local: from.other().ip(),
            remote: from.ip(),
        };
        self.end(from.other()).manager.receive(now, path, mad);
        self.collect(from.other());
    }

    /// Delivers all that is under way, and what follows from it; returns what was delivered.
    pub fn deliver(&mut self) -> Vec<Mad> {
        let mut delivered = Vec::new();
        while !self.wire.is_empty() {
            let (from, mad) = self.wire.remove(0);
            self.give(from, &mad);
            delivered.push(mad);
            assert!(delivered.len() < 100, "no end of it");
        }
        delivered
    }

    /// Loses all that is under way; returns it.
    pub fn lose(&mut self) -> Vec<Mad> {
        self.wire.drain(..).map(|(_, mad)| mad).collect()
    }

    /// Lets time pass to the next deadline of either side.
    pub fn wait(&mut self) {
        let deadlines = [
            self.a.manager.next_deadline(),
            self.b.manager.next_deadline(),
        ];
        let next = deadlines.into_iter().flatten().min().unwrap();
        self.now = self.now.max(next);
        self.poll();
    }

    /// Lets the sides notice what time it is.
    pub fn poll(&mut self) {
        for side in [Side::A, Side::B] {
            let now = self.now;
            self.end(side).manager.poll(now);
            self.collect(side);
        }
    }

    /// A connects.
    pub fn connect(&mut self, connect: &Connect<'_>) -> CommId {
        let id = self.a.manager.connect(self.now, connect).unwrap();
        self.collect(Side::A);
        id
    }

    /// The latest request that B's consumer was told of.
    pub fn requested(&self) -> (CommId, Requested) {
        match self.b.events.last() {
            Some((id, Event::Requested(requested))) => (*id, *requested),
            other => panic!("{other:?} instead of a request"),
        }
    }

    /// B accepts.
    pub fn accept(&mut self, id: CommId, accept: &Accept<'_>) {
        self.b.manager.accept(self.now, id, accept).unwrap();
        self.collect(Side::B);
    }

    /// A takes the reply.
    pub fn complete(&mut self, id: CommId) {
        self.a.manager.complete(self.now, id).unwrap();
        self.collect(Side::A);
    }

    /// Makes a connection without any loss; the ids at A and at B.
    pub fn connected(&mut self) -> (CommId, CommId) {
        let a = self.connect(&request());
        self.deliver();
        let (b, _) = self.requested();
        self.accept(b, &acceptance());
        self.deliver();
        self.complete(a);
        self.deliver();
        assert_eq!(self.states(a, b), [Some(State::Established); 2]);
        self.a.events.clear();
        self.b.events.clear();
        (a, b)
    }

    /// A side disconnects.
    pub fn disconnect(&mut self, side: Side, id: CommId) {
        let now = self.now;
        self.end(side).manager.disconnect(now, id).unwrap();
        self.collect(side);
    }

    /// A side closes.
    pub fn close(&mut self, side: Side, id: CommId) {
        let now = self.now;
        self.end(side).manager.close(now, id);
        self.collect(side);
    }

    /// Where both conversations are.
    pub fn states(&self, a: CommId, b: CommId) -> [Option<State>; 2] {
        [self.a.manager.state(a), self.b.manager.state(b)]
    }
}

impl End {
    /// The events, without the conversations' ids.
    pub fn told(&self) -> Vec<Event> {
        self.events.iter().map(|(_, event)| *event).collect()
    }
}

/// Names of messages, in order.
pub fn names(mads: &[Mad]) -> Vec<&'static str> {
    mads.iter().map(|mad| mad.message.name()).collect()
}

/// The only datagram, which is a reject.
pub fn only_rej(mads: &[Mad]) -> tandem_model::cm::Rej {
    match mads {
        [
            Mad {
                message: Message::Rej(rej),
                ..
            },
        ] => *rej,
        other => panic!("{other:?} instead of a reject"),
    }
}
