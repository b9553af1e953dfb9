//! Memory regions.

use crate::abi::{Record, TOKEN_CONTEXT, Table, TokenKind};
use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::tokens::{RenewedToken, Token};
use super::{
    LocalToken, Mdl, Mr, MrFlags, NdkError, NtStatus, Object, OpFlags, PAGE_SIZE, Pd, RemoteToken,
    window,
};

/// What a memory region is created for (NDK-FINI-1): `FastRegister` of NdkCreateMr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MrUse {
    /// NdkRegisterMr.
    Register,
    /// Fast registration.
    FastRegister,
}

pub(super) struct MrObject {
    pub(super) pd: Pd,
    pub(super) usage: MrUse,
    pub(super) registration: Option<Registration>,
    /// Windows bound to it, and Bind requests outstanding.
    pub(super) windows: u32,
    /// FastRegister and Invalidate requests outstanding.
    pub(super) requests: u32,
    closing: bool,
}

/// Entries of the engine's tables that a region has.
#[derive(Clone, Copy)]
pub(super) struct Registration {
    pub(super) token: RenewedToken,
    pub(super) first_page: u32,
    pub(super) pages: u32,
    /// Whether a fast registration may give remote rights.
    pub(super) remote_access: bool,
    /// Memory under it; of a fast-register region that of the newest request posted.
    pub(super) extent: Option<Extent>,
    /// Whether it is valid, as far as completions tell; one that a read invalidated is not told of.
    pub(super) valid: bool,
}

/// Memory that a region covers.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) base: u64,
    pub(super) length: u64,
    pub(super) local_write: bool,
}

impl Extent {
    /// Whether a range that is not empty lies inside.
    pub(super) fn holds(&self, address: u64, length: u64) -> bool {
        let offset = address.checked_sub(self.base);
        let end = offset.and_then(|offset| offset.checked_add(length));
        length > 0 && end.is_some_and(|end| end <= self.length)
    }
}

/// One list of pages under virtually contiguous memory.
pub(super) struct Span {
    base: u64,
    length: u64,
    pub(super) page_offset: u64,
    pub(super) pages: Vec<u64>,
}

const KNOWN_FLAGS: u32 =
    MrFlags::ALLOW_REMOTE_READ.0 | MrFlags::ALLOW_REMOTE_WRITE.0 | MrFlags::RDMA_READ_SINK.0;
/// Remote write is decoded from its own bit, not from the two-bit flag.
const REMOTE_WRITE_BIT: u32 = 0x4;
/// The same of a request's flags.
const REQUEST_REMOTE_WRITE_BIT: u32 = 0x20;

impl<H: Hal> Provider<H> {
    /// Creates a memory region, without memory as yet.
    #[doc(alias = "NdkCreateMr")]
    pub fn create_mr(&mut self, pd: Pd, usage: MrUse) -> Result<Mr, NdkError> {
        self.expect_own(pd)?;
        let domain = self.pds.get_mut(pd).ok_or(stale(pd))?;
        let object = MrObject {
            pd,
            usage,
            registration: None,
            windows: 0,
            requests: 0,
            closing: false,
        };
        let mr = self
            .mrs
            .insert(self.owner, object)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        domain.successors += 1;
        Ok(mr)
    }

    /// Registers the first `length` bytes of an MDL chain (NDK-RMR).
    ///
    /// `STATUS_INVALID_PARAMETER`: the chain is not virtually contiguous over the length (NDK-RMR-2), is shorter
    /// than it, or wraps; a page is not aligned; length 0 (reading O23); unknown flags, or the remote
    /// write bit without the local write bit. `STATUS_INSUFFICIENT_RESOURCES`: no token or too few page entries left
    /// (NDK-RMR-7). `STATUS_INVALID_DEVICE_REQUEST`: the region is for fast registration (NDK-FINI-1).
    /// `STATUS_INVALID_DEVICE_STATE`: registered already.
    #[doc(alias = "NdkRegisterMr")]
    pub fn register_mr(
        &mut self,
        mr: Mr,
        mdl: &[Mdl],
        length: u64,
        flags: MrFlags,
    ) -> Result<(), NdkError> {
        let object = self.mrs.get(mr).ok_or(stale(mr))?;
        if object.usage != MrUse::Register {
            return Err(NtStatus::INVALID_DEVICE_REQUEST.into());
        }
        self.place_region(mr, mdl, length, flags, TokenKind::Region)
    }

    /// Ends a registration; its tokens name nothing from here on (NDK-RMR-8). `STATUS_DEVICE_BUSY`: a window is
    /// bound to it, or a request for that is outstanding. `STATUS_INVALID_DEVICE_REQUEST`: the region is for fast
    /// registration (NDK-FINI-1).
    #[doc(alias = "NdkDeregisterMr")]
    pub fn deregister_mr(&mut self, mr: Mr) -> Result<(), NdkError> {
        let object = self.mrs.get(mr).ok_or(stale(mr))?;
        if object.usage != MrUse::Register {
            return Err(NtStatus::INVALID_DEVICE_REQUEST.into());
        }
        if object.windows > 0 {
            return Err(NtStatus::DEVICE_BUSY.into());
        }
        self.end_registration(mr)
    }

    /// Closes a memory region, ending its registration if it has one. `STATUS_PENDING` as long as windows are bound to
    /// it or requests that name it are outstanding (NDK-OBJ-4, -5): [`Notification::Closed`](super::Notification::Closed) says when it is
    /// done. A silent request counts until a later completion of its queue shows that it is done.
    #[doc(alias = "NdkCloseMr")]
    pub fn close_mr(&mut self, mr: Mr) -> Result<NtStatus, NdkError> {
        let object = self.mrs.get_mut(mr).ok_or(stale(mr))?;
        if object.windows > 0 || object.requests > 0 {
            object.closing = true;
            return Ok(NtStatus::PENDING);
        }
        self.remove_mr(mr)?;
        Ok(NtStatus::SUCCESS)
    }

    /// A window or request uses the region no more.
    pub(super) fn reap_mr(&mut self, mr: Mr) -> Result<(), NdkError> {
        let done = self
            .mrs
            .get(mr)
            .is_some_and(|object| object.closing && object.windows == 0 && object.requests == 0);
        if done {
            self.tell_closed(Object::Mr(mr));
            self.remove_mr(mr)?;
        }
        Ok(())
    }

    fn remove_mr(&mut self, mr: Mr) -> Result<(), NdkError> {
        let registered = self.mrs.get(mr).is_some_and(|mr| mr.registration.is_some());
        if registered {
            self.end_registration(mr)?;
        }
        if let Some(object) = self.mrs.remove(mr) {
            self.release_pd(object.pd)?;
        }
        Ok(())
    }

    pub(super) fn end_registration(&mut self, mr: Mr) -> Result<(), NdkError> {
        let object = self.mrs.get_mut(mr).ok_or(stale(mr))?;
        let registration = object
            .registration
            .take()
            .ok_or(NtStatus::INVALID_DEVICE_STATE)?;
        self.invalidate_token(registration.token.token)?;
        self.page_table
            .release(registration.first_page, registration.pages);
        Ok(())
    }

    /// Token for [`Sge`](super::Sge) of this provider; `STATUS_INVALID_DEVICE_STATE` while not registered nor
    /// initialised (NDK-TOK-1).
    #[doc(alias = "NdkGetLocalTokenFromMr")]
    pub fn local_token_from_mr(&self, mr: Mr) -> Result<LocalToken, NdkError> {
        Ok(LocalToken(self.mr_token(mr)?.value()))
    }

    /// Token for the peer's reads, writes and invalidations; `STATUS_INVALID_DEVICE_STATE` while not registered
    /// nor initialised (NDK-TOK-1). A fast-register region has another after each
    /// [`Provider::fast_register`] (NDK-FREG-11). See [`RemoteToken`] for its octets.
    #[doc(alias = "NdkGetRemoteTokenFromMr")]
    pub fn remote_token_from_mr(&self, mr: Mr) -> Result<RemoteToken, NdkError> {
        Ok(RemoteToken::from_engine(self.mr_token(mr)?.value()))
    }

    fn mr_token(&self, mr: Mr) -> Result<Token, NdkError> {
        let object = self.mrs.get(mr).ok_or(stale(mr))?;
        let registration = object.registration.ok_or(NtStatus::INVALID_DEVICE_STATE)?;
        Ok(registration.token.token)
    }

    /// Writes page list and token entry of a region that has none.
    pub(super) fn place_region(
        &mut self,
        mr: Mr,
        mdl: &[Mdl],
        length: u64,
        flags: MrFlags,
        kind: TokenKind,
    ) -> Result<(), NdkError> {
        let object = self.mrs.get(mr).ok_or(stale(mr))?;
        if object.registration.is_some() {
            return Err(NtStatus::INVALID_DEVICE_STATE.into());
        }
        let rights = Rights::decode(flags)?;
        let span = Span::over(mdl, length)?;
        let count = u32::try_from(span.pages.len())
            .ok()
            .filter(|count| *count <= self.caps.pages)
            .ok_or(NtStatus::INVALID_PARAMETER)?;
        let pd = Self::pd_number(object.pd);
        let first_page = self
            .page_table
            .allocate(count)
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        let Some(token) = self.tokens.allocate(kind) else {
            self.page_table.release(first_page, count);
            return Err(NtStatus::INSUFFICIENT_RESOURCES.into());
        };
        let max_pages = if kind == TokenKind::Fast { count } else { 0 };
        let entry = Record::new(&TOKEN_CONTEXT)
            .with("valid", 1u8)
            .with("kind", kind)
            .with("local_write", rights.local_write)
            .with("remote_read", rights.remote_read)
            .with("remote_write", rights.remote_write)
            .with("key", token.key)
            .with("pd", pd)
            .with("first_page", first_page)
            .with("base_address", span.base)
            .with("length", span.length)
            .with("page_offset", span.page_offset)
            .with("max_pages", max_pages);
        window::write_pages(&mut self.hal, first_page, &span.pages)?;
        window::write_entry(&mut self.hal, Table::Token, token.index, &entry)?;
        if let Some(object) = self.mrs.get_mut(mr) {
            object.registration = Some(Registration {
                token: RenewedToken::new(token),
                first_page,
                pages: count,
                remote_access: true,
                extent: Some(Extent {
                    base: span.base,
                    length: span.length,
                    local_write: rights.local_write,
                }),
                valid: true,
            });
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
pub(super) struct Rights {
    pub(super) local_write: bool,
    pub(super) remote_read: bool,
    pub(super) remote_write: bool,
}

impl Rights {
    fn decode(flags: MrFlags) -> Result<Self, NdkError> {
        let local_write = flags.contains(MrFlags::ALLOW_LOCAL_WRITE);
        let remote_write = flags.0 & REMOTE_WRITE_BIT != 0;
        if flags.0 & !KNOWN_FLAGS != 0 || remote_write && !local_write {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        Ok(Self {
            local_write: local_write || flags.contains(MrFlags::RDMA_READ_SINK),
            remote_read: flags.contains(MrFlags::ALLOW_REMOTE_READ),
            remote_write,
        })
    }

    /// Rights that a Bind or FastRegister asks for. Remote write is decoded from its own bit, and has the
    /// local write bit with it.
    pub(super) fn of_request(flags: OpFlags) -> Result<Self, NdkError> {
        let local_write = flags.contains(OpFlags::ALLOW_LOCAL_WRITE);
        let remote_write = flags.0 & REQUEST_REMOTE_WRITE_BIT != 0;
        if remote_write && !local_write {
            return Err(NtStatus::INVALID_PARAMETER.into());
        }
        Ok(Self {
            local_write: local_write || flags.contains(OpFlags::RDMA_READ_SINK),
            remote_read: flags.contains(OpFlags::ALLOW_REMOTE_READ),
            remote_write,
        })
    }
}

impl Span {
    /// Joins the page lists of a chain as far as `length` reaches.
    pub(super) fn over(chain: &[Mdl], length: u64) -> Result<Self, NdkError> {
        const BAD: NdkError = NdkError::Status(NtStatus::INVALID_PARAMETER);
        let first = chain.first().ok_or(BAD)?;
        let mut span = Self {
            base: first.virtual_address,
            length,
            page_offset: first.byte_offset.into(),
            pages: Vec::new(),
        };
        if length == 0 || span.page_offset >= PAGE_SIZE || span.base.checked_add(length).is_none() {
            return Err(BAD);
        }
        let mut covered = 0;
        for mdl in chain {
            let offset = u64::from(mdl.byte_offset);
            let used = (offset + u64::from(mdl.byte_count)).div_ceil(PAGE_SIZE) as usize;
            let pages = mdl.pages.get(..used).ok_or(BAD)?;
            let contiguous = mdl.virtual_address == span.base.wrapping_add(covered)
                && offset == (span.page_offset + covered) % PAGE_SIZE;
            if !contiguous || pages.iter().any(|page| page % PAGE_SIZE != 0) {
                return Err(BAD);
            }
            // A piece that begins inside a page shares it with the piece before.
            let shared = covered > 0 && offset > 0;
            if shared && span.pages.last() != pages.first() {
                return Err(BAD);
            }
            span.pages.extend(pages.iter().skip(usize::from(shared)));
            covered += u64::from(mdl.byte_count);
            if covered >= length {
                let needed = (span.page_offset + length).div_ceil(PAGE_SIZE) as usize;
                span.pages.truncate(needed);
                return Ok(span);
            }
        }
        Err(BAD)
    }
}
