//! What can be done to a frame.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Alteration;

/// What is done to a frame.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Nothing.
    Pass,
    /// It is lost.
    Drop,
    /// So many copies follow it.
    Duplicate(u32),
    /// It comes after later ones.
    Reorder(Reorder),
    /// It waits for a `release` step.
    Hold,
    /// One bit is turned over.
    Corrupt(Corruption),
    /// Fields get other values, and the frame is made whole again.
    Alter(Alteration),
    /// It comes later.
    Delay(Delay),
}

/// Behind how many later frames of its direction a frame comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number of frames, or { up_to = 3 }")]
pub enum Reorder {
    /// So many.
    By(u32),
    /// A random number of them, from 1.
    #[serde(rename_all = "snake_case")]
    UpTo {
        /// The greatest.
        up_to: u32,
    },
}

/// Which bit is turned over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected \"random\", or { byte = 60, bit = 3 }")]
pub enum Corruption {
    /// Any one.
    Any(Anywhere),
    /// This one.
    At {
        /// Byte of the frame; negative numbers count from its end.
        byte: i32,
        /// Bit of the byte (default 0).
        #[serde(default)]
        bit: u8,
    },
}

/// The word for any bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Anywhere {
    /// A random one of the frame.
    Random,
}

/// How much later a frame comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// Clocks.
    pub clocks: u64,
    /// A random number of clocks more, up to this (default 0).
    #[serde(default)]
    pub jitter: u64,
    /// Whether later frames may overtake it; without, they wait behind it (default false).
    #[serde(default)]
    pub overtake: bool,
}

impl Reorder {
    /// The number of frames that go before.
    pub fn frames(self, rng: &mut ChaCha8Rng) -> u32 {
        match self {
            Self::By(frames) => frames,
            Self::UpTo { up_to } => 1 + below(rng, up_to.into()) as u32,
        }
    }
}

impl Corruption {
    /// Any bit.
    pub const RANDOM: Self = Self::Any(Anywhere::Random);

    /// Turns the bit over; where it is, in words. A place outside the frame is none.
    pub fn apply(self, rng: &mut ChaCha8Rng, frame: &mut [u8]) -> Option<String> {
        let length = frame.len();
        let (byte, bit) = match self {
            Self::Any(Anywhere::Random) => {
                let place = below(rng, 8 * length as u64);
                ((place / 8) as usize, (place % 8) as u8)
            }
            Self::At { byte, bit } if byte < 0 => {
                (length.checked_sub(byte.unsigned_abs() as usize)?, bit)
            }
            Self::At { byte, bit } => (byte as usize, bit),
        };
        *frame.get_mut(byte)? ^= 1 << (bit & 7);
        Some(format!("bit {bit} of byte {byte} turned over"))
    }
}

impl Delay {
    /// Clocks that a frame waits.
    pub fn clocks(self, rng: &mut ChaCha8Rng) -> u64 {
        self.clocks
            .saturating_add(below(rng, self.jitter.saturating_add(1)))
    }
}

/// A number below `end`; 0 if there is none. Takes one number of the source whatever `end` is.
pub fn below(rng: &mut ChaCha8Rng, end: u64) -> u64 {
    let any = u128::from(rng.next_u64());
    // The upper half of the product: as even as 64 bits allow.
    ((any * u128::from(end)) >> 64) as u64
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("passes"),
            Self::Drop => f.write_str("is lost"),
            Self::Duplicate(1) => f.write_str("comes twice"),
            Self::Duplicate(copies) => write!(f, "comes {} times", copies.saturating_add(1)),
            Self::Reorder(Reorder::By(1)) => f.write_str("comes after the next one"),
            Self::Reorder(Reorder::By(frames)) => write!(f, "comes after the next {frames}"),
            Self::Reorder(Reorder::UpTo { up_to }) => {
                write!(f, "comes after one to {up_to} later ones")
            }
            Self::Hold => f.write_str("is held"),
            Self::Corrupt(Corruption::Any(Anywhere::Random)) => {
                f.write_str("gets a random bit turned over")
            }
            Self::Corrupt(Corruption::At { byte, bit }) => {
                write!(f, "gets bit {bit} of byte {byte} turned over")
            }
            Self::Alter(alteration) => write!(f, "gets {alteration}"),
            Self::Delay(delay) => {
                write!(f, "comes {} clocks later", delay.clocks)?;
                if delay.jitter > 0 {
                    write!(f, ", and up to {} more", delay.jitter)?;
                }
                match delay.overtake {
                    true => f.write_str(", behind those that overtake it"),
                    false => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn rng() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(1)
    }

    #[test]
    fn one_bit_is_turned_over_where_it_was_asked_for() {
        let mut frame = [0; 10];
        let at = |byte, bit| Corruption::At { byte, bit };
        assert!(at(3, 7).apply(&mut rng(), &mut frame).is_some());
        assert_eq!(frame[3], 0x80);
        assert!(at(-1, 0).apply(&mut rng(), &mut frame).is_some());
        assert_eq!(frame[9], 1);
        for byte in [10, -11] {
            assert_eq!(at(byte, 0).apply(&mut rng(), &mut frame), None);
        }
    }

    #[test]
    fn every_bit_of_a_frame_can_be_hit() {
        let (mut rng, mut seen) = (rng(), [0u8; 3]);
        for _ in 0..1000 {
            let mut frame = [0; 3];
            Corruption::RANDOM.apply(&mut rng, &mut frame);
            assert_eq!(frame.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
            for (seen, byte) in seen.iter_mut().zip(frame) {
                *seen |= byte;
            }
        }
        assert_eq!(seen, [0xFF; 3]);
    }

    #[test]
    fn random_distances_and_delays_keep_their_bounds() {
        let mut rng = rng();
        let mut frames: Vec<u32> = (0..200)
            .map(|_| Reorder::UpTo { up_to: 3 }.frames(&mut rng))
            .collect();
        frames.sort_unstable();
        frames.dedup();
        assert_eq!(frames, [1, 2, 3]);
        let delay = Delay {
            clocks: 10,
            jitter: 2,
            overtake: false,
        };
        let mut clocks: Vec<u64> = (0..200).map(|_| delay.clocks(&mut rng)).collect();
        clocks.sort_unstable();
        clocks.dedup();
        assert_eq!(clocks, [10, 11, 12]);
    }
}
