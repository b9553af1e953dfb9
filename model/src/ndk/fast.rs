//! Regions for fast registration.

use crate::abi::{Record, TOKEN_CONTEXT, Table, TokenKind};
use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::mr::Registration;
use super::tokens::RenewedToken;
use super::{Mr, MrUse, NdkError, NtStatus, window};

impl<H: Hal> Provider<H> {
    /// Gives a region for fast registration its tokens and the room for `adapter_page_count` pages (NDK-FINI-2, -5).
    /// Remote rights can be asked for only with `remote_access` (NDK-FREG-10).
    ///
    /// `STATUS_IMPLEMENTATION_LIMIT`: no pages, or more than the engine has or a request can name (NDK-FINI-3).
    /// `STATUS_INSUFFICIENT_RESOURCES`: so many are not free, or no token is. `STATUS_INVALID_DEVICE_REQUEST`: the
    /// region is for NdkRegisterMr (NDK-FINI-1). `STATUS_INVALID_DEVICE_STATE`: initialised already.
    #[doc(alias = "NdkInitializeFastRegisterMr")]
    pub fn initialize_fast_register_mr(
        &mut self,
        mr: Mr,
        adapter_page_count: u32,
        remote_access: bool,
    ) -> Result<(), NdkError> {
        let object = self.mrs.get(mr).ok_or(stale(mr))?;
        if object.usage != MrUse::FastRegister {
            return Err(NtStatus::INVALID_DEVICE_REQUEST.into());
        }
        if object.registration.is_some() {
            return Err(NtStatus::INVALID_DEVICE_STATE.into());
        }
        let most = self.caps.pages.min(u16::MAX.into());
        if adapter_page_count == 0 || adapter_page_count > most {
            return Err(NtStatus::IMPLEMENTATION_LIMIT.into());
        }
        let first_page = self
            .page_table
            .allocate(adapter_page_count)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        let Some(token) = self.tokens.allocate(TokenKind::Fast) else {
            self.page_table.release(first_page, adapter_page_count);
            return Err(NtStatus::INSUFFICIENT_RESOURCES.into());
        };
        if let Some(object) = self.mrs.get_mut(mr) {
            object.registration = Some(Registration {
                token: RenewedToken::new(token),
                first_page,
                pages: adapter_page_count,
                remote_access,
                extent: None,
                valid: false,
            });
        }
        self.write_free_region(mr)
    }

    /// Writes the entry of a fast-register region that is free.
    pub(super) fn write_free_region(&mut self, mr: Mr) -> Result<(), NdkError> {
        let object = self.mrs.get(mr).ok_or(stale(mr))?;
        let Some(registration) = object.registration else {
            return Ok(());
        };
        let token = registration.token.token;
        let entry = Record::new(&TOKEN_CONTEXT)
            .with("kind", TokenKind::Fast)
            .with("key", token.key)
            .with("pd", Self::pd_number(object.pd))
            .with("first_page", registration.first_page)
            .with("max_pages", registration.pages);
        window::write_entry(&mut self.hal, Table::Token, token.index, &entry)?;
        Ok(())
    }
}
