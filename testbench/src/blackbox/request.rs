//! The requester: what may be sent, and when.

use tandem_model::wire::{Ext, Frame, Opcode, Operation, PayloadRule, Reth};

use super::direction::{Direction, Source};
use super::finding::{At, Findings};
use super::history::Sent;
use super::quirks;

/// Most go-backs and RNR waits that a count of three bits allows; for RNR waits it means no end.
const MOST_RETRIES: u8 = 7;

/// Takes a request packet; `lost` if it is known that the network lost it.
pub(super) fn request(
    dir: &mut Direction,
    at: At,
    frame: &Frame<'_>,
    lost: bool,
    out: &mut Findings,
) {
    let place = dir.history.place(frame.bth.psn);
    state(dir, at, frame, place, out);
    let start = dir.history.at(place).map(|(start, _)| start);
    match start {
        Some(start) if start == place => again(dir, at, frame, place, lost, out),
        Some(start) => rest(dir, at, frame, (start, place), lost, out),
        None => first(dir, at, frame, place, lost, out),
    }
    dir.last_request = Some(at);
}

/// Whether the requester may send at all.
fn state(dir: &mut Direction, at: At, frame: &Frame<'_>, place: u64, out: &mut Findings) {
    if let Some(ended) = dir.ended {
        let message = format!(
            "a {} behind the end of the connection in frame {}",
            frame.bth.opcode, ended.number
        );
        out.violation(at, "WIRE-QP-2", message);
    }
    if let Some((_, since)) = dir.dead
        && at.time.saturating_sub(since.time) > dir.turnaround
    {
        // Elsewhere the NAK may have been lost behind the capture.
        let message = format!("a request behind the fatal NAK of frame {}", since.number);
        out.unless_lost(dir.hears, at, "WIRE-QP-2", message);
    }
    let Some(wait) = dir.wait.filter(|wait| place >= wait.place) else {
        return;
    };
    let waited = at.time.saturating_sub(wait.since.time);
    let early = waited < wait.delay && waited > dir.turnaround;
    let new = dir.history.at(place).is_none();
    if early && place == wait.place {
        let message = format!(
            "sent again {waited:?} after the RNR NAK of frame {}, which asks for {:?}",
            wait.since.number, wait.delay
        );
        out.violation(at, "WIRE-RNR-5", message);
    } else if early {
        let message = format!(
            "sent during the wait that frame {} asks for",
            wait.since.number
        );
        match new {
            true => out.quirk(at, "WIRE-RNR-6", &quirks::SENDS_DURING_RNR, message),
            false => out.violation(at, "WIRE-RNR-6", message),
        }
    }
}

/// A PSN that was not sent before.
fn first(
    dir: &mut Direction,
    at: At,
    frame: &Frame<'_>,
    place: u64,
    lost: bool,
    out: &mut Findings,
) {
    dir.counts.requests += 1;
    let (psn, next) = (frame.bth.psn, dir.history.next);
    if place > next {
        let message = format!("PSN {psn}, but {} comes next", dir.history.psn(next));
        let id = dir.gap_id(next);
        out.unless_lost(dir.requests_complete, at, id, message);
    } else if place < dir.history.start() && dir.terms.psn.is_some() {
        let message = format!("PSN {psn} is before the first that was agreed");
        out.violation(at, "WIRE-PSN-7", message);
    } else if place < next {
        let message = format!("PSN {psn} comes late");
        out.unless_lost(dir.requests_complete, at, "WIRE-PSN-3", message);
    }
    sizes(dir, at, frame, out);
    let span = match (frame.bth.opcode, frame.ext) {
        (Opcode::ReadRequest, Ext::Reth(reth)) => {
            dir.vague |= reth.length > dir.mtu.bytes;
            dir.packets(reth.length)
        }
        _ => 1,
    };
    let mut sent = Sent::of(at, frame, span);
    (sent.copies, sent.delivered) = (1, !lost);
    if sent.is_query() {
        outstanding(dir, at, place, out);
    }
    dir.history.insert(place, sent);
    advance(dir, out);
}

/// A query is sent: how many are open.
fn outstanding(dir: &mut Direction, at: At, place: u64, out: &mut Findings) {
    let open = dir.open_queries.len();
    if let Some(limit) = dir.terms.reads
        && open >= usize::from(limit)
    {
        let message = format!("{open} reads and atomics are open, {limit} were agreed");
        out.violation(at, "WIRE-RD-1", message);
    }
    dir.open_queries.insert(place);
}

/// Payload against the path MTU.
fn sizes(dir: &Direction, at: At, frame: &Frame<'_>, out: &mut Findings) {
    let rule = frame.bth.opcode.payload_rule();
    let length = frame.payload.len();
    // Where no packet shows the path MTU, full ones have none that is legal.
    if rule.allows(length, dir.mtu.bytes as usize) && dir.mtu.source != Source::Least
        || dir.mtu.source == Source::Least && rule != PayloadRule::Full
    {
        return;
    }
    let id = match rule {
        PayloadRule::Full => "WIRE-SEG-2",
        PayloadRule::Tail if length > 0 => "WIRE-SEG-2",
        PayloadRule::Any => "WIRE-SEG-1",
        // Those are told without the path MTU.
        PayloadRule::Tail | PayloadRule::Empty => return,
    };
    let message = format!(
        "a {} of {length} bytes at a path MTU of {}",
        frame.bth.opcode, dir.mtu.bytes
    );
    out.violation(at, id, message);
}

/// A PSN that was sent before.
fn again(
    dir: &mut Direction,
    at: At,
    frame: &Frame<'_>,
    place: u64,
    lost: bool,
    out: &mut Findings,
) {
    dir.counts.repeated += 1;
    dir.repeats += 1;
    let waited = dir.wait.take_if(|wait| wait.place == place);
    if waited.is_none() && place == dir.acked {
        go_back(dir, at, out);
    }
    let Some((_, sent)) = dir.history.at_mut(place) else {
        return;
    };
    sent.copies += 1;
    sent.delivered |= !lost;
    if let Some(what) = sent.differs(frame) {
        let read = sent.opcode == Opcode::ReadRequest && frame.bth.opcode == sent.opcode;
        let message = format!(
            "PSN {} has another {what} than in frame {}",
            frame.bth.psn, sent.at.number
        );
        out.violation(at, if read { "WIRE-RD-3" } else { "WIRE-PSN-8" }, message);
    }
    if sent.opcode == Opcode::ReadRequest {
        restart(sent, 0);
    }
}

/// The oldest open request is sent again: so many times as agreed.
fn go_back(dir: &mut Direction, at: At, out: &mut Findings) {
    dir.go_backs += 1;
    let limit = dir.terms.retries.unwrap_or(MOST_RETRIES);
    if dir.requests_complete && dir.go_backs > limit.into() {
        let message = format!("sent again {} times without progress", dir.go_backs);
        match limit {
            MOST_RETRIES => out.quirk(at, "WIRE-TMO-5", &quirks::ENDLESS_RETRIES, message),
            _ => out.violation(at, "WIRE-TMO-4", message),
        }
    }
}

/// A pass of responses may begin at a place.
fn restart(sent: &mut Sent, place: u32) {
    sent.answers.restarts.insert(place);
    sent.answers.msn = None;
}

/// A PSN out of the responses of a read: the rest is asked for.
fn rest(
    dir: &mut Direction,
    at: At,
    frame: &Frame<'_>,
    (start, place): (u64, u64),
    lost: bool,
    out: &mut Findings,
) {
    dir.counts.repeated += 1;
    dir.repeats += 1;
    let psn = frame.bth.psn;
    let mtu = dir.mtu.bytes;
    let knows = dir.knows_spans();
    let complete = dir.requests_complete;
    let Some((_, sent)) = dir.history.at_mut(start) else {
        return;
    };
    let steps = (place - start) as u32;
    let (Ext::Reth(whole), Ext::Reth(part), Opcode::ReadRequest) =
        (sent.ext, frame.ext, frame.bth.opcode)
    else {
        let message = format!(
            "PSN {psn} of a {} belongs to the responses of the read in frame {}",
            frame.bth.opcode, sent.at.number
        );
        out.violation(at, "WIRE-PSN-4", message);
        return;
    };
    sent.copies += 1;
    sent.delivered |= !lost;
    let skipped = steps.saturating_mul(mtu);
    let right = Reth {
        va: whole.va.wrapping_add(skipped.into()),
        token: whole.token,
        length: whole.length.saturating_sub(skipped),
    };
    if knows && part != right {
        let message = format!(
            "the rest of the read in frame {} from PSN {psn} is {} bytes at {:#x} through {}",
            sent.at.number, right.length, right.va, right.token
        );
        out.violation(at, "WIRE-RD-3", message);
    }
    if let Some(further) = sent.answers.restarts.last().filter(|last| **last > steps) {
        let message = format!("the read was asked for again from response {further} already");
        out.unless_lost(complete, at, "WIRE-RD-3", message);
    }
    restart(sent, steps);
}

/// Judges packets in their order, as far as all before them were seen.
pub(super) fn advance(dir: &mut Direction, out: &mut Findings) {
    while let Some((sent, before)) = dir.history.at_gap() {
        let begins = dir.history.gap == dir.history.start();
        let fresh = begins && dir.terms.psn.is_some();
        sequence(sent, before, fresh, out);
        let open = before.filter(|before| is_open(before));
        let total = match sent.opcode.starts_message() {
            true => sent.ext.reth().map(|reth| reth.length),
            false => open.and_then(|open| open.total),
        };
        let so_far = match sent.opcode.starts_message() {
            true => 0,
            false => open.map_or(0, |open| open.so_far),
        } + sent.payload_len as u64;
        if sent.opcode.operation() == Operation::Write {
            length(sent, total, so_far, out);
        }
        let place = dir.history.gap;
        let messages = dir.history.messages + u32::from(sent.opcode.ends_message());
        dir.history.gap += u64::from(sent.span);
        dir.history.messages = messages;
        if let Some((_, sent)) = dir.history.at_mut(place) {
            (sent.messages, sent.so_far, sent.total) = (Some(messages), so_far, total);
        }
    }
}

/// Whether a message goes on behind a packet.
fn is_open(sent: &Sent) -> bool {
    !sent.opcode.ends_message()
}

/// Whether a packet may stand behind another; `fresh` if nothing was sent before it.
fn sequence(sent: &Sent, before: Option<&Sent>, fresh: bool, out: &mut Findings) {
    let opcode = sent.opcode;
    let fits = match before {
        Some(before) if is_open(before) => {
            !opcode.starts_message() && opcode.operation() == before.opcode.operation()
        }
        Some(_) => opcode.starts_message(),
        None => opcode.starts_message() || !fresh,
    };
    if !fits {
        let behind = before.map_or("nothing", |before| before.opcode.name());
        out.violation(
            sent.at,
            "WIRE-SEG-11",
            format!("a {opcode} behind {behind}"),
        );
    }
}

/// Bytes of a write against the length that its first packet said.
fn length(sent: &Sent, total: Option<u32>, so_far: u64, out: &mut Findings) {
    let Some(total) = total.map(u64::from) else {
        return;
    };
    let ends = sent.opcode.ends_message();
    // What fits one packet is told with the packet.
    let only = ends && sent.opcode.starts_message();
    if !only && (ends && so_far != total || !ends && so_far >= total) {
        let more = if ends { "" } else { ", and more to come" };
        let message = format!("{so_far} bytes{more}, RETH said {total}");
        out.violation(sent.at, "WIRE-EXT-2", message);
    }
}
