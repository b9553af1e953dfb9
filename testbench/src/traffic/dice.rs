//! The random source, and the distributions of traffic.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A mebibyte.
pub(super) const MEGABYTE: u32 = 1 << 20;

/// See the module.
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `end`; 0 if there is none.
    pub(super) fn below(&mut self, end: u32) -> u32 {
        match end {
            0 => 0,
            end => self.0.random_range(0..end),
        }
    }

    /// True in so many of a hundred.
    pub(super) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// Any number.
    pub(super) fn any(&mut self) -> u32 {
        self.0.random()
    }

    /// Length of a message: mostly short, around powers of two more often than chance would have it.
    pub(super) fn length(&mut self, max: u32, megabyte_every: u32) -> u32 {
        if megabyte_every > 0 && self.below(megabyte_every) == 0 {
            return MEGABYTE;
        }
        let limit = match self.below(100) {
            0..5 => 0,
            5..60 => 256,
            60..85 => 2048,
            85..97 => 8192,
            _ => max,
        };
        let length = self.below(limit.min(max) + 1);
        if self.percent(20) {
            let near = length.next_power_of_two() + self.below(3);
            return near.saturating_sub(1).min(max);
        }
        length
    }

    /// Cuts a length into at most `most` pieces, any of which may be empty.
    pub(super) fn cut(&mut self, length: u32, most: u32) -> Vec<u32> {
        let pieces = match self.percent(50) {
            true => 1,
            false => 1 + self.below(most.max(1)),
        };
        let mut cuts: Vec<u32> = (1..pieces).map(|_| self.below(length + 1)).collect();
        cuts.sort_unstable();
        cuts.push(length);
        let mut from = 0;
        let lengths = cuts.into_iter().map(|to| {
            let piece = to - from;
            from = to;
            piece
        });
        lengths.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_sum_up() {
        let mut dice = Dice::new(1);
        for _ in 0..1000 {
            let length = dice.length(65536, 100);
            let pieces = dice.cut(length, 14);
            assert!(pieces.len() <= 14);
            assert_eq!(pieces.iter().sum::<u32>(), length);
        }
    }
}
