//! An engine driven by hand, as a driver with no scruples would: registers, contexts, rings and doorbells.
#![allow(dead_code, reason = "each test takes what it needs")]

pub mod dice;
pub mod memory;
pub mod packet;
pub mod proof;
pub mod request;

use tandem_cosim::bus::Traffic;
use tandem_cosim::{Options, RtlTarget};
use tandem_model::abi::{CQ_CONTEXT, EQE, QP_CONTEXT, QpState, Record, Table, regs};
use tandem_model::hal::{Hal, HalError, Target};

/// What a step comes to: a divergence or a broken rule is the end.
pub type Result<T = ()> = std::result::Result<T, HalError>;

/// Protection domain of all that is not meant to be refused.
pub const PD: u16 = 7;
/// Last octet of the engine's addresses, and of its peer's.
pub const OWN: u8 = 2;
/// See [`OWN`].
pub const PEER: u8 = 1;
/// log2 of entries of the event ring.
const EQ_LOG: u32 = 8;
/// Host memory: all of it is looked at by those who look for changes.
const MEMORY: usize = 4 << 20;
/// Looks at a command's status before it counts as lost.
const COMMAND_LOOKS: u32 = 2000;
/// Clocks after which an engine that has nothing to do is idle.
const REST_CLOCKS: u32 = 60_000;

/// Rings and settings of a queue pair. The rings stay when it begins anew.
#[derive(Clone, Debug)]
pub struct Qp {
    pub number: u32,
    pub mtu: u32,
    pub sq_log: u8,
    pub rq_log: u8,
    pub send_cq: u16,
    pub recv_cq: u16,
    pub max_ird: u8,
    pub remote_read: bool,
    pub remote_write: bool,
    /// Codes of the context: local ACK timeout, go-backs, waits after RNR.
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub sq_base: u64,
    pub rq_base: u64,
    /// Receives come from this shared receive queue.
    pub srq: Option<u16>,
    /// Producer indices.
    pub sent: u16,
    pub posted: u16,
    /// How often it has begun.
    pub life: u32,
}

/// log2 of 64-byte units of a send-queue entry.
pub const STRIDE: u8 = 1;

impl Qp {
    /// First PSN of what it sends: another one in each life.
    pub fn sq_psn(&self) -> u32 {
        (100 + self.number + self.life * 0x35_0003) & 0xFF_FFFF
    }

    /// First PSN that it expects: in every other life near the wrap.
    pub fn rq_psn(&self) -> u32 {
        match self.life % 2 {
            1 => 0xFF_FFF0 + self.number,
            _ => (self.life * 0x12_3457) & 0xFF_FFFF,
        }
    }

    /// The next life: with empty rings, and new PSNs.
    pub fn renew(&mut self) {
        (self.sent, self.posted) = (0, 0);
        self.life += 1;
    }

    /// Number of the peer's queue pair.
    pub fn peer(&self) -> u32 {
        self.number + 10
    }
}

/// See the module.
pub struct Card {
    pub target: RtlTarget,
    /// All host memory that is given out.
    pub base: u64,
    next: u64,
    /// Event ring, and events taken from it.
    events: u64,
    told: u32,
}

impl Card {
    /// An engine with its addresses and its event ring.
    pub fn new(seed: u64, traffic: Traffic) -> Result<Self> {
        let mut target = RtlTarget::new(Options {
            node: "b".into(),
            seed,
            traffic,
            memory: 2 * MEMORY,
            ..Options::default()
        })?;
        let base = target.allocate(MEMORY, 4096)?;
        let mut card = Self {
            target,
            base,
            next: base,
            events: 0,
            told: 0,
        };
        let events = card.room(16 << EQ_LOG);
        card.events = events;
        for (offset, value) in [
            (regs::EqLog::OFFSET, EQ_LOG),
            (regs::EqBaseLo::OFFSET, events as u32),
            (regs::EqBaseHi::OFFSET, (events >> 32) as u32),
            (regs::MacLo::OFFSET, 2),
            (regs::MacHi::OFFSET, u32::from(OWN) << 8),
            (regs::Ipv4::OFFSET, u32::from_le_bytes([10, 0, 0, OWN])),
        ] {
            card.target.write_register(offset, value)?;
        }
        Ok(card)
    }

    /// Memory that is nobody else's, on pages of its own.
    pub fn room(&mut self, bytes: u64) -> u64 {
        let room = self.next;
        self.next += bytes.next_multiple_of(4096);
        assert!(
            self.next <= self.base + MEMORY as u64,
            "the test needs more memory"
        );
        room
    }

    /// Everything in memory.
    pub fn memory(&mut self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; MEMORY];
        self.target.read_memory(self.base, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes a table entry.
    pub fn command(&mut self, table: Table, index: u32, pages: u32, entry: &[u8]) -> Result {
        let target = &mut self.target;
        target.write_register(regs::CtxIndex::OFFSET, index)?;
        for (place, word) in entry.chunks(4).enumerate() {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            let offset = regs::CtxDataWord::OFFSET + 4 * place as u32;
            target.write_register(offset, u32::from_le_bytes(bytes))?;
        }
        target.write_register(regs::CtxCommand::OFFSET, table as u32 | pages << 4)?;
        for _ in 0..COMMAND_LOOKS {
            if target.read_register(regs::CtxStatus::OFFSET)? & 1 == 0 {
                return Ok(());
            }
        }
        let cause = format!("the entry {index} of {table:?} is never written");
        Err(HalError::Stopped(cause))
    }

    /// Writes a completion queue.
    pub fn write_cq(&mut self, number: u16, valid: bool, log: u8, base: u64) -> Result {
        let entry = Record::new(&CQ_CONTEXT)
            .with("valid", valid)
            .with("log_size", log)
            .with("base", base);
        self.command(Table::Cq, number.into(), 0, entry.as_bytes())
    }

    /// A queue pair with rings of its own, written nowhere yet.
    pub fn new_qp(&mut self, number: u32, logs: (u8, u8), cqs: (u16, u16)) -> Qp {
        let (sq_log, rq_log) = logs;
        Qp {
            number,
            mtu: 1024,
            sq_log,
            rq_log,
            send_cq: cqs.0,
            recv_cq: cqs.1,
            max_ird: 4,
            remote_read: true,
            remote_write: true,
            timeout: 0,
            retry_cnt: 0,
            rnr_retry: 0,
            sq_base: self.room(64 << (STRIDE + sq_log)),
            rq_base: self.room(64 << rq_log),
            srq: None,
            sent: 0,
            posted: 0,
            life: 0,
        }
    }

    /// Writes a queue pair in a state.
    pub fn write_qp(&mut self, qp: &Qp, state: QpState) -> Result {
        let ip = [0; 10].into_iter().chain([0xFF, 0xFF, 10, 0, 0, PEER]);
        let entry = Record::new(&QP_CONTEXT)
            .with("state", state)
            .with("mtu", (qp.mtu / 128).trailing_zeros())
            .with("sq_log", qp.sq_log)
            .with("sq_stride", STRIDE)
            .with("rq_log", qp.rq_log)
            .with("remote_read", qp.remote_read)
            .with("remote_write", qp.remote_write)
            .with("pd", PD)
            .with("udp_sport", 0xC000u16)
            .with("send_cq", qp.send_cq)
            .with("recv_cq", qp.recv_cq)
            .with("remote_qpn", qp.peer())
            .with("hop_limit", 64u8)
            .with("sq_psn", qp.sq_psn())
            .with("max_ord", 3u8)
            .with("rq_psn", qp.rq_psn())
            .with("max_ird", qp.max_ird)
            .with("sq_base", qp.sq_base)
            .with("srq", qp.srq.is_some())
            .with("rq_base", qp.srq.map_or(qp.rq_base, u64::from))
            .with("remote_mac", u64::from(PEER) << 40 | 2)
            .with("timeout", qp.timeout)
            .with("retry_cnt", qp.retry_cnt)
            .with("rnr_retry", qp.rnr_retry)
            .with("min_rnr_timer", 12u8)
            .with("remote_ip", u128::from_le_bytes(bytes(ip)));
        self.command(Table::Qp, qp.number, 0, entry.as_bytes())
    }

    /// The state of a queue pair.
    pub fn qp_state(&mut self, number: u32) -> Result<QpState> {
        self.target.write_register(regs::CtxIndex::OFFSET, number)?;
        let state = self.target.read_register(regs::QpState::OFFSET)?;
        QpState::from_bits(state.into())
            .ok_or_else(|| HalError::Stopped(format!("queue pair {number} in state {state}")))
    }

    /// Takes a queue pair from wherever it is to `QpRts`, with empty rings at their old places.
    pub fn begin_anew(&mut self, qp: &mut Qp) -> Result {
        qp.renew();
        for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
            self.write_qp(qp, state)?;
        }
        Ok(())
    }

    /// Puts a send-queue entry into the ring; [`Card::ring_send`] tells the engine.
    pub fn place_send(&mut self, qp: &mut Qp, entry: &[u8]) -> Result {
        let slot = u64::from(qp.sent) & ((1 << qp.sq_log) - 1);
        let address = qp.sq_base + (slot << (6 + STRIDE));
        qp.sent = qp.sent.wrapping_add(1);
        self.target.write_memory(address, entry)
    }

    /// Puts a receive into the ring; [`Card::ring_receive`] tells the engine.
    pub fn place_receive(&mut self, qp: &mut Qp, entry: &[u8]) -> Result {
        let slot = u64::from(qp.posted) & ((1 << qp.rq_log) - 1);
        qp.posted = qp.posted.wrapping_add(1);
        self.target.write_memory(qp.rq_base + slot * 64, entry)
    }

    /// Rings the send doorbell.
    pub fn ring_send(&mut self, qp: &Qp) -> Result {
        let value = qp.number << 16 | u32::from(qp.sent);
        self.target.write_register(regs::DbSq::OFFSET, value)
    }

    /// Rings the receive doorbell.
    pub fn ring_receive(&mut self, qp: &Qp) -> Result {
        let value = qp.number << 16 | u32::from(qp.posted);
        self.target.write_register(regs::DbRq::OFFSET, value)
    }

    /// Takes the events that are written.
    pub fn events(&mut self) -> Result<Vec<Record>> {
        let mut events = Vec::new();
        loop {
            let slot = u64::from(self.told & ((1 << EQ_LOG) - 1));
            let mut bytes = vec![0; EQE.bytes()];
            self.target
                .read_memory(self.events + slot * 16, &mut bytes)?;
            let event = Record::from_bytes(&EQE, &bytes);
            if event.get("phase") == u128::from(self.told >> EQ_LOG & 1) {
                break;
            }
            self.told += 1;
            events.push(event);
        }
        if !events.is_empty() {
            self.target
                .write_register(regs::EqCi::OFFSET, self.told & 0xFFFF)?;
        }
        Ok(events)
    }

    /// Lets the engine come to rest; it has to.
    pub fn rest(&mut self) -> Result {
        for _ in 0..REST_CLOCKS / 100 {
            if !self.target.advance(100)? {
                return Ok(());
            }
        }
        let cause = format!("still busy after {REST_CLOCKS} clocks");
        Err(HalError::Stopped(cause))
    }
}

/// Seeds of a test: so many, or as many as `TANDEM_HOSTILE_SEEDS` says.
pub fn seeds(ordinary: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("TANDEM_HOSTILE_SEEDS").ok();
    0..asked.map_or(ordinary, |text| text.parse().expect("a number of seeds"))
}

/// Bytes of an iterator, as many as there are places.
fn bytes<const N: usize>(from: impl IntoIterator<Item = u8>) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.iter_mut().zip(from).for_each(|(to, from)| *to = from);
    bytes
}
