//! Rings: posting, completions, events.

use super::{EQ_LOG, Node, Request, reg, sge_bytes};
use tandem_model::abi::{Arm, CQE, EQE, RQ_WQE, Record, Status};
use tandem_model::hal::Hal;

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

impl Node {
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
