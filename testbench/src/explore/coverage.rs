//! Which actions of the engines a search has come across: what shows that a world is not empty talk.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use tandem_model::abi::CommitKind;
use tandem_model::engine::Action;

/// Kinds and causes, one bit each.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    causes: [AtomicU64; 32],
}

impl Coverage {
    /// An action was executed.
    pub fn note(&self, action: &Action) {
        let bit = 1 << (action.cause % 64);
        let causes = &self.causes[action.kind as usize % 32];
        if causes.load(Ordering::Relaxed) & bit == 0 {
            causes.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// The kinds, each with the causes that its records name, in words.
    pub fn kinds(&self) -> BTreeMap<String, Vec<String>> {
        let mut kinds = BTreeMap::new();
        for kind in CommitKind::ALL {
            let bits = self.causes[*kind as usize % 32].load(Ordering::Relaxed);
            let causes = (0..64u8).filter(|cause| bits & 1 << cause != 0);
            let words =
                causes.map(|cause| Action::new(*kind, 0).with_cause(cause).cause_in_words());
            if bits != 0 {
                kinds.insert(format!("{kind:?}"), words.collect());
            }
        }
        kinds
    }
}
