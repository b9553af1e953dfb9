//! The tokens of a node.

use std::fmt;

/// A fast-registered region of a node, by number: fewer than [`Key::REGIONS`].
pub type Region = u8;

/// What a token of a node names. A region that no request of its node registers has its first token from the
/// beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A region, with its first token.
    Region(Region),
    /// The same region with its second token, other pages and other bytes: registered again.
    Again(Region),
    /// A window, by number: fewer than [`Key::WINDOWS`].
    Window(u8),
}

impl Key {
    /// Regions that a node may have.
    pub const REGIONS: u8 = 4;
    /// Windows that a node may have.
    pub const WINDOWS: u8 = 2;

    /// The bit that stands for it.
    pub(super) const fn bit(self) -> u16 {
        let number = match self {
            Self::Region(region) => region,
            Self::Again(region) => Self::REGIONS + region,
            Self::Window(window) => 2 * Self::REGIONS + window,
        };
        1 << number
    }

    /// All that a node may have.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let regions =
            (0..Self::REGIONS).flat_map(|region| [Self::Region(region), Self::Again(region)]);
        regions.chain((0..Self::WINDOWS).map(Self::Window))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Region(region) => write!(f, "region {region}"),
            Self::Again(region) => write!(f, "region {region}, registered again"),
            Self::Window(window) => write!(f, "window {window}"),
        }
    }
}
