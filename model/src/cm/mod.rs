//! Connection management by datagrams on queue pair 1: the RDMA IP CM service.
//!
//! Two sides make a connection by a request (REQ), a reply (REP) and a word that the reply came (RTU), or by a
//! reject (REJ), and end it by a request (DREQ) and its reply (DREP). Each message is a management datagram
//! ([`Mad`]) in a frame of its own ([`Datagram`]).
//!
//! | module | job |
//! | --- | --- |
//! | `types`, `record` | numbers of the messages; fields, each given once |
//! | `messages`, `mad`, `ip` | messages, their header, and addresses in a request's private data |
//! | `datagram` | the frame around a message |
//! | [`machine`] | conversations |
//!
//! Nothing here panics, whatever comes from the outside.

mod datagram;
mod ip;
pub mod machine;
mod mad;
mod messages;
mod record;
mod types;

pub use datagram::Datagram;
pub use ip::{Header as IpCmHeader, IpCm, REQ_CONSUMER};
pub use mad::{MAD_LEN, Mad, MadHeader, Message};
pub use messages::{
    Drep, Dreq, Mra, PathRecord, REJ_PRIVATE, REP_PRIVATE, REQ_PRIVATE, Rej, Rep, Req, Rtu,
};
pub use types::{
    CommId, Guid, ReceivedMessage, RejectReason, RejectedMessage, ServiceId, TimeCode,
    TransportService, gid,
};

use crate::wire::DropCause;

/// Why bytes are no datagram of connection management.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CmError {
    /// The frame is no good RoCEv2 frame.
    #[error("frame: {0:?}")]
    Frame(DropCause),
    /// The datagram has another length than 256 bytes.
    #[error("length: {length} bytes, a management datagram has 256")]
    Length {
        /// Its length.
        length: usize,
    },
    /// A field has a value that is not allowed there.
    #[error("{record}, {field}: {value:#x} is not allowed there")]
    Field {
        /// Header or message.
        record: &'static str,
        /// Name of the field.
        field: &'static str,
        /// What stands there.
        value: u128,
    },
}
