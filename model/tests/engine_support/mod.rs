//! Two engines and their drivers by hand: contexts, rings and doorbells through registers only.
#![allow(dead_code)]

use std::collections::BTreeMap;

use tandem_model::abi::{
    Arm, CQ_CONTEXT, CQE, EQE, QP_CONTEXT, QpState, RQ_WQE, Record, SGE, SQ_WQE, Status,
    TOKEN_CONTEXT, Table, TokenKind, WqeOpcode,
};
use tandem_model::engine::Config;
use tandem_model::hal::{Hal, Target};
use tandem_model::target::{ModelTarget, Scheduler};

pub mod reg {
    pub const EQ_LOG: u32 = 0x014;
    pub const EQ_BASE_LO: u32 = 0x018;
    pub const EQ_BASE_HI: u32 = 0x01C;
    pub const EQ_CI: u32 = 0x020;
    pub const MAC_LO: u32 = 0x028;
    pub const MAC_HI: u32 = 0x02C;
    pub const IPV4: u32 = 0x030;
    pub const IPV6: u32 = 0x040;
    pub const CTX_INDEX: u32 = 0x050;
    pub const CTX_COMMAND: u32 = 0x054;
    pub const CTX_STATUS: u32 = 0x058;
    pub const QP_STATE: u32 = 0x05C;
    pub const CTX_DATA: u32 = 0x080;
    pub const DB_SQ: u32 = 0x100;
    pub const DB_RQ: u32 = 0x104;
    pub const DB_CQ: u32 = 0x108;
    pub const DB_ARM: u32 = 0x10C;
    pub const DROP: u32 = 0x200;
    pub const RX_FRAMES: u32 = 0x280;
    pub const TX_FRAMES: u32 = 0x284;
}

pub const PD: u16 = 7;
pub const EQ_LOG: u32 = 8;

/// Settings of a queue pair.
#[derive(Clone, Copy, Debug)]
pub struct QpOptions {
    pub mtu: u8,
    pub sq_log: u8,
    pub sq_stride: u8,
    pub rq_log: u8,
    pub remote_read: bool,
    pub remote_write: bool,
    pub max_ord: u8,
    pub max_ird: u8,
    pub psn: u32,
    pub ipv6: bool,
    pub pd: u16,
    pub min_rnr_timer: u8,
}

impl Default for QpOptions {
    fn default() -> Self {
        Self {
            mtu: 3,
            sq_log: 6,
            sq_stride: 2,
            rq_log: 6,
            remote_read: true,
            remote_write: true,
            max_ord: 4,
            max_ird: 4,
            psn: 0x100,
            ipv6: false,
            pd: PD,
            min_rnr_timer: 12,
        }
    }
}

/// Rights and kind of a region.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub kind: TokenKind,
    pub local_write: bool,
    pub remote_read: bool,
    pub remote_write: bool,
    pub pd: u16,
}

impl Access {
    pub const ALL: Self = Self {
        kind: TokenKind::Region,
        local_write: true,
        remote_read: true,
        remote_write: true,
        pd: PD,
    };
    pub const FAST: Self = Self {
        kind: TokenKind::Fast,
        ..Self::ALL
    };
}

/// A registered region whose pages lie scattered in host memory.
#[derive(Clone, Debug)]
pub struct Region {
    pub address: u64,
    pub length: u64,
    pub token: u32,
    pages: Vec<u64>,
    offset: u64,
}

impl Region {
    /// An element of this region.
    pub fn sge(&self, offset: u64, length: u32) -> (u64, u32, u32) {
        (self.address + offset, length, self.token)
    }

    fn logical(&self, at: u64) -> u64 {
        let o = self.offset + at;
        self.pages[(o / 4096) as usize] + o % 4096
    }
}

/// A send-queue request.
#[derive(Clone, Debug)]
pub struct Request {
    pub opcode: WqeOpcode,
    pub sges: Vec<(u64, u32, u32)>,
    pub inline: Option<Vec<u8>>,
    pub remote: (u64, u32),
    pub invalidate: u32,
    pub silent: bool,
    pub fence: bool,
    pub solicited: bool,
    pub local_invalidate: bool,
    /// Another length than the sum of the elements.
    pub length: Option<u32>,
}

impl Request {
    pub fn new(opcode: WqeOpcode, sges: Vec<(u64, u32, u32)>) -> Self {
        Self {
            opcode,
            sges,
            inline: None,
            remote: (0, 0),
            invalidate: 0,
            silent: false,
            fence: false,
            solicited: false,
            local_invalidate: false,
            length: None,
        }
    }

    pub fn send(sges: Vec<(u64, u32, u32)>) -> Self {
        Self::new(WqeOpcode::Send, sges)
    }

    pub fn write(sges: Vec<(u64, u32, u32)>, remote: (u64, u32)) -> Self {
        Self {
            remote,
            ..Self::new(WqeOpcode::Write, sges)
        }
    }

    pub fn read(sges: Vec<(u64, u32, u32)>, remote: (u64, u32)) -> Self {
        Self {
            remote,
            ..Self::new(WqeOpcode::Read, sges)
        }
    }

    pub fn record(&self, index: u16) -> Vec<u8> {
        let sum: u64 = self.sges.iter().map(|sge| u64::from(sge.1)).sum();
        let inline = self.inline.as_ref();
        let length = inline.map_or(sum as u32, |data| data.len() as u32);
        let mut bytes = Record::new(&SQ_WQE)
            .with("opcode", self.opcode)
            .with("silent", self.silent)
            .with("read_fence", self.fence)
            .with("solicited", self.solicited)
            .with("inline_data", inline.is_some())
            .with("local_invalidate", self.local_invalidate)
            .with("num_sge", self.sges.len() as u8)
            .with("index", index)
            .with("length", self.length.unwrap_or(length))
            .with("invalidate_token", self.invalidate)
            .with("remote_address", self.remote.0)
            .with("remote_token", self.remote.1)
            .as_bytes()[..32]
            .to_vec();
        match inline {
            Some(data) => bytes.extend(data),
            None => bytes.extend(self.sges.iter().flat_map(|sge| sge_bytes(*sge))),
        }
        bytes
    }
}

pub fn sge_bytes((address, length, token): (u64, u32, u32)) -> Vec<u8> {
    Record::new(&SGE)
        .with("address", address)
        .with("length", length)
        .with("token", token)
        .as_bytes()
        .to_vec()
}

/// A completion entry, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cqe {
    pub index: u16,
    pub opcode: u8,
    pub status: Status,
    pub qpn: u32,
    pub receive: bool,
    pub solicited: bool,
    pub invalidated: Option<u32>,
    pub byte_len: u32,
    pub error_code: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub kind: u8,
    pub code: u8,
    pub number: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Cq {
    pub number: u16,
    pub base: u64,
    pub log: u8,
    pub consumer: u16,
}

#[derive(Clone, Copy, Debug)]
pub struct Qp {
    pub options: QpOptions,
    pub sq_base: u64,
    pub rq_base: u64,
    pub sq_producer: u16,
    pub rq_producer: u16,
    pub send_cq: u16,
    pub recv_cq: u16,
}

/// An engine with its driver.
pub struct Node {
    pub target: ModelTarget,
    pub number: u8,
    pub cqs: BTreeMap<u16, Cq>,
    pub qps: BTreeMap<u32, Qp>,
    eq_base: u64,
    eq_consumer: u16,
    next_token: u32,
    next_page: u32,
    next_address: u64,
}

impl Node {
    pub fn new(number: u8, config: Config, scheduler: Scheduler) -> Self {
        let mut target = ModelTarget::new(config, scheduler);
        let eq_base = target.allocate(16 << EQ_LOG, 4096).unwrap();
        let mut node = Self {
            target,
            number,
            cqs: BTreeMap::new(),
            qps: BTreeMap::new(),
            eq_base,
            eq_consumer: 0,
            next_token: 3,
            next_page: 5,
            next_address: 0x7000_0000_0123,
        };
        node.write(reg::EQ_LOG, EQ_LOG);
        node.write(reg::EQ_BASE_LO, eq_base as u32);
        node.write(reg::EQ_BASE_HI, (eq_base >> 32) as u32);
        let mac = node.mac();
        node.write(
            reg::MAC_LO,
            u32::from_le_bytes(mac[..4].try_into().unwrap()),
        );
        node.write(reg::MAC_HI, u32::from(mac[4]) | u32::from(mac[5]) << 8);
        node.write(reg::IPV4, u32::from_le_bytes(node.ipv4()));
        for (i, word) in node.ipv6().as_chunks::<4>().0.iter().enumerate() {
            node.write(reg::IPV6 + 4 * i as u32, u32::from_le_bytes(*word));
        }
        node
    }

    pub fn mac(&self) -> [u8; 6] {
        [2, 0, 0, 0, 0, self.number]
    }

    pub fn ipv4(&self) -> [u8; 4] {
        [192, 0, 2, self.number]
    }

    pub fn ipv6(&self) -> [u8; 16] {
        let mut ip = [0; 16];
        ip[..4].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
        ip[15] = self.number;
        ip
    }

    pub fn write(&mut self, offset: u32, value: u32) {
        self.target.write_register(offset, value).unwrap();
    }

    pub fn read(&mut self, offset: u32) -> u32 {
        self.target.read_register(offset).unwrap()
    }

    /// Writes a table entry and waits for it.
    pub fn command(&mut self, table: Table, index: u32, count: u32, bytes: &[u8]) {
        let mut data = [0; 64];
        data[..bytes.len()].copy_from_slice(bytes);
        self.write(reg::CTX_INDEX, index);
        for (i, word) in data.as_chunks::<4>().0.iter().enumerate() {
            self.write(reg::CTX_DATA + 4 * i as u32, u32::from_le_bytes(*word));
        }
        self.write(reg::CTX_COMMAND, table as u32 | count << 4);
        while self.read(reg::CTX_STATUS) != 0 {
            self.target.advance(1).unwrap();
        }
    }

    pub fn create_cq(&mut self, log: u8) -> u16 {
        let number = self.cqs.len() as u16 + 1;
        let base = self.target.allocate(32 << log, 4096).unwrap();
        self.command(
            Table::Cq,
            number.into(),
            0,
            Record::new(&CQ_CONTEXT)
                .with("valid", 1u8)
                .with("log_size", log)
                .with("base", base)
                .as_bytes(),
        );
        let cq = Cq {
            number,
            base,
            log,
            consumer: 0,
        };
        self.cqs.insert(number, cq);
        number
    }

    /// Registers a new region of `length` bytes.
    pub fn region(&mut self, length: u64, access: Access) -> Region {
        let address = self.next_address;
        self.next_address += (length + 0x1_0000_0000) | 0x55;
        self.region_at(address, length, access)
    }

    pub fn region_at(&mut self, address: u64, length: u64, access: Access) -> Region {
        let offset = address % 4096;
        let count = (offset + length).div_ceil(4096);
        let block = self.target.allocate(count as usize * 4096, 4096).unwrap();
        let pages: Vec<u64> = (0..count).rev().map(|i| block + i * 4096).collect();
        let first_page = self.next_page;
        self.next_page += count as u32;
        for (i, group) in pages.chunks(8).enumerate() {
            let bytes: Vec<u8> = group.iter().flat_map(|page| page.to_le_bytes()).collect();
            let at = first_page + 8 * i as u32;
            self.command(Table::Page, at, group.len() as u32, &bytes);
        }
        let index = self.next_token;
        self.next_token += 1;
        let key = (index as u8).wrapping_mul(29);
        let token = index << 8 | u32::from(key);
        let region = Region {
            address,
            length,
            token,
            pages,
            offset,
        };
        self.write_token(&region, first_page, access);
        region
    }

    fn write_token(&mut self, region: &Region, first_page: u32, access: Access) {
        self.command(
            Table::Token,
            region.token >> 8,
            0,
            Record::new(&TOKEN_CONTEXT)
                .with("valid", 1u8)
                .with("kind", access.kind)
                .with("local_write", access.local_write)
                .with("remote_read", access.remote_read)
                .with("remote_write", access.remote_write)
                .with("key", region.token as u8)
                .with("pd", access.pd)
                .with("first_page", first_page)
                .with("base_address", region.address)
                .with("length", region.length)
                .with("page_offset", region.offset as u16)
                .as_bytes(),
        );
    }

    /// A token that covers all logical addresses.
    pub fn privileged(&mut self) -> u32 {
        let index = self.next_token;
        self.next_token += 1;
        let record = Record::new(&TOKEN_CONTEXT)
            .with("valid", 1u8)
            .with("kind", TokenKind::Privileged)
            .with("local_write", 1u8)
            .with("remote_read", 1u8)
            .with("remote_write", 1u8)
            .with("key", 0x77u8)
            .with("pd", PD);
        self.command(Table::Token, index, 0, record.as_bytes());
        index << 8 | 0x77
    }

    pub fn invalidate(&mut self, token: u32) {
        self.command(Table::Token, token >> 8, 0, &[0; 32]);
    }

    pub fn fill(&mut self, region: &Region, offset: u64, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            let at = region.logical(offset + i as u64);
            self.target.write_memory(at, &[*byte]).unwrap();
        }
    }

    pub fn bytes(&mut self, region: &Region, offset: u64, length: usize) -> Vec<u8> {
        (0..length)
            .map(|i| {
                let mut byte = [0];
                let at = region.logical(offset + i as u64);
                self.target.read_memory(at, &mut byte).unwrap();
                byte[0]
            })
            .collect()
    }

    pub fn context(&self, qpn: u32, peer: &Node, peer_qpn: u32, state: QpState) -> Record {
        let qp = &self.qps[&qpn];
        let peer_qp = &peer.qps[&peer_qpn];
        let options = &qp.options;
        let mut mac = [0; 8];
        mac[..6].copy_from_slice(&peer.mac());
        let ip = if options.ipv6 {
            peer.ipv6()
        } else {
            let mut ip = [0; 16];
            ip[10..12].fill(0xFF);
            ip[12..].copy_from_slice(&peer.ipv4());
            ip
        };
        Record::new(&QP_CONTEXT)
            .with("state", state)
            .with("mtu", options.mtu)
            .with("ipv6", options.ipv6)
            .with("sq_log", options.sq_log)
            .with("sq_stride", options.sq_stride)
            .with("rq_log", options.rq_log)
            .with("remote_read", options.remote_read)
            .with("remote_write", options.remote_write)
            .with("traffic_class", 0x28u8)
            .with("pd", options.pd)
            .with("udp_sport", 0xC000u16 + qpn as u16)
            .with("send_cq", qp.send_cq)
            .with("recv_cq", qp.recv_cq)
            .with("remote_qpn", peer_qpn)
            .with("hop_limit", 33u8)
            .with("sq_psn", options.psn)
            .with("max_ord", options.max_ord)
            .with("rq_psn", peer_qp.options.psn)
            .with("max_ird", options.max_ird)
            .with("sq_base", qp.sq_base)
            .with("rq_base", qp.rq_base)
            .with("remote_mac", u64::from_le_bytes(mac))
            .with("min_rnr_timer", options.min_rnr_timer)
            .with("remote_ip", u128::from_le_bytes(ip))
    }

    pub fn create_qp(&mut self, qpn: u32, send_cq: u16, recv_cq: u16, options: QpOptions) {
        let sq = 64usize << options.sq_stride << options.sq_log;
        let rq = 64usize << options.rq_log;
        let sq_base = self.target.allocate(sq, sq.max(64) as u64).unwrap();
        let rq_base = self.target.allocate(rq, rq.max(64) as u64).unwrap();
        self.qps.insert(
            qpn,
            Qp {
                options,
                sq_base,
                rq_base,
                sq_producer: 0,
                rq_producer: 0,
                send_cq,
                recv_cq,
            },
        );
    }

    pub fn set_state(&mut self, qpn: u32, peer: &Node, peer_qpn: u32, state: QpState) {
        let record = self.context(qpn, peer, peer_qpn, state);
        self.command(Table::Qp, qpn, 0, record.as_bytes());
    }

    /// Writes a request into the ring without ringing.
    pub fn place(&mut self, qpn: u32, request: &Request) -> u16 {
        let index = self.qps[&qpn].sq_producer;
        let bytes = request.record(index);
        self.place_bytes(qpn, &bytes)
    }

    pub fn place_bytes(&mut self, qpn: u32, bytes: &[u8]) -> u16 {
        let qp = self.qps.get_mut(&qpn).unwrap();
        let index = qp.sq_producer;
        qp.sq_producer = index.wrapping_add(1);
        let slot = u64::from(index) & ((1 << qp.options.sq_log) - 1);
        let entry = 64usize << qp.options.sq_stride;
        let mut padded = bytes.to_vec();
        padded.resize(entry, 0);
        let at = qp.sq_base + slot * entry as u64;
        self.target.write_memory(at, &padded).unwrap();
        index
    }

    pub fn ring(&mut self, qpn: u32) {
        let index = self.qps[&qpn].sq_producer;
        self.write(reg::DB_SQ, qpn << 16 | u32::from(index));
    }

    pub fn post(&mut self, qpn: u32, request: &Request) -> u16 {
        let index = self.place(qpn, request);
        self.ring(qpn);
        index
    }

    pub fn receive(&mut self, qpn: u32, sges: &[(u64, u32, u32)]) -> u16 {
        let qp = self.qps.get_mut(&qpn).unwrap();
        let index = qp.rq_producer;
        qp.rq_producer = index.wrapping_add(1);
        let slot = u64::from(index) & ((1 << qp.options.rq_log) - 1);
        let mut bytes = Record::new(&RQ_WQE).as_bytes().to_vec();
        for (i, sge) in sges.iter().enumerate() {
            bytes[16 * i..16 * i + 16].copy_from_slice(&sge_bytes(*sge));
        }
        let at = qp.rq_base + slot * 64;
        self.target.write_memory(at, &bytes).unwrap();
        self.write(reg::DB_RQ, qpn << 16 | u32::from(index.wrapping_add(1)));
        index
    }

    pub fn arm(&mut self, cq: u16, arm: Arm) {
        let consumer = self.cqs[&cq].consumer;
        let value = (arm as u32) << 30 | u32::from(cq) << 16 | u32::from(consumer);
        self.write(reg::DB_ARM, value);
    }

    /// New entries of a completion queue, consumed.
    pub fn poll(&mut self, number: u16) -> Vec<Cqe> {
        let entries = self.peek(number);
        let cq = self.cqs.get_mut(&number).unwrap();
        cq.consumer = cq.consumer.wrapping_add(entries.len() as u16);
        let value = u32::from(number) << 16 | u32::from(cq.consumer);
        if !entries.is_empty() {
            self.write(reg::DB_CQ, value);
        }
        entries
    }

    /// New entries of a completion queue, left there.
    pub fn peek(&mut self, number: u16) -> Vec<Cqe> {
        let cq = self.cqs[&number];
        let mut entries = Vec::new();
        let mut index = cq.consumer;
        loop {
            let slot = u64::from(index) & ((1 << cq.log) - 1);
            let mut bytes = [0; 32];
            let at = cq.base + slot * 32;
            self.target.read_memory(at, &mut bytes).unwrap();
            let e = Record::from_bytes(&CQE, &bytes);
            let phase = u128::from(index >> cq.log & 1 ^ 1);
            if e.get("phase") != phase || entries.len() == 1 << cq.log {
                return entries;
            }
            assert_eq!((e.get("rsv0"), e.get("rsv1")), (0, 0));
            let token = e.get("token") as u32;
            entries.push(Cqe {
                index: e.get("wqe_index") as u16,
                opcode: e.get("opcode") as u8,
                status: Status::from_bits(e.get("status")).unwrap(),
                qpn: e.get("qpn") as u32,
                receive: e.get("receive") != 0,
                solicited: e.get("solicited") != 0,
                invalidated: (e.get("invalidated") != 0).then_some(token),
                byte_len: e.get("byte_len") as u32,
                error_code: e.get("error_code") as u32,
            });
            index = index.wrapping_add(1);
        }
    }

    /// New events, consumed.
    pub fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let index = self.eq_consumer;
            let slot = u64::from(index) & ((1 << EQ_LOG) - 1);
            let mut bytes = [0; 16];
            let at = self.eq_base + slot * 16;
            self.target.read_memory(at, &mut bytes).unwrap();
            let e = Record::from_bytes(&EQE, &bytes);
            if e.get("phase") != u128::from(index >> EQ_LOG & 1 ^ 1) {
                self.write(reg::EQ_CI, index.into());
                return events;
            }
            events.push(Event {
                kind: e.get("kind") as u8,
                code: e.get("code") as u8,
                number: e.get("number") as u32,
            });
            self.eq_consumer = index.wrapping_add(1);
        }
    }

    pub fn state(&mut self, qpn: u32) -> u32 {
        self.write(reg::CTX_INDEX, qpn);
        self.read(reg::QP_STATE)
    }
}

/// Two nodes and a lossless pipe.
pub struct World {
    pub a: Node,
    pub b: Node,
    /// Frames that have crossed, with the number of their sender.
    pub frames: Vec<(u8, Vec<u8>)>,
    pub record: bool,
}

/// Queue pair numbers of the first connection.
pub const QA: u32 = 2;
pub const QB: u32 = 5;
/// Completion queues of send and receive queue.
pub const SEND_CQ: u16 = 1;
pub const RECV_CQ: u16 = 2;

impl World {
    pub fn new(scheduler: Scheduler) -> Self {
        let config = Config::default();
        let b_scheduler = match scheduler {
            Scheduler::Random(seed) => Scheduler::Random(seed ^ 0xB),
            other => other,
        };
        Self {
            a: Node::new(1, config, scheduler),
            b: Node::new(2, config, b_scheduler),
            frames: Vec::new(),
            record: true,
        }
    }

    /// Two nodes with one connection, two completion queues of 64 entries each.
    pub fn connected(scheduler: Scheduler, options: QpOptions) -> Self {
        let mut world = Self::new(scheduler);
        for node in [&mut world.a, &mut world.b] {
            node.create_cq(7);
            node.create_cq(7);
        }
        world.connect(QA, QB, options);
        world
    }

    pub fn connect(&mut self, qa: u32, qb: u32, options: QpOptions) {
        self.connect_on(qa, qb, options, options, SEND_CQ, RECV_CQ);
    }

    pub fn connect_on(
        &mut self,
        qa: u32,
        qb: u32,
        a: QpOptions,
        b: QpOptions,
        send_cq: u16,
        recv_cq: u16,
    ) {
        let b = QpOptions {
            psn: b.psn.wrapping_add(0x5000) & 0xFF_FFFF,
            ..b
        };
        self.a.create_qp(qa, send_cq, recv_cq, a);
        self.b.create_qp(qb, send_cq, recv_cq, b);
        for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
            self.a.set_state(qa, &self.b, qb, state);
            self.b.set_state(qb, &self.a, qa, state);
        }
    }

    /// Runs until nothing happens any more.
    pub fn run(&mut self) {
        loop {
            let mut busy = false;
            busy |= self.a.target.advance(16).unwrap();
            busy |= self.b.target.advance(16).unwrap();
            for frame in self.a.target.take_frames().unwrap() {
                self.b.target.send_frame(&frame).unwrap();
                if self.record {
                    self.frames.push((self.a.number, frame));
                }
                busy = true;
            }
            for frame in self.b.target.take_frames().unwrap() {
                self.a.target.send_frame(&frame).unwrap();
                if self.record {
                    self.frames.push((self.b.number, frame));
                }
                busy = true;
            }
            if !busy {
                break;
            }
        }
        self.a.target.finish().unwrap();
        self.b.target.finish().unwrap();
    }
}

/// Bytes that tell their place.
pub fn pattern(length: usize, seed: u32) -> Vec<u8> {
    (0..length as u32)
        .map(|i| {
            (i.wrapping_mul(0x9E37_79B9)
                .wrapping_add(seed.wrapping_mul(77))
                >> 13) as u8
        })
        .collect()
}

pub fn statuses(entries: &[Cqe]) -> Vec<(u16, Status)> {
    entries.iter().map(|e| (e.index, e.status)).collect()
}
