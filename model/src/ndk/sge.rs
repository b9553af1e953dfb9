//! Tokens, scatter/gather elements and descriptions of memory.

use std::fmt;

/// Bytes of a page of the adapter.
pub const PAGE_SIZE: u64 = 4096;

/// Local token: opaque to the consumer, used in [`Sge`]. It is the engine's number, `index << 8 | key`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct LocalToken(pub u32);

/// Remote token as the consumer holds it: a UINT32 whose four octets in memory are, in ascending
/// order, the octets of the key on the wire (NDK-READ-9, NDK-WRITE-4).
///
/// The engine's token is a number that the wire carries big-endian, and the consumer's UINT32 lies
/// in memory little-endian; so this value is the engine's number with its bytes swapped. A consumer that
/// copies the four octets into a message, and its peer that copies them out, need know nothing of it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct RemoteToken(pub u32);

impl RemoteToken {
    /// From the engine's number.
    pub const fn from_engine(token: u32) -> Self {
        Self(token.swap_bytes())
    }

    /// The engine's number.
    pub const fn to_engine(self) -> u32 {
        self.0.swap_bytes()
    }

    /// The octets in memory, which are those of the key on the wire.
    pub const fn octets(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }
}

impl fmt::Debug for LocalToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalToken({:#010x})", self.0)
    }
}

impl fmt::Debug for RemoteToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteToken({:#010x})", self.0)
    }
}

/// Scatter/gather element, 16 bytes (NDK-SGE-1).
#[doc(alias = "NDK_SGE")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Sge {
    /// Virtual address in the region of the token; with the privileged token, a logical address
    /// (NDK-SGE-2, -3). For an inline request, the logical address of the bytes: host memory of an
    /// adapter has no other addresses that the provider could read.
    #[doc(alias = "VirtualAddress")]
    #[doc(alias = "LogicalAddress")]
    pub address: u64,
    /// Bytes.
    pub length: u32,
    /// Local token; ignored by inline requests (NDK-SGE-4).
    #[doc(alias = "MemoryRegionToken")]
    pub token: LocalToken,
}

/// A virtually contiguous piece of memory and the pages under it.
///
/// In Windows `byte_offset` always equals `virtual_address` modulo the page size. Neither the engine nor
/// the provider needs that, so it is not demanded here.
#[doc(alias = "MDL")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mdl {
    /// Virtual address of the first byte: an index, never dereferenced (NDK-RMR-3).
    #[doc(alias = "MmGetMdlVirtualAddress")]
    pub virtual_address: u64,
    /// Offset of the first byte in the first page.
    #[doc(alias = "MmGetMdlByteOffset")]
    pub byte_offset: u32,
    /// Bytes.
    #[doc(alias = "MmGetMdlByteCount")]
    pub byte_count: u32,
    /// Logical addresses of the pages, each page aligned.
    #[doc(alias = "MmGetMdlPfnArray")]
    pub pages: Vec<u64>,
}

impl Mdl {
    /// Memory that is contiguous in logical space too.
    pub fn contiguous(virtual_address: u64, logical_address: u64, byte_count: u32) -> Self {
        let byte_offset = logical_address % PAGE_SIZE;
        let first = logical_address - byte_offset;
        let count = (u64::from(byte_count) + byte_offset).div_ceil(PAGE_SIZE);
        Self {
            virtual_address,
            byte_offset: byte_offset as u32,
            byte_count,
            pages: (0..count)
                .map(|page| first.wrapping_add(page * PAGE_SIZE))
                .collect(),
        }
    }

    /// Contiguous memory whose virtual address is its logical one.
    pub fn identity(address: u64, byte_count: u32) -> Self {
        Self::contiguous(address, address, byte_count)
    }
}
