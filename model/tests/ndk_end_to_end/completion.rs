//! Completion queues: another depth in the midst of traffic, and moderation.

use tandem_model::abi::CommitKind;
use tandem_model::hal::{Hal, Target};
use tandem_model::ndk::{ArmType, NtStatus};

use crate::world::{PLAIN, World};
use crate::{NONE, each};

use NtStatus as S;

/// Clocks of so many microseconds at 62.5 MHz.
fn clocks(micros: u32) -> u64 {
    u64::from(micros) * 625 / 10
}

/// Sends of node a with these contexts; receives for them are posted with the same.
fn sends(w: &mut World, contexts: std::ops::Range<u64>) {
    for context in contexts {
        w.b.nic.receive(w.b.qp, context, &[]).unwrap();
        w.a.nic.send(w.a.qp, context, &[], NONE).unwrap();
    }
}

fn contexts(w: &mut World) -> Vec<u64> {
    w.b.results().iter().map(|(context, ..)| *context).collect()
}

/// NDK-RSZ-2: results waiting, under way and to come all arrive, in order, once.
// Covers: NDK-RSZ-2
#[test]
fn ndk_rsz_2_no_entry_is_lost() {
    each(&PLAIN, |w| {
        sends(w, 0..10);
        w.run();
        sends(w, 10..20);
        for depth in [16_384, 30, 1000] {
            w.b.nic.resize_cq(w.b.cq, depth).unwrap();
            assert_eq!(w.b.nic.cq_depth(w.b.cq), Ok(depth));
        }
        sends(w, 20..30);
        w.run();
        w.b.nic.resize_cq(w.b.cq, 30).unwrap();
        let expected: Vec<u64> = (0..30).collect();
        assert_eq!(contexts(w), expected);
        for round in 0..40 {
            sends(w, 0..10);
            w.run();
            assert_eq!(contexts(w).len(), 10, "{round}");
        }
    });
}

/// Reading O17.
// Covers: NDK-RSZ-1
#[test]
fn o17_shallower_than_what_waits() {
    each(&PLAIN, |w| {
        let most = w.b.nic.query_adapter_info().max_cq_depth;
        for depth in [0, most + 1] {
            let outcome = w.b.nic.resize_cq(w.b.cq, depth);
            assert_eq!(outcome, Err(S::INVALID_PARAMETER.into()));
        }
        sends(w, 0..10);
        w.run();
        let outcome = w.b.nic.resize_cq(w.b.cq, 9);
        assert_eq!(outcome, Err(S::BUFFER_OVERFLOW.into()));
        assert_eq!(w.b.nic.cq_depth(w.b.cq), Ok(256));
        assert_eq!(w.b.nic.resize_cq(w.b.cq, 10), Ok(()));
        assert_eq!(contexts(w).len(), 10);
    });
}

/// NDK-CMPL-9, NDK-ARM-4: an arm stays, and results from the ring before satisfy a new one.
#[test]
fn arms_outlive_a_new_ring() {
    each(&PLAIN, |w| {
        w.b.nic.arm_cq(w.b.cq, ArmType::Any).unwrap();
        w.b.nic.resize_cq(w.b.cq, 100).unwrap();
        w.run();
        assert_eq!(w.b.nic.poll_events().unwrap(), []);
        sends(w, 0..1);
        w.run();
        let fired = [w.b.fired(S::SUCCESS)];
        assert_eq!(w.b.nic.poll_events().unwrap(), fired);
        sends(w, 1..2);
        w.run();
        w.b.nic.resize_cq(w.b.cq, 200).unwrap();
        w.b.nic.arm_cq(w.b.cq, ArmType::Any).unwrap();
        w.run();
        assert_eq!(w.b.nic.poll_events().unwrap(), fired);
        assert_eq!(contexts(w), [0, 1]);
        sends(w, 2..3);
        w.run();
        assert_eq!(w.b.nic.poll_events().unwrap(), []);
    });
}

/// NDK-MOD-1 to -6, reading O16: what the three settings that moderate do, and those that do not.
// Covers: NDK-MOD-4, NDK-MOD-8
#[test]
fn ndk_mod_4_count_alone() {
    each(&PLAIN, |w| {
        let cq = w.b.cq;
        w.b.nic
            .control_cq_interrupt_moderation(cq, u32::MAX, 3)
            .unwrap();
        w.b.nic.arm_cq(cq, ArmType::Any).unwrap();
        sends(w, 0..2);
        w.run();
        assert_eq!(w.b.nic.poll_events().unwrap(), []);
        sends(w, 2..3);
        w.run();
        assert_eq!(w.b.nic.poll_events().unwrap(), [w.b.fired(S::SUCCESS)]);
    });
}

/// Node b's queue is put off by so many microseconds, and armed; clocks from its next entry until it is told of.
fn told_after(w: &mut World, interval: u32, count: u32, meanwhile: impl Fn(&mut World)) -> u64 {
    let cq = w.b.cq;
    let moderated = w.b.nic.control_cq_interrupt_moderation(cq, interval, count);
    moderated.unwrap();
    w.b.nic.arm_cq(cq, ArmType::Any).unwrap();
    sends(w, 0..1);
    let mut placed = None;
    for _ in 0..1_000_000 {
        w.tick();
        let target = w.b.nic.hal_mut();
        let last = target.last_action().map(|action| action.kind);
        if placed.is_none() && last == Some(CommitKind::Complete) {
            placed = Some(target.now());
            meanwhile(w);
        }
        let target = w.b.nic.hal_mut();
        if target.interrupt().unwrap() {
            let told = target.now();
            assert_eq!(w.b.nic.poll_events().unwrap(), [w.b.fired(S::SUCCESS)]);
            assert_eq!(contexts(w), [0]);
            return told - placed.expect("told of nothing");
        }
    }
    panic!("never told");
}

/// The engine may be late, which the consumer must not notice; what cannot be told in time is not put off.
// Covers: NDK-MOD-5, NDK-MOD-7
#[test]
fn ndk_mod_7_interval_alone() {
    each(&PLAIN, |w| {
        let mut longest = 0;
        for interval in [1, 8, 9, 10, 50, 400] {
            for count in [257, u32::MAX] {
                let (told, most) = (told_after(w, interval, count, |_| {}), clocks(interval));
                assert!(told <= most, "{interval} µs: {told} of {most} clocks");
                longest = longest.max(told);
            }
        }
        assert!(longest > clocks(9), "nothing is put off: {longest}");
    });
}

/// Another ring is no new setting: what is put off is told of when it would have been.
// Covers: NDK-MOD-7
#[test]
fn ndk_mod_7_another_ring_meanwhile() {
    each(&PLAIN, |w| {
        for depth in [100, 4000] {
            let told = told_after(w, 100, u32::MAX, |w| {
                for _ in 0..clocks(80) {
                    if w.b.nic.hal_mut().interrupt().unwrap() {
                        return;
                    }
                    w.tick();
                }
                w.b.nic.resize_cq(w.b.cq, depth).unwrap();
            });
            assert!(told <= clocks(100), "{told}");
        }
    });
}

// Covers: NDK-MOD-2, NDK-MOD-3, NDK-MOD-6, NDK-MOD-10
#[test]
fn ndk_mod_2_no_moderation() {
    each(&PLAIN, |w| {
        let cq = w.b.cq;
        let mix = Err(S::INVALID_PARAMETER_MIX.into());
        for count in [257, u32::MAX] {
            let outcome = w.b.nic.control_cq_interrupt_moderation(cq, u32::MAX, count);
            assert_eq!(outcome, mix);
        }
        for (interval, count) in [(0, 5), (0, u32::MAX), (u32::MAX, 0), (u32::MAX, 1), (9, 1)] {
            // The newest call counts.
            w.b.nic
                .control_cq_interrupt_moderation(cq, u32::MAX, 256)
                .unwrap();
            w.b.nic
                .control_cq_interrupt_moderation(cq, interval, count)
                .unwrap();
            w.b.nic.arm_cq(cq, ArmType::Any).unwrap();
            sends(w, 0..1);
            w.run();
            assert_eq!(w.b.nic.poll_events().unwrap(), [w.b.fired(S::SUCCESS)]);
            w.b.results();
        }
    });
}
