//! Entries of the engine's token table.

use std::collections::VecDeque;

use crate::abi::TokenKind;

/// A token of the engine: `index << 8 | key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) index: u32,
    pub(super) key: u8,
}

impl Token {
    pub(super) const fn value(self) -> u32 {
        self.index << 8 | self.key as u32
    }
}

struct Entry {
    key: u8,
    kind: Option<TokenKind>,
}

/// Allocator of token indices. Index 0 is never given out, so 0 is never a token. The key byte of an
/// index changes at each allocation, so a stale token is caught (reading O34); an index is reused as late
/// as possible.
pub(super) struct TokenTable {
    entries: Vec<Entry>,
    free: VecDeque<u32>,
    limit: u32,
}

impl TokenTable {
    pub(super) fn new(limit: u32) -> Self {
        Self {
            entries: vec![Entry { key: 0, kind: None }],
            free: VecDeque::new(),
            limit,
        }
    }

    pub(super) fn allocate(&mut self, kind: TokenKind) -> Option<Token> {
        let fresh = self.entries.len() as u32;
        let index = if fresh < self.limit {
            self.entries.push(Entry { key: 0, kind: None });
            fresh
        } else {
            self.free.pop_front()?
        };
        let entry = self.entries.get_mut(index as usize)?;
        entry.key = entry.key.wrapping_add(1);
        entry.kind = Some(kind);
        Some(Token {
            index,
            key: entry.key,
        })
    }

    pub(super) fn release(&mut self, token: Token) {
        if let Some(entry) = self.entries.get_mut(token.index as usize)
            && entry.kind.take().is_some()
        {
            self.free.push_back(token.index);
        }
    }

    /// Kind of a token that is in use now, if the number is one.
    pub(super) fn kind(&self, value: u32) -> Option<TokenKind> {
        let entry = self.entries.get((value >> 8) as usize)?;
        entry
            .kind
            .filter(|_| u32::from(entry.key) == (value & 0xFF))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_change_at_each_allocation_of_an_index() {
        let mut table = TokenTable::new(3);
        let a = table.allocate(TokenKind::Region).unwrap();
        let b = table.allocate(TokenKind::Fast).unwrap();
        assert_eq!((a.value(), b.value()), (0x101, 0x201));
        assert_eq!(table.allocate(TokenKind::Fast), None);
        table.release(a);
        table.release(a);
        assert_eq!(table.kind(a.value()), None);
        let again = table.allocate(TokenKind::Fast).unwrap();
        assert_eq!(again.value(), 0x102);
        assert_eq!(table.allocate(TokenKind::Fast), None);
        assert_eq!(table.kind(a.value()), None, "stale key");
        assert_eq!(table.kind(again.value()), Some(TokenKind::Fast));
    }
}
