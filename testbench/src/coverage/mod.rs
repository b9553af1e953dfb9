//! Coverage: what of the RTL's code was executed, and which of the declared cover points were seen.
//!
//! Nodes of any target tell a [`Cover`] what they do; it goes to a folder of data files ([`data`]) and is added up
//! there, over runs and targets.

pub mod code;
pub mod data;
pub mod functional;
pub mod report;
pub mod waivers;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tandem_model::engine::Observer;

use crate::network::{Facts, Note};
use code::{CodeError, Points, Raw};
use functional::{Onlooker, Seen, Tally};

/// What has been covered; shared by the nodes of all runs of a program.
#[derive(Debug, Default)]
pub struct Cover {
    functional: Mutex<Tally>,
    code: Mutex<Raw>,
}

impl Cover {
    /// Who sees the actions of a node.
    pub fn onlooker(self: &Arc<Self>) -> Box<dyn Observer> {
        Box::new(Onlooker::new(Arc::clone(self)))
    }

    /// Counts an event.
    pub(crate) fn see(&self, seen: &Seen) {
        lock(&self.functional).see(seen);
    }

    /// Counts what the network does to a frame.
    pub(crate) fn befell(&self, frame: &[u8], notes: &[Note]) {
        let opcode = Facts::of(frame).opcode;
        for note in notes {
            self.see(&Seen {
                fate: Some((note.fate, opcode)),
                ..Seen::default()
            });
        }
    }

    /// Adds a data file of Verilator's.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn take_code(&self, path: &Path) -> Result<(), CodeError> {
        lock(&self.code).add(path)
    }

    /// Adds what another one has counted.
    pub fn add(&self, other: &Self) {
        lock(&self.functional).add_all(&lock(&other.functional));
        lock(&self.code).add_all(&lock(&other.code));
    }

    /// What has been seen so far.
    pub fn functional(&self) -> Tally {
        lock(&self.functional).clone()
    }

    /// What of the code has been executed so far, by runs that have ended.
    ///
    /// # Errors
    /// If Verilator wrote something that is not known, in words.
    pub fn code(&self) -> Result<Points, String> {
        lock(&self.code).points()
    }
}

/// Counts are counts, whatever became of the thread that held them.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
