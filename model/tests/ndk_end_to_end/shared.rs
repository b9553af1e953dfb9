//! Shared receive queues: who gets which receive, when the consumer is told that they run short, and how they end.

use tandem_model::hal::Target;
use tandem_model::ndk::bench::ConnectParameters;
use tandem_model::ndk::{
    Notification, NtStatus, Object, OperationType, Qp, QpParameters, Srq, SrqParameters,
};

use crate::world::{PLAIN, World};
use crate::{NONE, each, pattern};

use NtStatus as S;

const RECEIVE: OperationType = OperationType::Receive;

const PARAMETERS: SrqParameters = SrqParameters {
    depth: 8,
    max_receive_request_sge: 2,
    notify_threshold: 0,
    notification_context: 77,
};

/// Queue pairs of both nodes, connected; those of node b take from the shared queue.
struct Shared {
    srq: Srq,
    a: Vec<Qp>,
    b: Vec<Qp>,
}

/// Context of queue pair `i` of node b.
fn context(i: usize) -> u64 {
    500 + i as u64
}

fn shared(w: &mut World, parameters: &SrqParameters, count: usize) -> Shared {
    let srq = w.b.nic.create_srq(w.b.pd, parameters).unwrap();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in 0..count {
        let plain = QpParameters::new(w.a.cq, w.a.cq);
        let qp_a = w.a.nic.create_qp(w.a.pd, &plain).unwrap();
        let mut taking = QpParameters::new(w.b.cq, w.b.cq);
        taking.qp_context = context(i);
        // Not looked at.
        taking.receive_queue_depth = u32::MAX;
        let made = w.b.nic.create_qp_with_srq(w.b.pd, srq, &taking);
        let qp_b = made.unwrap();
        let to =
            |host, qp| ConnectParameters::to([2, 0, 0, 0, 0, host], [10, 0, 0, host].into(), qp);
        let (number_a, number_b) = (
            w.a.nic.qp_number(qp_a).unwrap(),
            w.b.nic.qp_number(qp_b).unwrap(),
        );
        w.a.nic.bench().connect(qp_a, &to(2, number_b)).unwrap();
        w.b.nic.bench().connect(qp_b, &to(1, number_a)).unwrap();
        a.push(qp_a);
        b.push(qp_b);
    }
    Shared { srq, a, b }
}

impl Shared {
    fn post(&self, w: &mut World, contexts: impl IntoIterator<Item = u64>) {
        for context in contexts {
            w.b.nic.srq_receive(self.srq, context, &[]).unwrap();
        }
        // No frame overtakes the doorbells.
        while w.b.nic.hal_mut().advance(16).unwrap() {}
    }

    /// Empty messages from queue pair `i`.
    fn send(&self, w: &mut World, i: usize, count: usize) {
        for _ in 0..count {
            w.a.nic.send(self.a[i], 1, &[], NONE).unwrap();
        }
        w.run();
        w.a.poll();
    }

    /// (request context, queue-pair context, status) of node b's results.
    fn results(&self, w: &mut World) -> Vec<(u64, u64, NtStatus)> {
        let results = w.b.poll();
        let triple = |r: &tandem_model::ndk::NdkResultEx| {
            assert_eq!(r.operation, RECEIVE);
            (r.request_context, r.qp_context, r.status)
        };
        results.iter().map(triple).collect()
    }

    fn runs_short(&self) -> Notification {
        Notification::Srq {
            srq: self.srq,
            context: 77,
            status: S::SUCCESS,
        }
    }
}

/// NDK-SRQR-1 to -3, NDK-QPC-4: receives are taken in their order by whoever needs one; results say who. Many turns
/// of the ring.
// Covers: NDK-SRQR-3, NDK-QPC-4
#[test]
fn ndk_srqr_1_receives_serve_all_queue_pairs() {
    each(&PLAIN, |w| {
        let s = shared(w, &PARAMETERS, 2);
        let (mut posted, mut taken) = (0, 0);
        for round in 0..400 {
            s.post(w, posted..posted + 7);
            posted += 7;
            let sender = usize::from(round % 3 == 0);
            for (i, count) in [(sender, 3), (1 - sender, 4)] {
                s.send(w, i, count);
                let expected = (taken..).map(|request| (request, context(i), S::SUCCESS));
                let expected: Vec<_> = expected.take(count).collect();
                assert_eq!(s.results(w), expected);
                taken += count as u64;
            }
        }
    });
}

/// NDK-SRQR-1: data lands in the elements of the receive that was taken.
// Covers: NDK-SRQR-1
#[test]
fn ndk_srqr_1_data() {
    each(&PLAIN, |w| {
        let s = shared(w, &PARAMETERS, 2);
        let places = [0, 5000].map(|at| [w.b.sge(at, 3000), w.b.sge(at + 3000, 1000)]);
        for (context, place) in (1..).zip(&places) {
            w.b.nic.srq_receive(s.srq, context, place).unwrap();
        }
        let bytes = pattern(3500);
        w.a.fill(0, &bytes);
        let sgl = [w.a.sge(0, 3500)];
        w.a.nic.send(s.a[1], 1, &sgl, NONE).unwrap();
        w.run();
        let results = w.b.poll();
        assert_eq!(results[0].bytes_transferred, 3500);
        assert_eq!(results[0].qp_context, context(1));
        assert_eq!(w.b.bytes(0, 3500), bytes);
    });
}

/// A send to an empty shared queue waits for a receive (reading O25).
#[test]
fn o25_an_empty_queue_is_waited_for() {
    each(&PLAIN, |w| {
        let s = shared(w, &PARAMETERS, 1);
        w.a.nic.send(s.a[0], 1, &[], NONE).unwrap();
        w.settle();
        assert!(w.skip());
        s.post(w, [9]);
        w.run();
        assert_eq!(s.results(w), [(9, context(0), S::SUCCESS)]);
        assert_eq!(w.a.results()[0].2, S::SUCCESS);
    });
}

/// NDK-SRQ-2 to -5: told once when fewer receives are queued than the threshold, again after another arm, at once if they
/// run short then; threshold 0 changes nothing. A queue that has not been filled does not run short.
// Covers: NDK-SRQ-2, NDK-SRQ-3, NDK-SRQ-4, NDK-SRQ-5, NDK-SRQ-6
#[test]
fn ndk_srq_2_threshold() {
    each(&PLAIN, |w| {
        let parameters = SrqParameters {
            notify_threshold: 3,
            ..PARAMETERS
        };
        let s = shared(w, &parameters, 1);
        s.post(w, 0..2);
        w.run();
        assert_eq!(w.b.nic.poll_events(), Ok(vec![]));
        s.post(w, 2..4);
        // Four queued; three are not fewer than three.
        s.send(w, 0, 1);
        assert_eq!(w.b.nic.poll_events(), Ok(vec![]));
        // NDK-SRQ-5.
        w.b.nic.modify_srq(s.srq, 0, 0).unwrap();
        s.send(w, 0, 1);
        assert_eq!(w.b.nic.poll_events(), Ok(vec![s.runs_short()]));
        // NDK-SRQ-3.
        s.post(w, 4..8);
        s.send(w, 0, 5);
        w.b.nic.modify_srq(s.srq, 0, 0).unwrap();
        w.run();
        assert_eq!(w.b.nic.poll_events(), Ok(vec![]));
        // NDK-SRQ-4: one is queued.
        w.b.nic.modify_srq(s.srq, 0, 1).unwrap();
        w.run();
        assert_eq!(w.b.nic.poll_events(), Ok(vec![]));
        w.b.nic.modify_srq(s.srq, 0, 2).unwrap();
        w.run();
        assert_eq!(w.b.nic.poll_events(), Ok(vec![s.runs_short()]));
        // Armed, and nothing of the time before is told again.
        s.post(w, 8..12);
        w.b.nic.modify_srq(s.srq, 0, 2).unwrap();
        s.send(w, 0, 3);
        assert_eq!(w.b.nic.poll_events(), Ok(vec![]));
        s.send(w, 0, 1);
        assert_eq!(w.b.nic.poll_events(), Ok(vec![s.runs_short()]));
    });
}

/// NDK-SRQ-1, -6: depths. As many receives as the depth can be outstanding; a smaller one than there are is refused and
/// changes nothing.
// Covers: NDK-SRQ-1
#[test]
fn ndk_srq_1_depth() {
    each(&PLAIN, |w| {
        let (nic, pd) = (&mut w.b.nic, w.b.pd);
        let most = nic.query_adapter_info().max_srq_depth;
        assert!(most > 8);
        let wrong = |change: fn(&mut SrqParameters)| {
            let mut parameters = PARAMETERS;
            change(&mut parameters);
            parameters
        };
        for parameters in [
            wrong(|p| p.depth = 0),
            wrong(|p| p.depth = 1025),
            wrong(|p| p.max_receive_request_sge = 5),
        ] {
            let made = nic.create_srq(pd, &parameters);
            assert_eq!(made, Err(S::INVALID_PARAMETER.into()));
        }
        let s = shared(w, &PARAMETERS, 1);
        s.post(w, 0..8);
        let one_more = w.b.nic.srq_receive(s.srq, 8, &[]);
        assert_eq!(one_more, Err(S::NO_MORE_ENTRIES.into()));
        let nic = &mut w.b.nic;
        let refused = nic.modify_srq(s.srq, 7, 0);
        assert_eq!(refused, Err(S::BUFFER_OVERFLOW.into()));
        let refused = nic.modify_srq(s.srq, most + 1, 0);
        assert_eq!(refused, Err(S::INVALID_PARAMETER.into()));
        nic.modify_srq(s.srq, 0, 0).unwrap();
        let still = nic.srq_receive(s.srq, 8, &[]);
        assert_eq!(still, Err(S::NO_MORE_ENTRIES.into()));
        nic.modify_srq(s.srq, 10, 0).unwrap();
        s.post(w, 8..10);
        let one_more = w.b.nic.srq_receive(s.srq, 10, &[]);
        assert_eq!(one_more, Err(S::NO_MORE_ENTRIES.into()));
        s.send(w, 0, 4);
        // Completions are found although nobody has fetched them.
        w.b.nic.modify_srq(s.srq, 6, 0).unwrap();
        assert_eq!(s.results(w).len(), 4);
    });
}

/// Checks at posting, as for a queue of one's own, which a queue pair with a shared one does not have.
#[test]
fn posting() {
    each(&PLAIN, |w| {
        let s = shared(w, &PARAMETERS, 1);
        let sge = w.b.sge(0, 10);
        let three = w.b.nic.srq_receive(s.srq, 1, &[sge; 3]);
        assert_eq!(three, Err(S::DATA_OVERRUN.into()));
        let mut long = sge;
        long.length = 0x8000_0000;
        let above = w.b.nic.srq_receive(s.srq, 1, &[long, sge]);
        assert_eq!(above, Err(S::BUFFER_OVERFLOW.into()));
        let own = w.b.nic.receive(s.b[0], 1, &[]);
        assert_eq!(own, Err(S::INVALID_DEVICE_REQUEST.into()));
    });
}

/// A queue pair that is flushed or closed gives back only the receive that it has taken; the others serve the rest. Its
/// close waits until it has none; that of the queue until no queue pair takes from it; that of the domain
/// for the queue (NDK-OBJ-4, -5).
#[test]
fn ndk_obj_4_close() {
    for under_way in [false, true] {
        each(&PLAIN, |w| {
            let s = shared(w, &PARAMETERS, 2);
            let places = [0, 4000, 8000].map(|at| w.b.sge(at, 4000));
            for (context, place) in (1..).zip(&places) {
                w.b.nic.srq_receive(s.srq, context, &[*place]).unwrap();
            }
            s.post(w, []);
            if under_way {
                // Two of the message's three packets.
                let sgl = [w.a.sge(0, 3000)];
                w.a.nic.send(s.a[0], 1, &sgl, NONE).unwrap();
                while w.a.nic.hal_mut().advance(16).unwrap() {}
                let frames = w.a.nic.hal_mut().take_frames().unwrap();
                for frame in &frames[..2] {
                    w.b.nic.hal_mut().send_frame(frame).unwrap();
                }
                while w.b.nic.hal_mut().advance(16).unwrap() {}
            }
            let closed = w.b.nic.close_qp(s.b[0]);
            assert_eq!(closed, Ok(S::PENDING));
            while w.b.nic.hal_mut().advance(16).unwrap() {}
            let closed = Notification::Closed(Object::Qp(s.b[0]));
            assert_eq!(w.b.nic.poll_events(), Ok(vec![closed]));
            let flushed = s.results(w);
            if under_way {
                assert_eq!(flushed, [(1, context(0), S::CANCELLED)]);
            } else {
                assert_eq!(flushed, []);
            }
            assert_eq!(w.b.nic.close_srq(s.srq), Ok(S::PENDING));
            s.send(w, 1, 1);
            let next = 1 + u64::from(under_way);
            assert_eq!(s.results(w), [(next, context(1), S::SUCCESS)]);
            assert_eq!(w.b.nic.close_qp(s.b[1]), Ok(S::PENDING));
            w.run();
            let closed = [Object::Qp(s.b[1]), Object::Srq(s.srq)].map(Notification::Closed);
            let mut told = w.b.nic.poll_events().unwrap();
            told.sort_by_key(|told| *told == closed[0]);
            assert_eq!(told, [closed[1], closed[0]]);
            assert!(w.b.nic.srq_receive(s.srq, 1, &[]).is_err());
        });
    }
}
