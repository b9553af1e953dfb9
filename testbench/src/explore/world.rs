//! What a world consists of.

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

/// A fast-registered region of a node, each with a token of its own, by number.
pub type Region = u8;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// NdkSend.
    Send,
    /// NdkSendAndInvalidate, of the token of a region of the peer.
    SendInvalidate(Region),
    /// NdkWrite to the next free bytes of a region of the peer.
    Write(Region),
    /// NdkRead of the first bytes of a region of the peer.
    Read(Region),
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
        }
    }

    /// A send.
    pub const fn send(length: u32) -> Self {
        Self::new(Operation::Send, length)
    }

    /// A send that invalidates the token of a region.
    pub const fn send_invalidate(region: Region, length: u32) -> Self {
        Self::new(Operation::SendInvalidate(region), length)
    }

    /// A write.
    pub const fn write(region: Region, length: u32) -> Self {
        Self::new(Operation::Write(region), length)
    }

    /// A read.
    pub const fn read(region: Region, length: u32) -> Self {
        Self::new(Operation::Read(region), length)
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
        self.length.div_ceil(MTU).max(1)
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
}
