//! Counts of the cover points.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::points::{POINTS, Point};
use super::seen::Seen;

/// Counts by point, then by the names of its bins, joined by [`CROSS`].
pub type Hits = BTreeMap<String, BTreeMap<String, u64>>;

/// Between the bins of a cross.
const CROSS: &str = " × ";

/// A bin of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The names of its bins, axis by axis.
    pub names: Vec<String>,
    /// How often it was seen.
    pub count: u64,
    /// Why it cannot be seen, if it cannot.
    pub never: Option<&'static str>,
}

impl Bin {
    /// Its name.
    pub fn name(&self) -> String {
        self.names.join(CROSS)
    }
}

/// The bins of all points, with count 0.
static LAYOUT: LazyLock<Vec<Vec<Bin>>> = LazyLock::new(|| POINTS.iter().map(bins).collect());

/// The bins of a point in the order in which they are counted: the last axis goes fastest.
fn bins(point: &Point) -> Vec<Bin> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for axis in point.axes {
        let names = (axis.bins)();
        all = all
            .iter()
            .flat_map(|head| names.iter().map(move |name| with(head, name)))
            .collect();
    }
    let bin = |names: Vec<String>| {
        let words: Vec<&str> = names.iter().map(String::as_str).collect();
        let never = point.never.iter().find(|never| (never.is)(&words));
        let never = never.map(|never| never.why);
        Bin {
            names,
            count: 0,
            never,
        }
    };
    all.into_iter().map(bin).collect()
}

fn with(head: &[String], name: &str) -> Vec<String> {
    head.iter().cloned().chain([name.to_owned()]).collect()
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Tally {
    counts: Vec<Vec<u64>>,
    sizes: Vec<Vec<usize>>,
}

impl Default for Tally {
    fn default() -> Self {
        let sizes = POINTS.iter().map(|point| {
            let axes = point.axes.iter().map(|axis| (axis.bins)().len());
            axes.collect()
        });
        Self {
            counts: LAYOUT.iter().map(|bins| vec![0; bins.len()]).collect(),
            sizes: sizes.collect(),
        }
    }
}

impl Tally {
    /// Counts an event at every point that it concerns.
    pub fn see(&mut self, seen: &Seen) {
        for ((point, counts), sizes) in POINTS.iter().zip(&mut self.counts).zip(&self.sizes) {
            let mut masks = [0u64; 4];
            for (mask, axis) in masks.iter_mut().zip(point.axes) {
                *mask = (axis.of)(seen);
                if *mask == 0 {
                    break;
                }
            }
            let masks = masks.get(..point.axes.len()).unwrap_or_default();
            if masks.iter().all(|mask| *mask != 0) {
                count(counts, masks, sizes, 0);
            }
        }
    }

    /// The bins of all points, point by point.
    pub fn bins(&self) -> Vec<(&'static Point, Vec<Bin>)> {
        let points = POINTS.iter().zip(LAYOUT.iter()).zip(&self.counts);
        points
            .map(|((point, bins), counts)| {
                let counted = bins.iter().zip(counts);
                let counted = counted.map(|(bin, count)| Bin {
                    count: *count,
                    ..bin.clone()
                });
                (point, counted.collect())
            })
            .collect()
    }

    /// What was seen, by name.
    pub fn hits(&self) -> Hits {
        let points = self.bins().into_iter();
        let seen = points.map(|(point, bins)| {
            let bins = bins.into_iter().filter(|bin| bin.count > 0);
            let bins = bins.map(|bin| (bin.name(), bin.count)).collect();
            (point.name.to_owned(), bins)
        });
        seen.collect()
    }

    /// Adds the counts of another one.
    pub fn add_all(&mut self, other: &Self) {
        let counts = self.counts.iter_mut().flatten();
        for (slot, count) in counts.zip(other.counts.iter().flatten()) {
            *slot = slot.saturating_add(*count);
        }
    }

    /// Adds what another run has seen.
    ///
    /// # Errors
    /// A point or bin that does not exist: the run was one of another version.
    pub fn add(&mut self, hits: &Hits) -> Result<(), String> {
        for (name, bins) in hits {
            let place = POINTS.iter().position(|point| point.name == name);
            let found =
                place.and_then(|place| Some((LAYOUT.get(place)?, self.counts.get_mut(place)?)));
            let (layout, counts) =
                found.ok_or_else(|| format!("no cover point is called `{name}`"))?;
            for (bin, count) in bins {
                let place = layout.iter().position(|known| known.name() == *bin);
                let slot = place.and_then(|place| counts.get_mut(place));
                let slot =
                    slot.ok_or_else(|| format!("cover point `{name}` has no bin `{bin}`"))?;
                *slot = slot.saturating_add(*count);
            }
        }
        Ok(())
    }
}

/// Counts every combination of the bits set.
fn count(counts: &mut [u64], masks: &[u64], sizes: &[usize], place: usize) {
    let (Some((mask, masks)), Some((size, sizes))) = (masks.split_first(), sizes.split_first())
    else {
        if let Some(slot) = counts.get_mut(place) {
            *slot += 1;
        }
        return;
    };
    let mut left = *mask;
    while left != 0 {
        let bit = left.trailing_zeros() as usize;
        left &= left - 1;
        if bit < *size {
            count(counts, masks, sizes, place * size + bit);
        }
    }
}
