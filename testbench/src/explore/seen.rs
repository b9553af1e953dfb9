//! What an onlooker has seen of a node.

use super::world::Key;

/// Of one queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SeenQp {
    /// Requests posted.
    pub posted: u8,
    /// Requests that retired or were flushed.
    pub retired: u8,
    /// Request after the last one whose completion was seen.
    pub told: u8,
    /// Receives whose completion was seen.
    pub received: u8,
    /// Receives handed to the engine.
    pub rung: u8,
    /// An event told that it is in error.
    pub failed: bool,
    /// An event told that no further receive of the shared queue completes on it.
    pub let_go: bool,
}

/// Of the shared receive queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SeenShared {
    /// Receives handed to the engine.
    pub rung: u8,
    /// Who took each receive, in their order: lane and request of the peer.
    pub taken: Vec<(u8, u8)>,
    /// Receives whose completion was seen, one bit each.
    pub told: u8,
    /// The limit that is armed; 0: none.
    pub limit: u8,
    /// How often it was armed.
    pub arms: u8,
    /// Since it was armed there were fewer receives than that.
    pub due: bool,
}

impl SeenShared {
    /// With so many receives handed to the engine.
    pub fn new(rung: u8) -> Self {
        Self {
            rung,
            ..Self::default()
        }
    }

    /// The driver arms the limit.
    pub fn arm(&mut self, limit: u8) {
        self.limit = limit;
        self.arms += 1;
        self.watch();
    }

    /// A queue pair takes the next receive, for a request of its peer.
    pub fn take(&mut self, lane: usize, request: usize) {
        self.taken.push((lane as u8, request as u8));
        self.watch();
    }

    fn watch(&mut self) {
        self.due |= usize::from(self.rung) < self.taken.len() + usize::from(self.limit);
    }

    /// The receive that a request of the peer has got.
    pub fn slot(&self, lane: usize, request: usize) -> Option<usize> {
        let taker = (lane as u8, request as u8);
        self.taken.iter().position(|taken| *taken == taker)
    }
}

/// Of a node. Of tokens one bit each: [`Key::bit`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub qps: Vec<SeenQp>,
    pub shared: SeenShared,
    /// Tokens whose bind or registration was executed, or that need none.
    pub made: u16,
    /// Tokens whose page list was answered, or that need none.
    pub listed: u16,
    /// Tokens that were invalidated.
    pub dead: u16,
    /// Those of them of which a completion has told.
    pub told_dead: u16,
}

impl Seen {
    /// Whether a token was made valid: its request was executed, and its page list is there if it has one.
    pub fn is_made(&self, key: Key) -> bool {
        self.made & self.listed & key.bit() != 0
    }
}
