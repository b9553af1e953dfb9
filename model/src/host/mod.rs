//! Room `host`: registers, doorbells that wait for their action, events, the interrupt line.

mod counters;
mod events;

pub(crate) use counters::Counters;
pub(crate) use events::Events;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use crate::abi::offsets as reg;

use crate::abi::Arm;
use crate::context::{Command, Context, ENTRY_BYTES, QpContext, Staged};
use crate::engine::Config;
use crate::wire::{Eth, Ip, Ipv4, Ipv6, MacAddr};

/// A queue index written to a doorbell register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Doorbell {
    /// Queue pair, completion queue or shared receive queue.
    pub number: u32,
    /// Producer or consumer index, or limit.
    pub index: u16,
}

/// What was written to a completion queue's doorbells; both kinds wait in one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CqDoorbell {
    /// DB_CQ.
    Consumed(Doorbell),
    /// DB_ARM.
    Arm(Doorbell, Arm),
}

/// What was written to a shared receive queue's doorbells; both kinds wait in one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SrqDoorbell {
    /// DB_SRQ.
    Posted(Doorbell),
    /// DB_SRQ_LIMIT.
    Limit(Doorbell),
}

/// Own addresses.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct Port {
    pub mac: MacAddr,
    pub ipv4: [u8; 4],
    pub ipv6: [u8; 16],
}

impl Port {
    /// Headers of what is sent for a queue pair (WIRE-FRM-1, -2, WIRE-BTH-8).
    pub fn headers(&self, qp: &QpContext) -> (Eth, Ip) {
        let eth = Eth {
            dst: qp.remote_mac,
            src: self.mac,
            vlan: None,
        };
        let [.., a, b, c, d] = qp.remote_ip;
        let ip = if qp.ipv6 {
            Ip::V6(Ipv6::new(self.ipv6.into(), qp.remote_ip.into()))
        } else {
            Ip::V4(Ipv4::new(self.ipv4.into(), [a, b, c, d].into()))
        };
        (eth, ip.with_path(qp.traffic_class, qp.hop_limit))
    }
}

/// Lengths of the units in which timers are counted.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct TimeUnits {
    /// Clocks of 4.096 µs (TIME_UNIT).
    pub time: u16,
    /// Clocks of 10 µs (RNR_UNIT).
    pub rnr: u16,
    /// Clocks of 1 µs (MODERATION_UNIT).
    pub moderation: u16,
}

/// See the module. Its counters do not count in a hash.
#[derive(Clone)]
pub(crate) struct Host {
    config: Config,
    pub port: Port,
    pub units: TimeUnits,
    /// Least clocks between two CNPs of a queue pair (CNP_INTERVAL).
    pub cnp_interval: u32,
    pub events: Events,
    /// Producer index of a completion queue at which the last TableCqRing took effect (CQ_SWITCH).
    pub cq_switch: u16,
    ctx_index: u32,
    ctx_data: Staged,
    pub commands: VecDeque<Command>,
    pub sq_doorbells: VecDeque<Doorbell>,
    pub rq_doorbells: VecDeque<Doorbell>,
    cq_doorbells: VecDeque<CqDoorbell>,
    pub srq_doorbells: VecDeque<SrqDoorbell>,
    pub counters: Counters,
}

impl Hash for Host {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            config,
            port,
            units,
            cnp_interval,
            events,
            ctx_index,
            ctx_data,
            commands,
            sq_doorbells,
            rq_doorbells,
            cq_doorbells,
            srq_doorbells,
            cq_switch,
            counters: _,
        } = self;
        (config, port, units, cnp_interval, events).hash(state);
        (ctx_index, ctx_data, commands).hash(state);
        (sq_doorbells, rq_doorbells, cq_doorbells, srq_doorbells).hash(state);
        cq_switch.hash(state);
    }
}

impl Host {
    pub fn new(config: Config) -> Self {
        Self {
            config,
            port: Port::default(),
            units: TimeUnits {
                time: reg::TIME_UNIT_RESET,
                rnr: reg::RNR_UNIT_RESET,
                moderation: reg::MODERATION_UNIT_RESET,
            },
            cnp_interval: reg::CNP_INTERVAL_RESET,
            events: Events::default(),
            cq_switch: 0,
            ctx_index: 0,
            ctx_data: [0; ENTRY_BYTES],
            commands: VecDeque::new(),
            sq_doorbells: VecDeque::new(),
            rq_doorbells: VecDeque::new(),
            cq_doorbells: VecDeque::new(),
            srq_doorbells: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    pub fn write(&mut self, offset: u32, value: u32) {
        let doorbell = Doorbell {
            number: value >> 16,
            index: value as u16,
        };
        match offset {
            reg::EQ_LOG => self.events.log = (value & 0x1F) as u8,
            reg::EQ_BASE_LO => set_low(&mut self.events.base, value),
            reg::EQ_BASE_HI => set_high(&mut self.events.base, value),
            reg::EQ_CI => self.events.consumer = value as u16,
            reg::MAC_LO => set_word(&mut self.port.mac.0, 0, value),
            reg::MAC_HI => set_word(&mut self.port.mac.0, 4, value),
            reg::IPV4 => self.port.ipv4 = value.to_le_bytes(),
            reg::TIME_UNIT => self.units.time = value as u16,
            reg::RNR_UNIT => self.units.rnr = value as u16,
            reg::MODERATION_UNIT => self.units.moderation = value as u16,
            reg::CNP_INTERVAL => self.cnp_interval = value & 0xFF_FFFF,
            reg::IPV6..=reg::IPV6_LAST if offset.is_multiple_of(4) => {
                set_word(&mut self.port.ipv6, (offset - reg::IPV6) as usize, value);
            }
            reg::CTX_INDEX => self.ctx_index = value & 0xFF_FFFF,
            reg::CTX_COMMAND => {
                let command = Command::new(
                    value,
                    self.ctx_index,
                    &self.ctx_data,
                    self.cq_doorbells.len(),
                );
                self.commands.push_back(command);
            }
            reg::CTX_DATA..=reg::CTX_DATA_LAST if offset.is_multiple_of(4) => {
                set_word(&mut self.ctx_data, (offset - reg::CTX_DATA) as usize, value);
            }
            reg::DB_SQ => self.sq_doorbells.push_back(doorbell),
            reg::DB_RQ => self.rq_doorbells.push_back(doorbell),
            reg::DB_CQ => self.cq_doorbells.push_back(CqDoorbell::Consumed(doorbell)),
            reg::DB_ARM => {
                let arm = match value >> 30 {
                    0 => Arm::Errors,
                    1 => Arm::Any,
                    2 => Arm::Solicited,
                    _ => Arm::None,
                };
                let doorbell = Doorbell {
                    number: doorbell.number & 0x3FFF,
                    ..doorbell
                };
                self.cq_doorbells.push_back(CqDoorbell::Arm(doorbell, arm));
            }
            reg::DB_SRQ => self.srq_doorbells.push_back(SrqDoorbell::Posted(doorbell)),
            reg::DB_SRQ_LIMIT => self.srq_doorbells.push_back(SrqDoorbell::Limit(doorbell)),
            _ => {}
        }
    }

    /// The oldest doorbell of completion queues that waits.
    pub fn cq_doorbell(&self) -> Option<&CqDoorbell> {
        self.cq_doorbells.front()
    }

    /// Takes the oldest doorbell of completion queues.
    pub fn take_cq_doorbell(&mut self) -> Option<CqDoorbell> {
        let doorbell = self.cq_doorbells.pop_front()?;
        for command in &mut self.commands {
            command.doorbells = command.doorbells.saturating_sub(1);
        }
        Some(doorbell)
    }

    /// The oldest context command, if it need not wait for doorbells.
    pub fn command(&self) -> Option<&Command> {
        let command = self.commands.front()?;
        (!command.follows_doorbells() || command.doorbells == 0).then_some(command)
    }

    pub fn read(&self, offset: u32, context: &Context) -> u32 {
        let c = &self.config;
        match offset {
            reg::ID => reg::ID_VALUE,
            reg::VERSION => reg::VERSION_VALUE,
            reg::CAPS0 => {
                u32::from(c.log2_qps)
                    | u32::from(c.log2_cqs) << 8
                    | u32::from(c.log2_tokens) << 16
                    | u32::from(c.log2_pages) << 24
            }
            reg::CAPS1 => {
                u32::from(c.max_read) | u32::from(c.max_read) << 8 | u32::from(c.log2_srqs) << 16
            }
            reg::EQ_LOG => self.events.log.into(),
            reg::EQ_BASE_LO => self.events.base as u32,
            reg::EQ_BASE_HI => (self.events.base >> 32) as u32,
            reg::EQ_CI => self.events.consumer.into(),
            reg::INTERRUPT => self.events.pending().into(),
            reg::MAC_LO => word(&self.port.mac.0, 0),
            reg::MAC_HI => word(&self.port.mac.0, 4),
            reg::IPV4 => u32::from_le_bytes(self.port.ipv4),
            reg::TIME_UNIT => self.units.time.into(),
            reg::RNR_UNIT => self.units.rnr.into(),
            reg::CQ_SWITCH => self.cq_switch.into(),
            reg::MODERATION_UNIT => self.units.moderation.into(),
            reg::CNP_INTERVAL => self.cnp_interval,
            reg::IPV6..=reg::IPV6_LAST if offset.is_multiple_of(4) => {
                word(&self.port.ipv6, (offset - reg::IPV6) as usize)
            }
            reg::CTX_INDEX => self.ctx_index,
            reg::CTX_STATUS => (!self.commands.is_empty()).into(),
            reg::QP_STATE => context.state(self.ctx_index) as u32,
            reg::CTX_DATA..=reg::CTX_DATA_LAST if offset.is_multiple_of(4) => {
                word(&self.ctx_data, (offset - reg::CTX_DATA) as usize)
            }
            _ => self.counters.read(offset),
        }
    }

    /// Whether no doorbell or command waits.
    pub fn is_idle(&self) -> bool {
        self.commands.is_empty()
            && self.sq_doorbells.is_empty()
            && self.rq_doorbells.is_empty()
            && self.cq_doorbells.is_empty()
            && self.srq_doorbells.is_empty()
    }
}

fn set_low(value: &mut u64, low: u32) {
    *value = *value & !0xFFFF_FFFF | u64::from(low);
}

fn set_high(value: &mut u64, high: u32) {
    *value = *value & 0xFFFF_FFFF | u64::from(high) << 32;
}

/// Sets the bytes from `at` that are there to those of a word.
fn set_word(bytes: &mut [u8], at: usize, word: u32) {
    for (to, from) in bytes.iter_mut().skip(at).zip(word.to_le_bytes()) {
        *to = from;
    }
}

/// The word of the bytes from `at`; bytes that are not there are 0.
fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    for (to, from) in word.iter_mut().zip(bytes.iter().skip(at)) {
        *to = *from;
    }
    u32::from_le_bytes(word)
}
