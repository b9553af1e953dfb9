//! Token checks, and where the bytes of a use lie.

use super::{Context, QpContext, Sge, TokenContext};
use crate::abi::{Fault, TokenKind};
use crate::wire::Token;

/// Bytes of a page; no access of the host memory crosses such a boundary.
pub(super) const PAGE: u64 = 4096;

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
    /// The entry at the index of a token.
    pub fn entry(&self, token: Token) -> Result<&TokenContext, Fault> {
        let index = usize::try_from(token.index()).ok();
        let entry = index.and_then(|index| self.tokens.get(index));
        entry.ok_or(Fault::TokenIndex)
    }

    /// The valid entry that a token names, by index and key.
    pub(super) fn find(&self, token: Token) -> Result<&TokenContext, Fault> {
        let entry = self.entry(token).ok().filter(|entry| entry.valid);
        let entry = entry.ok_or(Fault::TokenIndex)?;
        if entry.key == token.key() {
            Ok(entry)
        } else {
            Err(Fault::TokenKey)
        }
    }

    /// Checks a use of `length` > 0 bytes by a queue pair, first failure first (WIRE-KEY-1, -2, -5 to -9).
    pub fn check(
        &self,
        token: Token,
        address: u64,
        length: u64,
        qp: &QpContext,
        right: Right,
    ) -> Result<&TokenContext, Fault> {
        let entry = self.find(token)?;
        if entry.pd != qp.pd {
            return Err(Fault::Domain);
        }
        let remote = matches!(right, Right::RemoteRead | Right::RemoteWrite);
        let privileged = entry.kind == TokenKind::Privileged;
        match entry.kind {
            TokenKind::Privileged if remote => return Err(Fault::Kind),
            TokenKind::Window if !remote => return Err(Fault::Kind),
            _ => entry.check_owner(qp)?,
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
        if privileged {
            address.checked_add(length).ok_or(Fault::Bounds)?;
        } else {
            entry.check_bounds(address, length)?;
        }
        Ok(entry)
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
        qp: &QpContext,
        right: Right,
        chunks: &mut Vec<Chunk>,
    ) -> Result<(), Fault> {
        let (address, length) = (piece.address, u64::from(piece.length));
        let entry = self.check(piece.token, address, length, qp, right)?;
        self.place(entry, address, length, chunks);
        Ok(())
    }
}

impl TokenContext {
    /// A window is used by its own queue pair only (WIRE-KEY-8).
    pub(super) fn check_owner(&self, qp: &QpContext) -> Result<(), Fault> {
        if self.kind == TokenKind::Window && u32::from(self.window_qp) != qp.number {
            return Err(Fault::QueuePair);
        }
        Ok(())
    }

    /// Whether a range lies inside, without a wrap (WIRE-KEY-2, -7).
    pub(super) fn check_bounds(&self, address: u64, length: u64) -> Result<(), Fault> {
        let end = address.checked_add(length).ok_or(Fault::Bounds)?;
        let own_end = u128::from(self.base_address) + u128::from(self.length);
        if address >= self.base_address && u128::from(end) <= own_end {
            Ok(())
        } else {
            Err(Fault::Bounds)
        }
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
