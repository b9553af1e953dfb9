//! One frame at a time that is not valid for its queue pair: it is counted, and nothing else changes.

use tandem_cosim::bus::Traffic;
use tandem_model::abi::{DropCause, QpState, regs};
use tandem_model::hal::{Hal, HalError, Target};

use super::bad::{self, Kind, Scene};
use super::card::dice::Dice;
use super::card::{Card, Result, memory, proof};
use super::mutate::mutate;

/// Causes of drops that have a counter of their own; the first counts what was accepted.
const COUNTERS: u32 = 32;

/// Everything that a driver can see, but for the counters.
#[derive(PartialEq, Eq)]
struct Seen {
    memory: Vec<u8>,
    registers: Vec<(u32, u32)>,
    states: Vec<QpState>,
    interrupt: bool,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counted {
    drops: Vec<u32>,
    frames: u32,
    octets: u32,
    sent: u32,
    /// Everything from [`regs::GoBacks`] on.
    transport: Vec<u32>,
}

/// Frames with anything wrong in their bytes, after those of every kind.
const MUTATED: u32 = 60;

/// Sends bad frames of every kind, in an order by the seed, each alone; then the queue pair must take the next request
/// as if they had not been. Then frames with anything wrong: unless the engine takes them, the same holds.
pub fn run(seed: u64, traffic: Traffic) -> Result {
    let mut card = Card::new(seed, traffic)?;
    let memory = memory::set_up(&mut card)?;
    let ring = card.room(4096);
    card.write_cq(0, true, 4, ring)?;
    let mut qp = card.new_qp(2, (2, 3), (0, 0));
    let mut failed = card.new_qp(3, (2, 3), (0, 0));
    card.begin_anew(&mut qp)?;
    card.begin_anew(&mut failed)?;
    card.write_qp(&failed, QpState::Err)?;
    let mut psn = qp.rq_psn();
    // Something to be older than.
    proof::takes_a_send(&mut card, &mut qp, memory, (psn, proof::TARGET))?;
    psn = (psn + 1) & 0xFF_FFFF;
    let mut dice = Dice::new(seed);
    let mut kinds: Vec<&Kind> = bad::KINDS.iter().collect();
    while !kinds.is_empty() {
        let kind = kinds.swap_remove(dice.below(kinds.len() as u32) as usize);
        let scene = Scene {
            qp: &qp,
            failed: &failed,
            psn,
        };
        let frame = (kind.make)(&mut dice, scene);
        match alone(&mut card, kind.what, &frame)? {
            Some(cause) if cause == kind.cause => {}
            other => return wrong(kind.what, format!("{other:?}, not {:?}", kind.cause)),
        }
    }
    proof::takes_a_send(&mut card, &mut qp, memory, (psn, proof::TARGET))?;
    psn = (psn + 1) & 0xFF_FFFF;
    for _ in 0..MUTATED {
        let scene = Scene {
            qp: &qp,
            failed: &failed,
            psn,
        };
        let mut frame = bad::request(&mut dice, scene).frame();
        mutate(&mut dice, &mut frame);
        alone(&mut card, "a mutated frame", &frame)?;
        if card.qp_state(qp.number)? != QpState::Rts {
            card.begin_anew(&mut qp)?;
            psn = qp.rq_psn();
        }
    }
    proof::works(&mut card, &mut qp, memory)?;
    card.target.finish()
}

fn wrong<T>(what: &str, cause: impl std::fmt::Display) -> Result<T> {
    Err(HalError::Stopped(format!("{what}: {cause}")))
}

/// Sends one frame to an engine at rest. If it is dropped, nothing but counters may change; returns why it was. `None`
/// if the engine takes it.
fn alone(card: &mut Card, what: &str, frame: &[u8]) -> Result<Option<DropCause>> {
    let (before, counted) = (look(card)?, count(card)?);
    card.target.send_frame(frame)?;
    card.rest()?;
    let answers = card.target.take_frames()?.len();
    let now = count(card)?;
    let Some(cause) = dropped(&counted, &now) else {
        return Ok(None);
    };
    if answers > 0 {
        return wrong(what, format!("{answers} frames in answer"));
    }
    let mut expected = counted;
    expected.drops[cause as usize] += 1;
    expected.frames += 1;
    expected.octets += frame.len() as u32;
    if now != expected {
        return wrong(what, format!("counted {now:?}, not {expected:?}"));
    }
    let after = look(card)?;
    if after.memory != before.memory {
        let pairs = after.memory.iter().zip(&before.memory);
        let place = pairs.take_while(|(new, old)| new == old).count();
        return wrong(what, format!("changed memory, first at {place:#x}"));
    }
    if after != before {
        return wrong(what, "changed a register, a state or the interrupt");
    }
    Ok(Some(cause))
}

/// The first cause of which more frames were dropped.
fn dropped(before: &Counted, now: &Counted) -> Option<DropCause> {
    let pairs = before.drops.iter().zip(&now.drops);
    let at = pairs.skip(1).position(|(before, now)| before != now)?;
    DropCause::from_bits(at as u128 + 1)
}

fn look(card: &mut Card) -> Result<Seen> {
    let states = (0..64).map(|number| card.qp_state(number));
    let states = states.collect::<Result<_>>()?;
    let memory = card.memory()?;
    let target = &mut card.target;
    let mut registers = Vec::new();
    for offset in (0..regs::DropFrames::OFFSET).step_by(4) {
        registers.push((offset, target.read_register(offset)?));
    }
    Ok(Seen {
        memory,
        registers,
        states,
        interrupt: target.interrupt()?,
    })
}

fn count(card: &mut Card) -> Result<Counted> {
    let target = &mut card.target;
    let drops =
        (0..COUNTERS).map(|cause| target.read_register(regs::DropFrames::OFFSET + 4 * cause));
    Ok(Counted {
        drops: drops.collect::<Result<_>>()?,
        frames: target.read_register(regs::RxFrames::OFFSET)?,
        octets: target.read_register(regs::RxOctetsLo::OFFSET)?,
        sent: target.read_register(regs::TxFrames::OFFSET)?,
        transport: (regs::GoBacks::OFFSET..=regs::CnpOut::OFFSET)
            .step_by(4)
            .map(|offset| target.read_register(offset))
            .collect::<Result<_>>()?,
    })
}
