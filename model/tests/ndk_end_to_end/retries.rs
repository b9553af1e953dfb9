//! Losses, receivers that are not ready, peers that are gone.

use tandem_model::hal::{Hal, Target};
use tandem_model::ndk::{NtStatus, OperationType};

use crate::world::{Change, PLAIN, VA};
use crate::{NONE, SILENT, each, pattern};

use NtStatus as S;
use OperationType as T;

/// Least clocks of a wait for RNR with timer code 12, 0.64 ms at 62.5 MHz.
const WAIT: u64 = 64 * 625;
/// Clocks of T with timeout code 17.
const T17: u64 = 256 << 17;

const GO_BACKS: u32 = 0x298;
const TIMEOUTS: u32 = 0x29C;
const RNR_WAITS: u32 = 0x2A0;

/// Reading O25: a receive that is never posted ends the send after six waits (WIRE-RNR-7).
#[test]
fn no_receive_posted() {
    each(&PLAIN, |w| {
        let start = w.a.nic.hal().now();
        w.a.nic.send(w.a.qp, 1, &[], NONE).unwrap();
        w.run();
        assert_eq!(w.a.results(), [(1, T::Send, S::IO_TIMEOUT)]);
        assert!(w.a.nic.hal().now() - start >= 6 * WAIT);
        assert_eq!(w.a.nic.hal_mut().read_register(RNR_WAITS), Ok(6));
        let events = w.a.nic.poll_events().unwrap();
        assert_eq!(events, [w.a.qp_error(S::IO_TIMEOUT)]);
        // The peer lives on.
        assert_eq!(w.b.nic.poll_events().unwrap(), []);
    });
}

/// Reading O25, WIRE-RNR-8: a receive that comes late is waited for, with rnr_retry 7 as long as it takes.
#[test]
fn late_receive() {
    let endless = Change {
        rnr_retry: 7,
        ..PLAIN
    };
    for (change, waits) in [(&PLAIN, 3), (&endless, 40)] {
        each(change, |w| {
            let data = pattern(3000);
            w.a.fill(0, &data);
            let source = [w.a.sge(0, 3000)];
            w.a.nic.send(w.a.qp, 1, &source, NONE).unwrap();
            for _ in 0..waits {
                w.settle();
                assert_eq!(w.a.results(), []);
                assert!(w.skip());
            }
            let sink = [w.b.sge(500, 3000)];
            w.b.nic.receive(w.b.qp, 2, &sink).unwrap();
            w.run();
            assert_eq!(w.a.results(), [(1, T::Send, S::SUCCESS)]);
            assert_eq!(w.b.results(), [(2, T::Receive, S::SUCCESS)]);
            assert_eq!(w.b.bytes(500, 3000), data);
        });
    }
}

/// A consumer does not notice that frames are lost, about one in four.
#[test]
fn lossy_wire() {
    each(&PLAIN, |w| {
        w.loses = |number| number.wrapping_mul(0x9E37_79B9) >> 30 == 1;
        let data = pattern(20_000);
        w.a.fill(0, &data);
        let (qp, token) = (w.a.qp, w.b.remote_token());
        for i in 0..10u32 {
            let sink = [w.b.sge(40_000 + 300 * i, 300)];
            w.b.nic.receive(w.b.qp, i.into(), &sink).unwrap();
            let (at, context) = (2000 * i, u64::from(10 * i));
            let place = VA + u64::from(at);
            let source = [w.a.sge(at, 2000)];
            w.a.nic
                .write(qp, context, &source, place, token, SILENT)
                .unwrap();
            let sink = [w.a.sge(30_000 + at, 2000)];
            w.a.nic
                .read(qp, context + 1, &sink, place, token, NONE)
                .unwrap();
            let source = [w.a.sge(at, 300)];
            w.a.nic.send(qp, context + 2, &source, NONE).unwrap();
        }
        w.run();
        let expected: Vec<_> = (0..10)
            .flat_map(|i| {
                [
                    (10 * i + 1, T::Read, S::SUCCESS),
                    (10 * i + 2, T::Send, S::SUCCESS),
                ]
            })
            .collect();
        assert_eq!(w.a.results(), expected);
        let expected: Vec<_> = (0..10).map(|i| (i, T::Receive, S::SUCCESS)).collect();
        assert_eq!(w.b.results(), expected);
        assert_eq!(w.b.bytes(0, 20_000), data);
        assert_eq!(w.a.bytes(30_000, 20_000), data);
        for i in 0..10 {
            let at = 2000 * i as usize;
            assert_eq!(w.b.bytes(40_000 + 300 * i, 300), data[at..at + 300]);
        }
        let again = w.a.nic.hal_mut().read_register(GO_BACKS).unwrap()
            + w.a.nic.hal_mut().read_register(TIMEOUTS).unwrap();
        assert!(again > 0);
    });
}

/// A peer that is gone: the request ends with a timeout after eight sendings, the others are cancelled
/// (WIRE-TMO-4, -5).
#[test]
fn peer_gone() {
    each(&PLAIN, |w| {
        w.loses = |_| true;
        let start = w.a.nic.hal().now();
        let (qp, token) = (w.a.qp, w.b.remote_token());
        w.a.nic.receive(qp, 9, &[]).unwrap();
        let source = [w.a.sge(0, 10)];
        w.a.nic.write(qp, 1, &source, VA, token, SILENT).unwrap();
        w.a.nic.send(qp, 2, &[], NONE).unwrap();
        w.run();
        let mut results = w.a.results();
        results.sort_by_key(|(context, ..)| *context);
        let expected = [
            (1, T::Write, S::IO_TIMEOUT),
            (2, T::Send, S::CANCELLED),
            (9, T::Receive, S::CANCELLED),
        ];
        assert_eq!(results, expected);
        let elapsed = w.a.nic.hal().now() - start;
        assert!(
            (8 * T17..32 * T17 + 100_000).contains(&elapsed),
            "{elapsed}"
        );
        assert_eq!(w.a.nic.hal_mut().read_register(TIMEOUTS), Ok(8));
        let events = w.a.nic.poll_events().unwrap();
        assert_eq!(events, [w.a.qp_error(S::IO_TIMEOUT)]);
    });
}
