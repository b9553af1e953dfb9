//! What happens to the queues and queue pairs of one engine, by a seed.

use std::collections::VecDeque;

use tandem_cosim::bus::Traffic;
use tandem_model::abi::{CQE, EventKind, QpState, Record, Status, regs};
use tandem_model::hal::{Hal, HalError, Target};
use tandem_model::wire::Frame;

use super::card::dice::Dice;
use super::card::memory::{self, REGIONS};
use super::card::request::{Element, receive};
use super::card::{Card, Result};
use super::peer::Peer;
use super::queue::{LOG, Queue};

/// The completion queue, with room for the entries of a whole run.
const CQ: u16 = 1;
const CQ_LOG: u8 = 13;
/// Shared receive queues that exist, and numbers of others: one not valid, others outside the table.
const QUEUES: [u16; 3] = [3, 0, 15];
const OTHERS: [u16; 3] = [5, 16, 0xFFFF];
/// Shared receive queue of each queue pair; one has a ring of its own, one never gets a receive.
const USES: [Option<u16>; 7] = [Some(3), Some(3), Some(3), Some(0), Some(15), None, Some(16)];
/// Number of the first queue pair.
const FIRST: u32 = 2;
/// Bytes of a packet.
const MTU: u32 = 256;
/// log2 of the entries of a receive ring that is not shared.
const OWN_LOG: u8 = 3;
/// Rounds in which everything that is left has to come to its end.
const END_ROUNDS: u32 = 200;

/// How often something happened.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub received: u32,
    pub refused: u32,
    pub flushed: u32,
    pub not_ready: u32,
    pub lost: u32,
    pub limits: u32,
    pub last: u32,
    pub rewritten: u32,
}

impl Seen {
    pub fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.refused += other.refused;
        self.flushed += other.flushed;
        self.not_ready += other.not_ready;
        self.lost += other.lost;
        self.limits += other.limits;
        self.last += other.last;
        self.rewritten += other.rewritten;
    }
}

/// See the module.
pub struct History {
    card: Card,
    dice: Dice,
    queues: Vec<Queue>,
    peers: Vec<Peer>,
    /// Completion ring and entries taken from it.
    ring: u64,
    completed: u32,
    /// Receives of the queue pair with a ring of its own that are not completed.
    own_outstanding: u32,
    log: VecDeque<String>,
    pub seen: Seen,
}

impl History {
    pub fn new(seed: u64, traffic: Traffic) -> Result<Self> {
        let mut card = Card::new(seed, traffic)?;
        memory::set_up(&mut card)?;
        let ring = card.room(32 << CQ_LOG);
        card.write_cq(CQ, true, CQ_LOG, ring)?;
        let mut dice = Dice::new(seed);
        let mut queues = Vec::new();
        for number in QUEUES {
            let mut queue = Queue::new(&mut card, number);
            queue.write(&mut card, true, dice.pick(&[0, 1, 2, 3]))?;
            queues.push(queue);
        }
        let mut peers = Vec::new();
        for (number, srq) in (FIRST..).zip(USES) {
            let mut qp = card.new_qp(number, (2, OWN_LOG), (CQ, CQ));
            qp.mtu = MTU;
            qp.srq = srq;
            card.begin_anew(&mut qp)?;
            peers.push(Peer::new(qp));
        }
        Ok(Self {
            card,
            dice,
            queues,
            peers,
            ring,
            completed: 0,
            own_outstanding: 0,
            log: VecDeque::new(),
            seen: Seen::default(),
        })
    }

    /// The last steps.
    pub fn log(&self) -> String {
        let lines: Vec<&str> = self.log.iter().map(String::as_str).collect();
        lines.join("\n")
    }

    fn note(&mut self, what: String) {
        self.log.push_back(what);
        if self.log.len() > 40 {
            self.log.pop_front();
        }
    }

    /// So many steps, and then everything comes to its end.
    pub fn run(&mut self, steps: u32) -> Result {
        for _ in 0..steps {
            self.step()?;
        }
        self.end()
    }

    fn step(&mut self) -> Result {
        match self.dice.below(100) {
            0..18 => self.post()?,
            18..30 => self.message(),
            30..72 => self.deliver()?,
            72..80 => self.arm()?,
            80..82 => self.stray()?,
            82..84 => self.rewrite()?,
            84..86 => self.fail()?,
            86..90 => self.revive()?,
            90..94 => {
                let peer = self.dice.below(self.peers.len() as u32) as usize;
                self.peers[peer].go_back();
            }
            94 => self.card.rest()?,
            _ => {
                let clocks = self.dice.pick(&[1, 5, 20, 60, 300]);
                self.card.target.advance(clocks)?;
            }
        }
        if self.dice.percent(30) {
            let clocks = self.dice.below(30);
            self.card.target.advance(clocks)?;
        }
        self.poll()
    }

    /// Elements of a receive. Few bytes refuse a message, as some regions do.
    fn elements(&mut self) -> Vec<Element> {
        let dice = &mut self.dice;
        let count = dice.below(5);
        let mut elements = Vec::new();
        for _ in 0..count {
            let region = match dice.percent(4) {
                true => dice.pick(&REGIONS),
                false => REGIONS[0],
            };
            let length = dice.pick(&[0, 1, 100, 256, 700, 1000]);
            let room = region.length.saturating_sub(length).max(1);
            elements.push(Element {
                address: region.base + u64::from(dice.below(room as u32)),
                length: length as u32,
                token: region.token,
            });
        }
        if dice.percent(85) {
            elements.truncate(3);
            elements.push(Element {
                address: REGIONS[0].base + 0x2000,
                length: 4 * MTU,
                token: REGIONS[0].token,
            });
        }
        elements
    }

    fn post(&mut self) -> Result {
        let number = self.dice.below(self.queues.len() as u32 + 1) as usize;
        let count = 1 + self.dice.below(3);
        if number == self.queues.len() {
            return self.post_own(count);
        }
        let mut placed = 0;
        for _ in 0..count {
            if self.queues[number].has_room() {
                let entry = receive(&self.elements());
                self.queues[number].place(&mut self.card, &entry)?;
                placed += 1;
            }
        }
        let queue = &self.queues[number];
        let what = format!("post {placed} to {}", queue.number);
        if queue.valid {
            queue.ring(&mut self.card)?;
        }
        self.note(what);
        Ok(())
    }

    fn post_own(&mut self, count: u32) -> Result {
        for _ in 0..count {
            let entry = receive(&self.elements());
            let Some(peer) = self.peers.iter_mut().find(|peer| peer.qp.srq.is_none()) else {
                return Ok(());
            };
            if self.own_outstanding < 1 << OWN_LOG {
                self.own_outstanding += 1;
                self.card.place_receive(&mut peer.qp, &entry)?;
            }
            self.card.ring_receive(&peer.qp)?;
        }
        Ok(())
    }

    fn message(&mut self) {
        let number = self.dice.below(self.peers.len() as u32) as usize;
        let peer = &mut self.peers[number];
        match self.dice.below(40) {
            0 => peer.refused(&mut self.dice),
            1..7 => peer.write(&mut self.dice),
            7..20 => {
                let length = self.dice.below(MTU);
                peer.send(&mut self.dice, length);
            }
            _ => {
                let length = MTU + self.dice.below(3 * MTU);
                peer.send(&mut self.dice, length);
            }
        }
    }

    /// Some packets of some peers reach the engine.
    fn deliver(&mut self) -> Result {
        for _ in 0..1 + self.dice.below(4) {
            let number = self.dice.below(self.peers.len() as u32) as usize;
            let Some(packet) = self.peers[number].offer() else {
                continue;
            };
            let what = format!(
                "{:?} to {}, PSN {:x}",
                packet.opcode, packet.qpn, packet.psn
            );
            if self.dice.percent(4) {
                self.seen.lost += 1;
                self.note(format!("lost: {what}"));
                continue;
            }
            self.note(what);
            let frame = packet.frame();
            self.card.target.send_frame(&frame)?;
            if self.dice.percent(4) {
                self.card.target.send_frame(&frame)?;
            }
        }
        Ok(())
    }

    fn arm(&mut self) -> Result {
        let number = self.dice.below(self.queues.len() as u32) as usize;
        let limit = self.dice.pick(&[0, 1, 1, 2, 2, 3, 5, 0xFFFF]);
        let queue = &self.queues[number];
        let what = format!("arm {} with {limit}", queue.number);
        queue.arm(&mut self.card, limit)?;
        self.note(what);
        Ok(())
    }

    /// Doorbells that have no effect.
    fn stray(&mut self) -> Result {
        let number = self.dice.pick(&OTHERS);
        let index = self.dice.below(4);
        let value = u32::from(number) << 16 | index;
        let offset = self
            .dice
            .pick(&[regs::DbSrq::OFFSET, regs::DbSrqLimit::OFFSET]);
        self.card.target.write_register(offset, value)?;
        let shared = FIRST + self.dice.below(5);
        let value = shared << 16 | index;
        self.card.target.write_register(regs::DbRq::OFFSET, value)
    }

    /// Writes a queue's entry anew, in whatever state its users are.
    fn rewrite(&mut self) -> Result {
        let number = self.dice.below(self.queues.len() as u32) as usize;
        let calm = self.dice.percent(40);
        if calm {
            self.card.rest()?;
            self.poll()?;
        }
        let valid = self.dice.percent(80);
        let queue = &mut self.queues[number];
        // What is outstanding may complete later, and counts for places of the new ring: after a rest that
        // is at most one for each user.
        if calm {
            let users = USES.iter().filter(|srq| **srq == Some(queue.number));
            queue.outstanding = queue.outstanding.min(users.count() as u32);
        }
        let least = 32 - queue.outstanding.leading_zeros();
        let log = (least as u8 + self.dice.below(3) as u8).min(LOG);
        queue.write(&mut self.card, valid, log)?;
        self.seen.rewritten += 1;
        let what = format!(
            "queue {} anew: valid {valid}, log {log}",
            self.queues[number].number
        );
        self.note(what);
        Ok(())
    }

    /// Software puts a queue pair into error.
    fn fail(&mut self) -> Result {
        let number = self.dice.below(self.peers.len() as u32) as usize;
        let peer = &mut self.peers[number];
        if peer.failed {
            return Ok(());
        }
        peer.failed = true;
        let qpn = peer.qp.number;
        let qp = peer.qp.clone();
        self.card.write_qp(&qp, QpState::Err)?;
        self.note(format!("queue pair {qpn} in error"));
        Ok(())
    }

    /// A queue pair begins anew: one that has failed, seldom another one.
    fn revive(&mut self) -> Result {
        let number = self.dice.below(self.peers.len() as u32) as usize;
        if !self.peers[number].failed && self.dice.percent(85) {
            return Ok(());
        }
        if self.dice.percent(50) {
            self.rest()?;
        }
        self.begin_anew(number)
    }

    /// Nothing happens any more: all queue pairs in error have let their shared receives go, and said so.
    fn rest(&mut self) -> Result {
        self.card.rest()?;
        self.poll()?;
        let holds = |peer: &&Peer| peer.failed && peer.qp.srq.is_some() && !peer.let_go;
        match self.peers.iter().find(holds) {
            Some(peer) => Err(HalError::Stopped(format!(
                "queue pair {} has not said that it holds no receive",
                peer.qp.number
            ))),
            None => Ok(()),
        }
    }

    fn begin_anew(&mut self, number: usize) -> Result {
        if self.peers[number].qp.srq.is_none() {
            // So that what its ring held is known to be done.
            self.rest()?;
        }
        let peer = &mut self.peers[number];
        if self.dice.percent(20) {
            self.card.write_qp(&peer.qp, QpState::Reset)?;
        }
        self.card.begin_anew(&mut peer.qp)?;
        peer.begin_anew();
        if peer.qp.srq.is_none() {
            self.own_outstanding = 0;
        }
        let qpn = peer.qp.number;
        self.note(format!("queue pair {qpn} begins anew"));
        Ok(())
    }

    /// Takes what the engine has sent, completed and told.
    fn poll(&mut self) -> Result {
        for bytes in self.card.target.take_frames()? {
            let frame = Frame::parse(&bytes)
                .map_err(|error| HalError::Stopped(format!("a frame of the engine: {error:?}")))?;
            let qpn = frame.bth.dest_qp.get();
            let Some(peer) = self.peers.iter_mut().find(|peer| peer.qp.peer() == qpn) else {
                return Err(HalError::Stopped(format!("a frame for queue pair {qpn}")));
            };
            self.seen.not_ready += u32::from(peer.answer(&frame));
        }
        self.poll_completions()?;
        for event in self.card.events()? {
            match EventKind::from_bits(event.get("kind")) {
                Some(EventKind::SrqLimit) => self.seen.limits += 1,
                Some(EventKind::LastWqe) => {
                    self.seen.last += 1;
                    let number = event.get("number") as u32;
                    let peer = self.peers.iter_mut().find(|peer| peer.qp.number == number);
                    peer.into_iter().for_each(|peer| peer.let_go = true);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn poll_completions(&mut self) -> Result {
        loop {
            let slot = u64::from(self.completed) & ((1 << CQ_LOG) - 1);
            let mut bytes = vec![0; CQE.bytes()];
            let address = self.ring + slot * CQE.bytes() as u64;
            self.card.target.read_memory(address, &mut bytes)?;
            let entry = Record::from_bytes(&CQE, &bytes);
            let phase = u128::from(self.completed >> CQ_LOG & 1 == 0);
            if entry.get("phase") != phase {
                return Ok(());
            }
            self.completed += 1;
            match Status::from_bits(entry.get("status")) {
                Some(Status::Success) => self.seen.received += 1,
                Some(Status::Flushed) => self.seen.flushed += 1,
                _ => self.seen.refused += 1,
            }
            let user = USES[entry.get("qpn") as usize - FIRST as usize];
            match self
                .queues
                .iter_mut()
                .find(|queue| Some(queue.number) == user)
            {
                Some(queue) => queue.outstanding = queue.outstanding.saturating_sub(1),
                None => self.own_outstanding = self.own_outstanding.saturating_sub(1),
            }
        }
    }

    /// All queues get receives, all queue pairs work, and every message comes to its end.
    fn end(&mut self) -> Result {
        self.rest()?;
        for number in 0..self.queues.len() {
            self.queues[number].outstanding = USES.len() as u32;
            self.queues[number].write(&mut self.card, true, LOG)?;
        }
        for number in 0..self.peers.len() {
            self.begin_anew(number)?;
            let length = self.dice.below(3 * MTU);
            self.peers[number].send(&mut self.dice, length);
        }
        let good = Element {
            address: REGIONS[0].base,
            length: 4 * MTU,
            token: REGIONS[0].token,
        };
        let entry = receive(&[good]);
        for queue in &mut self.queues {
            for _ in USES {
                queue.place(&mut self.card, &entry)?;
            }
            queue.ring(&mut self.card)?;
        }
        for peer in self.peers.iter_mut().filter(|peer| peer.qp.srq.is_none()) {
            self.card.place_receive(&mut peer.qp, &entry)?;
            self.card.ring_receive(&peer.qp)?;
        }
        let served = |peer: &Peer| peer.is_done() || peer.qp.srq == Some(16);
        for round in 0..END_ROUNDS {
            self.deliver()?;
            self.card.target.advance(300)?;
            self.poll()?;
            if self.peers.iter().all(served) {
                break;
            }
            if round % 8 == 7 {
                self.peers.iter_mut().for_each(Peer::go_back);
            }
        }
        self.card.rest()?;
        if let Some(peer) = self.peers.iter().find(|peer| !served(peer)) {
            return Err(HalError::Stopped(format!("never done: {peer:?}")));
        }
        self.card.target.finish()
    }
}
