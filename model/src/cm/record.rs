//! Records of big-endian fields, each field given once: its place, its type, its words.

use std::net::Ipv6Addr;

use crate::wire::{Pkey, Psn, Qpn};

use super::CmError;

/// Where bits of a field lie: from this bit on, counted from the most significant bit of byte 0.
#[derive(Clone, Copy)]
pub(super) struct Place {
    bit: usize,
    width: usize,
}

/// `width` bits, the highest of them bit `high` (7 to 0) of byte `byte`.
pub(super) const fn bits(byte: usize, high: usize, width: usize) -> Place {
    Place {
        bit: byte * 8 + 7 - high,
        width,
    }
}

/// Whole bytes from `byte` on.
pub(super) const fn bytes(byte: usize, count: usize) -> Place {
    bits(byte, 7, count * 8)
}

/// A type that stands in a record. A field may lie in several places, the most significant first.
pub(super) trait Field: Sized {
    /// Reads the field; `Err` with the number that stands there if the type has no such value.
    fn read(buffer: &[u8], places: &[Place]) -> Result<Self, Misfit>;
    /// Writes the field into zeroed bytes.
    fn write(&self, buffer: &mut [u8], places: &[Place]);
}

/// Why a field could not be read.
pub(super) enum Misfit {
    /// The type has no such value.
    Value(u128),
    /// A field of the record within it.
    Inner(CmError),
}

impl Misfit {
    /// The error of a field in a record.
    pub(super) fn at(self, record: &'static str, field: &'static str) -> CmError {
        match self {
            Self::Value(value) => CmError::Field {
                record,
                field,
                value,
            },
            Self::Inner(error) => error,
        }
    }
}

/// The number in the places; bits outside of the buffer are 0.
fn get(buffer: &[u8], places: &[Place]) -> u128 {
    let bit = |at: usize| {
        let byte = buffer.get(at / 8).copied().unwrap_or(0);
        u128::from(byte >> (7 - at % 8) & 1)
    };
    places
        .iter()
        .flat_map(|place| place.bit..place.bit + place.width)
        .fold(0, |value, at| value << 1 | bit(at))
}

/// Sets the bits of a number; what does not fit the places is dropped.
fn put(buffer: &mut [u8], places: &[Place], value: u128) {
    let order = places
        .iter()
        .flat_map(|place| place.bit..place.bit + place.width);
    let width: usize = places.iter().map(|place| place.width).sum();
    for (at, left) in order.zip((0..width).rev()) {
        if value >> left & 1 != 0
            && let Some(byte) = buffer.get_mut(at / 8)
        {
            *byte |= 0x80 >> (at % 8);
        }
    }
}

/// A type that is a number of at most 64 bits on the wire.
pub(super) trait Number: Sized {
    /// The value of a number, if it has one.
    fn from_number(number: u64) -> Option<Self>;
    /// Its number.
    fn number(&self) -> u64;
}

impl<N: Number> Field for N {
    fn read(buffer: &[u8], places: &[Place]) -> Result<Self, Misfit> {
        let number = get(buffer, places);
        N::from_number(number as u64).ok_or(Misfit::Value(number))
    }

    fn write(&self, buffer: &mut [u8], places: &[Place]) {
        put(buffer, places, self.number().into());
    }
}

macro_rules! plain_numbers {
    ($( $ty:ty, $from:expr, $to:expr; )+) => { $(
        impl Number for $ty {
            fn from_number(number: u64) -> Option<Self> {
                Some($from(number))
            }
            fn number(&self) -> u64 {
                $to(*self)
            }
        }
    )+ };
}

plain_numbers! {
    u8, |n| n as u8, u64::from;
    u16, |n| n as u16, u64::from;
    u32, |n| n as u32, u64::from;
    u64, |n| n, |n| n;
    bool, |n| n != 0, u64::from;
    Qpn, |n| Qpn::new(n as u32), |qpn: Qpn| qpn.get().into();
    Psn, |n| Psn::new(n as u32), |psn: Psn| psn.get().into();
    Pkey, |n| Pkey(n as u16), |pkey: Pkey| pkey.0.into();
}

impl Field for Ipv6Addr {
    fn read(buffer: &[u8], places: &[Place]) -> Result<Self, Misfit> {
        Ok(get(buffer, places).into())
    }

    fn write(&self, buffer: &mut [u8], places: &[Place]) {
        put(buffer, places, (*self).into());
    }
}

/// The bytes of the one place of a block.
pub(super) fn block(place: &[Place]) -> std::ops::Range<usize> {
    let (bit, width) = place
        .first()
        .map_or((0, 0), |place| (place.bit, place.width));
    bit / 8..(bit + width) / 8
}

impl<const N: usize> Field for [u8; N] {
    fn read(buffer: &[u8], places: &[Place]) -> Result<Self, Misfit> {
        let part = buffer.get(block(places)).unwrap_or_default();
        Ok(part.try_into().unwrap_or([0; N]))
    }

    fn write(&self, buffer: &mut [u8], places: &[Place]) {
        if let Some(part) = buffer.get_mut(block(places)) {
            part.iter_mut().zip(self).for_each(|(to, from)| *to = *from);
        }
    }
}

/// A record, also one within another.
pub(super) trait Part: Sized {
    /// Reads the record from its bytes.
    fn parse_part(buffer: &[u8]) -> Result<Self, CmError>;
    /// Writes it into zeroed bytes.
    fn emit_part(&self, buffer: &mut [u8]);
}

/// Declares a record: the structure, its `parse` and its `emit`, from one list of fields.
///
/// Bits that no field claims are reserved: not looked at, and written as 0.
macro_rules! record {
    ($(#[$attribute:meta])* $name:ident, $label:literal, $len:literal bytes {
        $( $(#[doc = $doc:literal])+ $field:ident : $ty:ty = [$($place:expr),+]; )+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $ty, )+
        }

        impl $name {
            /// Length in bytes.
            pub const LEN: usize = $len;

            /// The record of its bytes.
            ///
            /// # Errors
            /// [`CmError::Field`] of the first field whose value is not allowed.
            pub fn parse(buffer: &[u8; Self::LEN]) -> Result<Self, CmError> {
                <Self as Part>::parse_part(buffer)
            }

            /// Its bytes; reserved bits are 0.
            pub fn emit(&self) -> [u8; Self::LEN] {
                let mut buffer = [0; Self::LEN];
                self.emit_part(&mut buffer);
                buffer
            }
        }

        impl $crate::cm::record::Field for $name {
            fn read(
                buffer: &[u8],
                places: &[$crate::cm::record::Place],
            ) -> Result<Self, $crate::cm::record::Misfit> {
                let part = buffer
                    .get($crate::cm::record::block(places))
                    .unwrap_or_default();
                Self::parse_part(part).map_err($crate::cm::record::Misfit::Inner)
            }

            fn write(&self, buffer: &mut [u8], places: &[$crate::cm::record::Place]) {
                if let Some(part) = buffer.get_mut($crate::cm::record::block(places)) {
                    self.emit_part(part);
                }
            }
        }

        impl Part for $name {
            fn parse_part(buffer: &[u8]) -> Result<Self, CmError> {
                Ok(Self { $(
                    $field: $crate::cm::record::Field::read(buffer, &[$($place),+])
                        .map_err(|misfit| misfit.at($label, stringify!($field)))?,
                )+ })
            }

            fn emit_part(&self, buffer: &mut [u8]) {
                $( $crate::cm::record::Field::write(&self.$field, buffer, &[$($place),+]); )+
            }
        }
    };
}

pub(super) use record;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_in_three_places_comes_apart_and_together() {
        let places = [bytes(0, 1), bits(2, 3, 4), bytes(3, 1)];
        let mut buffer = [0; 4];
        0xAB_CDEu32.write(&mut buffer, &places);
        assert_eq!(buffer, [0xAB, 0, 0x0C, 0xDE]);
        assert!(matches!(u32::read(&buffer, &places), Ok(0xAB_CDE)));
    }

    #[test]
    fn what_does_not_fit_is_dropped() {
        let mut buffer = [0; 1];
        0xFFu8.write(&mut buffer, &[bits(0, 4, 2)]);
        assert_eq!(buffer, [0x18]);
    }

    #[test]
    fn nothing_panics_outside_of_the_buffer() {
        let mut buffer = [0; 2];
        [7u8; 4].write(&mut buffer, &[bytes(1, 4)]);
        0xFFFFu16.write(&mut buffer, &[bytes(1, 2)]);
        assert_eq!(buffer, [0, 0xFF]);
        assert!(matches!(u16::read(&buffer, &[bytes(1, 2)]), Ok(0xFF00)));
        assert!(matches!(
            <[u8; 4]>::read(&buffer, &[bytes(1, 4)]),
            Ok([0, 0, 0, 0])
        ));
    }
}
