//! Posting: what goes out, and what must be refused.

use tandem_model::ndk::{ArmType, NdkError, NtStatus, OpFlags, OperationType, RemoteToken, Sge};

use super::arena::Slice;
use super::lane::{FastRegion, Pending, Posted, RECEIVES, Victim};
use super::lives::{End, Under};
use super::make::{FEW, Kind, Local, Request};
use super::{Result, Traffic, TrafficError, through};

/// Requests of a burst.
const BURST: u32 = 6;

impl Traffic {
    /// Fills the receive queue of a lane up.
    pub(super) fn post_receives(&mut self, lane: usize) -> Result {
        if self.lanes[lane].shared.is_some() {
            return Ok(());
        }
        while (self.lanes[lane].receives.len() as u32) < RECEIVES {
            let capacity = self
                .dice
                .length(self.wanted.max_size, self.wanted.megabyte_every);
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

    /// Places for so many pieces, or none at all.
    pub(super) fn take_places(
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
        if self.wanted.tokens > 0
            && self.dice.percent(self.wanted.tokens)
            && self.refused_local(lane)?
        {
            return Ok(());
        }
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
                pending: Pending::new(context, OpFlags::NONE, OperationType::Write),
                message: None,
                local: None,
            };
            if self.post(lane, request)? {
                return Ok(());
            }
            self.turn()?;
        }
    }

    /// Posts a request; `false` if the queue is full, and then it is as if it had never been made.
    fn post(&mut self, lane: usize, mut request: Request) -> Result<bool> {
        let (node, qp, peer) = {
            let lane = &self.lanes[lane];
            (lane.node, lane.qp, lane.peer)
        };
        let nic = &mut self.world.nodes[node].nic;
        let (sgl, context, flags) = (&request.sgl, request.pending.context, request.flags);
        let (address, token) = request.remote;
        let outcome = match (request.kind, &request.local) {
            (_, Some(local)) => local.call.post(nic, qp, context, flags),
            (Kind::SendAndInvalidate, _) => nic.send_and_invalidate(qp, context, sgl, flags, token),
            (Kind::Read, _) => nic.read(qp, context, sgl, address, token, flags),
            (Kind::Write, _) => nic.write(qp, context, sgl, address, token, flags),
            _ => nic.send(qp, context, sgl, flags),
        };
        if outcome == Err(NdkError::Status(NtStatus::NO_MORE_ENTRIES)) {
            self.undo(peer, request)?;
            return Ok(false);
        }
        self.done(node, request.kind.name(), outcome)?;
        self.posted += 1;
        *self.report.requests.entry(request.kind.name()).or_default() += 1;
        self.report.silent += u64::from(request.pending.silent);
        self.note_lives(lane, &mut request)?;
        self.lanes[lane].pending.push_back(request.pending);
        if let Some(message) = request.message {
            self.lanes[lane].messages.push_back(message);
            self.take_receive(peer);
        }
        Ok(true)
    }

    /// A request was posted: what it means for those that live short lives.
    fn note_lives(&mut self, lane: usize, request: &mut Request) -> Result {
        for used in &request.pending.uses {
            if let Some(life) = self.lives.get(used.life) {
                let words = through::words(request.kind, life.lane == lane, life.is_region());
                *self.report.lives.entry(words).or_default() += 1;
            }
            self.lives.used(lane, used);
        }
        if let Some((id, end)) = request.pending.ends {
            self.lives.ending(id, end);
        }
        if let Some(Victim::Life(id, _)) =
            request.message.as_ref().and_then(|sent| sent.invalidates)
        {
            self.lives.ending(id, End::Send);
        }
        if let Some(local) = request.local.take()
            && let Local {
                call,
                life: Some(mut life),
            } = *local
        {
            let token = call.token(&self.world.nodes[life.node].nic);
            life.token = self.done(life.node, "NdkGetRemoteToken", token)?;
            request.pending.begins = Some(self.lives.begin(life));
        }
        Ok(())
    }

    fn undo(&mut self, peer: usize, request: Request) -> Result {
        if let Some(check) = request.pending.check {
            self.give_back(check.to, &check.places)?;
            if let Some(fast) = request.pending.fast {
                self.close_fast(check.to, &fast)?;
            }
        }
        if let Some(life) = request.local.and_then(|local| local.life)
            && let Under::Landing { place, .. } = life.under
        {
            self.give_back(life.node, &[place])?;
        }
        if let Some(Victim::Placed(fast)) = request.message.and_then(|message| message.invalidates)
        {
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
    pub(super) fn done<T>(
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
