//! Token checks, and where the bytes of a use lie.

use super::{Context, Sge, TokenContext};
use crate::abi::{Fault, TokenKind};
use crate::wire::Token;

/// Bytes of a page; no access of the host memory crosses such a boundary.
const PAGE: u64 = 4096;

/// What a use needs of its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// Gather of a local element: needs no right.
    LocalRead,
    /// Scatter to a local element.
    LocalWrite,
    /// Read by the peer.
    RemoteRead,
    /// Write by the peer.
    RemoteWrite,
}

/// A run of bytes in host memory that one bus access covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Logical address.
    pub address: u64,
    /// Bytes, at least 1.
    pub length: usize,
}

impl Context {
    /// The entry that a token names, by index and key.
    fn find(&self, token: Token) -> Result<&TokenContext, Fault> {
        let entry = usize::try_from(token.index())
            .ok()
            .and_then(|index| self.tokens.get(index))
            .filter(|entry| entry.valid)
            .ok_or(Fault::TokenIndex)?;
        if entry.key == token.key() {
            Ok(entry)
        } else {
            Err(Fault::TokenKey)
        }
    }

    /// Checks a use of `length` > 0 bytes, first failure first (WIRE-KEY-1, -2, -5, -6, -9).
    pub fn check(
        &self,
        token: Token,
        address: u64,
        length: u64,
        pd: u16,
        right: Right,
    ) -> Result<&TokenContext, Fault> {
        let entry = self.find(token)?;
        if entry.pd != pd {
            return Err(Fault::Domain);
        }
        let privileged = entry.kind == TokenKind::Privileged;
        if privileged && matches!(right, Right::RemoteRead | Right::RemoteWrite) {
            return Err(Fault::Kind);
        }
        let granted = match right {
            Right::LocalRead => true,
            Right::LocalWrite => entry.local_write,
            Right::RemoteRead => entry.remote_read,
            Right::RemoteWrite => entry.remote_write,
        };
        if !granted {
            return Err(Fault::Right);
        }
        let end = address.checked_add(length).ok_or(Fault::Bounds)?;
        let region_end = u128::from(entry.base_address) + u128::from(entry.length);
        if privileged || (address >= entry.base_address && u128::from(end) <= region_end) {
            Ok(entry)
        } else {
            Err(Fault::Bounds)
        }
    }

    /// Checks a token for invalidation by the peer (WIRE-INV-1, -3).
    pub fn check_invalidation(&self, token: Token, pd: u16) -> Result<(), Fault> {
        let entry = self.find(token)?;
        if entry.pd != pd {
            Err(Fault::Domain)
        } else if entry.kind != TokenKind::Fast {
            Err(Fault::Kind)
        } else if !entry.remote_read && !entry.remote_write {
            Err(Fault::Right)
        } else {
            Ok(())
        }
    }

    /// Makes a token unusable if index and key match; else nothing happens (WIRE-INV-5).
    pub fn invalidate(&mut self, token: Token) {
        if self.find(token).is_err() {
            return;
        }
        if let Some(entry) = usize::try_from(token.index())
            .ok()
            .and_then(|index| self.tokens.get_mut(index))
        {
            entry.valid = false;
        }
    }

    /// Appends where the bytes of a checked use lie: one run for each page that it touches.
    pub fn place(&self, entry: &TokenContext, address: u64, length: u64, chunks: &mut Vec<Chunk>) {
        if entry.kind == TokenKind::Privileged {
            return split(address, length, chunks);
        }
        let offset = address
            .wrapping_sub(entry.base_address)
            .wrapping_add(entry.page_offset.into());
        split_pages(offset, length, |offset, length| {
            let page = self.page(u64::from(entry.first_page).wrapping_add(offset / PAGE));
            chunks.push(Chunk {
                address: page + offset % PAGE,
                length,
            });
        });
    }

    /// Checks a use and appends where its bytes lie.
    pub fn translate(
        &self,
        piece: Sge,
        pd: u16,
        right: Right,
        chunks: &mut Vec<Chunk>,
    ) -> Result<(), Fault> {
        let (address, length) = (piece.address, u64::from(piece.length));
        let entry = self.check(piece.token, address, length, pd, right)?;
        self.place(entry, address, length, chunks);
        Ok(())
    }
}

/// Appends a range of logical addresses, one run for each page that it touches.
pub(crate) fn split(address: u64, length: u64, chunks: &mut Vec<Chunk>) {
    split_pages(address, length, |address, length| {
        chunks.push(Chunk { address, length });
    });
}

/// The runs of a range that lie each in one page.
fn split_pages(mut start: u64, mut left: u64, mut run: impl FnMut(u64, usize)) {
    while left > 0 {
        let length = left.min(PAGE - start % PAGE);
        run(start, length as usize);
        start = start.wrapping_add(length);
        left -= length;
    }
}

/// The pieces of `elements` that hold bytes `offset..offset + length` of a message, in order; elements of
/// length 0 give none. Their lengths add up to less if the elements end before.
pub(crate) fn pieces(elements: &[Sge], offset: u64, length: u64) -> impl Iterator<Item = Sge> + '_ {
    let mut skip = offset;
    let mut left = length;
    elements.iter().filter_map(move |element| {
        let size = u64::from(element.length);
        let start = skip.min(size);
        skip -= start;
        let used = (size - start).min(left);
        left -= used;
        (used > 0).then(|| Sge {
            address: element.address.wrapping_add(start),
            length: used as u32,
            token: element.token,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(address: u64, length: u32) -> Sge {
        Sge {
            address,
            length,
            token: Token(7),
        }
    }

    #[test]
    fn pieces_of_elements() {
        let elements = [
            element(1000, 5),
            element(0, 0),
            element(2000, 7),
            element(3000, 1),
        ];
        let collect = |offset, length| -> Vec<(u64, u32)> {
            pieces(&elements, offset, length)
                .map(|piece| (piece.address, piece.length))
                .collect()
        };
        assert_eq!(collect(0, 13), [(1000, 5), (2000, 7), (3000, 1)]);
        assert_eq!(collect(3, 4), [(1003, 2), (2000, 2)]);
        assert_eq!(collect(5, 7), [(2000, 7)]);
        assert_eq!(collect(12, 9), [(3000, 1)]);
        assert_eq!(collect(13, 1), []);
        assert_eq!(collect(0, 0), []);
    }
}
