//! Stopping before the end: what is under way ends first, and what was found is still told.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Asks everything in this program that goes on for long to end soon.
pub fn ask() {
    ASKED.store(true, Ordering::SeqCst);
}

/// Whether somebody has asked.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
