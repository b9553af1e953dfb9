//! The ledger of a running vector: every request that was posted, what its result may be, and what it was.
//!
//! It knows what NDKPI promises of any request: results come once each, in the order of their queue; a silent one has
//! a result only if it fails; nothing succeeds behind a failure, but a Bind or a FastRegister that was done before; the receive number n of a queue pair gets the
//! peer's send number n. What breaks one of these is noted, and told by the step `expect_accounted`.

mod entry;
mod pairs;
mod shared;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use tandem_model::ndk::{NdkResultEx, NtStatus, Qp};

use crate::vector::At;
use crate::vector::step::Step;
pub(in crate::world) use entry::{Entry, Outcome, Stretch, What, shadows};

/// What was posted and what came of it, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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

/// A queue pair from its creation to its close.
#[derive(Clone, Debug)]
pub(in crate::world) struct Life {
    pub(in crate::world) name: String,
    pub(in crate::world) node: usize,
    pub(in crate::world) handle: Qp,
    pub(in crate::world) peer: Option<usize>,
    /// The shared queue that its receives come from.
    pub(in crate::world) srq: Option<String>,
    /// Its timer never runs: what is lost stays lost.
    pub(in crate::world) endless: bool,
    /// Flushed or closed by its consumer.
    pub(in crate::world) cut: bool,
    /// Its peer has broken the connection off: it may be stopped without having failed.
    pub(in crate::world) broken_off: bool,
    pub(in crate::world) closed: bool,
    /// Error that was told of.
    pub(in crate::world) told: Option<NtStatus>,
    /// Requests of both queues: initiator, receive. Receives of a shared queue are there when they have completed.
    pub(in crate::world) queues: [Vec<usize>; 2],
}

/// Kinds of queues that can be armed.
pub(in crate::world) const CQ: &str = "completion queue";
pub(in crate::world) const SRQ: &str = "shared receive queue";

/// Arms of a queue, and what came of them.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::world) struct Arms {
    pub(in crate::world) made: u64,
    pub(in crate::world) fired: u64,
}

/// The ledger.
#[derive(Debug, Default)]
pub(in crate::world) struct Ledger {
    kept: bool,
    pub(in crate::world) entries: Vec<Entry>,
    pub(in crate::world) lives: Vec<Life>,
    /// Requests without result, by queue pair and queue, oldest first; lives follow each other.
    open: BTreeMap<(String, usize), VecDeque<usize>>,
    /// Queue pairs by node and context.
    names: BTreeMap<(usize, u64), String>,
    /// Receives of shared queues that nobody is known to have taken, oldest first.
    waiting: BTreeMap<String, Vec<usize>>,
    /// Of completion queues, and of shared receive queues, by kind and name.
    pub(in crate::world) arms: BTreeMap<(&'static str, String), Arms>,
    pub(in crate::world) tally: Tally,
    wrong: Option<String>,
}

impl Ledger {
    /// A ledger, kept only if a step looks into it.
    pub(in crate::world) fn new(steps: &[At<Step>]) -> Self {
        let looks = |step: &At<Step>| matches!(step.value(), Step::ExpectAccounted(_));
        Self {
            kept: steps.iter().any(looks),
            ..Self::default()
        }
    }

    pub(in crate::world) fn is_kept(&self) -> bool {
        self.kept
    }

    /// What was found wrong first.
    pub(in crate::world) fn wrong(&mut self) -> Option<String> {
        self.wrong.take()
    }

    pub(in crate::world) fn blame(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    /// A queue pair has been created.
    pub(in crate::world) fn born(
        &mut self,
        name: &str,
        node: usize,
        handle: Qp,
        context: u64,
        srq: Option<String>,
    ) {
        self.names.insert((node, context), name.into());
        self.lives.push(Life {
            name: name.into(),
            node,
            handle,
            peer: None,
            srq,
            endless: false,
            cut: false,
            broken_off: false,
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
    pub(in crate::world) fn joined(&mut self, a: &str, b: &str, endless: [bool; 2]) {
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
    pub(in crate::world) fn cut(&mut self, name: &str) {
        self.indicated(name);
        if let Some(life) = self.life(name).and_then(|life| self.lives.get_mut(life)) {
            life.cut = true;
        }
    }

    /// The peer of a queue pair breaks the connection off.
    pub(in crate::world) fn broken_off(&mut self, name: &str) {
        if let Some(life) = self.life(name).and_then(|life| self.lives.get_mut(life)) {
            life.broken_off = true;
        }
    }

    /// A queue pair is gone.
    pub(in crate::world) fn closed(&mut self, name: &str) {
        if let Some(life) = self.life(name).and_then(|life| self.lives.get_mut(life)) {
            life.closed = true;
        }
    }

    /// A completion queue, or a shared receive queue, has been armed.
    pub(in crate::world) fn armed(&mut self, kind: &'static str, name: &str) {
        let queue = (kind, name.to_owned());
        self.arms.entry(queue).or_default().made += 1;
    }

    /// The hardware has been told of all that was posted.
    pub(in crate::world) fn indicated(&mut self, name: &str) {
        for index in self.open.get(&(name.to_owned(), 0)).into_iter().flatten() {
            if let Some(entry) = self.entries.get_mut(*index) {
                entry.held = false;
            }
        }
    }

    /// A request has been posted.
    pub(in crate::world) fn posted(&mut self, name: &str, entry: Entry) {
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
    pub(in crate::world) fn result(&mut self, node: usize, result: &NdkResultEx) {
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
        if let Some(life) = self.sharing(name).filter(|_| queue == 1) {
            let index = self.taken(life, &words, result)?;
            return self.ended(index, &words, result);
        }
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
            return self.ended(index, &words, result);
        }
    }

    /// A request has its result, which must be one that it may have.
    fn ended(&mut self, index: usize, words: &str, result: &NdkResultEx) -> Result<(), String> {
        let Some(entry) = self.entries.get_mut(index) else {
            return Ok(());
        };
        let life = self.lives.get(entry.life);
        let name = life.map_or("?", |life| life.name.as_str());
        let of = format!("{words} of queue pair `{name}`");
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
        Ok(())
    }

    /// The entry with an index; indices of lives are always good.
    pub(in crate::world) fn entry(&self, index: usize) -> Option<&Entry> {
        self.entries.get(index)
    }

    /// What it is, for people.
    pub(in crate::world) fn words(&self, entry: &Entry) -> String {
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
    pub(in crate::world) fn settled(&mut self, life: usize, error: bool) {
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
                    && (entry.succeeded() && !entry.what.is_early() || entry.failure().is_some())
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
            (None, true) if !own.broken_off => Err(format!(
                "queue pair `{}` is in error ({failures} requests failed), and told nobody",
                own.name
            )),
            _ => Ok(()),
        }
    }
}
