//! What must hold in every state.

use std::fmt;

/// A thing that must hold: see [`Invariant::statement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// Of the model itself.
    Legal,
    /// Of what arrives.
    Bytes,
    /// Of receives.
    ExactlyOnce,
    /// Of completions.
    DataFirst,
    /// Of acknowledges.
    AckAfterData,
    /// Of fenced requests.
    Fence,
    /// Of tokens.
    DeadToken,
    /// Of windows.
    Window,
    /// Of fast-registered regions.
    Registration,
    /// Of shared receive queues.
    SharedReceive,
    /// Of their limits.
    Limit,
    /// Of their queue pairs in error.
    LetGo,
    /// Of send queues.
    InOrder,
    /// Of their success.
    Succeeds,
    /// Of the end.
    Completes,
}

impl Invariant {
    /// All, in the order in which they are looked at.
    pub const ALL: [Self; 15] = [
        Self::Legal,
        Self::Bytes,
        Self::ExactlyOnce,
        Self::DataFirst,
        Self::AckAfterData,
        Self::Fence,
        Self::DeadToken,
        Self::Window,
        Self::Registration,
        Self::SharedReceive,
        Self::Limit,
        Self::LetGo,
        Self::InOrder,
        Self::Succeeds,
        Self::Completes,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Legal => "legal",
            Self::Bytes => "bytes",
            Self::ExactlyOnce => "exactly once",
            Self::DataFirst => "data first",
            Self::AckAfterData => "acknowledge after data",
            Self::Fence => "fence",
            Self::DeadToken => "dead token",
            Self::Window => "window",
            Self::Registration => "registration",
            Self::SharedReceive => "shared receive",
            Self::Limit => "limit",
            Self::LetGo => "let go",
            Self::InOrder => "in order",
            Self::Succeeds => "succeeds",
            Self::Completes => "completes",
        }
    }

    /// What it says.
    pub const fn statement(self) -> &'static str {
        match self {
            Self::Legal => "every action that the model lists can be executed",
            Self::Bytes => "bytes land only where a request puts them, and as it sent them",
            Self::ExactlyOnce => {
                "each receive completes once, in order, with the bytes of its send"
            }
            Self::DataFirst => "no completion is written before its data is placed",
            Self::AckAfterData => {
                "no positive acknowledge leaves before the data that it covers is placed"
            }
            Self::Fence => {
                "a fenced request starts after all earlier reads have finished, an Invalidate after all earlier requests"
            }
            Self::DeadToken => "no byte lands or is read through a token after its invalidation",
            Self::Window => {
                "a window gives access only after its bind, on its queue pair, to its bytes and with its rights"
            }
            Self::Registration => {
                "a region gives access only after its registration, which has its whole page list"
            }
            Self::SharedReceive => {
                "each receive of a shared queue is taken by one queue pair, in the order of the queue, and completes there once"
            }
            Self::Limit => {
                "a limit event comes once for each time that the limit is armed, and only if fewer receives were left"
            }
            Self::LetGo => {
                "a queue pair in error says once that it takes no further receive of its shared queue, after all that it took completed"
            }
            Self::InOrder => "requests complete once each, in the order in which they were posted",
            Self::Succeeds => "no request fails while the retries are enough for the faults",
            Self::Completes => "once the network heals, all requests complete",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.statement())
    }
}

/// An invariant that does not hold, and how it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// How.
    pub how: String,
}
