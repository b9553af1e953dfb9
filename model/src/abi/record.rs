//! A record of the ABI in memory: named fields over `bitvec`.

use bitvec::prelude::*;

use super::Layout;

/// The bytes of one record, read and written by field name.
///
/// Field names are constants of the program: an unknown name is a programming error and panics in
/// [`Record::get`] and [`Record::set`]; no input from outside chooses a name.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    layout: &'static Layout,
    bits: BitVec<u8, Lsb0>,
}

impl Record {
    /// A record of all zeros.
    pub fn new(layout: &'static Layout) -> Self {
        Self {
            layout,
            bits: BitVec::repeat(false, layout.width.next_multiple_of(8)),
        }
    }

    /// A record with the bytes given; missing bytes are zero, surplus bytes are ignored.
    pub fn from_bytes(layout: &'static Layout, bytes: &[u8]) -> Self {
        let mut record = Self::new(layout);
        let n = bytes.len().min(layout.bytes());
        record.bits.as_raw_mut_slice()[..n].copy_from_slice(&bytes[..n]);
        record
    }

    /// The record's bytes, little-endian, [`Layout::bytes`] of them.
    pub fn as_bytes(&self) -> &[u8] {
        self.bits.as_raw_slice()
    }

    /// Its layout.
    pub fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// The value of a field of at most 128 bits.
    pub fn get(&self, name: &str) -> u128 {
        let (offset, width) = self.place(name);
        self.bits[offset..offset + width].load_le()
    }

    /// Sets a field of at most 128 bits; bits above the field's width are dropped.
    pub fn set(&mut self, name: &str, value: impl Into<u128>) -> &mut Self {
        let (offset, width) = self.place(name);
        self.bits[offset..offset + width].store_le::<u128>(value.into());
        self
    }

    /// [`Record::set`] for building in one expression.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<u128>) -> Self {
        self.set(name, value);
        self
    }

    fn place(&self, name: &str) -> (usize, usize) {
        self.layout
            .field(name)
            .unwrap_or_else(|| panic!("{} has no field {name}", self.layout.name))
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut s = f.debug_struct(self.layout.name);
        for field in self
            .layout
            .fields
            .iter()
            .filter(|field| !field.doc.is_empty())
        {
            s.field(field.name, &format_args!("{:#x}", self.get(field.name)));
        }
        s.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LAYOUTS, SQ_WQE};
    use super::*;

    #[test]
    fn fields_cover_their_record_exactly() {
        for layout in LAYOUTS {
            let sum: usize = layout.fields.iter().map(|f| f.width).sum();
            assert_eq!(sum, layout.width, "{}", layout.name);
        }
    }

    #[test]
    fn a_field_changes_only_its_own_bits() {
        for layout in LAYOUTS {
            for field in layout.fields {
                let ones = Record::new(layout).with(field.name, u128::MAX);
                let set: usize = ones
                    .as_bytes()
                    .iter()
                    .map(|b| b.count_ones() as usize)
                    .sum();
                assert_eq!(set, field.width, "{}.{}", layout.name, field.name);
                let kept = Record::from_bytes(layout, ones.as_bytes()).get(field.name);
                assert_eq!(
                    kept,
                    u128::MAX >> (128 - field.width),
                    "{}.{}",
                    layout.name,
                    field.name
                );
            }
        }
    }

    #[test]
    fn bytes_are_little_endian() {
        let wqe = Record::new(&SQ_WQE).with("remote_address", 0x0102_0304_0506_0708u64);
        assert_eq!(wqe.as_bytes()[16..24], [8, 7, 6, 5, 4, 3, 2, 1]);
    }
}
