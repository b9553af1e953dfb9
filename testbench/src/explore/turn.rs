//! The execution of a step.

use std::sync::Arc;

use tandem_model::abi::{CommitKind, EQE, EventKind, Record, regs};
use tandem_model::engine::{Action, Effect, InputError, WriteChannel};

use super::Setting;
use super::access::Access;
use super::invariant::{Invariant, Violation};
use super::map::{EVENTS, FIRST_QP, PAGE, SHARED_QUEUE};
use super::mutation::Mutation;
use super::node::{Entry, Held, Node, Reader, Write, landing_range};
use super::state::{State, Step};
use super::world::{Key, Side};

/// What a step let the world see.
#[derive(Clone, Debug)]
pub(super) enum Note {
    /// The action of a frame that arrived, or of a doorbell.
    Action(Action),
    /// The engine has made a frame, which waits for so many payload writes.
    Frame(Side, Vec<u8>, u64),
    /// A payload write was issued: address and length.
    Write(Side, u64, usize),
    /// The oldest payload write was answered.
    Placed(Side, u64, usize),
    /// A completion entry was written.
    Completion(Side, [u8; 32]),
    /// An event was written, of this queue pair or shared receive queue.
    Event(Side, EventKind, u32),
}

/// How many of the payload writes and of the gather reads must be answered before an effect is seen.
#[derive(Clone, Copy)]
struct Waits {
    payload: u64,
    gathers: u64,
}

/// A step under execution: the state that it leads to.
pub(super) struct Turn<'a> {
    pub setting: &'a Setting,
    pub state: State,
    pub notes: Option<&'a mut Vec<Note>>,
}

impl Setting {
    /// The state that a step leads to.
    pub(super) fn perform(
        &self,
        state: &State,
        step: Step,
        notes: Option<&mut Vec<Note>>,
    ) -> State {
        let mut turn = Turn {
            setting: self,
            state: state.clone(),
            notes,
        };
        turn.step(step);
        let mut state = turn.state;
        for node in &mut state.nodes {
            if node.digest == 0 {
                Arc::make_mut(node).seal();
            }
        }
        state
    }
}

impl Turn<'_> {
    fn step(&mut self, step: Step) {
        match step {
            Step::Act(side, action) => self.act(side, &action),
            Step::Answer(side) => self.answer(side),
            Step::Gather(side) => self.gathered(side),
            Step::List(side, key) => self.change(side).seen.listed |= key.bit(),
            Step::Deliver(from) => self.deliver(from),
            Step::Ring(side, lane) => self.ring(side, lane),
            Step::Lose(from) => {
                self.state.links[from as usize].pop_front();
                self.state.left.faults -= 1;
            }
            Step::Duplicate(from, at) => {
                let link = &mut self.state.links[from as usize];
                link.extend(link.get(at).cloned());
                self.state.left.faults -= 1;
            }
            Step::Swap(from) => {
                self.state.links[from as usize].swap(0, 1);
                self.state.left.faults -= 1;
            }
        }
    }

    pub(super) fn node(&self, side: Side) -> &Node {
        self.state.node(side)
    }

    /// A node to change.
    pub(super) fn change(&mut self, side: Side) -> &mut Node {
        let node = Arc::make_mut(&mut self.state.nodes[side as usize]);
        node.digest = 0;
        node
    }

    pub(super) fn note(&mut self, note: impl FnOnce() -> Note) {
        if let Some(notes) = &mut self.notes {
            notes.push(note());
        }
    }

    /// An invariant does not hold, unless it is none of those that are looked at.
    pub(super) fn break_(&mut self, invariant: Invariant, how: impl FnOnce() -> String) {
        if self.state.broken.is_none() && self.setting.looks_at(invariant) {
            self.state.broken = Some(Violation {
                invariant,
                how: how(),
            });
        }
    }

    /// The engine executes an action.
    pub(super) fn act(&mut self, side: Side, action: &Action) {
        if self.setting.is_timer(action) && self.setting.is_under_way(&self.state) {
            self.state.left.hasty = self.state.left.hasty.saturating_sub(1);
        }
        self.check_fence(side, action);
        let setting = self.setting;
        let access = self.access(side, action);
        let mut effects = Vec::new();
        let Node {
            engine,
            landing,
            seen,
            gathers,
            ..
        } = self.change(side);
        let mut reader = Reader::new(setting, side, landing, seen);
        let applied = engine.apply(action, &mut reader, &mut effects);
        let gathered = reader.gathers;
        let waits = Waits {
            payload: engine.barrier(),
            gathers: engine.gather_barrier(),
        };
        if setting.world.late_gathers {
            let key = access.as_ref().map(|access| access.key);
            gathers.extend(std::iter::repeat_n(key, gathered));
        } else {
            // The reader has answered them all.
            engine.forget_gathers(engine.gather_reads());
        }
        if let Err(illegal) = applied {
            return self.break_(Invariant::Legal, || illegal.to_string());
        }
        if gathered > 0
            && let Some(access) = &access
        {
            self.check_access(side, access);
        }
        setting.coverage.note(action);
        self.count(side, action);
        self.follow_local(side, action);
        self.follow_shared(side, action);
        for effect in effects {
            self.effect(side, effect, waits, access.as_ref(), action);
        }
        self.release(side);
    }

    /// Counts the requests that ended.
    fn count(&mut self, side: Side, action: &Action) {
        let sends = match action.kind {
            CommitKind::Retire => true,
            CommitKind::Flush => action.cause == 0,
            _ => false,
        };
        if sends && let Some(lane) = lane_of(action.qpn) {
            let qp = &mut self.change(side).seen.qps[lane];
            qp.retired += 1;
        }
    }

    fn effect(
        &mut self,
        side: Side,
        effect: Effect,
        waits: Waits,
        access: Option<&Access>,
        action: &Action,
    ) {
        let mutation = self.setting.mutation;
        match effect {
            Effect::Frame(bytes) => {
                let barrier = waits.payload;
                self.note(|| Note::Frame(side, bytes.clone(), barrier));
                let early = mutation == Some(Mutation::AckBeforeData);
                let node = self.change(side);
                node.frames.push_back(Held {
                    barrier: if early { 0 } else { barrier },
                    // Its own are the newest; it comes after those of the frames before it anyway.
                    gathers: node.gathers.len() as u64,
                    effect: bytes.into(),
                });
            }
            Effect::Write {
                channel: WriteChannel::Payload,
                address,
                bytes,
            } => {
                let address = Mutation::scattered(mutation, address);
                self.note(|| Note::Write(side, address, bytes.len()));
                if let Some(access) = access {
                    self.check_access(side, access);
                }
                self.check_target(side, address, &bytes, action);
                self.change(side).writes.push_back(Write {
                    address,
                    bytes: bytes.into(),
                    key: access.map(|access| access.key),
                });
            }
            Effect::Write { address, bytes, .. } => {
                let Some(effect) = self.entry(address, bytes) else {
                    return;
                };
                let early = mutation == Some(Mutation::CompletionBeforeData);
                let ungathered = mutation == Some(Mutation::InvalidateToldEarly);
                self.change(side).entries.push_back(Held {
                    barrier: if early { 0 } else { waits.payload },
                    gathers: if ungathered { 0 } else { waits.gathers },
                    effect,
                });
            }
        }
    }

    /// What is written for the driver; nothing if nobody looks at it.
    fn entry(&mut self, address: u64, bytes: Vec<u8>) -> Option<Entry> {
        if (EVENTS..EVENTS + PAGE).contains(&address) {
            // Those of other worlds tell nothing that a completion does not tell.
            let event = self
                .setting
                .world
                .shared
                .and_then(|_| bytes.try_into().ok());
            return event.map(Entry::Event);
        }
        let completion = bytes.try_into().ok();
        if completion.is_none() {
            self.break_(Invariant::Legal, || "a completion of another size".into());
        }
        completion.map(Entry::Completion)
    }

    /// Lets the world see what need not wait any more, in the order of each channel.
    fn release(&mut self, side: Side) {
        while let Some(held) = self.node(side).frames.front()
            && held.is_due()
        {
            let frame = Arc::clone(&held.effect);
            self.change(side).frames.pop_front();
            self.check_leaving(side, &frame);
            self.state.links[side as usize].push_back(frame);
        }
        if self.setting.mutation == Some(Mutation::CompletionsSwapped) {
            if self.node(side).entries.len() < 2 {
                return;
            }
            self.change(side).entries.rotate_left(1);
        }
        while let Some(held) = self.node(side).entries.front()
            && held.is_due()
        {
            let entry = held.effect;
            self.change(side).entries.pop_front();
            match entry {
                Entry::Completion(entry) => {
                    let entry = Mutation::completed(self.setting.mutation, entry);
                    self.note(|| Note::Completion(side, entry));
                    self.check_completion(side, &entry);
                }
                Entry::Event(entry) => {
                    let entry = Record::from_bytes(&EQE, &entry);
                    if let Some(kind) = EventKind::from_bits(entry.get("kind")) {
                        self.event(side, kind, entry.get("number") as u32);
                    }
                }
            }
        }
    }

    /// Memory answers the oldest payload write.
    fn answer(&mut self, side: Side) {
        let setting = self.setting;
        let node = self.change(side);
        let Some(write) = node.writes.pop_front() else {
            return;
        };
        let Write {
            address,
            bytes,
            key,
        } = write;
        node.engine.forget_writes(1);
        node.answered(1, 0);
        if let Some(range) = landing_range(setting.plan.node(side), address, bytes.len()) {
            node.landing[range].copy_from_slice(&bytes);
        }
        self.check_told(side, key, || {
            format!("{} bytes land at {address:#x}", bytes.len())
        });
        self.note(|| Note::Placed(side, address, bytes.len()));
        self.release(side);
    }

    /// Memory answers the oldest read of payload.
    fn gathered(&mut self, side: Side) {
        let node = self.change(side);
        let Some(key) = node.gathers.pop_front() else {
            return;
        };
        node.engine.forget_gathers(1);
        node.answered(0, 1);
        self.check_told(side, key, || "bytes are read".into());
        self.release(side);
    }

    /// Memory is read or written through a token: its end was not told of before.
    fn check_told(&mut self, side: Side, key: Option<Key>, what: impl FnOnce() -> String) {
        let told = self.node(side).seen.told_dead;
        if let Some(key) = key
            && told & key.bit() != 0
        {
            self.break_(Invariant::DeadToken, || {
                format!(
                    "{} of {} after the completion that told of the invalidation of {key}",
                    what(),
                    side.name()
                )
            });
        }
    }

    /// The oldest frame of a node reaches its peer.
    fn deliver(&mut self, from: Side) {
        let Some(frame) = self.state.links[from as usize].pop_front() else {
            return;
        };
        let side = from.peer();
        let received = self.taken_for(side, &frame);
        let setting = self.setting;
        let node = self.change(side);
        node.engine.receive_frame(received);
        let action = match judge(setting, side, node) {
            Ok(Some(action)) => action,
            Ok(None) => return,
            Err(error) => return self.break_(Invariant::Legal, || error.to_string()),
        };
        self.note(|| Note::Action(action));
        self.act(side, &action);
        self.follow_invalidation(side, &frame, &action);
    }

    /// The driver hands a receive to the engine.
    fn ring(&mut self, side: Side, lane: usize) {
        let is_shared = self.setting.world.is_shared(side);
        let seen = &mut self.change(side).seen;
        let (rung, number, register, kind) = match is_shared {
            true => (
                &mut seen.shared.rung,
                SHARED_QUEUE,
                regs::DbSrq::OFFSET,
                CommitKind::SrqDoorbell,
            ),
            false => (
                &mut seen.qps[lane].rung,
                FIRST_QP + lane as u32,
                regs::DbRq::OFFSET,
                CommitKind::RqDoorbell,
            ),
        };
        *rung += 1;
        let index = u16::from(*rung);
        let action = Action::new(kind, number).with_index(index);
        self.note(|| Note::Action(action));
        self.doorbell(side, register, &action);
    }

    /// The driver posts the requests of a lane that waited for receives.
    pub(super) fn post(&mut self, side: Side, lane: usize) {
        let requests = &self.setting.plan.node(side).lanes[lane];
        let seen = &mut self.change(side).seen.qps[lane];
        let before = seen.posted;
        while let Some(planned) = requests.get(usize::from(seen.posted))
            && planned.request.after <= seen.received
        {
            seen.posted += 1;
        }
        let posted = u16::from(seen.posted);
        if seen.posted != before {
            let qpn = FIRST_QP + lane as u32;
            let action = Action::new(CommitKind::SqDoorbell, qpn).with_index(posted);
            self.doorbell(side, regs::DbSq::OFFSET, &action);
        }
    }

    /// The driver rings, and the engine takes it at once.
    pub(super) fn doorbell(&mut self, side: Side, register: u32, action: &Action) {
        let value = action.qpn << 16 | u32::from(action.index);
        self.change(side).engine.write_register(register, value);
        self.act(side, action);
    }
}

/// What the engine of a node makes of the oldest frame that waits.
pub(super) fn judge(
    setting: &Setting,
    side: Side,
    node: &Node,
) -> Result<Option<Action>, InputError> {
    let mut reader = Reader::new(setting, side, &node.landing, &node.seen);
    node.engine.frame_action(&mut reader)
}

/// The lane of a queue pair.
pub(super) fn lane_of(qpn: u32) -> Option<usize> {
    qpn.checked_sub(FIRST_QP).map(|lane| lane as usize)
}
