//! Responses to reads.

use tandem_model::wire::{Frame, Opcode};

use super::direction::Direction;
use super::finding::{At, Findings};
use super::history::{Sent, digest};
use super::quirks;
use super::response::{Answer, Bound, message_number, overtakes};

/// Bytes of the headers that a response may have lost.
const AETH: usize = 4;

/// Takes a read response.
pub(super) fn response(dir: &mut Direction, answer: Answer<'_>, out: &mut Findings) {
    let Answer {
        at, frame, place, ..
    } = answer;
    let psn = frame.bth.psn;
    let start = match dir.history.at(place) {
        Some((start, sent)) if sent.opcode == Opcode::ReadRequest => start,
        Some((_, sent)) => {
            let message = format!("a read response, but PSN {psn} is a {}", sent.opcode);
            out.violation(at, "WIRE-RD-8", message);
            return;
        }
        None => {
            dir.acknowledge(at, place + 1, out);
            return;
        }
    };
    overtakes(dir, at, start, out);
    dir.acknowledge(at, place + 1, out);
    let index = (place - start) as u32;
    let least = dir.history.messages_to(start);
    let (mtu, spans) = (dir.mtu.bytes, dir.knows_spans());
    let complete = dir.answers_complete;
    let Some((_, sent)) = dir.history.at_mut(start) else {
        return;
    };
    if spans {
        lengths(at, frame, sent, index, mtu, out);
        opcode(at, frame, sent, index, out);
    }
    let replayed = order(answer, sent, index, complete, out);
    let is_news = !answer.lost && sent.answers.heard.insert(index);
    if sent.is_answered() {
        dir.open_queries.remove(&start);
    }
    if is_news {
        // The requester goes on, whatever is acknowledged behind the read.
        dir.go_backs = 0;
    }
    msn(dir, answer, start, least, replayed, out);
}

/// Bytes of a response.
fn lengths(at: At, frame: &Frame<'_>, sent: &Sent, index: u32, mtu: u32, out: &mut Findings) {
    let whole = sent.ext.reth().map_or(0, |reth| reth.length);
    let right = whole.saturating_sub(index.saturating_mul(mtu)).min(mtu) as usize;
    let length = frame.payload.len();
    if length == right {
        return;
    }
    let id = match whole {
        0 => "WIRE-RD-6",
        // Four bytes of data were taken for an AETH that is not there.
        _ if length + AETH == right && frame.ext.aeth().is_some() => "WIRE-EXT-5",
        _ => "WIRE-RD-5",
    };
    let message = format!("response {index} of the read has {length} bytes, expected {right}");
    out.violation(at, id, message);
}

/// The opcode that belongs to a place of a message of so many packets.
fn opcode_at(index: u32, packets: u32) -> Opcode {
    match (index, index + 1 == packets) {
        (0, true) => Opcode::ReadResponseOnly,
        (0, false) => Opcode::ReadResponseFirst,
        (_, true) => Opcode::ReadResponseLast,
        (_, false) => Opcode::ReadResponseMiddle,
    }
}

/// First, middle, last: of the whole read, or of a rest that was asked for.
fn opcode(at: At, frame: &Frame<'_>, sent: &Sent, index: u32, out: &mut Findings) {
    let opcode = frame.bth.opcode;
    let fits = |from: u32| opcode == opcode_at(index - from, sent.span - from);
    let rest = sent
        .answers
        .restarts
        .range(..=index)
        .any(|from| fits(*from));
    if rest || fits(0) && !continues(sent, index) {
        return;
    }
    match fits(0) {
        true => out.quirk(
            at,
            "WIRE-RD-4",
            &quirks::REST_CONTINUES,
            format!("the rest goes on with a {opcode}"),
        ),
        false => {
            let message = format!(
                "a {opcode} as response {index} of {}, expected a {}",
                sent.span,
                opcode_at(index, sent.span)
            );
            out.violation(at, "WIRE-SEG-1", message);
        }
    }
}

/// Whether a response stands where a rest begins that was asked for, and did not come before.
fn continues(sent: &Sent, index: u32) -> bool {
    index > 0 && sent.answers.restarts.contains(&index)
}

/// Order of the responses, and their bytes. Whether it is one of a read that is answered again.
fn order(
    answer: Answer<'_>,
    sent: &mut Sent,
    index: u32,
    complete: bool,
    out: &mut Findings,
) -> bool {
    let Answer { at, frame, .. } = answer;
    let next = sent.answers.next;
    let passes = sent.answers.restarts.contains(&index) || index == 0;
    if index != next && !passes {
        let message = format!("response {index} of the read, {next} comes next");
        out.unless_lost(complete, at, "WIRE-PSN-5", message);
    }
    sent.answers.next = index + 1;
    let bytes = digest(frame.payload);
    let before = sent.answers.bytes.insert(index, bytes);
    if before.is_some_and(|before| before != bytes) {
        let message = format!("response {index} has other bytes than when it came first");
        out.explained(at, "WIRE-DUP-3", message);
    }
    let fresh = sent.answers.note(index);
    !fresh || !sent.answers.restarts.is_empty()
}

/// The MSN: that of the read, and the same in all of a pass.
fn msn(
    dir: &mut Direction,
    answer: Answer<'_>,
    start: u64,
    least: Option<u32>,
    replayed: bool,
    out: &mut Findings,
) {
    let Answer { at, frame, .. } = answer;
    let Some(aeth) = frame.ext.aeth() else {
        return;
    };
    let begins = frame.bth.opcode.starts_message();
    if let Some((_, sent)) = dir.history.at_mut(start) {
        let first = sent.answers.msn;
        if begins {
            sent.answers.msn = Some(aeth.msn.get());
        } else if let Some(first) = first
            && first != aeth.msn.get()
        {
            let message = format!("MSN {}, but {first:#08x} in the first response", aeth.msn);
            out.violation(at, "WIRE-ACK-6", message);
            return;
        }
    }
    let bound = if replayed {
        Bound::ToNewest
    } else {
        Bound::Exact
    };
    message_number(dir, at, aeth, (least, bound), out);
}
