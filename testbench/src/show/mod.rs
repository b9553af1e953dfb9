//! A capture as a sequence chart: a column for each node, an arrow for each frame.
//!
//! [`Chart::of`] takes the frames of a capture, [`Chart::text`] draws it for a terminal, [`Chart::svg`] for a browser.

mod label;
mod nodes;
mod select;
mod svg;
mod text;

use std::collections::HashMap;
use std::time::Duration;

use serde::{Serialize, Serializer};
use tandem_model::wire::{Frame, Opcode, Psn, dissect};

use crate::blackbox::file::Packet;
use crate::blackbox::{Flow, Seen};
pub use label::{Tone, label};
pub use select::{Bound, BoundError, Selection};

/// What becomes of a frame, as far as the capture says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Nothing is known against its arrival.
    Through,
    /// The network lost it.
    Lost,
    /// It comes out of the network otherwise than it was sent, or was never sent.
    Arrival,
}

/// An arrow.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Number of the frame in the capture, from 1.
    pub number: usize,
    /// Time since the first frame of the capture, in JSON in seconds.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
    /// Column of who sent it.
    pub from: usize,
    /// Column of whom it is for; `None`: for all.
    pub to: Option<usize>,
    /// What becomes of it.
    pub way: Way,
    /// Opcode, queue pair, PSN and what else matters.
    pub label: String,
    /// Of which kind it is.
    pub tone: Tone,
    /// What is to be said of it besides.
    pub notes: Vec<String>,
    /// All of its headers, for who wants to know.
    pub detail: String,
}

/// See the module.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The arrows that were asked for, by time.
    pub rows: Vec<Row>,
    /// Frames of the capture.
    pub frames: usize,
    /// A sentence under the last arrow.
    pub end: Option<String>,
}

impl Chart {
    /// The chart of a capture's frames.
    pub fn of(packets: &[Packet], selection: &Selection) -> Self {
        let nodes = nodes::Nodes::of(packets);
        let start = packets.first().map(|packet| packet.time);
        let start = start.unwrap_or_default();
        let picked = selection.picks(packets);
        let mut sent: HashMap<(Flow, Psn, Opcode), usize> = HashMap::new();
        let mut rows = Vec::new();
        for (packet, picked) in packets.iter().zip(picked) {
            let again = again(packet, &mut sent);
            if !picked {
                continue;
            }
            let Some((from, to)) = nodes.ends(packet) else {
                continue;
            };
            let (label, tone) = label(packet);
            let notes = packet.comment.iter().map(|comment| {
                let words = comment.strip_prefix("arrives at ");
                let words = words.and_then(|rest| rest.split_once(": "));
                words.map_or(comment.as_str(), |(_, words)| words).into()
            });
            rows.push(Row {
                number: packet.number,
                time: packet.time.saturating_sub(start),
                from,
                to,
                way: way(packet),
                label,
                tone,
                notes: notes.chain(again).collect(),
                detail: dissect(&packet.bytes),
            });
        }
        Self {
            columns: nodes.names(),
            rows,
            frames: packets.len(),
            end: None,
        }
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

fn way(packet: &Packet) -> Way {
    if packet.is_arrival() {
        Way::Arrival
    } else if packet.is_lost() {
        Way::Lost
    } else {
        Way::Through
    }
}

/// Says of a request that it was sent before.
fn again(packet: &Packet, sent: &mut HashMap<(Flow, Psn, Opcode), usize>) -> Option<String> {
    if packet.is_arrival() {
        return None;
    }
    let Seen::Good(frame) = Seen::of(packet) else {
        return None;
    };
    let bth = &frame.bth;
    let is_counted = bth.opcode.is_request() && bth.opcode != Opcode::UdSendOnly;
    let key = (Flow::of(&frame), bth.psn, bth.opcode);
    match is_counted {
        true => sent
            .insert(key, packet.number)
            .map(|before| format!("{before} again")),
        false => None,
    }
}

/// The frame of a packet, with right checksums if those alone were wrong; `with` looks at it.
pub(crate) fn frame_of<T>(packet: &Packet, with: impl FnOnce(&Frame<'_>) -> T) -> Option<T> {
    match Seen::of(packet) {
        Seen::Good(frame) => Some(with(&frame)),
        Seen::Damaged(_, whole) => Frame::parse(&whole).ok().map(|frame| with(&frame)),
        _ => None,
    }
}
