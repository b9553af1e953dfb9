//! What a vector shows of the matrix: its posts, each with the status that is expected of it.
//!
//! Nothing runs. Each post waits in its queue until an expected result can only be its own; what stays unclear shows
//! nothing.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tandem_model::ndk::{NtStatus, OpFlags};

use super::{Operation, Outcome, Shown};
use crate::vector::Vector;
use crate::vector::object::Qp;
use crate::vector::step::{Accounting, ExpectedResult, ResultType, Step};
use crate::vector::value::{At, Status};

/// A request that was posted.
struct Request {
    operation: Operation,
    flags: OpFlags,
    context: u64,
    /// The only status that it may end with, if its post says so.
    ends: Option<u32>,
    /// Whether the engine knows of it.
    indicated: bool,
}

impl Request {
    fn is_silent(&self) -> bool {
        self.flags.0 & OpFlags::SILENT_SUCCESS.0 != 0
    }

    /// Whether a result may be its own.
    fn fits(&self, result: &ExpectedResult, context: Option<u64>) -> bool {
        use Operation as O;
        let of_type = |kind: ResultType| match kind {
            ResultType::Receive | ResultType::ReceiveAndInvalidate => {
                matches!(self.operation, O::Receive | O::SrqReceive)
            }
            ResultType::Send => matches!(self.operation, O::Send | O::SendAndInvalidate),
            ResultType::Read => self.operation == O::Read,
            ResultType::Write => self.operation == O::Write,
            ResultType::Bind => self.operation == O::Bind,
            ResultType::FastRegister => self.operation == O::FastRegister,
            ResultType::Invalidate => self.operation == O::Invalidate,
        };
        context.is_none_or(|context| context == self.context)
            && result.r#type.is_none_or(of_type)
            && !(self.is_silent() && result.status.0 == NtStatus::SUCCESS)
    }
}

/// Name of a queue: of a queue pair, or shared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Initiator(String),
    Receive(String),
    Shared(String),
}

/// Requests that wait for their results.
#[derive(Default)]
struct Queue {
    /// Queue pairs that take from it.
    qps: BTreeSet<String>,
    /// Completion queues that its results can be in.
    cqs: BTreeSet<String>,
    requests: VecDeque<Request>,
    /// Whether its queue pair was flushed.
    flushed: bool,
    /// Whether it completes in the order of posting.
    ordered: bool,
}

impl Queue {
    /// The queue of that name.
    fn new(vector: &Vector, name: &Name) -> Self {
        let takes = |known: &str, qp: &Qp| match name {
            Name::Initiator(wanted) | Name::Receive(wanted) => known == wanted,
            Name::Shared(srq) => qp.srq.as_ref().is_some_and(|own| own.value() == srq),
        };
        let mut queue = Self {
            ordered: !matches!(name, Name::Shared(_)),
            ..Self::default()
        };
        for (known, qp) in vector.head.qp.iter().filter(|(known, qp)| takes(known, qp)) {
            let own = match name {
                Name::Initiator(_) => &qp.initiator_cq,
                Name::Receive(_) | Name::Shared(_) => &qp.receive_cq,
            };
            queue.qps.insert(known.clone());
            let cq = own.as_ref().or(qp.cq.as_ref());
            queue.cqs.extend(cq.map(|name| name.value().clone()));
        }
        queue
    }

    /// The first request that fits and can be next: those before it are silent, and have succeeded.
    fn first(&self, any_order: bool, fits: impl Fn(&Request) -> bool) -> Option<usize> {
        let ordered = self.ordered && !any_order;
        let fitting = self.requests.iter().position(fits)?;
        let mut before = self.requests.iter().take(fitting);
        (!ordered || before.all(Request::is_silent)).then_some(fitting)
    }
}

struct Replay<'a> {
    vector: &'a Vector,
    queues: BTreeMap<Name, Queue>,
    /// Completion queues of which some result was unclear.
    unclear: BTreeSet<String>,
    /// Whether frames can be kept back, so that it is still and yet not over.
    impaired: bool,
    shown: BTreeSet<Shown>,
}

/// The cells that a vector shows.
pub(super) fn shown(vector: &Vector) -> BTreeSet<Shown> {
    let network = |step: &Step| matches!(step, Step::Network(_));
    let impaired = !vector.head.network.is_empty() || vector.steps.iter().any(|step| network(step));
    let mut replay = Replay {
        vector,
        queues: BTreeMap::new(),
        unclear: BTreeSet::new(),
        impaired,
        shown: BTreeSet::new(),
    };
    vector.steps.iter().for_each(|step| replay.step(step));
    replay.shown
}

/// What the posting steps share.
struct Post<'a> {
    operation: Operation,
    queue: Name,
    flags: OpFlags,
    context: u64,
    times: u32,
    returns: Status,
    ends: &'a [Status],
}

/// The post that a step is, if it is one.
fn post(step: &Step) -> Option<Post<'_>> {
    macro_rules! post {
        ($operation:ident, $step:ident, $queue:ident($name:ident), $flags:expr, $times:expr) => {
            Some(Post {
                operation: Operation::$operation,
                queue: Name::$queue($step.$name.value().clone()),
                flags: $flags,
                context: $step.context.0,
                times: $times.unwrap_or(1),
                returns: $step.returns,
                ends: &$step.ends,
            })
        };
        ($operation:ident, $step:ident, $name:ident) => {
            post!(
                $operation,
                $step,
                Initiator($name),
                $step.flags.0,
                $step.times
            )
        };
        ($operation:ident, $step:ident, local $name:ident) => {
            post!($operation, $step, Initiator($name), $step.flags.0, None)
        };
        ($operation:ident, $step:ident, receive $queue:ident $name:ident) => {
            post!($operation, $step, $queue($name), OpFlags::NONE, $step.times)
        };
    }
    match step {
        Step::Send(s) => post!(Send, s, send),
        Step::SendAndInvalidate(s) => post!(SendAndInvalidate, s, send_and_invalidate),
        Step::Read(s) => post!(Read, s, read),
        Step::Write(s) => post!(Write, s, write),
        Step::Bind(s) => post!(Bind, s, local bind),
        Step::FastRegister(s) => post!(FastRegister, s, local fast_register),
        Step::Invalidate(s) => post!(Invalidate, s, local invalidate),
        Step::Receive(s) => post!(Receive, s, receive Receive receive),
        Step::SrqReceive(s) => post!(SrqReceive, s, receive Shared srq_receive),
        _ => None,
    }
}

impl Replay<'_> {
    fn step(&mut self, step: &Step) {
        if let Some(post) = post(step) {
            return self.post(&post);
        }
        match step {
            Step::ExpectResults(step) => {
                self.results(&step.expect_results, &step.results, step.any_order);
            }
            Step::Poll(step) if step.results.len() == step.returns => {
                self.results(&step.poll, &step.results, false);
            }
            Step::Poll(step) => {
                self.unclear.insert(step.poll.value().clone());
            }
            Step::ExpectNoResults(step) if !self.impaired => self.settled(&step.expect_no_results),
            Step::ExpectAccounted(step) => self.accounted(step.expect_accounted),
            Step::Flush(step) => {
                let qp = step.flush.value();
                for name in [Name::Initiator(qp.clone()), Name::Receive(qp.clone())] {
                    self.queue(name).flushed = true;
                }
            }
            Step::CreateQp(step) => {
                let qp = step.create_qp.value();
                self.queues.remove(&Name::Initiator(qp.clone()));
                self.queues.remove(&Name::Receive(qp.clone()));
            }
            _ => {}
        }
    }

    fn queue(&mut self, name: Name) -> &mut Queue {
        let queue = |name: &Name| Queue::new(self.vector, name);
        self.queues.entry(name).or_insert_with_key(queue)
    }

    fn show(&mut self, operation: Operation, flags: OpFlags, outcome: Outcome) {
        self.shown.insert(Shown {
            operation,
            flags: flags.0,
            outcome,
        });
    }

    fn post(&mut self, post: &Post<'_>) {
        let deferred = post.flags.0 & OpFlags::DEFER.0 != 0;
        let posted = post.returns.0 == NtStatus::SUCCESS;
        let queue = self.queue(post.queue.clone());
        if posted {
            let ends = match post.ends {
                [only] => Some(only.0.0),
                _ => None,
            };
            queue.requests.extend((0..post.times).map(|number| Request {
                operation: post.operation,
                flags: post.flags,
                context: post.context.wrapping_add(number.into()),
                ends,
                indicated: false,
            }));
        }
        // A call that fails indicates what was deferred, too.
        if !posted || !deferred {
            queue
                .requests
                .iter_mut()
                .for_each(|request| request.indicated = true);
        }
        if !posted {
            self.refused(post);
        }
    }

    /// A call that fails. With bits that are no flags it shows nothing of those that are.
    fn refused(&mut self, post: &Post<'_>) {
        let unknown = super::named().fold(post.flags.0, |left, (flag, _)| left & !flag.0);
        if unknown != 0 {
            return;
        }
        let status = post.returns.0;
        self.show(post.operation, post.flags, Outcome::Returns(status.0));
    }

    /// Results that a completion queue must give.
    fn results(&mut self, cq: &str, results: &[ExpectedResult], any_order: bool) {
        for result in results {
            for number in 0..result.times.unwrap_or(1) {
                let context = result
                    .context
                    .map(|first| first.0.wrapping_add(number.into()));
                self.result(cq, result, context, any_order);
            }
        }
    }

    fn result(&mut self, cq: &str, result: &ExpectedResult, context: Option<u64>, any_order: bool) {
        if self.unclear.contains(cq) {
            return;
        }
        let mut found: Vec<(Name, usize)> = Vec::new();
        for (name, queue) in self
            .queues
            .iter()
            .filter(|(_, queue)| queue.cqs.contains(cq))
        {
            let other = |qp: &At<String>| !queue.qps.contains(qp.value());
            if result.qp.as_ref().is_some_and(other) {
                continue;
            }
            let first = queue.first(any_order, |request| request.fits(result, context));
            found.extend(first.map(|at| (name.clone(), at)));
        }
        let what = |(name, at): &(Name, usize)| {
            let request = self.queues.get(name)?.requests.get(*at)?;
            Some((request.operation, request.flags))
        };
        let Some(first) = found
            .first()
            .filter(|first| found.iter().all(|other| what(other) == what(first)))
        else {
            self.unclear.insert(cq.to_owned());
            return;
        };
        let (name, at) = first.clone();
        self.take(&name, at, result.status.0, any_order);
    }

    /// A request has this result.
    fn take(&mut self, name: &Name, at: usize, status: NtStatus, any_order: bool) {
        let Some(queue) = self.queues.get_mut(name) else {
            return;
        };
        let flushed = queue.flushed && status == NtStatus::CANCELLED;
        let Some(request) = queue.requests.remove(at) else {
            return;
        };
        let before: Vec<Request> = match queue.ordered && !any_order {
            true => queue.requests.drain(..at).collect(),
            false => Vec::new(),
        };
        for silent in before {
            self.show(
                silent.operation,
                silent.flags,
                Outcome::Completes(NtStatus::SUCCESS.0),
            );
        }
        self.show(
            request.operation,
            request.flags,
            Outcome::Completes(status.0),
        );
        if flushed {
            self.show(
                Operation::Flush,
                OpFlags::NONE,
                Outcome::Completes(status.0),
            );
        }
    }

    /// Nothing happens any more and there is no result: what is silent, and was indicated, has succeeded.
    fn settled(&mut self, cq: &str) {
        let mut done = Vec::new();
        for queue in self
            .queues
            .values_mut()
            .filter(|queue| queue.cqs.contains(cq))
        {
            while let Some(request) = queue.requests.front() {
                if !request.is_silent() || !request.indicated {
                    break;
                }
                done.extend(queue.requests.pop_front());
            }
        }
        for request in done {
            self.show(
                request.operation,
                request.flags,
                Outcome::Completes(NtStatus::SUCCESS.0),
            );
        }
    }

    /// All results are taken and compared with what each post says of its own.
    fn accounted(&mut self, when: Accounting) {
        if when == Accounting::Now {
            return;
        }
        let queues = std::mem::take(&mut self.queues);
        for request in queues.into_values().flat_map(|queue| queue.requests) {
            if let Some(status) = request.ends.filter(|_| request.indicated) {
                self.show(request.operation, request.flags, Outcome::Completes(status));
            }
        }
    }
}
