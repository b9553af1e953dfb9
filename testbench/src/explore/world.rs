//! What a world consists of.

pub use super::key::{Key, Region};

/// One of the two nodes; as a direction of the network, the one that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Node a.
    A,
    /// Node b.
    B,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The other one.
    #[must_use]
    pub const fn peer(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// NdkSend.
    Send,
    /// NdkSendAndInvalidate, of a token of the peer.
    SendInvalidate(Key),
    /// NdkWrite, through a token of the peer, to the next free bytes of its region.
    Write(Key),
    /// NdkRead, through a token of the peer, of the first bytes of its region.
    Read(Key),
    /// NdkBind of a window of its own node.
    Bind(u8),
    /// NdkFastRegister of a region of its own node, which makes this token.
    FastRegister(Key),
    /// NdkInvalidate of a token of its own node.
    Invalidate(Key),
}

/// A request that is posted before the exploration begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// What it does.
    pub operation: Operation,
    /// Bytes; a packet has at most [`MTU`] of them.
    pub length: u32,
    /// Starts after all earlier reads have finished.
    pub fence: bool,
    /// Makes no completion when it succeeds.
    pub silent: bool,
    /// A read into a region of its own node, whose token it invalidates (RDMA_READ_LOCAL_INVALIDATE).
    pub sink: Option<Region>,
    /// A send or write of the first bytes of a region of its own node.
    pub from: Option<Key>,
    /// The driver posts it as soon as so many receives of its lane have completed on its node.
    pub after: u8,
}

/// Bytes of a full packet.
pub const MTU: u32 = 256;

impl Request {
    /// A request without flags.
    pub const fn new(operation: Operation, length: u32) -> Self {
        Self {
            operation,
            length,
            fence: false,
            silent: false,
            sink: None,
            from: None,
            after: 0,
        }
    }

    /// A send.
    pub const fn send(length: u32) -> Self {
        Self::new(Operation::Send, length)
    }

    /// A send that invalidates the token of a region.
    pub const fn send_invalidate(region: Region, length: u32) -> Self {
        Self::new(Operation::SendInvalidate(Key::Region(region)), length)
    }

    /// A write.
    pub const fn write(region: Region, length: u32) -> Self {
        Self::new(Operation::Write(Key::Region(region)), length)
    }

    /// A read.
    pub const fn read(region: Region, length: u32) -> Self {
        Self::new(Operation::Read(Key::Region(region)), length)
    }

    /// A bind of a window.
    pub const fn bind(window: u8) -> Self {
        Self::new(Operation::Bind(window), 0)
    }

    /// A fast registration that makes a token.
    pub const fn register(key: Key) -> Self {
        Self::new(Operation::FastRegister(key), 0)
    }

    /// An invalidation of a token of the own node.
    pub const fn invalidate(key: Key) -> Self {
        Self::new(Operation::Invalidate(key), 0)
    }

    /// The same write, read or invalidation by a send, with another token of the peer.
    #[must_use]
    pub const fn through(mut self, key: Key) -> Self {
        self.operation = match self.operation {
            Operation::SendInvalidate(_) => Operation::SendInvalidate(key),
            Operation::Write(_) => Operation::Write(key),
            Operation::Read(_) => Operation::Read(key),
            other => other,
        };
        self
    }

    /// The same send or write, of bytes that lie in a region of its own node.
    #[must_use]
    pub const fn from(mut self, key: Key) -> Self {
        self.from = Some(key);
        self
    }

    /// The same, posted as soon as so many receives of its lane have completed.
    #[must_use]
    pub const fn after(mut self, receives: u8) -> Self {
        self.after = receives;
        self
    }

    /// The same, fenced.
    #[must_use]
    pub const fn fenced(mut self) -> Self {
        self.fence = true;
        self
    }

    /// The same, silent.
    #[must_use]
    pub const fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// The same read, into a region of its own node, whose token it invalidates.
    #[must_use]
    pub const fn into_region(mut self, region: Region) -> Self {
        self.sink = Some(region);
        self
    }

    /// PSNs that it takes: packets sent, or responses of a read.
    pub fn packets(&self) -> u32 {
        match self.is_local() {
            true => 0,
            false => self.length.div_ceil(MTU).max(1),
        }
    }

    /// Whether it is done without the peer.
    pub fn is_local(&self) -> bool {
        matches!(
            self.operation,
            Operation::Bind(_) | Operation::FastRegister(_) | Operation::Invalidate(_)
        )
    }

    /// The token of the peer through which it writes or reads.
    pub fn remote_key(&self) -> Option<Key> {
        match self.operation {
            Operation::Write(key) | Operation::Read(key) => Some(key),
            _ => None,
        }
    }

    /// The token of its own node of whose end its completion tells.
    pub fn ends(&self) -> Option<Key> {
        match self.operation {
            Operation::Invalidate(key) => Some(key),
            _ => self.sink.map(Key::Region),
        }
    }

    /// Whether it is a read.
    pub fn is_read(&self) -> bool {
        matches!(self.operation, Operation::Read(_))
    }

    /// Whether it uses up a receive.
    pub fn is_send(&self) -> bool {
        matches!(
            self.operation,
            Operation::Send | Operation::SendInvalidate(_)
        )
    }
}

/// A connection: a queue pair on both nodes, and what is posted to their send queues. The receives for the
/// sends are posted too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Requests of node a.
    pub a: &'static [Request],
    /// Requests of node b.
    pub b: &'static [Request],
}

impl Lane {
    /// Requests of a node.
    pub const fn requests(&self, side: Side) -> &'static [Request] {
        match side {
            Side::A => self.a,
            Side::B => self.b,
        }
    }
}

/// A memory window: bytes of a region, through a token of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The region.
    pub region: Region,
    /// Its first byte, and the one after its last.
    pub bytes: (u32, u32),
    /// The peer may read.
    pub read: bool,
    /// The peer may write.
    pub write: bool,
}

/// The shared receive queue of node b, from which all its queue pairs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Receives that are posted.
    pub receives: u8,
    /// The driver is to be told when fewer are left.
    pub limit: u8,
    /// How often it arms the limit: at first, and whenever it has been told.
    pub arms: u8,
}

/// What the network may do to frames, `count` times in all and in both directions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// How often.
    pub count: u8,
    /// The oldest frame on its way may be lost.
    pub lose: bool,
    /// A frame on its way may come once more, behind all that are on their way then.
    pub duplicate: bool,
    /// The oldest two frames on their way may change places.
    pub swap: bool,
}

impl Faults {
    /// None.
    pub const NONE: Self = Self::all(0);

    /// Any kind, so many times.
    pub const fn all(count: u8) -> Self {
        Self {
            count,
            lose: true,
            duplicate: true,
            swap: true,
        }
    }

    /// Losses only.
    pub const fn losses(count: u8) -> Self {
        Self {
            duplicate: false,
            swap: false,
            ..Self::all(count)
        }
    }
}

/// How the requests of a world may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Each succeeds: the retries are enough for what the network does.
    Success,
    /// Each completes.
    Any,
}

/// A small world: two nodes, their requests, and what bounds what can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is for, in a line.
    pub doc: &'static str,
    /// Connections.
    pub lanes: &'static [Lane],
    /// Windows of either node, by number; none is bound at first.
    pub windows: &'static [Window],
    /// If node b has a shared receive queue.
    pub shared: Option<Shared>,
    /// Whether memory answers a read of payload in a step of its own; else in that in which it is asked.
    pub late_gathers: bool,
    /// What the network may do.
    pub faults: Faults,
    /// How often a timer may end although something is still under way.
    pub hasty_timers: u8,
    /// Whether receives are handed to the engine one by one, at any time; else all before.
    pub late_receives: bool,
    /// Go-backs without progress before a request fails.
    pub retry_cnt: u8,
    /// Waits for a receiver without progress before a request fails.
    pub rnr_retry: u8,
    /// Reads outstanding on a queue pair.
    pub max_ord: u8,
    /// Frames on their way in one direction; then the network takes no more.
    pub window: usize,
    /// How requests may end.
    pub ends: Ends,
    /// Both nodes do the same: states that differ only in which node is which count as one.
    pub symmetric: bool,
}

impl World {
    /// A world without faults; the base of all others.
    pub const PLAIN: Self = Self {
        name: "",
        doc: "",
        lanes: &[],
        windows: &[],
        shared: None,
        late_gathers: false,
        faults: Faults::NONE,
        hasty_timers: 0,
        late_receives: false,
        retry_cnt: 3,
        rnr_retry: 1,
        max_ord: 2,
        window: 4,
        ends: Ends::Success,
        symmetric: false,
    };

    /// Whether the queue pairs of a node take their receives from a shared queue.
    pub fn is_shared(&self, side: Side) -> bool {
        self.shared.is_some() && side == Side::B
    }
}
