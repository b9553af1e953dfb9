//! Frames that queue pair 1 takes, and some that it does not.

use tandem_model::wire::{Deth, Ext, Opcode, Reth, Token, seal};

use super::card::Qp;
use super::card::dice::Dice;
use super::card::packet::{Packet, aeth};

/// Bytes of a whole frame, mostly near a border of something.
pub fn length(dice: &mut Dice) -> u32 {
    match dice.below(6) {
        0 => dice.pick(&[14, 15, 16, 17, 22, 23, 24, 25, 60, 64]),
        1 => dice.pick(&[2040, 2041, 2047, 2048]),
        2 => 14 + dice.below(100),
        _ => 14 + dice.below(2035),
    }
}

/// An Ethernet frame of a type, with that many bytes in all.
pub fn of_type(dice: &mut Dice, kind: u16, length: u32) -> Vec<u8> {
    let mut frame = dice.bytes(length);
    frame[12..14].copy_from_slice(&kind.to_be_bytes());
    frame
}

/// A frame that is not RoCEv2.
fn foreign(dice: &mut Dice, qp: &Qp) -> Vec<u8> {
    let length = length(dice);
    match dice.below(6) {
        0 => of_type(dice, 0x0806, length),
        1 if length >= 18 => {
            // Tagged, and of another type than those that are looked into.
            let mut frame = of_type(dice, 0x8100, length);
            frame[16..18].copy_from_slice(&[0x88, 0xCC]);
            frame
        }
        2 => {
            // UDP, but another port.
            let mut frame = packet(dice, qp).frame();
            frame[37] ^= 1;
            frame
        }
        3 => {
            // IPv4, but TCP: the checksum of the header follows.
            let mut frame = packet(dice, qp).frame();
            let sum = u16::from_be_bytes([frame[24], frame[25]]);
            frame[23] = 6;
            let (sum, carry) = sum.overflowing_add(17 - 6);
            frame[24..26].copy_from_slice(&(sum + u16::from(carry)).to_be_bytes());
            frame
        }
        _ => of_type(dice, 0x88B5, length),
    }
}

/// A packet, whatever it says, of up to some bytes of payload.
fn packet(dice: &mut Dice, qp: &Qp) -> Packet {
    let reth = Ext::Reth(Reth {
        va: 0x1234,
        token: Token(0x155),
        length: 77,
    });
    let (opcode, ext) = dice.pick(&[
        (Opcode::UdSendOnly, Ext::Deth(Deth::GSI)),
        (Opcode::SendOnly, Ext::None),
        (Opcode::WriteOnly, reth),
        (Opcode::ReadRequest, reth),
        (Opcode::Acknowledge, aeth(0x1F)),
        (Opcode::Cnp, Ext::Cnp([0; 16])),
    ]);
    let mut packet = Packet::new(qp, opcode, dice.below(1 << 24));
    packet.ext = ext;
    packet.ecn = dice.below(4) as u8;
    packet.solicited = dice.percent(50);
    if !matches!(
        opcode,
        Opcode::ReadRequest | Opcode::Acknowledge | Opcode::Cnp
    ) {
        let most = dice.pick(&[10, 300, 1980, 2600]);
        let length = dice.below(most);
        packet.payload = dice.bytes(length);
    }
    packet
}

/// A good RoCEv2 frame for queue pair 1, with whatever addresses.
fn addressed(dice: &mut Dice, qp: &Qp) -> Vec<u8> {
    let mut packet = packet(dice, qp);
    packet.qpn = 1;
    if dice.percent(30) {
        packet.mac = 9;
    }
    if dice.percent(30) {
        packet.to = 77;
    }
    if dice.percent(30) {
        packet.from = 78;
    }
    packet.frame()
}

/// One of them; in `heat` of a hundred it is too long, or bad.
pub fn any(dice: &mut Dice, qp: &Qp, heat: u32) -> Vec<u8> {
    if !dice.percent(heat) {
        return match dice.percent(60) {
            true => foreign(dice, qp),
            false => addressed(dice, qp),
        };
    }
    let mut frame = addressed(dice, qp);
    match dice.below(6) {
        0 => {
            let length = dice.pick(&[2049, 2050, 2056, 2057, 2064, 3000, 5000, 9000]);
            return of_type(dice, 0x88B5, length);
        }
        1 => {
            let length = 1 + dice.below(13);
            frame.truncate(length as usize);
        }
        2 => {
            let length = 14 + dice.below(30);
            frame.truncate(length as usize);
        }
        3 => {
            let last = frame.len() - 1;
            frame[last] ^= 1;
        }
        4 => {
            // An opcode that nobody knows.
            frame[42] = 0x3E;
            seal(&mut frame);
        }
        _ => {
            // Queue pair 0.
            let mut packet = packet(dice, qp);
            packet.qpn = 0;
            return packet.frame();
        }
    }
    frame
}
