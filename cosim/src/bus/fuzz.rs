//! Seeded disturbance: latency, back-pressure and gaps.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How often something happens, in 1/256 per clock.
pub type Chance = u8;

/// What the bus models do to the engine. All zeros is the undisturbed bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Clocks from a read address to its first beat, least and most.
    pub read_latency: (u32, u32),
    /// Clocks from the last write beat to its response, least and most.
    pub write_latency: (u32, u32),
    /// Chance that a ready of the bench is low in a clock.
    pub back_pressure: Chance,
    /// Chance that the bench pauses a beat that it could send.
    pub gaps: Chance,
}

impl Traffic {
    /// Memory that answers at once, always ready, no gaps.
    pub const IDEAL: Self = Self {
        read_latency: (1, 1),
        write_latency: (1, 1),
        back_pressure: 0,
        gaps: 0,
    };

    /// A disturbed bench: latencies up to 60 clocks, a quarter of all beats held up.
    pub const RANDOM: Self = Self {
        read_latency: (2, 60),
        write_latency: (2, 60),
        back_pressure: 64,
        gaps: 64,
    };
}

/// The random source of one bus model.
#[derive(Debug)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// A source of its own for each `stream` of the same seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self(rng)
    }

    /// True with the chance given.
    pub fn hit(&mut self, chance: Chance) -> bool {
        chance != 0 && self.0.random::<u8>() < chance
    }

    /// A number between both ends.
    pub fn between(&mut self, (least, most): (u32, u32)) -> u64 {
        u64::from(if least >= most {
            least
        } else {
            self.0.random_range(least..=most)
        })
    }

    /// An index below `n`; 0 for an empty range.
    pub fn below(&mut self, n: usize) -> usize {
        if n < 2 { 0 } else { self.0.random_range(0..n) }
    }
}
