//! The first state of a world: engines with their tables written and their doorbells rung.

use std::collections::VecDeque;
use std::sync::Arc;

use tandem_model::abi::{
    CQ_CONTEXT, CommitKind, QP_CONTEXT, QpState, Record, SRQ_CONTEXT, TOKEN_CONTEXT, Table,
    TokenKind, regs,
};
use tandem_model::engine::{Action, Config, Engine};

use super::Setting;
use super::map::{
    COMPLETIONS, ENTRY, EVENTS, FIRST_QP, LANDING, LOCAL, LOCAL_ADDRESS, LOCAL_PAGES, PAGE,
    RECEIVE_RINGS, RING, SEND_RINGS, SHARED_QUEUE, SOURCES, region_address, region_page, token,
    unbound_token,
};
use super::mutation::Mutation;
use super::node::{Node, Reader};
use super::plan::{NodePlan, first_psn, region_number};
use super::seen::{Seen, SeenQp, SeenShared};
use super::state::{Left, State};
use super::world::{Key, Side, Window, World};

/// Protection domain of everything.
const PD: u16 = 1;
/// log2 of the entries of a completion queue; more than any world makes.
const CQ_LOG: u8 = 5;
/// Completion queues of the send queues and of the receive queues.
const QUEUES: [u16; 2] = [0, 1];

impl Setting {
    /// The first state.
    pub(super) fn first(&self) -> State {
        let world = &self.world;
        let left = Left {
            faults: world.faults.count,
            hasty: world.hasty_timers,
        };
        State {
            nodes: Side::BOTH.map(|side| Arc::new(self.node(side))),
            links: [VecDeque::new(), VecDeque::new()],
            left,
            symmetric: world.symmetric,
            broken: None,
        }
    }

    fn node(&self, side: Side) -> Node {
        let plan = self.plan.node(side);
        let mut engine = Engine::new(config(self, plan));
        self.port(&mut engine, side);
        tables(&mut engine, &self.world, plan);
        self.queue_pairs(&mut engine, side);
        let rung = |count: usize| match self.world.late_receives {
            true => 0,
            false => count,
        };
        let mut seen = Seen {
            made: !plan.made,
            listed: !plan.lists(),
            ..Seen::default()
        };
        if self.world.is_shared(side)
            && let Some(shared) = &self.world.shared
        {
            let receives = rung(shared.receives.into()) as u32;
            engine.write_register(regs::DbSrq::OFFSET, SHARED_QUEUE << 16 | receives);
            seen.shared = SeenShared::new(receives as u8);
            if shared.arms > 0 {
                let limit = u32::from(Mutation::limit(self.mutation, shared.limit));
                engine.write_register(regs::DbSrqLimit::OFFSET, SHARED_QUEUE << 16 | limit);
                seen.shared.arm(shared.limit);
            }
        }
        for (lane, requests) in plan.lanes.iter().enumerate() {
            let qpn = FIRST_QP + lane as u32;
            let receives = rung(plan.receives[lane]);
            engine.write_register(regs::DbRq::OFFSET, qpn << 16 | receives as u32);
            let posted = requests
                .iter()
                .take_while(|planned| planned.request.after == 0);
            let posted = posted.count();
            engine.write_register(regs::DbSq::OFFSET, qpn << 16 | posted as u32);
            seen.qps.push(SeenQp {
                rung: receives as u8,
                posted: posted as u8,
                ..SeenQp::default()
            });
        }
        settle(&mut engine, plan);
        let mut node = Node {
            engine,
            landing: plan.before.clone(),
            writes: VecDeque::new(),
            gathers: VecDeque::new(),
            frames: VecDeque::new(),
            entries: VecDeque::new(),
            seen,
            digest: 0,
        };
        node.seal();
        node
    }

    /// Number of a node in its addresses. In a symmetric world both have the same.
    fn number(&self, side: Side) -> u8 {
        match side {
            Side::B if !self.world.symmetric => 2,
            _ => 1,
        }
    }

    fn port(&self, engine: &mut Engine, side: Side) {
        let number = self.number(side);
        let [m0, m1, m2, m3, m4, m5] = mac(number);
        engine.write_register(regs::EqBaseLo::OFFSET, EVENTS as u32);
        engine.write_register(regs::EqBaseHi::OFFSET, (EVENTS >> 32) as u32);
        engine.write_register(regs::EqLog::OFFSET, 4);
        engine.write_register(regs::MacLo::OFFSET, u32::from_le_bytes([m0, m1, m2, m3]));
        engine.write_register(regs::MacHi::OFFSET, u32::from_le_bytes([m4, m5, 0, 0]));
        engine.write_register(regs::Ipv4::OFFSET, u32::from_le_bytes(ip(number)));
    }

    fn queue_pairs(&self, engine: &mut Engine, side: Side) {
        let world = &self.world;
        let peer = self.number(side.peer());
        let mut remote_mac = [0; 8];
        remote_mac[..6].copy_from_slice(&mac(peer));
        let mut remote_ip = [0; 16];
        remote_ip[10..12].fill(0xFF);
        remote_ip[12..].copy_from_slice(&ip(peer));
        for lane in 0..world.lanes.len() {
            let qpn = FIRST_QP + lane as u32;
            let ring = lane as u64 * (RING * ENTRY) as u64;
            let receives = match self.world.is_shared(side) {
                true => SHARED_QUEUE.into(),
                false => RECEIVE_RINGS + ring,
            };
            let context = Record::new(&QP_CONTEXT)
                .with("mtu", 1u8)
                .with("sq_log", RING.ilog2() as u8)
                .with("rq_log", RING.ilog2() as u8)
                .with("remote_read", 1u8)
                .with("remote_write", 1u8)
                .with("pd", PD)
                .with("udp_sport", 0xC000u16 + qpn as u16)
                .with("send_cq", QUEUES[0])
                .with("recv_cq", QUEUES[1])
                .with("remote_qpn", qpn)
                .with("hop_limit", 64u8)
                .with("sq_psn", first_psn(world, side, lane))
                .with("rq_psn", first_psn(world, side.peer(), lane))
                .with("max_ord", world.max_ord)
                .with("max_ird", world.max_ord)
                .with("sq_base", SEND_RINGS + ring)
                .with("srq", self.world.is_shared(side))
                .with("rq_base", receives)
                .with("remote_mac", u64::from_le_bytes(remote_mac))
                .with("remote_ip", u128::from_le_bytes(remote_ip))
                .with("timeout", 1u8)
                .with("retry_cnt", world.retry_cnt)
                .with("rnr_retry", world.rnr_retry)
                .with("min_rnr_timer", 1u8);
            for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
                let context = context.clone().with("state", state);
                command(engine, Table::Qp, qpn, 1, context.as_bytes());
            }
        }
    }
}

/// An engine as small as the world allows.
fn config(setting: &Setting, plan: &NodePlan) -> Config {
    let log2 = |count: usize| count.next_power_of_two().ilog2() as u8;
    Config {
        log2_qps: log2(FIRST_QP as usize + setting.world.lanes.len()),
        log2_cqs: log2(QUEUES.len()),
        log2_tokens: log2(tokens(&setting.world, plan)),
        log2_pages: log2(LOCAL_PAGES as usize + usize::from(Key::REGIONS)),
        log2_srqs: 0,
        max_read: setting.world.max_ord,
        ..Config::default()
    }
}

fn mac(number: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, number]
}

fn ip(number: u8) -> [u8; 4] {
    [192, 0, 2, number]
}

/// Entries of the token table.
fn tokens(world: &World, plan: &NodePlan) -> usize {
    let windows = (0..world.windows.len() as u8).map(Key::Window);
    let keys = plan.regions.keys().copied().chain(windows);
    let last = keys.map(|key| token(key).index()).max();
    last.unwrap_or(LOCAL.index()) as usize + 1
}

/// Queues, pages and tokens.
fn tables(engine: &mut Engine, world: &World, plan: &NodePlan) {
    for cq in QUEUES {
        let context = Record::new(&CQ_CONTEXT)
            .with("valid", 1u8)
            .with("log_size", CQ_LOG)
            .with("base", COMPLETIONS + u64::from(cq) * (32 << CQ_LOG));
        command(engine, Table::Cq, cq.into(), 1, context.as_bytes());
    }
    if world.shared.is_some() {
        let context = Record::new(&SRQ_CONTEXT)
            .with("valid", 1u8)
            .with("log_size", RING.ilog2() as u8)
            .with("base", RECEIVE_RINGS);
        command(engine, Table::Srq, SHARED_QUEUE, 1, context.as_bytes());
    }
    command(engine, Table::Page, 0, 1, &SOURCES.to_le_bytes());
    command(engine, Table::Page, 1, 1, &LANDING.to_le_bytes());
    let local = Record::new(&TOKEN_CONTEXT)
        .with("valid", 1u8)
        .with("kind", TokenKind::Region)
        .with("local_write", 1u8)
        .with("key", LOCAL.key())
        .with("pd", PD)
        .with("base_address", LOCAL_ADDRESS)
        .with("length", 2 * PAGE);
    command(engine, Table::Token, LOCAL.index(), 1, local.as_bytes());
    for key in plan.regions.keys() {
        let Key::Region(region) = *key else {
            continue;
        };
        let registered = plan.made & key.bit() == 0;
        if registered {
            let page = LOCAL_PAGES + u32::from(region);
            let address = region_page(*key).to_le_bytes();
            command(engine, Table::Page, page, 1, &address);
        }
        stage_region(engine, *key, registered);
    }
    for (number, window) in (0..).zip(world.windows) {
        stage_window(engine, number, window, false);
    }
}

fn stage_region(engine: &mut Engine, key: Key, valid: bool) {
    let region = region_number(&[], key);
    let context = Record::new(&TOKEN_CONTEXT)
        .with("valid", valid)
        .with("kind", TokenKind::Fast)
        .with("local_write", 1u8)
        .with("remote_read", 1u8)
        .with("remote_write", 1u8)
        .with("key", token(key).key())
        .with("pd", PD)
        .with("first_page", LOCAL_PAGES + u32::from(region))
        .with("max_pages", 1u8)
        .with("base_address", region_address(region))
        .with("length", PAGE);
    command(
        engine,
        Table::Token,
        token(key).index(),
        1,
        context.as_bytes(),
    );
}

fn stage_window(engine: &mut Engine, number: u8, window: &Window, bound: bool) {
    let (start, end) = window.bytes;
    let named = match bound {
        true => token(Key::Window(number)),
        false => unbound_token(number),
    };
    let context = Record::new(&TOKEN_CONTEXT)
        .with("valid", bound)
        .with("kind", TokenKind::Window)
        .with("remote_read", window.read)
        .with("remote_write", window.write)
        .with("key", named.key())
        .with("pd", PD)
        .with("first_page", LOCAL_PAGES + u32::from(window.region))
        .with("page_offset", start)
        .with(
            "base_address",
            region_address(window.region) + u64::from(start),
        )
        .with("length", end - start)
        .with("window_qp", FIRST_QP);
    command(engine, Table::Token, named.index(), 1, context.as_bytes());
}

/// Makes a token valid, whatever it was: a window on the queue pair of the first lane.
pub(super) fn make_valid(engine: &mut Engine, setting: &Setting, side: Side, key: Key) {
    match key {
        Key::Window(number) => {
            let window = &setting.world.windows[usize::from(number)];
            stage_window(engine, number, window, true);
        }
        key => stage_region(engine, key, true),
    }
    settle(engine, setting.plan.node(side));
}

/// Stages a table entry and asks for it to be written.
fn command(engine: &mut Engine, table: Table, index: u32, count: u32, bytes: &[u8]) {
    let mut data = [0; 64];
    data[..bytes.len()].copy_from_slice(bytes);
    engine.write_register(regs::CtxIndex::OFFSET, index);
    for (offset, word) in (0..).step_by(4).zip(data.as_chunks::<4>().0) {
        engine.write_register(
            regs::CtxDataWord::OFFSET + offset,
            u32::from_le_bytes(*word),
        );
    }
    engine.write_register(regs::CtxCommand::OFFSET, table as u32 | count << 4);
}

/// Executes all commands and doorbells that wait.
///
/// # Panics
/// If one is illegal, which none is.
fn settle(engine: &mut Engine, plan: &NodePlan) {
    let mut reader = Reader {
        plan,
        landing: &plan.before,
        mutation: None,
        listed: 0,
        gathers: 0,
    };
    loop {
        let mut enabled = Vec::new();
        let listed = engine.enabled(&mut reader, &mut enabled);
        listed.expect("what is enabled can be listed");
        let waits = |action: &&Action| {
            matches!(
                action.kind,
                CommitKind::Context
                    | CommitKind::SqDoorbell
                    | CommitKind::RqDoorbell
                    | CommitKind::SrqDoorbell
                    | CommitKind::SrqArm
            )
        };
        let Some(action) = enabled.iter().find(waits) else {
            return;
        };
        let mut effects = Vec::new();
        let applied = engine.apply(action, &mut reader, &mut effects);
        applied.expect("what is enabled can be executed");
    }
}
