//! What comes out of the manager.

use std::net::{IpAddr, SocketAddr};

use super::terms::{QpAttributes, ReadLimits};
use crate::cm::{CommId, Mad, REJ_PRIVATE, REP_PRIVATE, REQ_CONSUMER, RejectReason};

/// Between which addresses datagrams of a conversation go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Address of this side.
    pub local: IpAddr,
    /// Address of the peer.
    pub remote: IpAddr,
}

/// Something to be done, in the order in which it comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Send a datagram.
    Send {
        /// Between these addresses.
        path: Path,
        /// The datagram.
        mad: Mad,
    },
    /// The conversation's queue pair becomes ready to receive and to send.
    Ready {
        /// The conversation.
        id: CommId,
        /// How.
        attributes: QpAttributes,
    },
    /// The conversation's queue pair goes to the error state: what is posted is cancelled.
    Stop {
        /// The conversation.
        id: CommId,
    },
    /// The consumer is told.
    Event {
        /// The conversation.
        id: CommId,
        /// What happened.
        event: Event,
    },
}

/// What a consumer is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// Passive side: somebody wants a connection. The id is that of a new conversation.
    Requested(Requested),
    /// Active side: the peer accepted.
    Replied {
        /// Limits that both sides agreed on.
        limits: ReadLimits,
        /// What the peer's consumer says.
        private_data: [u8; REP_PRIVATE],
    },
    /// Passive side: the active side has completed the connection.
    Established,
    /// There will be no connection.
    Failed(Failure),
    /// The peer disconnects; requests go on until the consumer disconnects too.
    Disconnected,
    /// The connection broke; so did this side's disconnect, if it was under way.
    Aborted,
    /// This side's disconnect is done.
    Ended {
        /// Whether the peer answered.
        graceful: bool,
    },
}

/// Why there will be no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer rejects.
    Rejected {
        /// Why.
        reason: RejectReason,
        /// What its consumer says.
        private_data: [u8; REJ_PRIVATE],
    },
    /// The peer did not answer.
    TimedOut,
    /// The peer gave up.
    GaveUp,
}

/// A request as the consumer of a listener sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requested {
    /// Where it arrived.
    pub local: SocketAddr,
    /// Who calls.
    pub remote: SocketAddr,
    /// The greatest limits that the caller agrees to, as this side counts them.
    pub limits: ReadLimits,
    /// What the caller's consumer says.
    pub private_data: [u8; REQ_CONSUMER],
}

/// Why a call of the consumer is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such conversation, or it is not at a point at which the call has a meaning.
    #[error("the conversation is not in a state for this call")]
    State,
    /// The peer gave up meanwhile.
    #[error("the peer gave up")]
    GaveUp,
    /// More private data than the message holds.
    #[error("{length} bytes of private data, the message holds {most}")]
    PrivateData {
        /// Bytes given.
        length: usize,
        /// Bytes that there is room for.
        most: usize,
    },
}
