//! How a shared record or enumeration is described.

/// One bit field of a record. Fields follow one another from bit 0 upwards, without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name, the same in Rust, SystemVerilog and the book.
    pub name: &'static str,
    /// Width in bits.
    pub width: usize,
    /// What it means; empty for reserved fields.
    pub doc: &'static str,
}

/// One record: its bit 0 is bit 0 of its byte 0, multi-byte values are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Type name; the SystemVerilog type is `<name>_t`.
    pub name: &'static str,
    /// Total width in bits, a multiple of 8 for what lies in host memory.
    pub width: usize,
    /// Fields from bit 0 upwards.
    pub fields: &'static [Field],
    /// What the record is for.
    pub doc: &'static str,
}

impl Layout {
    /// Bit offset and width of the field `name`, if there is one.
    pub fn field(&self, name: &str) -> Option<(usize, usize)> {
        let mut offset = 0;
        for field in self.fields {
            if field.name == name {
                return Some((offset, field.width));
            }
            offset += field.width;
        }
        None
    }

    /// Size in bytes, rounded up.
    pub const fn bytes(&self) -> usize {
        self.width.div_ceil(8)
    }
}

/// One value of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Name in UpperCamel.
    pub name: &'static str,
    /// Encoding.
    pub value: u32,
    /// What it means.
    pub doc: &'static str,
}

/// A shared enumeration.
#[derive(Clone, Copy, Debug)]
pub struct Enumeration {
    /// Name in snake case; the SystemVerilog type is `<name>_e`.
    pub name: &'static str,
    /// Width of the encoding in bits.
    pub width: usize,
    /// Its values.
    pub variants: &'static [Variant],
    /// What it is for.
    pub doc: &'static str,
}

/// A shared number.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Name in UpperCamel.
    pub name: &'static str,
    /// Value.
    pub value: u64,
    /// What it is, with its unit.
    pub doc: &'static str,
}
