//! Numbers in a file, in the byte order of who wrote it.

/// Byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Big,
    Little,
}

/// The bytes at an offset; `None` if the file ends before.
pub(super) fn slice(bytes: &[u8], offset: usize, length: usize) -> Option<&[u8]> {
    bytes.get(offset..offset.checked_add(length)?)
}

/// A number of four bytes.
pub(super) fn u32_at(bytes: &[u8], offset: usize, order: Order) -> Option<u32> {
    let field = *slice(bytes, offset, 4)?.first_chunk()?;
    Some(match order {
        Order::Big => u32::from_be_bytes(field),
        Order::Little => u32::from_le_bytes(field),
    })
}

/// A number of two bytes.
pub(super) fn u16_at(bytes: &[u8], offset: usize, order: Order) -> Option<u16> {
    let field = *slice(bytes, offset, 2)?.first_chunk()?;
    Some(match order {
        Order::Big => u16::from_be_bytes(field),
        Order::Little => u16::from_le_bytes(field),
    })
}
