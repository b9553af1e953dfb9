//! Conversations: how connections are made and ended, without I/O and without a clock of their own.
//!
//! [`Manager`] holds the conversations of an adapter. Datagrams, calls of the consumer and the time go in; out come
//! [`Action`]s: datagrams to send, events for the consumer, and what queue pairs have to do.
//!
//! ```text
//!  active                                            passive
//!  connect: ReqSent      ── REQ ──────────────────>  ReqReceived: Requested
//!  RepReceived: Replied  <────────────────── REP ──  accept: RepSent        | reject: REJ
//!  complete: Established ── RTU ──────────────────>  Established: Established
//!    | reject            ── REJ ──────────────────>  Over: Rejected
//!
//!  disconnect: DreqSent  ── DREQ ─────────────────>  DreqReceived: Disconnected
//!  TimeWait: Ended       <───────────────── DREP ──  disconnect: TimeWait
//! ```
//!
//! Whatever waits for an answer of the peer is sent again until it comes or the retries are used up. Whatever comes twice is
//! answered twice and done once. While a side waits for its own consumer, duplicates are answered with an MRA,
//! so that the peer has patience.
//!
//! A side that gives up says so by a REJ. The peer may miss it; it is told by another one when it next sends
//! something that nobody waits for (`INVALID_COMM_ID`).

mod action;
mod active;
mod config;
mod conversation;
mod ending;
mod manager;
mod passive;
mod terms;

pub use action::{Action, Event, Failure, Path, Refusal, Requested};
pub use config::{CmConfig, ack_timeout};
pub use conversation::State;
pub use manager::Manager;
pub use terms::{Accept, Connect, QpAttributes, ReadLimits};
