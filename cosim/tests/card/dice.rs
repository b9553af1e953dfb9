//! What is left to chance, by a seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// See the module.
pub struct Dice(ChaCha8Rng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u32) -> u32 {
        self.0.random_range(0..end)
    }

    /// True in so many of a hundred.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of them.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// So many bytes.
    pub fn bytes(&mut self, length: u32) -> Vec<u8> {
        (0..length).map(|_| self.0.random()).collect()
    }
}
