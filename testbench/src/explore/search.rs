//! The search through all states, which `stateright` walks breadth first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::Setting;
use super::heal::Good;
use super::invariant::Invariant;
use super::node::digest;
use super::state::{State, Step};

/// Between two looks at how far a search is.
const PAUSE: Duration = Duration::from_millis(10);

/// How a search is made.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Threads.
    pub threads: usize,
    /// Distinct states after which it gives up.
    pub max_states: Option<usize>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism();
        Self {
            threads: threads.map_or(1, std::num::NonZero::get),
            max_states: None,
        }
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Distinct states found.
    pub states: usize,
    /// Steps walked.
    pub steps: usize,
    /// Steps from the first state to the farthest one.
    pub depth: usize,
}

/// What a search found.
pub(super) struct Found {
    pub progress: Progress,
    pub time: Duration,
    /// It gave up.
    pub cut: bool,
    /// A shortest path to a state in which the invariant does not hold.
    pub path: Option<(Invariant, Vec<Step>)>,
}

/// The states of a world as `stateright` asks for them.
struct Space {
    setting: Setting,
    good: Good,
    max_states: usize,
    expanded: AtomicUsize,
    cut: AtomicBool,
    /// The first state in which an invariant does not hold: of a search in one thread one of the
    /// nearest. `stateright` itself would keep the last one that it came across before it stopped.
    first: OnceLock<(Invariant, u64)>,
}

impl Space {
    fn new(setting: Setting, max_states: Option<usize>) -> Self {
        Self {
            setting,
            good: Good::new(),
            max_states: max_states.unwrap_or(usize::MAX),
            expanded: AtomicUsize::new(0),
            cut: AtomicBool::new(false),
            first: OnceLock::new(),
        }
    }

    fn holds(&self, state: &State, invariant: Invariant) -> bool {
        let broken = match &state.broken {
            Some(violation) => violation.invariant == invariant,
            None => {
                invariant == Invariant::Completes
                    && self.setting.looks_at(invariant)
                    && self.setting.heal(state, &self.good).missing.is_some()
            }
        };
        if !broken {
            return true;
        }
        let this = (invariant, digest(state));
        *self.first.get_or_init(|| this) != this
    }
}

impl Model for Space {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![self.setting.first()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        if self.expanded.fetch_add(1, Ordering::Relaxed) >= self.max_states {
            self.cut.store(true, Ordering::Relaxed);
            return;
        }
        self.setting.steps(state, actions);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        Some(self.setting.perform(state, step, None))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        macro_rules! always {
            ($($invariant:ident),+) => {
                vec![$(Property::always(Invariant::$invariant.name(), |space: &Self, state| {
                    space.holds(state, Invariant::$invariant)
                })),+]
            };
        }
        always![
            Legal,
            Bytes,
            ExactlyOnce,
            DataFirst,
            AckAfterData,
            Fence,
            DeadToken,
            Window,
            Registration,
            SharedReceive,
            Limit,
            LetGo,
            InOrder,
            Succeeds,
            Completes
        ]
    }
}

/// Searches all states of a setting. In more than one thread a path found need not be a shortest one; then it
/// is looked for again in one.
pub(super) fn search(setting: &Setting, options: SearchOptions, watch: &dyn Fn(Progress)) -> Found {
    let found = search_once(setting, options, watch);
    if found.path.is_none() || options.threads <= 1 {
        return found;
    }
    let alone = SearchOptions {
        threads: 1,
        ..options
    };
    let again = search_once(setting, alone, watch);
    if again.path.is_some() { again } else { found }
}

fn search_once(setting: &Setting, options: SearchOptions, watch: &dyn Fn(Progress)) -> Found {
    let start = Instant::now();
    let mut checker = Space::new(setting.clone(), options.max_states)
        .checker()
        .threads(options.threads.max(1))
        .finish_when(HasDiscoveries::AnyFailures)
        .spawn_bfs();
    let handles = checker.handles();
    while handles.iter().any(|handle| !handle.is_finished()) {
        watch(progress(&checker));
        std::thread::sleep(PAUSE);
    }
    for handle in handles {
        if let Err(panic) = handle.join() {
            std::panic::resume_unwind(panic);
        }
    }
    let found = checker.discoveries().into_iter().next();
    let path = found.and_then(|(name, path)| {
        let invariant = Invariant::ALL.into_iter().find(|i| i.name() == name)?;
        Some((invariant, path.into_actions()))
    });
    Found {
        progress: progress(&checker),
        time: start.elapsed(),
        cut: checker.model().cut.load(Ordering::Relaxed),
        path,
    }
}

/// How far a search is. `stateright` counts the first state as depth 1.
fn progress(checker: &impl Checker<Space>) -> Progress {
    Progress {
        states: checker.unique_state_count(),
        steps: checker.state_count().saturating_sub(1),
        depth: checker.max_depth().saturating_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{Exploration, Lane, Mutation, Request, Setting, WORLDS, World, world};
    use super::*;

    fn setting(world: &World, mutation: Option<Mutation>) -> Setting {
        Setting {
            mutation,
            ..Setting::of(&Exploration::of(*world))
        }
    }

    fn alone(setting: &Setting) -> Found {
        let options = SearchOptions {
            threads: 1,
            max_states: None,
        };
        search(setting, options, &|_| {})
    }

    /// Layer by layer, the obvious way: states, and steps to the nearest one in which something does not hold.
    fn layers(setting: &Setting) -> (usize, Option<usize>) {
        let mut layer = vec![setting.first()];
        let mut seen = HashSet::from([digest(&layer[0])]);
        for depth in 0.. {
            if layer.is_empty() {
                break;
            }
            if layer.iter().any(|state| state.broken.is_some()) {
                return (seen.len(), Some(depth));
            }
            let mut next = Vec::new();
            for state in &layer {
                let mut steps = Vec::new();
                setting.steps(state, &mut steps);
                for step in steps {
                    let state = setting.perform(state, step, None);
                    if seen.insert(digest(&state)) {
                        next.push(state);
                    }
                }
            }
            layer = next;
        }
        (seen.len(), None)
    }

    #[test]
    fn all_states_are_found() {
        let setting = setting(world("send").unwrap(), None);
        let found = alone(&setting);
        assert!(found.path.is_none() && !found.cut);
        assert_eq!(layers(&setting), (found.progress.states, None));
    }

    #[test]
    fn paths_are_shortest() {
        for mutation in [Mutation::AckBeforeData, Mutation::CompletionsSwapped] {
            let setting = setting(world("send").unwrap(), Some(mutation));
            let (_, steps) = alone(&setting).path.unwrap();
            assert_eq!(layers(&setting).1, Some(steps.len()), "{mutation:?}");
        }
    }

    const MIRRORED: [Lane; 1] = [Lane {
        a: &[Request::send(20)],
        b: &[Request::send(20)],
    }];

    #[test]
    fn a_mirror_image_is_the_same_state() {
        let world = |symmetric| World {
            lanes: &MIRRORED,
            symmetric,
            ..World::PLAIN
        };
        let [all, halved] = [false, true].map(|symmetric| {
            let (states, broken) = layers(&setting(&world(symmetric), None));
            assert_eq!(broken, None);
            states
        });
        assert!(halved < all && all < 2 * halved, "{halved} of {all}");
    }

    #[test]
    fn all_invariants_are_properties() {
        let space = Space::new(setting(&WORLDS[0], None), None);
        let names: Vec<&str> = space.properties().iter().map(|p| p.name).collect();
        assert_eq!(names, Invariant::ALL.map(Invariant::name));
    }
}
