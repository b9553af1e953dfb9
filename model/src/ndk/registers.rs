//! Register offsets that the provider uses (see "Semantics of the engine" in the book).

use crate::abi::regs;

pub(super) const ID: u32 = regs::Id::OFFSET;
pub(super) const VERSION: u32 = regs::Version::OFFSET;
pub(super) const CAPS0: u32 = regs::Caps0::OFFSET;
pub(super) const CAPS1: u32 = regs::Caps1::OFFSET;
pub(super) const EQ_LOG: u32 = regs::EqLog::OFFSET;
pub(super) const EQ_BASE_LO: u32 = regs::EqBaseLo::OFFSET;
pub(super) const EQ_BASE_HI: u32 = regs::EqBaseHi::OFFSET;
pub(super) const EQ_CI: u32 = regs::EqCi::OFFSET;
pub(super) const MAC_LO: u32 = regs::MacLo::OFFSET;
pub(super) const MAC_HI: u32 = regs::MacHi::OFFSET;
pub(super) const IPV4: u32 = regs::Ipv4::OFFSET;
pub(super) const IPV6_0: u32 = regs::Ipv60::OFFSET;
pub(super) const CTX_INDEX: u32 = regs::CtxIndex::OFFSET;
pub(super) const CTX_COMMAND: u32 = regs::CtxCommand::OFFSET;
pub(super) const CTX_STATUS: u32 = regs::CtxStatus::OFFSET;
pub(super) const CTX_DATA_0: u32 = regs::CtxDataWord::OFFSET;
pub(super) const DB_SQ: u32 = regs::DbSq::OFFSET;
pub(super) const DB_RQ: u32 = regs::DbRq::OFFSET;
pub(super) const DB_CQ: u32 = regs::DbCq::OFFSET;
pub(super) const DB_ARM: u32 = regs::DbArm::OFFSET;

/// What ID holds.
pub(super) const ID_VALUE: u32 = regs::Id::RESET.0;
/// What VERSION holds.
pub(super) const VERSION_VALUE: u32 = regs::Version::RESET.0;
