//! What the ports of an engine did around a clock, as a diagram.
//!
//! A [`Timing`] is recorded when a run that failed on the engine is done once more; [`Timing::text`] draws it for a
//! terminal, [`Timing::svg`] for a browser.

#[cfg(feature = "rtl")]
mod record;
mod svg;
mod text;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Clocks of nodes in which their ports are recorded.
pub type Windows = BTreeMap<String, Range<u64>>;

/// Diagrams of nodes.
pub type Timings = BTreeMap<String, Timing>;

/// Clocks before the one to look at that are shown, and after it.
const AROUND: [u64; 2] = [31, 96];

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// The first clock.
    pub first: u64,
    /// The clock in which it went wrong.
    pub marked: u64,
    /// The signals.
    pub signals: Vec<Signal>,
    /// What the engine decided, in order.
    pub decisions: Vec<Decision>,
}

/// A signal of one bit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// What its port is for.
    pub group: String,
    /// Its name.
    pub name: String,
    /// `0` or `1` for each clock.
    pub levels: String,
}

/// A commit record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Its clock.
    pub clock: u64,
    /// What it says.
    pub action: String,
}

/// The clocks to record for a look at one.
pub fn window(marked: u64) -> Range<u64> {
    let [before, after] = AROUND;
    marked.saturating_sub(before)..marked + after + 1
}

impl Signal {
    /// Its levels, clock by clock.
    pub fn highs(&self) -> impl Iterator<Item = bool> {
        self.levels.chars().map(|level| level == '1')
    }
}

impl Timing {
    /// Number of clocks.
    pub fn clocks(&self) -> usize {
        let levels = self.signals.iter().map(|signal| signal.levels.len());
        levels.max().unwrap_or(0)
    }

    /// Place of a clock, if it is in the diagram.
    fn place(&self, clock: u64) -> Option<usize> {
        let place = usize::try_from(clock.checked_sub(self.first)?).ok()?;
        (place < self.clocks()).then_some(place)
    }

    /// The clock at a place.
    fn clock(&self, place: usize) -> u64 {
        self.first + place as u64
    }

    /// A sentence about it.
    fn title(&self, node: &str) -> String {
        let last = self.clock(self.clocks().saturating_sub(1));
        format!(
            "node {node}, clocks {} to {last}; look at {}",
            self.first, self.marked
        )
    }

    /// Groups with their signals, those in which nothing happens apart, by their names.
    fn groups(&self) -> (Vec<(&str, Vec<&Signal>)>, Vec<&str>) {
        let mut groups: Vec<(&str, Vec<&Signal>)> = Vec::new();
        for signal in &self.signals {
            match groups.last_mut() {
                Some((name, signals)) if *name == signal.group => signals.push(signal),
                _ => groups.push((&signal.group, vec![signal])),
            }
        }
        // Ready alone says nothing.
        let happens = |signals: &[&Signal]| {
            let mut telling = signals.iter().filter(|one| !one.name.ends_with("ready"));
            telling.any(|one| one.levels.contains('1'))
        };
        let (shown, quiet): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|(_, signals)| happens(signals));
        (shown, quiet.into_iter().map(|(name, _)| name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight clocks from 96 on, marked at 100; a frame of two beats, of which one waits.
    pub(super) fn example() -> Timing {
        let signal = |group: &str, name: &str, levels: &str| Signal {
            group: group.into(),
            name: name.into(),
            levels: levels.into(),
        };
        Timing {
            first: 96,
            marked: 100,
            signals: vec![
                signal("decisions", "commit_valid", "01001000"),
                signal("frames sent", "m_axis_tvalid", "00111000"),
                signal("frames sent", "m_axis_tready", "11011111"),
                signal("memory read", "m_axi_arvalid", "00000000"),
                signal("memory read", "m_axi_arready", "11111111"),
            ],
            decisions: vec![
                Decision {
                    clock: 97,
                    action: "SqDoorbell: queue pair 2, producer index 1".into(),
                },
                Decision {
                    clock: 100,
                    action: "SqEmit: queue pair 2, request 0, psn 0x000000".into(),
                },
            ],
        }
    }

    #[test]
    fn a_port_with_nothing_but_ready_is_quiet() {
        let timing = example();
        let (shown, quiet) = timing.groups();
        assert_eq!(shown.len(), 2);
        assert_eq!(quiet, ["memory read"]);
    }

    #[test]
    fn a_window_holds_its_clock_and_begins_no_earlier_than_time() {
        assert_eq!(window(1000), 969..1097);
        assert_eq!(window(3), 0..100);
        assert_eq!(example().place(104), None);
        assert_eq!(example().place(95), None);
        assert_eq!(example().place(103), Some(7));
    }
}
