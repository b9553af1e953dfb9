//! Reading fields out of bytes, and the Internet checksum. Nothing here panics.

use std::ops::Range;

/// The `N` bytes of a field; zeros if the buffer does not hold them.
///
/// Views call it with constant ranges on arrays, where the compiler removes the check.
#[inline(always)]
pub(super) fn array<const N: usize>(bytes: &[u8], field: Range<usize>) -> [u8; N] {
    bytes
        .get(field)
        .and_then(|field| field.try_into().ok())
        .unwrap_or([0; N])
}

/// A big-endian field of two bytes.
#[inline(always)]
pub(super) fn be16(bytes: &[u8], field: Range<usize>) -> u16 {
    u16::from_be_bytes(array(bytes, field))
}

/// A big-endian field of three bytes.
#[inline(always)]
pub(super) fn be24(bytes: &[u8], field: Range<usize>) -> u32 {
    let [a, b, c] = array(bytes, field);
    u32::from_be_bytes([0, a, b, c])
}

/// A big-endian field of four bytes.
#[inline(always)]
pub(super) fn be32(bytes: &[u8], field: Range<usize>) -> u32 {
    u32::from_be_bytes(array(bytes, field))
}

/// A big-endian field of eight bytes.
#[inline(always)]
pub(super) fn be64(bytes: &[u8], field: Range<usize>) -> u64 {
    u64::from_be_bytes(array(bytes, field))
}

/// The low three bytes of a number, big-endian.
#[inline(always)]
pub(super) fn to_be24(value: u32) -> [u8; 3] {
    let [_, a, b, c] = value.to_be_bytes();
    [a, b, c]
}

/// Overwrites a field if the buffer holds all of it.
pub(super) fn put(bytes: &mut [u8], field: Range<usize>, value: &[u8]) {
    if let Some(place) = bytes.get_mut(field)
        && place.len() == value.len()
    {
        place.copy_from_slice(value);
    }
}

/// Sum of big-endian 16-bit words for the Internet checksum, not yet folded; an odd last byte is
/// the high half of a word.
#[inline]
pub(super) fn ones_sum(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<4>();
    // 32-bit words may be added as they are: 2^16 = 1 modulo 2^16 - 1.
    let sum: u64 = words
        .iter()
        .map(|word| u64::from(u32::from_be_bytes(*word)))
        .sum();
    let mut last = [0; 4];
    last.iter_mut()
        .zip(tail)
        .for_each(|(last, byte)| *last = *byte);
    sum + u64::from(u32::from_be_bytes(last))
}

/// Folds a sum to 16 bits. A field sum that includes a right checksum folds to `0xFFFF`.
#[inline]
pub(super) fn ones_fold(sum: u64) -> u16 {
    let sum = (sum & 0xFFFF_FFFF) + (sum >> 32);
    let sum = (sum & 0xFFFF) + (sum >> 16);
    let sum = (sum & 0xFFFF) + (sum >> 16);
    let sum = (sum & 0xFFFF) + (sum >> 16);
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(bytes: &[u8]) -> u16 {
        let mut sum = 0u32;
        for pair in bytes.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn the_sum_is_that_of_the_definition() {
        let bytes: Vec<u8> = (0..200u32).map(|i| (i * 89 % 251) as u8).collect();
        for n in 0..bytes.len() {
            assert_eq!(ones_fold(ones_sum(&bytes[..n])), slow(&bytes[..n]), "{n}");
        }
        assert_eq!(ones_fold(ones_sum(&[0xFF; 65535])), slow(&[0xFF; 65535]));
        assert_eq!(ones_fold(u64::MAX), 0xFFFF);
    }

    #[test]
    fn fields_outside_the_buffer_read_as_zero() {
        assert_eq!(be32(&[1, 2, 3], 0..4), 0);
        assert_eq!(be24(&[1, 2, 3], 0..3), 0x010203);
        let mut short = [1, 2];
        put(&mut short, 1..3, &[9, 9]);
        assert_eq!(short, [1, 2]);
    }
}
