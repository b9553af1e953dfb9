//! Proof that the engine still works: a message each way, with everything that has to come of it.

use tandem_model::abi::{CQE, Record, Status, WqeOpcode};
use tandem_model::hal::{Hal, HalError, Target};
use tandem_model::wire::{Ext, Frame, Opcode};

use super::memory::{self, REGIONS};
use super::packet::{Packet, aeth};
use super::request::{Element, Request, receive};
use super::{Card, Qp, Result};

/// A completion queue that nothing else uses.
const CQ: u16 = 5;
const CQ_LOG: u8 = 6;
/// Bytes of a message.
const LENGTH: u32 = 300;
/// Where it goes to, and comes from, in the first region.
pub const TARGET: u64 = 0x1003;
const SOURCE: u64 = 0x5001;

fn wrong<T>(what: impl Into<String>) -> Result<T> {
    Err(HalError::Stopped(what.into()))
}

/// Lets a queue pair begin anew on a completion queue of its own, and sends a message each way; `memory` is where
/// the pages of the regions are.
pub fn works(card: &mut Card, qp: &mut Qp, memory: u64) -> Result {
    let ring = card.room(32 << CQ_LOG);
    card.write_cq(CQ, true, CQ_LOG, ring)?;
    memory::write(card, 0, true)?;
    (qp.send_cq, qp.recv_cq, qp.mtu) = (CQ, CQ, 1024);
    (qp.timeout, qp.retry_cnt, qp.rnr_retry) = (0, 0, 0);
    card.begin_anew(qp)?;
    takes_a_send(card, qp, memory, (qp.rq_psn(), TARGET))?;
    let next = expect_completion(card, ring, 0, true)?;
    sends(card, qp)?;
    expect_completion(card, ring, next, false).map(|_| ())
}

/// A send to a receive: placed, and acknowledged. It has a PSN, and goes to an offset in the first region.
pub fn takes_a_send(
    card: &mut Card,
    qp: &mut Qp,
    memory: u64,
    (psn, target): (u32, u64),
) -> Result {
    let element = Element {
        address: REGIONS[0].base + target,
        length: LENGTH,
        token: REGIONS[0].token,
    };
    // What was under way in an earlier life leaves before.
    card.rest()?;
    card.target.take_frames()?;
    card.place_receive(qp, &receive(&[element]))?;
    card.ring_receive(qp)?;
    // The doorbell is taken; the receive need not be here yet.
    card.target.advance(50)?;
    let mut packet = Packet::new(qp, Opcode::SendOnly, psn);
    packet.ack_req = true;
    packet.payload = (0..LENGTH).map(|at| (at * 7 + psn + 1) as u8).collect();
    card.target.send_frame(&packet.frame())?;
    card.rest()?;
    let sent = frames_of(card, qp)?;
    let [answer] = sent.as_slice() else {
        return wrong(format!("{} frames in answer to a send", sent.len()));
    };
    match Frame::parse(answer) {
        Ok(frame) if is_ack(&frame, psn) => {}
        other => return wrong(format!("a send was answered with {other:?}")),
    }
    let placed = memory::read(card, memory, target, LENGTH.into())?;
    if placed != packet.payload {
        return wrong("a send was not placed as it came");
    }
    Ok(())
}

/// What a queue pair has sent. Others may still send again what was never acknowledged.
fn frames_of(card: &mut Card, qp: &Qp) -> Result<Vec<Vec<u8>>> {
    let mut frames = card.target.take_frames()?;
    frames.retain(|frame| {
        Frame::parse(frame).is_ok_and(|frame| frame.bth.dest_qp.get() == qp.peer())
    });
    Ok(frames)
}

fn is_ack(frame: &Frame<'_>, psn: u32) -> bool {
    let positive = matches!(frame.ext, Ext::Aeth(aeth) if aeth.syndrome.is_ack());
    frame.bth.opcode == Opcode::Acknowledge && positive && frame.bth.psn.get() == psn
}

/// A write of the engine: sent, and done when it is acknowledged.
pub fn sends(card: &mut Card, qp: &mut Qp) -> Result {
    let element = Element {
        address: REGIONS[0].base + SOURCE,
        length: LENGTH,
        token: REGIONS[0].token,
    };
    let request = Request::new(WqeOpcode::Write, qp.sent, vec![element]);
    card.place_send(qp, &request.bytes())?;
    card.ring_send(qp)?;
    card.rest()?;
    let sent = frames_of(card, qp)?;
    let [frame] = sent.as_slice() else {
        return wrong(format!("{} frames for a write", sent.len()));
    };
    let psn = match Frame::parse(frame) {
        Ok(frame) if frame.payload.len() as u32 == LENGTH => frame.bth.psn.get(),
        other => return wrong(format!("a write was sent as {other:?}")),
    };
    let mut ack = Packet::new(qp, Opcode::Acknowledge, psn);
    ack.ext = aeth(0x1F);
    card.target.send_frame(&ack.frame())?;
    card.rest()
}

/// The next completion from an index on is a success; what was flushed before counts for an earlier life. Returns the
/// index after it.
fn expect_completion(card: &mut Card, ring: u64, from: u64, received: bool) -> Result<u64> {
    for index in from..1 << CQ_LOG {
        let mut bytes = vec![0; CQE.bytes()];
        let address = ring + index * CQE.bytes() as u64;
        card.target.read_memory(address, &mut bytes)?;
        let entry = Record::from_bytes(&CQE, &bytes);
        let present = entry.get("phase") == 1;
        if present && entry.get("status") == Status::Flushed.into() {
            continue;
        }
        let good = present
            && entry.get("status") == Status::Success.into()
            && entry.get("receive") == received.into();
        return match good {
            true => Ok(index + 1),
            false => wrong(format!("completion entry {index} is {entry:?}")),
        };
    }
    wrong("no completion")
}
