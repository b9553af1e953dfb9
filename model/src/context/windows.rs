//! Tokens that requests make valid and free again: fast registration, memory windows, invalidation.

use super::tokens::PAGE;
use super::{Context, QpContext, TokenContext};
use crate::abi::{Fault, TokenKind};
use crate::wire::Token;

/// Rights that a request gives to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rights {
    pub local_write: bool,
    pub remote_read: bool,
    pub remote_write: bool,
}

/// What a Bind asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    /// The window, with its key of now.
    pub window: Token,
    /// Its key from then on (WIRE-MW-3).
    pub new_key: u8,
    pub region: Token,
    pub address: u64,
    pub length: u32,
    /// `local_write` is not looked at: a window is never used locally.
    pub rights: Rights,
}

/// What a FastRegister asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registration {
    /// The region, with its key from then on.
    pub token: Token,
    pub page_count: u16,
    pub page_offset: u16,
    pub address: u64,
    pub length: u32,
    pub rights: Rights,
}

impl Context {
    /// Writes a token's entry; a bound window that it replaces no longer counts at its region.
    pub(super) fn write_token(&mut self, index: usize, entry: TokenContext) {
        self.leave_region(index);
        if let Some(old) = self.tokens.get_mut(index) {
            *old = entry;
        }
    }

    /// A bound window is about to end: its region has one less.
    fn leave_region(&mut self, index: usize) {
        let window = self.tokens.get(index);
        let parent = window.filter(|old| old.is_bound_window());
        if let Some(parent) = parent.map(|window| window.parent as usize)
            && let Some(region) = self.tokens.get_mut(parent)
        {
            region.windows = region.windows.saturating_sub(1);
        }
    }

    fn entry_mut(&mut self, token: Token) -> Option<&mut TokenContext> {
        let index = usize::try_from(token.index()).ok()?;
        self.tokens.get_mut(index)
    }

    /// Checks a token for invalidation by the peer (WIRE-INV-1, -3, -8).
    pub fn check_remote_invalidation(&self, token: Token, qp: &QpContext) -> Result<(), Fault> {
        let entry = self.find(token)?;
        entry.check_revocable(qp)?;
        if entry.kind == TokenKind::Fast && !entry.remote_read && !entry.remote_write {
            return Err(Fault::Right);
        }
        entry.check_no_windows()
    }

    /// Checks a token for an Invalidate (WIRE-INV-8, -9).
    pub fn check_invalidation(&self, token: Token, qp: &QpContext) -> Result<(), Fault> {
        let entry = self.find(token)?;
        entry.check_revocable(qp)?;
        entry.check_no_windows()
    }

    /// Frees a token if index and key match and no window is bound to it; else nothing happens
    /// (WIRE-INV-5, -8).
    pub fn invalidate(&mut self, token: Token) {
        let found = self.find(token);
        if found.and_then(TokenContext::check_no_windows).is_err() {
            return;
        }
        if let Ok(index) = usize::try_from(token.index()) {
            self.leave_region(index);
        }
        if let Some(entry) = self.entry_mut(token) {
            entry.valid = false;
        }
    }

    /// Checks a FastRegister, but for its page list.
    pub fn check_registration(&self, asked: &Registration, qp: &QpContext) -> Result<(), Fault> {
        let entry = self.entry(asked.token)?;
        if entry.pd != qp.pd {
            return Err(Fault::Domain);
        }
        if entry.kind != TokenKind::Fast {
            return Err(Fault::Kind);
        }
        if entry.valid {
            return Err(Fault::State);
        }
        let room = PAGE * u64::from(asked.page_count);
        let needed = u64::from(asked.length) + u64::from(asked.page_offset);
        if asked.page_count > entry.max_pages || needed > room {
            return Err(Fault::WqeLength);
        }
        Ok(())
    }

    /// Carries out a FastRegister that was checked.
    pub fn register(&mut self, asked: &Registration, pages: &[u64]) {
        let Some(entry) = self.entry_mut(asked.token) else {
            return;
        };
        entry.valid = true;
        entry.key = asked.token.key();
        entry.local_write = asked.rights.local_write;
        entry.remote_read = asked.rights.remote_read;
        entry.remote_write = asked.rights.remote_write;
        entry.base_address = asked.address;
        entry.length = asked.length.into();
        entry.page_offset = asked.page_offset;
        let first = u64::from(entry.first_page);
        for (number, page) in (first..).zip(pages) {
            self.set_page(number, *page);
        }
    }

    /// Checks a Bind (WIRE-MW-1, WIRE-MW-3).
    pub fn check_binding(&self, asked: &Binding, qp: &QpContext) -> Result<(), Fault> {
        if asked.length == 0 {
            return Err(Fault::WqeLength);
        }
        let window = self.entry(asked.window)?;
        if window.key != asked.window.key() {
            return Err(Fault::TokenKey);
        }
        if window.pd != qp.pd {
            return Err(Fault::Domain);
        }
        if window.kind != TokenKind::Window {
            return Err(Fault::Kind);
        }
        if window.valid {
            return Err(Fault::State);
        }
        let region = self.find(asked.region)?;
        if region.pd != qp.pd {
            return Err(Fault::Domain);
        }
        if !matches!(region.kind, TokenKind::Region | TokenKind::Fast) {
            return Err(Fault::Kind);
        }
        if asked.rights.remote_write && !region.local_write {
            return Err(Fault::Right);
        }
        region.check_bounds(asked.address, asked.length.into())
    }

    /// Carries out a Bind that was checked.
    pub fn bind(&mut self, asked: &Binding, qp: &QpContext) {
        let Some(region) = self.entry_mut(asked.region) else {
            return;
        };
        region.windows = region.windows.saturating_add(1);
        let offset = asked.address.wrapping_sub(region.base_address);
        let offset = offset.wrapping_add(region.page_offset.into());
        let first_page = u64::from(region.first_page).wrapping_add(offset / PAGE);
        let Some(window) = self.entry_mut(asked.window) else {
            return;
        };
        *window = TokenContext {
            valid: true,
            key: asked.new_key,
            local_write: false,
            remote_read: asked.rights.remote_read,
            remote_write: asked.rights.remote_write,
            base_address: asked.address,
            length: asked.length.into(),
            first_page: first_page as u32,
            page_offset: (offset % PAGE) as u16,
            window_qp: qp.number as u16,
            parent: asked.region.index(),
            ..*window
        };
    }
}

impl TokenContext {
    /// Whether a queue pair may invalidate a token of this kind, domain and owner.
    fn check_revocable(&self, qp: &QpContext) -> Result<(), Fault> {
        if self.pd != qp.pd {
            return Err(Fault::Domain);
        }
        if !matches!(self.kind, TokenKind::Fast | TokenKind::Window) {
            return Err(Fault::Kind);
        }
        self.check_owner(qp)
    }

    fn check_no_windows(&self) -> Result<(), Fault> {
        if self.windows > 0 {
            return Err(Fault::State);
        }
        Ok(())
    }
}
