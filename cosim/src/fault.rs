//! Something wrong at the engine's ports, put in on purpose.
//!
//! A bench that finds nothing must be able to show that it would find something: with a [`Fault`] the run of a sound
//! engine fails as that of a faulty one does, in the same clock with the same seed.

use crate::ports::{PortsIn, PortsOut, ReadIn};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A bit of one beat that leaves on the transmit stream is turned over; beats are counted from 0.
    FrameBit {
        /// The beat.
        beat: u64,
    },
    /// A bit of a received frame, for the RTL beside a netlist alone.
    TwinBit {
        /// The beat of the frames, counted from the start of the run.
        beat: u64,
    },
    /// Bursts of reads have a fixed address, which the engine's AXI port must not use.
    FixedBurst,
    /// Memory answers a read of ID 1 that nobody asked for: what the engine relies on, and asserts.
    StrayAnswer,
}

/// A fault on its way through a run.
#[derive(Debug)]
pub(crate) struct Injector {
    fault: Fault,
    waiting: bool,
    beats: u64,
    stray: Stray,
}

/// The answer that nobody asked for: it comes once, behind another one.
#[derive(Clone, Copy, Debug)]
struct Stray {
    is_due: bool,
    is_offered: bool,
    left: u8,
}

impl Stray {
    /// Beats of an answer to a fetch.
    const BEATS: u8 = 8;

    /// A beat of it, if one is offered in a clock in which memory drives `memory`.
    fn offer(&mut self, memory: &ReadIn) -> Option<ReadIn> {
        self.is_due |= memory.rvalid;
        self.is_offered = self.is_due && self.left > 0 && !memory.rvalid;
        self.is_offered.then_some(ReadIn {
            rvalid: true,
            rid: 1,
            rlast: self.left == 1,
            ..*memory
        })
    }
}

impl Injector {
    pub(crate) fn new(fault: Fault) -> Self {
        Self {
            fault,
            waiting: false,
            beats: 0,
            stray: Stray {
                is_due: false,
                is_offered: false,
                left: Stray::BEATS,
            },
        }
    }

    /// Changes what the engine drives after an edge; `bench` was driven in the clock that the edge ended.
    pub(crate) fn change(&mut self, bench: &PortsIn, engine: &mut PortsOut) {
        match self.fault {
            Fault::FrameBit { beat } => {
                self.beats += u64::from(self.waiting && bench.tx_ready);
                self.waiting = engine.tx.valid;
                // The whole time that the beat waits: a payload that changes would be another fault.
                if self.beats == beat {
                    engine.tx.data ^= 1;
                }
            }
            Fault::TwinBit { .. } => {
                self.beats += u64::from(self.waiting && bench.rx.valid);
                self.waiting = engine.rx_ready;
            }
            Fault::FixedBurst => engine.read.arburst = 0,
            Fault::StrayAnswer => {
                self.stray.left -= u8::from(self.stray.is_offered && engine.read.rready);
            }
        }
    }

    /// What the engine sees in place of what the bench drives.
    pub(crate) fn driven(&mut self, bench: &PortsIn) -> PortsIn {
        let mut driven = *bench;
        if self.fault == Fault::StrayAnswer
            && let Some(beat) = self.stray.offer(&bench.read)
        {
            driven.read = beat;
        }
        driven
    }

    /// What the RTL beside a netlist sees in place of what both are driven with.
    pub(crate) fn twin(&self, driven: &PortsIn) -> PortsIn {
        let mut driven = *driven;
        if let Fault::TwinBit { beat } = self.fault
            && beat == self.beats
        {
            driven.rx.data ^= 1;
        }
        driven
    }
}
