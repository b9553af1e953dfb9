//! Two engines and a bad network: everything completes, exactly once, in order, and memory is right.

use std::collections::BTreeMap;

use super::network::{Faults, Network};
use super::*;
use proptest::prelude::*;
use tandem_model::abi::{Status, WqeOpcode};
use tandem_model::engine::Timer;
use tandem_model::hal::Target;

/// Bytes of a region that belong to one request.
const SLOT: u64 = 2048;
/// Connections: queue pairs of both nodes.
const PAIRS: [(u32, u32); 3] = [(QA, QB), (3, 4), (9, 9)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Send,
    /// A send that invalidates a token of its own.
    Invalidate,
    Write,
    /// A write to the place to which all such writes of its queue go.
    WriteOver,
    Read,
}

/// One request; request i uses slot i on both sides.
#[derive(Clone, Debug)]
struct Op {
    from_b: bool,
    pair: usize,
    kind: Kind,
    length: u32,
    cut: u32,
    fence: bool,
    silent: bool,
    /// Rounds after which it is posted, and its receive.
    at: [u64; 2],
}

fn op() -> impl Strategy<Value = Op> {
    let kind = prop_oneof![
        Just(Kind::Send),
        Just(Kind::Invalidate),
        Just(Kind::Write),
        Just(Kind::WriteOver),
        Just(Kind::Read)
    ];
    let length = prop_oneof![0u32..4, 250u32..260, 0u32..2048, Just(512u32)];
    let flags = any::<(bool, bool, bool)>();
    (
        flags,
        0..3usize,
        kind,
        length,
        any::<u32>(),
        prop::array::uniform2(0..40u64),
    )
        .prop_map(
            |((from_b, fence, silent), pair, kind, length, cut, at)| Op {
                from_b,
                pair,
                kind,
                length,
                cut: cut % (length + 1),
                fence,
                silent,
                at,
            },
        )
}

fn faults() -> impl Strategy<Value = Faults> {
    (0..16u64, 0..64u64, 0..6u64, 0..2u64, 0..8u64).prop_map(
        |(drop, duplicate, corrupt, marks, delay)| Faults {
            drop,
            duplicate,
            corrupt,
            mark: 40 * marks,
            delay,
        },
    )
}

fn scheduler() -> impl Strategy<Value = Scheduler> {
    prop_oneof![
        Just(Scheduler::Fair),
        any::<u64>().prop_map(Scheduler::Random),
        Just(Scheduler::Adversarial),
    ]
}

/// A world, its regions, and what was posted.
struct Run {
    w: World,
    regions: [Region; 2],
    /// Tokens to be invalidated, by request.
    fast: BTreeMap<usize, u32>,
    /// Timers as the engines tell them.
    timers: [BTreeMap<u32, Timer>; 2],
    slots: usize,
}

impl Run {
    fn new(scheduler: Scheduler, first: u32, ops: &[Op]) -> Self {
        let options = QpOptions {
            mtu: 1,
            max_ord: 3,
            psn: first,
            timeout: 3,
            min_rnr_timer: 1,
            ..QpOptions::default()
        };
        let mut w = World::connected(scheduler, options);
        w.connect(
            PAIRS[1].0,
            PAIRS[1].1,
            QpOptions {
                ipv6: true,
                ..options
            },
        );
        w.connect(PAIRS[2].0, PAIRS[2].1, options);
        for node in [&mut w.a, &mut w.b] {
            node.write(reg::TIME_UNIT, 1000);
            node.write(reg::RNR_UNIT, 60);
            node.write(reg::CNP_INTERVAL, 300);
        }
        // One slot for each request, one to write over for each queue.
        let slots = ops.len() + 2 * PAIRS.len();
        let length = slots as u64 * SLOT;
        let regions = [
            w.a.region(length, Access::ALL),
            w.b.region(length, Access::ALL),
        ];
        w.a.fill(&regions[0], 0, &pattern(length as usize, 1));
        w.b.fill(&regions[1], 0, &pattern(length as usize, 2));
        let mut fast = BTreeMap::new();
        for (i, op) in ops
            .iter()
            .enumerate()
            .filter(|(_, op)| op.kind == Kind::Invalidate)
        {
            let peer = if op.from_b { &mut w.a } else { &mut w.b };
            fast.insert(i, peer.region(8, Access::FAST).token);
        }
        Self {
            w,
            regions,
            fast,
            timers: Default::default(),
            slots,
        }
    }

    fn node(&mut self, number: usize) -> &mut Node {
        if number == 0 {
            &mut self.w.a
        } else {
            &mut self.w.b
        }
    }

    fn post(&mut self, i: usize, op: &Op, ops: &[Op]) {
        let me = usize::from(op.from_b);
        let base = i as u64 * SLOT;
        let sges = vec![
            self.regions[me].sge(base, op.cut),
            self.regions[me].sge(base + u64::from(op.cut), op.length - op.cut),
        ];
        let peer = &self.regions[1 - me];
        let place = match op.kind {
            Kind::WriteOver => (ops.len() + 2 * op.pair + me) as u64 * SLOT,
            _ => base,
        };
        let request = Request {
            remote: (peer.address + place, peer.token),
            invalidate: self.fast.get(&i).copied().unwrap_or(0),
            fence: op.fence,
            silent: op.silent,
            ..Request::new(
                match op.kind {
                    Kind::Send => WqeOpcode::Send,
                    Kind::Invalidate => WqeOpcode::SendInvalidate,
                    Kind::Write | Kind::WriteOver => WqeOpcode::Write,
                    Kind::Read => WqeOpcode::Read,
                },
                sges,
            )
        };
        let (qa, qb) = PAIRS[op.pair];
        let qpn = if op.from_b { qb } else { qa };
        self.node(me).post(qpn, &request);
    }

    fn post_receive(&mut self, i: usize, op: &Op) {
        let peer = 1 - usize::from(op.from_b);
        let base = i as u64 * SLOT;
        let third = op.length / 3;
        let sges = [
            self.regions[peer].sge(base, third),
            self.regions[peer].sge(base + u64::from(third), op.length - third),
        ];
        let (qa, qb) = PAIRS[op.pair];
        let qpn = if op.from_b { qa } else { qb };
        self.node(peer).receive(qpn, &sges);
    }

    /// Some clocks of one node, whose timers are what the engine tells of them.
    fn advance(&mut self, number: usize, clocks: u64) -> Result<Vec<Vec<u8>>, TestCaseError> {
        let target = &mut if number == 0 {
            &mut self.w.a
        } else {
            &mut self.w.b
        }
        .target;
        for _ in 0..clocks {
            if !target.step().unwrap() {
                continue;
            }
            let engine = target.engine();
            if let Some(change) = engine.timer_change() {
                match change.timer {
                    Some(timer) => self.timers[number].insert(change.qpn, timer),
                    None => self.timers[number].remove(&change.qpn),
                };
            }
            let qpn = target.last_action().unwrap().qpn;
            prop_assert_eq!(engine.timer(qpn), self.timers[number].get(&qpn).copied());
        }
        Ok(target.take_frames().unwrap())
    }

    /// Posts everything in its time and runs until nothing happens any more.
    fn run(&mut self, ops: &[Op], network: &mut Network) -> Result<(), TestCaseError> {
        let mut waiting: Vec<(u64, usize, bool)> = Vec::new();
        // Requests of one queue are posted in their order, and so are its receives.
        let mut latest: BTreeMap<(usize, bool, bool), u64> = BTreeMap::new();
        for (i, op) in ops.iter().enumerate() {
            for receive in [false, true] {
                if receive && !matches!(op.kind, Kind::Send | Kind::Invalidate) {
                    continue;
                }
                let at = latest.entry((op.pair, op.from_b, receive)).or_default();
                *at = (*at).max(op.at[usize::from(receive)]);
                waiting.push((*at, i, receive));
            }
        }
        let mut idle = 0;
        for round in 0..200_000 {
            for (_, i, receive) in waiting.extract_if(.., |(at, ..)| *at <= round) {
                if receive {
                    self.post_receive(i, &ops[i]);
                } else {
                    self.post(i, &ops[i], ops);
                }
            }
            let mut busy = !waiting.is_empty() || !network.is_empty();
            for number in 0..2 {
                let clocks = 1 + network.below(24);
                for frame in self.advance(number, clocks)? {
                    network.send(1 - number, &frame);
                    busy = true;
                }
            }
            for (to, frame) in network.round() {
                self.node(to).target.send_frame(&frame).unwrap();
                busy = true;
            }
            idle = if busy { 0 } else { idle + 1 };
            if idle > 200 {
                let deadlines = [&self.w.a, &self.w.b].map(|node| node.target.next_deadline());
                if deadlines == [None, None] {
                    return Ok(());
                }
            }
        }
        prop_assert!(false, "never idle");
        Ok(())
    }
}

/// What the requests do to memory.
fn expected_memory(ops: &[Op], slots: usize) -> [Vec<u8>; 2] {
    let length = slots * SLOT as usize;
    let mut memory = [pattern(length, 1), pattern(length, 2)];
    for (i, op) in ops.iter().enumerate() {
        let me = usize::from(op.from_b);
        let own = i * SLOT as usize;
        let place = match op.kind {
            Kind::WriteOver => (ops.len() + 2 * op.pair + me) * SLOT as usize,
            _ => own,
        };
        let n = op.length as usize;
        if op.kind == Kind::Read {
            let data = memory[1 - me][own..own + n].to_vec();
            memory[me][own..own + n].copy_from_slice(&data);
        } else {
            let data = memory[me][own..own + n].to_vec();
            memory[1 - me][place..place + n].copy_from_slice(&data);
        }
    }
    memory
}

/// Completions of one queue that must come, in their order: index, bytes, invalidated token.
type Told = Vec<(u16, u32, Option<u32>)>;

fn expected_completions(
    ops: &[Op],
    fast: &BTreeMap<usize, u32>,
) -> BTreeMap<(usize, u32, bool), Told> {
    let mut all: BTreeMap<_, Told> = BTreeMap::new();
    let mut posted: BTreeMap<(usize, u32, bool), u16> = BTreeMap::new();
    for (i, op) in ops.iter().enumerate() {
        let me = usize::from(op.from_b);
        let (qa, qb) = PAIRS[op.pair];
        let (qpn, peer_qpn) = if op.from_b { (qb, qa) } else { (qa, qb) };
        let index = posted.entry((me, qpn, false)).or_default();
        if !op.silent {
            all.entry((me, qpn, false))
                .or_default()
                .push((*index, 0, None));
        }
        *index += 1;
        if matches!(op.kind, Kind::Send | Kind::Invalidate) {
            let index = posted.entry((1 - me, peer_qpn, true)).or_default();
            let told = (*index, op.length, fast.get(&i).copied());
            all.entry((1 - me, peer_qpn, true)).or_default().push(told);
            *index += 1;
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// WIRE-PSN-8, WIRE-DUP-1 to -5, WIRE-ORD-3, -5, WIRE-TMO-3, WIRE-NAK-12, WIRE-RNR-7: whatever the network
    /// does, every request is executed exactly once, in order, and told of exactly once.
    #[test]
    fn everything_completes_exactly_once(
        ops in prop::collection::vec(op(), 1..30),
        scheduler in scheduler(),
        faults in faults(),
        first in prop_oneof![Just(0x100u32), 0xFF_FFC0u32..=0xFF_FFFF],
        seed in any::<u64>(),
    ) {
        let mut run = Run::new(scheduler, first, &ops);
        let mut network = Network::new(seed, faults);
        run.run(&ops, &mut network)?;
        run.w.a.target.finish().unwrap();
        run.w.b.target.finish().unwrap();
        let mut got: BTreeMap<_, Told> = BTreeMap::new();
        for number in 0..2 {
            let node = run.node(number);
            for cq in [SEND_CQ, RECV_CQ] {
                for e in node.poll(cq) {
                    prop_assert_eq!(e.status, Status::Success);
                    let told = (e.index, e.byte_len, e.invalidated);
                    got.entry((number, e.qpn, e.receive)).or_default().push(told);
                }
            }
            prop_assert_eq!(node.events(), []);
        }
        prop_assert_eq!(got, expected_completions(&ops, &run.fast));
        let expected = expected_memory(&ops, run.slots);
        for (number, expected) in expected.iter().enumerate() {
            let region = run.regions[number].clone();
            let bytes = run.node(number).bytes(&region, 0, expected.len());
            prop_assert!(bytes == *expected, "memory of node {number}");
        }
        // Timers are all at rest.
        prop_assert!(run.timers.iter().all(BTreeMap::is_empty));
    }
}
