//! The ledger of a running vector: every request that was posted, what its result may be, and what it was.
//!
//! It knows what NDKPI promises of any request: results come once each, in the order of their queue; a silent one has
//! a result only if it fails; nothing succeeds behind a failure; the receive number n of a queue pair gets the
//! peer's send number n. What breaks one of these is noted, and told by the step `expect_accounted`.

use std::collections::{BTreeMap, VecDeque};

use tandem_model::ndk::{ArmType, NdkResultEx, NtStatus, OperationType, Qp};

use super::state::State;
use crate::vector::At;
use crate::vector::step::Step;

/// What was posted and what came of it, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests, by kind.
    pub requests: BTreeMap<String, u64>,
    /// Results, by type and status.
    pub results: BTreeMap<String, u64>,
    /// Silent requests without a result.
    pub silent: u64,
    /// Bytes of memory compared.
    pub bytes: u64,
    /// Counters of the engines, added up.
    pub counters: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds another one.
    pub fn add(&mut self, other: &Self) {
        for (mine, others) in [
            (&mut self.requests, &other.requests),
            (&mut self.results, &other.results),
            (&mut self.counters, &other.counters),
        ] {
            for (name, count) in others {
                *mine.entry(name.clone()).or_default() += count;
            }
        }
        self.silent += other.silent;
        self.bytes += other.bytes;
    }
}

/// Some bytes of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) memory: String,
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// With the token that it invalidates, as the consumers hold it.
    Send(Option<u64>),
    Receive,
    Read,
    Write,
}

impl What {
    fn word(self) -> &'static str {
        match self {
            Self::Send(None) => "send",
            Self::Send(Some(_)) => "send and invalidate",
            Self::Receive => "receive",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    fn fits(self, operation: OperationType) -> bool {
        match self {
            Self::Send(_) => operation == OperationType::Send,
            Self::Receive => operation.is_receive(),
            Self::Read => operation == OperationType::Read,
            Self::Write => operation == OperationType::Write,
        }
    }
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It has no result yet.
    Open,
    /// It is silent, and something after it succeeded, or everything did.
    Silent,
    /// Its result.
    Result(NdkResultEx),
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) context: u64,
    pub(super) what: What,
    pub(super) silent: bool,
    held: bool,
    ends: Vec<NtStatus>,
    pub(super) length: u32,
    /// Where its bytes come from, and what the processor had written there when it was posted.
    pub(super) source: Option<(Vec<Stretch>, Vec<u8>)>,
    /// Where they go, and what was there.
    pub(super) sink: Option<(Vec<Stretch>, Vec<u8>)>,
    pub(super) outcome: Outcome,
    life: usize,
}

impl Entry {
    pub(super) fn new(context: u64, what: What) -> Self {
        Self {
            context,
            what,
            silent: false,
            held: false,
            ends: Vec::new(),
            length: 0,
            source: None,
            sink: None,
            outcome: Outcome::Open,
            life: 0,
        }
    }

    pub(super) fn silent(self, silent: bool) -> Self {
        Self { silent, ..self }
    }

    /// Whether the hardware need not be told of it yet.
    pub(super) fn held(self, held: bool) -> Self {
        Self { held, ..self }
    }

    pub(super) fn ends(self, ends: Vec<NtStatus>) -> Self {
        Self { ends, ..self }
    }

    pub(super) fn length(self, length: u32) -> Self {
        Self { length, ..self }
    }

    /// Where its bytes come from and go to.
    pub(super) fn content(
        self,
        state: &State,
        source: Option<Vec<Stretch>>,
        sink: Option<Vec<Stretch>>,
    ) -> Self {
        let known = |stretches: Option<Vec<Stretch>>| {
            let stretches = stretches?;
            let bytes = shadows(state, &stretches)?;
            Some((stretches, bytes))
        };
        Self {
            source: known(source),
            sink: known(sink),
            ..self
        }
    }

    /// Whether it has succeeded.
    pub(super) fn succeeded(&self) -> bool {
        match &self.outcome {
            Outcome::Open => false,
            Outcome::Silent => true,
            Outcome::Result(result) => result.status.is_success(),
        }
    }

    /// The status with which it, and not something before it, failed.
    fn failure(&self) -> Option<NtStatus> {
        match &self.outcome {
            Outcome::Result(result)
                if !result.status.is_success() && result.status != NtStatus::CANCELLED =>
            {
                Some(result.status)
            }
            _ => None,
        }
    }
}

/// What the processor wrote last in some places; `None` if one of them lies outside its memory.
pub(super) fn shadows(state: &State, stretches: &[Stretch]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for stretch in stretches {
        let memory = state.memory(&stretch.memory).ok()?;
        let end = stretch.offset.checked_add(stretch.length.into())?;
        if end > memory.bytes() {
            return None;
        }
        bytes.extend_from_slice(memory.shadow(stretch.offset, stretch.length as usize));
    }
    Some(bytes)
}

/// A queue pair from its creation to its close.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) name: String,
    pub(super) node: usize,
    pub(super) handle: Qp,
    pub(super) peer: Option<usize>,
    /// Its timer never runs: what is lost stays lost.
    pub(super) endless: bool,
    /// Flushed or closed by its consumer.
    pub(super) cut: bool,
    pub(super) closed: bool,
    /// Error that was told of.
    pub(super) told: Option<NtStatus>,
    /// Requests of both queues: initiator, receive.
    pub(super) queues: [Vec<usize>; 2],
}

/// Arms of a completion queue, and what came of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arms {
    pub(super) made: u64,
    pub(super) fired: u64,
}

/// The ledger.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    kept: bool,
    pub(super) entries: Vec<Entry>,
    pub(super) lives: Vec<Life>,
    /// Requests without result, by queue pair and queue, oldest first; lives follow each other.
    open: BTreeMap<(String, usize), VecDeque<usize>>,
    /// Queue pairs by node and context.
    names: BTreeMap<(usize, u64), String>,
    pub(super) arms: BTreeMap<String, Arms>,
    pub(super) tally: Tally,
    wrong: Option<String>,
}

impl Ledger {
    /// A ledger, kept only if a step looks into it.
    pub(super) fn new(steps: &[At<Step>]) -> Self {
        let looks = |step: &At<Step>| matches!(step.value(), Step::ExpectAccounted(_));
        Self {
            kept: steps.iter().any(looks),
            ..Self::default()
        }
    }

    pub(super) fn is_kept(&self) -> bool {
        self.kept
    }

    /// What was found wrong first.
    pub(super) fn wrong(&mut self) -> Option<String> {
        self.wrong.take()
    }

    pub(super) fn blame(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    /// A queue pair has been created.
    pub(super) fn born(&mut self, name: &str, node: usize, handle: Qp, context: u64) {
        self.names.insert((node, context), name.into());
        self.lives.push(Life {
            name: name.into(),
            node,
            handle,
            peer: None,
            endless: false,
            cut: false,
            closed: false,
            told: None,
            queues: [Vec::new(), Vec::new()],
        });
    }

    fn life(&self, name: &str) -> Option<usize> {
        self.lives
            .iter()
            .rposition(|life| life.name == name && !life.closed)
    }

    /// Two queue pairs have been connected.
    pub(super) fn joined(&mut self, a: &str, b: &str, endless: [bool; 2]) {
        let (Some(a), Some(b)) = (self.life(a), self.life(b)) else {
            return;
        };
        for (own, peer, endless) in [(a, b, endless[0]), (b, a, endless[1])] {
            if let Some(life) = self.lives.get_mut(own) {
                life.peer = Some(peer);
                life.endless = endless;
            }
        }
    }

    /// A consumer flushes or closes a queue pair.
    pub(super) fn cut(&mut self, name: &str) {
        self.indicated(name);
        if let Some(life) = self.life(name).and_then(|life| self.lives.get_mut(life)) {
            life.cut = true;
        }
    }

    /// A queue pair is gone.
    pub(super) fn closed(&mut self, name: &str) {
        if let Some(life) = self.life(name).and_then(|life| self.lives.get_mut(life)) {
            life.closed = true;
        }
    }

    /// A completion queue has been armed.
    pub(super) fn armed(&mut self, cq: &str, _: ArmType) {
        self.arms.entry(cq.into()).or_default().made += 1;
    }

    /// The hardware has been told of all that was posted.
    pub(super) fn indicated(&mut self, name: &str) {
        for index in self.open.get(&(name.to_owned(), 0)).into_iter().flatten() {
            if let Some(entry) = self.entries.get_mut(*index) {
                entry.held = false;
            }
        }
    }

    /// A request has been posted.
    pub(super) fn posted(&mut self, name: &str, entry: Entry) {
        let Some(life) = self.life(name) else {
            return;
        };
        let word = entry.what.word().to_owned();
        *self.tally.requests.entry(word).or_default() += 1;
        let (index, queue) = (self.entries.len(), usize::from(entry.what == What::Receive));
        self.entries.push(Entry { life, ..entry });
        if let Some(life) = self.lives.get_mut(life) {
            life.queues[queue].push(index);
        }
        self.open
            .entry((name.into(), queue))
            .or_default()
            .push_back(index);
    }

    /// A result has been fetched.
    pub(super) fn result(&mut self, node: usize, result: &NdkResultEx) {
        if !self.kept {
            return;
        }
        let status = result
            .status
            .name()
            .map_or_else(|| result.status.to_string(), str::to_owned);
        let name = format!("{:?} {status}", result.operation);
        *self.tally.results.entry(name).or_default() += 1;
        if let Err(wrong) = self.match_up(node, result) {
            self.blame(wrong);
        }
    }

    fn match_up(&mut self, node: usize, result: &NdkResultEx) -> Result<(), String> {
        let words = format!(
            "a result {} with context {:#x}",
            result.status, result.request_context
        );
        let Some(name) = self.names.get(&(node, result.qp_context)) else {
            return Err(format!("{words} has the context of no queue pair"));
        };
        let queue = usize::from(result.operation.is_receive());
        let place = (name.clone(), queue);
        let of = format!("{words} of queue pair `{name}`");
        let open = self.open.entry(place).or_default();
        loop {
            let Some(index) = open.pop_front() else {
                return Err(format!(
                    "{of} belongs to no outstanding request: it came twice, or out of order"
                ));
            };
            let Some(entry) = self.entries.get_mut(index) else {
                continue;
            };
            if entry.context != result.request_context {
                if entry.silent && !entry.held {
                    entry.outcome = Outcome::Silent;
                    self.tally.silent += 1;
                    continue;
                }
                return Err(format!(
                    "{of} came before that of the {} with context {:#x}, which is older",
                    entry.what.word(),
                    entry.context
                ));
            }
            if !entry.what.fits(result.operation) {
                return Err(format!(
                    "{of} has the type {:?}, and the request is a {}",
                    result.operation,
                    entry.what.word()
                ));
            }
            if entry.silent && result.status.is_success() {
                return Err(format!("{of} is a success, and the request is silent"));
            }
            if !entry.ends.is_empty() && !entry.ends.contains(&result.status) {
                let may: Vec<String> = entry.ends.iter().map(ToString::to_string).collect();
                return Err(format!(
                    "the {} with context {:#x} of queue pair `{name}` ended with {}, and may end with {}",
                    entry.what.word(),
                    entry.context,
                    result.status,
                    may.join(", ")
                ));
            }
            entry.outcome = Outcome::Result(*result);
            return Ok(());
        }
    }

    /// The entry with an index; indices of lives are always good.
    pub(super) fn entry(&self, index: usize) -> Option<&Entry> {
        self.entries.get(index)
    }

    /// What it is, for people.
    pub(super) fn words(&self, entry: &Entry) -> String {
        let name = self
            .lives
            .get(entry.life)
            .map_or("?", |life| life.name.as_str());
        format!(
            "the {} with context {:#x} of queue pair `{name}`",
            entry.what.word(),
            entry.context
        )
    }

    /// Nothing happens any more, and the queue pair is as it is: what has no result must owe none.
    pub(super) fn settled(&mut self, life: usize, error: bool) {
        let Some(own) = self.lives.get(life).cloned() else {
            return;
        };
        for (queue, indices) in own.queues.iter().enumerate() {
            for index in indices {
                let Some(entry) = self.entries.get_mut(*index) else {
                    continue;
                };
                if entry.outcome != Outcome::Open {
                    continue;
                }
                let ended = own.closed || error;
                let owes_none = match queue {
                    0 => entry.held || own.endless && !ended || entry.silent,
                    _ => !ended,
                };
                if !owes_none {
                    let words = self.entries.get(*index).map(|entry| self.words(entry));
                    let state = match (own.closed, error) {
                        (true, _) => "the queue pair is closed",
                        (false, true) => "the queue pair is in error",
                        (false, false) => "everything is idle",
                    };
                    self.blame(format!(
                        "{} has no result, and {state}",
                        words.unwrap_or_default()
                    ));
                    return;
                }
                if queue == 0 && entry.silent && !entry.held && !own.endless && !ended {
                    entry.outcome = Outcome::Silent;
                    self.tally.silent += 1;
                    if let Some(open) = self.open.get_mut(&(own.name.clone(), 0)) {
                        open.retain(|open| open != index);
                    }
                }
            }
        }
        if let Err(wrong) = self.in_order(&own, error) {
            self.blame(wrong);
        }
    }

    /// What must hold between the requests of a queue pair.
    fn in_order(&self, own: &Life, error: bool) -> Result<(), String> {
        let mut failures = 0;
        for indices in &own.queues {
            let mut failed: Option<&Entry> = None;
            for entry in indices.iter().filter_map(|index| self.entry(*index)) {
                if let Some(before) = failed
                    && (entry.succeeded() || entry.failure().is_some())
                {
                    return Err(format!(
                        "{} was carried out, and {} before it had failed",
                        self.words(entry),
                        self.words(before)
                    ));
                }
                if entry.failure().is_some() {
                    failed = Some(entry);
                    failures += 1;
                }
            }
        }
        if own.cut || own.closed {
            return Ok(());
        }
        match (own.told, error) {
            (Some(status), false) => Err(format!(
                "queue pair `{}` told of an error, {status}, and is not in error",
                own.name
            )),
            (None, true) => Err(format!(
                "queue pair `{}` is in error ({failures} requests failed), and told nobody",
                own.name
            )),
            _ => Ok(()),
        }
    }

    /// Receive number n of a queue pair has the peer's send number n.
    pub(super) fn pairs(&self, life: &Life) -> impl Iterator<Item = (&Entry, &Entry)> {
        let peer = life.peer.and_then(|peer| self.lives.get(peer));
        let sends = peer.into_iter().flat_map(|peer| &peer.queues[0]);
        let sends = sends
            .filter_map(|index| self.entry(*index))
            .filter(|entry| matches!(entry.what, What::Send(_)));
        let receives = life.queues[1].iter().filter_map(|index| self.entry(*index));
        receives.zip(sends)
    }

    /// Compares what senders and receivers were told.
    pub(super) fn both_ends(&self, life: &Life) -> Result<(), String> {
        let pairs = self.pairs(life).count();
        let receives = life.queues[1].iter().filter_map(|index| self.entry(*index));
        if let Some(alone) = receives.skip(pairs).find(|entry| entry.succeeded()) {
            return Err(format!(
                "{} succeeded, and the peer has not sent so often",
                self.words(alone)
            ));
        }
        let peer = life.peer.and_then(|peer| self.lives.get(peer));
        let sends = peer.into_iter().flat_map(|peer| &peer.queues[0]);
        let sends = sends
            .filter_map(|index| self.entry(*index))
            .filter(|entry| matches!(entry.what, What::Send(_)));
        if let Some(alone) = sends.skip(pairs).find(|entry| entry.succeeded()) {
            return Err(format!(
                "{} succeeded, and the peer has no receive for it",
                self.words(alone)
            ));
        }
        for (receive, send) in self.pairs(life) {
            if send.succeeded() && !receive.succeeded() {
                return Err(format!(
                    "{} succeeded, and {}, which is for it, did not",
                    self.words(send),
                    self.words(receive)
                ));
            }
            let Outcome::Result(result) = &receive.outcome else {
                continue;
            };
            if !result.status.is_success() {
                continue;
            }
            let (operation, token) = match send.what {
                What::Send(Some(token)) => (OperationType::ReceiveAndInvalidate, token),
                _ => (OperationType::Receive, 0),
            };
            let got = (
                result.operation,
                result.type_specific_completion_output,
                result.bytes_transferred,
            );
            if got != (operation, token, send.length) {
                return Err(format!(
                    "{}: {:?}, token {:#x}, {} bytes; the peer's send: {operation:?}, token {token:#x}, {} bytes",
                    self.words(receive),
                    got.0,
                    got.1,
                    got.2,
                    send.length
                ));
            }
        }
        Ok(())
    }
}
