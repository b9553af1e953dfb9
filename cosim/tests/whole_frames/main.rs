//! Queue pair 1 beside a connection, in lockstep: whole frames of all lengths in and out, some of them wrong, receives
//! that are missing, too small or not allowed, reads that the bus answers with an error, and lives that end and begin
//! anew.
//!
//! `TANDEM_HOSTILE_SEEDS=300` has more seeds than the ordinary run.

#[allow(dead_code, reason = "packets of a connection only")]
#[path = "../hostile/bad.rs"]
mod bad;
#[path = "../card/mod.rs"]
mod card;
mod frames;
#[path = "../hostile/lane.rs"]
mod lane;
#[path = "../hostile/mutate.rs"]
mod mutate;
#[allow(dead_code, reason = "packets of a connection only")]
#[path = "../hostile/spoil.rs"]
mod spoil;

use card::dice::Dice;
use card::memory::{self, REGIONS};
use card::request::{Element, Request, receive};
use card::{Card, PD, Qp, Result, seeds};
use lane::Lane;
use tandem_cosim::bus::Traffic;
use tandem_model::abi::{QpState, Record, TOKEN_CONTEXT, Table, TokenKind, WqeOpcode, regs};
use tandem_model::hal::{Hal, HalError, Target};
use tandem_model::wire::Frame;

/// log2 of entries of the rings; both rings are gone round many times.
const LOGS: (u8, u8) = (4, 4);
const CQ: u16 = 0;
const CQ_LOG: u8 = 7;
/// A token for logical addresses.
const PRIVILEGED: u32 = 0x2001;
/// An address at which there is no memory.
const NOWHERE: u64 = 0x7FFF_FFFF_0000;
const STEPS: u32 = 500;

struct World {
    card: Card,
    dice: Dice,
    /// So many of a hundred things are wrong.
    heat: u32,
    frames: Qp,
    lane: Lane,
    ring: u64,
    memory: u64,
    /// Receives and sends that were posted in this life, and may be still in the rings.
    pending: (u16, u16),
}

impl World {
    fn new(seed: u64, heat: u32, traffic: Traffic) -> Result<Self> {
        let mut card = Card::new(seed, traffic)?;
        let memory = memory::set_up(&mut card)?;
        let privileged = Record::new(&TOKEN_CONTEXT)
            .with("valid", true)
            .with("kind", TokenKind::Privileged)
            .with("local_write", true)
            .with("key", PRIVILEGED & 0xFF)
            .with("pd", PD);
        card.command(Table::Token, PRIVILEGED >> 8, 0, privileged.as_bytes())?;
        let ring = card.room(4096);
        card.write_cq(CQ, true, CQ_LOG, ring)?;
        let frames = card.new_qp(1, LOGS, (CQ, CQ));
        let lane = Lane::new(card.new_qp(2, LOGS, (CQ, CQ)));
        let mut world = Self {
            card,
            dice: Dice::new(seed),
            heat,
            frames,
            lane,
            ring,
            memory,
            pending: (0, 0),
        };
        world.begin_connection()?;
        world.begin_frames()?;
        Ok(world)
    }

    fn step(&mut self) -> Result {
        match self.dice.below(100) {
            0..30 => {
                let frame = frames::any(&mut self.dice, &self.lane.qp, self.heat);
                self.card.target.send_frame(&frame)?;
            }
            30..45 => self.post_receives()?,
            45..62 => self.post_frames()?,
            62..70 => {
                let packet = self.lane.request(&mut self.dice, self.heat / 3);
                self.card.target.send_frame(&packet.frame())?;
            }
            70..75 => self.post_to_the_connection()?,
            75..80 => {
                for packet in self.lane.response(&mut self.dice, 0) {
                    self.card.target.send_frame(&packet.frame())?;
                }
            }
            80..83 => self.change_state()?,
            83 => self.begin_what_failed()?,
            _ => {
                let most = self.dice.pick(&[20, 200, 2000]);
                let clocks = self.dice.below(most);
                self.card.target.advance(clocks)?;
            }
        }
        for frame in self.card.target.take_frames()? {
            match Frame::parse(&frame) {
                Ok(frame) if frame.bth.dest_qp.get() == self.lane.qp.peer() => {
                    self.lane.seen(&frame);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Elements for so many bytes of a frame; with a region that refuses them now and then, or memory that is not there.
    fn elements(&mut self, total: u32, most: u32) -> Vec<Element> {
        let dice = &mut self.dice;
        let count = 1 + dice.below(most);
        let mut left = total;
        let mut elements = Vec::new();
        for place in 1..=count {
            let length = match place == count {
                true => left,
                false if dice.percent(20) => 0,
                false => dice.below(total / 2 + 1).min(left),
            };
            left -= length;
            let wrong = dice.percent(self.heat);
            if wrong && dice.percent(30) {
                let address = NOWHERE + u64::from(dice.below(0x800));
                elements.push(Element {
                    address,
                    length,
                    token: PRIVILEGED,
                });
                continue;
            }
            let number = if wrong {
                dice.below(REGIONS.len() as u32)
            } else {
                0
            };
            let region = &REGIONS[number as usize];
            let room = region.length.saturating_sub(length.into()).max(1);
            elements.push(Element {
                address: region.base + u64::from(dice.below(room as u32)),
                length,
                token: region.token,
            });
        }
        elements
    }

    fn post_receives(&mut self) -> Result {
        for _ in 0..=self.dice.below(4) {
            if self.pending.0 >= 1 << LOGS.1 {
                return self.settle();
            }
            let total = self.dice.pick(&[0, 14, 60, 700, 2048, 2048, 3000]);
            let entry = receive(&self.elements(total, 4));
            self.card.place_receive(&mut self.frames, &entry)?;
            self.pending.0 += 1;
        }
        self.card.ring_receive(&self.frames)
    }

    fn post_frames(&mut self) -> Result {
        for _ in 0..=self.dice.below(4) {
            if self.pending.1 >= 1 << LOGS.0 {
                return self.settle();
            }
            let index = self.frames.sent;
            let entry = self.request(WqeOpcode::Frame, index).bytes();
            self.card.place_send(&mut self.frames, &entry)?;
            self.pending.1 += 1;
        }
        self.card.ring_send(&self.frames)
    }

    /// A frame to be sent, or (in `heat` / 8 of a hundred) something that is none.
    fn request(&mut self, opcode: WqeOpcode, index: u16) -> Request {
        let dice = &mut self.dice;
        let wrong = dice.percent(self.heat / 8);
        let length = match wrong {
            true => dice.pick(&[0, 1, 13, 2049, 3000, 8206]),
            false => frames::length(dice),
        };
        let inline = (length <= 96 && dice.percent(50)).then(|| dice.bytes(length));
        let elements = match inline {
            Some(_) => Vec::new(),
            None => self.elements(length, 6),
        };
        let dice = &mut self.dice;
        let other = dice.below(10) as u8;
        Request {
            opcode: if dice.percent(self.heat / 8) {
                other
            } else {
                opcode as u8
            },
            silent: dice.percent(30),
            fence: dice.percent(30),
            solicited: dice.percent(30),
            index: if dice.percent(self.heat / 12) {
                77
            } else {
                index
            },
            length: if dice.percent(self.heat / 12) {
                length + 1
            } else {
                length
            },
            elements,
            inline,
            ..Request::default()
        }
    }

    /// Writes of the connection, and now and then a frame, which does not belong there.
    fn post_to_the_connection(&mut self) -> Result {
        let qp = &self.lane.qp;
        if qp.sent >= 1 << LOGS.0 || self.card.qp_state(qp.number)? != QpState::Rts {
            return Ok(());
        }
        let opcode = match self.dice.percent(self.heat) {
            true => WqeOpcode::Frame,
            false => WqeOpcode::Write,
        };
        let index = self.lane.qp.sent;
        let entry = self.request(opcode, index).bytes();
        self.card.place_send(&mut self.lane.qp, &entry)?;
        self.card.ring_send(&self.lane.qp)
    }

    /// Lets all that was posted become what it can, and the completion queue be empty.
    fn settle(&mut self) -> Result {
        self.card.rest()?;
        self.consume()?;
        self.begin_frames()
    }

    /// All entries are consumed; there are none on their way.
    fn consume(&mut self) -> Result {
        self.card.write_cq(CQ, true, CQ_LOG, self.ring)?;
        let arm = self.dice.below(3) << 30 | u32::from(CQ) << 16;
        self.card.target.write_register(regs::DbArm::OFFSET, arm)
    }

    /// Queue pair 1 in another state.
    fn change_state(&mut self) -> Result {
        let state = self.card.qp_state(1)?;
        let next = match (state, self.dice.below(4)) {
            (QpState::Rtr, _) => QpState::Rts,
            (QpState::Rts, 0) => QpState::Err,
            (QpState::Rts, _) => QpState::Rtr,
            _ => return self.begin_frames(),
        };
        // From QpErr there is no way to QpRts.
        if next != QpState::Err {
            self.card.rest()?;
            if self.card.qp_state(1)? != state {
                return Ok(());
            }
        }
        self.card.write_qp(&self.frames, next)
    }

    fn begin_what_failed(&mut self) -> Result {
        if self.card.qp_state(self.lane.qp.number)? == QpState::Err {
            self.begin_connection()?;
        }
        if self.card.qp_state(1)? == QpState::Err {
            self.begin_frames()?;
        }
        Ok(())
    }

    /// Queue pair 1 begins anew, with frames coming in meanwhile.
    fn begin_frames(&mut self) -> Result {
        self.frames.renew();
        self.pending = (0, 0);
        if self.dice.percent(50) {
            self.card.write_qp(&self.frames, QpState::Reset)?;
        }
        self.card.write_qp(&self.frames, QpState::Init)?;
        for state in [QpState::Rtr, QpState::Rts] {
            for _ in 0..self.dice.below(3) {
                let frame = frames::any(&mut self.dice, &self.lane.qp, 0);
                self.card.target.send_frame(&frame)?;
            }
            if self.card.qp_state(1)? != QpState::Err {
                self.card.rest()?;
            }
            if self.card.qp_state(1)? != QpState::Err {
                self.card.write_qp(&self.frames, state)?;
            }
        }
        Ok(())
    }

    fn begin_connection(&mut self) -> Result {
        self.lane.begin_anew();
        for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
            self.card.write_qp(&self.lane.qp, state)?;
        }
        for _ in 0..4 {
            let entry = receive(&self.elements(2000, 4));
            self.card.place_receive(&mut self.lane.qp, &entry)?;
        }
        self.card.ring_receive(&self.lane.qp)
    }

    /// A frame each way, of whatever length, comes as it went.
    fn proof(&mut self) -> Result {
        const PLACE: u64 = 0x2FFB;
        let wrong = |what: String| Err(HalError::Stopped(what));
        for length in [14, 60, 2047, 2048] {
            self.settle()?;
            self.card.target.take_frames()?;
            let element = |offset, length| Element {
                address: REGIONS[0].base + offset,
                length,
                token: REGIONS[0].token,
            };
            let frame = frames::of_type(&mut self.dice, 0x88B5, length);
            let entry = receive(&[element(PLACE, 9), element(PLACE + 9, 2039)]);
            self.card.place_receive(&mut self.frames, &entry)?;
            self.card.ring_receive(&self.frames)?;
            self.card.target.advance(50)?;
            self.card.target.send_frame(&frame)?;
            self.card.rest()?;
            let placed = memory::read(&mut self.card, self.memory, PLACE, length.into())?;
            if placed != frame {
                return wrong(format!(
                    "a frame of {length} bytes was not placed as it came"
                ));
            }
            let elements = vec![element(PLACE, 5), element(PLACE + 5, length - 5)];
            let request = Request::new(WqeOpcode::Frame, self.frames.sent, elements);
            self.card.place_send(&mut self.frames, &request.bytes())?;
            self.card.ring_send(&self.frames)?;
            self.card.rest()?;
            let sent = self.card.target.take_frames()?;
            if !sent.contains(&frame) {
                return wrong(format!("a frame of {length} bytes did not leave as it is"));
            }
        }
        Ok(())
    }
}

fn run(seed: u64, heat: u32, traffic: Traffic) -> Result {
    let mut world = World::new(seed, heat, traffic)?;
    for _ in 0..STEPS {
        world.step()?;
    }
    world.card.rest()?;
    world.proof()?;
    world.card.target.finish()
}

/// How much is wrong.
const HEATS: [u32; 4] = [0, 8, 12, 25];

#[test]
fn whole_frames_beside_a_connection() {
    for seed in seeds(8) {
        let traffic = match seed % 4 {
            0 => Traffic::IDEAL,
            1 => Traffic::RANDOM,
            2 => Traffic {
                read_latency: (2, 900),
                ..Traffic::RANDOM
            },
            _ => Traffic {
                write_latency: (2, 900),
                ..Traffic::IDEAL
            },
        };
        let heat = HEATS[(seed / 4 % 4) as usize];
        run(seed, heat, traffic).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}
