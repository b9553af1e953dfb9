//! Numbers of the transport as types of their own; the whole model uses them.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

const MASK24: u32 = 0xFF_FFFF;

macro_rules! modular24 {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The first value.
            pub const ZERO: Self = Self(0);

            /// The value modulo 2^24.
            pub const fn new(value: u32) -> Self {
                Self(value & MASK24)
            }

            /// The number, below 2^24.
            pub const fn get(self) -> u32 {
                self.0
            }

            /// Steps forward from `other` to `self`, 0 to 2^24 − 1.
            pub const fn since(self, other: Self) -> u32 {
                self.0.wrapping_sub(other.0) & MASK24
            }

            /// Signed steps from `other` to `self`, −2^23 to 2^23 − 1; negative if `self` is older.
            pub const fn distance(self, other: Self) -> i32 {
                (self.0.wrapping_sub(other.0) << 8) as i32 >> 8
            }

            /// Whether `self` comes after `other`: up to 2^23 − 1 steps.
            pub const fn newer(self, other: Self) -> bool {
                self.distance(other) > 0
            }

            /// Whether `self` comes before `other`: up to 2^23 steps.
            pub const fn older(self, other: Self) -> bool {
                self.distance(other) < 0
            }

            /// The one after it.
            #[must_use]
            pub const fn next(self) -> Self {
                Self::new(self.0 + 1)
            }

            /// The one before it.
            #[must_use]
            pub const fn prev(self) -> Self {
                Self::new(self.0.wrapping_sub(1))
            }
        }

        impl Add<u32> for $name {
            type Output = Self;
            fn add(self, steps: u32) -> Self {
                Self::new(self.0.wrapping_add(steps))
            }
        }

        impl AddAssign<u32> for $name {
            fn add_assign(&mut self, steps: u32) {
                *self = *self + steps;
            }
        }

        impl Sub<u32> for $name {
            type Output = Self;
            fn sub(self, steps: u32) -> Self {
                Self::new(self.0.wrapping_sub(steps))
            }
        }

        impl From<$name> for u128 {
            fn from(value: $name) -> u128 {
                value.0.into()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#08x})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#08x}", self.0)
            }
        }
    };
}

modular24! {
    /// Packet sequence number: 24 bits, modulo 2^24. It has no total order, so it is not `Ord`;
    /// ask [`Psn::newer`] and [`Psn::distance`].
    Psn
}

modular24! {
    /// Message sequence number of an AETH: 24 bits, modulo 2^24.
    Msn
}

/// Queue pair number, 24 bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Qpn(u32);

impl Qpn {
    /// Number 1: connection management.
    pub const GSI: Self = Self(1);

    /// The low 24 bits of a number.
    pub const fn new(value: u32) -> Self {
        Self(value & MASK24)
    }

    /// The number, below 2^24.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl From<Qpn> for u128 {
    fn from(value: Qpn) -> u128 {
        value.0.into()
    }
}

impl fmt::Debug for Qpn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Qpn({:#x})", self.0)
    }
}

impl fmt::Display for Qpn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Memory token (R_Key and L_Key): index of the table entry in the high 24 bits, key in the low 8.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

impl Token {
    /// The token of a table entry and its key.
    pub const fn from_parts(index: u32, key: u8) -> Self {
        Self(index << 8 | key as u32)
    }

    /// Index into the token table.
    pub const fn index(self) -> u32 {
        self.0 >> 8
    }

    /// Key byte, which tells successive uses of the entry apart.
    pub const fn key(self) -> u8 {
        self.0 as u8
    }
}

impl From<Token> for u128 {
    fn from(value: Token) -> u128 {
        value.0.into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:#010x})", self.0)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// Partition key: membership in bit 15, partition in bits 14:0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pkey(pub u16);

impl Pkey {
    /// Full member of the default partition, what every packet is sent with (WIRE-BTH-3).
    pub const DEFAULT: Self = Self(0xFFFF);

    /// Whether two keys may talk: same partition, and at least one of them a full member
    /// (WIRE-BTH-4).
    pub const fn matches(self, other: Self) -> bool {
        (self.0 ^ other.0) & 0x7FFF == 0 && (self.0 | other.0) & 0x8000 != 0
    }
}

impl Default for Pkey {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Debug for Pkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pkey({:#06x})", self.0)
    }
}

impl fmt::Display for Pkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}

/// Ethernet address.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// Whether it is a group address (multicast or broadcast).
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MacAddr({self})")
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn psns_wrap() {
        let last = Psn::new(MASK24);
        assert_eq!(last.next(), Psn::ZERO);
        assert_eq!(Psn::ZERO.prev(), last);
        assert_eq!(Psn::ZERO.distance(last), 1);
        assert_eq!(last.distance(Psn::ZERO), -1);
        assert!(Psn::ZERO.newer(last) && last.older(Psn::ZERO));
        assert_eq!(last.since(Psn::ZERO), MASK24);
        assert_eq!(Psn::new(0x80_0000).distance(Psn::ZERO), -0x80_0000);
        assert_eq!(Psn::new(0x7F_FFFF).distance(Psn::ZERO), 0x7F_FFFF);
    }

    #[test]
    fn default_partition_keys_match() {
        assert!(Pkey::DEFAULT.matches(Pkey(0x7FFF)));
        assert!(!Pkey::DEFAULT.matches(Pkey(0x1234)));
        assert!(!Pkey(0x7FFF).matches(Pkey(0x7FFF)));
    }

    #[test]
    fn tokens_split() {
        let token = Token(0x0800_0142);
        assert_eq!((token.index(), token.key()), (0x080001, 0x42));
        assert_eq!(Token::from_parts(token.index(), token.key()), token);
    }

    proptest! {
        #[test]
        fn distance_undoes_addition(psn: u32, steps in -0x80_0000i32..0x80_0000) {
            let psn = Psn::new(psn);
            prop_assert_eq!((psn + steps as u32).distance(psn), steps);
            prop_assert_eq!(psn + steps as u32 - steps as u32, psn);
        }
    }
}
