//! Counters of traffic, as OID_NDK_STATISTICS tells them.

use crate::world::{Node, PLAIN, VA};
use crate::{NONE, each};

/// Ethernet, IPv4 and UDP headers, BTH, ICRC.
const HEADERS: u64 = 14 + 20 + 8 + 12 + 4;
const RETH: u64 = 16;
const AETH: u64 = 4;

/// Frames and octets in, frames and octets out.
fn traffic(node: &mut Node) -> ((u64, u64), (u64, u64)) {
    let counters = node.nic.performance_counters().unwrap();
    (
        (counters.rdma_in_frames, counters.rdma_in_octets),
        (counters.rdma_out_frames, counters.rdma_out_octets),
    )
}

/// Sends, writes, reads, their answers, and the headers of all of them.
// Covers: NDK-STAT-4
#[test]
fn ndk_stat_4_all_traffic_with_its_headers() {
    each(&PLAIN, |w| {
        let (qp, remote) = (w.a.qp, w.b.remote_token());
        let place = w.b.sge(0, 100);
        w.b.nic.receive(w.b.qp, 0, &[place]).unwrap();
        w.run();
        let mut forth = (0, 0);
        let mut back = (0, 0);
        let mut expect = |w: &mut crate::World, request: u64, answer: u64| {
            w.run();
            forth = (forth.0 + 1, forth.1 + HEADERS + request);
            back = (back.0 + 1, back.1 + HEADERS + answer);
            assert_eq!(traffic(&mut w.a), (back, forth));
            assert_eq!(traffic(&mut w.b), (forth, back));
        };
        let element = w.a.sge(0, 100);
        w.a.nic.send(qp, 1, &[element], NONE).unwrap();
        expect(w, 100, AETH);
        let element = w.a.sge(0, 64);
        w.a.nic.write(qp, 2, &[element], VA, remote, NONE).unwrap();
        expect(w, RETH + 64, AETH);
        let element = w.a.sge(0, 32);
        w.a.nic.read(qp, 3, &[element], VA, remote, NONE).unwrap();
        expect(w, RETH, AETH + 32);
        let active = w.a.nic.performance_counters().unwrap().active_connection;
        assert_eq!(active, 1);
    });
}
