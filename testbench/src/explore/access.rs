//! Tokens as the onlooker follows them: which one bytes go through, and whether it gives access then.

use tandem_model::abi::{CommitKind, RespondKind, RxResult};
use tandem_model::engine::Action;
use tandem_model::wire::{Ext, Frame, Operation as Wire, Psn};

use super::build;
use super::invariant::Invariant;
use super::map::key_of;
use super::mutation::Mutation;
use super::plan::Planned;
use super::turn::{Turn, lane_of};
use super::world::{Key, Operation, Side};

/// Bytes that go through a token.
pub(super) struct Access {
    pub key: Key,
    lane: usize,
    /// By a request of the peer: whether it writes, its first byte in the region, and how many there are.
    remote: Option<(bool, usize, usize)>,
}

impl Turn<'_> {
    /// The token through which an action reads or writes payload, as its request names it; none for what a node
    /// itself sends from and receives to.
    pub(super) fn access(&self, side: Side, action: &Action) -> Option<Access> {
        let lane = lane_of(action.qpn)?;
        let plan = &self.setting.plan;
        let request = |of: Side| {
            let (index, _) = plan.find(of, lane, Psn::new(action.psn))?;
            Some(&plan.node(of).lanes[lane][index])
        };
        let local = |key| Access {
            key,
            lane,
            remote: None,
        };
        match action.kind {
            CommitKind::SqEmit => request(side)?.request.from.map(local),
            CommitKind::RxResponse => request(side)?.request.sink.map(Key::Region).map(local),
            CommitKind::RxRequest => self.remote_access(side, lane, request(side.peer())?),
            CommitKind::Respond if action.cause == RespondKind::Read as u8 => {
                self.remote_access(side, lane, request(side.peer())?)
            }
            _ => None,
        }
    }

    fn remote_access(&self, side: Side, lane: usize, planned: &Planned) -> Option<Access> {
        let key = planned.request.remote_key()?;
        let is_read = planned.request.is_read();
        // A read begins at the first byte.
        let start = match is_read {
            true => 0,
            false => planned.place.start - self.setting.region_start(side, key),
        };
        Some(Access {
            key,
            lane,
            remote: Some((!is_read, start, planned.place.bytes.len())),
        })
    }

    /// Bytes are read or written through a token: it is valid, and gives this access.
    pub(super) fn check_access(&mut self, side: Side, access: &Access) {
        let key = access.key;
        let seen = &self.node(side).seen;
        let (dead, made) = (seen.dead & key.bit() != 0, seen.is_made(key));
        let name = side.name();
        if dead {
            self.break_(Invariant::DeadToken, || {
                format!("bytes of {name} go through the token of {key}, which is invalid")
            });
        }
        let Key::Window(number) = key else {
            if !made {
                self.break_(Invariant::Registration, || {
                    format!(
                        "bytes of {name} go through the token of {key}, which is not registered"
                    )
                });
            }
            return;
        };
        let setting = self.setting;
        let window = &setting.world.windows[usize::from(number)];
        let (first, end) = window.bytes;
        let allowed = access.remote.is_some_and(|(writes, start, length)| {
            let right = if writes { window.write } else { window.read };
            right && first as usize <= start && start + length <= end as usize
        });
        let is_owner = setting.plan.node(side).binder(number) == Some(access.lane);
        if !made || !allowed || !is_owner {
            self.break_(Invariant::Window, || {
                let why = match (made, allowed) {
                    (false, _) => "is not bound",
                    (_, false) => "does not allow that",
                    _ => "is of another queue pair",
                };
                format!("bytes of {name} go through {key}, which {why}")
            });
        }
    }

    /// Takes down which token a local request has made or ended.
    pub(super) fn follow_local(&mut self, side: Side, action: &Action) {
        if action.kind != CommitKind::SqLocal {
            return;
        }
        let Some(lane) = lane_of(action.qpn) else {
            return;
        };
        let requests = &self.setting.plan.node(side).lanes[lane];
        let request = requests.get(usize::from(action.index));
        match request.map(|planned| planned.request.operation) {
            Some(Operation::Bind(window)) => {
                self.change(side).seen.made |= Key::Window(window).bit();
            }
            Some(Operation::FastRegister(key)) => self.change(side).seen.made |= key.bit(),
            Some(Operation::Invalidate(key)) => self.invalidated(side, key),
            _ => {}
        }
    }

    /// Takes down which token a frame has invalidated.
    pub(super) fn follow_invalidation(&mut self, side: Side, frame: &[u8], action: &Action) {
        if action.cause != RxResult::Accept as u8 {
            return;
        }
        let Ok(frame) = Frame::parse(frame) else {
            return;
        };
        let key = match (action.kind, frame.ext) {
            (CommitKind::RxRequest, Ext::Ieth(token)) => key_of(token),
            (CommitKind::RxResponse, _) if frame.bth.opcode.operation() == Wire::ReadResponse => {
                self.sink_done(side, &frame)
            }
            _ => None,
        };
        if let Some(key) = key {
            self.invalidated(side, key);
        }
    }

    /// The region that a read has filled with this response, its last.
    fn sink_done(&self, side: Side, frame: &Frame<'_>) -> Option<Key> {
        let lane = lane_of(frame.bth.dest_qp.get())?;
        let plan = &self.setting.plan;
        let (index, packet) = plan.find(side, lane, frame.bth.psn)?;
        let request = &plan.node(side).lanes[lane][index].request;
        let sink = request.sink.filter(|_| packet + 1 == request.packets());
        sink.map(Key::Region)
    }

    fn invalidated(&mut self, side: Side, key: Key) {
        let setting = self.setting;
        let node = self.change(side);
        node.seen.dead |= key.bit();
        if setting.mutation == Some(Mutation::InvalidationForgotten) {
            build::make_valid(&mut node.engine, setting, side, key);
        }
    }
}
