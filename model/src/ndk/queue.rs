//! Send and receive queue of a queue pair: rings, indices, and what was posted.
//!
//! The engine tells of a silent request only through the completion of a later one. So that slots of silent
//! requests come free (reading O3) even if the consumer posts nothing else, the provider asks for a completion
//! itself: when half of the queue has been posted silently in a row, the next silent request goes out as
//! a signalled one, and its completion is swallowed if it is a success. At most one such *own signal* of
//! a queue is in its completion queue at a time, so the room reserved there suffices; and the last free
//! slot is never given to a silent request without a signalled one outstanding, so a queue cannot get stuck.

use crate::abi::{Status, WqeOpcode};

use super::Srq;
use super::local::LocalRequest;
use super::wqe::ENTRY;

/// Who wants the completion of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The consumer.
    Consumer,
    /// Nobody, unless it fails.
    Silent,
    /// The consumer if it fails, else the provider.
    Own,
    /// The provider: the last request of a queue pair that is being closed.
    Marker,
}

/// What is remembered of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub(super) request_context: u64,
    pub(super) opcode: WqeOpcode,
    pub(super) signal: Signal,
    /// What it holds until it is done, if it concerns this adapter only.
    pub(super) local: Option<LocalRequest>,
}

/// The oldest request that needs an entry is another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutOfOrder {
    pub(super) expected: u16,
}

/// A ring of memory with free-running indices.
pub(super) struct Ring {
    pub(super) base: u64,
    pub(super) log: u32,
    entry: usize,
    /// Next request.
    pub(super) producer: u16,
    /// Oldest request that may be outstanding.
    pub(super) oldest: u16,
}

impl Ring {
    pub(super) fn new(base: u64, log: u32, entry: usize) -> Self {
        Self {
            base,
            log,
            entry,
            producer: 0,
            oldest: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.entry << self.log
    }

    pub(super) fn outstanding(&self) -> u32 {
        self.producer.wrapping_sub(self.oldest).into()
    }

    fn place(&self, index: u16) -> usize {
        usize::from(index) & ((1 << self.log) - 1)
    }

    /// Logical address of the entry of the next request.
    pub(super) fn next_address(&self) -> u64 {
        self.base + (self.place(self.producer) * self.entry) as u64
    }
}

/// The send queue.
pub(super) struct SendQueue {
    pub(super) ring: Ring,
    depth: u32,
    /// What the last doorbell said.
    pub(super) indicated: u16,
    posted: Vec<Posted>,
    /// Silent requests since the last one with a signal.
    silent_run: u32,
    /// Requests outstanding with a signal.
    signals: u32,
    /// Own signals whose entry has not left the completion queue.
    pub(super) own_signals: u32,
    /// Local requests that are done, in order, and how; the provider takes them.
    pub(super) finished: Vec<(LocalRequest, Status)>,
}

const NOTHING: Posted = Posted {
    request_context: 0,
    opcode: WqeOpcode::None,
    signal: Signal::Silent,
    local: None,
};

impl SendQueue {
    pub(super) fn new(base: u64, log: u32, stride: u32, depth: u32) -> Self {
        Self {
            ring: Ring::new(base, log, ENTRY << stride),
            depth,
            indicated: 0,
            posted: vec![NOTHING; 1 << log],
            silent_run: 0,
            signals: 0,
            own_signals: 0,
            finished: Vec::new(),
        }
    }

    /// The signal that the next request gets; `None` if it finds no slot.
    pub(super) fn plan(&self, silent: bool) -> Option<Signal> {
        let outstanding = self.ring.outstanding();
        if outstanding >= self.depth {
            return None;
        }
        if !silent {
            return Some(Signal::Consumer);
        }
        if self.own_signal_due() && self.own_signals == 0 {
            return Some(Signal::Own);
        }
        let would_be_stuck = outstanding + 1 == self.depth && self.signals == 0;
        (!would_be_stuck).then_some(Signal::Silent)
    }

    /// Whether the next request, if silent, should be an own signal.
    pub(super) fn own_signal_due(&self) -> bool {
        self.silent_run + 1 >= self.depth.div_ceil(2)
    }

    /// Takes note of the request just written; the caller has asked [`SendQueue::plan`].
    pub(super) fn push(&mut self, posted: Posted) {
        let place = self.ring.place(self.ring.producer);
        if let Some(slot) = self.posted.get_mut(place) {
            *slot = posted;
        }
        self.ring.producer = self.ring.producer.wrapping_add(1);
        match posted.signal {
            Signal::Silent => self.silent_run += 1,
            Signal::Consumer => self.count_signal(),
            Signal::Own | Signal::Marker => {
                self.own_signals += 1;
                self.count_signal();
            }
        }
    }

    fn count_signal(&mut self) {
        self.silent_run = 0;
        self.signals += 1;
    }

    /// Whether the newest outstanding request makes no entry if it succeeds.
    pub(super) fn ends_silent(&self) -> bool {
        self.ring.outstanding() > 0 && self.silent_run > 0
    }

    /// The request of a completion; all older ones, silent of necessity, are done as well, with success.
    pub(super) fn complete(&mut self, index: u16, status: Status) -> Result<Posted, OutOfOrder> {
        let oldest = self.ring.oldest;
        let ahead = index.wrapping_sub(oldest);
        let expected = self.next_with_signal();
        if u32::from(ahead) >= self.ring.outstanding() || expected.wrapping_sub(oldest) < ahead {
            return Err(OutOfOrder { expected });
        }
        for silent in 0..ahead {
            let local = self.at(oldest.wrapping_add(silent)).local;
            self.finished
                .extend(local.map(|local| (local, Status::Success)));
        }
        let posted = self.at(index);
        self.finished
            .extend(posted.local.map(|local| (local, status)));
        if posted.signal != Signal::Silent {
            self.signals = self.signals.saturating_sub(1);
        }
        self.ring.oldest = index.wrapping_add(1);
        Ok(posted)
    }

    /// The local requests that are outstanding, oldest first.
    pub(super) fn outstanding_local(&self) -> Vec<LocalRequest> {
        let outstanding = (0..self.ring.producer.wrapping_sub(self.ring.oldest))
            .map(|ahead| self.at(self.ring.oldest.wrapping_add(ahead)));
        outstanding.filter_map(|posted| posted.local).collect()
    }

    /// The oldest outstanding request with a signal, else the producer index.
    fn next_with_signal(&self) -> u16 {
        let mut index = self.ring.oldest;
        while index != self.ring.producer && self.at(index).signal == Signal::Silent {
            index = index.wrapping_add(1);
        }
        index
    }

    fn at(&self, index: u16) -> Posted {
        self.posted
            .get(self.ring.place(index))
            .copied()
            .unwrap_or(NOTHING)
    }
}

/// Where a queue pair takes its receives from.
pub(super) enum Receives {
    /// A queue of its own.
    Own(ReceiveQueue),
    /// A shared queue, until the engine has said that it takes nothing from it any more (NDK-QPC-4).
    Shared {
        /// The queue.
        srq: Srq,
        /// It was said.
        let_go: bool,
    },
}

impl Receives {
    /// The queue of its own.
    pub(super) fn own(&self) -> Option<&ReceiveQueue> {
        match self {
            Self::Own(queue) => Some(queue),
            Self::Shared { .. } => None,
        }
    }

    /// The queue of its own.
    pub(super) fn own_mut(&mut self) -> Option<&mut ReceiveQueue> {
        match self {
            Self::Own(queue) => Some(queue),
            Self::Shared { .. } => None,
        }
    }

    /// The shared queue.
    pub(super) fn shared(&self) -> Option<Srq> {
        match self {
            Self::Own(_) => None,
            Self::Shared { srq, .. } => Some(*srq),
        }
    }

    /// Whether no receive can complete any more.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Own(queue) => queue.ring.outstanding() == 0,
            Self::Shared { let_go, .. } => *let_go,
        }
    }
}

/// The receive queue.
pub(super) struct ReceiveQueue {
    pub(super) ring: Ring,
    depth: u32,
    contexts: Vec<u64>,
}

impl ReceiveQueue {
    pub(super) fn new(base: u64, log: u32, depth: u32) -> Self {
        Self {
            ring: Ring::new(base, log, ENTRY),
            depth,
            contexts: vec![0; 1 << log],
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.ring.outstanding() < self.depth
    }

    pub(super) fn push(&mut self, request_context: u64) {
        let place = self.ring.place(self.ring.producer);
        if let Some(slot) = self.contexts.get_mut(place) {
            *slot = request_context;
        }
        self.ring.producer = self.ring.producer.wrapping_add(1);
    }

    /// The context of a completed receive: always the oldest.
    pub(super) fn complete(&mut self, index: u16) -> Result<u64, OutOfOrder> {
        let oldest = self.ring.oldest;
        if index != oldest || oldest == self.ring.producer {
            return Err(OutOfOrder { expected: oldest });
        }
        self.ring.oldest = oldest.wrapping_add(1);
        let context = self.contexts.get(self.ring.place(index));
        Ok(context.copied().unwrap_or(0))
    }
}
