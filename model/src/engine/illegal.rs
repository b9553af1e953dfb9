//! Why the model does not allow an action.

use std::fmt;

use thiserror::Error;

use super::{Action, InputError};

/// A room of the engine: where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Room {
    /// Registers, doorbells, events.
    Host,
    /// Tables and tokens.
    Context,
    /// Send queues.
    Send,
    /// Frames in, responses.
    Receive,
    /// Frames as bytes.
    Wire,
    /// Completion queues.
    Complete,
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host",
            Self::Context => "context",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Wire => "wire",
            Self::Complete => "complete",
        })
    }
}

/// An action that the model does not allow now; the model's state is as before.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Illegal {
    /// The model allows another action in its place.
    #[error("{action}: {}; the model allows {expected} ({why})", .action.differences(.expected))]
    Differs {
        /// Room that decided.
        room: Room,
        /// The action refused.
        action: Action,
        /// What would be legal instead.
        expected: Action,
        /// Why the model decides so, in words.
        why: &'static str,
    },
    /// Nothing of the kind is legal.
    #[error("{action}: {why}")]
    Refused {
        /// Room that decided.
        room: Room,
        /// The action refused.
        action: Action,
        /// What is missing, in words.
        why: &'static str,
    },
    /// The world has not read what the action needs.
    #[error("{action}: {source}")]
    Input {
        /// Room that asked.
        room: Room,
        /// The action refused.
        action: Action,
        /// The read without an answer.
        source: InputError,
    },
}

impl Illegal {
    /// The room that decided.
    pub fn room(&self) -> Room {
        match self {
            Self::Differs { room, .. } | Self::Refused { room, .. } | Self::Input { room, .. } => {
                *room
            }
        }
    }

    /// The action refused.
    pub fn action(&self) -> &Action {
        match self {
            Self::Differs { action, .. }
            | Self::Refused { action, .. }
            | Self::Input { action, .. } => action,
        }
    }

    /// What would be legal instead, if one action is.
    pub fn expected(&self) -> Option<&Action> {
        match self {
            Self::Differs { expected, .. } => Some(expected),
            _ => None,
        }
    }
}
