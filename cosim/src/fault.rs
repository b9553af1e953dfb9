//! Something wrong at the engine's ports, put in on purpose.
//!
//! A bench that finds nothing must be able to show that it would find something: with a [`Fault`] the run of a sound
//! engine fails as that of a faulty one does, in the same clock with the same seed.

use crate::ports::{PortsIn, PortsOut};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A bit of one beat that leaves on the transmit stream is turned over; beats are counted from 0.
    FrameBit {
        /// The beat.
        beat: u64,
    },
    /// Bursts of reads have a fixed address, which the engine's AXI port must not use.
    FixedBurst,
}

/// A fault on its way through a run.
#[derive(Debug)]
pub(crate) struct Injector {
    fault: Fault,
    waiting: bool,
    beats: u64,
}

impl Injector {
    pub(crate) fn new(fault: Fault) -> Self {
        Self {
            fault,
            waiting: false,
            beats: 0,
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
            Fault::FixedBurst => engine.read.arburst = 0,
        }
    }
}
