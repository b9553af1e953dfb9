//! Where everything lies: the memory map of a node, and its tokens.

use tandem_model::wire::Token;

use super::world::Region;

/// Entries of a ring.
pub(super) const RING: usize = 4;
/// Bytes of an entry of a ring.
pub(super) const ENTRY: usize = 64;
/// Queue pair of the first lane, on both nodes.
pub(super) const FIRST_QP: u32 = 2;
/// Pages of the page table before those of the regions: sources, landing.
pub(super) const LOCAL_PAGES: u32 = 2;
/// The token of what a node itself sends from and receives to.
pub(super) const LOCAL: Token = Token::from_parts(1, 0x11);
/// Virtual address that the local token begins at.
pub(super) const LOCAL_ADDRESS: u64 = 0x7000_0000_0000;
/// Bytes of a page.
pub(super) const PAGE: u64 = 4096;

/// Logical address of a page of host memory.
const fn page(number: u64) -> u64 {
    0x1000_0000 + number * PAGE
}

/// Send rings.
pub(super) const SEND_RINGS: u64 = page(0);
/// Receive rings.
pub(super) const RECEIVE_RINGS: u64 = page(1);
/// Completion queues.
pub(super) const COMPLETIONS: u64 = page(2);
/// The event ring.
pub(super) const EVENTS: u64 = page(3);
/// What is sent.
pub(super) const SOURCES: u64 = page(4);
/// What is received, and what is read from the peer.
pub(super) const LANDING: u64 = page(5);

/// Logical address of a region.
pub(super) const fn region_page(region: Region) -> u64 {
    page(6 + region as u64)
}

/// Virtual address of a region.
pub(super) const fn region_address(region: Region) -> u64 {
    0x7100_0000_0000 + ((region as u64) << 32)
}

/// Token of a region.
pub(super) const fn region_token(region: Region) -> Token {
    Token::from_parts(2 + region as u32, 0x40 + region)
}

/// The region of a token.
pub(super) fn region_of(token: Token) -> Option<Region> {
    let region = u8::try_from(token.index().checked_sub(2)?).ok()?;
    (region_token(region) == token).then_some(region)
}
