//! Room `wire` of the engine alone: frames in become records and payload, records and payload become frames.
//!
//! The tests hold it against the golden packets and the captures of a Linux peer, and against the
//! model's own reading of the same reference.

mod packed;
mod ports;

use std::collections::VecDeque;

use verilated::{Context, Error, Model, Settings};

pub use packed::{Received, Sent};
use ports::ffi::{self, In, Out};

/// Clocks without anything happening after which the room counts as done.
const QUIET: u32 = 200;

/// The room, with gaps and back-pressure by a pattern of its own.
pub struct Wire {
    model: Model,
    inputs: In,
    outputs: Out,
    pattern: u64,
}

/// Whether the host could read the payload of what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// All of it.
    Done,
    /// The bus answered with an error.
    Failed,
}

/// A frame as the room judged it, and the payload that it kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The record.
    pub record: Received,
    /// The payload, in whole beats.
    pub payload: Vec<u8>,
}

impl Wire {
    /// A room out of reset. An even `seed` leaves the streams undisturbed.
    pub fn new(seed: u64) -> Result<Self, Error> {
        let model = Model::new(Context::new(&Settings::with_seed(seed))?, ffi::new_wire)?;
        let pattern = if seed.is_multiple_of(2) { 0 } else { seed };
        let mut wire = Self {
            model,
            inputs: In {
                rst: true,
                ..In::default()
            },
            outputs: Out::default(),
            pattern,
        };
        for _ in 0..4 {
            let reset = wire.inputs;
            wire.step(reset)?;
        }
        wire.inputs.rst = false;
        Ok(wire)
    }

    /// Sets the engine's own addresses; an IPv4 address as `::ffff:a.b.c.d`.
    pub fn own(&mut self, mac: [u8; 6], ip: [u8; 16]) {
        self.inputs.own = packed::port(mac, ip);
    }

    fn step(&mut self, next: In) -> Result<(), Error> {
        if !ffi::step_wire(self.model.pin_mut(), &next, &mut self.outputs) {
            self.model.check()?;
        }
        self.inputs = next;
        Ok(())
    }

    /// False now and then, if the streams are disturbed (xorshift).
    fn go(&mut self) -> bool {
        if self.pattern == 0 {
            return true;
        }
        self.pattern ^= self.pattern << 13;
        self.pattern ^= self.pattern >> 7;
        self.pattern ^= self.pattern << 17;
        self.pattern & 3 != 0
    }

    /// Sends frames in, and returns what came of each.
    pub fn receive(&mut self, frames: &[Vec<u8>]) -> Result<Vec<Judged>, Error> {
        let mut beats: VecDeque<(u64, u8, bool)> =
            frames.iter().flat_map(|frame| beats(frame)).collect();
        let (mut records, mut payloads, mut payload) = (Vec::new(), VecDeque::new(), Vec::new());
        let mut quiet = 0;
        while quiet < QUIET {
            let (now, out) = (self.inputs, self.outputs);
            quiet += 1;
            if now.desc_ready && out.desc_valid {
                records.push(Received::unpack(&out.desc));
                quiet = 0;
            }
            if now.payload_ready && out.payload_valid {
                payload.extend_from_slice(&out.payload.to_le_bytes());
                if out.payload_last {
                    payloads.push_back(std::mem::take(&mut payload));
                }
                quiet = 0;
            }
            let taken = now.rx_valid && out.rx_ready;
            let mut next = In {
                desc_ready: self.go(),
                payload_ready: self.go(),
                ..now
            };
            if taken {
                beats.pop_front();
                quiet = 0;
            }
            if taken || !now.rx_valid {
                let beat = if self.go() {
                    beats.front().copied()
                } else {
                    None
                };
                next.rx_valid = beat.is_some();
                (next.rx_data, next.rx_keep, next.rx_last) = beat.unwrap_or_default();
            }
            self.step(next)?;
        }
        let judged = |record: Received| {
            let kept = record.len != 0 && !record.oversize;
            let payload = if kept {
                payloads.pop_front().unwrap_or_default()
            } else {
                Vec::new()
            };
            Judged { record, payload }
        };
        Ok(records.into_iter().map(judged).collect())
    }

    /// Builds one frame.
    pub fn send(&mut self, frame: &Sent, payload: &[u8], gather: Gather) -> Result<Vec<u8>, Error> {
        let mut data: VecDeque<(u64, u8, bool)> = beats(payload).collect();
        let mut built = Vec::new();
        let mut next = self.inputs;
        next.send_desc = frame.record();
        next.address = frame.address();
        next.send_valid = true;
        next.send_chunk = !payload.is_empty();
        next.tx_ready = true;
        self.step(next)?;
        for _ in 0..20_000 {
            let (now, out) = (self.inputs, self.outputs);
            let mut next = In {
                tx_ready: self.go(),
                ..now
            };
            next.send_valid &= !out.send_ready;
            next.send_chunk &= !out.chunk_ready;
            let taken = now.gather_valid && out.gather_ready;
            if taken {
                data.pop_front();
            }
            if taken || !now.gather_valid {
                let beat = if self.go() {
                    data.front().copied()
                } else {
                    None
                };
                next.gather_valid = beat.is_some();
                let (word, keep, last) = beat.unwrap_or_default();
                (next.gather_data, next.gather_last) = (word, last);
                next.gather_error = last && gather == Gather::Failed;
                next.gather_bytes = keep.count_ones() as u8;
            }
            let done = now.tx_ready && out.tx_valid && out.tx_last;
            if now.tx_ready && out.tx_valid {
                let n = out.tx_keep.count_ones() as usize;
                built.extend_from_slice(&out.tx_data.to_le_bytes()[..n]);
            }
            self.step(next)?;
            if done {
                break;
            }
        }
        Ok(built)
    }
}

/// A frame as beats: eight bytes, how many of them count as a mask, whether it is the last.
fn beats(frame: &[u8]) -> impl Iterator<Item = (u64, u8, bool)> + '_ {
    let count = frame.len().div_ceil(8);
    frame.chunks(8).enumerate().map(move |(i, chunk)| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        let keep = (0xFFu16 >> (8 - chunk.len())) as u8;
        (u64::from_le_bytes(bytes), keep, i + 1 == count)
    })
}
