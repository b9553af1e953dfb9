//! An adapter that does nothing by itself: it keeps memory, tables and register writes, and completes
//! what a test tells it to.

use std::collections::BTreeMap;

use tandem_model::abi::{
    CQ_CONTEXT, CQE, EQE, EventKind, QP_CONTEXT, RQ_WQE, Record, SGE, SQ_WQE, SRQ_CONTEXT, Status,
    TOKEN_CONTEXT, Table, WqeOpcode,
};
use tandem_model::hal::{Hal, HalError};
use tandem_model::ndk::{
    AdapterConfig, Cq, LocalToken, NdkResultEx, OpFlags, Pd, Provider, Qp, QpParameters, Sge,
    SrqParameters, bench::ConnectParameters,
};

/// First address of host memory.
const BASE: u64 = 0x10_0000;

pub const CTX_COMMAND: u32 = 0x54;
pub const DB_SQ: u32 = 0x100;
pub const DB_RQ: u32 = 0x104;
pub const DB_CQ: u32 = 0x108;
pub const DB_ARM: u32 = 0x10C;

pub struct Fake {
    memory: Vec<u8>,
    used: usize,
    pub registers: BTreeMap<u32, u32>,
    /// Register writes outside the context window, oldest first.
    pub writes: Vec<(u32, u32)>,
    tables: BTreeMap<(u32, u32), Vec<u8>>,
    pub pages: BTreeMap<u32, u64>,
    /// Pages of each page command.
    pub page_commands: Vec<u32>,
    /// States that queue pairs were put into, oldest first.
    pub states: Vec<(u32, u8)>,
    cq_producers: BTreeMap<u32, u16>,
    event_producer: u16,
    pub interrupt: bool,
    /// CTX_STATUS says busy so many times after each command.
    pub busy: u32,
    busy_left: u32,
    pub broken: Option<HalError>,
}

impl Fake {
    /// 64 queue pairs, 32 completion queues, 256 tokens, 1024 pages, 16 reads each way.
    pub fn new() -> Self {
        Self {
            memory: vec![0; 64 << 20],
            used: 0,
            registers: BTreeMap::from([
                (0x000, 0x4D44_4E54),
                (0x004, 1),
                (0x008, 6 | 5 << 8 | 8 << 16 | 10 << 24),
                (0x00C, 16 | 16 << 8),
            ]),
            writes: Vec::new(),
            tables: BTreeMap::new(),
            pages: BTreeMap::new(),
            page_commands: Vec::new(),
            states: Vec::new(),
            cq_producers: BTreeMap::new(),
            event_producer: 0,
            interrupt: false,
            busy: 3,
            busy_left: 0,
            broken: None,
        }
    }

    fn range(&self, address: u64, length: usize) -> Result<std::ops::Range<usize>, HalError> {
        let start = address.wrapping_sub(BASE) as usize;
        let end = start
            .checked_add(length)
            .filter(|end| *end <= self.memory.len());
        end.map(|end| start..end)
            .ok_or(HalError::Memory { address, length })
    }

    pub fn bytes(&self, address: u64, length: usize) -> &[u8] {
        &self.memory[self.range(address, length).unwrap()]
    }

    pub fn entry(&self, table: Table, index: u32) -> Record {
        let layout = match table {
            Table::Qp => &QP_CONTEXT,
            Table::Cq => &CQ_CONTEXT,
            Table::Token => &TOKEN_CONTEXT,
            Table::Srq => &SRQ_CONTEXT,
            Table::Page | Table::CqRing | Table::CqModeration => panic!("it has no record"),
        };
        let bytes = self.tables.get(&(table as u32, index));
        Record::from_bytes(layout, bytes.map_or(&[], |bytes| bytes))
    }

    /// Bytes of an entry of a send ring.
    pub fn sq_bytes(&self, qpn: u32, index: u16) -> &[u8] {
        let context = self.entry(Table::Qp, qpn);
        let size = 64usize << context.get("sq_stride");
        let place = usize::from(index) & ((1 << context.get("sq_log")) - 1);
        self.bytes(context.get("sq_base") as u64 + (place * size) as u64, size)
    }

    pub fn sq_wqe(&self, qpn: u32, index: u16) -> Record {
        Record::from_bytes(&SQ_WQE, self.sq_bytes(qpn, index))
    }

    /// Element of a send ring's entry.
    pub fn sq_sge(&self, qpn: u32, index: u16, element: usize) -> Sge {
        let record = Record::from_bytes(&SGE, &self.sq_bytes(qpn, index)[32 + 16 * element..]);
        Sge {
            address: record.get("address") as u64,
            length: record.get("length") as u32,
            token: LocalToken(record.get("token") as u32),
        }
    }

    pub fn rq_wqe(&self, qpn: u32, index: u16) -> Record {
        let context = self.entry(Table::Qp, qpn);
        let place = u64::from(index) & ((1 << context.get("rq_log")) - 1);
        let address = context.get("rq_base") as u64 + place * 64;
        Record::from_bytes(&RQ_WQE, self.bytes(address, 64))
    }

    /// Puts an entry into a completion queue.
    pub fn complete(&mut self, cq: u32, entry: Record) {
        let context = self.entry(Table::Cq, cq);
        assert_eq!(context.get("valid"), 1, "completion queue {cq}");
        let log = context.get("log_size") as u32;
        let producer = self.cq_producers.entry(cq).or_default();
        let index = u32::from(*producer);
        *producer = producer.wrapping_add(1);
        let address = context.get("base") as u64 + u64::from(index & ((1 << log) - 1)) * 32;
        let entry = entry.with("phase", index >> log & 1 == 0);
        self.write_memory(address, entry.as_bytes()).unwrap();
    }

    /// Puts an event into the event queue and raises the interrupt.
    pub fn event(&mut self, kind: u8, code: u8, number: u32) {
        let log = self.registers[&0x014];
        let base = u64::from(self.registers[&0x018]) | u64::from(self.registers[&0x01C]) << 32;
        let index = u32::from(self.event_producer);
        self.event_producer = self.event_producer.wrapping_add(1);
        let entry = Record::new(&EQE)
            .with("kind", kind)
            .with("code", code)
            .with("number", number)
            .with("phase", index >> log & 1 == 0);
        let address = base + u64::from(index & ((1 << log) - 1)) * 16;
        self.write_memory(address, entry.as_bytes()).unwrap();
        self.interrupt = true;
    }

    /// Values written to a register so far.
    pub fn written(&self, register: u32) -> Vec<u32> {
        self.writes
            .iter()
            .filter(|(offset, _)| *offset == register)
            .map(|(_, value)| *value)
            .collect()
    }

    fn command(&mut self, command: u32) {
        let index = self.registers[&0x050];
        let data: Vec<u8> = (0..16)
            .map(|word| {
                self.registers
                    .get(&(0x080 + 4 * word))
                    .copied()
                    .unwrap_or(0)
            })
            .flat_map(u32::to_le_bytes)
            .collect();
        if command & 0xF == Table::Page as u32 {
            let count = command >> 4;
            self.page_commands.push(count);
            for (entry, page) in (index..).zip(data.chunks(8)).take(count as usize) {
                self.pages
                    .insert(entry, u64::from_le_bytes(page.try_into().unwrap()));
            }
        } else {
            if command == Table::Cq as u32 {
                self.cq_producers.insert(index, 0);
            }
            if command == Table::Qp as u32 {
                let entry = Record::from_bytes(&QP_CONTEXT, &data);
                self.states.push((index, entry.get("state") as u8));
            }
            self.tables.insert((command, index), data);
        }
        self.busy_left = self.busy;
    }
}

impl Hal for Fake {
    fn read_register(&mut self, offset: u32) -> Result<u32, HalError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        if offset == 0x058 {
            let busy = self.busy_left > 0;
            self.busy_left = self.busy_left.saturating_sub(1);
            return Ok(u32::from(busy));
        }
        Ok(self.registers.get(&offset).copied().unwrap_or(0))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), HalError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let window = (0x050..0x0C0).contains(&offset);
        assert!(!(window && self.busy_left > 0), "window used while busy");
        if offset == CTX_COMMAND {
            self.command(value);
            self.writes.push((offset, value));
        } else {
            self.registers.insert(offset, value);
            if !window {
                self.writes.push((offset, value));
            }
        }
        Ok(())
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), HalError> {
        let range = self.range(address, bytes.len())?;
        bytes.copy_from_slice(&self.memory[range]);
        Ok(())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), HalError> {
        let range = self.range(address, bytes.len())?;
        self.memory[range].copy_from_slice(bytes);
        Ok(())
    }

    fn allocate(&mut self, length: usize, align: u64) -> Result<u64, HalError> {
        let address = (BASE + self.used as u64).next_multiple_of(align);
        self.range(address, length)
            .map_err(|_| HalError::OutOfMemory { length })?;
        self.used = (address - BASE) as usize + length;
        Ok(address)
    }

    fn interrupt(&mut self) -> Result<bool, HalError> {
        Ok(self.interrupt)
    }
}

/// A provider on a fake with one of everything; the queue pair is connected.
pub struct Bed {
    pub nic: Provider<Fake>,
    pub pd: Pd,
    pub cq: Cq,
    pub qp: Qp,
    pub qpn: u32,
}

pub const QP_CONTEXT_VALUE: u64 = 0xFEDC_BA98_7654_3210;
pub const CQ_CONTEXT_VALUE: u64 = 0x0123_4567_89AB_CDEF;

impl Bed {
    pub fn new() -> Self {
        Self::with(AdapterConfig::default(), |_| ())
    }

    /// With another configuration, or other queue-pair parameters.
    pub fn with(config: AdapterConfig, change: impl FnOnce(&mut QpParameters)) -> Self {
        Self::on(Fake::new(), config, change)
    }

    /// On another adapter.
    pub fn on(hal: Fake, config: AdapterConfig, change: impl FnOnce(&mut QpParameters)) -> Self {
        let mut nic = Provider::open(hal, config).unwrap();
        let pd = nic.create_pd().unwrap();
        let cq = nic.create_cq(256, CQ_CONTEXT_VALUE).unwrap();
        let mut parameters = QpParameters::new(cq, cq);
        parameters.qp_context = QP_CONTEXT_VALUE;
        parameters.inline_data_size = 64;
        change(&mut parameters);
        let qp = nic.create_qp(pd, &parameters).unwrap();
        let qpn = nic.qp_number(qp).unwrap();
        nic.bench().connect(qp, &peer()).unwrap();
        Self {
            nic,
            pd,
            cq,
            qp,
            qpn,
        }
    }

    pub fn depth(depth: u32) -> Self {
        Self::with(AdapterConfig::default(), |parameters| {
            parameters.initiator_queue_depth = depth;
        })
    }

    pub fn send(
        &mut self,
        context: u64,
        flags: OpFlags,
    ) -> Result<(), tandem_model::ndk::NdkError> {
        self.nic.send(self.qp, context, &[], flags)
    }

    pub fn complete(&mut self, entry: Record) {
        self.nic.hal_mut().complete(0, entry);
    }

    pub fn poll(&mut self) -> Vec<NdkResultEx> {
        self.nic.poll_cq(self.cq).unwrap()
    }

    /// Contexts of the results there are.
    pub fn contexts(&mut self) -> Vec<u64> {
        self.poll().iter().map(|r| r.request_context).collect()
    }

    /// A success of the send queue.
    pub fn sent(&self, index: u16) -> Record {
        cqe(self.qpn, index, WqeOpcode::Send, Status::Success)
    }
}

pub fn peer() -> ConnectParameters {
    ConnectParameters::to([2, 0, 0, 0, 0, 2], [10, 0, 0, 2].into(), 0x11)
}

pub fn srq_parameters() -> SrqParameters {
    SrqParameters {
        depth: 8,
        max_receive_request_sge: 2,
        notify_threshold: 0,
        notification_context: 0,
    }
}

pub fn cqe(qpn: u32, index: u16, opcode: WqeOpcode, status: Status) -> Record {
    Record::new(&CQE)
        .with("wqe_index", index)
        .with("opcode", opcode)
        .with("status", status)
        .with("qpn", qpn)
}

pub fn receive_cqe(qpn: u32, index: u16, bytes: u32, status: Status) -> Record {
    Record::new(&CQE)
        .with("wqe_index", index)
        .with("opcode", 0x80u8)
        .with("status", status)
        .with("qpn", qpn)
        .with("receive", 1u8)
        .with("byte_len", bytes)
}

pub fn sge(address: u64, length: u32, token: u32) -> Sge {
    Sge {
        address,
        length,
        token: LocalToken(token),
    }
}

pub const COMPLETION: u8 = EventKind::Completion as u8;
pub const CQ_ERROR: u8 = EventKind::CqError as u8;
pub const QP_ERROR: u8 = EventKind::QpError as u8;
