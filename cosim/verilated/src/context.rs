use cxx::UniquePtr;

use crate::error::Recorded;
use crate::{Error, Result, sys};

/// What variables hold that the design does not initialise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reset {
    /// All bits zero.
    Zeros,
    /// All bits one.
    Ones,
    /// Random bits by the seed.
    #[default]
    Random,
}

/// How a context is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The seed of random initialisation and of `$random`. Any value is fine.
    pub seed: u64,
    /// What variables hold at first.
    pub reset: Reset,
    /// Whether assertions are checked, in a design that was verilated with them.
    pub assertions: bool,
    /// Plus-arguments for `$test$plusargs` and `$value$plusargs`, with their `+`.
    pub plus_args: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            reset: Reset::Random,
            assertions: true,
            plus_args: Vec::new(),
        }
    }
}

impl Settings {
    /// The default settings with another seed.
    pub fn with_seed(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }
}

/// A `VerilatedContext`: simulated time, seed, plus-arguments and coverage data of one model.
///
/// Make it in the thread that runs the model, and give it to [`Model::new`](crate::Model::new).
pub struct Context {
    pub(crate) inner: UniquePtr<sys::Context>,
}

impl Context {
    /// Makes a context. Fails on a plus-argument that Verilator's runtime does not take.
    pub fn new(settings: &Settings) -> Result<Self> {
        let reset = match settings.reset {
            Reset::Zeros => 0,
            Reset::Ones => 1,
            Reset::Random => 2,
        };
        let seed = scramble(settings.seed);
        let inner = sys::new_context(seed, reset, settings.assertions, &settings.plus_args)
            .map_err(|e| Error::PlusArguments {
                arguments: settings.plus_args.clone(),
                message: e.to_string(),
            })?;
        Ok(Self { inner })
    }
}

/// Verilator's seed is an `int` that is not zero (zero means: by the clock).
fn scramble(seed: u64) -> u32 {
    // The finaliser of SplitMix64, so that neighbouring seeds differ in many bits.
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) as u32 & 0x7fff_ffff).max(1)
}

/// All that the context recorded, in the order in which it happened.
pub(crate) fn failures(context: &sys::Context) -> Vec<Error> {
    let one = |i| -> std::result::Result<Error, cxx::Exception> {
        Ok(Error::from(Recorded {
            cause: context.failure_cause(i)?,
            file: context.failure_file(i)?,
            line: context.failure_line(i)?.try_into().unwrap_or(0),
            time: context.failure_time(i)?,
            text: context.failure_text(i)?,
        }))
    };
    (0..context.failure_count())
        .filter_map(|i| one(i).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_stay_positive_and_apart() {
        let seeds: Vec<u32> = (0..1000).map(scramble).collect();
        assert!(seeds.iter().all(|s| (1..=0x7fff_ffff).contains(s)));
        let mut unique = seeds.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), seeds.len());
    }
}
