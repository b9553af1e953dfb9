//! What the moves must lead to: for each request the statuses that its result may have.

use super::forge::Forged;
use super::hosts::Queue;
use super::lives::{
    ACCESS, BEARABLE, DEVICE, Ends, Fault, Life, REFUSED, Request, SUCCESS, Use, tell,
};
use super::moves::{Ask, Effect, Local, Move, Op, Piece, Post, Receive, Region, Rule, Wrong};
use super::objects::{Change, Objects};
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
struct Walk<'a> {
    spec: &'a Spec,
    /// The connections that are there now, by link; those that were.
    lives: Vec<Life>,
    past: Vec<Life>,
    rules: Vec<&'a Rule>,
    /// By node: that can be deregistered.
    doomed: Vec<Use>,
    objects: Objects,
    /// Moves with an old token that opens nothing.
    dead: Vec<usize>,
}

impl<'a> Walk<'a> {
    /// What a request of a queue of the same node finds; without one, anybody at any time.
    fn usable(&self, node: usize, region: Region, queue: Option<Queue>) -> Use {
        match region {
            Region::Doomed => self.doomed.get(node).copied().unwrap_or(Use::Valid),
            region if region.comes_and_goes() => self.objects.get(node, region).seen_by(queue),
            _ => Use::Valid,
        }
    }

    /// The same where something is placed by this node itself.
    fn sink(&self, node: usize, region: Region, queue: Option<Queue>) -> Use {
        let object = self.objects.get(node, region);
        match region.comes_and_goes() && !object.rights.local_write {
            true => Use::Gone,
            false => self.usable(node, region, queue),
        }
    }

    /// What a read or write of a queue finds at its peer, on that node.
    fn far(&self, node: usize, region: Region, (link, side): Queue, read: bool) -> Use {
        let found = self.usable(node, region, Some((link, side)));
        if !matches!(region, Region::Registered(_) | Region::Window(_)) {
            return found;
        }
        let object = self.objects.get(node, region);
        let right = match read {
            true => object.rights.remote_read,
            false => object.rights.remote_write,
        };
        if !right {
            return Use::Gone;
        }
        if !matches!(region, Region::Window(_)) {
            return found;
        }
        // A window is where its region was when it was bound: its addresses are those of the newest registration.
        let over = object.overs.iter().copied();
        let moved = over
            .map(|over| self.usable(node, over, None))
            .any(|over| over != Use::Valid);
        let found = found.max(if moved { Use::Unsure } else { Use::Valid });
        match object.is_of((link, 1 - side)) {
            Some(true) => found,
            Some(false) => Use::Gone,
            None => found.max(Use::Unsure),
        }
    }

    /// Requests under way that use a region may or may not find it, but for those of a queue that waits for them.
    fn unsure(&mut self, node: usize, region: Region, waits: Option<Queue>) {
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
    fn disturb(&mut self, places: &[(usize, Region)], queue: Queue) {
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

    /// An object that a request takes back, and what its state depends on: windows keep a region as it is.
    fn taken(&self, node: usize, region: Region) -> Vec<(usize, Region)> {
        let mut places = vec![(node, region)];
        let windows = self.objects.windows_of(node, region);
        places.extend(windows.map(|window| (node, window)));
        places
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

    fn post(&mut self, at: usize, post: &Post) {
        let Some(link) = self.spec.links.get(post.link) else {
            return;
        };
        let queue = (post.link, post.side);
        let (own, peer) = (link.nodes[post.side], link.nodes[1 - post.side]);
        let mut fault = Fault::default();
        let mut uses = Vec::new();
        if !post.flags.inline {
            for piece in post.pieces.iter().filter(|piece| piece.length > 0) {
                let found = match post.op.is_read() {
                    true => self.sink(own, piece.region, Some(queue)),
                    false => self.usable(own, piece.region, Some(queue)),
                };
                fault.uses(ACCESS, found);
                uses.push((own, piece.region));
            }
        }
        if let Some(place) = post.remote.filter(|_| post.length() > 0) {
            let found = self.far(peer, place.region, queue, post.op.is_read());
            fault.uses(REFUSED, found);
            uses.push((peer, place.region));
            if self.usable(peer, place.region, Some(queue)) != Use::Unsure {
                self.dead.push(at);
            }
        }
        match post.wrong {
            Wrong::Nothing => {}
            Wrong::LocalToken | Wrong::LocalBounds | Wrong::LocalRight => fault.add(ACCESS, true),
            Wrong::RemoteToken
            | Wrong::RemoteBounds
            | Wrong::RemoteRight
            | Wrong::RemoteOld
            | Wrong::Invalidate => fault.add(REFUSED, true),
        }
        let denied = post.side == 0
            && match post.op {
                Op::Read { .. } => link.no_read,
                Op::Write => link.no_write,
                _ => false,
            };
        if denied {
            fault.add(REFUSED, true);
        }
        if post.op.is_read() && link.asks_too_much(post.side) {
            fault.add(REFUSED, false);
        }
        let mut changes = Vec::new();
        let (invalidated, status) = match post.op {
            Op::SendAndInvalidate(region) if post.wrong == Wrong::Nothing => {
                fault.uses(
                    REFUSED,
                    self.revocable(peer, region, (post.link, 1 - post.side)),
                );
                (Some((peer, region)), REFUSED)
            }
            Op::Read { invalidate: true } => {
                let first = post.pieces.first();
                (first.map(|piece: &Piece| (own, piece.region)), ACCESS)
            }
            _ => (None, REFUSED),
        };
        if let Some((node, region)) = invalidated {
            let held = self.objects.windows_over(node, region, Some(queue));
            if held != Use::Gone {
                fault.add(status, status == REFUSED && held == Use::Valid);
            }
            changes = self.taken(node, region);
            self.unsure(node, region, None);
            self.disturb(&changes, queue);
            // With windows in it, it may stay as it is.
            let to = if held == Use::Gone {
                Use::Gone
            } else {
                Use::Unsure
            };
            let change = Change { queue, at, to };
            self.objects.free(node, region, change, post.flags.silent);
            uses.push((node, region));
        }
        let request = Request {
            send: post.op.is_send(),
            invalidates: matches!(post.op, Op::SendAndInvalidate(_)),
            length: post.length(),
            fault,
            uses,
            changes,
            held: post.flags.defer,
            ..Request::receive(at, 0, false)
        };
        self.push(queue, request);
        if let Some(life) = self.lives.get_mut(post.link) {
            let sends = life.sends[post.side].iter().filter(|request| request.send);
            life.unready |= !life.patient && sends.count() > life.receives[1 - post.side].len();
        }
    }

    /// What a send that invalidates finds at its peer, whose queue pair is `owner`.
    fn revocable(&self, node: usize, region: Region, owner: Queue) -> Use {
        let object = self.objects.get(node, region);
        let found = self.usable(node, region, Some((owner.0, 1 - owner.1)));
        let rights = object.rights.remote_read || object.rights.remote_write;
        match region {
            Region::Window(_) => match object.is_of(owner) {
                Some(true) => found,
                Some(false) => Use::Gone,
                None => found.max(Use::Unsure),
            },
            Region::Registered(_) if !rights => Use::Gone,
            _ => found,
        }
    }

    /// A request of the initiator queue.
    fn push(&mut self, (link, side): Queue, request: Request) {
        let Some(life) = self.lives.get_mut(link) else {
            return;
        };
        if !request.held {
            tell(life, side);
        }
        let late = life.cut[side];
        life.sends[side].push(Request { late, ..request });
    }

    fn ask(&mut self, at: usize, ask: &Ask) {
        let Some(link) = self.spec.links.get(ask.link) else {
            return;
        };
        let queue = (ask.link, ask.side);
        let own = link.nodes[ask.side];
        let mut fault = Fault::default();
        let mut changes = Vec::new();
        let made = Change {
            queue,
            at,
            to: Use::Valid,
        };
        let silent = ask.flags.silent;
        match ask.local {
            // Nothing of this domain changes.
            Local::Bind { .. } | Local::FastRegister { .. } if ask.foreign => {
                fault.add(ACCESS, true);
            }
            Local::Bind {
                window,
                over,
                rights,
            } => {
                let name = Region::Window(window);
                match self.usable(own, name, Some(queue)) {
                    Use::Gone => {}
                    Use::Valid => fault.add(DEVICE, true),
                    Use::Unsure => {
                        fault.add(DEVICE, false);
                        fault.add(ACCESS, false);
                    }
                }
                for status in [DEVICE, ACCESS] {
                    fault.uses(status, self.usable(own, over.region, Some(queue)));
                }
                changes = vec![(own, name), (own, over.region)];
                self.objects
                    .make(own, name, made, rights, Some(over.region), silent);
            }
            Local::FastRegister { region, rights, .. } => {
                let name = Region::Registered(region);
                match self.usable(own, name, Some(queue)) {
                    Use::Gone => {}
                    found => fault.add(DEVICE, found == Use::Valid),
                }
                changes = vec![(own, name)];
                self.objects.make(own, name, made, rights, None, silent);
            }
            Local::Invalidate(region) => {
                fault.uses(DEVICE, self.usable(own, region, Some(queue)));
                match self.objects.windows_over(own, region, Some(queue)) {
                    Use::Gone => {}
                    found => fault.add(DEVICE, found == Use::Valid),
                }
                if matches!(region, Region::Window(_)) {
                    match self.objects.get(own, region).is_of(queue) {
                        Some(true) => {}
                        found => fault.add(DEVICE, found.is_some()),
                    }
                }
                changes = self.taken(own, region);
                // It waits for all that its queue has before it.
                self.unsure(own, region, Some(queue));
                let to = Use::Gone;
                self.objects
                    .free(own, region, Change { to, ..made }, silent);
            }
        }
        self.disturb(&changes, queue);
        let request = Request {
            fault,
            changes,
            held: ask.flags.defer,
            early: !matches!(ask.local, Local::Invalidate(_)),
            ..Request::receive(at, 0, false)
        };
        self.push(queue, request);
    }

    fn receive(&mut self, at: usize, receive: &Receive) {
        let Some(link) = self.spec.links.get(receive.link) else {
            return;
        };
        let own = link.nodes[receive.side];
        let mut fault = Fault::default();
        let mut uses = Vec::new();
        for piece in receive.pieces.iter().filter(|piece| piece.length > 0) {
            fault.uses(ACCESS, self.sink(own, piece.region, None));
            uses.push((own, piece.region));
        }
        // A later piece may not be reached.
        let first = receive.pieces.iter().find(|piece| piece.length > 0);
        fault.certain &= first.is_some_and(|piece| self.sink(own, piece.region, None) == Use::Gone)
            || receive.pieces.is_empty();
        if receive.wrong {
            fault.add(ACCESS, true);
        }
        let Some(life) = self.lives.get_mut(receive.link) else {
            return;
        };
        let late = life.cut[receive.side];
        life.receives[receive.side].push(Request {
            fault,
            uses,
            ..Request::receive(at, receive.length(), late)
        });
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
            Move::Flush { link, side } | Move::Close { link, side } => {
                if let Some(life) = self.lives.get_mut(*link) {
                    tell(life, *side);
                    life.cut[*side] = true;
                }
                if matches!(made, Move::Close { .. }) {
                    self.leave((*link, *side));
                }
            }
            Move::Reopen { link } => {
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
        rules: Vec::new(),
        doomed: vec![Use::Valid; spec.hosts.len()],
        objects: Objects::default(),
        dead: Vec::new(),
    };
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
    for mut life in walk.lives.into_iter().chain(walk.past) {
        life.end();
        let requests = life.sends.into_iter().chain(life.receives).flatten();
        for request in requests {
            if let (Some(place), Some(ends)) = (all.get_mut(request.at), request.ends) {
                place.ends = ends;
            }
        }
    }
    all
}
