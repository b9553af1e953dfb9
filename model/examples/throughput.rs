//! 64-byte sends between two golden engines on one core: requests per second.
//!
//! `cargo run --release --example throughput -- [requests]`

use std::time::Instant;

use tandem_model::abi::{
    CQ_CONTEXT, QP_CONTEXT, QpState, Record, SGE, SQ_WQE, TOKEN_CONTEXT, Table, TokenKind,
    WqeOpcode,
};
use tandem_model::engine::{Config, Effect, Engine};
use tandem_model::target::Memory;

const QPN: u32 = 2;
const LOG: u8 = 8;
const DEPTH: u16 = 1 << LOG;
/// Requests rung for at once.
const BATCH: u16 = 32;
const PAYLOAD: u32 = 64;

/// An engine with its memory.
struct Node {
    engine: Engine,
    memory: Memory,
    effects: Vec<Effect>,
    sq_base: u64,
    actions: u64,
}

impl Node {
    fn new(number: u8) -> Result<Self, Box<dyn std::error::Error>> {
        let mut memory = Memory::new(1 << 24);
        let sq_base = memory.allocate(64 << LOG, 64 << LOG)?;
        let rq_base = memory.allocate(64 << LOG, 64 << LOG)?;
        let cq_base = memory.allocate(32 << LOG, 4096)?;
        let page = memory.allocate(4096, 4096)?;
        let mut node = Self {
            engine: Engine::new(Config::default()),
            memory,
            effects: Vec::new(),
            sq_base,
            actions: 0,
        };
        let peer = 3 - number;
        node.engine.write_register(0x28, 0x0000_0002);
        node.engine.write_register(0x2C, u32::from(number) << 8);
        node.engine
            .write_register(0x30, u32::from_le_bytes([192, 0, 2, number]));
        let cq = Record::new(&CQ_CONTEXT)
            .with("valid", 1u8)
            .with("log_size", LOG)
            .with("base", cq_base);
        node.command(Table::Cq, 0, &cq)?;
        let token = Record::new(&TOKEN_CONTEXT)
            .with("valid", 1u8)
            .with("kind", TokenKind::Region)
            .with("local_write", 1u8)
            .with("base_address", page)
            .with("length", 4096u32);
        node.command(Table::Token, 1, &token)?;
        let pages = Record::from_bytes(&CQ_CONTEXT, &page.to_le_bytes());
        node.command(Table::Page, 0, &pages)?;
        let mut ip = [0; 16];
        ip[10..12].fill(0xFF);
        ip[12..].copy_from_slice(&[192, 0, 2, peer]);
        for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
            let qp = Record::new(&QP_CONTEXT)
                .with("state", state)
                .with("mtu", 3u8)
                .with("sq_log", LOG)
                .with("rq_log", LOG)
                .with("udp_sport", 0xC001u16)
                .with("remote_qpn", QPN)
                .with("hop_limit", 64u8)
                .with("sq_base", sq_base)
                .with("rq_base", rq_base)
                .with("remote_mac", 2u64 | u64::from(peer) << 40)
                .with("remote_ip", u128::from_le_bytes(ip));
            node.command(Table::Qp, QPN, &qp)?;
        }
        let element = Record::new(&SGE)
            .with("address", page)
            .with("length", PAYLOAD)
            .with("token", 1u32 << 8);
        for slot in 0..u64::from(DEPTH) {
            let wqe = Record::new(&SQ_WQE)
                .with("opcode", WqeOpcode::Send)
                .with("num_sge", 1u8)
                .with("length", PAYLOAD);
            node.place(sq_base + 64 * slot, wqe.as_bytes());
            node.place(sq_base + 64 * slot + 32, element.as_bytes());
            node.place(rq_base + 64 * slot, element.as_bytes());
        }
        Ok(node)
    }

    fn place(&mut self, address: u64, bytes: &[u8]) {
        if let Some(to) = self.memory.get_mut(address, bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    fn command(
        &mut self,
        table: Table,
        index: u32,
        record: &Record,
    ) -> Result<(), Box<dyn std::error::Error>> {
        self.engine.write_register(0x50, index);
        for (i, word) in record.as_bytes().chunks(4).enumerate() {
            let mut bytes = [0; 4];
            bytes[..word.len()].copy_from_slice(word);
            let offset = 0x80 + 4 * i as u32;
            self.engine
                .write_register(offset, u32::from_le_bytes(bytes));
        }
        self.engine.write_register(0x54, table as u32 | 1 << 4);
        self.engine.step(&mut self.memory, &mut self.effects)?;
        Ok(())
    }

    /// Runs until nothing is enabled; frames go to the peer. Returns completions written.
    fn run(&mut self, peer: &mut Engine) -> Result<u64, Box<dyn std::error::Error>> {
        let mut completions = 0;
        while self
            .engine
            .step(&mut self.memory, &mut self.effects)?
            .is_some()
        {
            self.actions += 1;
            for effect in self.effects.drain(..) {
                match effect {
                    Effect::Frame(frame) => peer.receive_frame(frame),
                    Effect::Write { address, bytes, .. } => {
                        completions += u64::from(bytes.len() == 32);
                        if let Some(to) = self.memory.get_mut(address, bytes.len()) {
                            to.copy_from_slice(&bytes);
                        }
                        self.engine.recycle(bytes);
                    }
                }
            }
        }
        Ok(completions)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let requests: u64 = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 2_000_000,
    };
    let mut a = Node::new(1)?;
    let mut b = Node::new(2)?;
    let (mut posted, mut sent, mut received) = (0u16, 0u64, 0u64);
    let start = Instant::now();
    while received < requests {
        // The driver writes each request's index, as a real one writes the request.
        for index in (0..BATCH).map(|i| posted.wrapping_add(i)) {
            let slot = u64::from(index % DEPTH);
            let at = a.sq_base + 64 * slot + 4;
            a.place(at, &index.to_le_bytes());
        }
        posted = posted.wrapping_add(BATCH);
        b.engine
            .write_register(0x104, QPN << 16 | u32::from(posted));
        b.engine.write_register(0x108, u32::from(received as u16));
        a.engine.write_register(0x108, u32::from(sent as u16));
        a.engine
            .write_register(0x100, QPN << 16 | u32::from(posted));
        let before = received;
        while received < before + u64::from(BATCH) || sent < received {
            sent += a.run(&mut b.engine)?;
            received += b.run(&mut a.engine)?;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{received} sends of {PAYLOAD} bytes in {seconds:.2} s: {:.3} M requests/s, {:.1} M actions/s",
        received as f64 / seconds / 1e6,
        (a.actions + b.actions) as f64 / seconds / 1e6,
    );
    Ok(())
}
