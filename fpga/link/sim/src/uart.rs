//! The link on its UART: a line with a baud rate, jitter, breaks.

use std::collections::VecDeque;
use std::time::Duration;

use tandem_link::model::{Core, Peer};
use verilated::{Context, Error, Model, Settings};

use crate::behind::Behind;
use crate::ports::ffi::{self, In, Out};

/// Clocks of a bit: the design has 3 MHz and 576 kbaud, which are as 62.5 MHz and 12 Mbaud: the fastest line of
/// the boards, with no whole number of clocks in a bit.
pub const BIT: f64 = 3_000_000.0 / 576_000.0;

/// What the host's UART is like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its bit, in bits of the board: 1.02 is 2 % slower.
    pub bit: f64,
    /// How much an edge may be early or late, in bits of the host.
    pub jitter: f64,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            bit: 1.0,
            jitter: 0.0,
        }
    }
}

/// The link on its UART.
pub struct Uart<C> {
    model: Model,
    inputs: In,
    outputs: Out,
    behind: Behind<C>,
    shape: Shape,
    random: u64,
    /// Clocks, and when the line to the board is free.
    time: f64,
    free: f64,
    /// Levels to come, each with the time from which it holds.
    edges: VecDeque<(f64, bool)>,
    level: bool,
    ear: Ear,
    out: VecDeque<u8>,
}

/// The host's receiver.
#[derive(Debug)]
struct Ear {
    start: Option<f64>,
    bits: Vec<bool>,
    last: bool,
}

impl<C: Core> Uart<C> {
    /// A link out of reset.
    pub fn new(core: C, shape: Shape, seed: u64) -> Result<Self, Error> {
        let model = Model::new(Context::new(&Settings::with_seed(seed))?, ffi::new_uart)?;
        let mut uart = Self {
            model,
            inputs: In::default(),
            outputs: Out::default(),
            behind: Behind::new(core, seed),
            shape,
            random: seed | 1,
            time: 0.0,
            free: 0.0,
            edges: VecDeque::new(),
            level: true,
            ear: Ear {
                start: None,
                bits: Vec::new(),
                last: true,
            },
            out: VecDeque::new(),
        };
        uart.press();
        Ok(uart)
    }

    /// What is behind the link.
    pub fn behind(&mut self) -> &mut Behind<C> {
        &mut self.behind
    }

    /// Changes the host's UART.
    pub fn set_shape(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// The line to the board is held low for some of the host's bits.
    pub fn hold_low(&mut self, bits: f64) {
        self.run_until(self.free);
        self.edges.push_back((self.time, false));
        self.edges.push_back((self.time + bits * BIT, true));
        self.free = self.time + (bits + 2.0) * BIT;
        self.run_until(self.free);
    }

    fn press(&mut self) {
        self.inputs.rst = true;
        (0..4).for_each(|_| self.clock());
        self.inputs.rst = false;
        (0..64).for_each(|_| self.clock());
        self.out.clear();
    }

    fn run_until(&mut self, end: f64) {
        while self.time < end {
            self.clock();
        }
    }

    fn clock(&mut self) {
        let mut next = self.behind.clock(&self.inputs, &self.outputs);
        while self.edges.front().is_some_and(|(at, _)| *at <= self.time) {
            if let Some((_, level)) = self.edges.pop_front() {
                self.level = level;
            }
        }
        next.rxd = self.level;
        if !ffi::step_uart(self.model.pin_mut(), &next, &mut self.outputs) {
            let failure = self.model.check();
            panic!("the link's RTL stopped: {failure:?}");
        }
        self.inputs = next;
        self.time += 1.0;
        self.listen(self.outputs.txd || next.rst);
    }

    /// The host's receiver reads each bit in its middle; a stop bit that is low gives a zero byte.
    fn listen(&mut self, level: bool) {
        let bit = BIT * self.shape.bit;
        match self.ear.start {
            None => {
                if self.ear.last && !level {
                    self.ear.start = Some(self.time);
                    self.ear.bits.clear();
                }
            }
            Some(start) => {
                let due = start + bit * (self.ear.bits.len() as f64 + 0.5);
                // The level holds until the next clock.
                if due < self.time + 1.0 {
                    self.ear.bits.push(level);
                }
                if self.ear.bits.len() == 10 {
                    self.ear.start = None;
                    let bits = &self.ear.bits[1..9];
                    let byte = bits
                        .iter()
                        .rev()
                        .fold(0, |byte, bit| byte << 1 | u8::from(*bit));
                    self.out.push_back(if self.ear.bits[9] { byte } else { 0 });
                }
            }
        }
        self.ear.last = level;
    }

    fn jitter(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let share = (self.random >> 11) as f64 / (1u64 << 53) as f64;
        (2.0 * share - 1.0) * self.shape.jitter * self.shape.bit * BIT
    }
}

impl<C: Core> Peer for Uart<C> {
    fn receive(&mut self, byte: Option<u8>) {
        let bit = BIT * self.shape.bit;
        let start = self.free.max(self.time);
        let levels = (0..8).map(|i| byte.unwrap_or(0) >> i & 1 == 1);
        let mut at = start;
        let stop = byte.is_some();
        for level in std::iter::once(false).chain(levels).chain([stop]) {
            let jitter = self.jitter();
            self.edges.push_back((at + jitter, level));
            at += bit;
        }
        if !stop {
            self.edges.push_back((at, true));
            at += bit;
        }
        self.free = at;
        self.run_until(at);
    }

    fn pass(&mut self, time: Duration) {
        self.run_until(self.time + time.as_micros() as f64 * f64::from(crate::MICROSECOND));
    }

    fn take(&mut self) -> Option<u8> {
        self.out.pop_front()
    }

    fn reset(&mut self) {
        self.press();
    }
}
