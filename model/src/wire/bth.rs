//! Base Transport Header, 12 bytes (WIRE-BTH-1).

use super::bytes::{be16, be24, to_be24};
use super::{Opcode, Pkey, Psn, Qpn, TooShort};

mod field {
    use std::ops::Range;

    pub const OPCODE: usize = 0;
    /// SE 7, M 6, PadCnt 5:4, TVer 3:0.
    pub const FLAGS: usize = 1;
    pub const PKEY: Range<usize> = 2..4;
    /// FECN 7, BECN 6, reserved 5:0; the byte that the ICRC masks.
    pub const CONGESTION: usize = 4;
    pub const DEST_QP: Range<usize> = 5..8;
    /// A 7, reserved 6:0.
    pub const ACK: usize = 8;
    pub const PSN: Range<usize> = 9..12;
}

/// Length of the header in bytes.
pub const BTH_LEN: usize = 12;

/// A BTH in a buffer. The opcode may be unknown; see [`Bth::parse`] for the record.
#[derive(Clone, Copy, Debug)]
pub struct BthView<T>(T);

impl<T: AsRef<[u8]>> BthView<T> {
    /// A view of the first 12 bytes of the buffer.
    ///
    /// # Errors
    /// [`TooShort`] if the buffer has fewer.
    pub fn new_checked(buffer: T) -> Result<Self, TooShort> {
        TooShort::unless(buffer.as_ref().len() >= BTH_LEN)?;
        Ok(Self(buffer))
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8; BTH_LEN] {
        self.0.as_ref().first_chunk().unwrap_or(&[0; BTH_LEN])
    }

    /// Opcode byte.
    pub fn opcode(&self) -> u8 {
        self.bytes()[field::OPCODE]
    }

    /// SE: solicited event.
    pub fn solicited(&self) -> bool {
        self.bytes()[field::FLAGS] & 0x80 != 0
    }

    /// M: migration request.
    pub fn migration(&self) -> bool {
        self.bytes()[field::FLAGS] & 0x40 != 0
    }

    /// PadCnt, 0 to 3.
    pub fn pad(&self) -> u8 {
        self.bytes()[field::FLAGS] >> 4 & 3
    }

    /// TVer, 0 to 15; only 0 exists.
    pub fn transport_version(&self) -> u8 {
        self.bytes()[field::FLAGS] & 0xF
    }

    /// P_Key.
    pub fn pkey(&self) -> Pkey {
        Pkey(be16(self.bytes(), field::PKEY))
    }

    /// FECN: forward congestion notification.
    pub fn fecn(&self) -> bool {
        self.bytes()[field::CONGESTION] & 0x80 != 0
    }

    /// BECN: backward congestion notification.
    pub fn becn(&self) -> bool {
        self.bytes()[field::CONGESTION] & 0x40 != 0
    }

    /// The six reserved bits beside FECN and BECN, not covered by the ICRC.
    pub fn reserved6(&self) -> u8 {
        self.bytes()[field::CONGESTION] & 0x3F
    }

    /// DestQP.
    pub fn dest_qp(&self) -> Qpn {
        Qpn::new(be24(self.bytes(), field::DEST_QP))
    }

    /// A: acknowledge request.
    pub fn ack_req(&self) -> bool {
        self.bytes()[field::ACK] & 0x80 != 0
    }

    /// The seven reserved bits beside A, covered by the ICRC.
    pub fn reserved7(&self) -> u8 {
        self.bytes()[field::ACK] & 0x7F
    }

    /// PSN.
    pub fn psn(&self) -> Psn {
        Psn::new(be24(self.bytes(), field::PSN))
    }
}

/// A BTH with a known opcode and transport version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bth {
    /// OpCode.
    pub opcode: Opcode,
    /// SE: the receiver's completion is a solicited event (WIRE-BTH-5).
    pub solicited: bool,
    /// M; sent as 0, no effect on receive (WIRE-BTH-6).
    pub migration: bool,
    /// PadCnt: pad bytes after the payload, 0 to 3 (WIRE-BTH-10). Emitted as given, so that a bench
    /// can send a wrong one; [`Bth::pad_for`] is the right one.
    pub pad: u8,
    /// P_Key (WIRE-BTH-3).
    pub pkey: Pkey,
    /// FECN.
    pub fecn: bool,
    /// BECN, 1 in a CNP.
    pub becn: bool,
    /// Six reserved bits, not covered by the ICRC; sent as 0.
    pub reserved6: u8,
    /// DestQP (WIRE-BTH-8).
    pub dest_qp: Qpn,
    /// A: the sender wants an acknowledge; 0 in responses (WIRE-BTH-7).
    pub ack_req: bool,
    /// Seven reserved bits, covered by the ICRC; sent as 0.
    pub reserved7: u8,
    /// PSN.
    pub psn: Psn,
}

impl Bth {
    /// A header with the fields that always vary; the others have their transmit value.
    pub const fn new(opcode: Opcode, dest_qp: Qpn, psn: Psn) -> Self {
        Self {
            opcode,
            solicited: false,
            migration: false,
            pad: 0,
            pkey: Pkey::DEFAULT,
            fecn: false,
            becn: matches!(opcode, Opcode::Cnp),
            reserved6: 0,
            dest_qp,
            ack_req: false,
            reserved7: 0,
            psn,
        }
    }

    /// PadCnt that belongs to a payload of `len` bytes: (−len) mod 4.
    pub const fn pad_for(len: usize) -> u8 {
        (len.wrapping_neg() & 3) as u8
    }

    /// The record of a header; `None` if its opcode is unknown. The transport version is the
    /// caller's to check.
    pub fn parse<T: AsRef<[u8]>>(view: &BthView<T>) -> Option<Self> {
        Some(Self {
            opcode: Opcode::from_u8(view.opcode())?,
            solicited: view.solicited(),
            migration: view.migration(),
            pad: view.pad(),
            pkey: view.pkey(),
            fecn: view.fecn(),
            becn: view.becn(),
            reserved6: view.reserved6(),
            dest_qp: view.dest_qp(),
            ack_req: view.ack_req(),
            reserved7: view.reserved7(),
            psn: view.psn(),
        })
    }

    /// Its bytes; TVer is 0 (WIRE-BTH-2), bits that do not fit their field are dropped.
    pub fn emit(&self) -> [u8; BTH_LEN] {
        let flag = |set: bool, bit: u32| u8::from(set) << bit;
        let [p0, p1] = self.pkey.0.to_be_bytes();
        let [q0, q1, q2] = to_be24(self.dest_qp.get());
        let [s0, s1, s2] = to_be24(self.psn.get());
        [
            self.opcode.into(),
            flag(self.solicited, 7) | flag(self.migration, 6) | (self.pad & 3) << 4,
            p0,
            p1,
            flag(self.fecn, 7) | flag(self.becn, 6) | self.reserved6 & 0x3F,
            q0,
            q1,
            q2,
            flag(self.ack_req, 7) | self.reserved7 & 0x7F,
            s0,
            s1,
            s2,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BTH of the golden packet `send_only`.
    const SEND_ONLY: [u8; 12] = [4, 0xB0, 0xFF, 0xFF, 0, 0, 0, 0x11, 0x80, 0, 1, 0];

    #[test]
    fn a_real_header_comes_apart_and_together() {
        let bth = Bth::parse(&BthView::new_checked(SEND_ONLY).unwrap()).unwrap();
        let expected = Bth {
            solicited: true,
            pad: 3,
            ack_req: true,
            ..Bth::new(Opcode::SendOnly, Qpn::new(0x11), Psn::new(0x100))
        };
        assert_eq!(bth, expected);
        assert_eq!(bth.emit(), SEND_ONLY);
    }

    #[test]
    fn every_bit_but_the_version_survives() {
        for bit in (8..96).filter(|bit| !(12..16).contains(bit)) {
            let mut bytes = SEND_ONLY;
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            let bth = Bth::parse(&BthView::new_checked(bytes).unwrap()).unwrap();
            assert_eq!(bth.emit(), bytes, "bit {bit}");
        }
    }

    #[test]
    fn short_and_unknown_are_refused() {
        assert!(BthView::new_checked(&SEND_ONLY[..11]).is_err());
        let mut unknown = SEND_ONLY;
        unknown[0] = 0x15;
        assert_eq!(Bth::parse(&BthView::new_checked(unknown).unwrap()), None);
    }

    #[test]
    fn pad_fills_to_four() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(Bth::pad_for), [0, 3, 2, 1, 0, 3]);
    }
}
