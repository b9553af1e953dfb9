//! Room `wire`: frames to records and back.
//!
//! [`Frame::parse`] takes an Ethernet frame apart and makes every check that needs nothing but the
//! frame; [`Frame::emit`] builds one. The parts are beside it: [`Eth`], [`Ip`], [`Bth`], [`Ext`],
//! [`Aeth`], [`icrc()`], [`source_port`]. Each header has a *view* over any bytes (`BthView`, …) with a
//! checked constructor, and a plain record with `parse` and `emit`. [`dissect()`] prints a frame for
//! people, [`seal()`] makes a deliberately broken one whole but for the break. Numbers
//! with a type of their own ([`Psn`], [`Qpn`], [`Token`], …) are here because the whole model uses them.
//!
//! # Contract: which check comes first
//!
//! A frame with several faults is dropped for the *first* failing check of this list. The RTL
//! evaluates all checks while the frame streams through and reports by the same list. The numbers
//! of [`DropCause`] are not the order.
//!
//! Lengths are in bytes; `base` is 14, or 18 behind an 802.1Q tag (TPID 0x8100); `ip` is 20 or 40.
//!
//! | # | check | cause | requirement |
//! | --- | --- | --- | --- |
//! | 1 | the frame holds its EtherType: 14 bytes, 18 with a tag | `FrameShort` | |
//! | 2 | EtherType (behind one tag) is 0x0800 or 0x86DD; a second tag is not | `NotRoce` | WIRE-FRM-12 |
//! | 3 | the frame holds `base + ip` bytes | `FrameShort` | |
//! | 4 | IPv4: first byte 0x45; IPv6: version nibble 6 | `IpVersion` | WIRE-FRM-11 |
//! | 5 | IPv4: header checksum | `IpChecksum` | WIRE-FRM-1 |
//! | 6 | IPv4: MF 0 and fragment offset 0 | `IpFragment` | WIRE-FRM-11 |
//! | 7 | protocol or next header is 17 | `NotRoce` | WIRE-FRM-2 |
//! | 8 | IP length (IPv4 total length, IPv6 40 + payload length) ≤ frame − `base`, and ≥ `ip` + 8 | `FrameShort` | WIRE-FRM-10 |
//! | 9 | UDP destination port is 4791 | `NotRoce` | WIRE-FRM-3 |
//! | 10 | UDP length = IP length − `ip`, and ≥ 24 | `UdpLength` | WIRE-FRM-4, -10 |
//! | 11 | UDP checksum is 0, or right over UDP length bytes and the pseudo header | `UdpChecksum` | WIRE-FRM-6, -7 |
//! | 12 | opcode is known: 0x00–0x14, 0x16, 0x17, 0x64, 0x65, 0x81 | `Opcode` | |
//! | 13 | UDP length − 8 ≥ 12 + extension headers of the opcode + PadCnt + 4 | `IbLength` | WIRE-BTH-12 |
//! | 14 | TVer is 0 | `Tver` | WIRE-BTH-2 |
//! | 15 | ICRC, the last 4 of UDP length bytes | `Icrc` | WIRE-ICRC-8 |
//!
//! Not checked at all: both MAC addresses (the destination is, later, as `DestAddress`), the tag's
//! content, TOS and TTL, reserved and DF flags, the UDP source port (WIRE-FRM-15), M, FECN, BECN,
//! reserved bits, pad content (WIRE-BTH-11), reserved bytes of a CNP, and the trailer (WIRE-FRM-9). Whether
//! payload and pad fit the opcode is a question of the `receive` room, which answers it with a NAK.
//!
//! Why this order: it is that of the bytes, and each step reads only bytes that earlier steps
//! made sure of. `NotRoce` is no error: the frame goes to the slow path. Whatever *claims* to be
//! IP and fails as such (4 to 6) is dropped even if it was not RoCE, since its protocol field is
//! not to be believed; the slow path loses broken headers, options and fragments by this. A bit that the
//! ICRC covers may well be caught earlier: a corrupted opcode as `Opcode`, a corrupted length as
//! `FrameShort` or `UdpLength`.
//!
//! # No panic
//!
//! Nothing in this module panics on any input, in any build: bytes are reached through `get`, arrays
//! and constant ranges of arrays, arithmetic on lengths from the wire is checked or cannot overflow.
//! Property tests hold it to that.

mod aeth;
pub mod bth;
mod bytes;
mod dissect;
pub mod eth;
mod ext;
mod frame;
pub mod icrc;
pub mod ip;
mod ipv4;
mod ipv6;
mod opcode;
mod seal;
mod types;
pub mod udp;

pub use crate::abi::DropCause;
pub use aeth::{Aeth, NakCode, Syndrome, credits, rnr_delay};
pub use bth::{BTH_LEN, Bth, BthView};
pub use dissect::dissect;
pub use eth::{Eth, VlanTag};
pub use ext::{AtomicEth, Deth, Ext, Reth};
pub use frame::Frame;
pub use icrc::icrc;
pub use ip::Ip;
pub use ipv4::Ipv4;
pub use ipv6::Ipv6;
pub use opcode::{ExtKind, Opcode, Operation, PayloadRule, Service};
pub use seal::seal;
pub use types::{MacAddr, Msn, Pkey, Psn, Qpn, Token};
pub use udp::{UdpChecksum, source_port};

/// A buffer does not hold the header that a view was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the buffer is shorter than the header")]
pub struct TooShort;

impl TooShort {
    /// `Ok` if `fits`.
    const fn unless(fits: bool) -> Result<(), Self> {
        if fits { Ok(()) } else { Err(Self) }
    }
}

impl From<TooShort> for DropCause {
    fn from(_: TooShort) -> Self {
        Self::FrameShort
    }
}
