//! Changes of captured frames: each breaks one thing, and leaves the frame whole otherwise.

use tandem_model::wire::{Aeth, Ext, Frame, Msn, Opcode, Psn, Reth, Syndrome, seal};
use tandem_testbench::blackbox::file::Packet;

/// The frames of a capture.
pub struct Capture(pub Vec<Packet>);

/// Where the BTH of an untagged frame stands.
pub fn bth_offset(bytes: &[u8]) -> usize {
    if bytes[12..14] == [0x08, 0x00] {
        42
    } else {
        62
    }
}

impl Capture {
    /// The frame of an opcode, counted from 0.
    pub fn nth(&self, opcode: Opcode, nth: usize) -> usize {
        let found = self.0.iter().enumerate().filter(|(_, packet)| {
            !packet.is_arrival()
                && Frame::parse(&packet.bytes).is_ok_and(|frame| frame.bth.opcode == opcode)
        });
        let places: Vec<usize> = found.map(|(place, _)| place).collect();
        *places
            .get(nth)
            .unwrap_or_else(|| panic!("only {} frames of {opcode}", places.len()))
    }

    /// Changes fields of a frame.
    pub fn fields(&mut self, place: usize, change: impl FnOnce(&mut Frame<'_>)) {
        let bytes = self.0[place].bytes.clone();
        let mut frame = Frame::parse(&bytes).unwrap();
        change(&mut frame);
        self.set(place, frame.to_vec());
    }

    /// Changes bytes of a frame, and seals it again.
    pub fn bytes(&mut self, place: usize, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.0[place].bytes.clone();
        change(&mut bytes);
        assert!(seal(&mut bytes));
        self.set(place, bytes);
    }

    /// Changes bytes of a frame, checksums as they were.
    pub fn raw(&mut self, place: usize, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.0[place].bytes.clone();
        change(&mut bytes);
        self.set(place, bytes);
    }

    /// Changes the payload of a frame.
    pub fn payload(&mut self, place: usize, change: impl FnOnce(&mut Vec<u8>)) {
        let bytes = self.0[place].bytes.clone();
        let frame = Frame::parse(&bytes).unwrap();
        let mut payload = frame.payload.to_vec();
        change(&mut payload);
        let frame = Frame {
            trailer: &[],
            pad_bytes: [0; 3],
            ..frame
        };
        self.set(place, frame.with_payload(&payload).to_vec());
    }

    /// Changes the RETH of a frame.
    pub fn reth(&mut self, place: usize, change: impl FnOnce(&mut Reth)) {
        self.fields(place, |frame| match &mut frame.ext {
            Ext::Reth(reth) => change(reth),
            other => panic!("{other:?}"),
        });
    }

    /// Changes the AETH of a frame.
    pub fn aeth(&mut self, place: usize, change: impl FnOnce(&mut Aeth)) {
        self.fields(place, |frame| match &mut frame.ext {
            Ext::Aeth(aeth) | Ext::AethAtomicAck(aeth, _) => change(aeth),
            other => panic!("{other:?}"),
        });
    }

    /// Moves the PSN of a frame.
    pub fn psn(&mut self, place: usize, steps: i32) {
        self.fields(place, |frame| {
            frame.bth.psn = Psn::new(frame.bth.psn.get().wrapping_add_signed(steps));
        });
    }

    /// Moves the MSN of a frame.
    pub fn msn(&mut self, place: usize, steps: i32) {
        self.aeth(place, |aeth| {
            aeth.msn = Msn::new(aeth.msn.get().wrapping_add_signed(steps));
        });
    }

    /// Gives a frame another syndrome.
    pub fn syndrome(&mut self, place: usize, byte: u8) {
        self.aeth(place, |aeth| aeth.syndrome = Syndrome::decode(byte));
    }

    /// Takes a frame out.
    pub fn remove(&mut self, place: usize) {
        self.0.remove(place);
        self.count();
    }

    /// Puts a copy of a frame at another place, and returns it.
    pub fn copy(&mut self, from: usize, to: usize) -> usize {
        let mut packet = self.0[from].clone();
        let before = self.0.get(to.saturating_sub(1)).unwrap_or(&packet);
        packet.time = before.time;
        self.0.insert(to, packet);
        self.count();
        to
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn set(&mut self, place: usize, bytes: Vec<u8>) {
        self.0[place].length = bytes.len();
        self.0[place].bytes = bytes;
    }

    fn count(&mut self) {
        for (packet, number) in self.0.iter_mut().zip(1..) {
            packet.number = number;
        }
    }
}
