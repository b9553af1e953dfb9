//! Logical address mappings: the pages under memory as the adapter reaches them.
//!
//! The adapter's logical addresses are those of the pages that an [`Mdl`] lists, so a mapping costs nothing
//! but its entry in the provider's books; how many pages can be mapped at once is limited all the same, as map registers limit
//! it.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};

use crate::hal::Hal;

use super::adapter::Provider;
use super::mr::Span;
use super::{Mdl, NtStatus};

/// Pages mapped at once: 1 GiB.
const MAX_MAPPED_PAGES: u64 = 1 << 18;

/// A mapping, with the first page of its array: 16 bytes, and 8 for each page.
#[doc(alias = "NDK_LOGICAL_ADDRESS_MAPPING")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdkLogicalAddressMapping {
    /// The provider's own; a consumer leaves it as it is.
    pub adapter_context: u64,
    /// Pages.
    pub adapter_page_count: u32,
    /// Logical addresses of the pages, each aligned (NDK-LAM-3).
    pub adapter_page_array: [u64; 1],
}

const COUNT: usize = offset_of!(NdkLogicalAddressMapping, adapter_page_count);
const PAGES: usize = offset_of!(NdkLogicalAddressMapping, adapter_page_array);
const EACH: usize = size_of::<u64>();

impl NdkLogicalAddressMapping {
    /// Bytes of a mapping of so many pages.
    pub const fn bytes(pages: usize) -> usize {
        PAGES + EACH * pages
    }

    /// AdapterContext of a mapping in memory.
    fn context(bytes: &[u8]) -> Option<u64> {
        let octets = bytes.first_chunk()?;
        Some(u64::from_le_bytes(*octets))
    }

    /// The pages of a mapping in memory, as far as the memory reaches.
    pub fn pages(bytes: &[u8]) -> Vec<u64> {
        let count = bytes.get(COUNT..).and_then(<[u8]>::first_chunk);
        let count = count.map_or(0, |octets| u32::from_le_bytes(*octets) as usize);
        let array = bytes.get(PAGES..).unwrap_or_default();
        let entries = array.as_chunks::<EACH>().0;
        let pages = entries.iter().map(|octets| u64::from_le_bytes(*octets));
        pages.take(count).collect()
    }
}

/// How NdkBuildLAM ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LamOutcome {
    /// Its status.
    pub status: NtStatus,
    /// Bytes written, or with `STATUS_BUFFER_TOO_SMALL` the bytes needed (NDK-LAM-1, -2); else 0.
    #[doc(alias = "pLAMSize")]
    pub size: usize,
    /// Success: offset of the first byte in the first page; else 0.
    #[doc(alias = "pFBO")]
    pub fbo: u32,
}

impl LamOutcome {
    const fn failed(status: NtStatus) -> Self {
        Self {
            status,
            size: 0,
            fbo: 0,
        }
    }
}

/// The mappings there are.
#[derive(Default)]
pub(super) struct Mappings {
    /// Pages of each, by its context.
    pages: BTreeMap<u64, u64>,
    /// Context of the last.
    last: u64,
}

impl Mappings {
    fn mapped(&self) -> u64 {
        self.pages.values().sum()
    }

    /// Context of a new mapping, if so many pages can still be mapped. Nothing is mapped if not (NDK-LAM-5).
    fn insert(&mut self, pages: u64) -> Option<u64> {
        if pages > MAX_MAPPED_PAGES.saturating_sub(self.mapped()) {
            return None;
        }
        self.last += 1;
        self.pages.insert(self.last, pages);
        Some(self.last)
    }
}

impl<H: Hal> Provider<H> {
    /// Maps the first `length` bytes of an MDL chain, and writes the mapping to `buffer`. It is done when the call
    /// returns. The pages' addresses may be used with the privileged token and in fast registrations.
    ///
    /// `STATUS_BUFFER_TOO_SMALL` (NDK-LAM-1). `STATUS_INVALID_PARAMETER`: the chain is not virtually contiguous over the length
    /// (NDK-LAM-4), or any other reason that [`Provider::register_mr`] has. `STATUS_INSUFFICIENT_RESOURCES`: too many
    /// pages are mapped. A failure maps nothing, and leaves the buffer as it was.
    #[doc(alias = "NdkBuildLAM")]
    pub fn build_lam(&mut self, mdl: &[Mdl], length: u64, buffer: &mut [u8]) -> LamOutcome {
        let Ok(span) = Span::over(mdl, length) else {
            return LamOutcome::failed(NtStatus::INVALID_PARAMETER);
        };
        let size = NdkLogicalAddressMapping::bytes(span.pages.len());
        let Some(place) = buffer.get_mut(..size) else {
            return LamOutcome {
                size,
                ..LamOutcome::failed(NtStatus::BUFFER_TOO_SMALL)
            };
        };
        let Some(context) = self.mappings.insert(span.pages.len() as u64) else {
            return LamOutcome::failed(NtStatus::INSUFFICIENT_RESOURCES);
        };
        let count = span.pages.len() as u64;
        let words = [context, count].into_iter().chain(span.pages);
        for (place, word) in place.chunks_exact_mut(EACH).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        LamOutcome {
            status: NtStatus::SUCCESS,
            size,
            fbo: span.page_offset as u32,
        }
    }

    /// Takes a mapping back. The consumer calls it when all requests that use it have completed (NDK-LAM-8). Memory that
    /// holds no mapping, or one released before, is left alone.
    #[doc(alias = "NdkReleaseLAM")]
    pub fn release_lam(&mut self, lam: &[u8]) {
        if let Some(context) = NdkLogicalAddressMapping::context(lam) {
            self.mappings.pages.remove(&context);
        }
    }

    /// Pages that are mapped now.
    pub fn mapped_pages(&self) -> u64 {
        self.mappings.mapped()
    }
}
