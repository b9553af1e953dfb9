//! Which steps a state has.

use tandem_model::abi::{CommitKind, RespondKind};
use tandem_model::engine::Action;

use super::Setting;
use super::map::token;
use super::mutation::Mutation;
use super::node::{Node, Reader};
use super::state::{State, Step};
use super::world::{Key, Operation, Side};

impl Setting {
    /// Appends all steps of a state, always in the same order: first those that happen by themselves, then the
    /// driver's, then timers, then faults.
    pub(super) fn steps(&self, state: &State, steps: &mut Vec<Step>) {
        if state.broken.is_some() {
            return;
        }
        let mut timers = Vec::new();
        self.moves(state, steps, &mut timers);
        let is_under_way = !steps.is_empty();
        if self.world.late_receives {
            for side in Side::BOTH {
                if let Some(shared) = self.world.shared.filter(|_| self.world.is_shared(side)) {
                    let rung = state.node(side).seen.shared.rung;
                    steps.extend((rung < shared.receives).then_some(Step::Ring(side, 0)));
                }
                let qps = state.node(side).seen.qps.iter().enumerate();
                let receives = &self.plan.node(side).receives;
                let late = qps.filter(|(lane, qp)| usize::from(qp.rung) < receives[*lane]);
                steps.extend(late.map(|(lane, _)| Step::Ring(side, lane)));
            }
        }
        if !is_under_way || state.left.hasty > 0 {
            steps.append(&mut timers);
        }
        if state.left.faults > 0 {
            self.faults(state, steps);
        }
    }

    /// Whether anything happens without the driver, a timer, or a fault.
    pub(super) fn is_under_way(&self, state: &State) -> bool {
        let mut steps = Vec::new();
        self.moves(state, &mut steps, &mut Vec::new());
        !steps.is_empty()
    }

    /// Whether an action is the end of a timer.
    pub(super) fn is_timer(&self, action: &Action) -> bool {
        matches!(action.kind, CommitKind::Timeout | CommitKind::RnrResume)
    }

    /// What engines, memories and network do by themselves; and which timers run.
    fn moves(&self, state: &State, steps: &mut Vec<Step>, timers: &mut Vec<Step>) {
        let mut actions = Vec::new();
        for side in Side::BOTH {
            let node = state.node(side);
            actions.clear();
            let mut reader = self.reader(side, node);
            if node.engine.enabled(&mut reader, &mut actions).is_err() {
                // This is no action: its execution fails, and that is reported.
                actions.push(Action::new(CommitKind::None, 0));
            }
            let full = state.link(side).len() + node.frames.len() >= self.world.window;
            for action in &actions {
                let step = Step::Act(side, *action);
                if self.is_timer(action) {
                    let dead = action.kind == CommitKind::Timeout
                        && self.mutation == Some(Mutation::NoTimeout);
                    timers.extend((!dead).then_some(step));
                    continue;
                }
                let held_back = full && emits(action)
                    || self.lacks_list(side, node, action)
                    || self.has_to_wait(side, node, action);
                steps.extend((!held_back).then_some(step));
            }
            if !node.writes.is_empty() {
                steps.push(Step::Answer(side));
            }
            if !node.gathers.is_empty() {
                steps.push(Step::Gather(side));
            }
            steps.extend(self.lists(side, node).map(|key| Step::List(side, key)));
            if !state.link(side).is_empty() {
                steps.push(Step::Deliver(side));
            }
        }
    }

    pub(super) fn reader<'a>(&'a self, side: Side, node: &'a Node) -> Reader<'a> {
        Reader::new(self, side, &node.landing, &node.seen)
    }

    /// Registrations that are posted and whose page list was not answered.
    fn lists<'a>(&'a self, side: Side, node: &'a Node) -> impl Iterator<Item = Key> + 'a {
        let lanes = self.plan.node(side).lanes.iter().zip(&node.seen.qps);
        let posted = lanes.flat_map(|(requests, qp)| requests.iter().take(qp.posted.into()));
        posted.filter_map(|planned| match planned.request.operation {
            Operation::FastRegister(key) if node.seen.listed & key.bit() == 0 => Some(key),
            _ => None,
        })
    }

    /// Whether an action is a registration that waits for its page list.
    fn lacks_list(&self, side: Side, node: &Node, action: &Action) -> bool {
        if action.kind != CommitKind::SqLocal
            || self.mutation == Some(Mutation::RegisteredBeforeList)
        {
            return false;
        }
        self.lists(side, node)
            .any(|key| token(key).0 == action.token)
    }

    /// Whether an action has to wait for payload under way: a read retires when its bytes are placed, and is
    /// answered when what came before it is.
    fn has_to_wait(&self, side: Side, node: &Node, action: &Action) -> bool {
        let waits = match action.kind {
            CommitKind::Retire => self.mutation != Some(Mutation::RetireBeforeData),
            CommitKind::Respond => action.cause == RespondKind::Read as u8,
            _ => false,
        };
        if !waits || node.writes.is_empty() {
            return false;
        }
        let mut engine = node.engine.clone();
        let mut reader = self.reader(side, node);
        let applied = engine.apply(action, &mut reader, &mut Vec::new());
        applied.is_ok() && engine.barrier() > 0
    }

    fn faults(&self, state: &State, steps: &mut Vec<Step>) {
        let faults = &self.world.faults;
        for side in Side::BOTH {
            let count = state.link(side).len();
            if faults.lose && count > 0 {
                steps.push(Step::Lose(side));
            }
            if faults.duplicate && count < self.world.window {
                steps.extend((0..count).map(|at| Step::Duplicate(side, at)));
            }
            if faults.swap && count > 1 {
                steps.push(Step::Swap(side));
            }
        }
    }
}

/// Whether a frame leaves with an action.
fn emits(action: &Action) -> bool {
    match action.kind {
        CommitKind::SqEmit => true,
        CommitKind::Respond => action.cause != RespondKind::Discard as u8,
        _ => false,
    }
}
