//! A flood: everything that software and the network may do, in any order, some of it wrong.

use tandem_cosim::bus::Traffic;
use tandem_model::abi::{QpState, Table, WqeOpcode, regs};
use tandem_model::hal::{Hal, Target};
use tandem_model::wire::Frame;

use super::card::dice::Dice;
use super::card::memory::{self, REGIONS};
use super::card::packet::Packet;
use super::card::request::{Element, Request, receive};
use super::card::{Card, Result, proof};
use super::lane::Lane;
use super::spoil;

/// Queue pairs; their numbers follow those that belong to no one.
const LANES: u32 = 4;
const FIRST: u32 = 2;
/// Completion queues.
const CQS: u16 = 3;
/// A completion queue that does not exist.
const NO_CQ: u16 = 200;
/// log2 of entries of the rings. They are gone round at most once in each life of a queue pair, since nobody here
/// looks for completions.
const LOGS: (u8, u8) = (4, 3);

/// How wild a flood is.
#[derive(Clone, Copy, Debug)]
pub struct Flood {
    pub seed: u64,
    pub steps: u32,
    /// So many of a hundred things are wrong.
    pub heat: u32,
    pub traffic: Traffic,
}

struct State {
    card: Card,
    dice: Dice,
    heat: u32,
    lanes: Vec<Lane>,
    cq_rings: Vec<u64>,
    memory: u64,
}

impl Flood {
    /// Runs it; at the end a queue pair that begins anew must work, and all must be accounted for.
    pub fn run(self) -> Result {
        let mut card = Card::new(self.seed, self.traffic)?;
        let memory = memory::set_up(&mut card)?;
        let mut state = State {
            cq_rings: (0..CQS).map(|_| card.room(4096)).collect(),
            card,
            dice: Dice::new(self.seed),
            heat: self.heat,
            lanes: Vec::new(),
            memory,
        };
        for cq in 0..CQS {
            state.write_cq(cq)?;
        }
        for number in FIRST..FIRST + LANES {
            let cq = (number % u32::from(CQS)) as u16;
            let send_cq = if number == 5 { NO_CQ } else { cq };
            let mut qp = state.card.new_qp(number, LOGS, (send_cq, cq));
            qp.remote_read = number != 5;
            qp.remote_write = number != 4;
            state.lanes.push(Lane::new(qp));
        }
        for lane in 0..state.lanes.len() {
            state.begin_anew(lane)?;
        }
        for _ in 0..self.steps {
            state.step()?;
        }
        state.card.rest()?;
        let lane = &mut state.lanes[0];
        lane.begin_anew();
        proof::works(&mut state.card, &mut lane.qp, state.memory)?;
        state.card.target.finish()
    }
}

impl State {
    fn step(&mut self) -> Result {
        let lane = self.dice.below(LANES) as usize;
        match self.dice.below(100) {
            0..38 => self.request(lane)?,
            38..46 => self.post_receives(lane)?,
            46..54 => self.post_sends(lane)?,
            54..74 => {
                for packet in self.lanes[lane].response(&mut self.dice, self.heat) {
                    self.put(packet)?;
                }
            }
            74..77 => self.look_at_completions()?,
            77..79 => {
                let region = self.dice.below(REGIONS.len() as u32);
                memory::write(&mut self.card, region as usize, true)?;
            }
            79 => {
                let region = 1 + self.dice.below(REGIONS.len() as u32 - 1);
                memory::write(&mut self.card, region as usize, false)?;
            }
            80 => {
                let cq = self.dice.below(CQS.into()) as u16;
                self.write_cq(cq)?;
            }
            81 => self.fail(lane)?,
            82 => self.ring_nobody()?,
            83..92 => self.begin_anew_what_failed()?,
            92 => {
                let table = self
                    .dice
                    .pick(&[Table::Qp, Table::Cq, Table::Token, Table::Page]);
                self.card.command(table, 0xFF_FFF0, 1, &[3, 0, 0, 0])?;
            }
            _ => {
                let clocks = self.dice.below(400);
                self.card.target.advance(clocks)?;
            }
        }
        self.listen()
    }

    fn request(&mut self, lane: usize) -> Result {
        let packet = self.lanes[lane].request(&mut self.dice, self.heat);
        self.put(packet)
    }

    /// Puts a packet on the wire, sometimes twice, sometimes as a frame that is not for its queue pair.
    fn put(&mut self, mut packet: Packet) -> Result {
        let frame = match self.dice.percent(self.heat / 4) {
            true => spoil::frame(&mut self.dice, &mut packet),
            false => packet.frame(),
        };
        self.card.target.send_frame(&frame)?;
        if self.dice.percent(3) {
            self.card.target.send_frame(&frame)?;
        }
        Ok(())
    }

    /// What the engine has sent.
    fn listen(&mut self) -> Result {
        for frame in self.card.target.take_frames()? {
            let Ok(frame) = Frame::parse(&frame) else {
                continue;
            };
            let peer = frame.bth.dest_qp.get();
            let lane = self.lanes.iter_mut().find(|lane| lane.qp.peer() == peer);
            if let Some(lane) = lane {
                lane.seen(&frame);
            }
        }
        Ok(())
    }

    /// Elements for so many bytes; in `wild` of a hundred one is of any region.
    fn elements(&mut self, total: u32, most: u32, wild: u32) -> Vec<Element> {
        let count = 1 + self.dice.below(most);
        let mut left = total;
        let mut elements = Vec::new();
        for place in 1..=count {
            let length = match place == count {
                true => left,
                false if self.dice.percent(30) => 0,
                false => self.dice.below(total / 2 + 1).min(left),
            };
            left -= length;
            let region = match self.dice.percent(wild) {
                true => &REGIONS[self.dice.below(REGIONS.len() as u32) as usize],
                false => &REGIONS[0],
            };
            let room = region.length.saturating_sub(length.into()).max(1);
            let beyond = if self.dice.percent(wild / 3) {
                0x3000
            } else {
                0
            };
            elements.push(Element {
                address: region.base + u64::from(self.dice.below(room as u32)) + beyond,
                length,
                token: region.token,
            });
        }
        elements
    }

    fn post_receives(&mut self, lane: usize) -> Result {
        for _ in 0..=self.dice.below(3) {
            if self.lanes[lane].qp.posted >= 1 << LOGS.1 {
                break;
            }
            let total = self.dice.pick(&[0, 10, 300, 1500, 3000]);
            let entry = receive(&self.elements(total, 4, 8));
            let qp = &mut self.lanes[lane].qp;
            self.card.place_receive(qp, &entry)?;
        }
        self.card.ring_receive(&self.lanes[lane].qp)
    }

    fn post_sends(&mut self, lane: usize) -> Result {
        for _ in 0..=self.dice.below(3) {
            let index = self.lanes[lane].qp.sent;
            if index >= 1 << LOGS.0 {
                break;
            }
            let entry = self.send(index);
            let qp = &mut self.lanes[lane].qp;
            self.card.place_send(qp, &entry)?;
        }
        self.card.ring_send(&self.lanes[lane].qp)
    }

    fn send(&mut self, index: u16) -> Vec<u8> {
        use WqeOpcode::{Read, Send, SendInvalidate, Write};
        let dice = &mut self.dice;
        let opcode = match dice.percent(3) {
            true => dice.below(8) as u8,
            false => dice.pick(&[Send, Send, SendInvalidate, Read, Read, Write]) as u8,
        };
        let read = opcode == Read as u8;
        let length = dice.pick(&[0, 1, 40, 300, 1500, 2500]);
        let inline = (!read && length <= 96 && dice.percent(30)).then(|| dice.bytes(length));
        let elements = match inline {
            Some(_) => Vec::new(),
            None => self.elements(length, if read { 4 } else { 6 }, 6),
        };
        let dice = &mut self.dice;
        let request = Request {
            opcode,
            silent: dice.percent(50),
            fence: dice.percent(50),
            solicited: dice.percent(50),
            index: if dice.percent(2) { 77 } else { index },
            length,
            invalidate: 0x1234,
            remote: (0x1_2345_6789, 0x999),
            elements,
            inline,
        };
        request.bytes()
    }

    fn look_at_completions(&mut self) -> Result {
        let (cq, index) = (self.dice.below(4), self.dice.below(20));
        let value = cq << 16 | index;
        match self.dice.percent(50) {
            true => {
                let arm = self.dice.below(3) << 30;
                let offset = regs::DbArm::OFFSET;
                self.card.target.write_register(offset, arm | value)
            }
            false => self.card.target.write_register(regs::DbCq::OFFSET, value),
        }
    }

    fn write_cq(&mut self, cq: u16) -> Result {
        let log = self.dice.pick(&[2, 4, 7]);
        let valid = cq != 2 || self.dice.percent(50);
        let ring = self.cq_rings[usize::from(cq)];
        self.card.write_cq(cq, valid, log, ring)
    }

    /// Software lets a queue pair fail.
    fn fail(&mut self, lane: usize) -> Result {
        let qp = &self.lanes[lane].qp;
        if self.card.qp_state(qp.number)? == QpState::Reset {
            return Ok(());
        }
        self.card.write_qp(qp, QpState::Err)
    }

    /// Doorbells of queues that are not there.
    fn ring_nobody(&mut self) -> Result {
        let number = self.dice.pick(&[0u32, 1, 64, 70, 0xFFFF]);
        let offset = self.dice.pick(&[
            regs::DbSq::OFFSET,
            regs::DbRq::OFFSET,
            regs::DbCq::OFFSET,
            regs::DbArm::OFFSET,
        ]);
        self.card.target.write_register(offset, number << 16 | 3)
    }

    fn begin_anew_what_failed(&mut self) -> Result {
        for lane in 0..self.lanes.len() {
            let number = self.lanes[lane].qp.number;
            let works = self.card.qp_state(number)? == QpState::Rts;
            if !works && self.dice.percent(60) {
                self.begin_anew(lane)?;
            }
        }
        Ok(())
    }

    /// Takes a queue pair through its states on the same rings, with something going on in each of them.
    fn begin_anew(&mut self, lane: usize) -> Result {
        let dice = &mut self.dice;
        let mtu = dice.pick(&[256, 512, 1024]);
        let max_ird = dice.below(4) as u8;
        let timeout = dice.pick(&[0, 0, 1, 2]);
        let retries = (dice.below(4) as u8, dice.pick(&[0, 1, 7]));
        let reset = dice.percent(50);
        let known = &mut self.lanes[lane];
        known.begin_anew();
        (known.qp.mtu, known.qp.max_ird) = (mtu, max_ird);
        (known.qp.timeout, (known.qp.retry_cnt, known.qp.rnr_retry)) = (timeout, retries);
        if reset {
            self.card.write_qp(&known.qp, QpState::Reset)?;
        }
        self.card.write_qp(&known.qp, QpState::Init)?;
        if self.dice.percent(50) {
            self.post_receives(lane)?;
        }
        if self.dice.percent(50) {
            self.card.write_qp(&self.lanes[lane].qp, QpState::Rtr)?;
            if self.dice.percent(50) {
                self.request(lane)?;
            }
        }
        // From QpErr there is no way to QpRts: what may yet take it there must be over.
        self.card.rest()?;
        let qp = &self.lanes[lane].qp;
        match self.card.qp_state(qp.number)? {
            QpState::Err => Ok(()),
            _ => self.card.write_qp(qp, QpState::Rts),
        }
    }
}
