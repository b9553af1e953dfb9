//! What the moves must lead to: for each request the statuses that its result may have.

use super::forge::Forged;
use super::hosts::{Queue, Shared};
use super::lives::{
    ACCESS, BEARABLE, CANCELLED, DEVICE, Ends, Life, REFUSED, SUCCESS, TOO_LONG, Use, tell,
};
use super::moves::{Effect, Move, Region, Rule};
use super::objects::Objects;
use super::spec::Spec;

/// What a move leads to.
#[derive(Clone, Debug, Default)]
pub(super) struct Forecast {
    /// What its request may end with; empty: it is none.
    pub(super) ends: Ends,
    /// Whether the token that its remote memory had before the newest opens nothing for certain.
    pub(super) old_is_dead: bool,
}

/// The walk through the moves.
pub(super) struct Walk<'a> {
    pub(super) spec: &'a Spec,
    /// The connections that are there now, by link; those that were.
    pub(super) lives: Vec<Life>,
    pub(super) past: Vec<Life>,
    pub(super) rules: Vec<&'a Rule>,
    /// By node: that can be deregistered.
    pub(super) doomed: Vec<Use>,
    pub(super) objects: Objects,
    /// Moves with an old token that opens nothing.
    pub(super) dead: Vec<usize>,
    /// Shared receive queues, by node, and the receives that were posted to them.
    pub(super) shared: Vec<Shared>,
    pub(super) shared_receives: Vec<(usize, usize)>,
}

impl<'a> Walk<'a> {
    /// Requests under way that use a region may or may not find it, but for those of a queue that waits for them.
    pub(super) fn unsure(&mut self, node: usize, region: Region, waits: Option<Queue>) {
        for (link, life) in self.lives.iter_mut().enumerate() {
            let queues = life.sends.iter_mut().enumerate();
            let others = queues.filter(|(side, _)| waits != Some((link, *side)));
            let sends = others.flat_map(|(_, sends)| sends);
            for request in sends.filter(|request| request.ends.is_none()) {
                for (user, used) in &request.uses {
                    if (*user, *used) == (node, region) {
                        let own = matches!(request.uses.first(), Some((first, _)) if first == user);
                        request.fault.add(REFUSED, false);
                        if own || !request.send {
                            request.fault.add(ACCESS, false);
                        }
                    }
                }
            }
            let receives = life.receives.iter_mut().flatten();
            for request in receives.filter(|request| request.ends.is_none()) {
                if request.uses.contains(&(node, region)) {
                    request.fault.add(ACCESS, false);
                }
            }
        }
    }

    /// Requests of other queues that change the same object find it before or behind what is done now.
    pub(super) fn disturb(&mut self, places: &[(usize, Region)], queue: Queue) {
        for (link, life) in self.lives.iter_mut().enumerate() {
            for (side, sends) in life.sends.iter_mut().enumerate() {
                let concerned = sends.iter_mut().filter(|request| {
                    request.ends.is_none()
                        && (link, side) != queue
                        && request.changes.iter().any(|place| places.contains(place))
                });
                for request in concerned {
                    request.fault.certain = false;
                    for status in [ACCESS, DEVICE, REFUSED] {
                        request.fault.add(status, false);
                    }
                }
            }
        }
    }

    /// A queue pair is gone.
    fn leave(&mut self, queue: Queue) {
        let changed = self.objects.leave(queue);
        for (node, region) in &changed {
            self.unsure(*node, *region, None);
        }
        self.disturb(&changed, queue);
    }

    fn impair(&mut self) {
        for life in &mut self.lives {
            let touching = self.rules.iter().filter(|rule| rule.touches(life.nodes));
            let weight: u32 = touching.clone().map(|rule| rule.weight()).sum();
            let touched = touching.count() > 0;
            life.impaired |= touched;
            life.heavy |= weight > BEARABLE || touched && life.timeless;
        }
    }

    fn settle(&mut self) {
        for life in &mut self.lives {
            life.settle();
        }
        let lives = &self.lives;
        self.objects.settle(|change| {
            let (link, side) = change.queue;
            let mut requests = lives
                .get(link)
                .into_iter()
                .flat_map(|life| &life.sends[side]);
            requests.any(|request| {
                let succeeded = request.ends.as_deref() == Some(&[SUCCESS]);
                request.at == change.at && succeeded
            })
        });
        self.impair();
    }

    fn step(&mut self, at: usize, made: &'a Move) {
        match made {
            Move::Post(post) => self.post(at, post),
            Move::Local(ask) => self.ask(at, ask),
            Move::Receive(receive) => self.receive(at, receive),
            Move::Refused { link, side, .. } => {
                if let Some(life) = self.lives.get_mut(*link) {
                    tell(life, *side);
                }
            }
            Move::Settle => {
                self.rules.retain(|rule| rule.effect != Effect::Pause);
                self.settle();
            }
            Move::Flush { link, side }
            | Move::Close { link, side }
            | Move::Disconnect { link, side }
            | Move::Abort { link, side } => {
                if let Some(life) = self.lives.get_mut(*link) {
                    tell(life, *side);
                    life.cut[*side] = true;
                }
                if matches!(made, Move::Close { .. }) {
                    self.leave((*link, *side));
                }
            }
            Move::Reopen { link, .. } => {
                for side in 0..2 {
                    self.leave((*link, side));
                }
                if let Some(life) = self.lives.get_mut(*link)
                    && let Some(spec) = self.spec.links.get(*link)
                {
                    life.cut = [true; 2];
                    let next = Life::new(spec);
                    self.past.push(std::mem::replace(life, next));
                    self.impair();
                }
            }
            Move::Network(rule) => {
                self.rules.push(rule);
                self.impair();
            }
            Move::Heal => self.rules.clear(),
            Move::Deregister { node } => {
                self.unsure(*node, Region::Doomed, None);
                if let Some(state) = self.doomed.get_mut(*node) {
                    *state = Use::Gone;
                }
            }
            Move::Register { node } => {
                if let Some(state) = self.doomed.get_mut(*node) {
                    *state = Use::Valid;
                }
            }
            // A loss that is none: sending goes back.
            Move::Forge {
                link,
                frame: Forged::Ahead,
                ..
            } => {
                if let Some(life) = self.lives.get_mut(*link) {
                    life.impaired = true;
                }
            }
            Move::Wait(_) | Move::Collect | Move::Arm { .. } | Move::Forge { .. } => {}
        }
    }
}

/// What each move may end with; empty: it is no request. After the last one everything settles.
pub(super) fn forecast(spec: &Spec, moves: &[Move]) -> Vec<Forecast> {
    let mut walk = Walk {
        spec,
        lives: spec.links.iter().map(Life::new).collect(),
        past: Vec::new(),
        rules: spec.fates.iter().collect(),
        doomed: vec![Use::Valid; spec.hosts.len()],
        objects: Objects::default(),
        dead: Vec::new(),
        shared: vec![Shared::default(); spec.hosts.len()],
        shared_receives: Vec::new(),
    };
    walk.impair();
    for (at, made) in moves.iter().enumerate() {
        walk.step(at, made);
    }
    walk.settle();
    let mut all = vec![Forecast::default(); moves.len()];
    for at in walk.dead {
        if let Some(forecast) = all.get_mut(at) {
            forecast.old_is_dead = true;
        }
    }
    let mut sound = vec![true; spec.hosts.len()];
    for mut life in walk.lives.into_iter().chain(walk.past) {
        life.end();
        for (node, sound) in sound.iter_mut().enumerate() {
            *sound &= life.all_received(node);
        }
        let requests = life.sends.into_iter().chain(life.receives).flatten();
        for request in requests {
            if let (Some(place), Some(ends)) = (all.get_mut(request.at), request.ends) {
                place.ends = ends;
            }
        }
    }
    // Any of a node's senders may get it.
    for (node, at) in walk.shared_receives {
        if let Some(forecast) = all.get_mut(at) {
            forecast.ends = match sound.get(node) {
                Some(true) => vec![SUCCESS],
                _ => vec![SUCCESS, CANCELLED, TOO_LONG, REFUSED],
            };
        }
    }
    all
}
