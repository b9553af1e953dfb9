//! Room `complete`: completions on their way to their queues, arming, completion events at once or put off.

mod moderation;

use std::collections::VecDeque;

use crate::abi::{Arm, CQE, EventKind, Status};
use crate::context::CqContext;
use crate::engine::bits::field;
use crate::host::Doorbell;
use crate::send::Barriers;

/// Opcode of every completion of a receive.
pub(crate) const RECEIVE_OPCODE: u8 = 0x80;

/// Bytes of a completion entry.
pub(crate) const ENTRY_BYTES: usize = CQE.bytes();

/// Queue of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    Send = 0,
    Receive = 1,
}

/// A finished request, on its way to its completion queue.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Completion {
    /// Completion queue, as the context named it when the request finished.
    pub cq: u16,
    pub wqe_index: u16,
    pub opcode: u8,
    pub status: Status,
    pub solicited: bool,
    /// Token that the peer invalidated.
    pub invalidated: Option<u32>,
    pub byte_len: u32,
    pub error_code: u8,
    /// Payload writes that must have been answered before the entry is seen.
    pub barrier: u64,
    /// Gather reads that must have been answered before.
    pub gathers: u64,
}

impl Completion {
    /// A completion without receive data.
    pub fn new(cq: u16, wqe_index: u16, opcode: u8, status: Status) -> Self {
        Self {
            cq,
            wqe_index,
            opcode,
            status,
            solicited: false,
            invalidated: None,
            byte_len: 0,
            error_code: 0,
            barrier: 0,
            gathers: 0,
        }
    }

    fn entry(&self, qpn: u32, queue: Queue, phase: bool) -> [u8; ENTRY_BYTES] {
        let mut e = [0; ENTRY_BYTES];
        field!(CQE, wqe_index).put(&mut e, self.wqe_index.into());
        field!(CQE, opcode).put(&mut e, self.opcode.into());
        field!(CQE, status).put(&mut e, self.status as u64);
        field!(CQE, qpn).put(&mut e, qpn.into());
        field!(CQE, receive).put(&mut e, queue as u64);
        field!(CQE, solicited).put(&mut e, self.solicited.into());
        field!(CQE, invalidated).put(&mut e, self.invalidated.is_some().into());
        field!(CQE, byte_len).put(&mut e, self.byte_len.into());
        field!(CQE, token).put(&mut e, self.invalidated.unwrap_or(0).into());
        field!(CQE, error_code).put(&mut e, self.error_code.into());
        field!(CQE, phase).put(&mut e, phase.into());
        e
    }
}

/// Run-time state of a completion queue.
#[derive(Clone, Copy, Debug, Hash)]
struct CqState {
    producer: u16,
    consumer: u16,
    arm: Arm,
    /// Index after the last solicited or error entry.
    after_solicited: u16,
    /// It lost an entry.
    dead: bool,
    /// It fired, and its event is put off.
    due: bool,
    /// `due` as the world knows it.
    told: bool,
}

impl CqState {
    const NEW: Self = Self {
        producer: 0,
        consumer: 0,
        arm: Arm::None,
        after_solicited: 0,
        dead: false,
        due: false,
        told: false,
    };
}

/// Completions of one queue pair that wait for their `Complete`.
#[derive(Clone, Debug, Default, Hash)]
struct Waiting {
    queues: [VecDeque<Completion>; 2],
}

/// What `Complete` does with the oldest completion of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Completion queue.
    pub cq: u32,
    /// Its producer index.
    pub index: u16,
    /// Whether the entry is lost.
    pub lost: bool,
}

/// What the world sees of `Complete` or `Arm`, entry before event.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub entry: Option<(u64, [u8; ENTRY_BYTES])>,
    pub event: Option<EventKind>,
    pub barrier: u64,
    pub gathers: u64,
}

/// See the module.
#[derive(Clone, Hash)]
pub(crate) struct Complete {
    cqs: Vec<CqState>,
    waiting: Vec<Waiting>,
    /// Queue-pair events that wait for their `QpEvent`.
    events: Vec<VecDeque<Status>>,
}

impl Complete {
    pub fn new(qps: usize, cqs: usize) -> Self {
        Self {
            cqs: vec![CqState::NEW; cqs],
            waiting: (0..qps).map(|_| Waiting::default()).collect(),
            events: (0..qps).map(|_| VecDeque::new()).collect(),
        }
    }

    /// A completion queue was written.
    pub fn clear_cq(&mut self, cq: usize) {
        if let Some(state) = self.cqs.get_mut(cq) {
            *state = CqState {
                told: state.told,
                ..CqState::NEW
            };
        }
    }

    /// A request finished.
    pub fn push(&mut self, qpn: usize, queue: Queue, completion: Completion) {
        if let Some(waiting) = self.waiting.get_mut(qpn) {
            waiting.queues[queue as usize].push_back(completion);
        }
    }

    /// A queue pair went to error, or, with [`Status::Flushed`], has no receive of its shared queue any more.
    pub fn push_event(&mut self, qpn: usize, status: Status) {
        if let Some(events) = self.events.get_mut(qpn) {
            events.push_back(status);
        }
    }

    /// Whether a completion of a queue of a queue pair waits.
    pub fn waits(&self, qpn: usize, queue: Queue) -> bool {
        let waiting = self.waiting.get(qpn);
        waiting.is_some_and(|waiting| !waiting.queues[queue as usize].is_empty())
    }

    /// Status of the oldest event of a queue pair that waits.
    pub fn event(&self, qpn: usize) -> Option<Status> {
        self.events.get(qpn)?.front().copied()
    }

    /// Takes the oldest event of a queue pair.
    pub fn take_event(&mut self, qpn: usize) -> Option<Status> {
        self.events.get_mut(qpn)?.pop_front()
    }

    /// What `Complete` would do for a queue of a queue pair, if a completion waits.
    pub fn next(&self, qpn: usize, queue: Queue, cq: impl Fn(u32) -> CqContext) -> Option<Entry> {
        let completion = self.waiting.get(qpn)?.queues[queue as usize].front()?;
        let number = u32::from(completion.cq);
        let context = cq(number);
        let state = self.cqs.get(usize::from(completion.cq));
        let state = state.copied().unwrap_or(CqState::NEW);
        Some(Entry {
            cq: number,
            index: state.producer,
            lost: !context.valid || state.dead || is_full(&state, &context),
        })
    }

    /// Writes or loses the oldest completion of a queue of a queue pair.
    pub fn complete(&mut self, qpn: usize, queue: Queue, context: &CqContext) -> Written {
        let completion = self
            .waiting
            .get_mut(qpn)
            .and_then(|waiting| waiting.queues[queue as usize].pop_front());
        let Some(completion) = completion else {
            return Written::default();
        };
        let Some(state) = self.cqs.get_mut(usize::from(completion.cq)) else {
            return Written::default();
        };
        if !context.valid || state.dead {
            return Written::default();
        }
        if is_full(state, context) {
            // Overrun: the entry is lost, and the queue with it (NDK_CQ_NOTIFY_ERRORS fires, armed or not).
            state.dead = true;
            state.disarm();
            return Written {
                event: Some(EventKind::CqError),
                ..Written::default()
            };
        }
        let index = state.producer;
        let slot = u64::from(index) & ((1 << context.log_size) - 1);
        let phase = index >> context.log_size & 1 == 0;
        state.producer = index.wrapping_add(1);
        let notable = completion.solicited || completion.status != Status::Success;
        if notable {
            state.after_solicited = state.producer;
        }
        let fires = match state.arm {
            Arm::Any => true,
            Arm::Solicited => notable,
            Arm::Errors | Arm::None => false,
        };
        Written {
            entry: Some((
                context.base.wrapping_add(slot * ENTRY_BYTES as u64),
                completion.entry(qpn as u32, queue, phase),
            )),
            event: state.ends(fires, context.moderation),
            barrier: completion.barrier,
            gathers: completion.gathers,
        }
    }

    /// The driver consumed entries.
    pub fn consumed(&mut self, doorbell: &Doorbell) {
        if let Some(state) = self.cqs.get_mut(doorbell.number as usize) {
            state.consumer = doorbell.index;
        }
    }

    /// The driver arms a queue: takes its consumer index, keeps the stronger of both arms, and fires at
    /// once if an entry that counts is there.
    pub fn arm(&mut self, doorbell: &Doorbell, arm: Arm, context: &CqContext) -> Option<EventKind> {
        self.consumed(doorbell);
        let state = self.cqs.get_mut(doorbell.number as usize)?;
        if !context.valid {
            return None;
        }
        if state.dead {
            return Some(EventKind::CqError);
        }
        state.arm = stronger(state.arm, arm);
        let fires = match state.arm {
            Arm::Any => state.producer != state.consumer,
            Arm::Solicited => state.after_solicited.wrapping_sub(state.consumer) as i16 > 0,
            Arm::Errors | Arm::None => false,
        };
        state.ends(fires, context.moderation)
    }

    /// See [`Engine::forget_writes`](crate::engine::Engine::forget_writes) and
    /// [`Engine::forget_gathers`](crate::engine::Engine::forget_gathers).
    pub fn forget(&mut self, answered: Barriers) {
        let queues = self.waiting.iter_mut().flat_map(|qp| &mut qp.queues);
        for completion in queues.flatten() {
            completion.barrier = completion.barrier.saturating_sub(answered.payload);
            completion.gathers = completion.gathers.saturating_sub(answered.gathers);
        }
    }

    /// Whether no completion or event of the queue pair waits.
    pub fn is_idle(&self, qpn: usize) -> bool {
        self.waiting
            .get(qpn)
            .is_none_or(|waiting| waiting.queues.iter().all(VecDeque::is_empty))
            && self.events.get(qpn).is_none_or(VecDeque::is_empty)
    }

    /// Completions of a queue pair that wait: of its send queue, of its receive queue.
    pub fn waiting(&self, qpn: usize) -> (usize, usize) {
        self.waiting.get(qpn).map_or((0, 0), |waiting| {
            (waiting.queues[0].len(), waiting.queues[1].len())
        })
    }
}

fn is_full(state: &CqState, context: &CqContext) -> bool {
    state.producer.wrapping_sub(state.consumer) == 1 << context.log_size
}

/// Strength of an arm: none < errors < solicited < any (the numbers are not in this order).
fn stronger(a: Arm, b: Arm) -> Arm {
    let strength = |arm| match arm {
        Arm::None => 0,
        Arm::Errors => 1,
        Arm::Solicited => 2,
        Arm::Any => 3,
    };
    if strength(b) > strength(a) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_combine_as_the_table_of_the_interface_says() {
        use Arm::{Any, Errors, Solicited};
        let table = [
            (Any, [Any, Any, Any]),
            (Errors, [Any, Errors, Solicited]),
            (Solicited, [Any, Solicited, Solicited]),
        ];
        for (first, results) in table {
            for (second, result) in [Any, Errors, Solicited].into_iter().zip(results) {
                assert_eq!(stronger(first, second), result, "{first:?} then {second:?}");
            }
        }
    }
}
