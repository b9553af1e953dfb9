//! What requests find, as they are posted, and what they will change.

use super::forecast::Walk;
use super::hosts::Queue;
use super::lives::{ACCESS, DEVICE, Fault, REFUSED, Request, Use, tell};
use super::moves::{Ask, Local, Op, Piece, Post, Receive, Region, Wrong};
use super::objects::Change;
use super::spec::SHARED_ROOM;

impl Walk<'_> {
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

    /// An object that a request takes back, and what its state depends on: windows keep a region as it is.
    fn taken(&self, node: usize, region: Region) -> Vec<(usize, Region)> {
        let mut places = vec![(node, region)];
        let windows = self.objects.windows_of(node, region);
        places.extend(windows.map(|window| (node, window)));
        places
    }

    pub(super) fn post(&mut self, at: usize, post: &Post) {
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
        if post.op.is_send() && link.ends[1 - post.side].shared && post.length() > SHARED_ROOM {
            // It may find one with more room.
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
            // With windows in it, it may stay as it is; and a read of no bytes does not mind a token that is not valid.
            let known = post.op.is_send() || self.usable(node, region, Some(queue)) != Use::Unsure;
            let to = match held == Use::Gone && known {
                true => Use::Gone,
                false => Use::Unsure,
            };
            let change = Change {
                queue,
                at,
                to,
                ordered: post.op.is_send(),
            };
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
            life.unready |= !life.patient
                && !life.shared[1 - post.side]
                && sends.count() > life.receives[1 - post.side].len();
        }
        if post.op.is_send() && link.ends[1 - post.side].shared {
            self.send_to_all(peer);
        }
    }

    /// A send was posted for any receive of a node's shared queue. If they run short, no sender there can be sure.
    fn send_to_all(&mut self, node: usize) {
        let Some(shared) = self.shared.get_mut(node) else {
            return;
        };
        shared.sends += 1;
        if shared.suffices() {
            return;
        }
        for life in &mut self.lives {
            life.unready |= (0..2).any(|side| life.shared[side] && life.nodes[side] == node);
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

    pub(super) fn ask(&mut self, at: usize, ask: &Ask) {
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
            ordered: true,
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

    pub(super) fn receive(&mut self, at: usize, receive: &Receive) {
        let Some(link) = self.spec.links.get(receive.link) else {
            return;
        };
        let own = link.nodes[receive.side];
        if link.ends[receive.side].shared {
            if let Some(shared) = self.shared.get_mut(own) {
                shared.receives += 1;
            }
            self.shared_receives.push((own, at));
            return;
        }
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
}
