//! Byte offsets of the registers.

use crate::abi::regs;

pub(super) const ID: u32 = regs::Id::OFFSET;
pub(super) const VERSION: u32 = regs::Version::OFFSET;
pub(super) const CAPS0: u32 = regs::Caps0::OFFSET;
pub(super) const CAPS1: u32 = regs::Caps1::OFFSET;
pub(super) const EQ_LOG: u32 = regs::EqLog::OFFSET;
pub(super) const EQ_BASE_LO: u32 = regs::EqBaseLo::OFFSET;
pub(super) const EQ_BASE_HI: u32 = regs::EqBaseHi::OFFSET;
pub(super) const EQ_CI: u32 = regs::EqCi::OFFSET;
pub(super) const INTERRUPT: u32 = regs::Interrupt::OFFSET;
pub(super) const MAC_LO: u32 = regs::MacLo::OFFSET;
pub(super) const MAC_HI: u32 = regs::MacHi::OFFSET;
pub(super) const IPV4: u32 = regs::Ipv4::OFFSET;
pub(super) const IPV6: u32 = regs::Ipv60::OFFSET;
pub(super) const IPV6_LAST: u32 = regs::Ipv63::OFFSET;
pub(super) const CTX_INDEX: u32 = regs::CtxIndex::OFFSET;
pub(super) const CTX_COMMAND: u32 = regs::CtxCommand::OFFSET;
pub(super) const CTX_STATUS: u32 = regs::CtxStatus::OFFSET;
pub(super) const QP_STATE: u32 = regs::QpState::OFFSET;
pub(super) const CTX_DATA: u32 = regs::CtxDataWord::OFFSET;
pub(super) const CTX_DATA_LAST: u32 = CTX_DATA + 15 * 4;
pub(super) const DB_SQ: u32 = regs::DbSq::OFFSET;
pub(super) const DB_RQ: u32 = regs::DbRq::OFFSET;
pub(super) const DB_CQ: u32 = regs::DbCq::OFFSET;
pub(super) const DB_ARM: u32 = regs::DbArm::OFFSET;
pub(super) const DROP: u32 = regs::DropFrames::OFFSET;
pub(super) const DROP_LAST: u32 = DROP + 31 * 4;
pub(super) const RX_FRAMES: u32 = regs::RxFrames::OFFSET;
pub(super) const TX_FRAMES: u32 = regs::TxFrames::OFFSET;
pub(super) const RX_OCTETS: u32 = regs::RxOctetsLo::OFFSET;
pub(super) const RX_OCTETS_HI: u32 = regs::RxOctetsHi::OFFSET;
pub(super) const TX_OCTETS: u32 = regs::TxOctetsLo::OFFSET;
pub(super) const TX_OCTETS_HI: u32 = regs::TxOctetsHi::OFFSET;

/// Value of ID.
pub(super) const ID_VALUE: u32 = regs::Id::RESET.0;
/// Value of VERSION.
pub(super) const VERSION_VALUE: u32 = regs::Version::RESET.0;
