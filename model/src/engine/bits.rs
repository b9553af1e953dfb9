//! Fields of ABI records in plain bytes, for the hot paths: the place of a field is computed from its
//! layout when the program is compiled.

use crate::abi::Layout;

/// Where a field lies in its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// First bit.
    pub offset: usize,
    /// Number of bits, at most 64.
    pub width: usize,
}

impl Place {
    /// The place of the field `name`; a compile-time error if there is none. Of a field wider than
    /// 64 bits, its low 64.
    pub const fn of(layout: &Layout, name: &str) -> Self {
        let mut offset = 0;
        let mut i = 0;
        while i < layout.fields.len() {
            let field = &layout.fields[i];
            if same(field.name, name) {
                let width = if field.width > 64 { 64 } else { field.width };
                return Self { offset, width };
            }
            offset += field.width;
            i += 1;
        }
        panic!("no such field")
    }

    /// The place that follows, of the same width.
    pub const fn following(self) -> Self {
        Self {
            offset: self.offset + self.width,
            width: self.width,
        }
    }

    const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The field's value; bytes that are not there count as 0.
    #[inline(always)]
    pub fn get(self, bytes: &[u8]) -> u64 {
        (load(bytes, self.offset / 8) >> (self.offset % 8)) & self.mask()
    }

    /// Sets the field to the low bits of `value`; bytes that are not there are left out. A field
    /// reaches over at most 64 bits from the start of its first byte.
    #[inline(always)]
    pub fn put(self, bytes: &mut [u8], value: u64) {
        let (byte, shift) = (self.offset / 8, self.offset % 8);
        let mask = self.mask() << shift;
        let word = load(bytes, byte) & !mask | (value << shift) & mask;
        let tail = bytes.get_mut(byte..).unwrap_or_default();
        match tail.first_chunk_mut() {
            Some(to) => *to = word.to_le_bytes(),
            None => {
                for (to, from) in tail.iter_mut().zip(word.to_le_bytes()) {
                    *to = from;
                }
            }
        }
    }
}

#[inline(always)]
fn load(bytes: &[u8], byte: usize) -> u64 {
    let tail = bytes.get(byte..).unwrap_or_default();
    match tail.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            word.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        }
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The place of a field of a layout, as a constant: `field!(CQE, phase)`.
macro_rules! field {
    ($layout:ident, $name:ident) => {
        const { $crate::engine::bits::Place::of(&$crate::abi::$layout, stringify!($name)) }
    };
}
pub(crate) use field;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{LAYOUTS, Record};

    #[test]
    fn places_are_those_of_the_tables() {
        for layout in LAYOUTS {
            let mut bytes: Vec<u8> = (0..layout.bytes() as u8)
                .map(|b| b.wrapping_mul(37))
                .collect();
            for field in layout.fields {
                let place = Place::of(layout, field.name);
                let record = Record::from_bytes(layout, &bytes);
                assert_eq!(
                    place.get(&bytes),
                    record.get(field.name) as u64,
                    "{}.{}",
                    layout.name,
                    field.name
                );
                if field.width <= 64 && place.offset % 8 + place.width <= 64 {
                    let value = 0x0123_4567_89AB_CDEFu64;
                    let expected = record.with(field.name, value);
                    place.put(&mut bytes, value);
                    assert_eq!(bytes, expected.as_bytes(), "{}.{}", layout.name, field.name);
                }
            }
        }
    }
}
