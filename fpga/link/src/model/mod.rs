//! A board in software, written from the book's page on the link: for tests of what is above a link, and as
//! the second reading beside the RTL.

mod channel;
mod core;
mod execute;

use std::collections::VecDeque;

pub use self::channel::{Channel, Noise, Peer};
pub use self::core::{Access, Core, Fault, Scratch};
use self::execute::Execution;
pub use self::execute::Parts;

/// What is fixed when a board is built.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// `MaxPacket`.
    pub max_packet: usize,
    /// Bytes of a beat.
    pub beat: usize,
    /// Beats of each of the frame buffers.
    pub beats: usize,
    /// Records of the commit log.
    pub log: usize,
    /// Bytes that the registers take.
    pub registers: u32,
    /// Where the core sees its memory.
    pub memory_base: u64,
    /// Clock in Hz.
    pub clock_hz: u32,
    /// log2 of the clocks after which an access is given up.
    pub timeout_bits: u8,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            max_packet: 1984,
            beat: 8,
            beats: 1024,
            log: 512,
            registers: 4096,
            memory_base: 0,
            clock_hz: 62_500_000,
            timeout_bits: 16,
        }
    }
}

const VERSION: u8 = 0x01;

/// The board: bytes in, bytes out. It answers at once.
#[derive(Debug)]
pub struct Board<C> {
    parts: Parts<C>,
    stuffed: Vec<u8>,
    /// Up to the next zero byte nothing is looked at.
    skipping: bool,
    session: Option<(u16, u16)>,
    kept: Vec<u8>,
    out: VecDeque<u8>,
}

impl<C: Core> Board<C> {
    /// A board after its reset.
    pub fn new(core: C, shape: Shape) -> Self {
        Self {
            parts: Parts::new(core, shape),
            stuffed: Vec::new(),
            skipping: true,
            session: None,
            kept: Vec::new(),
            out: VecDeque::new(),
        }
    }

    /// The core and what is around it.
    pub fn parts(&mut self) -> &mut Parts<C> {
        &mut self.parts
    }

    /// The board's reset: everything but what is in host memory.
    pub fn reset(&mut self) {
        self.parts.reset();
        self.stuffed.clear();
        self.skipping = true;
        self.session = None;
        self.kept.clear();
        self.out.clear();
    }

    /// A byte comes; a line error has no byte.
    pub fn receive(&mut self, byte: Option<u8>) {
        let Some(byte) = byte else {
            self.parts.count.line += 1;
            self.parts.count.malformed += 1;
            self.skipping = true;
            self.stuffed.clear();
            self.refuse_broken();
            return;
        };
        if byte != 0 {
            if !self.skipping {
                self.stuffed.push(byte);
            }
            return;
        }
        self.skipping = false;
        let mut stuffed = std::mem::take(&mut self.stuffed);
        if stuffed.is_empty() {
            return;
        }
        let unstuffed = cobs::decode_in_place(&mut stuffed).ok();
        match unstuffed.and_then(|length| stuffed.get(..length)) {
            Some(packet) if (9..=self.parts.shape.max_packet).contains(&packet.len()) => {
                self.packet(packet);
            }
            _ => {
                self.parts.count.malformed += 1;
                self.refuse_broken();
            }
        }
    }

    /// The next byte that the board sends.
    pub fn take(&mut self) -> Option<u8> {
        self.out.pop_front()
    }

    fn packet(&mut self, packet: &[u8]) {
        let (body, crc) = packet.split_at(packet.len() - 4);
        if crc32fast::hash(body).to_le_bytes() != crc {
            self.parts.count.broken += 1;
            self.refuse_broken();
            return;
        }
        self.parts.count.good += 1;
        let session = u16::from_le_bytes([body[1], body[2]]);
        let sequence = u16::from_le_bytes([body[3], body[4]]);
        let opens = sequence == 0;
        let refusal = match self.session {
            _ if body[0] != VERSION => Some(18),
            Some((kept, last)) if kept == session && last == sequence => {
                self.parts.count.repeated += 1;
                self.out.extend(self.kept.iter());
                return;
            }
            Some((kept, last)) if kept == session => {
                let next = if last == u16::MAX { 1 } else { last + 1 };
                (opens || sequence != next).then_some(17)
            }
            _ => (!opens).then_some(16),
        };
        if let Some(code) = refusal {
            self.parts.count.refused += 1;
            let reply = self.reply(session, sequence, &Execution::refusal(code));
            self.out.extend(reply);
            return;
        }
        self.session = Some((session, sequence));
        let execution = self.parts.execute(&body[5..], opens);
        self.kept = self.reply(session, sequence, &execution);
        self.out.extend(self.kept.iter());
    }

    fn refuse_broken(&mut self) {
        let reply = self.reply(0, 0, &Execution::refusal(19));
        self.out.extend(reply);
    }

    fn reply(&self, session: u16, sequence: u16, execution: &Execution) -> Vec<u8> {
        let mut packet = vec![VERSION | 0x80];
        packet.extend(session.to_le_bytes());
        packet.extend(sequence.to_le_bytes());
        packet.extend(&execution.results);
        packet.extend(execution.count.to_le_bytes());
        packet.push(execution.code);
        packet.push(self.parts.status());
        packet.extend(crc32fast::hash(&packet).to_le_bytes());
        crate::packet::frame(&packet)
    }
}
