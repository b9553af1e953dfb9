//! Two engines and their drivers by hand: contexts, rings and doorbells through registers only.
#![allow(dead_code, unused_imports)]

mod failure;
mod forge;
mod local;
mod node;
mod queues;
mod request;
mod requester;
mod shared;
mod world;

pub use failure::*;
pub use forge::*;
pub use local::*;
pub use node::*;
pub use queues::*;
pub use request::*;
pub use requester::*;
pub use shared::*;
pub use world::*;

pub mod reg {
    pub const EQ_LOG: u32 = 0x014;
    pub const EQ_BASE_LO: u32 = 0x018;
    pub const EQ_BASE_HI: u32 = 0x01C;
    pub const EQ_CI: u32 = 0x020;
    pub const MAC_LO: u32 = 0x028;
    pub const MAC_HI: u32 = 0x02C;
    pub const IPV4: u32 = 0x030;
    pub const TIME_UNIT: u32 = 0x034;
    pub const RNR_UNIT: u32 = 0x038;
    pub const CNP_INTERVAL: u32 = 0x03C;
    pub const IPV6: u32 = 0x040;
    pub const CTX_INDEX: u32 = 0x050;
    pub const CTX_COMMAND: u32 = 0x054;
    pub const CTX_STATUS: u32 = 0x058;
    pub const QP_STATE: u32 = 0x05C;
    pub const CQ_SWITCH: u32 = 0x060;
    pub const MODERATION_UNIT: u32 = 0x064;
    pub const CTX_DATA: u32 = 0x080;
    pub const DB_SQ: u32 = 0x100;
    pub const DB_RQ: u32 = 0x104;
    pub const DB_CQ: u32 = 0x108;
    pub const DB_ARM: u32 = 0x10C;
    pub const DB_SRQ: u32 = 0x110;
    pub const DB_SRQ_LIMIT: u32 = 0x114;
    pub const DROP: u32 = 0x200;
    pub const RX_FRAMES: u32 = 0x280;
    pub const TX_FRAMES: u32 = 0x284;
    pub const GO_BACKS: u32 = 0x298;
    pub const TIMEOUTS: u32 = 0x29C;
    pub const RNR_WAITS: u32 = 0x2A0;
    pub const DUPLICATES: u32 = 0x2A4;
    pub const NAKS_OUT: u32 = 0x2A8;
    pub const CNP_IN: u32 = 0x2AC;
    pub const CNP_OUT: u32 = 0x2B0;
}

pub const PD: u16 = 7;
pub const EQ_LOG: u32 = 8;
