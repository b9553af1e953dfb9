//! Moves: what happens in a world, one after another. Each is a step of a vector, or a few.

use super::forge::Forged;
use super::meetings::Meeting;

/// Regions that each node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Region {
    /// All of its source: the peer may read it.
    Source,
    /// All of its target: the peer may write it.
    Target,
    /// All of its target: only the node itself may write it.
    Local,
    /// All of its target, until it is deregistered.
    Doomed,
    /// Part of its target, until it is invalidated.
    Fast(usize),
    /// All of its source, by logical addresses.
    Privileged,
    /// What a FastRegister made of it last: those with an even number of the source, the others of the target.
    Registered(usize),
    /// What a Bind made of it last: only the peer uses it, and only with its token.
    Window(usize),
}

impl Region {
    /// Whether it lies in the source.
    pub(super) fn is_source(self) -> bool {
        match self {
            Self::Source | Self::Privileged => true,
            Self::Registered(number) => number % 2 == 0,
            _ => false,
        }
    }

    /// Whether requests make it valid and free again.
    pub(super) fn comes_and_goes(self) -> bool {
        matches!(self, Self::Fast(_) | Self::Registered(_) | Self::Window(_))
    }
}

/// What may be done with a region or a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rights {
    pub(super) local_write: bool,
    pub(super) remote_read: bool,
    pub(super) remote_write: bool,
}

/// Some bytes of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) region: Region,
    pub(super) offset: u32,
    pub(super) length: u32,
}

/// Kind of an initiator request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Write,
    Send,
    /// The region of the peer that it invalidates.
    SendAndInvalidate(Region),
    /// Whether it invalidates the region of its first piece.
    Read {
        invalidate: bool,
    },
}

impl Op {
    pub(super) fn is_send(self) -> bool {
        matches!(self, Self::Send | Self::SendAndInvalidate(_))
    }

    pub(super) fn is_read(self) -> bool {
        matches!(self, Self::Read { .. })
    }
}

/// Something wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Nothing,
    /// The token of its first piece.
    LocalToken,
    /// The first piece goes beyond its region.
    LocalBounds,
    /// The first piece of a read may not be written.
    LocalRight,
    RemoteToken,
    RemoteBounds,
    RemoteRight,
    /// The token that the remote memory had before its newest one.
    RemoteOld,
    /// The token to invalidate.
    Invalidate,
}

/// Flags of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) silent: bool,
    pub(super) fence: bool,
    pub(super) solicit: bool,
    pub(super) inline: bool,
    pub(super) defer: bool,
}

/// An initiator request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Post {
    pub(super) link: usize,
    pub(super) side: usize,
    pub(super) op: Op,
    pub(super) pieces: Vec<Piece>,
    /// Of a read or write.
    pub(super) remote: Option<Piece>,
    pub(super) flags: Flags,
    pub(super) wrong: Wrong,
}

impl Post {
    pub(super) fn length(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.length).sum()
    }
}

/// What a request does that concerns one node only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Local {
    /// Some bytes of a region become a window.
    Bind {
        window: usize,
        over: Piece,
        rights: Rights,
    },
    /// Some bytes of the node's memory become a region.
    FastRegister {
        region: usize,
        offset: u32,
        length: u32,
        rights: Rights,
    },
    Invalidate(Region),
}

/// A request that concerns one node only.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ask {
    pub(super) link: usize,
    pub(super) side: usize,
    pub(super) local: Local,
    pub(super) flags: Flags,
    /// Whether its window, or its region, is one of another protection domain.
    pub(super) foreign: bool,
}

/// A receive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Receive {
    pub(super) link: usize,
    pub(super) side: usize,
    pub(super) pieces: Vec<Piece>,
    /// Whether the token of its first piece is wrong.
    pub(super) wrong: bool,
}

impl Receive {
    pub(super) fn length(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.length).sum()
    }
}

/// A call that must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    UnknownFlag,
    InlineRead,
    TooManyPieces,
    InvalidatesNothing,
    /// A Bind of no bytes, beyond its region, with a right that the region lacks, with a flag of sends.
    BindNothing,
    BindBeyond,
    BindRight,
    BindFlag,
    /// A FastRegister of no bytes, of no pages, with a first byte beyond the first page, of a region for NdkRegisterMr,
    /// with a remote right where none was asked for.
    RegisterNothing,
    RegisterNoPages,
    RegisterBeyond,
    RegisterOther,
    RegisterRight,
    /// An Invalidate of a region for NdkRegisterMr, with a flag of sends.
    InvalidateOther,
    InvalidateFlag,
}

/// What an impairment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Drop,
    Duplicate(u32),
    Reorder(u32),
    Corrupt,
    Delay {
        clocks: u32,
        jitter: u32,
        overtake: bool,
    },
    Hold,
    Throttle {
        bytes: u32,
        clocks: u32,
        buffer: Option<u32>,
        mark: Option<u32>,
    },
    /// Until it is resumed.
    Pause,
}

/// On which frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frames {
    Nth(u32),
    /// Thousandths of all.
    Chance(u32),
    Every(u32),
    All,
}

/// An impairment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) from: Option<usize>,
    pub(super) to: Option<usize>,
    /// `all`, `requests` or `responses`.
    pub(super) of: &'static str,
    pub(super) effect: Effect,
    pub(super) frames: Frames,
}

impl Rule {
    /// Whether it concerns what passes between two nodes.
    pub(super) fn touches(&self, nodes: [usize; 2]) -> bool {
        let fits = |from: usize, to: usize| {
            self.from.is_none_or(|own| own == from) && self.to.is_none_or(|own| own == to)
        };
        fits(nodes[0], nodes[1]) || fits(nodes[1], nodes[0])
    }

    /// How bad it is, in thousandths of frames lost; what no retry count survives for certain is 1000.
    pub(super) fn weight(&self) -> u32 {
        let part = match self.frames {
            Frames::Nth(_) => 10,
            Frames::Chance(chance) => chance,
            Frames::Every(every) => 1000 / every.max(1),
            Frames::All => 1000,
        };
        match self.effect {
            Effect::Drop | Effect::Reorder(_) | Effect::Corrupt => part,
            Effect::Duplicate(_) => part.min(10),
            Effect::Delay {
                clocks,
                jitter,
                overtake: false,
            } if clocks + jitter <= 1000 => 1,
            Effect::Delay { .. } => part,
            Effect::Throttle {
                bytes,
                clocks,
                buffer: None,
                mark: None,
            } if bytes >= 8 * clocks => 1,
            Effect::Throttle { .. } | Effect::Hold | Effect::Pause => 1000,
        }
    }
}

/// A move.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    Receive(Receive),
    Post(Post),
    Local(Ask),
    Refused {
        link: usize,
        side: usize,
        call: Refused,
    },
    Wait(u32),
    /// A frame comes to a queue pair, as if from its peer.
    Forge {
        link: usize,
        side: usize,
        frame: Forged,
    },
    /// Everything ends, and is compared.
    Settle,
    /// The results that are there are fetched.
    Collect,
    Arm {
        node: usize,
        receives: bool,
        kind: &'static str,
    },
    Network(Rule),
    Heal,
    Flush {
        link: usize,
        side: usize,
    },
    Close {
        link: usize,
        side: usize,
    },
    /// The consumer disconnects a connection that connection management made.
    Disconnect {
        link: usize,
        side: usize,
    },
    /// It closes its connector.
    Abort {
        link: usize,
        side: usize,
    },
    /// What is left of a link is closed, and it is made anew; by connection management as its meeting says.
    Reopen {
        link: usize,
        meeting: Option<Meeting>,
    },
    Deregister {
        node: usize,
    },
    Register {
        node: usize,
    },
}

impl Move {
    /// The link on which it happens, if it is one.
    pub(super) fn link(&self) -> Option<usize> {
        match self {
            Self::Post(post) => Some(post.link),
            Self::Local(ask) => Some(ask.link),
            Self::Receive(receive) => Some(receive.link),
            Self::Refused { link, .. }
            | Self::Forge { link, .. }
            | Self::Flush { link, .. }
            | Self::Close { link, .. }
            | Self::Disconnect { link, .. }
            | Self::Abort { link, .. }
            | Self::Reopen { link, .. } => Some(*link),
            _ => None,
        }
    }
}
