//! Exhaustive exploration: every order of events in a small world, on the golden model.
//!
//! Two nodes, each an engine with its host memory, and a network between them that loses, duplicates and
//! reorders. Each [`Step`] is indivisible: an action of an engine's choice, a frame that arrives, a payload
//! write that memory answers, a timer, a fault. All states that any order of steps leads to are visited, and
//! in each the [`Invariant`]s are checked by an onlooker who knows what was posted and sees what leaves the
//! engines, but not the engines' state.
//!
//! What the worlds are, what bounds them and how a counterexample is read stands in the book's page on
//! exploration.

mod access;
mod build;
mod check;
mod coverage;
mod disguise;
mod entry;
mod heal;
mod invariant;
mod key;
mod map;
mod mutation;
mod node;
mod plan;
mod report;
mod search;
mod seen;
mod shared;
mod state;
mod steps;
mod turn;
mod world;
mod worlds;

pub use invariant::{Invariant, Violation};
pub use mutation::Mutation;
pub use report::{Counterexample, Outcome, Report};
pub use search::{Progress, SearchOptions};
pub use state::Step;
pub use world::{
    Ends, Faults, Key, Lane, MTU, Operation, Region, Request, Shared, Side, Window, World,
};
pub use worlds::WORLDS;

use std::sync::Arc;

use coverage::Coverage;
use plan::Plan;

/// A world with its plan, perhaps with a fault in its engines; and which invariants are looked at.
#[derive(Clone)]
pub(crate) struct Setting {
    world: World,
    plan: Arc<Plan>,
    mutation: Option<Mutation>,
    only: Option<Invariant>,
    coverage: Arc<Coverage>,
}

impl Setting {
    fn of(exploration: &Exploration) -> Self {
        Self {
            world: exploration.world,
            plan: Arc::new(Plan::new(&exploration.world)),
            mutation: exploration.mutation,
            only: exploration.only,
            coverage: Arc::default(),
        }
    }

    fn looks_at(&self, invariant: Invariant) -> bool {
        self.only.is_none_or(|only| only == invariant)
    }
}

/// An exploration.
#[derive(Clone, Copy, Debug)]
pub struct Exploration {
    /// The world.
    pub world: World,
    /// A fault in its engines.
    pub mutation: Option<Mutation>,
    /// The one invariant that is looked at; else all.
    pub only: Option<Invariant>,
    /// How the search is made.
    pub search: SearchOptions,
}

impl Exploration {
    /// Of a world, with everything else as usual.
    pub fn of(world: World) -> Self {
        Self {
            world,
            mutation: None,
            only: None,
            search: SearchOptions::default(),
        }
    }

    /// Explores the world. `watch` is told now and then how far it is.
    ///
    /// # Panics
    /// If the declaration of the world makes no sense.
    pub fn run(&self, watch: &dyn Fn(Progress)) -> Report {
        let setting = Setting::of(self);
        let found = search::search(&setting, self.search, watch);
        Report::new(&setting, found)
    }
}

/// The world of a name.
pub fn world(name: &str) -> Option<&'static World> {
    WORLDS.iter().find(|world| world.name == name)
}
