//! An engine with its driver: tables, regions, queue pairs.

use std::collections::BTreeMap;

use super::{EQ_LOG, PD, reg};
use tandem_model::abi::{CQ_CONTEXT, QP_CONTEXT, QpState, Record, TOKEN_CONTEXT, Table, TokenKind};
use tandem_model::engine::Config;
use tandem_model::hal::{Hal, Target};
use tandem_model::target::{ModelTarget, Scheduler};

/// Settings of a queue pair. By default no acknowledgement timer runs, and waits for a receiver never end.
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
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub traffic_class: u8,
    /// Receives come from this shared receive queue.
    pub srq: Option<u16>,
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
            timeout: 0,
            retry_cnt: 7,
            rnr_retry: 7,
            traffic_class: 0x28,
            srq: None,
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
    pub(super) pages: Vec<u64>,
    pub(super) offset: u64,
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
    pub(super) eq_base: u64,
    pub(super) eq_consumer: u16,
    pub(super) next_token: u32,
    pub(super) next_page: u32,
    pub(super) next_address: u64,
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
        self.stage(table, index, count, bytes);
        while self.read(reg::CTX_STATUS) != 0 {
            self.target.advance(1).unwrap();
        }
    }

    /// Writes a table entry; its action is still to come.
    pub fn stage(&mut self, table: Table, index: u32, count: u32, bytes: &[u8]) {
        let mut data = [0; 64];
        data[..bytes.len()].copy_from_slice(bytes);
        self.write(reg::CTX_INDEX, index);
        for (i, word) in data.as_chunks::<4>().0.iter().enumerate() {
            self.write(reg::CTX_DATA + 4 * i as u32, u32::from_le_bytes(*word));
        }
        self.write(reg::CTX_COMMAND, table as u32 | count << 4);
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
            .with("traffic_class", options.traffic_class)
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
            .with("srq", options.srq.is_some())
            .with(
                "rq_base",
                options
                    .srq
                    .map_or(qp.rq_base, |number| 0xF00 << 16 | u64::from(number)),
            )
            .with("remote_mac", u64::from_le_bytes(mac))
            .with("timeout", options.timeout)
            .with("retry_cnt", options.retry_cnt)
            .with("rnr_retry", options.rnr_retry)
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
}
