//! A state of a world, and the steps that lead from one to another.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tandem_model::engine::Action;

use super::invariant::Violation;
use super::node::{Bytes, Node, digest};
use super::world::{Key, Side};

/// What may still go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Left {
    /// Faults of the network.
    pub faults: u8,
    /// Timers that end too early.
    pub hasty: u8,
}

/// A state. Nodes that a step leaves alone are shared with the state before it.
#[derive(Clone)]
pub struct State {
    pub(super) nodes: [Arc<Node>; 2],
    /// Frames on their way, by the node that sent them, oldest first.
    pub(super) links: [VecDeque<Bytes>; 2],
    pub(super) left: Left,
    pub(super) symmetric: bool,
    /// What does not hold any more. Nothing follows then.
    pub(super) broken: Option<Violation>,
}

impl State {
    pub(super) fn node(&self, side: Side) -> &Node {
        &self.nodes[side as usize]
    }

    pub(super) fn link(&self, from: Side) -> &VecDeque<Bytes> {
        &self.links[from as usize]
    }

    /// What the state is, but for what may still go wrong.
    pub(super) fn healed(&self) -> Self {
        Self {
            left: Left {
                faults: 0,
                hasty: 0,
            },
            ..self.clone()
        }
    }
}

/// In a symmetric world it does not matter which node is which: they have the same addresses, memory and requests,
/// so that each step of one state has its mirror image in the other. Each node counts with what it has
/// sent.
impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut ends = Side::BOTH.map(|side| digest(&(self.node(side).digest, self.link(side))));
        if self.symmetric {
            ends.sort_unstable();
        }
        (ends, self.left, &self.broken).hash(state);
    }
}

/// As the search needs it: by hash, like everything else there.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        digest(self) == digest(other)
    }
}

/// A step of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The engine of a node does something of its own choice, or one of its timers ends.
    Act(Side, Action),
    /// The memory of a node answers the oldest payload write under way.
    Answer(Side),
    /// The memory of a node answers the oldest read of payload under way.
    Gather(Side),
    /// The memory of a node answers the read of the page list of the registration that makes this token.
    List(Side, Key),
    /// The oldest frame that a node sent reaches its peer, and is judged there.
    Deliver(Side),
    /// The driver of a node hands the next receive of a lane to the engine.
    Ring(Side, usize),
    /// The oldest frame that a node sent is lost.
    Lose(Side),
    /// One of the frames that a node sent comes once more, later.
    Duplicate(Side, usize),
    /// The oldest two frames that a node sent change places.
    Swap(Side),
}
