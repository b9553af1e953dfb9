//! Posting: what goes out, and what must be refused.

use tandem_model::ndk::{
    ArmType, MrFlags, NdkError, NtStatus, OpFlags, OperationType, RemoteToken, Sge,
};

use super::arena::Slice;
use super::lane::{Check, FastRegion, Message, Pending, Posted, RECEIVES};
use super::side::Source;
use super::{Result, Traffic, TrafficError};

/// Elements of a receive, and of a read.
const FEW: u32 = 4;
/// Requests of a burst.
const BURST: u32 = 6;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Send,
    SendAndInvalidate,
    Read,
    Write,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::SendAndInvalidate => "send and invalidate",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// A request that is ready to be posted.
struct Request {
    kind: Kind,
    sgl: Vec<Sge>,
    remote: (u64, RemoteToken),
    flags: OpFlags,
    pending: Pending,
    message: Option<Message>,
}

impl Traffic {
    /// Fills the receive queue of a lane up.
    pub(super) fn post_receives(&mut self, lane: usize) -> Result {
        while (self.lanes[lane].receives.len() as u32) < RECEIVES {
            let capacity = self
                .dice
                .length(self.options.max_size, self.options.megabyte_every);
            let lengths = self.dice.cut(capacity, FEW);
            let node = self.lanes[lane].node;
            let Some(places) = self.take_places(node, &lengths, false) else {
                return Ok(());
            };
            let sgl: Vec<Sge> = places
                .iter()
                .map(|place| self.sides[node].landing_sge(place))
                .collect();
            let context = self.context();
            let qp = self.lanes[lane].qp;
            let outcome = self.world.nodes[node].nic.receive(qp, context, &sgl);
            self.done(node, "NdkReceive", outcome)?;
            self.lanes[lane].receives.push_back(Posted {
                context,
                places,
                capacity,
            });
        }
        Ok(())
    }

    fn take_places(
        &mut self,
        node: usize,
        lengths: &[u32],
        registered: bool,
    ) -> Option<Vec<Slice>> {
        let mut places = Vec::new();
        for length in lengths {
            match self.sides[node].take(&mut self.dice, *length, registered) {
                Some(place) => places.push(place),
                None => {
                    // Untouched as yet: gives back cannot fail for want of memory.
                    self.give_back(node, &places).ok()?;
                    return None;
                }
            }
        }
        Some(places)
    }

    /// Empties places and gives them back.
    pub(super) fn give_back(&mut self, node: usize, places: &[Slice]) -> Result {
        for place in places {
            let world_node = &mut self.world.nodes[node];
            let given = self.sides[node]
                .arena(place)
                .give(world_node.nic.hal_mut(), place);
            given.map_err(|error| world_node.error(error))?;
        }
        Ok(())
    }

    /// Up to six requests, all deferred but the last; sometimes the last is one that must be refused, which
    /// hands the others over as well.
    pub(super) fn burst(&mut self, lane: usize) -> Result {
        let deferred = self.dice.percent(40);
        let count = 1 + self.dice.below(BURST);
        let mut held = false;
        for turn in 1..=count {
            let last = turn == count;
            match self.request(lane)? {
                Some(mut request) => {
                    if deferred && !last {
                        request.flags |= OpFlags::DEFER;
                    }
                    held = deferred && !last;
                    if !self.post(lane, request)? {
                        return Ok(());
                    }
                }
                None => break,
            }
        }
        if held || self.dice.percent(2) {
            self.refused(lane)?;
        }
        Ok(())
    }

    /// A call that must fail: it makes no completion, and indicates what was deferred.
    fn refused(&mut self, lane: usize) -> Result {
        let (node, qp) = (self.lanes[lane].node, self.lanes[lane].qp);
        let nic = &mut self.world.nodes[node].nic;
        let outcome = match self.dice.below(3) {
            0 => nic.send(qp, 0, &[], OpFlags(0x400)),
            1 => nic.read(qp, 0, &[], 0, RemoteToken(0), OpFlags::INLINE),
            _ => nic.send(qp, 0, &[Sge::default(); 15], OpFlags::DEFER),
        };
        match NtStatus::of(&outcome) {
            Ok(status) if !status.is_success() => {
                self.report.refused += 1;
                Ok(())
            }
            Ok(status) => Err(TrafficError::Wrong(format!(
                "a call that must be refused returned {status}"
            ))),
            Err(error) => Err(self.world.nodes[node].error(error.clone()).into()),
        }
    }

    /// A last request with a completion, so that everything before it is known to be done.
    pub(super) fn post_marker(&mut self, lane: usize) -> Result {
        loop {
            let context = self.context();
            let request = Request {
                kind: Kind::Write,
                sgl: Vec::new(),
                remote: (0, RemoteToken(0)),
                flags: OpFlags::NONE,
                pending: Pending {
                    context,
                    silent: false,
                    operation: OperationType::Write,
                    check: None,
                    fast: None,
                },
                message: None,
            };
            if self.post(lane, request)? {
                return Ok(());
            }
            self.turn()?;
        }
    }

    /// Makes up a request; `None` if there is no room for it now.
    fn request(&mut self, lane: usize) -> Result<Option<Request>> {
        let kind = match self.dice.below(100) {
            0..30 => Kind::Send,
            30..40 => Kind::SendAndInvalidate,
            40..70 => Kind::Write,
            _ => Kind::Read,
        };
        match kind {
            Kind::Send | Kind::SendAndInvalidate => self.send_request(lane, kind),
            Kind::Write => self.write_request(lane),
            Kind::Read => self.read_request(lane),
        }
    }

    fn common_flags(&mut self) -> OpFlags {
        let mut flags = OpFlags::NONE;
        if self.dice.percent(35) {
            flags |= OpFlags::SILENT_SUCCESS;
        }
        if self.dice.percent(10) {
            flags |= OpFlags::READ_FENCE;
        }
        flags
    }

    /// Pieces to send, and their elements, with empty ones that mean nothing between.
    fn gather(&mut self, lane: usize, length: u32, inline: bool) -> (Vec<Source>, Vec<Sge>) {
        let (node, max_sge) = (self.lanes[lane].node, self.lanes[lane].max_sge);
        let most = if inline { 20 } else { max_sge };
        let lengths = self.dice.cut(length, most);
        let side = &self.sides[node];
        let mut sources = Vec::new();
        let mut sgl = Vec::new();
        for length in lengths {
            let source = side.source(&mut self.dice, length, inline);
            let garbage = (inline || length == 0).then(|| self.dice.any());
            sgl.push(side.source_sge(&source, garbage));
            sources.push(source);
        }
        (sources, sgl)
    }

    fn send_request(&mut self, lane: usize, kind: Kind) -> Result<Option<Request>> {
        let (node, peer) = (self.lanes[lane].node, self.lanes[lane].peer);
        let used = self.lanes[peer].used;
        let Some(capacity) = self.lanes[peer]
            .receives
            .get(used)
            .map(|posted| posted.capacity)
        else {
            return Ok(None);
        };
        let peer_node = self.lanes[peer].node;
        let mut invalidates = None;
        if kind == Kind::SendAndInvalidate {
            if !self.sides[peer_node].has_room_for_fast() {
                return Ok(None);
            }
            let Some(place) = self.sides[peer_node].take(&mut self.dice, 16, true) else {
                return Ok(None);
            };
            invalidates = Some(self.fast_region(peer_node, place, true)?);
        }
        let full = self.dice.percent(30);
        let mut length = if full {
            capacity
        } else {
            self.dice.below(capacity + 1)
        };
        let inline_limit = self.lanes[lane].inline;
        let mut flags = self.common_flags();
        let inline = inline_limit > 0 && self.dice.percent(30);
        if inline {
            length = length.min(self.dice.below(inline_limit + 1));
            flags |= OpFlags::INLINE;
        }
        if self.dice.percent(20) {
            flags |= OpFlags::SEND_AND_SOLICIT_EVENT;
        }
        let (sources, sgl) = self.gather(lane, length, inline);
        let _ = node;
        Ok(Some(Request {
            kind,
            sgl,
            remote: (
                0,
                invalidates.map_or(RemoteToken(0), |fast: FastRegion| fast.token),
            ),
            flags,
            pending: Pending {
                context: self.context(),
                silent: flags.contains(OpFlags::SILENT_SUCCESS),
                operation: OperationType::Send,
                check: None,
                fast: None,
            },
            message: Some(Message {
                sources,
                length,
                invalidates,
            }),
        }))
    }

    fn write_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let (node, peer) = (self.lanes[lane].node, self.lanes[lane].peer);
        let peer_node = self.lanes[peer].node;
        let inline_limit = self.lanes[lane].inline;
        let inline = inline_limit > 0 && self.dice.percent(30);
        let mut flags = self.common_flags();
        let length = if inline {
            flags |= OpFlags::INLINE;
            self.dice.below(inline_limit + 1)
        } else {
            self.dice
                .length(self.options.max_size, self.options.megabyte_every)
        };
        let Some(places) = self.take_places(peer_node, &[length], true) else {
            return Ok(None);
        };
        let Some(place) = places.first() else {
            return Ok(None);
        };
        let remote = self.sides[peer_node].landing_remote(place);
        let (sources, sgl) = self.gather(lane, length, inline);
        Ok(Some(Request {
            kind: Kind::Write,
            sgl,
            remote,
            flags,
            pending: Pending {
                context: self.context(),
                silent: flags.contains(OpFlags::SILENT_SUCCESS),
                operation: OperationType::Write,
                check: Some(Check {
                    from: node,
                    sources,
                    to: peer_node,
                    places,
                }),
                fast: None,
            },
            message: None,
        }))
    }

    fn read_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let (node, peer, max_sge) = {
            let lane = &self.lanes[lane];
            (lane.node, lane.peer, lane.max_sge)
        };
        let peer_node = self.lanes[peer].node;
        let length = self
            .dice
            .length(self.options.max_size, self.options.megabyte_every);
        let lengths = self.dice.cut(length, max_sge.min(FEW));
        let invalidate = self.dice.percent(15) && self.sides[node].has_room_for_fast();
        let Some(places) = self.take_places(node, &lengths, invalidate) else {
            return Ok(None);
        };
        let mut flags = self.common_flags();
        let mut sgl: Vec<Sge> = places
            .iter()
            .map(|place| self.sides[node].landing_sge(place))
            .collect();
        let mut fast = None;
        if let (true, Some(place), Some(first)) = (invalidate, places.first(), sgl.first_mut())
            && place.length > 0
        {
            let region = self.fast_region(node, *place, false)?;
            first.token = tandem_model::ndk::LocalToken(region.token.to_engine());
            flags |= OpFlags::RDMA_READ_LOCAL_INVALIDATE;
            fast = Some(region);
        }
        let side = &self.sides[peer_node];
        let source = Source {
            privileged: false,
            ..side.source(&mut self.dice, length, false)
        };
        Ok(Some(Request {
            kind: Kind::Read,
            sgl,
            remote: side.source_remote(&source),
            flags,
            pending: Pending {
                context: self.context(),
                silent: flags.contains(OpFlags::SILENT_SUCCESS),
                operation: OperationType::Read,
                check: Some(Check {
                    from: peer_node,
                    sources: vec![source],
                    to: node,
                    places,
                }),
                fast,
            },
            message: None,
        }))
    }

    /// A fast-registered region over a place; `own` if the place is there for it alone.
    fn fast_region(&mut self, node: usize, place: Slice, own: bool) -> Result<FastRegion> {
        let side = &mut self.sides[node];
        let mdl = side.landing.memory.mdl(place.offset, place.length.into());
        let world_node = &mut self.world.nodes[node];
        let flags = MrFlags::ALLOW_REMOTE_WRITE;
        let nic = &mut world_node.nic;
        let placed = nic
            .bench()
            .place_fast_region(side.pd, &[mdl], place.length.into(), flags)
            .and_then(|mr| Ok((mr, nic.remote_token_from_mr(mr)?)));
        let (mr, token) = placed.map_err(|error| world_node.error(error))?;
        side.fast += 1;
        Ok(FastRegion {
            mr,
            token,
            place: own.then_some(place),
        })
    }

    /// Posts a request; `false` if the queue is full, and then it is as if it had never been made.
    fn post(&mut self, lane: usize, request: Request) -> Result<bool> {
        let (node, qp, peer) = {
            let lane = &self.lanes[lane];
            (lane.node, lane.qp, lane.peer)
        };
        let nic = &mut self.world.nodes[node].nic;
        let (sgl, context, flags) = (&request.sgl, request.pending.context, request.flags);
        let (address, token) = request.remote;
        let outcome = match request.kind {
            Kind::Send => nic.send(qp, context, sgl, flags),
            Kind::SendAndInvalidate => nic.send_and_invalidate(qp, context, sgl, flags, token),
            Kind::Read => nic.read(qp, context, sgl, address, token, flags),
            Kind::Write => nic.write(qp, context, sgl, address, token, flags),
        };
        if outcome == Err(NdkError::Status(NtStatus::NO_MORE_ENTRIES)) {
            self.undo(peer, request)?;
            return Ok(false);
        }
        self.done(node, request.kind.name(), outcome)?;
        self.posted += 1;
        *self.report.requests.entry(request.kind.name()).or_default() += 1;
        self.report.silent += u64::from(request.pending.silent);
        self.lanes[lane].pending.push_back(request.pending);
        if let Some(message) = request.message {
            self.lanes[lane].messages.push_back(message);
            self.lanes[peer].used += 1;
        }
        Ok(true)
    }

    fn undo(&mut self, peer: usize, request: Request) -> Result {
        if let Some(check) = request.pending.check {
            self.give_back(check.to, &check.places)?;
            if let Some(fast) = request.pending.fast {
                self.close_fast(check.to, &fast)?;
            }
        }
        if let Some(fast) = request.message.and_then(|message| message.invalidates) {
            let node = self.lanes[peer].node;
            self.close_fast(node, &fast)?;
        }
        Ok(())
    }

    /// Closes a region that has served.
    pub(super) fn close_fast(&mut self, node: usize, fast: &FastRegion) -> Result {
        let world_node = &mut self.world.nodes[node];
        let closed = world_node.nic.close_mr(fast.mr);
        closed.map_err(|error| world_node.error(error))?;
        self.sides[node].fast -= 1;
        if let Some(place) = &fast.place {
            self.give_back(node, &[*place])?;
        }
        Ok(())
    }

    /// A call that must have succeeded.
    fn done<T>(
        &self,
        node: usize,
        call: &str,
        outcome: std::result::Result<T, NdkError>,
    ) -> Result<T> {
        outcome.map_err(|error| match error.status() {
            Some(status) => TrafficError::Wrong(format!("{call} returned {status}")),
            None => self.world.nodes[node].error(error).into(),
        })
    }

    /// Arms a queue now and then.
    pub(super) fn maybe_arm(&mut self) -> Result {
        if !self.dice.percent(5) {
            return Ok(());
        }
        let node = self.dice.below(2) as usize;
        let cqs = &self.sides[node].cqs;
        let cq = cqs[self.dice.below(cqs.len() as u32) as usize];
        let arm = match self.dice.below(3) {
            0 => ArmType::Errors,
            1 => ArmType::Any,
            _ => ArmType::Solicited,
        };
        let outcome = self.world.nodes[node].nic.arm_cq(cq, arm);
        self.done(node, "NdkArmCq", outcome)?;
        self.arms += 1;
        Ok(())
    }

    /// Cancels what is left of a lane.
    pub(super) fn flush(&mut self, lane: usize) -> Result {
        let (node, qp) = (self.lanes[lane].node, self.lanes[lane].qp);
        self.lanes[lane].flushed = true;
        let outcome = self.world.nodes[node].nic.flush(qp);
        self.done(node, "NdkFlush", outcome)
    }
}
