//! What the ports did in some clocks of a run.

use std::ops::Range;

use crate::ports::{PortsIn, PortsOut};

/// Both sides of the ports in one clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ports {
    /// The clock.
    pub clock: u64,
    /// What the bench drove.
    pub bench: PortsIn,
    /// What the engine drove, as the bench saw it.
    pub engine: PortsOut,
}

/// A window of clocks, and what was seen in those of them that have passed.
///
/// It costs a comparison a clock outside of the window, so whoever wants to see a spot runs once more, by the seed.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    window: Range<u64>,
    seen: Vec<Ports>,
}

impl Recording {
    pub(crate) fn new(window: Range<u64>) -> Self {
        Self {
            window,
            seen: Vec::new(),
        }
    }

    /// Takes note of a clock.
    pub(crate) fn clock(&mut self, clock: u64, bench: &PortsIn, engine: &PortsOut) {
        if self.window.contains(&clock) {
            self.seen.push(Ports {
                clock,
                bench: *bench,
                engine: *engine,
            });
        }
    }

    pub(crate) fn seen(&self) -> &[Ports] {
        &self.seen
    }
}
