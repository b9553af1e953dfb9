//! A line between a client and a board that loses, breaks, repeats and inserts bytes, in its own time.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use super::{Board, Core};
use crate::line::Line;

/// The board's end of a line.
pub trait Peer {
    /// A byte comes; a line error has none.
    fn receive(&mut self, byte: Option<u8>);

    /// Time passes.
    fn pass(&mut self, time: Duration);

    /// A byte that the board sent.
    fn take(&mut self) -> Option<u8>;

    /// The board's reset button.
    fn reset(&mut self);
}

impl<C: Core> Peer for Board<C> {
    fn receive(&mut self, byte: Option<u8>) {
        Board::receive(self, byte);
    }

    fn pass(&mut self, time: Duration) {
        self.parts().clock += (time.as_nanos() / 16) as u64;
    }

    fn take(&mut self) -> Option<u8> {
        Board::take(self)
    }

    fn reset(&mut self) {
        Board::reset(self);
    }
}

/// How often, in a million bytes, something happens to a byte, either way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noise {
    /// Bits of it are turned.
    pub broken: u32,
    /// It is lost.
    pub lost: u32,
    /// It comes twice.
    pub repeated: u32,
    /// Another one comes before it.
    pub inserted: u32,
    /// It comes as a line error; on the way back, as some byte.
    pub errors: u32,
    /// At a zero byte: what came since the last one comes again.
    pub replayed: u32,
    /// The board is reset.
    pub resets: u32,
}

impl Noise {
    /// Everything but resets, equally often.
    pub fn of(rate: u32) -> Self {
        Self {
            broken: rate,
            lost: rate,
            repeated: rate,
            inserted: rate,
            errors: rate,
            replayed: 20 * rate,
            resets: 0,
        }
    }
}

/// A noisy line to a board.
#[derive(Debug)]
pub struct Channel<P> {
    peer: P,
    noise: Noise,
    random: u64,
    time: Duration,
    /// Bytes on their way to the host.
    coming: VecDeque<u8>,
    there: Vec<u8>,
    back: Vec<u8>,
    /// Nothing comes through, either way.
    pub unplugged: bool,
    /// How often the board was reset.
    pub resets: u32,
}

/// How much time passes at once while nothing comes.
const STEP: Duration = Duration::from_micros(20);
/// How long a byte takes.
const BYTE: Duration = Duration::from_nanos(3333);

impl<P: Peer> Channel<P> {
    /// A line with noise by a seed.
    pub fn new(peer: P, noise: Noise, seed: u64) -> Self {
        Self {
            peer,
            noise,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            time: Duration::ZERO,
            coming: VecDeque::new(),
            there: Vec::new(),
            back: Vec::new(),
            unplugged: false,
            resets: 0,
        }
    }

    /// The board.
    pub fn peer(&mut self) -> &mut P {
        &mut self.peer
    }

    /// Changes the noise.
    pub fn set_noise(&mut self, noise: Noise) {
        self.noise = noise;
    }

    /// Presses the board's reset button.
    pub fn reset(&mut self) {
        self.peer.reset();
        self.resets += 1;
    }

    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn happens(&mut self, rate: u32) -> bool {
        rate != 0 && (self.next() >> 20) % 1_000_000 < u64::from(rate)
    }

    fn some(&mut self) -> u8 {
        (self.next() >> 32) as u8
    }

    /// What comes out for a byte that goes in.
    fn noisy(&mut self, byte: u8) -> Vec<Option<u8>> {
        let noise = self.noise;
        let mut out = Vec::new();
        if self.happens(noise.inserted) {
            out.push(Some(self.some()));
        }
        if self.happens(noise.lost) {
            return out;
        }
        let broken = if self.happens(noise.broken) {
            byte ^ (1 << (self.some() % 8))
        } else {
            byte
        };
        out.push(Some(broken).filter(|_| !self.happens(noise.errors)));
        if self.happens(noise.repeated) {
            out.push(Some(broken));
        }
        out
    }

    fn collect(&mut self) {
        while let Some(byte) = self.peer.take() {
            let mut out: Vec<u8> = Vec::new();
            for byte in self.noisy(byte) {
                out.push(byte.unwrap_or_else(|| self.some()));
            }
            if self.unplugged {
                continue;
            }
            if byte == 0 && self.happens(self.noise.replayed) {
                out.extend(self.back.iter());
                out.push(0);
            }
            if byte == 0 {
                self.back.clear();
            } else {
                self.back.push(byte);
            }
            self.coming.extend(out);
        }
    }
}

impl<P: Peer> Line for Channel<P> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            if self.happens(self.noise.resets) {
                self.reset();
            }
            let mut out = self.noisy(*byte);
            if *byte == 0 && self.happens(self.noise.replayed) {
                out.extend(self.there.iter().copied().map(Some));
                out.push(Some(0));
            }
            if *byte == 0 {
                self.there.clear();
            } else {
                self.there.push(*byte);
            }
            for byte in out.into_iter().filter(|_| !self.unplugged) {
                self.peer.receive(byte);
            }
            self.collect();
        }
        Ok(())
    }

    fn receive(&mut self, into: &mut [u8], wait: Duration) -> io::Result<usize> {
        let end = self.time + wait;
        loop {
            self.collect();
            if !self.coming.is_empty() {
                let count = self.coming.len().min(into.len());
                for (place, byte) in into.iter_mut().zip(self.coming.drain(..count)) {
                    *place = byte;
                }
                self.time += BYTE * count as u32;
                return Ok(count);
            }
            if self.time >= end {
                return Ok(0);
            }
            self.time += STEP;
            self.peer.pass(STEP);
        }
    }

    fn now(&self) -> Duration {
        self.time
    }
}
