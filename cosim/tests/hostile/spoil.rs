//! What can be wrong with a packet.

use tandem_model::wire::{AtomicEth, Ext, Opcode, Token};

use super::bad::OPCODE;
use super::card::dice::Dice;
use super::card::packet::{Packet, aeth};
use super::mutate::mutate;

/// Whether a spoilt request counts as the one that its PSN says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    Yes,
    No,
}

/// Spoils a request: its PSN, its payload, its place in the message, its pad.
pub fn request(dice: &mut Dice, packet: &mut Packet) -> Counts {
    match dice.below(9) {
        0 => {
            packet.psn = packet.psn.wrapping_sub(1 + dice.below(3)) & 0xFF_FFFF;
            return Counts::No;
        }
        1 => {
            packet.psn = (packet.psn + 1) & 0xFF_FFFF;
            return Counts::No;
        }
        2 => {
            let length = dice.below(1100);
            packet.payload = dice.bytes(length);
        }
        3 => another_opcode(dice, packet),
        4 => packet.payload.push(7),
        5 => packet.pad = Some(dice.below(4) as u8),
        6 => {
            let length = 4097 + dice.below(100);
            packet.payload = dice.bytes(length);
        }
        7 => {
            packet.psn ^= 1 << 23;
            return Counts::No;
        }
        _ => packet.psn = dice.below(1 << 24),
    }
    Counts::Yes
}

/// An opcode that does not belong there, or that the engine does not serve.
fn another_opcode(dice: &mut Dice, packet: &mut Packet) {
    const IMMEDIATE: Ext = Ext::Imm([1, 2, 3, 4]);
    (packet.opcode, packet.ext) = dice.pick(&[
        (Opcode::SendFirst, Ext::None),
        (Opcode::SendMiddle, Ext::None),
        (Opcode::SendLast, Ext::None),
        (Opcode::SendOnly, Ext::None),
        (Opcode::WriteMiddle, Ext::None),
        (Opcode::WriteLast, Ext::None),
        (Opcode::SendLastImmediate, IMMEDIATE),
        (Opcode::SendOnlyImmediate, IMMEDIATE),
        (Opcode::WriteLastImmediate, IMMEDIATE),
        (
            Opcode::CompareSwap,
            Ext::Atomic(AtomicEth {
                va: 0,
                token: Token(0),
                swap_or_add: 0,
                compare: 0,
            }),
        ),
    ]);
    if packet.opcode == Opcode::CompareSwap {
        packet.payload.clear();
    }
}

/// Spoils a read response; returns whether it is sent at all.
pub fn response(dice: &mut Dice, packet: &mut Packet) -> bool {
    match dice.below(5) {
        0 => packet.psn = (packet.psn + 1) & 0xFF_FFFF,
        1 => packet.payload.push(1),
        2 => {
            packet.opcode = dice.pick(&[
                Opcode::ReadResponseFirst,
                Opcode::ReadResponseLast,
                Opcode::ReadResponseOnly,
            ]);
            packet.ext = aeth(dice.pick(&[0x1F, 0x5F, 0x61, 0x81]));
        }
        3 => return false,
        _ => packet.psn = packet.psn.wrapping_sub(1) & 0xFF_FFFF,
    }
    true
}

/// Spoils where a packet goes, where it comes from, or the frame as a whole; returns its bytes.
pub fn frame(dice: &mut Dice, packet: &mut Packet) -> Vec<u8> {
    match dice.below(13) {
        0 => {
            // One bit of what the ICRC covers, or of the ICRC.
            let mut frame = packet.frame();
            let place = 34 + dice.below(frame.len() as u32 - 34) as usize;
            frame[place] ^= 1 << dice.below(8);
            return frame;
        }
        1 => packet.mac = 9,
        2 => packet.from = 3,
        3 => packet.to = 4,
        4 => packet.pkey = 0x1234,
        5 => packet.qpn = dice.pick(&[0, 1, 40, 63, 64, 0x1_0002, 0xFF_FFFF]),
        6 => {
            // A service that is not served.
            let mut frame = packet.frame();
            frame[OPCODE] |= 0x20;
            tandem_model::wire::seal(&mut frame);
            return frame;
        }
        7 => packet.pkey = 0x7FFF,
        8..12 => {
            let mut frame = packet.frame();
            mutate(dice, &mut frame);
            return frame;
        }
        _ => {
            packet.opcode = Opcode::AtomicAcknowledge;
            packet.payload.clear();
            let Ext::Aeth(answer) = aeth(0x1F) else {
                return packet.frame();
            };
            packet.ext = Ext::AethAtomicAck(answer, 0);
        }
    }
    packet.frame()
}
