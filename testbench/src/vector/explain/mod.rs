//! A vector in words.

mod connection;
mod impairment;
mod step;

use std::fmt::Write;

use super::Vector;
use super::object::{Pages, RegionKind};
use super::value::Pattern;
use crate::plan;
use step::sentence;

/// What a vector does, for a reader.
pub fn explain(vector: &Vector) -> String {
    let head = &vector.head;
    let mut text = format!("{}: {}\n", head.name.value(), head.about);
    // Writing to a string does not fail.
    let _ = objects(vector, &mut text);
    for (number, step) in vector.steps.iter().enumerate() {
        let _ = writeln!(text, "{:>3}. {}", number + 1, sentence(step));
    }
    if !head.covers.is_empty() {
        text.push_str("\nIf it fails, these are broken:\n");
        for id in &head.covers {
            let title = plan::title(id).unwrap_or_default();
            let _ = writeln!(text, "  {:<13}{title}", id.value());
        }
    }
    text.trim_end().to_owned()
}

fn objects(vector: &Vector, text: &mut String) -> std::fmt::Result {
    let head = &vector.head;
    if let Some(traffic) = &head.traffic {
        writeln!(
            text,
            "\nRandom traffic between nodes a and b: {} requests on {} connections, up to {} bytes.",
            traffic.requests, traffic.queue_pairs, traffic.max_size
        )?;
        if traffic.tokens > 0 {
            let percent = traffic.tokens;
            writeln!(
                text,
                "{percent} % of the turns are about tokens that live short lives."
            )?;
        }
        if traffic.srqs > 0 {
            let srqs = traffic.srqs;
            writeln!(text, "Shared receive queues of each node: {srqs}.")?;
        }
        if traffic.connect {
            writeln!(text, "Connection management makes the connections.")?;
        }
        return Ok(());
    }
    let nodes: Vec<&str> = head.node.keys().map(String::as_str).collect();
    writeln!(text, "\nNodes: {}.", nodes.join(", "))?;
    for (name, memory) in &head.memory {
        write!(
            text,
            "Memory {name}: {} bytes on node {}, {}",
            memory.bytes.value(),
            memory.node.value(),
            pattern(&memory.fill)
        )?;
        match memory.pages {
            Pages::Contiguous => writeln!(text, ".")?,
            Pages::Reversed => writeln!(text, ", on pages in reverse order.")?,
            Pages::Scattered => writeln!(text, ", on scattered pages.")?,
        }
    }
    for (name, region) in &head.region {
        let kind = match region.kind {
            RegionKind::Registered => "registers",
            RegionKind::Fast => "is a valid fast registration of",
            RegionKind::FastRegister => "is for fast registrations of",
            RegionKind::Privileged => "is, for the privileged token,",
        };
        writeln!(
            text,
            "Region {name} {kind} memory {}.",
            region.memory.value()
        )?;
    }
    for (name, window) in &head.window {
        writeln!(text, "Window {name} on node {}.", window.node.value())?;
    }
    for (name, srq) in &head.srq {
        writeln!(
            text,
            "Shared receive queue {name} on node {}.",
            srq.node.value()
        )?;
    }
    for (name, connection) in &head.connection {
        let mtu = connection.mtu.as_ref().map_or(1024, |mtu| *mtu.value());
        let ip = connection.ip.as_ref().map_or(4, |ip| *ip.value());
        writeln!(
            text,
            "Connection {name}: queue pairs {} and {}, IPv{ip}, MTU {mtu}.",
            connection.a.value(),
            connection.b.value()
        )?;
    }
    for table in &head.network {
        writeln!(text, "Network: {}.", impairment::words(table))?;
    }
    writeln!(text)
}

fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Zero => "zeros".into(),
        Pattern::Counter => "counting bytes".into(),
        Pattern::Random(seed) => format!("random bytes of seed {seed}"),
        Pattern::Byte(byte) => format!("bytes {byte:#04x}"),
        Pattern::Hex(hex) => format!("{} bytes again and again", hex.0.len()),
    }
}
