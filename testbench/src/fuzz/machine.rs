//! The reference state machine: what a sequence of moves needs to know, so that every move is one that a consumer
//! may make.

use std::sync::Arc;

use super::hosts::HostState;
use super::meetings::BEARABLE;
use super::moves::{Ask, Local, Move, Op, Piece, Post, Receive, Region, Rule, Wrong};
use super::spec::{Link, SHARED_RECEIVES, SHARED_ROOM, Spec};

/// Lives of a link, each with a range of PSNs of its own.
const LIVES: u32 = 12;
/// Rules of the network at a time.
const RULES: usize = 4;

/// A queue pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) open: bool,
    pub(super) cut: bool,
    /// Of a connection that connection management made: its consumer has disconnected; its connector is closed.
    pub(super) ended: bool,
    pub(super) gone: bool,
    /// Initiator requests that may be outstanding; how many of them are held back.
    pub(super) posted: u32,
    pub(super) held: u32,
    /// Room of each receive, and number of sends, of this life.
    pub(super) receives: Vec<u32>,
    pub(super) sends: usize,
}

impl Side {
    const NEW: Self = Self {
        open: true,
        cut: false,
        ended: false,
        gone: false,
        posted: 0,
        held: 0,
        receives: Vec::new(),
        sends: 0,
    };

    /// An initiator request was posted.
    fn post(&mut self, deferred: bool) {
        self.posted += 1;
        self.held = if deferred { self.held + 1 } else { 0 };
    }
}

/// The state.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) spec: Arc<Spec>,
    pub(super) links: Vec<[Side; 2]>,
    pub(super) lives: Vec<u32>,
    /// Links on which something was done that ends a connection.
    pub(super) hurt: Vec<bool>,
    pub(super) hosts: Vec<HostState>,
    pub(super) rules: usize,
    /// How bad they are together.
    weight: u32,
}

impl State {
    /// Before the first move.
    pub(super) fn new(spec: Spec) -> Self {
        Self {
            links: vec![[Side::NEW, Side::NEW]; spec.links.len()],
            lives: vec![0; spec.links.len()],
            hurt: vec![false; spec.links.len()],
            hosts: vec![HostState::NEW; spec.hosts.len()],
            rules: spec.fates.len(),
            weight: spec.fates.iter().map(Rule::weight).sum(),
            spec: Arc::new(spec),
        }
    }

    /// The queue pair of a link's side.
    pub(super) fn side(&self, link: usize, side: usize) -> Option<&Side> {
        self.links.get(link)?.get(side)
    }

    fn side_mut(&mut self, link: usize, side: usize) -> Option<&mut Side> {
        self.links.get_mut(link)?.get_mut(side)
    }

    /// The node of a link's side.
    pub(super) fn node(&self, link: usize, side: usize) -> usize {
        let link = self.spec.links.get(link);
        link.map_or(0, |link| link.nodes[side])
    }

    /// Whether connection management makes the connections of a link.
    pub(super) fn is_managed(&self, link: usize) -> bool {
        let link = self.spec.links.get(link);
        link.is_some_and(|link| link.managed.is_some())
    }

    /// Whether the network lets connection management through.
    pub(super) fn lets_meet(&self) -> bool {
        self.weight <= BEARABLE
    }

    /// Whether a link can be made anew.
    pub(super) fn can_reopen(&self, link: usize) -> bool {
        let alive = self.lives.get(link).is_some_and(|lives| *lives < LIVES);
        alive && (self.lets_meet() || !self.is_managed(link))
    }

    /// Whether a side's receives come from the shared queue of its node.
    pub(super) fn is_shared(&self, link: usize, side: usize) -> bool {
        let link = self.spec.links.get(link);
        link.is_some_and(|link| link.ends[side].shared)
    }

    /// Room of the receive that the next send of a side is for, if there is one.
    pub(super) fn room(&self, link: usize, side: usize) -> Option<u32> {
        if self.is_shared(link, 1 - side) {
            let host = self.hosts.get(self.node(link, 1 - side))?;
            return (host.shared.sends < host.shared.receives).then_some(SHARED_ROOM);
        }
        let sends = self.side(link, side)?.sends;
        self.side(link, 1 - side)?.receives.get(sends).copied()
    }

    fn receive_is_possible(&self, receive: &Receive) -> bool {
        let end = self.spec.links.get(receive.link);
        let end = end.map(|link| &link.ends[receive.side]);
        let node = self.node(receive.link, receive.side);
        let side = self.side(receive.link, receive.side);
        let Some(((side, end), host)) = side.zip(end).zip(self.hosts.get(node)) else {
            return false;
        };
        let fits = match end.shared {
            true => {
                host.shared.receives < SHARED_RECEIVES
                    && !receive.wrong
                    && receive.length() >= SHARED_ROOM
                    && receive
                        .pieces
                        .iter()
                        .all(|piece| piece.region == Region::Target)
            }
            false => side.receives.len() < end.depth as usize,
        };
        side.open && fits && self.are_free(node, &receive.pieces)
    }

    /// Whether bytes of a region are used by nothing else.
    fn is_free(&self, node: usize, piece: &Piece) -> bool {
        let host = self.hosts.get(node);
        host.is_some_and(|host| host.is_free(piece))
    }

    fn take(&mut self, node: usize, piece: &Piece) {
        if let Some(host) = self.hosts.get_mut(node) {
            host.take(piece);
        }
    }

    /// Whether bytes lie in their regions.
    fn are_held(&self, node: usize, pieces: &[Piece]) -> bool {
        let host = self.hosts.get(node);
        host.is_some_and(|host| pieces.iter().all(|piece| host.holds(piece)))
    }

    /// Bytes of a region.
    pub(super) fn bytes(&self, node: usize, region: Region) -> u32 {
        self.hosts.get(node).map_or(0, |host| host.bytes(region))
    }

    /// Pieces that must not overlap with others, nor with each other.
    fn are_free(&self, node: usize, pieces: &[Piece]) -> bool {
        let mut after = self.clone();
        pieces.iter().all(|piece| {
            let free = after.is_free(node, piece);
            after.take(node, piece);
            free
        })
    }

    /// Whether the bytes of a piece lie side by side in logical space, as inline and privileged ones must.
    pub(super) fn is_logical(&self, node: usize, piece: &Piece) -> bool {
        let Some(host) = self.spec.hosts.get(node) else {
            return false;
        };
        let start = host.page_offset + piece.offset;
        let end = start + piece.length.max(1) - 1;
        host.pages == "contiguous" || start / 4096 == end / 4096
    }

    /// Receives that a side has to post before everything can settle: senders wait for them without end.
    pub(super) fn missing(&self, link: usize, side: usize) -> usize {
        let patient = self.spec.links.get(link).is_some_and(Link::is_patient);
        let sides = self.side(link, side).zip(self.side(link, 1 - side));
        match sides {
            Some((own, peer)) if patient && own.open => {
                peer.sends.saturating_sub(own.receives.len())
            }
            _ => 0,
        }
    }

    /// Whether a send that waits without end can be given a receive: any does for one of no bytes.
    fn can_be_received(&self, post: &Post, link: &Link) -> bool {
        let sides = self.side(post.link, post.side);
        let Some((own, peer)) = sides.zip(self.side(post.link, 1 - post.side)) else {
            return false;
        };
        !post.op.is_send()
            || !link.is_patient()
            || own.sends < peer.receives.len()
            || post.op == Op::Send
                && post.length() == 0
                && own.sends < link.ends[1 - post.side].depth as usize
    }

    fn post_is_possible(&self, post: &Post) -> bool {
        let (Some(side), Some(link)) = (
            self.side(post.link, post.side),
            self.spec.links.get(post.link),
        ) else {
            return false;
        };
        let (own, peer) = (link.nodes[post.side], link.nodes[1 - post.side]);
        let end = &link.ends[post.side];
        let logical = post.flags.inline
            || post
                .pieces
                .iter()
                .any(|piece| piece.region == Region::Privileged);
        let fits = match post.flags.inline {
            true => post.length() <= end.inline,
            false => post.pieces.len() <= end.sge as usize,
        };
        let sinks = match post.op {
            Op::Read { .. } => self.are_free(own, &post.pieces),
            Op::Write => post.remote.is_none_or(|place| self.is_free(peer, &place)),
            Op::Send | Op::SendAndInvalidate(_) => true,
        };
        let there = self.are_held(own, &post.pieces) && self.are_held(peer, post.remote.as_slice());
        side.open
            // A silent one may find the last place taken.
            && side.posted + 1 < end.depth
            && fits
            && there
            && self.can_be_received(post, link)
            && (!logical || post.pieces.iter().all(|piece| self.is_logical(own, piece)))
            && (sinks || post.wrong != Wrong::Nothing)
    }

    fn ask_is_possible(&self, ask: &Ask) -> bool {
        let host = self.hosts.get(self.node(ask.link, ask.side));
        let depth = self
            .spec
            .links
            .get(ask.link)
            .map_or(0, |link| link.ends[ask.side].depth);
        let known = host.is_some_and(|host| host.permits(&ask.local));
        let foreign = !ask.foreign || !matches!(ask.local, Local::Invalidate(_));
        let side = self.side(ask.link, ask.side);
        known && foreign && side.is_some_and(|side| side.open && side.posted + 1 < depth)
    }

    /// Whether a move can be made.
    pub(super) fn permits(&self, next: &Move) -> bool {
        match next {
            Move::Post(post) => self.post_is_possible(post),
            Move::Local(ask) => self.ask_is_possible(ask),
            Move::Receive(receive) => self.receive_is_possible(receive),
            Move::Forge { link, side, frame } => {
                let known = !self.is_managed(*link) || frame.is_timeless();
                known && self.side(*link, *side).is_some_and(|side| side.open)
            }
            Move::Refused { link, side, .. }
            | Move::Flush { link, side }
            | Move::Close { link, side } => self.side(*link, *side).is_some_and(|side| side.open),
            Move::Disconnect { link, side } => {
                let side = self.side(*link, *side);
                self.is_managed(*link) && side.is_some_and(|side| !side.ended && !side.gone)
            }
            Move::Abort { link, side } => {
                let side = self.side(*link, *side);
                self.is_managed(*link) && side.is_some_and(|side| !side.gone)
            }
            Move::Reopen { link, meeting } => {
                self.can_reopen(*link) && self.is_managed(*link) == meeting.is_some()
            }
            Move::Deregister { node } => self.hosts.get(*node).is_some_and(|host| host.doomed),
            Move::Register { node } => self.hosts.get(*node).is_some_and(|host| !host.doomed),
            Move::Network(_) => self.rules < RULES,
            Move::Wait(_) | Move::Settle | Move::Collect | Move::Heal => true,
            Move::Arm { node, .. } => *node < self.hosts.len(),
        }
    }

    /// Whether a move ends a connection, of which link.
    fn hurts(&self, made: &Move) -> Option<usize> {
        match made {
            Move::Flush { link, .. }
            | Move::Close { link, .. }
            | Move::Disconnect { link, .. }
            | Move::Abort { link, .. } => Some(*link),
            Move::Receive(receive) if receive.wrong => Some(receive.link),
            Move::Local(ask) => {
                let host = self.hosts.get(self.node(ask.link, ask.side))?;
                let live = |region: Region| host.span(region).is_some_and(|span| span.live);
                let refused = match ask.local {
                    Local::Bind { window, over, .. } => {
                        let free = !matches!(over.region, Region::Local | Region::Source);
                        live(Region::Window(window)) || free && !live(over.region)
                    }
                    Local::FastRegister { region, .. } => live(Region::Registered(region)),
                    Local::Invalidate(region) => {
                        !live(region) && !matches!(region, Region::Fast(_))
                            || host.windows_over(region).next().is_some()
                    }
                };
                (refused || ask.foreign).then_some(ask.link)
            }
            Move::Post(post) => {
                let room = self.room(post.link, post.side).unwrap_or(0);
                let refused = post.op.is_send() && post.length() > room;
                (refused || post.wrong != Wrong::Nothing).then_some(post.link)
            }
            _ => None,
        }
    }

    /// A queue pair is gone.
    fn leave(&mut self, link: usize, side: usize) {
        let node = self.node(link, side);
        if let Some(host) = self.hosts.get_mut(node) {
            host.leave((link, side));
        }
    }

    /// Everything on a link has ended, but for what was lost and is never sent again.
    fn settle(&mut self, link: usize) {
        let timeless = self.spec.links.get(link).is_some_and(Link::is_timeless);
        for number in 0..2 {
            let missing = self.missing(link, number);
            if let Some(side) = self.side_mut(link, number) {
                side.receives.extend(std::iter::repeat_n(0, missing));
                if !timeless {
                    side.posted = side.held;
                }
            }
        }
    }

    /// The state after a move.
    #[must_use]
    pub(super) fn after(mut self, made: &Move) -> Self {
        if let Some(hurt) = self.hurts(made).and_then(|link| self.hurt.get_mut(link)) {
            *hurt = true;
        }
        match made {
            Move::Local(ask) => {
                let node = self.node(ask.link, ask.side);
                if let Some(side) = self.side_mut(ask.link, ask.side) {
                    side.post(ask.flags.defer);
                }
                if let Some(host) = self.hosts.get_mut(node).filter(|_| !ask.foreign) {
                    host.make(&ask.local, (ask.link, ask.side));
                }
            }
            Move::Post(post) => {
                let node = self.node(post.link, post.side);
                let peer = self.node(post.link, 1 - post.side);
                if let Some(side) = self.side_mut(post.link, post.side) {
                    side.post(post.flags.defer);
                    side.sends += usize::from(post.op.is_send());
                }
                if post.op.is_send()
                    && self.is_shared(post.link, 1 - post.side)
                    && let Some(host) = self.hosts.get_mut(peer)
                {
                    host.shared.sends += 1;
                }
                let invalidated = match post.op {
                    Op::SendAndInvalidate(region) => Some((peer, region)),
                    Op::Read { invalidate: true } => {
                        post.pieces.first().map(|piece| (node, piece.region))
                    }
                    _ => None,
                };
                if post.wrong == Wrong::Nothing {
                    match post.op {
                        Op::Read { .. } => {
                            for piece in &post.pieces {
                                self.take(node, piece);
                            }
                        }
                        Op::Write => {
                            if let Some(place) = post.remote {
                                self.take(peer, &place);
                            }
                        }
                        Op::Send | Op::SendAndInvalidate(_) => {}
                    }
                    if let Some((node, region)) = invalidated
                        && let Some(host) = self.hosts.get_mut(node)
                    {
                        host.invalidate(region, (post.link, post.side));
                    }
                }
            }
            Move::Receive(receive) => {
                let node = self.node(receive.link, receive.side);
                if self.is_shared(receive.link, receive.side) {
                    if let Some(host) = self.hosts.get_mut(node) {
                        host.shared.receives += 1;
                    }
                } else if let Some(side) = self.side_mut(receive.link, receive.side) {
                    side.receives.push(receive.length());
                }
                for piece in &receive.pieces {
                    self.take(node, piece);
                }
            }
            Move::Refused { link, side, .. } => {
                if let Some(side) = self.side_mut(*link, *side) {
                    side.held = 0;
                }
            }
            Move::Settle => {
                for link in 0..self.links.len() {
                    self.settle(link);
                }
                for host in &mut self.hosts {
                    host.settle();
                }
            }
            Move::Flush { link, side }
            | Move::Disconnect { link, side }
            | Move::Abort { link, side } => {
                if let Some(side) = self.side_mut(*link, *side) {
                    side.cut = true;
                    side.held = 0;
                    side.ended |= matches!(made, Move::Disconnect { .. });
                    side.gone |= matches!(made, Move::Abort { .. });
                }
            }
            Move::Close { link, side } => {
                self.leave(*link, *side);
                if let Some(side) = self.side_mut(*link, *side) {
                    side.open = false;
                    side.gone = true;
                }
            }
            Move::Reopen { link, .. } => {
                for side in 0..2 {
                    self.leave(*link, side);
                }
                if let Some(sides) = self.links.get_mut(*link) {
                    *sides = [Side::NEW, Side::NEW];
                }
                if let Some(lives) = self.lives.get_mut(*link) {
                    *lives += 1;
                }
                if let Some(hurt) = self.hurt.get_mut(*link) {
                    *hurt = false;
                }
            }
            Move::Deregister { node } | Move::Register { node } => {
                if let Some(host) = self.hosts.get_mut(*node) {
                    host.doomed = !host.doomed;
                }
            }
            Move::Network(rule) => {
                self.rules += 1;
                self.weight += rule.weight();
            }
            Move::Heal => {
                self.rules = 0;
                self.weight = 0;
            }
            Move::Wait(_) | Move::Collect | Move::Arm { .. } | Move::Forge { .. } => {}
        }
        self
    }
}
