//! A vector in words.

use std::fmt::Write;

use tandem_model::ndk::{NtStatus, OpFlags};

use super::Vector;
use super::object::{Pages, RegionKind};
use super::step::{Element, ExpectedResult, Remote, Step, Wait};
use super::value::{At, Pattern, TokenRef};
use crate::plan;

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
        return writeln!(
            text,
            "\nRandom traffic between nodes a and b: {} requests on {} connections, up to {} bytes.",
            traffic.requests, traffic.queue_pairs, traffic.max_size
        );
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
            RegionKind::Privileged => "is, for the privileged token,",
        };
        writeln!(
            text,
            "Region {name} {kind} memory {}.",
            region.memory.value()
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

fn flags(flags: OpFlags) -> String {
    let names: Vec<&str> = OpFlags::NAMED
        .iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .map(|(_, name)| name.trim_start_matches("NDK_OP_FLAG_"))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join(", ")),
    }
}

fn list(sgl: &[At<Element>]) -> String {
    if sgl.is_empty() {
        return "nothing".into();
    }
    let pieces: Vec<String> = sgl
        .iter()
        .map(|element| {
            let from = match (&element.region, &element.memory) {
                (Some(name), _) | (None, Some(name)) => name.value().as_str(),
                (None, None) => "a raw address",
            };
            format!("{} bytes of {from} at {}", element.length, element.offset)
        })
        .collect();
    pieces.join(" + ")
}

fn place(remote: &Remote) -> String {
    match &remote.region {
        Some(region) => format!("region {} at {}", region.value(), remote.offset),
        None => "a raw address".into(),
    }
}

fn token(token: &TokenRef) -> String {
    match token {
        TokenRef::Region { region, xor: 0 } => format!("the token of region {region}"),
        TokenRef::Region { region, .. } => format!("an altered token of region {region}"),
        TokenRef::Privileged => "the privileged token".into(),
        TokenRef::Number(number) => format!("token {number:#x}"),
    }
}

fn returns(status: NtStatus) -> String {
    match status {
        NtStatus::SUCCESS => String::new(),
        status => format!("; the call returns {status}"),
    }
}

fn times(times: Option<u32>) -> String {
    match times {
        Some(times) if times > 1 => format!(", {times} times"),
        _ => String::new(),
    }
}

fn results(results: &[ExpectedResult]) -> String {
    let words = results.iter().map(|result| {
        let mut text = match result.status.0 {
            NtStatus::SUCCESS => "success".into(),
            status => status
                .name()
                .map_or_else(|| status.to_string(), str::to_owned),
        };
        if let Some(kind) = result.r#type {
            let _ = write!(text, " of a {kind:?}");
        }
        if let Some(context) = result.context {
            let _ = write!(text, ", context {:#x}", context.0);
        }
        if let Some(bytes) = result.bytes {
            let _ = write!(text, ", {bytes} bytes");
        }
        text + &times(result.times)
    });
    words.collect::<Vec<_>>().join("; ")
}

fn sentence(step: &Step) -> String {
    match step {
        Step::Send(s) => format!(
            "{} sends {}{}{}{}",
            s.send.value(),
            list(&s.sgl),
            flags(s.flags.0),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::SendAndInvalidate(s) => format!(
            "{} sends {} and invalidates {}{}{}{}",
            s.send_and_invalidate.value(),
            list(&s.sgl),
            token(&s.token),
            flags(s.flags.0),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::Receive(s) => format!(
            "{} posts a receive into {}{}{}",
            s.receive.value(),
            list(&s.sgl),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::Read(s) => format!(
            "{} reads {} into {}{}{}{}",
            s.read.value(),
            place(&s.remote),
            list(&s.sgl),
            flags(s.flags.0),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::Write(s) => format!(
            "{} writes {} to {}{}{}{}",
            s.write.value(),
            list(&s.sgl),
            place(&s.remote),
            flags(s.flags.0),
            times(s.times),
            returns(s.returns.0)
        ),
        Step::Flush(s) => format!("{} is flushed", s.flush.value()),
        Step::Arm(s) => format!("{} is armed for {:?}", s.arm.value(), s.r#type).to_lowercase(),
        Step::Poll(s) => format!(
            "a call for {} results of {} returns {} {}",
            s.n,
            s.poll.value(),
            s.returns,
            results(&s.results)
        ),
        Step::Register(s) => format!(
            "region {} is registered{}",
            s.register.value(),
            returns(s.returns.0)
        ),
        Step::Deregister(s) => {
            format!(
                "region {} is deregistered{}",
                s.deregister.value(),
                returns(s.returns.0)
            )
        }
        Step::Connect(s) => format!("connection {} is made", s.connect.value()),
        Step::TryQp(s) => {
            format!(
                "a queue pair like {} is created{}",
                s.try_qp.value(),
                returns(s.returns.0)
            )
        }
        Step::CloseQp(s) => format!("{} is closed{}", s.close_qp.value(), returns(s.returns.0)),
        Step::Oid(s) => format!(
            "node {} is asked for its local endpoints, with a buffer of {} bytes{}",
            s.oid.value(),
            s.buffer,
            returns(s.returns.0)
        ),
        Step::AddEndpoints(s) => {
            let count: u32 = s
                .endpoints
                .iter()
                .map(|e| u32::from(e.count.unwrap_or(1)))
                .sum();
            format!("node {} gets {count} endpoints", s.add_endpoints.value())
        }
        Step::ClearEndpoints(s) => {
            format!("node {} loses its endpoints", s.clear_endpoints.value())
        }
        Step::Fill(s) => format!(
            "the processor fills memory {} with {}",
            s.fill.value(),
            pattern(&s.with)
        ),
        Step::Wait(s) => match s.wait {
            Wait::Idle => "until nothing happens any more".into(),
            Wait::Clocks(clocks) => format!("{clocks} clocks pass"),
        },
        Step::ExpectResults(s) => {
            format!("{} gives {}", s.expect_results.value(), results(&s.results))
        }
        Step::ExpectNoResults(s) => format!("{} gives nothing", s.expect_no_results.value()),
        Step::ExpectMemory(s) => {
            let what = match (&s.is, &s.same_as) {
                (Some(expected), _) => format!("holds {}", pattern(expected)),
                (None, Some(other)) => format!("holds what memory {} does", other.memory.value()),
                (None, None) => "is as it was".into(),
            };
            format!(
                "memory {} from byte {} {what}",
                s.expect_memory.value(),
                s.offset
            )
        }
        Step::ExpectNotification(s) => format!("{} notifies", s.expect_notification.value()),
        Step::ExpectNoNotification(s) => {
            format!("{} does not notify", s.expect_no_notification.value())
        }
        Step::ExpectQpError(s) => format!("{} goes to error", s.expect_qp_error.value()),
        Step::ExpectFrames(s) => {
            let frames = s
                .frames
                .iter()
                .map(|frame| frame.0.opcode.clone() + &times(frame.0.times));
            format!(
                "node {} has sent: {}",
                s.expect_frames.value(),
                frames.collect::<Vec<_>>().join("; ")
            )
        }
        Step::ExpectOrder(s) => {
            let frames = s
                .expect_order
                .iter()
                .map(|p| format!("{}: {}", p.from.value(), p.opcode.value()));
            format!(
                "the wire saw, in this order: {}",
                frames.collect::<Vec<_>>().join("; ")
            )
        }
        Step::ExpectRegisters(s) => {
            let values = s
                .values
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            format!(
                "registers of node {}: {}",
                s.expect_registers.value(),
                values.collect::<Vec<_>>().join(", ")
            )
        }
    }
}
