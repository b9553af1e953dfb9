//! Time as the engine counts it.

use crate::abi::{GRACE, offsets as reg};
use crate::hal::{Hal, HalError};

/// Greatest CNP_INTERVAL.
const MAX_INTERVAL: u64 = 0xFF_FFFF;

/// Lengths of the engine's units of time, in its clocks; written when the adapter is opened.
///
/// A bench may make them shorter than they are, to see timers end within a reasonable number of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Clocks of 4.096 µs, the unit of acknowledgement timers; at least 1 (WIRE-TMO-1).
    pub time_unit: u16,
    /// Clocks of 10 µs, the unit of waits for a receiver that is not ready; at least 1 (WIRE-RNR-5).
    pub rnr_unit: u16,
    /// Least clocks between two congestion notifications of a queue pair, below 2^24 (WIRE-CNP-1).
    pub cnp_interval: u32,
}

impl Timing {
    /// Real units for an engine that runs at so many clocks a second, rounded up; notifications of
    /// congestion at least 50 µs apart.
    pub const fn of_clock(hertz: u64) -> Self {
        let most = u16::MAX as u64;
        Self {
            time_unit: clocks(hertz, 4096, most) as u16,
            rnr_unit: clocks(hertz, 10_000, most) as u16,
            cnp_interval: clocks(hertz, 50_000, MAX_INTERVAL) as u32,
        }
    }

    /// Writes the units to an engine.
    pub(super) fn apply<H: Hal>(&self, hal: &mut H) -> Result<(), HalError> {
        hal.write_register(reg::TIME_UNIT, self.time_unit.max(1).into())?;
        hal.write_register(reg::RNR_UNIT, self.rnr_unit.max(1).into())?;
        hal.write_register(reg::MODERATION_UNIT, self.moderation_unit().into())?;
        let interval = self.cnp_interval.min(MAX_INTERVAL as u32);
        hal.write_register(reg::CNP_INTERVAL, interval)
    }
}

impl Timing {
    /// Clocks of 1 µs, rounded down: the interval of moderation is a greatest one (NDK-MOD-9).
    fn moderation_unit(&self) -> u16 {
        (self.sure_rnr_unit() / 10).max(1)
    }

    /// Clocks that 10 µs have at least; the unit was rounded up.
    fn sure_rnr_unit(&self) -> u16 {
        self.rnr_unit.saturating_sub(1)
    }

    /// Units that an engine is told to put an event off by, so that it comes within so many microseconds even if the
    /// engine is as late as it may be (NDK-MOD-7); 0 if they are too few for that.
    pub(super) fn moderation_interval(&self, micros: u32) -> u64 {
        let clocks = u64::from(micros) * u64::from(self.sure_rnr_unit()) / 10;
        clocks.saturating_sub(GRACE) / u64::from(self.moderation_unit())
    }
}

impl Default for Timing {
    /// For an engine at 62.5 MHz: what it has after reset.
    fn default() -> Self {
        Self::of_clock(62_500_000)
    }
}

/// Clocks in so many nanoseconds, from 1 to `most`.
const fn clocks(hertz: u64, nanoseconds: u64, most: u64) -> u64 {
    let product = hertz as u128 * nanoseconds as u128;
    let clocks = product.div_ceil(1_000_000_000);
    if clocks == 0 {
        1
    } else if clocks > most as u128 {
        most
    } else {
        clocks as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_what_the_engine_has_after_reset() {
        let expected = Timing {
            time_unit: reg::TIME_UNIT_RESET,
            rnr_unit: reg::RNR_UNIT_RESET,
            cnp_interval: reg::CNP_INTERVAL_RESET,
        };
        assert_eq!(Timing::default(), expected);
    }

    #[test]
    fn a_late_engine_is_told_to_come_early_enough() {
        for hertz in [1_000_000, 62_500_000, 125_000_001, 400_000_000] {
            let timing = Timing::of_clock(hertz);
            for micros in [1, 8, 9, 10, 50, 511, 512, 1000, 65_534, 1 << 20] {
                let interval = timing.moderation_interval(micros);
                let latest = interval * u64::from(timing.moderation_unit()) + GRACE;
                let allowed = u128::from(micros) * u128::from(hertz) / 1_000_000;
                assert!(
                    interval == 0 || u128::from(latest) <= allowed,
                    "{hertz} Hz, {micros} µs: {latest} of {allowed} clocks"
                );
            }
        }
        let usual = Timing::default();
        assert_eq!(
            [8, 10, 50].map(|micros| usual.moderation_interval(micros)),
            [0, 1, 42]
        );
    }

    #[test]
    fn units_are_rounded_up_and_fit_their_registers() {
        let slow = Timing::of_clock(1);
        assert_eq!(
            (slow.time_unit, slow.rnr_unit, slow.cnp_interval),
            (1, 1, 1)
        );
        let odd = Timing::of_clock(125_000_001);
        assert_eq!((odd.time_unit, odd.rnr_unit), (513, 1251));
        let fast = Timing::of_clock(u64::MAX);
        assert_eq!((fast.time_unit, fast.cnp_interval), (u16::MAX, 0xFF_FFFF));
    }
}
