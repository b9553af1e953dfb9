//! A small connected engine with its driver and its memory. A clone of it goes its own way.

use tandem_model::abi::{
    CQ_CONTEXT, CQE, CommitKind, QP_CONTEXT, QpState, RQ_WQE, Record, RespondKind, SGE, SQ_WQE,
    Status, TOKEN_CONTEXT, Table, TokenKind, WqeOpcode, regs,
};
use tandem_model::engine::{Action, Config, Effect, Engine, WriteChannel};
use tandem_model::target::Memory;

use super::script::Sends;

/// One queue pair speaks IPv4, the other IPv6.
pub const QPS: [u32; 2] = [2, 3];
/// Addresses of the engine and of its peer: last octets.
pub const OWN: u8 = 2;
pub const PEER: u8 = 1;
/// PSNs at the beginning: of what is sent, and of what is expected (near the wrap).
pub const SQ_PSN: u32 = 100;
pub const RQ_PSN: u32 = 0xFF_FFF8;
/// Payload of a packet.
pub const MTU: u32 = 1024;

/// Logical address of the first byte of memory.
const BASE: u64 = Memory::BASE;
/// Where things lie in memory.
const EVENTS: u64 = BASE;
const COMPLETIONS: u64 = BASE + 0x1000;
const RINGS: u64 = BASE + 0x2000;
const RINGS_OF_ONE: u64 = 0x2000;
const RECEIVES: u64 = 0x1000;
const PAGES: u64 = BASE + 0x8000;
const END: usize = 0xC000;
/// log2 of entries.
const EQ_LOG: u32 = 8;
const CQ_LOG: u32 = 6;
const SQ_LOG: u8 = 4;
const RQ_LOG: u8 = 4;
/// The completion queue and the protection domain.
const CQ: u32 = 1;
const PD: u16 = 7;
/// Actions after which an engine that gets nothing must have come to rest.
const MOST_ACTIONS: u32 = 5000;

/// Token of the region with all rights, and of the same one to be invalidated.
pub const TOKEN: u32 = 0x155;
pub const FAST: u32 = 0x255;
/// Tokens, their kinds, and whether the peer may do anything.
const TOKENS: [(u32, TokenKind, bool); 3] = [
    (TOKEN, TokenKind::Region, true),
    (FAST, TokenKind::Fast, true),
    (0x355, TokenKind::Fast, false),
];
/// The region: four pages in disorder, less its first bytes.
pub const REGION: u64 = 0x7000_0000_0123;
const REGION_PAGES: [u64; 4] = [2, 0, 3, 1];
const REGION_BYTES: u32 = 4 * 4096 - 0x123;

/// Offset in the region, and length, of every receive.
pub const RECEIVE: (u64, u32) = (0x700, 4096);

/// See the module.
#[derive(Clone)]
pub struct Rig {
    engine: Engine,
    host: Memory,
    /// Producer indices of the send and receive queues.
    rung: [(u16, u16); 2],
    /// Frames sent so far.
    pub sent: Vec<Vec<u8>>,
}

/// What can be seen of a rig, but for the counters of frames that came.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    registers: Vec<u32>,
    queue_pairs: Vec<String>,
    interrupt: bool,
    idle: bool,
    enabled: Vec<Action>,
}

impl Rig {
    /// Both queue pairs connected.
    pub fn new() -> Self {
        let config = Config {
            log2_qps: 3,
            log2_cqs: 2,
            log2_tokens: 2,
            log2_pages: 3,
            ..Config::default()
        };
        let mut host = Memory::new(END);
        host.allocate(END, 1).expect("as much as there may be");
        let mut rig = Self {
            engine: Engine::new(config),
            host,
            rung: [(0, 0); 2],
            sent: Vec::new(),
        };
        for (offset, value) in [
            (regs::EqLog::OFFSET, EQ_LOG),
            (regs::EqBaseLo::OFFSET, EVENTS as u32),
            (regs::EqBaseHi::OFFSET, 0),
            (regs::MacLo::OFFSET, 2),
            (regs::MacHi::OFFSET, u32::from(OWN) << 8),
            (regs::Ipv4::OFFSET, u32::from_le_bytes([192, 0, 2, OWN])),
            (
                regs::Ipv60::OFFSET,
                u32::from_le_bytes([0x20, 1, 0xD, 0xB8]),
            ),
            (regs::Ipv63::OFFSET, u32::from_le_bytes([0, 0, 0, OWN])),
        ] {
            rig.engine.write_register(offset, value);
        }
        let pages: Vec<u8> = REGION_PAGES
            .iter()
            .flat_map(|page| (PAGES + 4096 * page).to_le_bytes())
            .collect();
        rig.command(Table::Page, 0, 4, &pages);
        for (token, kind, remote) in TOKENS {
            let entry = Record::new(&TOKEN_CONTEXT)
                .with("valid", true)
                .with("kind", kind)
                .with("local_write", true)
                .with("remote_read", remote)
                .with("remote_write", remote)
                .with("key", token & 0xFF)
                .with("pd", PD)
                .with("first_page", 0u8)
                .with("base_address", REGION)
                .with("length", REGION_BYTES)
                .with("page_offset", REGION & 0xFFF);
            rig.command(Table::Token, token >> 8, 0, entry.as_bytes());
        }
        rig.begin();
        rig
    }

    /// Both queue pairs begin, with empty rings and an empty completion queue.
    pub fn begin(&mut self) {
        let cq = Record::new(&CQ_CONTEXT)
            .with("valid", true)
            .with("log_size", CQ_LOG)
            .with("base", COMPLETIONS);
        for number in QPS {
            self.write_qp(number, QpState::Init);
        }
        self.settle();
        if let Some(ring) = self.host.get_mut(COMPLETIONS, 32 << CQ_LOG) {
            ring.fill(0);
        }
        self.command(Table::Cq, CQ, 0, cq.as_bytes());
        for number in QPS {
            self.write_qp(number, QpState::Rtr);
            self.write_qp(number, QpState::Rts);
        }
        self.rung = [(0, 0); 2];
        self.sent.clear();
    }

    fn write_qp(&mut self, number: u32, state: QpState) {
        let ipv6 = number == QPS[1];
        let ip: [u8; 16] = match ipv6 {
            true => [0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, PEER],
            false => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, PEER],
        };
        let rings = rings(number);
        let entry = Record::new(&QP_CONTEXT)
            .with("state", state)
            .with("mtu", (MTU / 128).trailing_zeros())
            .with("ipv6", ipv6)
            .with("sq_log", SQ_LOG)
            .with("rq_log", RQ_LOG)
            .with("remote_read", true)
            .with("remote_write", true)
            .with("pd", PD)
            .with("udp_sport", 0xC000u16)
            .with("send_cq", CQ)
            .with("recv_cq", CQ)
            .with("remote_qpn", number + 10)
            .with("hop_limit", 64u8)
            .with("sq_psn", SQ_PSN)
            .with("max_ord", 4u8)
            .with("rq_psn", RQ_PSN)
            .with("max_ird", 4u8)
            .with("sq_base", rings)
            .with("rq_base", rings + RECEIVES)
            .with("remote_mac", u64::from(PEER) << 40 | 2)
            .with("timeout", 14u8)
            .with("retry_cnt", 3u8)
            .with("rnr_retry", 3u8)
            .with("min_rnr_timer", 12u8)
            .with("remote_ip", u128::from_le_bytes(ip));
        self.command(Table::Qp, number, 0, entry.as_bytes());
    }

    /// Writes a table entry.
    fn command(&mut self, table: Table, index: u32, pages: u32, entry: &[u8]) {
        self.engine.write_register(regs::CtxIndex::OFFSET, index);
        for (place, word) in entry.chunks(4).enumerate() {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            let offset = regs::CtxDataWord::OFFSET + 4 * place as u32;
            self.engine
                .write_register(offset, u32::from_le_bytes(bytes));
        }
        let command = table as u32 | pages << 4;
        self.engine
            .write_register(regs::CtxCommand::OFFSET, command);
        self.settle();
    }

    /// Executes all that needs no clock; returns the actions.
    pub fn settle(&mut self) -> Vec<Action> {
        let mut done = Vec::new();
        let mut enabled = Vec::new();
        for _ in 0..MOST_ACTIONS {
            enabled.clear();
            let looked = self.engine.enabled(&mut self.host, &mut enabled);
            looked.expect("memory has all of it");
            let Some(action) = enabled.iter().find(|action| !is_timed(action)) else {
                return done;
            };
            self.apply(action);
            done.push(*action);
        }
        panic!(
            "no rest after {MOST_ACTIONS} actions; the last one was {:?}",
            done.last()
        );
    }

    /// Ends what waits for a clock, once for each queue pair.
    pub fn pass_time(&mut self) {
        for number in QPS {
            for timed in [Engine::timer_action, Engine::cnp_action] {
                if let Some(action) = timed(&self.engine, number) {
                    self.apply(&action);
                    self.settle();
                }
            }
        }
    }

    fn apply(&mut self, action: &Action) {
        let mut effects = Vec::new();
        let applied = self.engine.apply(action, &mut self.host, &mut effects);
        if let Err(illegal) = applied {
            panic!("enabled, and yet refused: {illegal}");
        }
        for effect in effects {
            match effect {
                Effect::Frame(frame) => self.sent.push(frame),
                Effect::Write {
                    channel,
                    address,
                    bytes,
                } => self.place(channel, address, &bytes),
            }
        }
    }

    /// Writes to memory where the engine may.
    fn place(&mut self, channel: WriteChannel, address: u64, bytes: &[u8]) {
        let end = address + bytes.len() as u64;
        let allowed = match channel {
            WriteChannel::Payload => address >= PAGES,
            WriteChannel::Completion => end <= RINGS,
        };
        let length = bytes.len();
        match self.host.get_mut(address, length).filter(|_| allowed) {
            Some(to) => to.copy_from_slice(bytes),
            None => panic!("{channel} write of {length} bytes at {address:#x}"),
        }
    }

    /// A frame comes; what is done with it.
    pub fn take(&mut self, frame: &[u8]) -> Action {
        self.engine.receive_frame(frame.to_vec());
        use CommitKind::{RxDrop, RxRequest, RxResponse};
        let actions = self.settle();
        let mut verdicts = actions
            .into_iter()
            .filter(|action| matches!(action.kind, RxDrop | RxRequest | RxResponse));
        let verdict = verdicts.next().expect("a frame without a verdict");
        assert_eq!(verdicts.next(), None, "a frame with two verdicts");
        verdict
    }

    /// The driver posts a receive; without room nothing happens.
    pub fn post_receive(&mut self, qp: usize) {
        let index = self.rung[qp].1;
        // The ring is gone round at most once, since nobody looks for completions.
        if index >= 1 << RQ_LOG {
            return;
        }
        let (offset, length) = RECEIVE;
        let mut entry = element(offset, length);
        entry.resize(RQ_WQE.bytes(), 0);
        let address = rings(QPS[qp]) + RECEIVES + 64 * u64::from(index);
        self.write_memory(address, &entry);
        self.rung[qp].1 = index + 1;
        let doorbell = QPS[qp] << 16 | u32::from(index + 1);
        self.engine.write_register(regs::DbRq::OFFSET, doorbell);
        self.settle();
    }

    /// The driver posts a request of two packets and a bit; without room nothing happens.
    pub fn post_send(&mut self, qp: usize, what: Sends) {
        let index = self.rung[qp].0;
        if index >= 1 << SQ_LOG {
            return;
        }
        let opcode = match what {
            Sends::Send => WqeOpcode::Send,
            Sends::Write => WqeOpcode::Write,
            Sends::Read => WqeOpcode::Read,
            Sends::Invalidate => WqeOpcode::SendInvalidate,
        };
        let length = 2 * MTU + 20;
        let mut entry = Record::new(&SQ_WQE)
            .with("opcode", opcode)
            .with("num_sge", 1u8)
            .with("index", index)
            .with("length", length)
            .with("object_token", 0x1234u32)
            .with("remote_address", 0x1_2345_6789u64)
            .with("remote_token", 0x999u32)
            .as_bytes()[..32]
            .to_vec();
        entry.extend(element(0x1F00, length));
        entry.resize(64, 0);
        let address = rings(QPS[qp]) + 64 * u64::from(index);
        self.write_memory(address, &entry);
        self.rung[qp].0 = index + 1;
        let doorbell = QPS[qp] << 16 | u32::from(index + 1);
        self.engine.write_register(regs::DbSq::OFFSET, doorbell);
        self.settle();
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) {
        let to = self.host.get_mut(address, bytes.len());
        to.expect("the driver knows its memory")
            .copy_from_slice(bytes);
    }

    /// Whether a queue pair has not failed.
    pub fn works(&self, qp: usize) -> bool {
        self.engine.qp_state(QPS[qp]) == Some(QpState::Rts)
    }

    /// Bytes of the region.
    pub fn region(&self, offset: u64, length: u32) -> Vec<u8> {
        let places = (offset..offset + u64::from(length)).map(|at| (REGION & 0xFFF) + at);
        let pages = places.map(|at| PAGES + 4096 * REGION_PAGES[(at / 4096) as usize] + at % 4096);
        pages.map(|address| self.bytes(address, 1)[0]).collect()
    }

    /// Whether a receive of this length succeeded.
    pub fn has_received(&self, length: u32) -> bool {
        let ring = self.bytes(COMPLETIONS, 32 << CQ_LOG);
        ring.chunks(32).any(|bytes| {
            let entry = Record::from_bytes(&CQE, bytes);
            entry.get("receive") == 1
                && entry.get("status") == Status::Success.into()
                && entry.get("byte_len") == length.into()
        })
    }

    /// Everything in memory.
    pub fn memory(&self) -> &[u8] {
        self.bytes(BASE, END)
    }

    fn bytes(&self, address: u64, length: usize) -> &[u8] {
        let bytes = self.host.get(address, length);
        bytes.expect("the driver knows its memory")
    }

    /// See [`Seen`].
    pub fn seen(&mut self) -> Seen {
        let transport = regs::GoBacks::OFFSET..=regs::CnpOut::OFFSET;
        let offsets = (0..regs::DropFrames::OFFSET).chain([regs::TxFrames::OFFSET]);
        let offsets = offsets.chain(transport).step_by(4);
        let registers = offsets.map(|offset| self.engine.read_register(offset));
        let mut enabled = Vec::new();
        let registers = registers.collect();
        let looked = self.engine.enabled(&mut self.host, &mut enabled);
        looked.expect("memory has all of it");
        Seen {
            registers,
            queue_pairs: QPS.iter().map(|qp| self.engine.describe_qp(*qp)).collect(),
            interrupt: self.engine.interrupt(),
            idle: self.engine.is_idle(),
            enabled,
        }
    }
}

/// Where the rings of a queue pair begin.
fn rings(number: u32) -> u64 {
    RINGS + RINGS_OF_ONE * u64::from(number - QPS[0])
}

/// An element of the region.
fn element(offset: u64, length: u32) -> Vec<u8> {
    let record = Record::new(&SGE)
        .with("address", REGION + offset)
        .with("length", length)
        .with("token", TOKEN);
    record.as_bytes().to_vec()
}

/// Whether an action waits for a clock.
fn is_timed(action: &Action) -> bool {
    match action.kind {
        CommitKind::Timeout | CommitKind::RnrResume => true,
        CommitKind::Respond => action.cause == RespondKind::Cnp as u8,
        _ => false,
    }
}
