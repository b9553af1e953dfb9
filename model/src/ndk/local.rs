//! Requests that concern only this adapter: Bind, FastRegister, Invalidate.
//!
//! What they name is checked by the engine when their turn comes, since requests before them may change it. Checked
//! here, first failure counts: the queue pair is connected or in error (`STATUS_CONNECTION_INVALID`); no flag is
//! foreign to the operation, remote write has its local write bit (`STATUS_INVALID_PARAMETER`, reading O6); what each
//! call says; a free slot (`STATUS_NO_MORE_ENTRIES`, reading O3).

use crate::abi::{Status, WqeOpcode};
use crate::hal::Hal;

use super::adapter::{MAX_MESSAGE, Provider, stale};
use super::mr::{Extent, MrObject, Registration, Rights};
use super::mw::Bound;
use super::post::COMMON;
use super::qp::{QpObject, QpPhase};
use super::queue::{Posted, Signal};
use super::wqe::{LocalFields, SqEntry, SqHeader};
use super::{Mr, MrUse, Mw, NdkError, NtStatus, OpFlags, PAGE_SIZE, Qp};

/// What NdkInvalidate takes: told apart in C by the type in its header (NDK-INVAL-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidateTarget {
    /// A region for fast registration.
    #[doc(alias = "NdkObjectTypeMr")]
    Mr(Mr),
    /// A memory window.
    #[doc(alias = "NdkObjectTypeMw")]
    Mw(Mw),
}

/// A request outstanding, with what it holds until it is done.
#[derive(Clone, Copy, Debug)]
pub(super) enum LocalRequest {
    /// Gives the window that key.
    Bind {
        mr: Mr,
        mw: Mw,
        key: u8,
    },
    /// Gives the region that key; the page list is the engine's until then.
    FastRegister {
        mr: Mr,
        key: u8,
        list: PageList,
    },
    Invalidate(InvalidateTarget),
}

/// Host memory of a page list.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageList {
    address: u64,
    bytes: usize,
}

/// The engine reads lists in units of so many bytes.
const LIST_UNIT: usize = 64;

const BIND: u32 = COMMON | OpFlags::ALLOW_REMOTE_READ.0 | OpFlags::ALLOW_REMOTE_WRITE.0;
const FAST_REGISTER: u32 = BIND | OpFlags::RDMA_READ_SINK.0;

/// An entry to write.
struct Entry {
    opcode: WqeOpcode,
    length: u32,
    object_token: u32,
    address: u64,
    region_token: u32,
    fields: LocalFields,
}

impl<H: Hal> Provider<H> {
    /// Posts a Bind (NDK-BIND-1): `length` bytes of a region from `virtual_address` on become a window, with the rights
    /// among the flags and a token that [`Provider::remote_token_from_mw`] has as soon as this returns (NDK-BIND-9).
    ///
    /// `STATUS_INVALID_PARAMETER`: the region has no memory, or the range is empty or not inside it (NDK-BIND-2), or
    /// the local write flag without remote write. `STATUS_ACCESS_VIOLATION`: remote write, but the region lacks
    /// local write (NDK-BIND-7, -8).
    #[doc(alias = "NdkBind")]
    #[expect(clippy::too_many_arguments, reason = "those of NdkBind")]
    pub fn bind(
        &mut self,
        qp: Qp,
        request_context: u64,
        mr: Mr,
        mw: Mw,
        virtual_address: u64,
        length: u64,
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        let outcome = self.try_bind(
            qp,
            request_context,
            (mr, mw),
            virtual_address,
            length,
            flags,
        );
        self.conclude(qp, flags, outcome)
    }

    /// Posts a FastRegister (NDK-FREG-1): the pages become memory of the region from byte `fbo` of the first on, at
    /// `base_virtual_address`. The list is copied. The tokens are those that
    /// [`Provider::local_token_from_mr`] and [`Provider::remote_token_from_mr`] have as soon as this returns
    /// (NDK-FREG-11): others each time.
    ///
    /// `STATUS_INVALID_DEVICE_REQUEST`: the region is for NdkRegisterMr (NDK-FINI-1). `STATUS_INVALID_DEVICE_STATE`: it
    /// is not initialised. `STATUS_ACCESS_VIOLATION`: a remote right, but it was initialised without
    /// (NDK-FREG-10). `STATUS_INVALID_PARAMETER`: no page or more than initialised for, a page not aligned
    /// (NDK-FREG-3), `fbo` outside the first page or not the place of the address in its page (NDK-FREG-7), length
    /// 0 (reading O23), above 2^31 or beyond the pages (NDK-FREG-6), or the addresses wrap.
    #[doc(alias = "NdkFastRegister")]
    #[expect(clippy::too_many_arguments, reason = "those of NdkFastRegister")]
    pub fn fast_register(
        &mut self,
        qp: Qp,
        request_context: u64,
        mr: Mr,
        adapter_page_array: &[u64],
        fbo: u32,
        length: u64,
        base_virtual_address: u64,
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        let span = (fbo, length, base_virtual_address);
        let outcome =
            self.try_fast_register(qp, request_context, mr, adapter_page_array, span, flags);
        self.conclude(qp, flags, outcome)
    }

    /// Posts an Invalidate (NDK-INVAL-1): after it no access through the tokens of the object is possible
    /// (NDK-INVAL-4). That of something not valid completes with `STATUS_INVALID_DEVICE_REQUEST`.
    ///
    /// `STATUS_INVALID_PARAMETER`: a region for NdkRegisterMr (NDK-INVAL-3). `STATUS_INVALID_DEVICE_STATE`: a region that
    /// is not initialised.
    #[doc(alias = "NdkInvalidate")]
    pub fn invalidate(
        &mut self,
        qp: Qp,
        request_context: u64,
        target: InvalidateTarget,
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        let outcome = self.try_invalidate(qp, request_context, target, flags);
        self.conclude(qp, flags, outcome)
    }

    fn try_bind(
        &mut self,
        qp: Qp,
        request_context: u64,
        (mr, mw): (Mr, Mw),
        address: u64,
        length: u64,
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        self.check_local(qp, flags, BIND)?;
        let rights = Rights::of_request(flags)?;
        if rights.local_write && !rights.remote_write {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        self.mws.get(mw).ok_or(stale(mw))?;
        let region = self.mrs.get(mr).ok_or(stale(mr))?.registration;
        let extent = region.and_then(|region| region.extent);
        let extent = extent.ok_or(NtStatus::INVALID_PARAMETER)?;
        if rights.remote_write && !extent.local_write {
            return Err(NtStatus::ACCESS_VIOLATION.into());
        }
        if length > MAX_MESSAGE || !extent.holds(address, length) {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        let signal = self.slot(qp, flags.contains(OpFlags::SILENT_SUCCESS))?;
        let region_token = self.local_token_from_mr(mr)?.0;
        let window = self.mws.get(mw).ok_or(stale(mw))?.token.token;
        let renewed = self.tokens.next_key(window);
        let entry = Entry {
            opcode: WqeOpcode::Bind,
            // At most 2^31.
            length: length as u32,
            object_token: window.value(),
            address,
            region_token,
            fields: LocalFields {
                remote_read: rights.remote_read,
                remote_write: rights.remote_write,
                new_key: renewed.key,
                ..LocalFields::default()
            },
        };
        let request = LocalRequest::Bind {
            mr,
            mw,
            key: renewed.key,
        };
        self.push_local(qp, request_context, flags, signal, &entry, request)?;
        if let Some(object) = self.mws.get_mut(mw) {
            object.token.renew(renewed);
            object.named = true;
            object.requests += 1;
        }
        if let Some(object) = self.mrs.get_mut(mr) {
            object.windows += 1;
        }
        Ok(())
    }

    fn try_fast_register(
        &mut self,
        qp: Qp,
        request_context: u64,
        mr: Mr,
        pages: &[u64],
        (fbo, length, base): (u32, u64, u64),
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        self.check_local(qp, flags, FAST_REGISTER)?;
        let rights = Rights::of_request(flags)?;
        let registration = self.fast_registration(mr, NtStatus::INVALID_DEVICE_REQUEST)?;
        if (rights.remote_read || rights.remote_write) && !registration.remote_access {
            return Err(NtStatus::ACCESS_VIOLATION.into());
        }
        let room = pages.len() as u64 * PAGE_SIZE;
        let legal = !pages.is_empty()
            && pages.len() <= registration.pages as usize
            && pages.iter().all(|page| page % PAGE_SIZE == 0)
            && base % PAGE_SIZE == u64::from(fbo)
            && length > 0
            && length <= MAX_MESSAGE.min(room.saturating_sub(fbo.into()))
            && base.checked_add(length).is_some();
        if !legal {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        let signal = self.slot(qp, flags.contains(OpFlags::SILENT_SUCCESS))?;
        let list = self.page_list(pages)?;
        let token = self
            .fast_registration(mr, NtStatus::INVALID_DEVICE_REQUEST)?
            .token;
        let renewed = self.tokens.next_key(token.token);
        let entry = Entry {
            opcode: WqeOpcode::FastRegister,
            // At most 2^31.
            length: length as u32,
            object_token: renewed.value(),
            address: base,
            region_token: 0,
            fields: LocalFields {
                local_write: rights.local_write,
                remote_read: rights.remote_read,
                remote_write: rights.remote_write,
                new_key: 0,
                // At most 2^16 - 1 and 4095.
                page_count: pages.len() as u16,
                page_offset: fbo as u16,
                list: list.address,
            },
        };
        let request = LocalRequest::FastRegister {
            mr,
            key: renewed.key,
            list,
        };
        self.push_local(qp, request_context, flags, signal, &entry, request)?;
        if let Some(object) = self.mrs.get_mut(mr) {
            object.requests += 1;
            if let Some(registration) = &mut object.registration {
                registration.token.renew(renewed);
                registration.extent = Some(Extent {
                    base,
                    length,
                    local_write: rights.local_write,
                });
            }
        }
        Ok(())
    }

    fn try_invalidate(
        &mut self,
        qp: Qp,
        request_context: u64,
        target: InvalidateTarget,
        flags: OpFlags,
    ) -> Result<(), NdkError> {
        self.check_local(qp, flags, COMMON)?;
        self.invalidation_token(target)?;
        let signal = self.slot(qp, flags.contains(OpFlags::SILENT_SUCCESS))?;
        let entry = Entry {
            opcode: WqeOpcode::Invalidate,
            length: 0,
            // A completion just seen may have changed it.
            object_token: self.invalidation_token(target)?,
            address: 0,
            region_token: 0,
            fields: LocalFields::default(),
        };
        let request = LocalRequest::Invalidate(target);
        self.push_local(qp, request_context, flags, signal, &entry, request)?;
        match target {
            InvalidateTarget::Mr(mr) => {
                if let Some(object) = self.mrs.get_mut(mr) {
                    object.requests += 1;
                }
            }
            InvalidateTarget::Mw(mw) => {
                if let Some(object) = self.mws.get_mut(mw) {
                    object.requests += 1;
                }
            }
        }
        Ok(())
    }

    fn invalidation_token(&self, target: InvalidateTarget) -> Result<u32, NdkError> {
        let token = match target {
            InvalidateTarget::Mr(mr) => {
                self.fast_registration(mr, NtStatus::INVALID_PARAMETER)?
                    .token
            }
            InvalidateTarget::Mw(mw) => self.mws.get(mw).ok_or(stale(mw))?.token,
        };
        Ok(token.token.value())
    }

    /// The registration of an initialised region; `wrong_use` if it is for NdkRegisterMr.
    fn fast_registration(&self, mr: Mr, wrong_use: NtStatus) -> Result<Registration, NdkError> {
        let object: &MrObject = self.mrs.get(mr).ok_or(stale(mr))?;
        if object.usage != MrUse::FastRegister {
            return Err(wrong_use.into());
        }
        Ok(object.registration.ok_or(NtStatus::INVALID_DEVICE_STATE)?)
    }

    fn check_local(&self, qp: Qp, flags: OpFlags, allowed: u32) -> Result<(), NdkError> {
        let object = self.qps.get(qp).ok_or(stale(qp))?;
        if matches!(object.phase, QpPhase::Idle | QpPhase::Connecting) {
            return Err(NtStatus::CONNECTION_INVALID.into());
        }
        if flags.0 & !allowed != 0 {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        Ok(())
    }

    /// A copy of the list, in whole units.
    fn page_list(&mut self, pages: &[u64]) -> Result<PageList, NdkError> {
        let octets: Vec<u8> = pages.iter().flat_map(|page| page.to_le_bytes()).collect();
        let bytes = octets.len().next_power_of_two().max(LIST_UNIT);
        let address = self.rings.take(&mut self.hal, bytes)?;
        self.hal.write_memory(address, &octets)?;
        Ok(PageList { address, bytes })
    }

    fn push_local(
        &mut self,
        qp: Qp,
        request_context: u64,
        flags: OpFlags,
        signal: Signal,
        request: &Entry,
        local: LocalRequest,
    ) -> Result<(), NdkError> {
        let object = self.qps.get_mut(qp).ok_or(stale(qp))?;
        let mut entry = SqEntry::new(&SqHeader {
            opcode: request.opcode,
            flags,
            silent: signal == Signal::Silent,
            index: object.sq.ring.producer,
            length: request.length,
            object_token: request.object_token,
            remote_address: request.address,
            remote_token: request.region_token,
        });
        entry.set_local(&request.fields);
        self.hal
            .write_memory(object.sq.ring.next_address(), entry.as_bytes())?;
        object.sq.push(Posted {
            request_context,
            opcode: request.opcode,
            signal,
            local: Some(local),
        });
        Ok(())
    }

    /// A request is done: what it held is free, and what it changed is known.
    pub(super) fn finish_local(
        &mut self,
        qp: Qp,
        request: LocalRequest,
        status: Status,
    ) -> Result<(), NdkError> {
        let success = status == Status::Success;
        match request {
            LocalRequest::Bind { mr, mw, key } => {
                let mut left = Some(mr);
                if let Some(object) = self.mws.get_mut(mw) {
                    object.token.settle(key, success);
                    self.tokens.set_key(object.token.token);
                    if success {
                        left = object.bind_done(Bound { mr, qp, key });
                    }
                }
                self.window_request_done(mw, left, status)?;
                self.settle_region(mr, status)
            }
            LocalRequest::FastRegister { mr, key, list } => {
                self.rings.give(list.address, list.bytes);
                if let Some(object) = self.mrs.get_mut(mr)
                    && let Some(registration) = &mut object.registration
                {
                    registration.token.settle(key, success);
                    self.tokens.set_key(registration.token.token);
                    registration.valid |= success;
                }
                self.region_request_done(mr, status)
            }
            LocalRequest::Invalidate(InvalidateTarget::Mr(mr)) => {
                if let Some(object) = self.mrs.get_mut(mr)
                    && let Some(registration) = &mut object.registration
                {
                    registration.valid &= !success;
                }
                self.region_request_done(mr, status)
            }
            LocalRequest::Invalidate(InvalidateTarget::Mw(mw)) => {
                let object = self.mws.get_mut(mw);
                let left = object.and_then(|object| object.bound.take_if(|_| success));
                self.window_request_done(mw, left.map(|bound| bound.mr), status)
            }
        }
    }

    /// A request that names a window is done, and the window has left a region by that. A flushed request may have been
    /// executed: a window that is bound to nothing, as far as completions tell, is made so.
    fn window_request_done(
        &mut self,
        mw: Mw,
        left: Option<Mr>,
        status: Status,
    ) -> Result<(), NdkError> {
        let mut doubtful = false;
        if let Some(object) = self.mws.get_mut(mw) {
            object.requests = object.requests.saturating_sub(1);
            doubtful = status == Status::Flushed && object.requests == 0 && object.bound.is_none();
        }
        if doubtful {
            self.write_free_window(mw)?;
        }
        if let Some(mr) = left {
            self.window_left(mr)?;
        }
        self.reap_mw(mw)
    }

    fn region_request_done(&mut self, mr: Mr, status: Status) -> Result<(), NdkError> {
        if let Some(object) = self.mrs.get_mut(mr) {
            object.requests = object.requests.saturating_sub(1);
        }
        self.settle_region(mr, status)?;
        self.reap_mr(mr)
    }

    /// A region for fast registration that is free, as far as completions tell, is made so behind a flushed request,
    /// which may have been executed.
    fn settle_region(&mut self, mr: Mr, status: Status) -> Result<(), NdkError> {
        let doubtful = self.mrs.get(mr).is_some_and(|object| {
            let registration = object.registration.filter(|own| !own.valid);
            object.usage == MrUse::FastRegister
                && object.requests == 0
                && object.windows == 0
                && registration.is_some()
        });
        if doubtful && status == Status::Flushed {
            self.write_free_region(mr)?;
        }
        Ok(())
    }

    /// A queue pair is gone. Its windows are bound no more; of requests that its dead completion queue did not tell of
    /// it is not known what they did, as of flushed ones.
    pub(super) fn leave_qp(&mut self, qp: Qp, object: &QpObject) -> Result<(), NdkError> {
        self.free_windows_of(qp)?;
        for request in object.sq.outstanding_local() {
            self.finish_local(qp, request, Status::Flushed)?;
        }
        Ok(())
    }
}
