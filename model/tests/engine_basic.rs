//! One connection: every operation, sizes, addresses, under every scheduler.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{Status, WqeOpcode};
use tandem_model::target::Scheduler;
use tandem_model::wire::{Pkey, UdpChecksum};

const SCHEDULERS: [Scheduler; 4] = [
    Scheduler::Fair,
    Scheduler::Random(11),
    Scheduler::Random(12),
    Scheduler::Adversarial,
];

fn with_mtu(mtu: u8) -> QpOptions {
    QpOptions {
        mtu,
        ..QpOptions::default()
    }
}

fn success(index: u16, opcode: WqeOpcode) -> Cqe {
    Cqe {
        index,
        opcode: opcode as u8,
        status: Status::Success,
        qpn: QA,
        receive: false,
        solicited: false,
        invalidated: None,
        byte_len: 0,
        error_code: 0,
    }
}

fn received(index: u16, byte_len: u32) -> Cqe {
    Cqe {
        qpn: QB,
        receive: true,
        opcode: 0x80,
        byte_len,
        ..success(index, WqeOpcode::None)
    }
}

#[test]
fn send_and_receive() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, QpOptions::default());
        let from = w.a.region(5000, Access::ALL);
        let to = w.b.region(6000, Access::ALL);
        let data = pattern(5000, 1);
        w.a.fill(&from, 0, &data);
        w.b.receive(QB, &[to.sge(3, 2000), to.sge(2100, 0), to.sge(2101, 3500)]);
        w.a.post(QA, &Request::send(vec![from.sge(0, 5000)]));
        w.run();
        assert_eq!(w.b.bytes(&to, 3, 2000), data[..2000]);
        assert_eq!(w.b.bytes(&to, 2101, 3000), data[2000..]);
        assert_eq!(w.a.poll(SEND_CQ), [success(0, WqeOpcode::Send)]);
        assert_eq!(w.b.poll(RECV_CQ), [received(0, 5000)]);
    }
}

/// Sends, writes and reads of sizes around packet borders, at every path MTU (WIRE-SEG-1 to -4).
#[test]
fn sizes() {
    for mtu in 1..=5u8 {
        let bytes = 128u32 << mtu;
        let sizes = [
            0,
            1,
            2,
            3,
            bytes - 1,
            bytes,
            bytes + 1,
            2 * bytes,
            2 * bytes + 1,
            5000,
        ];
        for scheduler in SCHEDULERS {
            let mut w = World::connected(scheduler, with_mtu(mtu));
            let mine = w.a.region(10_000, Access::ALL);
            let theirs = w.b.region(10_000, Access::ALL);
            for (i, size) in sizes.into_iter().enumerate() {
                let (n, seed) = (size as usize, i as u32);
                w.a.fill(&mine, 0, &pattern(n, seed));
                w.b.fill(&theirs, 0, &vec![0xEE; n + 8]);
                let remote = (theirs.address + 3, theirs.token);
                w.a.post(QA, &Request::write(vec![mine.sge(0, size)], remote));
                w.run();
                assert_eq!(w.b.bytes(&theirs, 3, n), pattern(n, seed), "write of {n}");
                assert_eq!(w.b.bytes(&theirs, 3 + n as u64, 5), [0xEE; 5]);

                w.a.fill(&mine, 0, &vec![0xAA; n + 8]);
                w.a.post(QA, &Request::read(vec![mine.sge(1, size)], remote));
                w.run();
                assert_eq!(w.a.bytes(&mine, 1, n), pattern(n, seed), "read of {n}");
                assert_eq!(w.a.bytes(&mine, 1 + n as u64, 5), [0xAA; 5]);

                w.b.receive(QB, &[theirs.sge(5, 10_000 - 5)]);
                w.a.post(QA, &Request::send(vec![mine.sge(1, size)]));
                w.run();
                assert_eq!(w.b.bytes(&theirs, 5, n), pattern(n, seed), "send of {n}");
                assert_eq!(w.b.poll(RECV_CQ), [received(i as u16, size)]);
                let first = 3 * i as u16;
                assert_eq!(
                    w.a.poll(SEND_CQ),
                    [
                        success(first, WqeOpcode::Write),
                        success(first + 1, WqeOpcode::Read),
                        success(first + 2, WqeOpcode::Send),
                    ]
                );
            }
            assert!(w.a.events().is_empty() && w.b.events().is_empty());
        }
    }
}

#[test]
fn a_mebibyte_at_every_mtu() {
    const N: u32 = 1 << 20;
    for mtu in 1..=5u8 {
        let mut w = World::connected(Scheduler::Fair, with_mtu(mtu));
        w.record = false;
        let mine = w.a.region(N.into(), Access::ALL);
        let theirs = w.b.region(N.into(), Access::ALL);
        let data = pattern(N as usize, mtu.into());
        w.a.fill(&mine, 0, &data);
        let remote = (theirs.address, theirs.token);
        w.a.post(QA, &Request::write(vec![mine.sge(0, N)], remote));
        w.run();
        assert!(w.b.bytes(&theirs, 0, N as usize) == data);
        w.a.fill(&mine, 0, &vec![0; N as usize]);
        w.a.post(QA, &Request::read(vec![mine.sge(0, N)], remote));
        w.run();
        assert!(w.a.bytes(&mine, 0, N as usize) == data);
        w.b.fill(&theirs, 0, &vec![0; N as usize]);
        w.b.receive(QB, &[theirs.sge(0, 7), theirs.sge(7, N - 7)]);
        w.a.post(
            QA,
            &Request::send(vec![mine.sge(0, N - 3), mine.sge(u64::from(N) - 3, 3)]),
        );
        w.run();
        assert!(w.b.bytes(&theirs, 0, N as usize) == data);
        assert_eq!(w.a.poll(SEND_CQ).len(), 3);
        assert_eq!(w.b.poll(RECV_CQ), [received(0, N)]);
    }
}

/// Odd lengths and offsets, elements of length 0 with nonsense tokens, all fourteen elements.
#[test]
fn scatter_and_gather() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, with_mtu(1));
        let mine = w.a.region(20_000, Access::ALL);
        let theirs = w.b.region(20_000, Access::ALL);
        w.a.fill(&mine, 0, &pattern(20_000, 3));
        let lengths = [1u32, 0, 3, 4096, 7, 0, 255, 256, 257, 2, 0, 511, 13, 1];
        let mut sges = Vec::new();
        let mut expected = Vec::new();
        let mut at = 5000u64;
        for (i, length) in lengths.into_iter().enumerate() {
            if length == 0 {
                sges.push((0xDEAD_BEEF, 0, 0xFFFF_FFFF));
            } else {
                at = (at * 7 + i as u64) % 12_000;
                sges.push(mine.sge(at, length));
                let whole = pattern(20_000, 3);
                expected.extend_from_slice(&whole[at as usize..at as usize + length as usize]);
            }
        }
        let total = expected.len() as u32;
        w.b.receive(
            QB,
            &[
                theirs.sge(9000, 5),
                theirs.sge(4093, 8),
                (0, 0, 0),
                theirs.sge(10_001, 9_000),
            ],
        );
        w.a.post(QA, &Request::send(sges.clone()));
        let remote = (theirs.address + 1, theirs.token);
        w.run();
        assert_eq!(w.b.bytes(&theirs, 9000, 5), expected[..5]);
        assert_eq!(w.b.bytes(&theirs, 4093, 8), expected[5..13]);
        assert_eq!(
            w.b.bytes(&theirs, 10_001, total as usize - 13),
            expected[13..]
        );
        assert_eq!(w.b.poll(RECV_CQ), [received(0, total)]);

        w.a.post(QA, &Request::write(sges, remote));
        let sink = [
            mine.sge(1, 100),
            mine.sge(0, 0),
            mine.sge(4095, 2),
            mine.sge(14_000, total - 102),
        ];
        w.run();
        assert_eq!(w.b.bytes(&theirs, 1, total as usize), expected);
        w.a.post(QA, &Request::read(sink.to_vec(), remote));
        w.run();
        assert_eq!(w.a.bytes(&mine, 1, 100), expected[..100]);
        assert_eq!(w.a.bytes(&mine, 4095, 2), expected[100..102]);
        assert_eq!(
            w.a.bytes(&mine, 14_000, total as usize - 102),
            expected[102..]
        );
        assert_eq!(w.a.poll(SEND_CQ).len(), 3);
    }
}

#[test]
fn inline_data() {
    for (stride, most) in [(0u8, 32), (1, 96), (2, 224)] {
        for scheduler in SCHEDULERS {
            let options = QpOptions {
                sq_stride: stride,
                ..with_mtu(1)
            };
            let mut w = World::connected(scheduler, options);
            let theirs = w.b.region(1000, Access::ALL);
            for size in [0, 1, most] {
                let data = pattern(size, 5);
                let request = Request {
                    inline: Some(data.clone()),
                    ..Request::write(vec![], (theirs.address + 2, theirs.token))
                };
                w.a.post(QA, &request);
                w.b.receive(QB, &[theirs.sge(300, 500)]);
                let request = Request {
                    opcode: WqeOpcode::Send,
                    ..request
                };
                w.a.post(QA, &request);
                w.run();
                assert_eq!(w.b.bytes(&theirs, 2, size), data);
                assert_eq!(w.b.bytes(&theirs, 300, size), data);
            }
            assert_eq!(w.a.poll(SEND_CQ).len(), 6);
        }
    }
}

/// The privileged token takes logical addresses; accesses are split at 4 KiB.
#[test]
fn privileged_token() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, with_mtu(5));
        let token = w.a.privileged();
        let theirs = w.b.region(10_000, Access::ALL);
        let buffer = tandem_model::hal::Hal::allocate(&mut w.a.target, 16_384, 4096).unwrap();
        let data = pattern(9000, 8);
        tandem_model::hal::Hal::write_memory(&mut w.a.target, buffer + 4001, &data).unwrap();
        let remote = (theirs.address, theirs.token);
        w.a.post(
            QA,
            &Request::write(vec![(buffer + 4001, 9000, token)], remote),
        );
        w.run();
        assert_eq!(w.b.bytes(&theirs, 0, 9000), data);
        w.a.post(QA, &Request::read(vec![(buffer + 77, 9000, token)], remote));
        w.run();
        let mut back = vec![0; 9000];
        tandem_model::hal::Hal::read_memory(&mut w.a.target, buffer + 77, &mut back).unwrap();
        assert_eq!(back, data);
        assert_eq!(w.a.poll(SEND_CQ).len(), 2);
    }
}

/// Frames carry what the context says, on both IP versions; identification 0, checksum 0.
// Covers: WIRE-FRM-1, WIRE-FRM-5, WIRE-BTH-3, WIRE-BTH-7, WIRE-BTH-8
#[test]
fn addresses_on_the_wire() {
    for ipv6 in [false, true] {
        let options = QpOptions {
            ipv6,
            ..with_mtu(1)
        };
        let mut w = World::connected(Scheduler::Fair, options);
        let mine = w.a.region(1000, Access::ALL);
        let theirs = w.b.region(1000, Access::ALL);
        let remote = (theirs.address, theirs.token);
        w.a.post(QA, &Request::write(vec![mine.sge(0, 700)], remote));
        w.a.post(QA, &Request::read(vec![mine.sge(0, 700)], remote));
        w.run();
        assert_eq!(w.a.poll(SEND_CQ).len(), 2);
        // Three packets, one ACK, one request, three responses.
        assert_eq!(w.frames.len(), 8);
        for (sender, bytes) in &w.frames {
            let frame = tandem_model::wire::Frame::parse(bytes).unwrap();
            let (from, to, peer_qpn) = if *sender == 1 {
                (&w.a, &w.b, QB)
            } else {
                (&w.b, &w.a, QA)
            };
            assert_eq!((frame.eth.src.0, frame.eth.dst.0), (from.mac(), to.mac()));
            assert_eq!(frame.bth.dest_qp.get(), peer_qpn);
            assert_eq!(frame.ip.traffic_class(), 0x28);
            assert_eq!(frame.ip.hop_limit(), 33);
            assert_eq!(frame.ip.src().is_ipv6(), ipv6);
            assert_eq!(frame.udp_sport, 0xC000 + if *sender == 1 { 2 } else { 5 });
            if let tandem_model::wire::Ip::V4(ip) = frame.ip {
                assert!(ip.ident == 0 && ip.dont_fragment);
            }
            assert!(!frame.bth.migration && !frame.bth.solicited);
            assert_eq!(frame.udp_checksum, UdpChecksum::Zero);
            assert_eq!(frame.bth.pkey, Pkey(0xFFFF));
            assert!(*sender == 1 || !frame.bth.ack_req, "of responses");
        }
        // PSNs as WIRE-PSN-3 to -5 have them.
        let psns: Vec<u32> = w
            .frames
            .iter()
            .map(|(_, bytes)| {
                let frame = tandem_model::wire::Frame::parse(bytes).unwrap();
                frame.bth.psn.get() - 0x100
            })
            .collect();
        let mut sorted = psns.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 2, 3, 3, 4, 5]);
    }
}

#[test]
fn psns_wrap() {
    for scheduler in SCHEDULERS {
        let options = QpOptions {
            psn: 0xFF_FFFA,
            ..with_mtu(1)
        };
        let mut w = World::connected(scheduler, options);
        let mine = w.a.region(4000, Access::ALL);
        let theirs = w.b.region(4000, Access::ALL);
        let remote = (theirs.address, theirs.token);
        w.a.fill(&mine, 0, &pattern(4000, 4));
        for _ in 0..3 {
            w.b.receive(QB, &[theirs.sge(0, 4000)]);
            w.a.post(QA, &Request::write(vec![mine.sge(0, 1000)], remote));
            w.a.post(QA, &Request::read(vec![mine.sge(2000, 1000)], remote));
            w.a.post(QA, &Request::send(vec![mine.sge(0, 1000)]));
        }
        w.run();
        assert!(
            w.a.poll(SEND_CQ)
                .iter()
                .all(|e| e.status == Status::Success)
        );
        assert_eq!(w.a.bytes(&mine, 2000, 1000), pattern(1000, 4));
        assert_eq!(w.b.poll(RECV_CQ).len(), 3);
    }
}

/// Both directions at once, three connections on one pair of completion queues.
#[test]
fn queue_pairs_share_a_completion_queue() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, with_mtu(2));
        w.connect(3, 4, with_mtu(1));
        w.connect(63, 63, with_mtu(3));
        let pairs = [(QA, QB), (3, 4), (63, 63)];
        let mine = w.a.region(60_000, Access::ALL);
        let theirs = w.b.region(60_000, Access::ALL);
        for (i, (qa, qb)) in pairs.into_iter().enumerate() {
            let at = 20_000 * i as u64;
            let data = pattern(5000, i as u32);
            w.a.fill(&mine, at, &data);
            w.b.fill(&theirs, at, &data);
            for k in 0..4u64 {
                w.b.receive(qb, &[theirs.sge(at + 5000 + 100 * k, 100)]);
                w.a.receive(qa, &[mine.sge(at + 5000 + 100 * k, 100)]);
            }
            for k in 0..4u64 {
                w.a.post(qa, &Request::send(vec![mine.sge(at + k, 100)]));
                w.b.post(qb, &Request::send(vec![theirs.sge(at + k, 100)]));
                let remote = (theirs.address + at + 10_000, theirs.token);
                w.a.post(qa, &Request::write(vec![mine.sge(at, 3000)], remote));
                let remote = (mine.address + at, mine.token);
                w.b.post(
                    qb,
                    &Request::read(vec![theirs.sge(at + 15_000, 3000)], remote),
                );
            }
        }
        w.run();
        for (i, (qa, qb)) in pairs.into_iter().enumerate() {
            let at = 20_000 * i as u64;
            let data = pattern(5000, i as u32);
            for k in 0..4 {
                let from = at + 5000 + 100 * k as u64;
                assert_eq!(w.b.bytes(&theirs, from, 100), data[k..k + 100]);
                assert_eq!(w.a.bytes(&mine, from, 100), data[k..k + 100]);
            }
            assert_eq!(w.b.bytes(&theirs, at + 10_000, 3000), data[..3000]);
            assert_eq!(w.b.bytes(&theirs, at + 15_000, 3000), data[..3000]);
            let order = |entries: Vec<Cqe>, qpn| -> Vec<u16> {
                let mine = entries.iter().filter(|e| e.qpn == qpn);
                mine.map(|e| e.index).collect()
            };
            let all: Vec<u16> = (0..8).collect();
            assert_eq!(order(w.a.peek(SEND_CQ), qa), all);
            assert_eq!(order(w.b.peek(SEND_CQ), qb), all);
            assert_eq!(order(w.a.peek(RECV_CQ), qa), all[..4]);
            assert_eq!(order(w.b.peek(RECV_CQ), qb), all[..4]);
        }
    }
}

/// The rings go round many times; indices wrap with a small ring.
#[test]
fn rings_wrap() {
    let options = QpOptions {
        sq_log: 1,
        rq_log: 1,
        sq_stride: 0,
        ..with_mtu(1)
    };
    let mut w = World::connected(Scheduler::Fair, options);
    w.record = false;
    let mine = w.a.region(64, Access::ALL);
    let theirs = w.b.region(64, Access::ALL);
    for i in 0..66_000u32 {
        w.b.receive(QB, &[theirs.sge(0, 4)]);
        w.a.post(QA, &Request::send(vec![mine.sge(0, 4)]));
        w.run();
        if i % 64 == 63 {
            assert_eq!(w.a.poll(SEND_CQ).len(), 64);
            let entries = w.b.poll(RECV_CQ);
            assert_eq!(entries.len(), 64);
            assert_eq!(entries[63].index, i as u16);
        }
    }
}
