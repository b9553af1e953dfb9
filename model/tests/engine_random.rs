//! Random workloads: what must hold whatever the scheduler does, and that no other action is accepted.

mod engine_support;

use std::collections::BTreeMap;

use engine_support::*;
use proptest::prelude::*;
use tandem_model::abi::{CommitKind, RespondKind, Status, WqeOpcode};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;

/// Bytes of a node's region that belong to one request.
const SLOT: u64 = 3000;

/// One request of the workload; request i uses slot i on both sides.
#[derive(Clone, Debug)]
struct Op {
    from_b: bool,
    second: bool,
    opcode: WqeOpcode,
    cuts: Vec<u32>,
    fence: bool,
    silent: bool,
    solicited: bool,
    inline: bool,
    fails: bool,
}

fn op() -> impl Strategy<Value = Op> {
    let opcode = prop_oneof![
        Just(WqeOpcode::Send),
        Just(WqeOpcode::Read),
        Just(WqeOpcode::Write)
    ];
    let cuts = prop::collection::vec(
        prop_oneof![0u32..4, Just(256u32), 0u32..700, 200u32..260],
        0..=4,
    );
    (any::<[bool; 6]>(), opcode, cuts).prop_map(
        |([from_b, second, fence, silent, solicited, inline], opcode, cuts)| Op {
            from_b,
            second,
            opcode,
            fence,
            silent,
            solicited,
            inline: inline && opcode != WqeOpcode::Read && cuts.iter().sum::<u32>() <= 224,
            cuts,
            fails: false,
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

/// What both sides see in the end.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    memory: [Vec<u8>; 2],
    /// Completions for each queue of each queue pair, in order.
    completions: BTreeMap<(u8, u32, bool), Vec<Cqe>>,
}

fn post(w: &mut World, regions: &[Region; 2], slot: u64, op: &Op) {
    let (qa, qb) = if op.second { (3, 4) } else { (QA, QB) };
    let base = slot * SLOT;
    let (me, peer) = if op.from_b { (1, 0) } else { (0, 1) };
    let total: u32 = op.cuts.iter().sum();
    let mut at = base;
    let mut sges = Vec::new();
    for cut in &op.cuts {
        sges.push(regions[me].sge(at, *cut));
        at += u64::from(*cut);
    }
    let (nodes, qpn, peer_qpn) = if op.from_b {
        ((&mut w.b, &mut w.a), qb, qa)
    } else {
        ((&mut w.a, &mut w.b), qa, qb)
    };
    let (node, other) = nodes;
    let inline = op
        .inline
        .then(|| node.bytes(&regions[me], base, total as usize));
    if inline.is_some() {
        sges.clear();
    }
    if op.opcode == WqeOpcode::Send {
        let room = if op.fails {
            total.saturating_sub(1)
        } else {
            total
        };
        let third = room / 3;
        let sges = [
            regions[peer].sge(base, third),
            regions[peer].sge(base + u64::from(third), room - third),
        ];
        other.receive(peer_qpn, &sges);
    }
    let token = regions[peer].token ^ u32::from(op.fails);
    let request = Request {
        inline,
        remote: (regions[peer].address + base, token),
        fence: op.fence,
        silent: op.silent,
        solicited: op.solicited,
        ..Request::new(op.opcode, sges)
    };
    node.post(qpn, &request);
}

fn start(scheduler: Scheduler, ops: &[Op]) -> (World, [Region; 2]) {
    let options = QpOptions {
        mtu: 1,
        max_ord: 2,
        timeout: 20,
        ..QpOptions::default()
    };
    let mut w = World::connected(scheduler, options);
    w.connect(3, 4, options);
    let length = ops.len().max(1) as u64 * SLOT;
    let regions = [
        w.a.region(length, Access::ALL),
        w.b.region(length, Access::ALL),
    ];
    w.a.fill(&regions[0], 0, &pattern(length as usize, 1));
    w.b.fill(&regions[1], 0, &pattern(length as usize, 2));
    for (i, op) in ops.iter().enumerate() {
        post(&mut w, &regions, i as u64, op);
    }
    (w, regions)
}

fn outcome(w: &mut World, regions: &[Region; 2]) -> Outcome {
    let length = regions[0].length as usize;
    let mut completions: BTreeMap<_, Vec<Cqe>> = BTreeMap::new();
    for node in [&mut w.a, &mut w.b] {
        for cq in [SEND_CQ, RECV_CQ] {
            for entry in node.poll(cq) {
                let key = (node.number, entry.qpn, entry.receive);
                completions.entry(key).or_default().push(entry);
            }
        }
    }
    Outcome {
        memory: [
            w.a.bytes(&regions[0], 0, length),
            w.b.bytes(&regions[1], 0, length),
        ],
        completions,
    }
}

/// What the workload does to memory, without an engine.
fn expected_memory(ops: &[Op]) -> [Vec<u8>; 2] {
    let length = ops.len().max(1) * SLOT as usize;
    let mut memory = [pattern(length, 1), pattern(length, 2)];
    for (i, op) in ops.iter().enumerate() {
        let total: u32 = op.cuts.iter().sum();
        let range = i * SLOT as usize..i * SLOT as usize + total as usize;
        let (me, peer) = if op.from_b { (1, 0) } else { (0, 1) };
        let (from, to) = match op.opcode {
            WqeOpcode::Read => (peer, me),
            _ => (me, peer),
        };
        let data = memory[from][range.clone()].to_vec();
        memory[to][range].copy_from_slice(&data);
    }
    memory
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Memory is as the requests say, every queue completes in order, exactly once, and all schedulers
    /// agree.
    #[test]
    fn workloads(ops in prop::collection::vec(op(), 0..24), scheduler in scheduler()) {
        let (mut w, regions) = start(scheduler, &ops);
        w.run();
        let got = outcome(&mut w, &regions);
        prop_assert!(got.memory == expected_memory(&ops));
        for ((_, _, receive), entries) in &got.completions {
            prop_assert!(entries.iter().all(|e| e.status == Status::Success));
            prop_assert!(entries.is_sorted_by_key(|e| e.index));
            prop_assert!(!receive || entries.iter().enumerate().all(|(i, e)| e.index == i as u16));
        }
        let told = ops.iter().filter(|op| !op.silent).count();
        let sends = ops.iter().filter(|op| op.opcode == WqeOpcode::Send).count();
        prop_assert_eq!(got.completions.values().map(Vec::len).sum::<usize>(), told + sends);

        let (mut w, regions) = start(Scheduler::Fair, &ops);
        w.run();
        prop_assert!(got == outcome(&mut w, &regions));
    }

    /// With one request that its peer refuses: exactly one completion of each kind of request of that
    /// connection that is not a silent success, one failure, the rest flushed; the other connection
    /// does not notice.
    #[test]
    fn one_failure(
        mut ops in prop::collection::vec(op(), 1..20),
        at in any::<prop::sample::Index>(),
        scheduler in scheduler(),
    ) {
        let at = at.index(ops.len());
        ops[at].fails = true;
        ops[at].inline = false;
        ops[at].cuts.push(5);
        ops[at].cuts.truncate(4);
        ops[at].cuts[0] += 1;
        let bad = ops[at].clone();
        let (mut w, regions) = start(scheduler, &ops);
        w.run();
        let got = outcome(&mut w, &regions);
        let qpns = |second| if second { [3, 4] } else { [QA, QB] };
        let failed_qpn = qpns(bad.second)[usize::from(bad.from_b)];
        for ((node, qpn, receive), entries) in &got.completions {
            prop_assert!(entries.is_sorted_by_key(|e| e.index));
            if !qpns(bad.second).contains(qpn) {
                prop_assert!(entries.iter().all(|e| e.status == Status::Success));
                continue;
            }
            // Behind the first error nothing fails; what could succeed may be flushed instead, each
            // request for itself.
            let mut behind = entries.iter().skip_while(|e| e.status == Status::Success).skip(1);
            let legal = [Status::Flushed, Status::Success];
            prop_assert!(behind.all(|e| legal.contains(&e.status)));
            let mine = *node == 1 + u8::from(bad.from_b) && *qpn == failed_qpn && !receive;
            if mine {
                let index = ops[..at]
                    .iter()
                    .filter(|op| (op.second, op.from_b) == (bad.second, bad.from_b))
                    .count() as u16;
                let entry = entries.iter().find(|e| e.index == index).unwrap();
                prop_assert!(
                    matches!(
                        entry.status,
                        Status::RemoteAccess | Status::RemoteInvalidRequest
                    ),
                    "{:?}", entry
                );
            }
        }
    }

    /// At every step, an action with one field changed is refused unless it is listed itself, and the
    /// refusal changes nothing.
    #[test]
    fn mutated_actions_are_refused(
        ops in prop::collection::vec(op(), 1..8),
        seed in any::<u64>(),
    ) {
        let (mut w, regions) = start(Scheduler::Random(seed), &ops);
        let mut quiet = 0;
        // Whether something was sent again, so that ACKs may be equal.
        let mut again = false;
        let mut turn = seed;
        while quiet < 2 {
            let (node, other) = if turn.is_multiple_of(2) {
                (&mut w.a, &mut w.b)
            } else {
                (&mut w.b, &mut w.a)
            };
            let enabled = node.target.enabled().unwrap();
            // Timers end early now and then: each time everything is sent again.
            let early = (turn >> 40).is_multiple_of(16);
            let candidates: Vec<Action> = enabled
                .iter()
                .filter(|action| early || action.kind != CommitKind::Timeout)
                .copied()
                .collect();
            let chosen = candidates.get((turn >> 8) as usize % candidates.len().max(1)).copied();
            turn = turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407).rotate_left(17);
            let Some(chosen) = chosen else {
                quiet += 1;
                turn ^= 1;
                continue;
            };
            quiet = 0;
            again |= chosen.kind == CommitKind::Timeout;
            for mutated in mutations(&chosen) {
                // An ACK that an equal one before may have covered is legal, and not listed.
                let is_ack = mutated.kind == CommitKind::Respond
                    && mutated.cause == RespondKind::Ack as u8;
                if !enabled.contains(&mutated) && !(again && is_ack) {
                    let refused = node.target.apply(&mutated);
                    prop_assert!(refused.is_err(), "{} was accepted instead of {}", mutated, chosen);
                }
            }
            prop_assert_eq!(&node.target.enabled().unwrap(), &enabled);
            if let Err(illegal) = node.target.apply(&chosen) {
                prop_assert!(false, "{}", illegal);
            }
            for frame in node.target.take_frames().unwrap() {
                other.target.send_frame(&frame).unwrap();
                quiet = 0;
            }
        }
        w.run();
        let got = outcome(&mut w, &regions);
        prop_assert!(got.completions.values().flatten().all(|e| e.status == Status::Success));
        prop_assert!(got.memory == expected_memory(&ops));
    }
}

/// The action with each field changed, one at a time.
fn mutations(action: &Action) -> Vec<Action> {
    let mut all = Vec::new();
    for kind in CommitKind::ALL {
        if *kind != action.kind {
            all.push(Action {
                kind: *kind,
                ..*action
            });
        }
    }
    for qpn in [action.qpn ^ 1, action.qpn.wrapping_add(2), 1 << 20] {
        all.push(Action { qpn, ..*action });
    }
    for index in [
        action.index.wrapping_add(1),
        action.index.wrapping_sub(1),
        action.index ^ 0x8000,
    ] {
        all.push(Action { index, ..*action });
    }
    for psn in [
        action.psn.wrapping_add(1) & 0xFF_FFFF,
        action.psn ^ 0x80_0000,
    ] {
        all.push(Action { psn, ..*action });
    }
    for token in [
        action.token ^ 1,
        action.token ^ 0x100_0000,
        action.token ^ 0x8000_0000,
    ] {
        all.push(Action { token, ..*action });
    }
    for cause in [
        action.cause.wrapping_add(1),
        action.cause ^ 4,
        action.cause ^ 0x80,
    ] {
        all.push(Action { cause, ..*action });
    }
    // A discard of something else than it is, and the other way round.
    if action.kind == CommitKind::Respond {
        all.push(action.with_cause(RespondKind::Discard as u8));
    }
    all.retain(|mutated| mutated != action);
    all
}
