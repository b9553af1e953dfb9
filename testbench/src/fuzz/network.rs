//! Impairments of the network as steps of a vector.

use std::fmt::Write;

use super::moves::{Effect, Frames, Rule};
use super::text::{Writer, node};

impl Writer<'_> {
    /// One more impairment.
    pub(super) fn rule(&mut self, rule: &Rule) {
        let nodes = self.nodes();
        let absent = |place: &Option<usize>| place.is_some_and(|place| !nodes.contains(&place));
        if absent(&rule.from) || absent(&rule.to) {
            return;
        }
        let mut words = Vec::new();
        words.extend(rule.from.map(|from| format!("from = \"{}\"", node(from))));
        words.extend(rule.to.map(|to| format!("to = \"{}\"", node(to))));
        if rule.of != "all" {
            words.push(format!("of = \"{}\"", rule.of));
        }
        match rule.frames {
            Frames::Nth(number) => words.push(format!("nth = {number}")),
            Frames::Chance(chance) => {
                words.push(format!("probability = {:.3}", f64::from(chance) / 1000.0));
            }
            Frames::Every(every) => words.push(format!("every = {every}")),
            Frames::All => {}
        }
        words.push(match rule.effect {
            Effect::Drop => "drop = true".into(),
            Effect::Duplicate(copies) => format!("duplicate = {copies}"),
            Effect::Reorder(later) => format!("reorder = {later}"),
            // The place of a sender's address: nothing of connection management is believed that has it wrong.
            Effect::Corrupt if self.spec.is_managed() && rule.of != "responses" => {
                "corrupt = { byte = 30, bit = 3 }".into()
            }
            Effect::Corrupt => "corrupt = \"random\"".into(),
            Effect::Delay {
                clocks,
                jitter,
                overtake,
            } => {
                format!("delay = {{ clocks = {clocks}, jitter = {jitter}, overtake = {overtake} }}")
            }
            Effect::Hold => "hold = true".into(),
            Effect::Throttle {
                bytes,
                clocks,
                buffer,
                mark,
            } => {
                let mut text = format!("throttle = {{ bytes = {bytes}, clocks = {clocks}");
                if let Some(buffer) = buffer {
                    let _ = write!(text, ", buffer = {buffer}");
                }
                if let Some(mark) = mark {
                    let _ = write!(text, ", mark = {mark}");
                }
                text + " }"
            }
            Effect::Pause => "pause = true".into(),
        });
        self.paused |= rule.effect == Effect::Pause;
        self.step(&format!("network = {{ {} }}", words.join(", ")));
    }
}
