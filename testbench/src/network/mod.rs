//! The network of a world: from each node to each other one a direction, with impairments of its own.
//!
//! An impairment is a [`Rule`]: which frames (by opcode, PSN, queue pair), which of these (by number, by chance, so
//! many times), and what is done to them: they are lost, come twice, after later ones, late, with a bit turned over, or with
//! other fields. A [`Throttle`] makes a direction slow; a pause makes a node wait with what it sends.
//!
//! Rules of a direction are looked at in order; what one of them loses, those behind it do not see. Everything random
//! comes from the seed of the run, and from sources that each rule has for itself, so that the same run loses the same
//! frames. Time is the world's clock.

mod action;
mod alter;
mod facts;
mod fate;
mod link;
mod rule;
#[cfg(test)]
mod tests;

pub use action::{Action, Anywhere, Corruption, Delay, Reorder};
pub use alter::{Alteration, RawBytes};
pub use facts::{Facts, PsnRange, Selection};
pub use fate::{Fate, Note};
pub use rule::{Rule, Throttle, What, When, Window};

use link::Link;
use rule::Running;

/// A frame that arrives at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Place of the node that sent it.
    pub from: usize,
    /// Place of the node that gets it.
    pub to: usize,
    /// Its bytes, as they arrive.
    pub bytes: Vec<u8>,
    /// What was done to it; empty: nothing.
    pub notes: Vec<Note>,
}

/// See the module.
#[derive(Debug)]
pub struct Network {
    nodes: usize,
    /// By sender, then by receiver.
    links: Vec<Link>,
    seed: u64,
    rules: u64,
    impaired: bool,
}

impl Network {
    /// A network without impairments between so many nodes.
    pub fn new(nodes: usize, seed: u64) -> Self {
        Self {
            nodes,
            links: (0..nodes * nodes).map(|_| Link::default()).collect(),
            seed,
            rules: 0,
            impaired: false,
        }
    }

    /// Whether all frames pass as they come, now.
    pub fn is_clear(&self) -> bool {
        !self.impaired
    }

    /// Adds an impairment to every direction that it names. It counts frames from now on.
    pub fn add(&mut self, rule: &Rule) {
        let number = self.rules;
        self.rules += 1;
        self.impaired = true;
        let seed = self.seed;
        for (place, link) in self.directions(rule.from, rule.to) {
            let stream = number << 32 | place as u64;
            link.add(Running::new(rule, seed, stream));
        }
    }

    /// Takes impairments away: that of a name, or all. Without a name all that is held or late arrives at once.
    pub fn heal(&mut self, from: Option<usize>, to: Option<usize>, name: Option<&str>, clock: u64) {
        for (_, link) in self.directions(from, to) {
            link.remove(name);
            if name.is_none() {
                link.let_go(clock);
                link.release(clock);
                link.hurry(clock);
            }
        }
    }

    /// Ends pauses.
    pub fn resume(&mut self, from: Option<usize>) {
        for (_, link) in self.directions(from, None) {
            link.resume();
        }
    }

    /// Lets held frames go.
    pub fn release(&mut self, from: Option<usize>, to: Option<usize>, clock: u64) {
        for (_, link) in self.directions(from, to) {
            link.release(clock);
        }
    }

    /// Whether a node must wait with what it sends.
    pub fn pauses(&self, from: usize, clock: u64) -> bool {
        let start = from * self.nodes;
        let links = self.links.get(start..start + self.nodes);
        self.impaired && links.is_some_and(|links| links.iter().any(|link| link.pauses(clock)))
    }

    /// Takes a frame that a node sends. What was done to it.
    pub fn offer(&mut self, from: usize, to: usize, clock: u64, bytes: Vec<u8>) -> Vec<Note> {
        let place = from * self.nodes + to;
        match self.links.get_mut(place) {
            Some(link) => link.offer(clock, bytes),
            None => vec![Note::new(Fate::Lost, "lost: nobody is there")],
        }
    }

    /// Frames that have arrived by now, by direction.
    pub fn arrivals(&mut self, clock: u64) -> Vec<Delivery> {
        let nodes = self.nodes;
        let mut arrivals = Vec::new();
        if self.impaired {
            for (place, link) in self.links.iter_mut().enumerate() {
                while let Some(arrived) = link.arrive(clock) {
                    arrivals.push(Delivery {
                        from: place / nodes,
                        to: place % nodes,
                        bytes: arrived.bytes,
                        notes: arrived.notes,
                    });
                }
            }
            self.impaired = !self.links.iter().all(Link::is_clear);
        }
        arrivals
    }

    /// Whether frames are on their way that arrive by themselves.
    pub fn is_moving(&self) -> bool {
        self.impaired && self.links.iter().any(Link::is_moving)
    }

    /// Lets frames go that wait for later ones which do not come. Whether there were some.
    pub fn let_go(&mut self, clock: u64) -> bool {
        self.impaired
            && self
                .links
                .iter_mut()
                .fold(false, |some, link| link.let_go(clock) | some)
    }

    /// The directions between nodes, with their places.
    fn directions(
        &mut self,
        from: Option<usize>,
        to: Option<usize>,
    ) -> impl Iterator<Item = (usize, &mut Link)> {
        let nodes = self.nodes;
        self.links.iter_mut().enumerate().filter(move |(place, _)| {
            let (sender, receiver) = (place / nodes, place % nodes);
            from.is_none_or(|from| from == sender) && to.is_none_or(|to| to == receiver)
        })
    }
}
