//! A part of a suite.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The i-th of n parts, which are as large as each other but for one run: those runs whose number leaves i when it is divided
/// by n. Runs of one vector stand one after another, so that a long one is spread over the shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    of: u32,
    index: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { of: 1, index: 1 };

    /// All of so many.
    pub fn all(of: u32) -> impl Iterator<Item = Self> {
        (1..=of).map(move |index| Self { of, index })
    }

    /// Which it is, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether it has the run with a number.
    pub fn has(self, run: usize) -> bool {
        run % self.of as usize == self.index as usize - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { of, index }),
            _ => Err(format!(
                "`{text}` is not a shard: `1/4` to `4/4` are those of four"
            )),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_one_shard_and_shards_are_even() {
        for of in [1, 2, 3, 7, 40] {
            let sizes: Vec<usize> = Shard::all(of)
                .map(|shard| (0..100).filter(|run| shard.has(*run)).count())
                .collect();
            assert_eq!(sizes.iter().sum::<usize>(), 100);
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - least <= 1, "{sizes:?}");
            for run in 0..100 {
                assert_eq!(Shard::all(of).filter(|shard| shard.has(run)).count(), 1);
            }
        }
    }

    #[test]
    fn shards_are_written_and_read() {
        let shard: Shard = "2/4".parse().unwrap();
        assert_eq!((shard.index(), shard.of()), (2, 4));
        assert_eq!(shard.to_string(), "2/4");
        for wrong in ["0/4", "5/4", "1", "a/b", "1/0", "-1/4", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
