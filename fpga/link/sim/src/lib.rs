//! The RTL of the host link, Verilated, with a core of the model behind it: on its byte stream ([`Link`]) and
//! on its UART ([`Uart`]). Both are a peer of the model's channel, so a client talks to them as to the model.

mod behind;
mod ports;
mod uart;

use std::collections::VecDeque;
use std::time::Duration;

use tandem_link::model::{Core, Peer};
use verilated::{Context, Error, Model, Settings};

pub use behind::Behind;
use ports::ffi::{self, In, Out};
pub use uart::{Shape as Wave, Uart};

/// Clocks of a microsecond: the designs are told 3 MHz.
const MICROSECOND: u32 = 3;
/// Clocks between two bytes from the host.
const SPACING: u32 = 8;

/// The link over its byte stream.
pub struct Link<C> {
    model: Model,
    inputs: In,
    outputs: Out,
    behind: Behind<C>,
    out: VecDeque<u8>,
}

impl<C: Core> Link<C> {
    /// A link out of reset. An odd seed makes the core and its memory slow at times.
    pub fn new(core: C, seed: u64) -> Result<Self, Error> {
        let model = Model::new(Context::new(&Settings::with_seed(seed))?, ffi::new_bytes)?;
        let mut link = Self {
            model,
            inputs: In::default(),
            outputs: Out::default(),
            behind: Behind::new(core, seed),
            out: VecDeque::new(),
        };
        link.press();
        Ok(link)
    }

    /// What is behind the link.
    pub fn behind(&mut self) -> &mut Behind<C> {
        &mut self.behind
    }

    /// Whether the link has something to send or to ask of the core.
    pub fn busy(&self) -> bool {
        let out = &self.outputs;
        out.tx_valid || out.mem_valid || out.awvalid || out.arvalid
    }

    /// Lets clocks pass.
    pub fn clocks(&mut self, count: u32) {
        for _ in 0..count {
            self.clock(None);
        }
    }

    fn press(&mut self) {
        self.inputs.rst = true;
        self.clocks(4);
        self.inputs.rst = false;
        self.out.clear();
    }

    /// One clock, with a byte from the host or a line error, or nothing.
    fn clock(&mut self, byte: Option<Option<u8>>) {
        let (now, out) = (self.inputs, self.outputs);
        if now.tx_ready && out.tx_valid && !now.rst {
            self.out.push_back(out.tx_data);
        }
        let mut next = self.behind.clock(&now, &out);
        next.tx_ready = self.behind.go();
        next.rx_valid = byte.is_some();
        next.rx_data = byte.flatten().unwrap_or_default();
        next.rx_error = byte == Some(None);
        if !ffi::step_bytes(self.model.pin_mut(), &next, &mut self.outputs) {
            let failure = self.model.check();
            panic!("the link's RTL stopped: {failure:?}");
        }
        self.inputs = next;
    }
}

impl<C: Core> Peer for Link<C> {
    fn receive(&mut self, byte: Option<u8>) {
        self.clock(Some(byte));
        self.clocks(SPACING);
    }

    fn pass(&mut self, time: Duration) {
        self.clocks(time.as_micros() as u32 * MICROSECOND);
    }

    fn take(&mut self) -> Option<u8> {
        self.out.pop_front()
    }

    fn reset(&mut self) {
        self.press();
    }
}
