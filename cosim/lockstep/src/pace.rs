//! The pace of a queue pair, as slow as it must at least be.

/// Intervals without a raise after which the level falls by one; the engine may count one too many.
const PATIENCE: u64 = 15;

/// The least level that an engine can have by the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    level: u8,
    raised: Option<u64>,
    changed: u64,
}

impl Pace {
    /// Greatest level.
    pub(super) const MOST: u8 = 7;

    /// The level now. `interval` is CNP_INTERVAL.
    pub(super) fn level(&mut self, now: u64, interval: u64) -> u8 {
        let span = PATIENCE * interval.max(1);
        let falls = now.saturating_sub(self.changed) / span;
        if self.level > 0 && falls > 0 {
            self.level = self
                .level
                .saturating_sub(falls.min(Self::MOST.into()) as u8);
            self.changed += falls * span;
        }
        self.level
    }

    /// A notification came: one level up, at most once in an interval.
    pub(super) fn raise(&mut self, now: u64, interval: u64) {
        if self.raised.is_some_and(|raised| now < raised + interval) {
            return;
        }
        self.level = (self.level(now, interval) + 1).min(Self::MOST);
        self.raised = Some(now);
        self.changed = now;
    }

    /// Least clocks from a packet of `payload` bytes to the next one, at a level.
    pub(super) fn gap(level: u8, payload: usize) -> u64 {
        let beats = (payload as u64 + 64).div_ceil(8);
        ((1 << level.min(Self::MOST)) - 1) * beats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_rise_once_in_an_interval_and_fall_with_time() {
        let mut pace = Pace::default();
        pace.raise(5, 100);
        pace.raise(104, 100);
        assert_eq!(pace.level(104, 100), 1);
        pace.raise(105, 100);
        assert_eq!(pace.level(105 + 1499, 100), 2);
        assert_eq!(pace.level(105 + 1500, 100), 1);
        assert_eq!(pace.level(u64::MAX, 100), 0);
        assert_eq!(Pace::gap(0, 4096), 0);
        assert_eq!(Pace::gap(2, 1), 3 * 9);
    }
}
