//! The shared receive queue as the onlooker follows it: who took which receive, its limit, and events.

use tandem_model::abi::{CommitKind, EventKind, RxResult, regs};
use tandem_model::engine::Action;
use tandem_model::wire::Psn;

use super::Setting;
use super::invariant::Invariant;
use super::map::{SHARED_QUEUE, SLOT};
use super::mutation::Mutation;
use super::node::Node;
use super::turn::{Note, Turn, lane_of};
use super::world::{Ends, Shared, Side};

impl Turn<'_> {
    /// Takes down who takes a receive: the first packet of a send does, accepted or refused.
    pub(super) fn follow_shared(&mut self, side: Side, action: &Action) {
        let setting = self.setting;
        if !setting.world.is_shared(side) {
            return;
        }
        let Some(lane) = lane_of(action.qpn) else {
            return;
        };
        if action.kind == CommitKind::Flush
            && action.cause == 1
            && setting.mutation == Some(Mutation::LetGoEarly)
        {
            return self.event(side, EventKind::LastWqe, action.qpn);
        }
        let takes = [
            RxResult::Accept,
            RxResult::NakInvalid,
            RxResult::NakAccess,
            RxResult::NakOperation,
        ];
        let found = setting.plan.find(side.peer(), lane, Psn::new(action.psn));
        let Some((request, 0)) = found else {
            return;
        };
        let planned = &setting.plan.node(side.peer()).lanes[lane][request];
        let is_taken = takes.iter().any(|result| *result as u8 == action.cause);
        if action.kind != CommitKind::RxRequest || !is_taken || !planned.request.is_send() {
            return;
        }
        let shared = &mut self.change(side).seen.shared;
        let posted = usize::from(shared.rung);
        shared.take(lane, request);
        let taken = shared.taken.len();
        if taken > posted {
            self.break_(Invariant::SharedReceive, || {
                format!("{taken} receives are taken, and {posted} are posted")
            });
        }
        if self.node(side).seen.qps[lane].let_go {
            self.break_(Invariant::LetGo, || {
                format!("lane {lane} takes a receive after it has let the queue go")
            });
        }
    }

    /// Bytes of a send go to the receive that it took.
    pub(super) fn check_slot(&mut self, side: Side, lane: usize, request: usize, start: usize) {
        let slot = self.node(side).seen.shared.slot(lane, request);
        if slot != Some(start / SLOT) {
            self.break_(Invariant::SharedReceive, || {
                format!(
                    "bytes of request {request} of lane {lane} go to receive {}, and it took {slot:?}",
                    start / SLOT
                )
            });
        }
    }

    /// A receive completes on the queue pair that took it, after those that it took before: for which request
    /// of the peer.
    pub(super) fn check_taken(&mut self, side: Side, lane: usize, index: usize) -> Option<usize> {
        let seen = &mut self.change(side).seen;
        let shared = &mut seen.shared;
        let told = shared.told;
        shared.told |= 1 << index;
        let is_turn = |(slot, (taker, _)): (usize, &(u8, u8))| {
            usize::from(*taker) != lane || told & 1 << slot != 0
        };
        let before = shared.taken.iter().take(index).enumerate();
        let in_turn = told & 1 << index == 0 && before.into_iter().all(is_turn);
        let taker = shared.taken.get(index).copied();
        let let_go = seen.qps[lane].let_go;
        let request = taker.filter(|(taker, _)| in_turn && usize::from(*taker) == lane);
        if request.is_none() {
            self.break_(Invariant::SharedReceive, || {
                format!("receive {index} completes on lane {lane}, where it is not its turn")
            });
        }
        if let_go {
            self.break_(Invariant::LetGo, || {
                format!("receive {index} completes on lane {lane}, which has let the queue go")
            });
        }
        request.map(|(_, request)| request.into())
    }

    /// The driver sees an event.
    pub(super) fn event(&mut self, side: Side, kind: EventKind, number: u32) {
        self.note(|| Note::Event(side, kind, number));
        let lane = lane_of(number);
        match (kind, lane, self.setting.world.shared) {
            (EventKind::SrqLimit, _, Some(declared)) => self.limit_event(side, &declared),
            (EventKind::QpError, Some(lane), _) => {
                self.change(side).seen.qps[lane].failed = true;
            }
            (EventKind::LastWqe, Some(lane), _) => self.let_go(side, lane),
            _ => {}
        }
    }

    /// Fewer receives are left than the limit: the driver arms it again, if it is to.
    fn limit_event(&mut self, side: Side, declared: &Shared) {
        let shared = &mut self.change(side).seen.shared;
        let was_due = std::mem::take(&mut shared.due);
        shared.limit = 0;
        let again = shared.arms < declared.arms;
        if !was_due {
            return self.break_(Invariant::Limit, || {
                "a limit event comes, and there were not fewer receives since it was armed".into()
            });
        }
        if again {
            self.arm(side, declared.limit);
        }
    }

    /// The driver arms the limit.
    fn arm(&mut self, side: Side, limit: u8) {
        self.change(side).seen.shared.arm(limit);
        let taken = Mutation::limit(self.setting.mutation, limit);
        let action = Action::new(CommitKind::SrqArm, SHARED_QUEUE).with_index(taken);
        self.doorbell(side, regs::DbSrqLimit::OFFSET, &action);
    }

    /// A queue pair says that it takes no further receive.
    fn let_go(&mut self, side: Side, lane: usize) {
        let seen = &mut self.change(side).seen;
        let qp = &mut seen.qps[lane];
        let (failed, again) = (qp.failed, qp.let_go);
        qp.let_go = true;
        let shared = &seen.shared;
        let open =
            shared.taken.iter().enumerate().find(|(slot, (taker, _))| {
                usize::from(*taker) == lane && shared.told & 1 << slot == 0
            });
        let open = open.map(|(slot, _)| slot);
        if !failed || again || open.is_some() {
            self.break_(Invariant::LetGo, || match open {
                Some(slot) => format!("lane {lane} lets the queue go, and receive {slot}, which it took, has not completed"),
                None if again => format!("lane {lane} lets the queue go twice"),
                None => format!("lane {lane} lets the queue go, and is not in error"),
            });
        }
    }
}

impl Setting {
    /// What is missing of the shared receive queue of a node where nothing happens any more.
    pub(super) fn missing_shared(&self, node: &Node) -> Option<String> {
        let shared = &node.seen.shared;
        if shared.due {
            return Some(
                "fewer receives are left than the limit, and no event has told of it".into(),
            );
        }
        // Else a receive may have been taken for a send whose sender has given up.
        let lanes = self.plan.node(Side::A).lanes.iter().flatten();
        let sends = lanes.filter(|planned| planned.request.is_send()).count();
        let told = shared.told.count_ones() as usize;
        let missing = self.world.ends == Ends::Success && told != sends;
        missing.then(|| format!("{told} of {sends} receives of the shared queue have completed"))
    }
}
