//! Which frames are shown.

use std::str::FromStr;
use std::time::Duration;

use tandem_model::wire::Qpn;
use thiserror::Error;

use super::frame_of;
use crate::blackbox::file::Packet;
use crate::blackbox::{self, Flow, Options};

/// Where a window begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A frame, by its number.
    Frame(usize),
    /// A time since the first frame.
    Time(Duration),
}

/// Text that is no bound.
#[derive(Debug, Error)]
#[error("`{0}` is neither the number of a frame nor a time: 12, 400ns, 1.5us, 2ms, 0.1s")]
pub struct BoundError(String);

impl FromStr for Bound {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        let wrong = || BoundError(text.into());
        if let Ok(number) = text.parse() {
            return Ok(Self::Frame(number));
        }
        let units = [
            ("ns", 1e-9),
            ("us", 1e-6),
            ("µs", 1e-6),
            ("ms", 1e-3),
            ("s", 1.0),
        ];
        let seconds = units.iter().find_map(|(unit, seconds)| {
            let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            Some(number * seconds)
        });
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.map(Self::Time).ok_or_else(wrong)
    }
}

/// See the module; the default shows all.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The first.
    pub from: Option<Bound>,
    /// The last.
    pub to: Option<Bound>,
    /// Only frames of connections that have this queue pair on either side.
    pub qp: Option<u32>,
    /// Of what is left, only so many before the end.
    pub last: Option<usize>,
}

impl Selection {
    /// Whether each frame is shown.
    pub(super) fn picks(&self, packets: &[Packet]) -> Vec<bool> {
        let start = packets.first().map(|packet| packet.time);
        let start = start.unwrap_or_default();
        let flows = self.qp.map(|qp| flows(packets, Qpn::new(qp)));
        let mut picks: Vec<bool> = packets
            .iter()
            .map(|packet| {
                let time = packet.time.saturating_sub(start);
                let begun = self.from.is_none_or(|from| match from {
                    Bound::Frame(number) => packet.number >= number,
                    Bound::Time(from) => time >= from,
                });
                let ended = self.to.is_some_and(|to| match to {
                    Bound::Frame(number) => packet.number > number,
                    Bound::Time(to) => time > to,
                });
                let is_of = |flows: &Vec<Flow>| {
                    let flow = frame_of(packet, Flow::of);
                    flow.is_some_and(|flow| flows.contains(&flow))
                };
                begun && !ended && flows.as_ref().is_none_or(is_of)
            })
            .collect();
        if let Some(last) = self.last {
            let count = picks.iter().filter(|picked| **picked).count();
            let picked = picks.iter_mut().filter(|picked| **picked);
            picked
                .take(count.saturating_sub(last))
                .for_each(|picked| *picked = false);
        }
        picks
    }
}

/// The flows to a queue pair, and those of its connections the other way.
fn flows(packets: &[Packet], wanted: Qpn) -> Vec<Flow> {
    let mut flows: Vec<Flow> = packets
        .iter()
        .filter_map(|packet| frame_of(packet, Flow::of))
        .filter(|flow| flow.qpn == wanted)
        .collect();
    let report = blackbox::check(packets, &Options::default());
    for connection in &report.connections {
        let [a, b] = &connection.sides;
        if ![a.qpn, b.qpn].contains(&Some(wanted)) {
            continue;
        }
        for (from, to) in [(a, b), (b, a)] {
            flows.extend(to.qpn.map(|qpn| Flow {
                src: from.address,
                dst: to.address,
                qpn,
            }));
        }
    }
    flows.sort();
    flows.dedup();
    flows
}
