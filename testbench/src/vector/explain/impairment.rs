//! Impairments in words.

use crate::vector::impairment::{Doing, Impairment, Psns};
use crate::vector::step::FrameKind;

/// What an impairment, or a step that ends some, does.
pub(super) fn words(table: &Impairment) -> String {
    let doings = table.doings();
    let name = table.name.as_ref().map(|name| name.value().as_str());
    let Some(doing) = doings.first() else {
        return "nothing changes".into();
    };
    let ways = ways(table);
    match doing {
        Doing::Act(action) => format!("{}: each {action}", frames(table)),
        Doing::Script(actions) => {
            let actions: Vec<String> = actions.iter().map(ToString::to_string).collect();
            format!(
                "{}, one after another: {}",
                frames(table),
                actions.join("; ")
            )
        }
        Doing::Throttle(throttle) => {
            let mut text = format!(
                "{ways} {} bytes pass in {} clocks",
                throttle.bytes, throttle.clocks
            );
            if let Some(buffer) = throttle.buffer {
                text += &format!(", {buffer} bytes may wait");
            }
            if let Some(mark) = throttle.mark {
                text += &format!(", from {mark} bytes on frames are marked");
            }
            text
        }
        Doing::Pause(window) => {
            let node = match &table.from {
                Some(from) => format!("node {} has to wait with what it sends", from.value()),
                None => "all nodes have to wait with what they send".into(),
            };
            match (window.from, window.to) {
                (0, u64::MAX) => node,
                (from, u64::MAX) => format!("{node} from clock {from}"),
                (from, to) => format!("{node} from clock {from} to {to}"),
            }
        }
        Doing::Heal => match name {
            Some(name) => format!("impairment {name} is over"),
            None => format!("{ways} the network is whole"),
        },
        Doing::Resume => "pauses are over".into(),
        Doing::Release => format!("{ways} held frames go on"),
    }
}

/// The direction.
fn ways(table: &Impairment) -> String {
    match (&table.from, &table.to) {
        (Some(from), Some(to)) => format!("from {} to {}", from.value(), to.value()),
        (Some(from), None) => format!("from {}", from.value()),
        (None, Some(to)) => format!("to {}", to.value()),
        (None, None) => "everywhere".into(),
    }
}

/// The frames meant, and which of them.
fn frames(table: &Impairment) -> String {
    let mut text = format!("{}, ", ways(table));
    text += match table.of {
        FrameKind::All => "frames",
        FrameKind::Requests => "requests",
        FrameKind::Responses => "responses",
    };
    if let Some(names) = &table.opcode {
        text += &format!(" {}", names.all().join(" or "));
    }
    match table.psn.as_ref().map(|psns| *psns.value()) {
        Some(Psns::One(psn)) => text += &format!(" of PSN {psn:#x}"),
        Some(Psns::Range { from, to }) => text += &format!(" of PSN {from:#x} to {to:#x}"),
        None => {}
    }
    if let Some(qp) = &table.qp {
        text += &format!(" for queue pair {}", qp.value());
    }
    if table.conditions() {
        text += &format!(", {}", table.when());
    }
    text
}
