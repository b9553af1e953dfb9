//! AETH syndromes: ACK, RNR NAK and NAK.

use std::fmt;
use std::time::Duration;

use super::Msn;
use super::bytes::to_be24;

/// Code of a NAK, bits 4:0 of its syndrome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NakCode {
    /// 0x60: PSN sequence error; go back.
    PsnSequence,
    /// 0x61: invalid request.
    InvalidRequest,
    /// 0x62: remote access error.
    RemoteAccess,
    /// 0x63: remote operational error.
    RemoteOperational,
    /// 0x64: invalid RD request; not of this service.
    InvalidRd,
    /// Any other code, 5 to 31.
    Reserved(u8),
}

impl NakCode {
    /// The code of the low five bits.
    pub const fn decode(bits: u8) -> Self {
        match bits & 0x1F {
            0 => Self::PsnSequence,
            1 => Self::InvalidRequest,
            2 => Self::RemoteAccess,
            3 => Self::RemoteOperational,
            4 => Self::InvalidRd,
            other => Self::Reserved(other),
        }
    }

    /// Its five bits.
    pub const fn encode(self) -> u8 {
        match self {
            Self::PsnSequence => 0,
            Self::InvalidRequest => 1,
            Self::RemoteAccess => 2,
            Self::RemoteOperational => 3,
            Self::InvalidRd => 4,
            Self::Reserved(code) => code & 0x1F,
        }
    }
}

/// Syndrome byte of an AETH. [`Syndrome::decode`] and [`Syndrome::encode`] are inverse for all
/// 256 values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syndrome {
    /// Positive acknowledge.
    Ack {
        /// Credit code, 0 to 31; see [`credits`].
        credit: u8,
    },
    /// Receiver not ready.
    Rnr {
        /// Timer code, 0 to 31; see [`rnr_delay`].
        timer: u8,
    },
    /// Negative acknowledge.
    Nak(NakCode),
    /// Class 010 or 1xx, never sent (WIRE-EXT-6): the whole byte.
    Reserved(u8),
}

/// In words, as `NAK remote access error`.
impl fmt::Display for Syndrome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ack { credit } => match credits(*credit) {
                Some(count) => write!(f, "ACK, {count} credits"),
                None => f.write_str("ACK"),
            },
            Self::Rnr { timer } => write!(f, "RNR NAK, {:?}", rnr_delay(*timer)),
            Self::Nak(code) => f.write_str(match code {
                NakCode::PsnSequence => "NAK PSN sequence error",
                NakCode::InvalidRequest => "NAK invalid request",
                NakCode::RemoteAccess => "NAK remote access error",
                NakCode::RemoteOperational => "NAK remote operational error",
                NakCode::InvalidRd => "NAK invalid RD request",
                NakCode::Reserved(_) => "NAK with a reserved code",
            }),
            Self::Reserved(byte) => write!(f, "reserved syndrome {byte:#04x}"),
        }
    }
}

impl Syndrome {
    /// Positive acknowledge without end-to-end credits, 0x1F: the one that is sent (WIRE-EXT-7).
    pub const ACK: Self = Self::Ack { credit: 0x1F };

    /// The syndrome of a byte.
    pub const fn decode(byte: u8) -> Self {
        match byte >> 5 {
            0b000 => Self::Ack { credit: byte },
            0b001 => Self::Rnr { timer: byte & 0x1F },
            0b011 => Self::Nak(NakCode::decode(byte)),
            _ => Self::Reserved(byte),
        }
    }

    /// Its byte.
    pub const fn encode(self) -> u8 {
        match self {
            Self::Ack { credit } => credit & 0x1F,
            Self::Rnr { timer } => 0x20 | timer & 0x1F,
            Self::Nak(code) => 0x60 | code.encode(),
            Self::Reserved(byte) => byte,
        }
    }

    /// Whether it is a positive acknowledge.
    pub const fn is_ack(self) -> bool {
        matches!(self, Self::Ack { .. })
    }
}

/// ACK extended transport header: syndrome and message sequence number (WIRE-EXT-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    /// What is acknowledged or refused.
    pub syndrome: Syndrome,
    /// Messages completed by the responder, modulo 2^24.
    pub msn: Msn,
}

impl Aeth {
    /// Length of the header in bytes.
    pub const LEN: usize = 4;

    /// The header of its bytes.
    pub const fn parse([syndrome, a, b, c]: [u8; Self::LEN]) -> Self {
        Self {
            syndrome: Syndrome::decode(syndrome),
            msn: Msn::new(u32::from_be_bytes([0, a, b, c])),
        }
    }

    /// Its bytes.
    pub fn emit(&self) -> [u8; Self::LEN] {
        let [a, b, c] = to_be24(self.msn.get());
        [self.syndrome.encode(), a, b, c]
    }
}

/// Receives that a credit code advertises: `None` for code 31, which switches credits off.
pub const fn credits(code: u8) -> Option<u32> {
    // 0 and 1, then every power of two and one and a half times it.
    match code & 0x1F {
        31 => None,
        code @ 0..=1 => Some(code as u32),
        code => {
            let power = 1u32 << (code / 2);
            Some(if code % 2 == 0 {
                power
            } else {
                power + power / 2
            })
        }
    }
}

/// Least delay before a request refused with an RNR NAK may be sent again. Code 0 is the longest.
pub const fn rnr_delay(code: u8) -> Duration {
    /// In units of 10 µs.
    const UNITS: [u32; 32] = [
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
        1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    ];
    Duration::from_micros(UNITS[(code & 0x1F) as usize] as u64 * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_and_encode_are_inverse() {
        for byte in 0..=255 {
            assert_eq!(Syndrome::decode(byte).encode(), byte);
        }
    }

    #[test]
    fn classes() {
        assert_eq!(Syndrome::decode(0x1F), Syndrome::ACK);
        assert_eq!(Syndrome::decode(0x2C), Syndrome::Rnr { timer: 12 });
        assert_eq!(Syndrome::decode(0x62), Syndrome::Nak(NakCode::RemoteAccess));
        assert_eq!(Syndrome::decode(0x40), Syndrome::Reserved(0x40));
        assert_eq!(Syndrome::decode(0x80), Syndrome::Reserved(0x80));
    }

    #[test]
    fn credit_table() {
        let expected = [
            0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
            1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
        ];
        for (code, count) in expected.into_iter().enumerate() {
            assert_eq!(credits(code as u8), Some(count), "{code}");
        }
        assert_eq!(credits(31), None);
    }

    #[test]
    fn rnr_table() {
        assert_eq!(rnr_delay(0), Duration::from_micros(655_360));
        assert_eq!(rnr_delay(1), Duration::from_micros(10));
        assert_eq!(rnr_delay(12), Duration::from_micros(640));
        assert_eq!(rnr_delay(20), Duration::from_micros(10_240));
        assert_eq!(rnr_delay(25), Duration::from_micros(61_440));
        assert_eq!(rnr_delay(31), Duration::from_micros(491_520));
    }
}
