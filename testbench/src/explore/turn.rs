//! The execution of a step.

use std::sync::Arc;

use tandem_model::abi::{CommitKind, RxResult, regs};
use tandem_model::engine::{Action, Effect, InputError, WriteChannel};
use tandem_model::wire::{Frame, Opcode};

use super::Setting;
use super::invariant::{Invariant, Violation};
use super::map::{EVENTS, FIRST_QP, PAGE};
use super::mutation::{Mutation, renumbered};
use super::node::{Held, Node, Reader, Write, landing_range};
use super::state::{State, Step};
use super::world::Side;

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
    fn act(&mut self, side: Side, action: &Action) {
        if self.setting.is_timer(action) && self.setting.is_under_way(&self.state) {
            self.state.left.hasty = self.state.left.hasty.saturating_sub(1);
        }
        self.check_fence(side, action);
        let setting = self.setting;
        let dead = self.node(side).seen.dead;
        let mut effects = Vec::new();
        let Node {
            engine, landing, ..
        } = self.change(side);
        let mut reader = Reader {
            plan: setting.plan.node(side),
            landing,
            mutation: setting.mutation,
            regions: 0,
        };
        let applied = engine.apply(action, &mut reader, &mut effects);
        let used = reader.regions & dead;
        let barrier = engine.barrier();
        // The reader has answered them all.
        engine.forget_gathers(engine.gather_reads());
        if let Err(illegal) = applied {
            return self.break_(Invariant::Legal, || illegal.to_string());
        }
        if used != 0 {
            self.break_(Invariant::DeadToken, || {
                format!("{} reads through a token that is invalid", side.name())
            });
        }
        setting.coverage.note(action);
        self.count(side, action);
        for effect in effects {
            self.effect(side, effect, barrier);
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

    fn effect(&mut self, side: Side, effect: Effect, barrier: u64) {
        let mutation = self.setting.mutation;
        match effect {
            Effect::Frame(bytes) => {
                self.note(|| Note::Frame(side, bytes.clone(), barrier));
                let early = mutation == Some(Mutation::AckBeforeData);
                self.change(side).frames.push_back(Held {
                    barrier: if early { 0 } else { barrier },
                    effect: bytes.into(),
                });
            }
            Effect::Write {
                channel: WriteChannel::Payload,
                address,
                bytes,
            } => {
                self.note(|| Note::Write(side, address, bytes.len()));
                self.check_target(side, address, &bytes);
                self.change(side).writes.push_back(Write {
                    address,
                    bytes: bytes.into(),
                });
            }
            Effect::Write { address, bytes, .. } => {
                if (EVENTS..EVENTS + PAGE).contains(&address) {
                    return;
                }
                let early = mutation == Some(Mutation::CompletionBeforeData);
                let Ok(effect) = bytes.try_into() else {
                    return self.break_(Invariant::Legal, || "a completion of another size".into());
                };
                self.change(side).entries.push_back(Held {
                    barrier: if early { 0 } else { barrier },
                    effect,
                });
            }
        }
    }

    /// Lets the world see what need not wait any more, in the order of each channel.
    fn release(&mut self, side: Side) {
        while let Some(held) = self.node(side).frames.front()
            && held.barrier == 0
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
            && held.barrier == 0
        {
            let entry = held.effect;
            self.change(side).entries.pop_front();
            self.note(|| Note::Completion(side, entry));
            self.check_completion(side, &entry);
        }
    }

    /// Memory answers the oldest payload write.
    fn answer(&mut self, side: Side) {
        let setting = self.setting;
        let node = self.change(side);
        let Some(write) = node.writes.pop_front() else {
            return;
        };
        let Write { address, bytes } = write;
        node.engine.forget_writes(1);
        for barrier in node
            .frames
            .iter_mut()
            .map(|held| &mut held.barrier)
            .chain(node.entries.iter_mut().map(|held| &mut held.barrier))
        {
            *barrier = barrier.saturating_sub(1);
        }
        let place = landing_range(setting.plan.node(side), address, bytes.len());
        if let Some((range, region)) = place {
            node.landing[range].copy_from_slice(&bytes);
            let told = node.seen.told_dead;
            if region.is_some_and(|region| told & 1 << region != 0) {
                self.break_(Invariant::DeadToken, || {
                    format!(
                        "{} bytes land at {address:#x} of {} after the completion that told of the invalidation",
                        bytes.len(),
                        side.name()
                    )
                });
            }
        }
        self.note(|| Note::Placed(side, address, bytes.len()));
        self.release(side);
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

    /// What the engine takes a frame for: for itself, but with the fault [`Mutation::DuplicateExecuted`], by
    /// which a send that came before is taken for the next one.
    fn taken_for(&self, side: Side, frame: &[u8]) -> Vec<u8> {
        if self.setting.mutation == Some(Mutation::DuplicateExecuted)
            && let Some(again) = self.executed_again(side, frame)
        {
            return again;
        }
        frame.to_vec()
    }

    fn executed_again(&self, side: Side, frame: &[u8]) -> Option<Vec<u8>> {
        let parsed = Frame::parse(frame).ok()?;
        if parsed.bth.opcode != Opcode::SendOnly {
            return None;
        }
        let verdict = |frame: Vec<u8>| {
            let mut node = self.node(side).clone();
            node.engine.receive_frame(frame);
            let action = judge(self.setting, side, &node).ok()??;
            (action.kind == CommitKind::RxRequest).then_some(action.cause)
        };
        if verdict(frame.to_vec())? != RxResult::Duplicate as u8 {
            return None;
        }
        let psn = parsed.bth.psn;
        let mut later = (1..16).filter_map(|steps| renumbered(frame, psn + steps));
        later.find(|frame| verdict(frame.clone()) == Some(RxResult::Accept as u8))
    }

    /// The driver hands a receive to the engine.
    fn ring(&mut self, side: Side, lane: usize) {
        let node = self.change(side);
        node.seen.qps[lane].rung += 1;
        let index = u32::from(node.seen.qps[lane].rung);
        let qpn = FIRST_QP + lane as u32;
        node.engine
            .write_register(regs::DbRq::OFFSET, qpn << 16 | index);
        let action = Action::new(CommitKind::RqDoorbell, qpn).with_index(index as u16);
        self.note(|| Note::Action(action));
        self.act(side, &action);
    }
}

/// What the engine of a node makes of the oldest frame that waits.
fn judge(setting: &Setting, side: Side, node: &Node) -> Result<Option<Action>, InputError> {
    let mut reader = Reader {
        plan: setting.plan.node(side),
        landing: &node.landing,
        mutation: setting.mutation,
        regions: 0,
    };
    node.engine.frame_action(&mut reader)
}

/// The lane of a queue pair.
pub(super) fn lane_of(qpn: u32) -> Option<usize> {
    qpn.checked_sub(FIRST_QP).map(|lane| lane as usize)
}
