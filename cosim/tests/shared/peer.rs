//! The peer of one queue pair: sends messages, and sends again what was lost or not taken.

use std::collections::VecDeque;

use tandem_model::wire::{Ext, Frame, NakCode, Opcode, Reth, Syndrome, Token};

use super::card::Qp;
use super::card::dice::Dice;
use super::card::memory::REGIONS;
use super::card::packet::Packet;

/// Packets that are sent and not acknowledged, at most.
const WINDOW: usize = 5;

/// See the module.
#[derive(Debug)]
pub struct Peer {
    pub qp: Qp,
    /// Packets that are not acknowledged, in order, of which so many are sent.
    packets: VecDeque<Packet>,
    sent: usize,
    /// PSN of the next packet.
    next: u32,
    /// A message was refused.
    pub failed: bool,
    /// The engine has said that the queue pair holds no receive of its shared queue.
    pub let_go: bool,
}

fn later(psn: u32) -> u32 {
    (psn + 1) & 0xFF_FFFF
}

impl Peer {
    pub fn new(qp: Qp) -> Self {
        Self {
            next: qp.rq_psn(),
            qp,
            packets: VecDeque::new(),
            sent: 0,
            failed: false,
            let_go: false,
        }
    }

    /// Both sides have begun anew.
    pub fn begin_anew(&mut self) {
        self.packets.clear();
        self.sent = 0;
        self.failed = false;
        self.let_go = false;
        self.next = self.qp.rq_psn();
    }

    /// Everything that it has is acknowledged.
    pub fn is_done(&self) -> bool {
        self.packets.is_empty()
    }

    fn push(&mut self, opcode: Opcode, ext: Ext, payload: Vec<u8>, ack_req: bool) {
        let mut packet = Packet::new(&self.qp, opcode, self.next);
        packet.ext = ext;
        packet.payload = payload;
        packet.ack_req = ack_req;
        self.packets.push_back(packet);
        self.next = later(self.next);
    }

    /// A send of so many bytes.
    pub fn send(&mut self, dice: &mut Dice, length: u32) {
        let mtu = self.qp.mtu;
        if length <= mtu {
            let payload = dice.bytes(length);
            return self.push(Opcode::SendOnly, Ext::None, payload, true);
        }
        let payload = dice.bytes(mtu);
        self.push(Opcode::SendFirst, Ext::None, payload, dice.percent(50));
        let mut left = length - mtu;
        while left > mtu {
            let payload = dice.bytes(mtu);
            self.push(Opcode::SendMiddle, Ext::None, payload, dice.percent(50));
            left -= mtu;
        }
        let payload = dice.bytes(left);
        self.push(Opcode::SendLast, Ext::None, payload, true);
    }

    /// A write of a few bytes.
    pub fn write(&mut self, dice: &mut Dice) {
        let length = 1 + dice.below(100);
        let region = &REGIONS[0];
        let reth = Ext::Reth(Reth {
            va: region.base + u64::from(dice.below(0x1000)),
            token: Token(region.token),
            length,
        });
        let payload = dice.bytes(length);
        self.push(Opcode::WriteOnly, reth, payload, true);
    }

    /// A request that is refused.
    pub fn refused(&mut self, dice: &mut Dice) {
        let payload = dice.bytes(10);
        match dice.below(3) {
            0 => self.push(Opcode::SendOnlyImmediate, Ext::Imm([0; 4]), payload, true),
            1 => self.push(Opcode::SendMiddle, Ext::None, payload, true),
            _ => {
                let ieth = Ext::Ieth(Token(REGIONS[0].token));
                self.push(Opcode::SendOnlyInvalidate, ieth, payload, true);
            }
        }
    }

    /// The next packet on the wire, if there is one.
    pub fn offer(&mut self) -> Option<Packet> {
        if self.failed || self.sent >= WINDOW {
            return None;
        }
        let packet = self.packets.get(self.sent)?.clone();
        self.sent += 1;
        Some(packet)
    }

    /// It has waited long enough: sends again.
    pub fn go_back(&mut self) {
        self.sent = 0;
    }

    /// Takes an answer of the engine; `true` for an RNR NAK. One of an earlier life says nothing.
    pub fn answer(&mut self, frame: &Frame<'_>) -> bool {
        let (Ext::Aeth(aeth), Some(first)) = (frame.ext, self.packets.front()) else {
            return false;
        };
        let positive = aeth.syndrome.is_ack();
        // What is before it is taken.
        let taken = frame.bth.psn.get().wrapping_sub(first.psn) & 0xFF_FFFF;
        let taken = taken as usize + usize::from(positive);
        if taken > self.packets.len() {
            return false;
        }
        self.packets.drain(..taken);
        self.sent = self.sent.saturating_sub(taken);
        match aeth.syndrome {
            Syndrome::Ack { .. } => {}
            Syndrome::Nak(NakCode::PsnSequence) | Syndrome::Rnr { .. } => self.sent = 0,
            _ => self.failed = true,
        }
        matches!(aeth.syndrome, Syndrome::Rnr { .. })
    }
}
