//! Rings that are used again: a queue pair fails with requests fetched and not used, begins anew on the same rings with
//! new PSNs, and works with what is in them now.
//!
//! `TANDEM_HOSTILE_SEEDS=1000` has more seeds than the ordinary run.

#[path = "../card/mod.rs"]
mod card;

use card::dice::Dice;
use card::memory::{self, REGIONS};
use card::packet::{Packet, aeth};
use card::request::{Element, Request, receive};
use card::{Card, Qp, Result, proof, seeds};
use tandem_cosim::bus::Traffic;
use tandem_model::abi::{CQE, QpState, Record, WqeOpcode, regs};
use tandem_model::hal::{Hal, Target};
use tandem_model::wire::Opcode;

/// Rings as small as what is fetched ahead: four sends, two receives.
const LOGS: (u8, u8) = (2, 1);
/// Where the requests of lives that fail point to, in the first region. Nothing must ever come there.
const POISON: u64 = 0x9000;
const POISONED: u64 = 0x800;
/// Lives of each run.
const LIVES: u32 = 16;

fn element(offset: u64, length: u32) -> Element {
    Element {
        address: REGIONS[0].base + offset,
        length,
        token: REGIONS[0].token,
    }
}

fn post_receives(card: &mut Card, qp: &mut Qp) -> Result {
    for _ in 0..1 << LOGS.1 {
        card.place_receive(qp, &receive(&[element(POISON, 0x400)]))?;
    }
    card.ring_receive(qp)
}

/// Four writes, of which the first may be malformed.
fn post_sends(card: &mut Card, qp: &mut Qp, malformed: bool) -> Result {
    for index in 0..1 << LOGS.0 {
        let mut request = Request::new(WqeOpcode::Write, index, vec![element(POISON, 64)]);
        if malformed && index == 0 {
            request.index = 77;
        }
        card.place_send(qp, &request.bytes())?;
    }
    card.ring_send(qp)
}

/// A queue pair gets requests, and fails while they are posted, fetched, or under way.
fn fail(card: &mut Card, qp: &mut Qp, dice: &mut Dice) -> Result {
    card.begin_anew(qp)?;
    match dice.below(5) {
        0 => {
            post_receives(card, qp)?;
            post_sends(card, qp, true)?;
            card.rest()?;
        }
        1 => {
            post_sends(card, qp, false)?;
            post_receives(card, qp)?;
            let mut packet = Packet::new(qp, Opcode::SendMiddle, qp.rq_psn());
            packet.payload = dice.bytes(qp.mtu);
            card.target.send_frame(&packet.frame())?;
            let clocks = dice.below(400);
            card.target.advance(clocks)?;
        }
        2 => {
            // Straight into the next life, without a flush.
            post_receives(card, qp)?;
            post_sends(card, qp, false)?;
            let clocks = dice.below(60);
            card.target.advance(clocks)?;
        }
        3 => {
            post_receives(card, qp)?;
            card.write_qp(qp, QpState::Err)?;
        }
        _ => {
            post_sends(card, qp, false)?;
            post_receives(card, qp)?;
            let clocks = dice.below(120);
            card.target.advance(clocks)?;
            card.write_qp(qp, QpState::Err)?;
        }
    }
    Ok(())
}

fn run(seed: u64, traffic: Traffic) -> Result {
    let mut card = Card::new(seed, traffic)?;
    let memory = memory::set_up(&mut card)?;
    let ring = card.room(4096);
    card.write_cq(0, true, 7, ring)?;
    let mut qp = card.new_qp(2, LOGS, (0, 0));
    let mut dice = Dice::new(seed);
    let untouched = memory::read(&mut card, memory, POISON, POISONED)?;
    for _ in 0..LIVES {
        fail(&mut card, &mut qp, &mut dice)?;
        let mut late = Packet::new(&qp, Opcode::SendOnly, qp.rq_psn());
        late.payload = dice.bytes(64);
        if dice.percent(50) {
            card.write_qp(&qp, QpState::Reset)?;
        }
        (qp.send_cq, qp.recv_cq) = (0, 0);
        card.write_cq(0, true, 7, ring)?;
        if dice.percent(50) {
            continue;
        }
        proof::works(&mut card, &mut qp, memory)?;
        // A frame of the life before: its PSN is not expected now.
        card.target.send_frame(&late.frame())?;
        card.rest()?;
        card.target.take_frames()?;
        // Round the ring of receives, and on.
        for turn in 1..=5 {
            let psn = (qp.rq_psn() + turn) & 0xFF_FFFF;
            let target = proof::TARGET + u64::from(turn) * 512;
            proof::takes_a_send(&mut card, &mut qp, memory, (psn, target))?;
        }
        let now = memory::read(&mut card, memory, POISON, POISONED)?;
        assert_eq!(now, untouched, "something was placed by an old receive");
    }
    card.target.finish()
}

#[test]
fn rings_are_used_again_after_a_failure() {
    for seed in seeds(9) {
        let traffic = match seed % 3 {
            0 => Traffic::IDEAL,
            1 => Traffic::RANDOM,
            // Fetches that come back in the next life.
            _ => Traffic {
                read_latency: (2, 900),
                ..Traffic::RANDOM
            },
        };
        run(seed, traffic).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

#[test]
fn a_fetch_of_an_earlier_life_is_thrown_away() {
    late_fetches().unwrap_or_else(|error| panic!("{error}"));
}

/// Receives and sends are fetched when their queue pair begins anew, and come after that.
fn late_fetches() -> Result {
    let traffic = Traffic {
        read_latency: (3000, 3000),
        ..Traffic::IDEAL
    };
    let mut card = Card::new(1, traffic)?;
    let memory = memory::set_up(&mut card)?;
    let ring = card.room(4096);
    card.write_cq(0, true, 7, ring)?;
    let mut qp = card.new_qp(2, LOGS, (0, 0));
    card.begin_anew(&mut qp)?;
    post_receives(&mut card, &mut qp)?;
    post_sends(&mut card, &mut qp, false)?;
    card.target.advance(200)?;
    card.begin_anew(&mut qp)?;
    card.target.advance(5000)?;
    let psn = qp.rq_psn();
    proof::takes_a_send(&mut card, &mut qp, memory, (psn, proof::TARGET))?;
    proof::sends(&mut card, &mut qp)?;
    card.target.finish()
}

#[test]
fn a_wait_for_a_receiver_ends_with_its_life() {
    ends_while_waiting().unwrap_or_else(|error| panic!("{error}"));
}

/// A queue pair begins anew in the middle of the longest wait.
fn ends_while_waiting() -> Result {
    const NOT_READY: u8 = 0x20;
    let mut card = Card::new(1, Traffic::IDEAL)?;
    let memory = memory::set_up(&mut card)?;
    let ring = card.room(4096);
    card.write_cq(0, true, 7, ring)?;
    let mut qp = card.new_qp(2, LOGS, (0, 0));
    qp.rnr_retry = 1;
    card.begin_anew(&mut qp)?;
    post_sends(&mut card, &mut qp, false)?;
    card.target.advance(300)?;
    let mut nak = Packet::new(&qp, Opcode::Acknowledge, qp.sq_psn());
    nak.ext = aeth(NOT_READY);
    card.target.send_frame(&nak.frame())?;
    card.target.advance(200)?;
    assert_eq!(card.target.read_register(regs::RnrWaits::OFFSET)?, 1);
    card.target.take_frames()?;
    proof::works(&mut card, &mut qp, memory)?;
    card.target.finish()
}

/// A completion waits for its payload while its queue pair gets another completion queue: it belongs to the one that was
/// named when it was made.
fn another_queue(failed: bool) -> Result {
    const OLD: u16 = 0;
    const NEW: u16 = 1;
    let mut card = Card::new(
        1,
        Traffic {
            write_latency: (3000, 3000),
            ..Traffic::IDEAL
        },
    )?;
    memory::set_up(&mut card)?;
    let rings = [card.room(4096), card.room(4096)];
    for (cq, ring) in [OLD, NEW].into_iter().zip(rings) {
        card.write_cq(cq, true, 4, ring)?;
    }
    let mut qp = card.new_qp(2, LOGS, (OLD, OLD));
    card.begin_anew(&mut qp)?;
    post_receives(&mut card, &mut qp)?;
    card.rest()?;
    let mut packet = Packet::new(&qp, Opcode::SendOnly, qp.rq_psn());
    packet.payload = vec![7; 64];
    card.target.send_frame(&packet.frame())?;
    card.target.advance(300)?;
    if failed {
        // The second receive is flushed, behind the first one.
        card.write_qp(&qp, QpState::Err)?;
        card.target.advance(100)?;
    }
    (qp.send_cq, qp.recv_cq) = (NEW, NEW);
    card.begin_anew(&mut qp)?;
    card.rest()?;
    let entries = rings.map(|ring| entries(&mut card, ring));
    let [old, new] = entries;
    assert_eq!(
        (old?, new?),
        (1 + usize::from(failed), 0),
        "entries of the old queue, of the new one"
    );
    card.target.finish()
}

/// Completion entries in a ring of 16.
fn entries(card: &mut Card, ring: u64) -> Result<usize> {
    let mut bytes = vec![0; 16 * CQE.bytes()];
    card.target.read_memory(ring, &mut bytes)?;
    let phases = bytes
        .chunks(CQE.bytes())
        .map(|entry| Record::from_bytes(&CQE, entry).get("phase"));
    Ok(phases.filter(|phase| *phase == 1).count())
}

#[test]
fn a_completion_goes_to_the_queue_that_it_was_made_for() {
    for failed in [false, true] {
        another_queue(failed).unwrap_or_else(|error| panic!("failed {failed}: {error}"));
    }
}
