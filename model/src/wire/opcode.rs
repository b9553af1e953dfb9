//! Operation codes of the BTH: one table, from which everything that depends on the opcode follows.

use std::fmt;

/// Transport service, bits 7:5 of the opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Reliable connection.
    Rc,
    /// Unreliable datagram; on QPN 1 connection management.
    Ud,
    /// Congestion notification, for queue pairs of any service.
    Cnp,
}

impl Service {
    /// Bits 7:5 of the opcodes of this service.
    pub const fn bits(self) -> u8 {
        match self {
            Self::Rc => 0b000,
            Self::Ud => 0b011,
            Self::Cnp => 0b100,
        }
    }
}

/// What a packet is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// SEND, with or without immediate data or invalidation.
    Send,
    /// RDMA WRITE, with or without immediate data.
    Write,
    /// RDMA READ Request.
    Read,
    /// CmpSwap or FetchAdd.
    Atomic,
    /// RDMA READ Response.
    ReadResponse,
    /// Acknowledge: ACK, NAK, or RNR NAK.
    Acknowledge,
    /// ATOMIC Acknowledge.
    AtomicAcknowledge,
    /// UD SEND.
    Datagram,
    /// Congestion notification packet.
    Congestion,
}

/// Extension headers between BTH and payload, in their order (WIRE-EXT-1 to -10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtKind {
    /// None.
    None,
    /// RETH.
    Reth,
    /// RETH, then ImmDt (WIRE-EXT-3).
    RethImm,
    /// ImmDt.
    Imm,
    /// IETH.
    Ieth,
    /// AETH.
    Aeth,
    /// AETH, then AtomicAckETH.
    AethAtomicAck,
    /// AtomicETH.
    Atomic,
    /// DETH.
    Deth,
    /// DETH, then ImmDt.
    DethImm,
    /// 16 reserved bytes of a CNP.
    Cnp,
}

impl ExtKind {
    /// Length of the headers in bytes.
    pub const fn len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Imm | Self::Ieth | Self::Aeth => 4,
            Self::Deth => 8,
            Self::AethAtomicAck | Self::DethImm => 12,
            Self::Reth | Self::Cnp => 16,
            Self::RethImm => 20,
            Self::Atomic => 28,
        }
    }

    /// Whether there are no extension headers.
    pub const fn is_empty(self) -> bool {
        matches!(self, Self::None)
    }
}

/// How many payload bytes a packet of an opcode may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadRule {
    /// Exactly the path MTU: First and Middle.
    Full,
    /// 1 to the path MTU: Last.
    Tail,
    /// 0 to the path MTU: Only.
    Any,
    /// No payload.
    Empty,
}

impl PayloadRule {
    /// Whether a payload of `len` bytes is legal at a path MTU of `mtu` bytes.
    pub const fn allows(self, len: usize, mtu: usize) -> bool {
        match self {
            Self::Full => len == mtu,
            Self::Tail => 1 <= len && len <= mtu,
            Self::Any => len <= mtu,
            Self::Empty => len == 0,
        }
    }
}

/// The row of one opcode.
struct Row {
    name: &'static str,
    operation: Operation,
    ext: ExtKind,
    payload: PayloadRule,
    starts: bool,
    ends: bool,
}

/// Place of a packet in its message, as the table writes it.
mod place {
    pub const FIRST: (bool, bool) = (true, false);
    pub const MIDDLE: (bool, bool) = (false, false);
    pub const LAST: (bool, bool) = (false, true);
    pub const ONLY: (bool, bool) = (true, true);
}

macro_rules! opcodes {
    ($( $variant:ident = $value:literal, $name:literal, $operation:ident, $ext:ident, $payload:ident, $place:ident; )+) => {
        /// Known opcodes: RC 0x00–0x14, 0x16, 0x17; UD 0x64, 0x65; CNP 0x81. Every other value is
        /// dropped as [`DropCause::Opcode`](super::DropCause).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Opcode { $( #[doc = $name] $variant = $value, )+ }

        impl Opcode {
            /// All known opcodes, ascending.
            pub const ALL: &'static [Self] = &[ $( Self::$variant ),+ ];

            const fn row(self) -> &'static Row {
                match self {
                    $( Self::$variant => &Row {
                        name: $name,
                        operation: Operation::$operation,
                        ext: ExtKind::$ext,
                        payload: PayloadRule::$payload,
                        starts: place::$place.0,
                        ends: place::$place.1,
                    }, )+
                }
            }

            /// The opcode of a byte, or `None` if it is unknown.
            pub const fn from_u8(byte: u8) -> Option<Self> {
                match byte { $( $value => Some(Self::$variant), )+ _ => None }
            }
        }
    };
}

opcodes! {
    SendFirst              = 0x00, "SEND First",                     Send, None, Full, FIRST;
    SendMiddle             = 0x01, "SEND Middle",                    Send, None, Full, MIDDLE;
    SendLast               = 0x02, "SEND Last",                      Send, None, Tail, LAST;
    SendLastImmediate      = 0x03, "SEND Last with Immediate",       Send, Imm, Tail, LAST;
    SendOnly               = 0x04, "SEND Only",                      Send, None, Any, ONLY;
    SendOnlyImmediate      = 0x05, "SEND Only with Immediate",       Send, Imm, Any, ONLY;
    WriteFirst             = 0x06, "RDMA WRITE First",               Write, Reth, Full, FIRST;
    WriteMiddle            = 0x07, "RDMA WRITE Middle",              Write, None, Full, MIDDLE;
    WriteLast              = 0x08, "RDMA WRITE Last",                Write, None, Tail, LAST;
    WriteLastImmediate     = 0x09, "RDMA WRITE Last with Immediate", Write, Imm, Tail, LAST;
    WriteOnly              = 0x0A, "RDMA WRITE Only",                Write, Reth, Any, ONLY;
    WriteOnlyImmediate     = 0x0B, "RDMA WRITE Only with Immediate", Write, RethImm, Any, ONLY;
    ReadRequest            = 0x0C, "RDMA READ Request",              Read, Reth, Empty, ONLY;
    ReadResponseFirst      = 0x0D, "RDMA READ Response First",       ReadResponse, Aeth, Full, FIRST;
    ReadResponseMiddle     = 0x0E, "RDMA READ Response Middle",      ReadResponse, None, Full, MIDDLE;
    ReadResponseLast       = 0x0F, "RDMA READ Response Last",        ReadResponse, Aeth, Tail, LAST;
    ReadResponseOnly       = 0x10, "RDMA READ Response Only",        ReadResponse, Aeth, Any, ONLY;
    Acknowledge            = 0x11, "Acknowledge",                    Acknowledge, Aeth, Empty, ONLY;
    AtomicAcknowledge      = 0x12, "ATOMIC Acknowledge",             AtomicAcknowledge, AethAtomicAck, Empty, ONLY;
    CompareSwap            = 0x13, "CmpSwap",                        Atomic, Atomic, Empty, ONLY;
    FetchAdd               = 0x14, "FetchAdd",                       Atomic, Atomic, Empty, ONLY;
    SendLastInvalidate     = 0x16, "SEND Last with Invalidate",      Send, Ieth, Tail, LAST;
    SendOnlyInvalidate     = 0x17, "SEND Only with Invalidate",      Send, Ieth, Any, ONLY;
    UdSendOnly             = 0x64, "UD SEND Only",                   Datagram, Deth, Any, ONLY;
    UdSendOnlyImmediate    = 0x65, "UD SEND Only with Immediate",    Datagram, DethImm, Any, ONLY;
    Cnp                    = 0x81, "CNP",                            Congestion, Cnp, Empty, ONLY;
}

impl Opcode {
    /// Its name in the specification.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The operation that it belongs to.
    pub const fn operation(self) -> Operation {
        self.row().operation
    }

    /// Extension headers that follow the BTH.
    pub const fn ext(self) -> ExtKind {
        self.row().ext
    }

    /// Payload lengths that are legal with it.
    pub const fn payload_rule(self) -> PayloadRule {
        self.row().payload
    }

    /// Whether it is the first (or only) packet of a message.
    pub const fn starts_message(self) -> bool {
        self.row().starts
    }

    /// Whether it is the last (or only) packet of a message.
    pub const fn ends_message(self) -> bool {
        self.row().ends
    }

    /// Whether it goes to the responder: everything but responses and CNPs.
    pub const fn is_request(self) -> bool {
        !self.is_response() && !matches!(self, Self::Cnp)
    }

    /// Whether it goes to the requester: READ response, Acknowledge, ATOMIC Acknowledge.
    pub const fn is_response(self) -> bool {
        matches!(
            self.operation(),
            Operation::ReadResponse | Operation::Acknowledge | Operation::AtomicAcknowledge
        )
    }

    /// The transport service that it belongs to.
    pub const fn service(self) -> Service {
        match self.operation() {
            Operation::Datagram => Service::Ud,
            Operation::Congestion => Service::Cnp,
            _ => Service::Rc,
        }
    }

    /// Whether it carries immediate data.
    pub const fn has_immediate(self) -> bool {
        matches!(
            self.ext(),
            ExtKind::Imm | ExtKind::RethImm | ExtKind::DethImm
        )
    }

    /// Whether it takes a receive from the receive queue: where a SEND starts, and at a WRITE's
    /// immediate data.
    pub const fn takes_receive(self) -> bool {
        match self.operation() {
            Operation::Send | Operation::Datagram => self.starts_message(),
            Operation::Write => self.has_immediate(),
            _ => false,
        }
    }
}

impl From<Opcode> for u8 {
    fn from(opcode: Opcode) -> u8 {
        opcode as u8
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_known_bytes_decode() {
        let known: Vec<u8> = (0x00..=0x14)
            .chain([0x16, 0x17, 0x64, 0x65, 0x81])
            .collect();
        for byte in 0..=255 {
            match Opcode::from_u8(byte) {
                Some(opcode) => assert_eq!(u8::from(opcode), byte),
                None => assert!(!known.contains(&byte), "{byte:#x}"),
            }
        }
        assert_eq!(Opcode::ALL.len(), known.len());
    }

    #[test]
    fn service_bits_are_the_top_of_the_opcode() {
        for opcode in Opcode::ALL {
            assert_eq!(u8::from(*opcode) >> 5, opcode.service().bits(), "{opcode}");
        }
    }

    #[test]
    fn names_agree_with_the_place_in_the_message() {
        for opcode in Opcode::ALL {
            let has = |word| opcode.name().contains(word);
            if has("First") || has("Middle") || has("Last") {
                assert_eq!(opcode.starts_message(), has("First"), "{opcode}");
                assert_eq!(opcode.ends_message(), has("Last"), "{opcode}");
            } else {
                assert!(opcode.starts_message() && opcode.ends_message(), "{opcode}");
            }
            assert_eq!(opcode.has_immediate(), has("Immediate"), "{opcode}");
            assert_eq!(opcode.ext() == ExtKind::Ieth, has("Invalidate"), "{opcode}");
        }
    }

    #[test]
    fn receives_are_taken_where_the_reference_says() {
        let takers: Vec<u8> = Opcode::ALL
            .iter()
            .filter(|opcode| opcode.takes_receive())
            .map(|opcode| u8::from(*opcode))
            .collect();
        assert_eq!(takers, [0x00, 0x04, 0x05, 0x09, 0x0B, 0x17, 0x64, 0x65]);
    }
}
