//! Memory windows.

use crate::abi::{Record, TOKEN_CONTEXT, Table, TokenKind};
use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::tokens::RenewedToken;
use super::{Mr, Mw, NdkError, NtStatus, Object, Pd, Qp, RemoteToken, window};

pub(super) struct MwObject {
    pub(super) pd: Pd,
    pub(super) token: RenewedToken,
    /// Whether a Bind was posted: before, the token is of no use.
    pub(super) named: bool,
    /// Where it is bound, as far as completions tell.
    pub(super) bound: Option<Bound>,
    /// Keys that the peer invalidated, of Binds that are not known to be done as yet: the receive of
    /// what invalidated it may be looked at first.
    given_back: Vec<u8>,
    /// Bind and Invalidate requests outstanding.
    pub(super) requests: u32,
    closing: bool,
}

/// Where a window is bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) mr: Mr,
    pub(super) qp: Qp,
    /// Key that the Bind gave it.
    pub(super) key: u8,
}

impl MwObject {
    /// A Bind was done. The region that the window is bound to no more: the one before, or the new one if the peer has
    /// given the window back already.
    pub(super) fn bind_done(&mut self, bound: Bound) -> Option<Mr> {
        if let Some(place) = self.given_back.iter().position(|key| *key == bound.key) {
            self.given_back.swap_remove(place);
            return Some(bound.mr);
        }
        self.bound.replace(bound).map(|before| before.mr)
    }

    /// The peer gave it back. The region that it is bound to no more, if that is known.
    fn give_back(&mut self, key: u8) -> Option<Mr> {
        let known = self.bound.take_if(|bound| bound.key == key);
        if known.is_none() {
            self.given_back.push(key);
        }
        known.map(|bound| bound.mr)
    }
}

impl<H: Hal> Provider<H> {
    /// Creates a memory window, bound to nothing. `STATUS_INSUFFICIENT_RESOURCES`: no token left.
    #[doc(alias = "NdkCreateMw")]
    pub fn create_mw(&mut self, pd: Pd) -> Result<Mw, NdkError> {
        self.pds.get(pd).ok_or(stale(pd))?;
        self.expect_own(pd)?;
        let token = self
            .tokens
            .allocate(TokenKind::Window)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        let object = MwObject {
            pd,
            token: RenewedToken::new(token),
            named: false,
            bound: None,
            given_back: Vec::new(),
            requests: 0,
            closing: false,
        };
        let mw = self.mws.insert(self.owner, object);
        let mw = mw.ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        self.write_free_window(mw)?;
        if let Some(domain) = self.pds.get_mut(pd) {
            domain.successors += 1;
        }
        Ok(mw)
    }

    /// Closes a memory window; nobody gets through it from here on. `STATUS_PENDING` as long as requests that name it
    /// are outstanding: [`Notification::Closed`](super::Notification::Closed) says when it is done (NDK-OBJ-4, -5). A silent request counts
    /// until a later completion of its queue shows that it is done.
    #[doc(alias = "NdkCloseMw")]
    pub fn close_mw(&mut self, mw: Mw) -> Result<NtStatus, NdkError> {
        let object = self.mws.get_mut(mw).ok_or(stale(mw))?;
        if object.requests > 0 {
            object.closing = true;
            return Ok(NtStatus::PENDING);
        }
        self.remove_mw(mw)?;
        Ok(NtStatus::SUCCESS)
    }

    /// Token for the peer, of the newest Bind posted: another after each (NDK-BIND-9, NDK-TOK-2).
    /// `STATUS_INVALID_DEVICE_STATE` before the first.
    #[doc(alias = "NdkGetRemoteTokenFromMw")]
    pub fn remote_token_from_mw(&self, mw: Mw) -> Result<RemoteToken, NdkError> {
        let object = self.mws.get(mw).ok_or(stale(mw))?;
        if !object.named {
            return Err(NtStatus::INVALID_DEVICE_STATE.into());
        }
        Ok(RemoteToken::from_engine(object.token.token.value()))
    }

    /// The peer invalidated a token: its window is bound no more, or its region is free.
    pub(super) fn token_invalidated(&mut self, token: u32) -> Result<(), NdkError> {
        let index = token >> 8;
        let numbers: Vec<u32> = self.mws.numbers().collect();
        for number in numbers {
            let mw = self.mws.number_mut(number);
            let mw = mw.filter(|mw| mw.token.token.index == index);
            if let Some(mr) = mw.and_then(|mw| mw.give_back(token as u8)) {
                self.window_left(mr)?;
            }
        }
        let numbers: Vec<u32> = self.mrs.numbers().collect();
        for number in numbers {
            let mr = self.mrs.number_mut(number);
            let registration = mr.and_then(|mr| mr.registration.as_mut());
            if let Some(own) = registration.filter(|own| own.token.token.index == index) {
                own.valid = false;
            }
        }
        Ok(())
    }

    /// A window is bound to the region no more.
    pub(super) fn window_left(&mut self, mr: Mr) -> Result<(), NdkError> {
        if let Some(region) = self.mrs.get_mut(mr) {
            region.windows = region.windows.saturating_sub(1);
        }
        self.reap_mr(mr)
    }

    /// Frees the windows bound to a queue pair that is gone: its number will be another's.
    pub(super) fn free_windows_of(&mut self, qp: Qp) -> Result<(), NdkError> {
        let numbers: Vec<u32> = self.mws.numbers().collect();
        for number in numbers {
            let Some(mw) = self.mws.handle::<Mw>(number) else {
                continue;
            };
            let bound = self
                .mws
                .get_mut(mw)
                .and_then(|object| object.bound.take_if(|bound| bound.qp == qp));
            if let Some(bound) = bound {
                self.write_free_window(mw)?;
                self.window_left(bound.mr)?;
            }
        }
        Ok(())
    }

    /// Writes the entry of a window that is bound to nothing.
    pub(super) fn write_free_window(&mut self, mw: Mw) -> Result<(), NdkError> {
        let object = self.mws.get(mw).ok_or(stale(mw))?;
        let token = object.token.token;
        let entry = Record::new(&TOKEN_CONTEXT)
            .with("kind", TokenKind::Window)
            .with("key", token.key)
            .with("pd", Self::pd_number(object.pd));
        window::write_entry(&mut self.hal, Table::Token, token.index, &entry)?;
        Ok(())
    }

    /// A request uses the window no more.
    pub(super) fn reap_mw(&mut self, mw: Mw) -> Result<(), NdkError> {
        let object = self.mws.get(mw);
        if object.is_some_and(|object| object.closing && object.requests == 0) {
            self.tell_closed(Object::Mw(mw));
            self.remove_mw(mw)?;
        }
        Ok(())
    }

    fn remove_mw(&mut self, mw: Mw) -> Result<(), NdkError> {
        let Some(object) = self.mws.remove(mw) else {
            return Ok(());
        };
        self.invalidate_token(object.token.token)?;
        if let Some(bound) = object.bound {
            self.window_left(bound.mr)?;
        }
        self.release_pd(object.pd)
    }
}
