//! Where everything lies: the memory map of a node, and its tokens.

use tandem_model::wire::Token;

use super::key::{Key, Region};

/// Entries of a ring.
pub(super) const RING: usize = 4;
/// Bytes of an entry of a ring.
pub(super) const ENTRY: usize = 64;
/// Queue pair of the first lane, on both nodes.
pub(super) const FIRST_QP: u32 = 2;
/// Number of the shared receive queue.
pub(super) const SHARED_QUEUE: u32 = 0;
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

/// Page lists, one for each token that a registration makes.
const LISTS: u64 = page(14);
/// Bytes of a page list: what is read at once.
pub(super) const LIST: u64 = 64;

/// Index of the first token of a region, and of a window, in the token table.
const FIRST_REGION: u32 = 2;
const FIRST_WINDOW: u32 = FIRST_REGION + Key::REGIONS as u32;

/// Logical address of the page of a region, by its token.
pub(super) const fn region_page(key: Key) -> u64 {
    match key {
        Key::Region(region) | Key::Window(region) => page(6 + region as u64),
        Key::Again(region) => page(10 + region as u64),
    }
}

/// Page list of the registration that makes a token.
pub(super) const fn page_list(key: Key) -> u64 {
    LISTS + key.bit().trailing_zeros() as u64 * LIST
}

/// Virtual address of a region.
pub(super) const fn region_address(region: Region) -> u64 {
    0x7100_0000_0000 + ((region as u64) << 32)
}

/// The token of a region, or of a window when it is bound.
pub(super) const fn token(key: Key) -> Token {
    match key {
        Key::Region(region) => Token::from_parts(FIRST_REGION + region as u32, 0x40 + region),
        Key::Again(region) => Token::from_parts(FIRST_REGION + region as u32, 0x50 + region),
        Key::Window(window) => Token::from_parts(FIRST_WINDOW + window as u32, 0x70 + window),
    }
}

/// The token of a window before it is bound.
pub(super) const fn unbound_token(window: u8) -> Token {
    Token::from_parts(FIRST_WINDOW + window as u32, 0x60 + window)
}

/// What a token names.
pub(super) fn key_of(named: Token) -> Option<Key> {
    Key::all().find(|key| token(*key) == named)
}

/// Bytes of a receive of a shared queue.
pub(super) const SLOT: usize = 512;
