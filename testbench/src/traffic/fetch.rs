//! Fetching results, and comparing them and what arrived.

use tandem_model::ndk::{NdkResult, NdkResultEx, Notification, NtStatus, OperationType};

use super::arena::Slice;
use super::lane::{Check, Sent, Victim};
use super::lives::{Life, LifeId, Under};
use super::{Result, Traffic, TrafficError};

fn wrong<T>(message: String) -> Result<T> {
    Err(TrafficError::Wrong(message))
}

impl Traffic {
    /// Everything that is there on all completion queues, a random number at a time.
    pub(super) fn fetch_all(&mut self) -> Result {
        for node in 0..self.sides.len() {
            for index in 0..self.sides[node].cqs.len() {
                let most = 1 + self.dice.below(16) as usize;
                while self.fetch(node, index, most)? == most {}
            }
            self.take_notifications(node)?;
        }
        Ok(())
    }

    fn fetch(&mut self, node: usize, index: usize, most: usize) -> Result<usize> {
        let cq = self.sides[node].cqs[index];
        let plain = self.dice.percent(10);
        let nic = &mut self.world.nodes[node].nic;
        let mut results = vec![NdkResultEx::default(); most];
        let taken = if plain {
            let mut few = vec![NdkResult::default(); most];
            nic.get_cq_results(cq, &mut few).inspect(|_| {
                for (result, few) in results.iter_mut().zip(&few) {
                    result.status = few.status;
                    result.bytes_transferred = few.bytes_transferred;
                    result.qp_context = few.qp_context;
                    result.request_context = few.request_context;
                }
            })
        } else {
            nic.get_cq_results_ex(cq, &mut results)
        };
        let taken = taken.map_err(|error| self.world.nodes[node].error(error))?;
        for result in results.iter().take(taken) {
            self.result(node, result, plain)?;
        }
        Ok(taken)
    }

    fn result(&mut self, node: usize, result: &NdkResultEx, plain: bool) -> Result {
        self.report.results += 1;
        self.last_result = self.world.clocks();
        let owner = self
            .lanes
            .iter()
            .position(|lane| lane.node == node && lane.context == result.qp_context);
        let Some(lane) = owner else {
            return wrong(format!("a result of no queue pair: {result:?}"));
        };
        let receive = match plain {
            false => result.operation.is_receive(),
            // The plain record does not say; contexts are unique.
            true => self.is_receive(lane, result.request_context),
        };
        let flushed = self.lanes[lane].flushed;
        let expected = match flushed {
            true => NtStatus::CANCELLED,
            false => NtStatus::SUCCESS,
        };
        if result.status != expected {
            return wrong(format!(
                "{} expected, got {result:?}, {}",
                expected,
                self.lanes[lane].words()
            ));
        }
        if result.status.is_success() && result.provider_error_code != 0 {
            return wrong(format!("an error code on success: {result:?}"));
        }
        match (receive, flushed) {
            (true, true) => self.cancelled(lane, result),
            (true, false) => self.received(lane, result, plain),
            (false, _) => self.completed(lane, result, plain),
        }
    }

    /// A receive that a flush cancelled.
    fn cancelled(&mut self, lane: usize, result: &NdkResultEx) -> Result {
        let node = self.lanes[lane].node;
        match self.lanes[lane].receives.pop_front() {
            Some(posted) if posted.context == result.request_context => {
                self.untouched(node, &posted.places)
            }
            other => wrong(format!(
                "cancelled receive: {result:?}, the oldest is {other:?}"
            )),
        }
    }

    /// A receive with a message.
    fn received(&mut self, lane: usize, result: &NdkResultEx, plain: bool) -> Result {
        let (node, peer) = (self.lanes[lane].node, self.lanes[lane].peer);
        let posted = self.posted_receive(lane, result.request_context)?;
        let message = self.lanes[peer].messages.pop_front();
        let (Some(posted), Some(message)) = (posted, message) else {
            return wrong(format!("a receive completed without a message: {result:?}"));
        };
        let operation = match message.invalidates {
            Some(_) => OperationType::ReceiveAndInvalidate,
            None => OperationType::Receive,
        };
        let token = message
            .invalidates
            .map_or(0, |victim| u64::from(victim.token().0));
        let told = plain
            || result.operation == operation && result.type_specific_completion_output == token;
        if posted.context != result.request_context
            || result.bytes_transferred != message.length
            || !told
        {
            return wrong(format!(
                "receive {:#x} of {} bytes, {operation:?}, token {token:#x} expected, got {result:?}",
                posted.context, message.length
            ));
        }
        self.arrived(Check {
            sent: message.sent,
            to: node,
            places: posted.places,
        })?;
        for id in message.tells {
            self.lives.tell(id);
        }
        match message.invalidates {
            Some(Victim::Placed(fast)) => self.close_fast(node, &fast),
            Some(Victim::Life(id, _)) => self.life_ended(id),
            None => Ok(()),
        }
    }

    /// An initiator request; all silent ones before it are done as well.
    fn completed(&mut self, lane: usize, result: &NdkResultEx, plain: bool) -> Result {
        while let Some(pending) = self.lanes[lane].pending.pop_front() {
            let its = pending.context == result.request_context;
            if its && pending.silent {
                return wrong(format!(
                    "a silent request succeeded and completed: {result:?}"
                ));
            }
            if !its && !pending.silent {
                return wrong(format!(
                    "{result:?} came before that of request {:#x}, {:?}",
                    pending.context, pending.operation
                ));
            }
            if its && !plain && pending.operation != result.operation {
                return wrong(format!("{:?} expected, got {result:?}", pending.operation));
            }
            let node = self.lanes[lane].node;
            if let Some(check) = pending.check {
                self.arrived(check)?;
            }
            if let Some(fast) = pending.fast {
                self.close_fast(node, &fast)?;
            }
            for used in &pending.uses {
                let done = self.lives.leave(lane, used);
                done.map_or(Ok(()), |life| self.look_back(life))?;
            }
            if let Some(id) = pending.begins {
                self.lives.tell(id);
            }
            if let Some((id, _)) = pending.ends {
                self.life_ended(id)?;
            }
            if its {
                return Ok(());
            }
        }
        wrong(format!(
            "a result of a request that was not posted: {result:?}"
        ))
    }

    /// The bytes that were sent.
    pub(super) fn bytes_of(&self, sent: &Sent) -> Vec<u8> {
        let mut bytes = Vec::new();
        match sent {
            Sent::Sources { node, pieces } => {
                for source in pieces {
                    bytes.extend_from_slice(self.sides[*node].source_bytes(source));
                }
            }
            Sent::Bytes(sent) => bytes.extend_from_slice(sent),
        }
        bytes
    }

    /// A short life was seen to have ended.
    fn life_ended(&mut self, id: LifeId) -> Result {
        if let Some(end) = self.lives.get(id).and_then(|life| life.end) {
            *self.report.lives.entry(end.name()).or_default() += 1;
        }
        let done = self.lives.ended(id);
        done.map_or(Ok(()), |life| self.look_back(life))
    }

    /// Compares the whole place of a life that is over with all that was asked for in it.
    pub(super) fn look_back(&mut self, life: Life) -> Result {
        match life.under {
            Under::Source(_) => Ok(()),
            Under::Landing { place, content, .. } => self.arrived(Check {
                sent: Sent::Bytes(content),
                to: life.node,
                places: vec![place],
            }),
        }
    }

    /// Compares what arrived with what was sent; what is behind it must be untouched.
    fn arrived(&mut self, check: Check) -> Result {
        let sent = self.bytes_of(&check.sent);
        let mut rest = sent.as_slice();
        for place in &check.places {
            let node = &mut self.world.nodes[check.to];
            let hal = node.nic.hal_mut();
            let arena = self.sides[check.to].arena(place);
            let read = arena
                .memory
                .read(hal, place.offset, place.length as usize)
                .and_then(|got| Ok((got, arena.intact(hal, place)?)));
            let (got, intact) = read.map_err(|error| node.error(error))?;
            let filled = rest.len().min(got.len());
            let (now, later) = rest.split_at(filled);
            rest = later;
            let same = got.starts_with(now)
                && got
                    .iter()
                    .skip(filled)
                    .all(|byte| *byte == super::arena::EMPTY);
            if !same || !intact {
                let at = got.iter().zip(now).position(|(got, sent)| got != sent);
                return wrong(format!(
                    "wrong bytes on node {} at {place:?}: {} of {} bytes were sent there, first wrong {at:?}, \
                     guards intact: {intact}",
                    check.to,
                    now.len(),
                    got.len()
                ));
            }
        }
        self.report.bytes += sent.len() as u64;
        self.give_back(check.to, &check.places)
    }

    /// Places into which nothing must have come.
    pub(super) fn untouched(&mut self, node: usize, places: &[Slice]) -> Result {
        let nothing = Check {
            sent: Sent::Bytes(Vec::new()),
            to: node,
            places: places.to_vec(),
        };
        self.arrived(nothing)
    }

    fn take_notifications(&mut self, node: usize) -> Result {
        for notification in std::mem::take(&mut self.world.nodes[node].notifications) {
            match notification {
                Notification::Cq { status, .. } if status.is_success() => {
                    self.report.notifications += 1;
                }
                Notification::Srq {
                    srq,
                    context,
                    status,
                } if status.is_success() => self.runs_short(node, srq, context)?,
                other => self.connection_told(node, &other)?,
            }
        }
        if self.report.notifications > self.arms {
            return wrong(format!(
                "{} notifications of {} arms",
                self.report.notifications, self.arms
            ));
        }
        Ok(())
    }

    /// A new round begins with a clean slate of waiting.
    pub(super) fn forget_quiet(&mut self) {
        self.last_result = self.world.clocks();
    }

    /// Nothing around the memories was written.
    pub(super) fn check_guards(&mut self) -> Result {
        for node in 0..self.sides.len() {
            let world_node = &mut self.world.nodes[node];
            for memory in self.sides[node].memories() {
                let broken = memory.broken_guard(world_node.nic.hal_mut());
                if let Some(address) = broken.map_err(|error| world_node.error(error))? {
                    return wrong(format!(
                        "node {node}: something wrote around a memory, at logical address {address:#x}"
                    ));
                }
            }
        }
        Ok(())
    }
}
