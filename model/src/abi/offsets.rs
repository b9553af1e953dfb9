//! Byte offsets of the registers, as engine and provider use them, from the generated accessors where
//! these have them.

use super::regs;

pub(crate) const ID: u32 = regs::Id::OFFSET;
pub(crate) const VERSION: u32 = regs::Version::OFFSET;
pub(crate) const CAPS0: u32 = regs::Caps0::OFFSET;
pub(crate) const CAPS1: u32 = regs::Caps1::OFFSET;
pub(crate) const EQ_LOG: u32 = regs::EqLog::OFFSET;
pub(crate) const EQ_BASE_LO: u32 = regs::EqBaseLo::OFFSET;
pub(crate) const EQ_BASE_HI: u32 = regs::EqBaseHi::OFFSET;
pub(crate) const EQ_CI: u32 = regs::EqCi::OFFSET;
pub(crate) const INTERRUPT: u32 = regs::Interrupt::OFFSET;
pub(crate) const MAC_LO: u32 = regs::MacLo::OFFSET;
pub(crate) const MAC_HI: u32 = regs::MacHi::OFFSET;
pub(crate) const IPV4: u32 = regs::Ipv4::OFFSET;
pub(crate) const TIME_UNIT: u32 = regs::TimeUnit::OFFSET;
pub(crate) const RNR_UNIT: u32 = regs::RnrUnit::OFFSET;
pub(crate) const CNP_INTERVAL: u32 = regs::CnpInterval::OFFSET;
pub(crate) const IPV6: u32 = regs::Ipv60::OFFSET;
pub(crate) const IPV6_LAST: u32 = regs::Ipv63::OFFSET;
pub(crate) const CTX_INDEX: u32 = regs::CtxIndex::OFFSET;
pub(crate) const CTX_COMMAND: u32 = regs::CtxCommand::OFFSET;
pub(crate) const CTX_STATUS: u32 = regs::CtxStatus::OFFSET;
pub(crate) const QP_STATE: u32 = regs::QpState::OFFSET;
pub(crate) const CQ_SWITCH: u32 = regs::CqSwitch::OFFSET;
pub(crate) const MODERATION_UNIT: u32 = regs::ModerationUnit::OFFSET;
pub(crate) const CTX_DATA: u32 = regs::CtxDataWord::OFFSET;
pub(crate) const CTX_DATA_LAST: u32 = CTX_DATA + 15 * 4;
pub(crate) const DB_SQ: u32 = regs::DbSq::OFFSET;
pub(crate) const DB_RQ: u32 = regs::DbRq::OFFSET;
pub(crate) const DB_CQ: u32 = regs::DbCq::OFFSET;
pub(crate) const DB_ARM: u32 = regs::DbArm::OFFSET;
pub(crate) const DB_SRQ: u32 = regs::DbSrq::OFFSET;
pub(crate) const DB_SRQ_LIMIT: u32 = regs::DbSrqLimit::OFFSET;
pub(crate) const DROP: u32 = regs::DropFrames::OFFSET;
pub(crate) const DROP_LAST: u32 = DROP + 31 * 4;
pub(crate) const RX_FRAMES: u32 = regs::RxFrames::OFFSET;
pub(crate) const TX_FRAMES: u32 = regs::TxFrames::OFFSET;
pub(crate) const RX_OCTETS: u32 = regs::RxOctetsLo::OFFSET;
pub(crate) const RX_OCTETS_HI: u32 = regs::RxOctetsHi::OFFSET;
pub(crate) const TX_OCTETS: u32 = regs::TxOctetsLo::OFFSET;
pub(crate) const TX_OCTETS_HI: u32 = regs::TxOctetsHi::OFFSET;
pub(crate) const GO_BACKS: u32 = regs::GoBacks::OFFSET;
pub(crate) const TIMEOUTS: u32 = regs::Timeouts::OFFSET;
pub(crate) const RNR_WAITS: u32 = regs::RnrWaits::OFFSET;
pub(crate) const DUPLICATES: u32 = regs::Duplicates::OFFSET;
pub(crate) const NAKS_OUT: u32 = regs::NaksOut::OFFSET;
pub(crate) const CNP_IN: u32 = regs::CnpIn::OFFSET;
pub(crate) const CNP_OUT: u32 = regs::CnpOut::OFFSET;

/// Clocks of 4.096 µs at 62.5 MHz: TIME_UNIT after reset.
pub(crate) const TIME_UNIT_RESET: u16 = regs::TimeUnit::RESET.0 as u16;
/// Clocks of 10 µs at 62.5 MHz: RNR_UNIT after reset.
pub(crate) const RNR_UNIT_RESET: u16 = regs::RnrUnit::RESET.0 as u16;
/// Clocks of 50 µs at 62.5 MHz: CNP_INTERVAL after reset.
pub(crate) const CNP_INTERVAL_RESET: u32 = regs::CnpInterval::RESET.0;
/// Clocks of 1 µs at 62.5 MHz: MODERATION_UNIT after reset.
pub(crate) const MODERATION_UNIT_RESET: u16 = regs::ModerationUnit::RESET.0 as u16;

/// Value of ID.
pub(crate) const ID_VALUE: u32 = regs::Id::RESET.0;
/// Value of VERSION.
pub(crate) const VERSION_VALUE: u32 = regs::Version::RESET.0;
