//! The golden engine: a transition system.
//!
//! The engine makes no choice. [`Engine::enabled`] lists the actions that are legal now,
//! [`Engine::apply`] executes the one it is given or says why it is illegal. There is no clock, thread,
//! I/O, log or randomness in it, and nothing panics on any input. Timers are actions too: while one
//! runs its end is legal, and [`Engine::timer_change`] tells who has a clock when it began; so are events of
//! completion queues that are put off ([`Engine::due_change`]).
//!
//! What an action means is decided in the rooms (`host`, `context`, `send`, `receive`, `complete`); here
//! they are joined. Every action has an *expectation*, a pure function of the state and the inputs, and
//! a *commit*, which cannot fail: `enabled` shows expectations, `apply` compares one with the action
//! before it commits it, `step` commits the next one in turn.

mod action;
mod apply;
pub(crate) mod bits;
mod config;
mod effects;
mod enabled;
mod expect;
mod finish;
mod illegal;
mod io;
mod local;
mod moderation;
mod observe;
mod ready;
mod respond;
mod search;
mod shared;
mod step;
mod timer;
mod traffic;

pub use action::{Action, UnknownKind};
pub use config::Config;
pub use enabled::OUTSTANDING;
pub use illegal::{Illegal, Room};
pub use io::{BusAnswer, Effect, InputError, Inputs, ReadChannel, WriteChannel};
pub use moderation::{DueChange, DueEvent};
pub use observe::{Entries, Observed, Observer, Watch};
pub use timer::{Timer, TimerChange};

use std::collections::VecDeque;
use std::ops::Range;

use crate::abi::{QpState, TokenKind};
use crate::complete::Complete;
use crate::context::Context;
use crate::host::Host;
use crate::receive::{Receiver, SharedQueues};
use crate::send::SendQueue;
use crate::wire::Token;
use ready::Ready;
use search::Scratch;

/// Spent buffers that are kept for reuse.
const POOL: usize = 256;

/// The golden engine. A clone goes its own way: what a search through all choices needs.
#[derive(Clone)]
pub struct Engine {
    config: Config,
    host: Host,
    context: Context,
    senders: Vec<SendQueue>,
    receivers: Vec<Receiver>,
    shared: SharedQueues,
    complete: Complete,
    /// Frames without a verdict, oldest first.
    frames: VecDeque<Vec<u8>>,
    /// Responses queued, of all queue pairs.
    responses: usize,
    payload_writes: u64,
    gather_reads: u64,
    barrier: u64,
    gather_barrier: u64,
    retimed: Option<TimerChange>,
    redue: Option<DueChange>,
    ready: Ready,
    turn: usize,
    scratch: Scratch,
}

impl Engine {
    /// An engine after reset.
    pub fn new(config: Config) -> Self {
        let config = config.bounded();
        let (qps, cqs) = (1usize << config.log2_qps, 1usize << config.log2_cqs);
        Self {
            config,
            host: Host::new(config),
            context: Context::new(&config),
            senders: (0..qps).map(|_| SendQueue::default()).collect(),
            receivers: (0..qps).map(|_| Receiver::default()).collect(),
            shared: SharedQueues::new(1 << config.log2_srqs),
            complete: Complete::new(qps, cqs),
            frames: VecDeque::new(),
            responses: 0,
            payload_writes: 0,
            gather_reads: 0,
            barrier: 0,
            gather_barrier: 0,
            retimed: None,
            redue: None,
            ready: Ready::new(qps),
            turn: 0,
            scratch: Scratch::default(),
        }
    }

    /// Its sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A register write of the driver. Doorbells, arms and context commands wait for their action;
    /// all other registers act at once.
    pub fn write_register(&mut self, offset: u32, value: u32) {
        self.host.write(offset, value);
    }

    /// The value of a register.
    pub fn read_register(&self, offset: u32) -> u32 {
        self.host.read(offset, &self.context)
    }

    /// A frame arrives; its action is `RxDrop`, `RxRequest`, `RxResponse` or `RxFrame`.
    pub fn receive_frame(&mut self, frame: Vec<u8>) {
        self.frames.push_back(frame);
    }

    /// The oldest frame without a verdict.
    pub fn next_frame(&self) -> Option<&[u8]> {
        self.frames.front().map(Vec::as_slice)
    }

    /// The interrupt line: the event queue holds entries that the driver has not consumed.
    pub fn interrupt(&self) -> bool {
        self.host.events.pending()
    }

    /// Number of payload writes among all effects so far.
    pub fn payload_writes(&self) -> u64 {
        self.payload_writes
    }

    /// Placement: how many of all payload writes (the oldest so many) must have been answered before
    /// the frame or the completion entry of the last applied action may be seen; 0 if it need not wait.
    /// For a `Retire` of a read, before the action itself.
    pub fn barrier(&self) -> u64 {
        self.barrier
    }

    /// Number of gather reads of all actions so far: one for each page that a piece touches.
    pub fn gather_reads(&self) -> u64 {
        self.gather_reads
    }

    /// Placement: how many of all gather reads (the oldest so many) must have been answered before the
    /// completion entry of the last applied action may be seen; 0 if it need not wait. Only a `Complete` that
    /// tells of an Invalidate waits for them.
    pub fn gather_barrier(&self) -> u64 {
        self.gather_barrier
    }

    /// Whether nothing waits for the engine: no doorbell, command, frame, response, completion or
    /// event. Requests may wait for responses of the peer or for a timer; a congestion notification or a
    /// completion event that is put off may be due.
    pub fn is_idle(&self) -> bool {
        self.host.is_idle()
            && self.shared.due().next().is_none()
            && self.frames.is_empty()
            && self.ready.written().all(|qpn| {
                self.complete.is_idle(qpn) && self.receivers.get(qpn).is_none_or(|r| !r.owes())
            })
    }

    /// Gives a buffer of an effect back for reuse.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if self.scratch.pool.len() < POOL {
            self.scratch.pool.push(buffer);
        }
    }

    /// An action is executed: what is told of the last one is that of this one, whose frame or entry
    /// waits for so many payload writes.
    fn begin(&mut self, barrier: u64) {
        self.barrier = barrier;
        self.gather_barrier = 0;
        self.retimed = None;
        self.redue = None;
    }

    /// An empty buffer.
    fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.scratch.pool.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// The state of a queue pair, if the table has it.
    pub fn qp_state(&self, qpn: u32) -> Option<QpState> {
        self.context.qp(qpn).map(|qp| qp.state)
    }

    /// Path MTU of a queue pair in bytes, if the table has it.
    pub fn path_mtu(&self, qpn: u32) -> Option<u32> {
        self.context.qp(qpn).map(|qp| qp.mtu)
    }

    /// Whether a queue pair takes its receives from a shared queue.
    pub fn shares_receives(&self, qpn: u32) -> bool {
        self.context.qp(qpn).is_some_and(|qp| qp.srq)
    }

    /// Kind of the entry at the index of a token, valid or not.
    pub fn token_kind(&self, token: Token) -> Option<TokenKind> {
        self.context.entry(token).ok().map(|entry| entry.kind)
    }

    /// Where a ring of a queue pair lies: that of the sends for send-queue fetches, that of the receives for
    /// receive-queue fetches. `None` for other channels, and for a queue pair that the table does not have.
    pub fn ring(&self, qpn: u32, channel: ReadChannel) -> Option<Range<u64>> {
        let qp = self.context.qp(qpn)?;
        let (base, log, entry) = match channel {
            ReadChannel::SqFetch => (qp.sq_base, qp.sq_log, u64::from(qp.sq_entry)),
            ReadChannel::RqFetch => (qp.rq_base, qp.rq_log, 64),
            ReadChannel::Gather => return None,
        };
        Some(base..base.saturating_add(entry << log))
    }

    /// The state of a queue pair in words.
    pub fn describe_qp(&self, qpn: u32) -> String {
        let index = qpn as usize;
        let (Some(qp), Some(send), Some(receive)) = (
            self.context.qp(qpn),
            self.senders.get(index),
            self.receivers.get(index),
        ) else {
            return format!("queue pair {qpn}: outside the table");
        };
        if qp.state == QpState::Reset {
            return format!("queue pair {qpn}: Reset");
        }
        let (sent, received) = self.complete.waiting(index);
        format!(
            "queue pair {qpn}: {:?}, mtu {}\n  {}\n  {}\n  complete: {sent} of the send queue, {received} of the receive queue wait",
            qp.state,
            qp.mtu,
            send.describe(),
            receive.describe(qp),
        )
    }
}
