//! What the moves must lead to: for each request the statuses that its result may have.
//!
//! A connection on which nothing can go wrong until everything has settled is *sound*: all its requests succeed.
//! If a single request cannot succeed, and the network is whole, those before it succeed, it ends as its fault says,
//! and those behind it are cancelled. In all other cases a request may succeed, be cancelled, or end with a timeout.

use std::collections::BTreeSet;

use super::forge::Forged;
use super::moves::{Move, Op, Piece, Post, Receive, Region, Rule, Wrong};
use super::spec::{Link, Spec};

pub(super) const SUCCESS: &str = "STATUS_SUCCESS";
pub(super) const CANCELLED: &str = "STATUS_CANCELLED";
pub(super) const TIMEOUT: &str = "STATUS_IO_TIMEOUT";
pub(super) const REFUSED: &str = "STATUS_REMOTE_RESOURCES";
pub(super) const ACCESS: &str = "STATUS_ACCESS_VIOLATION";
pub(super) const TOO_LONG: &str = "STATUS_BUFFER_OVERFLOW";

/// Thousandths of frames that may be lost without a request failing for it.
const BEARABLE: u32 = 40;

/// Statuses, those that come first being what is most likely.
pub(super) type Ends = Vec<&'static str>;

/// Whether a region can still be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Valid,
    /// Depends on what comes first.
    Unsure,
    Gone,
}

/// Why a request may fail.
#[derive(Clone, Debug, Default)]
struct Fault {
    statuses: BTreeSet<&'static str>,
    certain: bool,
}

impl Fault {
    fn add(&mut self, status: &'static str, certain: bool) {
        self.statuses.insert(status);
        self.certain |= certain;
    }

    fn uses(&mut self, status: &'static str, state: Use) {
        match state {
            Use::Valid => {}
            Use::Unsure => self.add(status, false),
            Use::Gone => self.add(status, true),
        }
    }

    fn is_any(&self) -> bool {
        !self.statuses.is_empty()
    }
}

/// A request of either queue.
#[derive(Clone, Debug)]
struct Request {
    /// Its move.
    at: usize,
    send: bool,
    invalidates: bool,
    length: u32,
    fault: Fault,
    /// Regions that it uses, by node.
    uses: Vec<(usize, Region)>,
    held: bool,
    /// Posted after its queue pair was flushed.
    late: bool,
    ends: Option<Ends>,
}

impl Request {
    /// A receive with nothing wrong.
    fn receive(at: usize, length: u32, late: bool) -> Self {
        Self {
            at,
            send: false,
            invalidates: false,
            length,
            fault: Fault::default(),
            uses: Vec::new(),
            held: false,
            late,
            ends: None,
        }
    }
}

/// A connection of two queue pairs.
#[derive(Clone, Debug)]
struct Life {
    nodes: [usize; 2],
    sends: [Vec<Request>; 2],
    receives: [Vec<Request>; 2],
    cut: [bool; 2],
    /// The network was impaired while requests were under way.
    impaired: bool,
    heavy: bool,
    weak: bool,
    /// Without a timer: any frame that is lost may be waited for without end.
    timeless: bool,
    /// Sends wait for their receives without end, and get them before everything settles.
    patient: bool,
    /// A send found no receive.
    unready: bool,
}

impl Life {
    fn new(link: &Link) -> Self {
        Self {
            nodes: link.nodes,
            sends: [Vec::new(), Vec::new()],
            receives: [Vec::new(), Vec::new()],
            cut: [false; 2],
            impaired: false,
            heavy: false,
            weak: !link.is_sound(),
            timeless: link.is_timeless(),
            patient: link.is_patient(),
            unready: false,
        }
    }

    /// Puts the faults of sends that do not fit their receives at both.
    fn pair(&mut self) {
        for side in 0..2 {
            let sends = self.sends[side].iter_mut().filter(|request| request.send);
            for (send, receive) in sends.zip(&mut self.receives[1 - side]) {
                if send.ends.is_some() {
                    continue;
                }
                if send.length > receive.length {
                    send.fault.add(REFUSED, true);
                    receive.fault.add(TOO_LONG, true);
                }
                // Its own fault, if the message reaches it.
                let placed = send.length > 0;
                let own = receive.fault.statuses.contains(ACCESS);
                if own && placed {
                    send.fault.add(REFUSED, receive.fault.certain);
                }
                if own && !placed {
                    receive.fault.statuses.remove(ACCESS);
                    receive.fault.certain = receive.fault.statuses.contains(TOO_LONG);
                }
                if send.invalidates && send.fault.statuses.contains(REFUSED) {
                    receive.fault.add(REFUSED, false);
                }
                if send.fault.certain {
                    receive.fault.certain = true;
                }
            }
        }
    }

    /// The receives that senders would wait for without end; they are none of the moves.
    fn provide(&mut self) {
        if !self.patient {
            return;
        }
        for side in 0..2 {
            let sends = self.sends[side].iter().filter(|request| request.send);
            let (wanted, late) = (sends.count(), self.cut[1 - side]);
            let receives = &mut self.receives[1 - side];
            while receives.len() < wanted {
                receives.push(Request::receive(usize::MAX, 0, late));
            }
        }
    }

    fn faults(&self) -> usize {
        let all = self.sends.iter().flatten();
        all.filter(|request| request.ends.is_none() && request.fault.is_any())
            .count()
    }

    fn is_sound(&self) -> bool {
        !self.heavy && !self.weak && !self.unready && self.cut == [false; 2] && self.faults() == 0
    }

    /// Everything has ended.
    fn settle(&mut self) {
        self.provide();
        self.pair();
        if !self.is_sound() {
            return;
        }
        for side in 0..2 {
            let held = self.sends[side].iter().position(|request| request.held);
            let done = held.unwrap_or(self.sends[side].len());
            let mut count = 0;
            for request in self.sends[side].iter_mut().take(done) {
                request.ends.get_or_insert_with(|| vec![SUCCESS]);
                count += usize::from(request.send);
            }
            for receive in self.receives[1 - side].iter_mut().take(count) {
                receive.ends.get_or_insert_with(|| vec![SUCCESS]);
            }
        }
        self.impaired = false;
    }

    /// Nothing more will happen to it: what is not known yet.
    fn end(&mut self) {
        self.settle();
        let alone = self.faults() == 1
            && !self.impaired
            && !self.heavy
            && !self.weak
            && !self.unready
            && self.cut == [false; 2];
        for side in 0..2 {
            let failing = |request: &&Request| request.ends.is_none() && request.fault.certain;
            let first = self.sends[side]
                .iter()
                .position(|request| failing(&request));
            let mut sends = 0;
            for (place, request) in self.sends[side].iter_mut().enumerate() {
                let behind = first.is_some_and(|first| first < place);
                let receive = match request.send {
                    true => self.receives[1 - side].get_mut(sends),
                    false => None,
                };
                sends += usize::from(request.send);
                if let Some(receive) = receive
                    && receive.ends.is_none()
                {
                    receive.ends = Some(match receive.late || behind {
                        true => vec![CANCELLED],
                        false => wide(&receive.fault, false),
                    });
                }
                if request.ends.is_some() {
                    continue;
                }
                let before = alone && first.is_some_and(|first| place < first) && !request.held;
                request.ends = Some(
                    match (request.late || behind, alone && first == Some(place)) {
                        (true, _) => overtaken(request),
                        (false, true) => request.fault.statuses.iter().copied().collect(),
                        (false, false) if before => vec![SUCCESS],
                        (false, false) => wide(&request.fault, true),
                    },
                );
            }
            for receive in &mut self.receives[1 - side] {
                receive.ends.get_or_insert_with(|| vec![CANCELLED]);
            }
        }
    }
}

/// Of a request that comes too late to succeed. One that was found wrong before it was sent, while others before it were
/// open, says so even if those are flushed.
fn overtaken(request: &Request) -> Ends {
    let wrong = !request.late && request.fault.statuses.contains(ACCESS);
    let mut ends = vec![CANCELLED];
    ends.extend(wrong.then_some(ACCESS));
    ends
}

fn wide(fault: &Fault, initiator: bool) -> Ends {
    let mut ends = Vec::new();
    if !fault.certain {
        ends.push(SUCCESS);
    }
    ends.push(CANCELLED);
    if initiator {
        ends.push(TIMEOUT);
    }
    ends.extend(fault.statuses.iter().copied());
    ends
}

/// The walk through the moves.
struct Walk<'a> {
    spec: &'a Spec,
    /// The connections that are there now, by link; those that were.
    lives: Vec<Life>,
    past: Vec<Life>,
    rules: Vec<&'a Rule>,
    /// By node: that can be deregistered, and those that can be invalidated.
    doomed: Vec<Use>,
    fast: Vec<[Use; super::spec::FAST]>,
}

impl<'a> Walk<'a> {
    fn usable(&self, node: usize, region: Region) -> Use {
        match region {
            Region::Doomed => self.doomed.get(node).copied().unwrap_or(Use::Valid),
            Region::Fast(number) => {
                let fast = self.fast.get(node).and_then(|fast| fast.get(number));
                fast.copied().unwrap_or(Use::Valid)
            }
            _ => Use::Valid,
        }
    }

    /// Requests under way that use a region may or may not find it.
    fn unsure(&mut self, node: usize, region: Region) {
        for life in &mut self.lives {
            let sends = life.sends.iter_mut().flatten();
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
        let (own, peer) = (link.nodes[post.side], link.nodes[1 - post.side]);
        let mut fault = Fault::default();
        let mut uses = Vec::new();
        if !post.flags.inline {
            for piece in post.pieces.iter().filter(|piece| piece.length > 0) {
                fault.uses(ACCESS, self.usable(own, piece.region));
                uses.push((own, piece.region));
            }
        }
        if let Some(place) = post.remote.filter(|_| post.length() > 0) {
            fault.uses(REFUSED, self.usable(peer, place.region));
            uses.push((peer, place.region));
        }
        match post.wrong {
            Wrong::Nothing => {}
            Wrong::LocalToken | Wrong::LocalBounds | Wrong::LocalRight => fault.add(ACCESS, true),
            Wrong::RemoteToken | Wrong::RemoteBounds | Wrong::RemoteRight | Wrong::Invalidate => {
                fault.add(REFUSED, true);
            }
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
        let mut invalidated = None;
        match post.op {
            Op::SendAndInvalidate(region) if post.wrong == Wrong::Nothing => {
                fault.uses(REFUSED, self.usable(peer, region));
                invalidated = Some((peer, region));
            }
            Op::Read { invalidate: true } => {
                invalidated = post.pieces.first().map(|piece: &Piece| (own, piece.region));
            }
            _ => {}
        }
        if let Some((node, region)) = invalidated {
            self.unsure(node, region);
            if let Region::Fast(number) = region
                && let Some(state) = self
                    .fast
                    .get_mut(node)
                    .and_then(|fast| fast.get_mut(number))
                && *state == Use::Valid
            {
                *state = Use::Unsure;
            }
            uses.push((node, region));
        }
        let Some(life) = self.lives.get_mut(post.link) else {
            return;
        };
        if !post.flags.defer {
            tell(life, post.side);
        }
        let late = life.cut[post.side];
        life.sends[post.side].push(Request {
            at,
            send: post.op.is_send(),
            invalidates: matches!(post.op, Op::SendAndInvalidate(_)),
            length: post.length(),
            fault,
            uses,
            held: post.flags.defer,
            late,
            ends: None,
        });
        let sends = life.sends[post.side].iter().filter(|request| request.send);
        life.unready |= !life.patient && sends.count() > life.receives[1 - post.side].len();
    }

    fn receive(&mut self, at: usize, receive: &Receive) {
        let Some(link) = self.spec.links.get(receive.link) else {
            return;
        };
        let own = link.nodes[receive.side];
        let mut fault = Fault::default();
        let mut uses = Vec::new();
        for piece in receive.pieces.iter().filter(|piece| piece.length > 0) {
            fault.uses(ACCESS, self.usable(own, piece.region));
            uses.push((own, piece.region));
        }
        // A later piece may not be reached.
        let first = receive.pieces.iter().find(|piece| piece.length > 0);
        fault.certain &= first.is_some_and(|piece| self.usable(own, piece.region) == Use::Gone)
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
        // What was invalidated by requests that have succeeded is gone.
        let open: Vec<(usize, Region)> = self
            .lives
            .iter()
            .chain(&self.past)
            .flat_map(|life| life.sends.iter().flatten())
            .filter(|request| request.ends.is_none())
            .flat_map(|request| request.uses.clone())
            .collect();
        for (node, fast) in self.fast.iter_mut().enumerate() {
            for (number, state) in fast.iter_mut().enumerate() {
                if *state == Use::Unsure && !open.contains(&(node, Region::Fast(number))) {
                    *state = Use::Gone;
                }
            }
        }
        self.impair();
    }

    fn step(&mut self, at: usize, made: &'a Move) {
        match made {
            Move::Post(post) => self.post(at, post),
            Move::Receive(receive) => self.receive(at, receive),
            Move::Refused { link, side, .. } => {
                if let Some(life) = self.lives.get_mut(*link) {
                    tell(life, *side);
                }
            }
            Move::Settle => {
                self.rules
                    .retain(|rule| rule.effect != super::moves::Effect::Pause);
                self.settle();
            }
            Move::Flush { link, side } | Move::Close { link, side } => {
                if let Some(life) = self.lives.get_mut(*link) {
                    tell(life, *side);
                    life.cut[*side] = true;
                }
            }
            Move::Reopen { link } => {
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
                self.unsure(*node, Region::Doomed);
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

/// The hardware is told of what was held back.
fn tell(life: &mut Life, side: usize) {
    for request in &mut life.sends[side] {
        request.held = false;
    }
}

/// What each move may end with; empty: it is no request. After the last one everything settles.
pub(super) fn forecast(spec: &Spec, moves: &[Move]) -> Vec<Ends> {
    let mut walk = Walk {
        spec,
        lives: spec.links.iter().map(Life::new).collect(),
        past: Vec::new(),
        rules: Vec::new(),
        doomed: vec![Use::Valid; spec.hosts.len()],
        fast: vec![[Use::Valid; super::spec::FAST]; spec.hosts.len()],
    };
    for (at, made) in moves.iter().enumerate() {
        walk.step(at, made);
    }
    walk.settle();
    let mut all = vec![Ends::new(); moves.len()];
    for mut life in walk.lives.into_iter().chain(walk.past) {
        life.end();
        let requests = life.sends.into_iter().chain(life.receives).flatten();
        for request in requests {
            if let (Some(place), Some(ends)) = (all.get_mut(request.at), request.ends) {
                *place = ends;
            }
        }
    }
    all
}
