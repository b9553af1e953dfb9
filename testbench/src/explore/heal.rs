//! The end that every state has: the network heals, and everything goes its way.

use std::collections::HashSet;
use std::sync::Mutex;

use super::Setting;
use super::node::digest;
use super::state::{State, Step};
use super::world::{Ends, Side};

/// Parts of the set of states with a good end, so that threads seldom meet.
const PARTS: usize = 64;

/// States that are known to come to a good end.
pub(super) struct Good {
    parts: Vec<Mutex<HashSet<u64>>>,
}

impl Good {
    pub fn new() -> Self {
        Self {
            parts: (0..PARTS).map(|_| Mutex::default()).collect(),
        }
    }

    fn part(&self, state: u64) -> std::sync::MutexGuard<'_, HashSet<u64>> {
        let part = self.parts[state as usize % PARTS].lock();
        // A thread that panicked has left the set as it was.
        part.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// How a state goes on when the network has healed.
pub(super) struct End {
    /// The steps.
    pub steps: Vec<Step>,
    /// What is wrong in the end.
    pub missing: Option<String>,
}

impl Setting {
    /// Lets a state go on without faults: always the first of its steps, so that timers end only when nothing
    /// else happens any more. Stops where it comes to a state of a good end.
    pub(super) fn heal(&self, state: &State, good: &Good) -> End {
        let mut state = state.healed();
        let mut walked = Vec::new();
        let mut seen = HashSet::new();
        let mut steps = Vec::new();
        let missing = loop {
            let hash = digest(&state);
            if good.part(hash).contains(&hash) {
                break None;
            }
            if !seen.insert(hash) {
                break Some("it comes back to a state that it was in".into());
            }
            walked.clear();
            self.steps(&state, &mut walked);
            let Some(step) = walked.first() else {
                break match state.broken {
                    // Found on its own.
                    Some(_) => None,
                    None => self.missing(&state),
                };
            };
            steps.push(*step);
            state = self.perform(&state, *step, None);
        };
        if missing.is_none() {
            for hash in seen {
                good.part(hash).insert(hash);
            }
        }
        End { steps, missing }
    }

    /// What is missing where nothing happens any more.
    fn missing(&self, state: &State) -> Option<String> {
        Side::BOTH.into_iter().find_map(|side| {
            let node = state.node(side);
            let plan = self.plan.node(side);
            for (lane, (requests, qp)) in plan.lanes.iter().zip(&node.seen.qps).enumerate() {
                let loud = requests.iter().rposition(|planned| !planned.request.silent);
                let retired = usize::from(qp.retired);
                if retired != requests.len() || usize::from(qp.told) < loud.map_or(0, |last| last + 1) {
                    return Some(format!(
                        "{}, lane {lane}: {retired} of {} requests have ended, completions were seen up to request {}",
                        side.name(),
                        requests.len(),
                        qp.told
                    ));
                }
                if qp.failed && self.world.is_shared(side) && !qp.let_go {
                    return Some(format!(
                        "{}, lane {lane} is in error, and has not let go of the shared queue",
                        side.name()
                    ));
                }
                let received = usize::from(qp.received);
                let own = !self.world.is_shared(side);
                if own && self.world.ends == Ends::Success && received != plan.receives[lane] {
                    return Some(format!(
                        "{}, lane {lane}: {received} of {} receives have completed",
                        side.name(),
                        plan.receives[lane]
                    ));
                }
            }
            if self.world.is_shared(side)
                && let Some(missing) = self.missing_shared(node)
            {
                return Some(missing);
            }
            // What lies in its receives was looked at when they completed.
            let settled = plan.shared..;
            let complete = self.world.ends == Ends::Any
                || node.landing[settled.clone()] == plan.after[settled];
            (!complete).then(|| format!("bytes are missing in the memory of {}", side.name()))
        })
    }
}
