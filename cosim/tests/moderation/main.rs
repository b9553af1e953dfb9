//! Completion queues in lockstep: moderation with all kinds of settings, arms in every state, rings that are exchanged
//! while completions flow, and overruns. Software looks at the rings as a driver does, and misses no entry.
//!
//! `TANDEM_HOSTILE_SEEDS=300` has more seeds than the ordinary run.

#[path = "../card/mod.rs"]
mod card;
mod ring;

use card::dice::Dice;
use card::memory;
use card::packet::Packet;
use card::request::receive;
use card::{Card, Qp, Result, seeds};
use ring::Ring;
use tandem_cosim::bus::Traffic;
use tandem_model::abi::{CQ_CONTEXT, QpState, Record, Table, regs};
use tandem_model::hal::{Hal, Target};
use tandem_model::wire::Opcode;

/// Completion queues, each with a queue pair.
const CQS: u16 = 3;
const FIRST_QP: u32 = 2;
/// Numbers of completion queues that are not valid, and not in the table.
const NO_CQS: [u32; 3] = [9, 64, 200];
/// log2 of entries of the receive rings, and how many are posted beyond those that are used.
const RQ_LOG: u8 = 5;
const AHEAD: u16 = 16;
/// Clocks of 1 µs.
const UNIT: u32 = 20;
const ENDLESS: u16 = 0xFFFF;
const STEPS: u32 = 600;

struct World {
    card: Card,
    dice: Dice,
    qps: Vec<Qp>,
    /// Packets that each queue pair got in this life.
    used: Vec<u16>,
    rings: Vec<Ring>,
}

impl World {
    fn new(seed: u64, traffic: Traffic) -> Result<Self> {
        let mut card = Card::new(seed, traffic)?;
        memory::set_up(&mut card)?;
        card.target
            .write_register(regs::ModerationUnit::OFFSET, UNIT)?;
        let mut world = Self {
            qps: Vec::new(),
            used: Vec::new(),
            rings: (0..CQS).map(|cq| Ring::new(&mut card, cq)).collect(),
            card,
            dice: Dice::new(seed),
        };
        for cq in 0..CQS {
            world.begin_queue(cq.into())?;
            let number = FIRST_QP + u32::from(cq);
            let qp = world.card.new_qp(number, (2, RQ_LOG), (cq, cq));
            world.qps.push(qp);
            world.used.push(0);
            world.begin_qp(cq.into())?;
        }
        Ok(world)
    }

    fn step(&mut self) -> Result {
        let at = self.dice.below(CQS.into()) as usize;
        match self.dice.below(100) {
            0..30 => {
                for _ in 0..=self.dice.below(3) {
                    self.packet(at)?;
                }
            }
            30..42 => {
                let most = self.dice.pick(&[2, 100]);
                self.rings[at].consume(&mut self.card, most)?;
                self.doorbell(at)?;
            }
            42..58 => {
                if self.dice.percent(50) {
                    self.rings[at].consume(&mut self.card, 100)?;
                }
                self.arm(at)?;
            }
            58..66 => self.moderate(at.try_into().expect("a few queues"))?,
            66..72 => self.exchange(at)?,
            72..74 => {
                let table = self.dice.pick(&[Table::CqRing, Table::CqModeration]);
                let (number, entry) = (self.dice.pick(&NO_CQS), self.setting());
                self.card.command(table, number, 0, entry.as_bytes())?;
            }
            74 => self.begin_queue(at)?,
            75 => self.begin_qp(at)?,
            76..78 => {
                let number = self.dice.pick(&NO_CQS);
                let arm = self.dice.below(3) << 30;
                let offset = regs::DbArm::OFFSET;
                self.card
                    .target
                    .write_register(offset, arm | number << 16 | 1)?;
            }
            _ => {
                let most = self.dice.pick(&[10, 100, 1500]);
                let clocks = self.dice.below(most);
                self.card.target.advance(clocks)?;
            }
        }
        self.card.target.take_frames()?;
        if self.rings[at].lost(&mut self.card)? && self.dice.percent(30) {
            self.begin_queue(at)?;
        }
        Ok(())
    }

    /// A message without bytes for a queue pair: an entry in its completion queue.
    fn packet(&mut self, at: usize) -> Result {
        let qp = &mut self.qps[at];
        self.card.place_receive(qp, &receive(&[]))?;
        self.card.ring_receive(qp)?;
        let psn = (qp.rq_psn() + u32::from(self.used[at])) & 0xFF_FFFF;
        self.used[at] = self.used[at].wrapping_add(1);
        let mut packet = Packet::new(qp, Opcode::SendOnly, psn);
        packet.solicited = self.dice.percent(30);
        self.card.target.send_frame(&packet.frame())
    }

    fn doorbell(&mut self, at: usize) -> Result {
        let value = (at as u32) << 16 | self.rings[at].consumer();
        self.card.target.write_register(regs::DbCq::OFFSET, value)
    }

    fn arm(&mut self, at: usize) -> Result {
        let arm = self.dice.below(3) << 30;
        let value = arm | (at as u32) << 16 | self.rings[at].consumer();
        self.card.target.write_register(regs::DbArm::OFFSET, value)
    }

    /// An entry with some moderation; the rest is for a ring.
    fn setting(&mut self) -> Record {
        Record::new(&CQ_CONTEXT)
            .with("valid", self.dice.percent(50))
            .with("log_size", self.dice.below(6))
            .with(
                "moderation_count",
                self.dice.pick(&[0, 1, 2, 3, 5, ENDLESS]),
            )
            .with(
                "moderation_interval",
                self.dice.pick(&[0, 1, 2, 10, 60, ENDLESS]),
            )
            .with("base", 0x1234_5600u64)
    }

    fn moderate(&mut self, cq: u32) -> Result {
        let entry = self.setting();
        self.card
            .command(Table::CqModeration, cq, 0, entry.as_bytes())
    }

    /// Another ring, right behind doorbells that speak of the old one.
    fn exchange(&mut self, at: usize) -> Result {
        for _ in 0..self.dice.below(5) {
            self.rings[at].consume(&mut self.card, 1)?;
            match self.dice.percent(50) {
                true => self.doorbell(at)?,
                false => self.arm(at)?,
            }
        }
        let (log, entry) = (self.dice.below(5), self.setting());
        self.rings[at].exchange(&mut self.card, log as u8, entry)
    }

    fn begin_queue(&mut self, at: usize) -> Result {
        let (log, entry) = (self.dice.below(5), self.setting());
        self.rings[at].begin(&mut self.card, log as u8, entry.with("valid", true))
    }

    fn begin_qp(&mut self, at: usize) -> Result {
        let qp = &mut self.qps[at];
        if self.dice.percent(50) && self.used[at] > 0 {
            self.card.write_qp(qp, QpState::Err)?;
            self.card.rest()?;
        }
        qp.renew();
        self.card.write_qp(qp, QpState::Init)?;
        for _ in 0..AHEAD {
            self.card.place_receive(qp, &receive(&[]))?;
        }
        self.used[at] = 0;
        self.card.ring_receive(qp)?;
        for state in [QpState::Rtr, QpState::Rts] {
            self.card.write_qp(qp, state)?;
        }
        Ok(())
    }
}

fn run(seed: u64, traffic: Traffic) -> Result {
    let mut world = World::new(seed, traffic)?;
    for _ in 0..STEPS {
        world.step()?;
    }
    world.card.rest()?;
    for at in 0..world.rings.len() {
        world.rings[at].consume(&mut world.card, u32::MAX)?;
    }
    world.card.target.finish()
}

#[test]
fn completion_queues_that_change_while_completions_flow() {
    for seed in seeds(8) {
        let traffic = match seed % 4 {
            0 => Traffic::IDEAL,
            1 => Traffic::RANDOM,
            2 => Traffic {
                write_latency: (200, 900),
                ..Traffic::IDEAL
            },
            _ => Traffic {
                back_pressure: 220,
                ..Traffic::RANDOM
            },
        };
        run(seed, traffic).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}
