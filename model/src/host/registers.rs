//! Byte offsets of the registers.

pub(super) const ID: u32 = 0x000;
pub(super) const VERSION: u32 = 0x004;
pub(super) const CAPS0: u32 = 0x008;
pub(super) const CAPS1: u32 = 0x00C;
pub(super) const EQ_LOG: u32 = 0x014;
pub(super) const EQ_BASE_LO: u32 = 0x018;
pub(super) const EQ_BASE_HI: u32 = 0x01C;
pub(super) const EQ_CI: u32 = 0x020;
pub(super) const INTERRUPT: u32 = 0x024;
pub(super) const MAC_LO: u32 = 0x028;
pub(super) const MAC_HI: u32 = 0x02C;
pub(super) const IPV4: u32 = 0x030;
pub(super) const IPV6: u32 = 0x040;
pub(super) const IPV6_LAST: u32 = 0x04C;
pub(super) const CTX_INDEX: u32 = 0x050;
pub(super) const CTX_COMMAND: u32 = 0x054;
pub(super) const CTX_STATUS: u32 = 0x058;
pub(super) const QP_STATE: u32 = 0x05C;
pub(super) const CTX_DATA: u32 = 0x080;
pub(super) const CTX_DATA_LAST: u32 = 0x0BC;
pub(super) const DB_SQ: u32 = 0x100;
pub(super) const DB_RQ: u32 = 0x104;
pub(super) const DB_CQ: u32 = 0x108;
pub(super) const DB_ARM: u32 = 0x10C;
pub(super) const DROP: u32 = 0x200;
pub(super) const DROP_LAST: u32 = 0x27C;
pub(super) const RX_FRAMES: u32 = 0x280;
pub(super) const TX_FRAMES: u32 = 0x284;
pub(super) const RX_OCTETS: u32 = 0x288;
pub(super) const RX_OCTETS_HI: u32 = 0x28C;
pub(super) const TX_OCTETS: u32 = 0x290;
pub(super) const TX_OCTETS_HI: u32 = 0x294;

/// Value of ID.
pub(super) const ID_VALUE: u32 = 0x4D44_4E54;
/// Value of VERSION.
pub(super) const VERSION_VALUE: u32 = 1;
