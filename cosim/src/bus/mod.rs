//! Bus functional models: the world at the engine's ports.
//!
//! Each model is stepped once a clock. It sees what both sides drive in this clock (so it knows which
//! handshakes the coming edge will take), does its part, and says what it drives after the edge. It
//! also watches the rules of its protocol: a broken one is a [`Violation`].

mod fuzz;
mod lite;
mod memory;
mod read;
mod stream;
mod write;

pub use fuzz::{Chance, Traffic};
pub use lite::{LiteMaster, LiteReply};
pub use memory::HostMemory;
pub use read::ReadSlave;
pub use stream::{FrameSink, FrameSource, SinkEvent};
pub use write::{WriteEvent, WriteSlave};

use thiserror::Error;

pub use crate::lockstep::{BEAT, ReadBurst};

/// A rule of a bus protocol that the engine broke.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cycle {cycle}: {port}: {rule}; look in room {}", self.room())]
pub struct Violation {
    /// Clock in which it was seen.
    pub cycle: u64,
    /// Channel, by its signal prefix.
    pub port: &'static str,
    /// The rule, and how it was broken.
    pub rule: String,
}

impl Violation {
    /// The room that drives the port.
    pub fn room(&self) -> &'static str {
        match self.port.contains("axis") {
            true => "wire",
            false => "host",
        }
    }
}

/// Watches one valid/ready channel that the engine drives: valid stays, and the payload with it.
#[derive(Debug)]
pub struct Stable<T> {
    port: &'static str,
    waiting: Option<T>,
}

impl<T: Clone + PartialEq + std::fmt::Debug> Stable<T> {
    /// A watch for the channel of this name.
    pub fn new(port: &'static str) -> Self {
        Self {
            port,
            waiting: None,
        }
    }

    /// Checks one clock.
    pub fn check(
        &mut self,
        cycle: u64,
        valid: bool,
        ready: bool,
        payload: &T,
    ) -> Result<(), Violation> {
        if let Some(before) = &self.waiting {
            let rule = if !valid {
                Some("valid fell before ready".to_owned())
            } else if before != payload {
                Some(format!(
                    "payload changed while waiting: {before:?} became {payload:?}"
                ))
            } else {
                None
            };
            if let Some(rule) = rule {
                return Err(Violation {
                    cycle,
                    port: self.port,
                    rule,
                });
            }
        }
        self.waiting = (valid && !ready).then(|| payload.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fallen_valid_and_a_changed_payload_are_violations() {
        let mut fell = Stable::new("m_axi_ar");
        fell.check(1, true, false, &5).unwrap();
        assert_eq!(fell.check(2, false, false, &5).unwrap_err().cycle, 2);

        let mut changed = Stable::new("m_axi_ar");
        changed.check(1, true, false, &5).unwrap();
        let violation = changed.check(2, true, true, &6).unwrap_err();
        assert!(violation.to_string().contains("5 became 6"), "{violation}");
    }

    #[test]
    fn a_taken_payload_may_change() {
        let mut watch = Stable::new("m_axi_ar");
        watch.check(1, true, true, &5).unwrap();
        watch.check(2, true, false, &6).unwrap();
        watch.check(3, true, true, &6).unwrap();
        watch.check(4, false, false, &0).unwrap();
    }
}
