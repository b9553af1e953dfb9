//! A network that loses, repeats and reorders.

use tandem_model::ndk::{AcceptParameters, NtStatus};
use tandem_model::target::Scheduler;

use crate::world::{Pair, World, quick};

/// Numbers without much of a pattern (xorshift).
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 16
    }
}

/// One frame in five is lost, one in six comes twice, and all are late by up to 60 µs.
fn bad(seed: u64) -> crate::world::Fate {
    let mut next = numbers(seed);
    Box::new(move |_| {
        if next().is_multiple_of(5) {
            return vec![];
        }
        let copies = 1 + usize::from(next().is_multiple_of(6));
        (0..copies).map(|_| next() % 3750).collect()
    })
}

/// NDK-CONN-1, NDK-DISC-2, WIRE-CM-14: a connection is made, used, and ended by both.
// Covers: NDK-CONN-1, NDK-DISC-2, WIRE-CM-14
#[test]
fn a_connection_comes_through() {
    for seed in 1..=20 {
        let ips = match seed % 2 {
            0 => ["192.0.2.1", "192.0.2.2"],
            _ => ["fd77::1", "fd77::2"],
        };
        let mut world = World::with(Scheduler::Random(seed), ips, quick());
        world.listener();
        world.fate = bad(seed);
        let (a, qp_a) = world.ask(1);
        let mut incoming = None;
        world.run_until(|world| {
            incoming = world.b.incoming();
            incoming.is_some()
        });
        let b = incoming.unwrap_or_else(|| panic!("seed {seed}: {:?}", world.a.told));
        let qp_b = world.b.qp();
        let parameters = AcceptParameters {
            disconnect_event_context: Some(0xB),
            ..AcceptParameters::default()
        };
        world.b.nic.accept(b, qp_b, &parameters, 2).unwrap();
        assert!(world.run_until(|world| world.a.completed(1) == Some(NtStatus::SUCCESS)));
        world.a.nic.complete_connect(a, Some(0xA)).unwrap();
        assert!(world.run_until(|world| world.b.completed(2) == Some(NtStatus::SUCCESS)));
        assert_eq!(world.b.incoming(), None, "a second request, seed {seed}");

        world.exchange(Pair { a, b, qp_a, qp_b }, 3);

        world.a.nic.disconnect(a, 3).unwrap();
        assert!(
            world.run_until(|world| !world.b.told.is_empty()),
            "seed {seed}"
        );
        world.b.nic.disconnect(b, 4).unwrap();
        world.run();
        assert_eq!(world.a.completed(3), Some(NtStatus::SUCCESS), "seed {seed}");
        assert_eq!(world.b.completed(4), Some(NtStatus::SUCCESS), "seed {seed}");
        assert_eq!(
            (world.a.told.len(), world.b.told.len()),
            (0, 1),
            "seed {seed}"
        );
    }
}
