//! Shared receive queues.

use super::{Node, reg, sge_bytes};
use tandem_model::abi::{RQ_WQE, Record, SRQ_CONTEXT, Table};
use tandem_model::hal::Hal;

/// A shared receive queue as its driver sees it.
#[derive(Clone, Copy, Debug)]
pub struct Srq {
    pub number: u16,
    pub base: u64,
    pub log: u8,
    pub producer: u16,
}

impl Srq {
    pub fn context(&self) -> Record {
        Record::new(&SRQ_CONTEXT)
            .with("valid", 1u8)
            .with("log_size", self.log)
            .with("base", self.base)
    }
}

impl Node {
    pub fn create_srq(&mut self, number: u16, log: u8) -> Srq {
        let base = self.target.allocate(64 << log, 4096).unwrap();
        let srq = Srq {
            number,
            base,
            log,
            producer: 0,
        };
        self.command(Table::Srq, number.into(), 0, srq.context().as_bytes());
        srq
    }

    /// Posts a receive; its index.
    pub fn post_shared(&mut self, srq: &mut Srq, sges: &[(u64, u32, u32)]) -> u16 {
        let index = srq.producer;
        srq.producer = index.wrapping_add(1);
        let mut bytes = Record::new(&RQ_WQE).as_bytes().to_vec();
        for (i, sge) in sges.iter().enumerate() {
            bytes[16 * i..16 * i + 16].copy_from_slice(&sge_bytes(*sge));
        }
        let slot = u64::from(index) & ((1 << srq.log) - 1);
        self.target
            .write_memory(srq.base + slot * 64, &bytes)
            .unwrap();
        let value = u32::from(srq.number) << 16 | u32::from(srq.producer);
        self.write(reg::DB_SRQ, value);
        index
    }

    pub fn arm_srq(&mut self, number: u16, limit: u16) {
        self.write(
            reg::DB_SRQ_LIMIT,
            u32::from(number) << 16 | u32::from(limit),
        );
    }
}
