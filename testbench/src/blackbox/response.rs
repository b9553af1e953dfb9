//! The responder: acknowledgements, refusals, answers to atomics. Read responses are in `read`.

use std::time::Duration;

use tandem_model::wire::{Aeth, Ext, Frame, NakCode, Opcode, Operation, Syndrome, rnr_delay};

use super::direction::{Direction, OpenNak, Wait};
use super::finding::{At, Findings};
use super::history::{Sent, digest};
use super::{RNR_UNIT, msn, quirks, read};

/// PSNs that an answer may lie behind because it was overtaken.
const OVERTAKEN: u64 = 4096;

/// What is looked at: a response, and the place of its PSN.
#[derive(Clone, Copy)]
pub(super) struct Answer<'a> {
    pub(super) at: At,
    pub(super) frame: &'a Frame<'a>,
    pub(super) place: u64,
    /// Whether the same bytes were seen before: the network may have made a copy.
    pub(super) copy: bool,
    /// Whether it is known to be lost.
    pub(super) lost: bool,
}

/// Takes a response to a request of this direction.
pub(super) fn response(
    dir: &mut Direction,
    at: At,
    frame: &Frame<'_>,
    lost: bool,
    out: &mut Findings,
) {
    count(dir, frame);
    if let Some(last) = dir.last_request {
        let turn = at.time.saturating_sub(last.time);
        dir.turnaround = dir.turnaround.max(turn);
    }
    let psn = frame.bth.psn;
    if dir.history.is_empty() {
        out.explained(
            at,
            "WIRE-ACK-11",
            "an answer before any request: the capture began late",
        );
        return;
    }
    let place = dir.history.place(psn);
    if place >= dir.history.next {
        if dir.knows_spans() {
            let message = format!(
                "PSN {psn} was not sent yet, {} comes next",
                dir.history.psn(dir.history.next)
            );
            out.violation(at, "WIRE-ACK-11", message);
        }
        return;
    }
    if place < dir.history.start() {
        older(dir, at, place, out);
        return;
    }
    let bytes = (
        psn.get(),
        frame.bth.opcode,
        digest(frame.payload),
        identity(frame),
    );
    let answer = Answer {
        at,
        frame,
        place,
        copy: !dir.answer_bytes.insert(digest(&bytes)),
        lost,
    };
    silence(dir, answer, out);
    match frame.bth.opcode.operation() {
        Operation::ReadResponse => read::response(dir, answer, out),
        Operation::AtomicAcknowledge => atomic(dir, answer, out),
        _ => acknowledge(dir, answer, out),
    }
}

/// An answer to what was sent before the capture began: such come before others, but for what reordering may do.
fn older(dir: &Direction, at: At, place: u64, out: &mut Findings) {
    let start = dir.history.start();
    if dir.terms.psn.is_some() || dir.acked > start && !dir.history.begins_before(start) {
        let back = start - place;
        let message = format!("it answers what was sent {back} PSNs before the first request");
        let certain = dir.answers_complete || back > OVERTAKEN;
        out.unless_lost(certain, at, "WIRE-ACK-4", message);
    }
}

/// What tells a packet from a copy of it: IP identification and AETH.
fn identity(frame: &Frame<'_>) -> (u16, u32) {
    let ident = match frame.ip {
        tandem_model::wire::Ip::V4(ip) => ip.ident,
        tandem_model::wire::Ip::V6(_) => 0,
    };
    let aeth = frame.ext.aeth();
    (
        ident,
        aeth.map_or(0, |aeth| u32::from_be_bytes(aeth.emit())),
    )
}

fn count(dir: &mut Direction, frame: &Frame<'_>) {
    let counts = &mut dir.counts;
    let counter = match frame.ext {
        Ext::Aeth(aeth) if frame.bth.opcode == Opcode::Acknowledge => match aeth.syndrome {
            Syndrome::Ack { .. } => &mut counts.acks,
            Syndrome::Nak(NakCode::PsnSequence) => &mut counts.sequence_naks,
            Syndrome::Rnr { .. } => &mut counts.rnr_naks,
            _ => &mut counts.fatal_naks,
        },
        _ => &mut counts.responses,
    };
    *counter += 1;
}

/// Behind a fatal NAK nothing comes.
fn silence(dir: &Direction, answer: Answer<'_>, out: &mut Findings) {
    let Some((dead, since)) = dir.dead else {
        return;
    };
    if answer.copy {
        return;
    }
    let message = format!("an answer behind the fatal NAK of frame {}", since.number);
    // An older answer may have been overtaken.
    let certain = answer.place >= dead || dir.answers_complete;
    out.unless_lost(certain, answer.at, "WIRE-NAK-6", message);
}

/// An Acknowledge packet.
fn acknowledge(dir: &mut Direction, answer: Answer<'_>, out: &mut Findings) {
    let Some(aeth) = answer.frame.ext.aeth() else {
        return;
    };
    match aeth.syndrome {
        Syndrome::Ack { .. } => positive(dir, answer, aeth, out),
        Syndrome::Rnr { timer } => not_ready(dir, answer, aeth, timer, out),
        Syndrome::Nak(NakCode::PsnSequence) => sequence_error(dir, answer, aeth, out),
        Syndrome::Nak(
            code @ (NakCode::InvalidRequest | NakCode::RemoteAccess | NakCode::RemoteOperational),
        ) => {
            fatal(dir, answer, aeth, code, out);
        }
        // Told with the frame.
        Syndrome::Nak(_) | Syndrome::Reserved(_) => {}
    }
}

/// A positive acknowledgement.
fn positive(dir: &mut Direction, answer: Answer<'_>, aeth: Aeth, out: &mut Findings) {
    let Answer {
        at, frame, place, ..
    } = answer;
    overtakes(dir, at, place + 1, out);
    if place + 1 < dir.acked && dir.repeats == 0 && !answer.copy {
        let message = format!(
            "PSN {} was acknowledged before, and nothing sent again",
            frame.bth.psn
        );
        out.unless_lost(dir.answers_complete, at, "WIRE-ACK-4", message);
    }
    let refused = dir
        .history
        .range(dir.acked, place + 1)
        .find(|(_, sent)| sent.rnr > 0 && sent.copies <= sent.rnr);
    if let Some((place, _)) = refused {
        let message = format!(
            "PSN {} met no receive, and was not sent again",
            dir.history.psn(place)
        );
        out.violation(at, "WIRE-RNR-4", message);
    }
    dir.acknowledge(at, place + 1, out);
    let least = dir.history.messages_to(place);
    message_number(dir, at, aeth, (least, Bound::ToNewest), out);
}

/// Whether reads before a place still miss responses, which an answer there must not pass.
pub(super) fn overtakes(dir: &mut Direction, at: At, to: u64, out: &mut Findings) {
    let Some(open) = dir.open_queries.range(..to).next().copied() else {
        return;
    };
    if open < dir.acked && !dir.answers_complete {
        // It was told when it was passed first.
        return;
    }
    let message = format!("it passes the responses to PSN {}", dir.history.psn(open));
    out.unless_lost(dir.answers_complete, at, "WIRE-ACK-3", message);
    if dir.answers_complete {
        dir.open_queries.remove(&open);
    }
}

/// How far up an MSN may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// No further than the least.
    Exact,
    /// All that was sent may have been executed.
    ToNewest,
}

/// The MSN: at least what is acknowledged, at most what was sent. Behind a frame that nobody sent it says nothing.
pub(super) fn message_number(
    dir: &mut Direction,
    at: At,
    aeth: Aeth,
    (least, bound): (Option<u32>, Bound),
    out: &Findings,
) {
    let (Some(least), None) = (least, out.excuse) else {
        return;
    };
    let most = match bound {
        Bound::Exact => least,
        Bound::ToNewest => dir.history.messages,
    };
    let ends = dir
        .acked
        .checked_sub(1)
        .and_then(|last| dir.history.at(last));
    let invalidates = ends.is_some_and(|(_, sent)| sent.ext.ieth().is_some());
    dir.msns.note(msn::Seen {
        at,
        aeth,
        least,
        most,
        invalidates,
    });
}

/// NAK 0x60.
fn sequence_error(dir: &mut Direction, answer: Answer<'_>, aeth: Aeth, out: &mut Findings) {
    let Answer {
        at,
        frame,
        place,
        copy,
        ..
    } = answer;
    let psn = frame.bth.psn;
    let copies = dir.history.at(place).map_or(0, |(_, sent)| sent.copies);
    let behind = dir
        .history
        .at(place)
        .map_or(place + 1, |(start, sent)| start + u64::from(sent.span));
    let rnr = dir.history.at(place).is_some_and(|(_, sent)| sent.rnr > 0);
    if place < dir.acked {
        if !copy {
            let message = format!("NAK of PSN {psn}, which was acknowledged");
            out.violation(at, "WIRE-NAK-1", message);
        }
        return;
    }
    if rnr && dir.wait.is_some_and(|wait| wait.place == place) {
        let message = format!("PSN {psn} is waited for already");
        out.quirk(at, "WIRE-RNR-3", &quirks::NAK_AFTER_RNR, message);
        return;
    }
    if behind >= dir.history.next {
        let message = format!("NAK of PSN {psn}, behind which nothing was sent");
        out.violation(at, "WIRE-NAK-1", message);
    }
    let told = dir
        .nak
        .is_some_and(|open| open.place == place && open.copies == copies);
    if told && !rnr {
        let message = format!("PSN {psn} is told to be missing once more, and was not sent again");
        out.unless_lost(!copy, at, "WIRE-NAK-2", message);
    }
    dir.nak = Some(OpenNak { place, copies });
    dir.acknowledge(at, place, out);
    let least = dir.history.messages_before(place);
    message_number(dir, at, aeth, (least, Bound::Exact), out);
}

/// An RNR NAK.
fn not_ready(dir: &mut Direction, answer: Answer<'_>, aeth: Aeth, timer: u8, out: &mut Findings) {
    let Answer {
        at,
        frame,
        place,
        copy,
        ..
    } = answer;
    let psn = frame.bth.psn;
    let takes = dir.history.at(place).map(|(_, sent)| sent.opcode);
    if let Some(opcode) = takes.filter(|opcode| !opcode.takes_receive()) {
        let message = format!("RNR NAK of a {opcode}, which takes no receive");
        out.violation(at, "WIRE-RNR-1", message);
        return;
    }
    if place < dir.acked {
        if !copy {
            let message = format!("RNR NAK of PSN {psn}, which was acknowledged");
            out.violation(at, "WIRE-RNR-4", message);
        }
        return;
    }
    dir.acknowledge(at, place, out);
    if copy && dir.wait.is_some_and(|wait| wait.place == place) {
        return;
    }
    if let Some((_, sent)) = dir.history.at_mut(place) {
        sent.rnr += 1;
    }
    dir.rnr_waits += 1;
    if let Some(limit) = dir.terms.rnr_retries.filter(|limit| *limit < 7)
        && dir.rnr_waits > u32::from(limit) + 1
    {
        let message = format!(
            "the {}th wait for one request, {limit} were agreed",
            dir.rnr_waits
        );
        out.unless_lost(dir.answers_complete, at, "WIRE-RNR-7", message);
    }
    dir.wait = Some(Wait {
        place,
        since: at,
        delay: scaled(rnr_delay(timer), dir.rnr_unit),
    });
    let least = dir.history.messages_before(place);
    message_number(dir, at, aeth, (least, Bound::Exact), out);
}

/// A time that is meant in units of 10 µs.
fn scaled(delay: Duration, unit: Duration) -> Duration {
    let units = delay.as_nanos() / RNR_UNIT.as_nanos();
    unit.saturating_mul(u32::try_from(units).unwrap_or(u32::MAX))
}

/// A NAK that ends the connection.
fn fatal(dir: &mut Direction, answer: Answer<'_>, aeth: Aeth, code: NakCode, out: &mut Findings) {
    let Answer {
        at,
        frame,
        place,
        copy,
        ..
    } = answer;
    let psn = frame.bth.psn;
    if copy && dir.dead.is_some() {
        return;
    }
    let found = dir
        .history
        .at(place)
        .map(|(start, sent)| (start, sent.clone()));
    if let Some((start, sent)) = &found {
        if place < dir.acked {
            let message = format!("PSN {psn} is refused, which was acknowledged");
            out.violation(at, "WIRE-NAK-4", message);
        }
        misplaced(at, (place - start) as u32, sent, out);
        if code == NakCode::RemoteAccess && !has_key(sent) {
            let message = format!("a {} has no key that could be refused", sent.opcode);
            out.violation(at, "WIRE-NAK-8", message);
        }
    }
    overtakes(dir, at, place, out);
    dir.acknowledge(at, place, out);
    let least = match &found {
        Some((start, _)) if *start < place => return_from_read(dir, *start),
        _ => dir.history.messages_before(place),
    };
    // A read counts when it is taken, even if it is refused then.
    let bound = match found.is_some_and(|(_, sent)| sent.is_query()) {
        true => Bound::ToNewest,
        false => Bound::Exact,
    };
    message_number(dir, at, aeth, (least, bound), out);
    dir.dead = Some((place, at));
}

/// The count before a read that is refused midway.
fn return_from_read(dir: &Direction, start: u64) -> Option<u32> {
    dir.history.messages_before(start)
}

/// A read is refused at the first response that does not come.
fn misplaced(at: At, steps: u32, sent: &Sent, out: &mut Findings) {
    if sent.opcode == Opcode::ReadRequest && steps < sent.answers.front {
        let message = format!("response {steps} is refused, {} came", sent.answers.front);
        out.violation(at, "WIRE-NAK-11", message);
    }
}

/// Whether a request names a key.
fn has_key(sent: &Sent) -> bool {
    match sent.ext {
        Ext::Reth(reth) | Ext::RethImm(reth, _) => reth.length > 0,
        Ext::Atomic(_) | Ext::Ieth(_) => true,
        // A key may die while a message goes through it.
        _ => sent.opcode.operation() == Operation::Write,
    }
}

/// An answer to an atomic.
fn atomic(dir: &mut Direction, answer: Answer<'_>, out: &mut Findings) {
    let Answer {
        at, frame, place, ..
    } = answer;
    let Ext::AethAtomicAck(aeth, value) = frame.ext else {
        return;
    };
    overtakes(dir, at, place, out);
    dir.acknowledge(at, place + 1, out);
    dir.open_queries.remove(&place);
    let least = dir.history.messages_to(place);
    let again = match dir.history.at_mut(place) {
        Some((_, sent)) if sent.opcode.operation() == Operation::Atomic => {
            let before = sent.value.replace(value);
            if before.is_some_and(|before| before != value) {
                let message = format!("{value:#x}, but {:#x} before", before.unwrap_or(0));
                out.violation(at, "WIRE-DUP-7", message);
            }
            before.is_some()
        }
        Some((_, sent)) => {
            let message = format!(
                "an answer to an atomic, but PSN {} is a {}",
                frame.bth.psn, sent.opcode
            );
            out.violation(at, "WIRE-RD-8", message);
            return;
        }
        None => return,
    };
    let bound = if again { Bound::ToNewest } else { Bound::Exact };
    message_number(dir, at, aeth, (least, bound), out);
}
