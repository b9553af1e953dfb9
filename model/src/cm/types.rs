//! Numbers of connection management as types of their own.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use super::record::Number;
use crate::wire::MacAddr;

/// Communication id: what a side calls a conversation by, unique among its own. Never 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommId(NonZeroU32);

impl CommId {
    /// The id of a number, unless it is 0.
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Its number.
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Debug for CommId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommId({:#010x})", self.0)
    }
}

impl fmt::Display for CommId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

impl Number for CommId {
    fn from_number(number: u64) -> Option<Self> {
        Self::new(number as u32)
    }
    fn number(&self) -> u64 {
        self.get().into()
    }
}

/// A REJ may come from a side that has no id yet, or go to one whose id is not known: 0 on the wire.
impl Number for Option<CommId> {
    fn from_number(number: u64) -> Option<Self> {
        Some(CommId::new(number as u32))
    }
    fn number(&self) -> u64 {
        self.map_or(0, CommId::get).into()
    }
}

/// What a request wants to be connected with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ServiceId(pub u64);

impl ServiceId {
    /// High part of the TCP port space (WIRE-CM-4).
    const TCP: u64 = 0x0106;

    /// The service at a port of the TCP port space (WIRE-CM-4).
    pub const fn tcp(port: u16) -> Self {
        Self(Self::TCP << 16 | port as u64)
    }

    /// The port, if the service is one of the TCP port space.
    pub const fn tcp_port(self) -> Option<u16> {
        if self.0 >> 16 == Self::TCP {
            Some(self.0 as u16)
        } else {
            None
        }
    }
}

impl fmt::Debug for ServiceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceId({:#018x})", self.0)
    }
}

impl Number for ServiceId {
    fn from_number(number: u64) -> Option<Self> {
        Some(Self(number))
    }
    fn number(&self) -> u64 {
        self.0
    }
}

/// Number that tells adapters apart; with a queue pair number it tells a connection's end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub u64);

impl Guid {
    /// EUI-64 of a MAC address with the universal/local bit flipped.
    pub const fn of_mac(mac: MacAddr) -> Self {
        let [a, b, c, d, e, f] = mac.0;
        Self(u64::from_be_bytes([a ^ 2, b, c, 0xFF, 0xFE, d, e, f]))
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guid({:#018x})", self.0)
    }
}

impl Number for Guid {
    fn from_number(number: u64) -> Option<Self> {
        Some(Self(number))
    }
    fn number(&self) -> u64 {
        self.0
    }
}

/// A time as a code of five bits: 4.096 µs × 2^code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeCode(u8);

impl TimeCode {
    /// The code of the low five bits.
    pub const fn new(code: u8) -> Self {
        Self(code & 31)
    }

    /// The code, 0 to 31.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The time, 4.096 µs to 2.4 hours.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(4096 << self.0)
    }
}

impl Number for TimeCode {
    fn from_number(number: u64) -> Option<Self> {
        Some(Self::new(number as u8))
    }
    fn number(&self) -> u64 {
        self.0.into()
    }
}

macro_rules! numbers {
    ($( $(#[doc = $doc:literal])+ $name:ident { $( $(#[doc = $vdoc:literal])+ $variant:ident = $value:literal, )+ } )+) => { $(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $( $(#[doc = $vdoc])+ $variant = $value, )+ }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[ $( Self::$variant ),+ ];
        }

        impl Number for $name {
            fn from_number(number: u64) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.number() == number)
            }
            fn number(&self) -> u64 {
                *self as u64
            }
        }
    )+ };
}

numbers! {
    /// What carries the connection's messages.
    TransportService {
        /// Reliable connection, the only one that the engine has.
        Rc = 0,
        /// Unreliable connection.
        Uc = 1,
        /// Reliable datagram.
        Rd = 2,
        /// Named by the extended transport type.
        Extended = 3,
    }

    /// The message that a REJ rejects.
    RejectedMessage {
        /// A request.
        Req = 0,
        /// A reply.
        Rep = 1,
        /// Neither, or there was none.
        Other = 2,
    }

    /// The message that an MRA tells of.
    ReceivedMessage {
        /// A request.
        Req = 0,
        /// A reply.
        Rep = 1,
        /// A request for an alternate path.
        Lap = 2,
    }
}

/// Why a message was rejected; numbers without a name here are legal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RejectReason(pub u16);

macro_rules! reasons {
    ($( $(#[doc = $doc:literal])+ $name:ident = $value:literal; )+) => {
        impl RejectReason {
            $( $(#[doc = $doc])+ pub const $name: Self = Self($value); )+

            /// The name of the reason, if it has one here.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $( $value => Some(stringify!($name)), )+
                    _ => None,
                }
            }
        }
    };
}

reasons! {
    /// No queue pair left.
    NO_QP = 1;
    /// No resources left.
    NO_RESOURCES = 3;
    /// The sender waited in vain; the additional information may be its GUID.
    TIMEOUT = 4;
    /// The request is not supported.
    UNSUPPORTED = 5;
    /// Nobody is called by this communication id.
    INVALID_COMM_ID = 6;
    /// Nobody listens.
    INVALID_SERVICE_ID = 8;
    /// Not this transport service.
    INVALID_TRANSPORT = 9;
    /// The queue pair is still known from an earlier connection.
    STALE_CONNECTION = 10;
    /// Not an address of the receiver; the additional information is one.
    INVALID_GID = 12;
    /// Not this path MTU; the additional information is the greatest one.
    INVALID_MTU = 26;
    /// Not enough resources for reads.
    INSUFFICIENT_RESPONDER_RESOURCES = 27;
    /// The application rejects.
    CONSUMER_DEFINED = 28;
    /// Not this RNR retry count.
    INVALID_RNR_RETRY = 29;
    /// The communication id is in use.
    DUPLICATE_COMM_ID = 30;
    /// Not this class version.
    INVALID_CLASS_VERSION = 31;
}

impl fmt::Debug for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name}({})", self.0),
            None => write!(f, "RejectReason({})", self.0),
        }
    }
}

impl Number for RejectReason {
    fn from_number(number: u64) -> Option<Self> {
        Some(Self(number as u16))
    }
    fn number(&self) -> u64 {
        self.0.into()
    }
}

/// The GID of an IP address: an IPv4 address is mapped.
pub const fn gid(ip: IpAddr) -> Ipv6Addr {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WIRE-CM-4.
    // Covers: WIRE-CM-4
    #[test]
    fn service_ids_hold_ports() {
        assert_eq!(ServiceId::tcp(7174).0, 0x0106_1C06);
        assert_eq!(ServiceId(0x0106_1C06).tcp_port(), Some(7174));
        assert_eq!(ServiceId(0x0111_1C06).tcp_port(), None);
        assert_eq!(ServiceId(0x1_0000_0106_1C06).tcp_port(), None);
    }

    #[test]
    fn guids_come_from_macs() {
        assert_eq!(
            Guid::of_mac(MacAddr([2, 0, 0, 0, 0, 2])).0,
            0x0000_00FF_FE00_0002
        );
    }

    #[test]
    fn time_codes_are_powers_of_two() {
        assert_eq!(TimeCode::new(0).duration(), Duration::from_nanos(4096));
        assert_eq!(
            TimeCode::new(20).duration(),
            Duration::from_nanos(4_294_967_296)
        );
        assert_eq!(TimeCode::new(32).get(), 0);
    }

    #[test]
    fn reasons_have_names() {
        assert_eq!(format!("{:?}", RejectReason(28)), "CONSUMER_DEFINED(28)");
        assert_eq!(format!("{:?}", RejectReason(77)), "RejectReason(77)");
    }
}
