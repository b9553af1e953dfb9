//! What a peer knows of one queue pair, and what it sends to it: requests and answers that fit, and some that do not.

use std::collections::VecDeque;

use tandem_model::wire::{Ext, Frame, Opcode, Psn, Reth, Token};

use super::card::Qp;
use super::card::dice::Dice;
use super::card::memory::{FAST, REGIONS, Region};
use super::card::packet::{Packet, aeth};
use super::spoil;

/// The message that the peer is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    None,
    /// Middles before the last packet.
    Send {
        middles: u32,
    },
    /// Bytes that are left.
    Write {
        left: u32,
    },
}

/// See the module.
#[derive(Debug)]
pub struct Lane {
    pub qp: Qp,
    /// PSN of the next request that the engine takes.
    expected: u32,
    message: Message,
    /// Requests of the engine that are not acknowledged: the first, and the one after the last.
    unacknowledged: u32,
    next: u32,
    /// Reads of the engine: PSN, length.
    reads: VecDeque<(u32, u32)>,
}

/// `psn` and `steps` later.
fn later(psn: u32, steps: u32) -> u32 {
    psn.wrapping_add(steps) & 0xFF_FFFF
}

fn reth(address: u64, region: &Region, length: u32) -> Ext {
    Ext::Reth(Reth {
        va: address,
        token: Token(region.token),
        length,
    })
}

/// An address in a region, with room for so many bytes if there can be.
fn inside(dice: &mut Dice, region: &Region, length: u32) -> u64 {
    let room = region.length.saturating_sub(length.into()).max(1);
    region.base + u64::from(dice.below(room as u32))
}

impl Lane {
    pub fn new(qp: Qp) -> Self {
        let mut lane = Self {
            qp,
            expected: 0,
            message: Message::None,
            unacknowledged: 0,
            next: 0,
            reads: VecDeque::new(),
        };
        lane.begin_anew();
        lane
    }

    /// Both sides begin anew.
    pub fn begin_anew(&mut self) {
        self.qp.renew();
        self.expected = self.qp.rq_psn();
        self.message = Message::None;
        (self.unacknowledged, self.next) = (self.qp.sq_psn(), self.qp.sq_psn());
        self.reads.clear();
    }

    /// The next request; in `heat` of a hundred something is wrong with it.
    pub fn request(&mut self, dice: &mut Dice, heat: u32) -> Packet {
        let region = match dice.percent(heat) {
            true => &REGIONS[dice.below(REGIONS.len() as u32) as usize],
            false => &REGIONS[0],
        };
        let mut packet = Packet::new(&self.qp, Opcode::SendOnly, self.expected);
        packet.ack_req = dice.percent(60);
        packet.solicited = dice.percent(30);
        packet.ecn = if dice.percent(10) { 3 } else { 0 };
        let mut advance = 1;
        match self.message {
            Message::None => advance = self.start(dice, heat, region, &mut packet),
            Message::Send { middles: 0 } => {
                packet.opcode = Opcode::SendLast;
                if dice.percent(15) {
                    packet.opcode = Opcode::SendLastInvalidate;
                    packet.ext = Ext::Ieth(Token(region.token));
                }
                let length = 1 + dice.below(self.qp.mtu);
                packet.payload = dice.bytes(length);
                self.message = Message::None;
            }
            Message::Send { middles } => {
                packet.opcode = Opcode::SendMiddle;
                packet.payload = dice.bytes(self.qp.mtu);
                self.message = Message::Send {
                    middles: middles - 1,
                };
            }
            Message::Write { left } if left <= self.qp.mtu => {
                packet.opcode = Opcode::WriteLast;
                packet.payload = dice.bytes(left);
                self.message = Message::None;
            }
            Message::Write { left } => {
                packet.opcode = Opcode::WriteMiddle;
                packet.payload = dice.bytes(self.qp.mtu);
                self.message = Message::Write {
                    left: left - self.qp.mtu,
                };
            }
        }
        if dice.percent(heat) && spoil::request(dice, &mut packet) == spoil::Counts::No {
            advance = 0;
        }
        self.expected = later(self.expected, advance);
        packet
    }

    /// The first packet of a message; returns how far the PSN goes on.
    fn start(&mut self, dice: &mut Dice, heat: u32, region: &Region, packet: &mut Packet) -> u32 {
        let mtu = self.qp.mtu;
        match dice.below(10) {
            0..=2 => {
                let length = if dice.percent(30) {
                    0
                } else {
                    dice.below(mtu + 1)
                };
                packet.payload = dice.bytes(length);
                if dice.percent(15) {
                    packet.opcode = Opcode::SendOnlyInvalidate;
                    let number = match dice.percent(heat) {
                        true => dice.below(REGIONS.len() as u32) as usize,
                        false => FAST,
                    };
                    packet.ext = Ext::Ieth(Token(REGIONS[number].token));
                }
            }
            3 => {
                packet.opcode = Opcode::SendFirst;
                packet.payload = dice.bytes(mtu);
                self.message = Message::Send {
                    middles: dice.below(3),
                };
            }
            4..=5 => {
                let length = dice.below(mtu + 1);
                let said = length + u32::from(dice.percent(heat));
                packet.opcode = Opcode::WriteOnly;
                packet.ext = reth(inside(dice, region, length), region, said);
                packet.payload = dice.bytes(length);
            }
            6 => {
                let length = mtu + 1 + dice.below(2000);
                let said = if dice.percent(heat) { mtu } else { length };
                packet.opcode = Opcode::WriteFirst;
                packet.ext = reth(inside(dice, region, length), region, said);
                packet.payload = dice.bytes(mtu);
                self.message = Message::Write { left: length - mtu };
            }
            _ => {
                let length = dice.pick(&[0, 1, 100, 256, 700, 2000]);
                let endless = dice.percent(heat / 8);
                let said = if endless { (1 << 31) + 1 } else { length };
                packet.opcode = Opcode::ReadRequest;
                packet.ext = reth(inside(dice, region, length), region, said);
                if !endless {
                    return length.div_ceil(mtu).max(1);
                }
            }
        }
        1
    }

    /// Answers to what the engine has sent; some of them are wrong.
    pub fn response(&mut self, dice: &mut Dice, heat: u32) -> Vec<Packet> {
        if dice.percent(4) {
            let mut notification = Packet::new(&self.qp, Opcode::Cnp, 0);
            notification.ext = Ext::Cnp([0; 16]);
            return vec![notification];
        }
        if let Some(&(psn, length)) = self.reads.front()
            && (self.unacknowledged == psn || dice.percent(70))
        {
            self.reads.pop_front();
            return self.read_response(dice, heat, psn, length);
        }
        let open = later(self.next, 0u32.wrapping_sub(self.unacknowledged));
        if open == 0 && !dice.percent(heat) {
            return Vec::new();
        }
        let mut room = open.max(1);
        if let Some(&(psn, _)) = self.reads.front()
            && !dice.percent(heat)
        {
            room = later(psn, 0u32.wrapping_sub(self.unacknowledged));
            if room == 0 {
                return Vec::new();
            }
        }
        let mut psn = later(self.unacknowledged, dice.below(room));
        let mut syndrome = 0x1F;
        if dice.percent(heat / 2) {
            syndrome = dice.pick(&[0x60, 0x61, 0x62, 0x63, 0x65, 0x2E, 0x5F, 0x9F, 0x00]);
        } else {
            self.unacknowledged = later(psn, 1);
        }
        if dice.percent(heat / 2) {
            psn = later(psn, dice.below(5));
        }
        let mut packet = Packet::new(&self.qp, Opcode::Acknowledge, psn);
        packet.ext = aeth(syndrome);
        vec![packet]
    }

    fn read_response(&mut self, dice: &mut Dice, heat: u32, psn: u32, length: u32) -> Vec<Packet> {
        let mtu = self.qp.mtu;
        let count = length.div_ceil(mtu).max(1);
        self.unacknowledged = later(psn, count);
        let mut packets = Vec::new();
        for place in 0..count {
            let last = place + 1 == count;
            let opcode = match (place, last) {
                (0, true) => Opcode::ReadResponseOnly,
                (0, false) => Opcode::ReadResponseFirst,
                (_, true) => Opcode::ReadResponseLast,
                (_, false) => Opcode::ReadResponseMiddle,
            };
            let mut packet = Packet::new(&self.qp, opcode, later(psn, place));
            if opcode != Opcode::ReadResponseMiddle {
                packet.ext = aeth(0x1F);
            }
            let bytes = if last { length - place * mtu } else { mtu };
            packet.payload = dice.bytes(bytes);
            if !dice.percent(heat / 3) || spoil::response(dice, &mut packet) {
                packets.push(packet);
            }
        }
        packets
    }

    /// Learns from a frame of the engine.
    pub fn seen(&mut self, frame: &Frame<'_>) {
        let psn = frame.bth.psn.get();
        match (frame.bth.opcode, &frame.ext) {
            (Opcode::Acknowledge, Ext::Aeth(aeth)) => {
                let syndrome = aeth.syndrome.encode();
                // A PSN sequence error or an RNR NAK: again from there.
                if syndrome == 0x60 || syndrome & 0xE0 == 0x20 {
                    (self.expected, self.message) = (psn, Message::None);
                }
            }
            (Opcode::ReadRequest, Ext::Reth(reth)) => {
                self.reads.push_back((psn, reth.length));
                self.next = later(psn, reth.length.div_ceil(self.qp.mtu).max(1));
            }
            (opcode, _) if opcode.is_request() => self.next = Psn::new(psn).next().get(),
            _ => {}
        }
    }
}
