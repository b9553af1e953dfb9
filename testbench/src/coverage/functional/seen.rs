//! What the cover points look at: one event of a run, taken apart.

use tandem_model::abi::{
    Arm, CQE, CommitKind, DropCause, EQE, EventKind, Fault, QpState, Record, RespondKind, RxResult,
    SQ_WQE, Status, Table, TokenKind, WqeOpcode,
};
use tandem_model::wire::{Opcode, Syndrome};

use crate::network::Fate;

/// An event; what it has nothing to do with is `None`.
#[derive(Debug, Default)]
pub struct Seen {
    /// Action of an engine.
    pub kind: Option<CommitKind>,
    /// Entry of a context table that was written.
    pub table: Option<Table>,
    /// Arm that was taken.
    pub arm: Option<Arm>,
    /// Entries that a doorbell brings.
    pub rung: Option<u16>,
    /// State of a queue pair before and after.
    pub states: Option<[QpState; 2]>,
    /// Request that an engine began.
    pub request: Option<Request>,
    /// Opcode of the request that an action is about, if the engine had read it.
    pub opcode: Option<WqeOpcode>,
    /// How a request left the send queue.
    pub retired: Option<Status>,
    /// Why a request failed here.
    pub fault: Option<Fault>,
    /// Queue of a flushed request.
    pub flushed: Option<u8>,
    /// Whether a timer that ended failed its request.
    pub gave_up: Option<bool>,
    /// Packet that left.
    pub sent: Option<Packet>,
    /// Packet that was judged.
    pub taken: Option<Packet>,
    /// Why it was dropped.
    pub dropped: Option<DropCause>,
    /// What came of it.
    pub result: Option<RxResult>,
    /// Step of a responder.
    pub responded: Option<RespondKind>,
    /// Kind of the token that a packet names.
    pub token: Option<TokenKind>,
    /// Receive that a packet began.
    pub receive: Option<Receive>,
    /// Completion entry that was written.
    pub entry: Option<Entry>,
    /// Whether it was lost.
    pub lost: Option<bool>,
    /// Event that was written.
    pub event: Option<EventKind>,
    /// Path MTU in bytes.
    pub mtu: Option<u32>,
    /// What the network did to a packet.
    pub fate: Option<(Fate, Option<Opcode>)>,
}

/// A request, as its ring entry has it.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What is to be done.
    pub opcode: WqeOpcode,
    /// Flags: silent, read fence, solicited, inline, local invalidate; none of them.
    pub flags: u64,
    /// Bytes.
    pub length: u32,
    /// Elements.
    pub elements: u8,
    /// Bytes of its ring entry.
    pub stride: usize,
}

impl Request {
    /// The request of a ring entry; `None` if it is malformed.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let entry = Record::from_bytes(&SQ_WQE, bytes);
        let opcode =
            WqeOpcode::from_bits(entry.get("opcode")).filter(|some| *some != WqeOpcode::None)?;
        let names = [
            "silent",
            "read_fence",
            "solicited",
            "inline_data",
            "local_invalidate",
        ];
        let set = |(place, name): (usize, &str)| u64::from(entry.get(name) != 0) << place;
        let flags: u64 = names.into_iter().enumerate().map(set).sum();
        Some(Self {
            opcode,
            flags: if flags == 0 { 1 << names.len() } else { flags },
            length: entry.get("length") as u32,
            elements: entry.get("num_sge") as u8,
            stride: bytes.len(),
        })
    }
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Its opcode.
    pub opcode: Opcode,
    /// Its PSN.
    pub psn: u32,
    /// Bytes of payload.
    pub payload: usize,
    /// Pad bytes.
    pub pad: u8,
    /// Syndrome, if it has one.
    pub syndrome: Option<Syndrome>,
    /// Whether its addresses are IPv6.
    pub ipv6: bool,
    /// Whether it asks for an acknowledge.
    pub asks: bool,
    /// Whether the network marked it.
    pub marked: bool,
    /// Whether it left before.
    pub again: bool,
}

/// A receive, as its ring entry has it.
#[derive(Clone, Copy, Debug)]
pub struct Receive {
    /// Elements that have bytes.
    pub elements: usize,
    /// Whether it comes from a shared queue.
    pub shared: bool,
}

/// A completion entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Whether it is a receive's.
    pub receive: bool,
    /// Its status.
    pub status: Status,
    /// Whether its send asked for an event.
    pub solicited: bool,
    /// Whether it invalidated a token.
    pub invalidated: bool,
    /// Bytes of a receive.
    pub length: u32,
}

impl Entry {
    /// The entry of these bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let entry = Record::from_bytes(&CQE, bytes);
        Some(Self {
            receive: entry.get("receive") != 0,
            status: Status::from_bits(entry.get("status"))?,
            solicited: entry.get("solicited") != 0,
            invalidated: entry.get("invalidated") != 0,
            length: entry.get("byte_len") as u32,
        })
    }
}

/// The kind of an event entry of these bytes.
pub fn event_of(bytes: &[u8]) -> Option<EventKind> {
    EventKind::from_bits(Record::from_bytes(&EQE, bytes).get("kind"))
}
