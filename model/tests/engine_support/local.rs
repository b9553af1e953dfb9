//! Local requests and the tokens that they make valid.

use super::{Node, PD, Region, sge_bytes};
use tandem_model::abi::{
    Fault, QpState, Record, SQ_WQE, Status, TOKEN_CONTEXT, Table, TokenKind, WqeOpcode,
};
use tandem_model::hal::Hal;

/// Rights that a request asks for: local write, remote read, remote write.
pub type Asked = (bool, bool, bool);

pub const EVERY_RIGHT: Asked = (true, true, true);

/// A Bind, FastRegister or Invalidate. Fields that the kind does not use hold what an older request left there.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    pub opcode: WqeOpcode,
    pub token: u32,
    pub region: u32,
    pub address: u64,
    pub length: u32,
    pub new_key: u8,
    pub page_count: u16,
    pub page_offset: u16,
    pub list: u64,
    pub rights: Asked,
    pub silent: bool,
    pub fence: bool,
}

impl Local {
    const STALE: Self = Self {
        opcode: WqeOpcode::Invalidate,
        token: 0,
        region: 0xDEAD_BEEF,
        address: 0x1234_5678_9ABC,
        length: 77,
        new_key: 0x99,
        page_count: 999,
        page_offset: 0xABC,
        list: 0xFFFF_FFFF_FFFF_0000,
        rights: EVERY_RIGHT,
        silent: false,
        fence: false,
    };

    pub fn invalidate(token: u32) -> Self {
        Self {
            token,
            ..Self::STALE
        }
    }

    /// Binds a window to bytes of a region.
    pub fn bind(window: u32, new_key: u8, region: &Region, offset: u64, length: u32) -> Self {
        Self {
            opcode: WqeOpcode::Bind,
            token: window,
            region: region.token,
            address: region.address.wrapping_add(offset),
            length,
            new_key,
            ..Self::STALE
        }
    }

    /// Registers a region as [`Node::pages`] made it.
    pub fn register(region: &Region, list: u64) -> Self {
        Self {
            opcode: WqeOpcode::FastRegister,
            token: region.token,
            address: region.address,
            length: region.length as u32,
            page_count: region.page_count(),
            page_offset: (region.address % 4096) as u16,
            list,
            ..Self::STALE
        }
    }

    /// Its entry; the number of elements and the inline flag are stale.
    pub fn record(&self, index: u16) -> Vec<u8> {
        let (local_write, remote_read, remote_write) = self.rights;
        let mut bytes = Record::new(&SQ_WQE)
            .with("opcode", self.opcode)
            .with("silent", self.silent)
            .with("read_fence", self.fence)
            .with("solicited", 1u8)
            .with("inline_data", 1u8)
            .with("local_invalidate", 1u8)
            .with("local_write", local_write)
            .with("remote_read", remote_read)
            .with("remote_write", remote_write)
            .with("num_sge", 0xFFu8)
            .with("new_key", self.new_key)
            .with("index", index)
            .with("page_count", self.page_count)
            .with("length", self.length)
            .with("object_token", self.token)
            .with("remote_address", self.address)
            .with("remote_token", self.region)
            .with("page_offset", self.page_offset)
            .as_bytes()[..32]
            .to_vec();
        bytes.extend(sge_bytes((self.list, 0x5555, 0x6666)));
        bytes
    }
}

impl Node {
    pub fn post_local(&mut self, qpn: u32, local: &Local) -> u16 {
        let index = self.qps[&qpn].sq_producer;
        self.place_bytes(qpn, &local.record(index));
        self.ring(qpn);
        index
    }

    /// A free token of a kind, with so many pages reserved.
    pub fn free_token(&mut self, kind: TokenKind, max_pages: u16, pd: u16) -> u32 {
        let index = self.next_token;
        self.next_token += 1;
        let first_page = self.next_page;
        self.next_page += u32::from(max_pages);
        let key = (index as u8).wrapping_mul(53);
        let record = Record::new(&TOKEN_CONTEXT)
            .with("kind", kind)
            .with("key", key)
            .with("pd", pd)
            .with("first_page", first_page)
            .with("max_pages", max_pages);
        self.command(Table::Token, index, 0, record.as_bytes());
        index << 8 | u32::from(key)
    }

    pub fn free_window(&mut self) -> u32 {
        self.free_token(TokenKind::Window, 0, PD)
    }

    /// Memory for a region of `length` bytes at a virtual address, its pages scattered, and their list.
    pub fn pages(&mut self, token: u32, address: u64, length: u64) -> (Region, u64) {
        let offset = address % 4096;
        let count = (offset + length).div_ceil(4096) as usize;
        let block = self.target.allocate(2 * count * 4096, 4096).unwrap();
        let pages: Vec<u64> = (0..count as u64)
            .rev()
            .map(|i| block + (2 * i + 1) * 4096)
            .collect();
        let bytes: Vec<u8> = pages.iter().flat_map(|page| page.to_le_bytes()).collect();
        let list = self
            .target
            .allocate(bytes.len().next_multiple_of(64).max(64), 64)
            .unwrap();
        self.target.write_memory(list, &bytes).unwrap();
        let region = Region {
            address,
            length,
            token,
            pages,
            offset,
        };
        (region, list)
    }

    /// Takes back the numbers of the region that was made last.
    pub fn forget_region(&mut self, last: &Region) {
        self.invalidate(last.token);
        self.next_token -= 1;
        self.next_page -= u32::from(last.page_count());
        assert_eq!(last.token >> 8, self.next_token);
    }

    /// A fast region that a request of the queue pair has made valid.
    pub fn fast_region(&mut self, qpn: u32, length: u64, rights: Asked) -> Region {
        let count = length.div_ceil(4096) as u16 + 1;
        let token = self.free_token(TokenKind::Fast, count, PD);
        let address = self.next_address;
        self.next_address += (length + 0x1_0000_0000) | 0x55;
        let (region, list) = self.pages(token, address, length);
        let local = Local {
            rights,
            ..Local::register(&region, list)
        };
        self.post_local(qpn, &local);
        region
    }
}

impl Region {
    pub fn page_count(&self) -> u16 {
        self.pages.len() as u16
    }

    /// The same bytes under another token.
    pub fn through(&self, token: u32) -> Self {
        Self {
            token,
            ..self.clone()
        }
    }
}

/// What a local request that is refused completes with.
pub fn refused(opcode: WqeOpcode, fault: Fault) -> (Status, u32, QpState) {
    let status = if opcode == WqeOpcode::Bind {
        Status::Bind
    } else {
        Status::LocalQpOperation
    };
    (status, fault as u32, QpState::Err)
}
