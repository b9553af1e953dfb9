//! Protection domains.

use crate::abi::{Record, TOKEN_CONTEXT, Table, TokenKind};
use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::slots::Slots;
use super::tokens::Token;
use super::{LocalToken, NdkError, NtStatus, Object, Pd, window};

pub(super) struct PdObject {
    pub(super) privileged: Token,
    /// Open queue pairs, memory regions and windows.
    pub(super) successors: u32,
    pub(super) closing: bool,
}

/// Writes the entry of a domain's privileged token.
pub(super) fn write_privileged<H: Hal>(
    hal: &mut H,
    token: Token,
    domain: u32,
) -> Result<(), NdkError> {
    let entry = Record::new(&TOKEN_CONTEXT)
        .with("valid", 1u8)
        .with("kind", TokenKind::Privileged)
        .with("local_write", 1u8)
        .with("key", token.key)
        .with("pd", domain);
    window::write_entry(hal, Table::Token, token.index, &entry)?;
    Ok(())
}

impl<H: Hal> Provider<H> {
    /// Creates a protection domain, and its privileged token with it.
    #[doc(alias = "NdkCreatePd")]
    pub fn create_pd(&mut self) -> Result<Pd, NdkError> {
        let number = self
            .pds
            .next_number()
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        let privileged = self
            .tokens
            .allocate(TokenKind::Privileged)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        write_privileged(&mut self.hal, privileged, number)?;
        let object = PdObject {
            privileged,
            successors: 0,
            closing: false,
        };
        self.pds
            .insert(self.owner, object)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES.into())
    }

    /// The token that gives local read and write on logical addresses without registration, and nothing
    /// to a peer (NDK-TOK-3, -4).
    #[doc(alias = "NdkGetPrivilegedMemoryRegionToken")]
    pub fn privileged_memory_region_token(&self, pd: Pd) -> Result<LocalToken, NdkError> {
        let object = self.pds.get(pd).ok_or(stale(pd))?;
        Ok(LocalToken(object.privileged.value()))
    }

    /// Closes a protection domain. `STATUS_PENDING` as long as queue pairs, memory regions or windows of it are open:
    /// [`Notification::Closed`](super::Notification::Closed) says when it is done (NDK-OBJ-4, -5).
    #[doc(alias = "NdkClosePd")]
    pub fn close_pd(&mut self, pd: Pd) -> Result<NtStatus, NdkError> {
        let object = self.pds.get_mut(pd).ok_or(stale(pd))?;
        if object.successors > 0 {
            object.closing = true;
            return Ok(NtStatus::PENDING);
        }
        self.remove_pd(pd)?;
        Ok(NtStatus::SUCCESS)
    }

    /// A queue pair, memory region or window of the domain is gone.
    pub(super) fn release_pd(&mut self, pd: Pd) -> Result<(), NdkError> {
        let Some(object) = self.pds.get_mut(pd) else {
            return Ok(());
        };
        object.successors = object.successors.saturating_sub(1);
        if object.closing && object.successors == 0 {
            self.tell_closed(Object::Pd(pd));
            self.remove_pd(pd)?;
        }
        Ok(())
    }

    fn remove_pd(&mut self, pd: Pd) -> Result<(), NdkError> {
        if let Some(object) = self.pds.remove(pd) {
            self.invalidate_token(object.privileged)?;
        }
        Ok(())
    }

    /// Takes a token out of the engine's table and gives its index back.
    pub(super) fn invalidate_token(&mut self, token: Token) -> Result<(), NdkError> {
        let entry = Record::new(&TOKEN_CONTEXT);
        window::write_entry(&mut self.hal, Table::Token, token.index, &entry)?;
        self.tokens.release(token);
        Ok(())
    }

    /// Number by which the engine knows the domain.
    pub(super) fn pd_number(pd: Pd) -> u32 {
        Slots::<PdObject>::number(pd)
    }
}
