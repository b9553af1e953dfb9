//! Two captures, frame by frame.

use super::Options;
use super::fields::{changes, fields};
use crate::blackbox::file::Packet;
use crate::show::label;

/// Frames among which one that is more or less on one side is looked for.
const REACH: usize = 16;

/// The first frame in which they differ, field by field, with those around it.
pub(super) fn difference(a: &[Packet], b: &[Packet], options: Options) -> Option<String> {
    let same = |a: &Packet, b: &Packet| {
        let times = !options.times || a.time == b.time;
        times && a.bytes == b.bytes && a.interface == b.interface && a.comment == b.comment
    };
    let at = match a.iter().zip(b).position(|(a, b)| !same(a, b)) {
        Some(at) => at,
        None if a.len() == b.len() => return None,
        None => a.len().min(b.len()),
    };
    let mut out = format!("A has {} frames, B {}\n", a.len(), b.len());
    let start = at.saturating_sub(options.context);
    for packet in a.iter().take(at).skip(start) {
        out.push_str(&line(' ', packet));
    }
    let (first, second) = (a.get(at), b.get(at));
    for (name, packet) in [('A', first), ('B', second)] {
        out.push_str(&match packet {
            Some(packet) => line(name, packet),
            None => format!("{name} ends here\n"),
        });
    }
    if let (Some(first), Some(second)) = (first, second) {
        let mut changed = changes(&fields(first), &fields(second));
        if options.times && first.time != second.time {
            changed.push(format!(
                "time {:?} instead of {:?}",
                second.time, first.time
            ));
        }
        for change in changed {
            out.push_str(&format!("         {change}\n"));
        }
        let gap = |of: &[Packet], in_: &[Packet]| {
            let found = (1..=REACH).find(|more| {
                let rest = in_.iter().skip(at + more);
                let pairs: Vec<bool> = of
                    .iter()
                    .skip(at)
                    .zip(rest)
                    .take(3)
                    .map(|(a, b)| same(a, b))
                    .collect();
                !pairs.is_empty() && pairs.iter().all(|same| *same)
            });
            found.map(|more| format!("{more} frame{}", if more == 1 { "" } else { "s" }))
        };
        if let Some(more) = gap(a, b) {
            out.push_str(&format!("B has {more} more here, and then goes on as A\n"));
        } else if let Some(fewer) = gap(b, a) {
            out.push_str(&format!("B lacks {fewer} here, and then goes on as A\n"));
        }
    }
    for (name, packets) in [('A', a), ('B', b)] {
        for packet in packets.iter().skip(at + 1).take(options.context) {
            out.push_str(&line(name, packet));
        }
    }
    Some(out)
}

/// A frame in a line.
fn line(name: char, packet: &Packet) -> String {
    let (words, _) = label(packet);
    let interface = packet.interface.as_deref().unwrap_or_default();
    let interface = match interface {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let comment = packet.comment.iter().map(|comment| format!(" [{comment}]"));
    let comment: String = comment.collect();
    format!("{name} {:>5}  {interface}{words}{comment}\n", packet.number)
}
