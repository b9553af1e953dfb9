//! The pace of one queue pair: how congestion notifications slow it down.

/// Greatest level.
const MOST: u8 = 7;
/// Intervals without a raise after which the level falls by one.
const PATIENCE: u64 = 16;

/// Level of a queue pair: each halves its share of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    level: u8,
    /// When the level was last raised.
    raised: Option<u64>,
    /// When it last changed.
    changed: u64,
}

impl Pace {
    /// Full pace.
    pub const NEW: Self = Self {
        level: 0,
        raised: None,
        changed: 0,
    };

    /// The level now. `interval` is CNP_INTERVAL.
    pub fn level(&mut self, now: u64, interval: u64) -> u8 {
        let span = PATIENCE * interval.max(1);
        let falls = now.saturating_sub(self.changed) / span;
        if self.level > 0 && falls > 0 {
            self.level = self.level.saturating_sub(falls.min(MOST.into()) as u8);
            self.changed += falls * span;
        }
        self.level
    }

    /// A notification came: one level up, at most once in an interval.
    pub fn raise(&mut self, now: u64, interval: u64) {
        if self.raised.is_some_and(|raised| now < raised + interval) {
            return;
        }
        self.level = (self.level(now, interval) + 1).min(MOST);
        self.raised = Some(now);
        self.changed = now;
    }

    /// Least clocks from a packet of `payload` bytes to the next one of the queue pair, at a level.
    pub fn gap(level: u8, payload: usize) -> u64 {
        let beats = (payload as u64 + 64).div_ceil(8);
        ((1 << level.min(MOST)) - 1) * beats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_rise_once_in_an_interval_and_fall_after_sixteen() {
        let mut pace = Pace::NEW;
        pace.raise(5, 100);
        pace.raise(104, 100);
        assert_eq!(pace.level(104, 100), 1);
        pace.raise(105, 100);
        assert_eq!(pace.level(105, 100), 2);
        assert_eq!(pace.level(105 + 1599, 100), 2);
        assert_eq!(pace.level(105 + 1600, 100), 1);
        assert_eq!(pace.level(105 + 3199, 100), 1);
        assert_eq!(pace.level(105 + 3200, 100), 0);
        for raise in 0..9 {
            pace.raise(10_000 + 100 * raise, 100);
        }
        assert_eq!(pace.level(10_900, 100), 7);
        assert_eq!(pace.level(u64::MAX, 100), 0);
    }

    #[test]
    fn a_level_halves_the_share() {
        assert_eq!(Pace::gap(0, 4096), 0);
        assert_eq!(Pace::gap(1, 0), 8);
        assert_eq!(Pace::gap(2, 1), 3 * 9);
        assert_eq!(Pace::gap(7, 1024), 127 * 136);
    }
}
