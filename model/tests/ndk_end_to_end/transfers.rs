//! The five operations, and what they move.

use tandem_model::hal::Hal;
use tandem_model::ndk::bench::PathMtu;
use tandem_model::ndk::{
    Mdl, MrFlags, NtStatus, OpFlags, OperationType, QpPhase, RemoteToken, Sge,
};
use tandem_model::target::Scheduler;

use crate::world::{self, BUFFER, Change, PLAIN, VA, World};
use crate::{NONE, SILENT, each, pattern};

use NtStatus as S;
use OperationType as T;

/// Several sizes, from several elements to several elements.
// Covers: NDK-SEND-2, NDK-RECV-2, NDK-RECV-4, NDK-RES-2, NDK-RES-4
#[test]
fn send_and_receive() {
    for (ipv6, mtu) in [
        (false, PathMtu::B1024),
        (true, PathMtu::B1024),
        (false, PathMtu::B256),
        (true, PathMtu::B4096),
    ] {
        let change = Change { ipv6, mtu, ..PLAIN };
        each(&change, |w| {
            for (context, length) in (1..).zip([0, 1, 3, 1023, 1024, 1025, 5000, 16000]) {
                let data = pattern(length);
                w.a.fill(100, &data);
                let piece = length / 3;
                let sgl = [
                    w.a.sge(100, piece),
                    w.a.sge(100 + piece, 0),
                    w.a.sge(100 + piece, length - piece),
                ];
                let sink = [w.b.sge(4090, 7), w.b.sge(4097, BUFFER / 2)];
                w.b.nic.receive(w.b.qp, context, &sink).unwrap();
                w.run();
                w.a.nic.send(w.a.qp, context << 32, &sgl, NONE).unwrap();
                w.run();
                assert_eq!(w.a.results(), [(context << 32, T::Send, S::SUCCESS)]);
                let results = w.b.poll();
                assert_eq!(results.len(), 1);
                assert_eq!(
                    (results[0].request_context, results[0].operation),
                    (context, T::Receive)
                );
                assert_eq!(results[0].status, S::SUCCESS);
                assert_eq!(results[0].bytes_transferred, length);
                assert_eq!(results[0].qp_context, 0xC2);
                assert_eq!(w.b.bytes(4090, length), data);
            }
        });
    }
}

/// The buffer of a node becomes as large as one request may be.
fn enlarge(node: &mut world::Node) -> u32 {
    let length = node.nic.query_adapter_info().max_transfer_length;
    node.nic.deregister_mr(node.mr).unwrap();
    let hal = node.nic.hal_mut();
    node.buffer = hal.allocate(length as usize, 4096).unwrap();
    let mdl = [Mdl::contiguous(VA, node.buffer, length)];
    let rights = MrFlags::ALLOW_REMOTE_READ | MrFlags::ALLOW_REMOTE_WRITE;
    let registered = node.nic.register_mr(node.mr, &mdl, length.into(), rights);
    registered.unwrap();
    length
}

/// One request of each kind moves as much as the adapter says; a byte more is refused.
// Covers: NDK-CAP-7
#[test]
fn ndk_cap_7_greatest_requests() {
    for (scheduler, mtu) in [
        (Scheduler::Fair, PathMtu::B4096),
        (Scheduler::Adversarial, PathMtu::B1024),
        (Scheduler::Random(1), PathMtu::B256),
    ] {
        let mut w = World::new(scheduler, &Change { mtu, ..PLAIN });
        let length = enlarge(&mut w.a);
        assert_eq!(enlarge(&mut w.b), length);
        let data = pattern(length);
        let far = w.b.remote_token();
        let whole = [w.a.sge(0, length)];
        w.a.fill(0, &data);
        w.a.nic.write(w.a.qp, 1, &whole, VA, far, NONE).unwrap();
        w.run();
        assert_eq!(w.a.results(), [(1, T::Write, S::SUCCESS)]);
        assert!(w.b.bytes(0, length) == data);
        w.a.fill(0, &vec![0; length as usize]);
        w.a.nic.read(w.a.qp, 2, &whole, VA, far, NONE).unwrap();
        w.run();
        assert_eq!(w.a.results(), [(2, T::Read, S::SUCCESS)]);
        assert!(w.a.bytes(0, length) == data);
        w.b.fill(0, &vec![0; length as usize]);
        let sink = [w.b.sge(0, 5), w.b.sge(5, length - 5)];
        w.b.nic.receive(w.b.qp, 3, &sink).unwrap();
        w.a.nic.send(w.a.qp, 3, &whole, NONE).unwrap();
        w.run();
        assert_eq!(w.a.results(), [(3, T::Send, S::SUCCESS)]);
        let received: Vec<_> = w.b.poll().iter().map(|r| r.bytes_transferred).collect();
        assert_eq!(received, [length]);
        assert!(w.b.bytes(0, length) == data);
        let more = [w.a.sge(0, length), w.a.sge(0, 1)];
        let outcomes = [
            w.a.nic.write(w.a.qp, 4, &more, VA, far, NONE),
            w.a.nic.read(w.a.qp, 4, &more, VA, far, NONE),
            w.a.nic.send(w.a.qp, 4, &more, NONE),
            w.a.nic.receive(w.a.qp, 4, &more),
        ];
        assert_eq!(outcomes, [(); 4].map(|()| Err(S::BUFFER_OVERFLOW.into())));
        w.finish();
    }
}

// Covers: NDK-READ-5, NDK-READ-6, NDK-READ-8, NDK-WRITE-2, NDK-WRITE-10, NDK-CAP-9
#[test]
fn read_and_write() {
    each(&PLAIN, |w| {
        let data = pattern(10_000);
        w.b.fill(333, &data);
        let token = w.b.remote_token();
        let sgl = [w.a.sge(8000, 4321), w.a.sge(20_000, 5679)];
        w.a.nic
            .read(w.a.qp, 1, &sgl, VA + 333, token, NONE)
            .unwrap();
        w.run();
        assert_eq!(w.a.results(), [(1, T::Read, S::SUCCESS)]);
        assert_eq!(w.a.bytes(8000, 4321), data[..4321]);
        assert_eq!(w.a.bytes(20_000, 5679), data[4321..]);
        let source = [w.a.sge(20_000, 5679)];
        w.a.nic
            .write(w.a.qp, 2, &source, VA + 50_001, token, NONE)
            .unwrap();
        w.run();
        assert_eq!(w.a.results(), [(2, T::Write, S::SUCCESS)]);
        assert_eq!(w.b.bytes(50_001, 5679), data[4321..]);
        assert_eq!(w.b.results(), []);
        // Reading O4: nothing of a zero-length request is checked.
        let (qp, wrong) = (w.a.qp, RemoteToken(0xDEAD));
        w.a.nic.read(qp, 3, &[], 0, wrong, NONE).unwrap();
        w.a.nic.write(qp, 4, &[], 0, wrong, NONE).unwrap();
        w.run();
        let expected = [(3, T::Read, S::SUCCESS), (4, T::Write, S::SUCCESS)];
        assert_eq!(w.a.results(), expected);
    });
}

/// NDK-SINV-6 of the engine's side: NDK-SINV-19, -20, -26, NDK-RES-6, -7.
// Covers: NDK-SINV-19, NDK-SINV-20, NDK-SINV-26, NDK-RES-6
#[test]
fn send_and_invalidate() {
    each(&PLAIN, |w| {
        let length = 8192;
        let chain = [Mdl::contiguous(VA, w.b.buffer, length)];
        let rights = MrFlags::ALLOW_REMOTE_READ | MrFlags::ALLOW_REMOTE_WRITE;
        let pd = w.b.pd;
        let mr =
            w.b.nic
                .bench()
                .place_fast_region(pd, &chain, length.into(), rights)
                .unwrap();
        let token = w.b.nic.remote_token_from_mr(mr).unwrap();
        // The token works,
        let (qp, source) = (w.a.qp, [w.a.sge(0, 64)]);
        w.a.fill(0, &pattern(64));
        w.a.nic
            .write(qp, 1, &source, VA + 8000, token, NONE)
            .unwrap();
        w.run();
        assert_eq!(w.a.results(), [(1, T::Write, S::SUCCESS)]);
        assert_eq!(w.b.bytes(8000, 64), pattern(64));
        // is invalidated,
        let sink = [w.b.sge(0, 100)];
        w.b.nic.receive(w.b.qp, 9, &sink).unwrap();
        w.b.nic.receive(w.b.qp, 10, &sink).unwrap();
        w.run();
        w.a.nic
            .send_and_invalidate(qp, 2, &source, NONE, token)
            .unwrap();
        w.run();
        assert_eq!(w.a.results(), [(2, T::Send, S::SUCCESS)]);
        let results = w.b.poll();
        assert_eq!(results[0].operation, T::ReceiveAndInvalidate);
        assert_eq!(results[0].type_specific_completion_output, token.0.into());
        assert_eq!((results.len(), results[0].bytes_transferred), (1, 64));
        // and an invalid token: the connection ends, and the receive fails.
        w.a.nic
            .send_and_invalidate(qp, 3, &source, NONE, token)
            .unwrap();
        w.run();
        assert_eq!(w.a.results(), [(3, T::Send, S::REMOTE_RESOURCES)]);
        let results = w.b.results();
        assert_eq!(results.len(), 1);
        assert_eq!(results[0].0, 10);
        assert!(!results[0].2.is_success());
        assert_eq!(w.b.nic.qp_phase(w.b.qp), Ok(QpPhase::Error));
    });
}

// Covers: NDK-READ-15, NDK-READ-16
#[test]
fn read_with_local_invalidation() {
    each(&PLAIN, |w| {
        let chain = [Mdl::contiguous(VA, w.a.buffer, 4096)];
        let pd = w.a.pd;
        let rights = MrFlags::ALLOW_LOCAL_WRITE;
        let mut bench = w.a.nic.bench();
        let fast = bench.place_fast_region(pd, &chain, 4096, rights).unwrap();
        let other = bench.place_fast_region(pd, &chain, 4096, rights).unwrap();
        let element = |token| Sge {
            address: VA,
            length: 16,
            token,
        };
        let fast = element(w.a.nic.local_token_from_mr(fast).unwrap());
        let other = element(w.a.nic.local_token_from_mr(other).unwrap());
        let (qp, token) = (w.a.qp, w.b.remote_token());
        let flags = OpFlags::RDMA_READ_LOCAL_INVALIDATE;
        w.a.nic
            .read(qp, 1, &[fast, other], VA, token, flags)
            .unwrap();
        w.a.nic.read(qp, 2, &[other], VA, token, NONE).unwrap();
        w.run();
        let expected = [(1, T::Read, S::SUCCESS), (2, T::Read, S::SUCCESS)];
        assert_eq!(w.a.results(), expected);
        w.a.nic.read(qp, 3, &[fast], VA, token, NONE).unwrap();
        w.run();
        assert_eq!(w.a.results(), [(3, T::Read, S::ACCESS_VIOLATION)]);
    });
}

/// NDK-SGE-2, NDK-TOK-3, NDK-CAP-9: logical addresses as source, receive and read sink.
// Covers: NDK-SGE-2, NDK-TOK-3, NDK-CAP-9
#[test]
fn privileged_token() {
    each(&PLAIN, |w| {
        let token = |node: &world::Node| node.nic.privileged_memory_region_token(node.pd).unwrap();
        let (token_a, token_b) = (token(&w.a), token(&w.b));
        let element = |address, token| Sge {
            address,
            length: 9000,
            token,
        };
        let data = pattern(9000);
        w.a.fill(11, &data);
        let sink = [element(w.b.buffer + 77, token_b)];
        w.b.nic.receive(w.b.qp, 1, &sink).unwrap();
        w.run();
        let source = [element(w.a.buffer + 11, token_a)];
        w.a.nic.send(w.a.qp, 2, &source, NONE).unwrap();
        let sink = [element(w.a.buffer + 30_000, token_a)];
        let remote = w.b.remote_token();
        w.a.nic
            .read(w.a.qp, 3, &sink, VA + 77, remote, NONE)
            .unwrap();
        w.run();
        let expected = [(2, T::Send, S::SUCCESS), (3, T::Read, S::SUCCESS)];
        assert_eq!(w.a.results(), expected);
        assert_eq!(w.b.bytes(77, 9000), data);
        assert_eq!(w.a.bytes(30_000, 9000), data);
    });
}

/// NDK-SEND-6, NDK-SINV-14, NDK-SGE-6, C7.
// Covers: NDK-SEND-6, NDK-SGE-4, NDK-SGE-6
#[test]
fn inline_data() {
    each(&PLAIN, |w| {
        let data = pattern(100);
        w.a.fill(0, &data);
        let element = |offset, length| Sge {
            address: w.a.buffer + offset,
            length,
            token: tandem_model::ndk::LocalToken(0xBAD),
        };
        let sgl = [element(0, 33), element(33, 67)];
        let sink = [w.b.sge(0, 200)];
        w.b.nic.receive(w.b.qp, 1, &sink).unwrap();
        w.run();
        let (qp, token) = (w.a.qp, w.b.remote_token());
        w.a.nic.send(qp, 2, &sgl, OpFlags::INLINE).unwrap();
        w.a.nic
            .write(qp, 3, &sgl, VA + 500, token, OpFlags::INLINE)
            .unwrap();
        w.a.fill(0, &[0xEE; 100]);
        w.run();
        let expected = [(2, T::Send, S::SUCCESS), (3, T::Write, S::SUCCESS)];
        assert_eq!(w.a.results(), expected);
        assert_eq!(w.b.bytes(0, 100), data);
        assert_eq!(w.b.bytes(500, 100), data);
    });
}

/// NDK-SEND-3 over ten queues full of silent requests, with fences and reads among them.
#[test]
fn silent_requests() {
    each(&PLAIN, |w| {
        let (qp, token) = (w.a.qp, w.b.remote_token());
        for round in 0..640u32 {
            w.a.fill(0, &round.to_le_bytes());
            let sgl = [w.a.sge(0, 4)];
            let place = VA + 4 * u64::from(round);
            let fence = OpFlags::READ_FENCE | SILENT;
            let outcome = match round % 3 {
                0 => w.a.nic.write(qp, 0, &sgl, place, token, fence),
                1 => w.a.nic.write(qp, 0, &sgl, place, token, SILENT),
                _ => {
                    let sink = [w.a.sge(8, 4)];
                    w.a.nic.read(qp, 0, &sink, place - 4, token, SILENT)
                }
            };
            outcome.unwrap();
            w.run();
            if round % 3 == 2 {
                assert_eq!(w.a.bytes(8, 4), (round - 1).to_le_bytes());
            }
        }
        assert_eq!(w.a.results(), []);
        assert_eq!(w.b.bytes(0, 4), 0u32.to_le_bytes());
    });
}

/// Readings O12, O1, O28: reads beyond the limit wait; results come in the order of posting; a fenced send carries what
/// the reads before it brought.
#[test]
fn reads_beyond_the_limit() {
    each(&PLAIN, |w| {
        let data = pattern(20 * 3000);
        w.b.fill(0, &data);
        let sink = [w.b.sge(60_500, 3000)];
        w.b.nic.receive(w.b.qp, 77, &sink).unwrap();
        w.run();
        let (qp, token) = (w.a.qp, w.b.remote_token());
        assert!(w.a.nic.query_adapter_info().max_outbound_read_limit < 20);
        for i in 0..20 {
            let sink = [w.a.sge(3000 * i, 3000)];
            let address = VA + 3000 * u64::from(i);
            w.a.nic
                .read(qp, i.into(), &sink, address, token, NONE)
                .unwrap();
        }
        let source = [w.a.sge(19 * 3000, 3000)];
        w.a.nic.send(qp, 20, &source, OpFlags::READ_FENCE).unwrap();
        w.run();
        let expected: Vec<_> = (0..20)
            .map(|i| (i, T::Read, S::SUCCESS))
            .chain([(20, T::Send, S::SUCCESS)])
            .collect();
        assert_eq!(w.a.results(), expected);
        assert_eq!(w.a.bytes(0, 60_000), data);
        assert_eq!(w.b.bytes(60_500, 3000), data[57_000..]);
    });
}
