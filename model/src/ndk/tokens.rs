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

/// A token whose key the requests of queue pairs renew. The consumer has the key of the newest request posted; the
/// engine may not have got there, and never will if that request fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct RenewedToken {
    /// With the key that requests posted from now on find.
    pub(super) token: Token,
    /// Key that the last request known to have succeeded gave it.
    confirmed: u8,
    /// Requests outstanding that renew the key.
    pending: u32,
}

impl RenewedToken {
    pub(super) fn new(token: Token) -> Self {
        Self {
            token,
            confirmed: token.key,
            pending: 0,
        }
    }

    /// A request that gives the token this key was posted.
    pub(super) fn renew(&mut self, token: Token) {
        self.token = token;
        self.pending += 1;
    }

    /// That request is done. When none is outstanding the key is the one that the engine has.
    pub(super) fn settle(&mut self, key: u8, success: bool) {
        self.pending = self.pending.saturating_sub(1);
        if success {
            self.confirmed = key;
        }
        if self.pending == 0 {
            self.token.key = self.confirmed;
        }
    }
}

struct Entry {
    /// In use now.
    key: u8,
    /// Given out last.
    last: u8,
    kind: Option<TokenKind>,
}

const FREE: Entry = Entry {
    key: 0,
    last: 0,
    kind: None,
};

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
            entries: vec![FREE],
            free: VecDeque::new(),
            limit,
        }
    }

    pub(super) fn allocate(&mut self, kind: TokenKind) -> Option<Token> {
        let fresh = self.entries.len() as u32;
        let index = if fresh < self.limit {
            self.entries.push(FREE);
            fresh
        } else {
            self.free.pop_front()?
        };
        let entry = self.entries.get_mut(index as usize)?;
        entry.last = entry.last.wrapping_add(1);
        entry.key = entry.last;
        entry.kind = Some(kind);
        Some(Token {
            index,
            key: entry.key,
        })
    }

    /// The token with another key, one that it had longest ago.
    pub(super) fn next_key(&mut self, token: Token) -> Token {
        let Some(entry) = self.entries.get_mut(token.index as usize) else {
            return token;
        };
        entry.last = entry.last.wrapping_add(1);
        entry.key = entry.last;
        Token {
            index: token.index,
            key: entry.key,
        }
    }

    /// Takes note of the key that a token in use has now.
    pub(super) fn set_key(&mut self, token: Token) {
        if let Some(entry) = self.entries.get_mut(token.index as usize) {
            entry.key = token.key;
        }
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
