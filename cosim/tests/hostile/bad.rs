//! Frames that are not valid for their queue pair: one kind, at least, for each cause of a drop.

use tandem_model::abi::DropCause;
use tandem_model::wire::{Deth, Ext, Opcode, Reth, Token, seal};

use super::card::Qp;
use super::card::dice::Dice;
use super::card::memory::REGIONS;
use super::card::packet::{Packet, aeth};

/// Places in a frame with an IPv4 header and no tag.
mod place {
    pub const ETHERTYPE: usize = 12;
    pub const VERSION: usize = 14;
    pub const FRAGMENT: usize = 20;
    pub const CHECKSUM: usize = 24;
    pub const UDP_PORT: usize = 36;
    pub const UDP_LENGTH: usize = 38;
    pub const UDP_CHECKSUM: usize = 40;
    pub const OPCODE: usize = 42;
    pub const FLAGS: usize = 43;
}

pub use place::OPCODE;

/// What there is to be hostile to.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub qp: &'a Qp,
    /// A queue pair in `QpErr`.
    pub failed: &'a Qp,
    /// PSN that the queue pair expects. It has taken a request before it.
    pub psn: u32,
}

/// A kind of bad frame.
pub struct Kind {
    pub what: &'static str,
    /// Why it is dropped.
    pub cause: DropCause,
    pub make: fn(&mut Dice, Scene<'_>) -> Vec<u8>,
}

macro_rules! kinds {
    ($( $cause:ident, $what:literal, $make:expr; )*) => {
        /// All kinds.
        pub const KINDS: &[Kind] = &[
            $( Kind { what: $what, cause: DropCause::$cause, make: $make } ),*
        ];
    };
}

kinds! {
    NotRoce, "an ARP frame", |dice, scene| {
        changed(dice, scene, |frame| frame[place::ETHERTYPE..][..2].copy_from_slice(&[0x08, 0x06]))
    };
    NotRoce, "another UDP port", |dice, scene| {
        changed(dice, scene, |frame| frame[place::UDP_PORT + 1] ^= 1)
    };
    FrameShort, "a stump", |dice, scene| {
        let length = 14 + dice.below(20) as usize;
        changed(dice, scene, |frame| frame.truncate(length))
    };
    FrameShort, "a frame that lost its end", |dice, scene| {
        let lost = 1 + dice.below(20) as usize;
        changed(dice, scene, |frame| frame.truncate(frame.len() - lost))
    };
    IpVersion, "a header with options", |dice, scene| {
        changed(dice, scene, |frame| frame[place::VERSION] = 0x46)
    };
    IpChecksum, "a wrong IPv4 checksum", |dice, scene| {
        let bit = dice.below(8);
        changed(dice, scene, |frame| frame[place::CHECKSUM] ^= 1 << bit)
    };
    IpFragment, "a fragment", |dice, scene| {
        let flags = dice.pick(&[[0x20, 0], [0, 1], [0x1F, 0xFF]]);
        sealed(dice, scene, |frame| frame[place::FRAGMENT..][..2].copy_from_slice(&flags))
    };
    UdpLength, "a UDP length that is not what IP has left", |dice, scene| {
        changed(dice, scene, |frame| frame[place::UDP_LENGTH + 1] ^= 4)
    };
    UdpChecksum, "a wrong UDP checksum", |dice, scene| {
        let sum = dice.pick(&[[0, 1], [0xFF, 0xFF], [0x80, 0]]);
        changed(dice, scene, |frame| {
            // Its right checksum differs from at least one of the two.
            frame[place::UDP_CHECKSUM..][..2].copy_from_slice(&sum);
            if tandem_model::wire::Frame::parse(frame).is_ok() {
                frame[place::UDP_CHECKSUM] ^= 1;
            }
        })
    };
    Opcode, "an opcode that does not exist", |dice, scene| {
        let opcode = dice.pick(&[0x15, 0x24, 0x44, 0xC4, 0xFF]);
        sealed(dice, scene, |frame| frame[place::OPCODE] = opcode)
    };
    IbLength, "an extension header that is not all there", |dice, scene| {
        let mut packet = request(dice, scene);
        packet.payload.truncate(8);
        let mut frame = packet.frame();
        frame[place::OPCODE] = Opcode::WriteOnly as u8;
        seal(&mut frame);
        frame
    };
    Tver, "another transport version", |dice, scene| {
        let version = 1 + dice.below(15) as u8;
        sealed(dice, scene, |frame| frame[place::FLAGS] |= version)
    };
    Icrc, "a turned bit", |dice, scene| {
        let (back, bit) = (1 + dice.below(4) as usize, dice.below(8));
        changed(dice, scene, |frame| {
            let at = frame.len() - back;
            frame[at] ^= 1 << bit;
        })
    };
    DestAddress, "another MAC address", |dice, scene| {
        Packet { mac: 9, ..request(dice, scene) }.frame()
    };
    DestAddress, "another IP address", |dice, scene| {
        Packet { to: 4, ..request(dice, scene) }.frame()
    };
    Qpn, "no queue pair", |dice, scene| {
        let qpn = dice.pick(&[0, 1, 40, 63, 64, 0x1_0002, 0xFF_FFFF]);
        Packet { qpn, ..request(dice, scene) }.frame()
    };
    Service, "a datagram", |dice, scene| {
        let (opcode, ext) = (Opcode::UdSendOnly, Ext::Deth(Deth::GSI));
        Packet { opcode, ext, ..request(dice, scene) }.frame()
    };
    QpState, "a queue pair that failed", |dice, scene| {
        let (qpn, psn) = (scene.failed.number, scene.failed.rq_psn());
        Packet { qpn, psn, ..request(dice, scene) }.frame()
    };
    SourceAddress, "a stranger", |dice, scene| {
        Packet { from: 3, ..request(dice, scene) }.frame()
    };
    Pkey, "another P_Key", |dice, scene| {
        let pkey = dice.pick(&[0, 0x1234, 0x7FFE]);
        Packet { pkey, ..request(dice, scene) }.frame()
    };
    Sequence, "a read that is older than what is remembered", |dice, scene| {
        let mut packet = request(dice, scene);
        packet.psn = scene.psn.wrapping_sub(1 + dice.below(9)) & 0xFF_FFFF;
        packet.opcode = Opcode::ReadRequest;
        packet.ext = Ext::Reth(Reth {
            va: REGIONS[0].base,
            token: Token(REGIONS[0].token),
            length: 64,
        });
        packet.payload.clear();
        packet.frame()
    };
    StaleResponse, "an acknowledge of nothing", |dice, scene| {
        answer(scene, dice.below(1 << 24), Opcode::Acknowledge).frame()
    };
    StaleResponse, "a NAK of nothing", |dice, scene| {
        let mut packet = answer(scene, scene.qp.sq_psn(), Opcode::Acknowledge);
        packet.ext = aeth(dice.pick(&[0x60, 0x61, 0x62, 0x63, 0x2C]));
        packet.frame()
    };
    StaleResponse, "a response to nothing", |dice, scene| {
        let mut packet = answer(scene, scene.qp.sq_psn(), Opcode::ReadResponseOnly);
        packet.payload = dice.bytes(64);
        packet.frame()
    };
    Unsupported, "the answer of an atomic", |_, scene| {
        let mut packet = answer(scene, scene.psn, Opcode::AtomicAcknowledge);
        if let Ext::Aeth(aeth) = packet.ext {
            packet.ext = Ext::AethAtomicAck(aeth, 5);
        }
        packet.frame()
    };
}

/// A send that the queue pair would take.
pub fn request(dice: &mut Dice, scene: Scene<'_>) -> Packet {
    let mut packet = Packet::new(scene.qp, Opcode::SendOnly, scene.psn);
    packet.ack_req = true;
    let length = 4 + dice.below(200);
    packet.payload = dice.bytes(length);
    packet
}

fn answer(scene: Scene<'_>, psn: u32, opcode: Opcode) -> Packet {
    let mut packet = Packet::new(scene.qp, opcode, psn);
    packet.ext = aeth(0x1F);
    packet
}

/// A request whose frame was changed on its way.
fn changed(dice: &mut Dice, scene: Scene<'_>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut frame = request(dice, scene).frame();
    change(&mut frame);
    frame
}

/// A request whose frame was changed before its checksums were made.
fn sealed(dice: &mut Dice, scene: Scene<'_>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut frame = changed(dice, scene, change);
    seal(&mut frame);
    frame
}
