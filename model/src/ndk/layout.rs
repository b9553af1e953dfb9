//! Places of fields in the shared records, worked out by the compiler from the tables of
//! [`abi`](crate::abi). The hot paths (requests out, completions in) read and write whole bytes with them;
//! an unknown name, or a field that is not where such code can reach it, does not compile.

use crate::abi::{CONSTANTS, Layout};

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

/// Bit offset of a field.
pub(super) const fn bit(layout: &Layout, name: &str) -> usize {
    let mut offset = 0;
    let mut i = 0;
    while i < layout.fields.len() {
        if same(layout.fields[i].name, name) {
            return offset;
        }
        offset += layout.fields[i].width;
        i += 1;
    }
    panic!("no such field")
}

/// Byte offset of a field that begins at a byte.
pub(super) const fn byte(layout: &Layout, name: &str) -> usize {
    let offset = bit(layout, name);
    assert!(offset.is_multiple_of(8), "field inside a byte");
    offset / 8
}

/// Byte offset and mask of a one-bit field.
pub(super) const fn flag(layout: &Layout, name: &str) -> (usize, u8) {
    let offset = bit(layout, name);
    (offset / 8, 1 << (offset % 8))
}

/// A shared number.
pub(super) const fn number(name: &str) -> u64 {
    let mut i = 0;
    while i < CONSTANTS.len() {
        if same(CONSTANTS[i].name, name) {
            return CONSTANTS[i].value;
        }
        i += 1;
    }
    panic!("no such number")
}
