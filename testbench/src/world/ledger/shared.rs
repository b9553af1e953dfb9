//! Receives of shared queues: which queue pair takes one is known when it completes.

use tandem_model::ndk::NdkResultEx;

use super::{Entry, Ledger, Life, What};

impl Ledger {
    /// The newest life of a queue pair, if its receives come from a shared queue.
    pub(super) fn sharing(&self, name: &str) -> Option<usize> {
        let newest = self.lives.iter().rposition(|life| life.name == name)?;
        let shares = self
            .lives
            .get(newest)
            .is_some_and(|life| life.srq.is_some());
        shares.then_some(newest)
    }

    /// A receive has been posted to a shared queue.
    pub(in crate::world) fn posted_shared(&mut self, srq: &str, entry: Entry) {
        *self
            .tally
            .requests
            .entry("shared receive".into())
            .or_default() += 1;
        let index = self.entries.len();
        self.entries.push(Entry {
            // Nobody's yet.
            life: usize::MAX,
            ..entry
        });
        self.waiting.entry(srq.into()).or_default().push(index);
    }

    /// A queue pair has completed a receive of its shared queue: which one. Each is taken once, and older ones first.
    pub(super) fn taken(
        &mut self,
        life: usize,
        words: &str,
        result: &NdkResultEx,
    ) -> Result<usize, String> {
        let Some(own) = self.lives.get_mut(life) else {
            return Ok(usize::MAX);
        };
        let srq = own.srq.clone().unwrap_or_default();
        let of = format!("{words} of queue pair `{}`", own.name);
        let waiting = self.waiting.entry(srq.clone()).or_default();
        let entries = &self.entries;
        let found = waiting.iter().position(|index| {
            let entry = entries.get(*index);
            entry.is_some_and(|entry| entry.context == result.request_context)
        });
        let Some(place) = found else {
            return Err(format!(
                "{of} belongs to no receive that waits in shared queue `{srq}`: it came twice"
            ));
        };
        let index = waiting.remove(place);
        if own.queues[1].last().is_some_and(|last| *last > index) {
            return Err(format!(
                "{of} came behind that of a younger receive of shared queue `{srq}`"
            ));
        }
        own.queues[1].push(index);
        if let Some(entry) = self.entries.get_mut(index) {
            entry.life = life;
        }
        Ok(index)
    }

    /// Whether a queue pair may have taken a receive that has no result: its peer has sent oftener than it received.
    fn may_hold(&self, life: &Life) -> bool {
        let peer = life.peer.and_then(|peer| self.lives.get(peer));
        let sends = peer.into_iter().flat_map(|peer| &peer.queues[0]);
        let sends = sends
            .filter_map(|index| self.entry(*index))
            .filter(|entry| matches!(entry.what, What::Send(_)));
        !life.closed && sends.count() > life.queues[1].len()
    }

    /// Queue pairs that may have taken a receive of a shared queue which has no result.
    fn holders(&self, srq: &str) -> usize {
        let own = self
            .lives
            .iter()
            .filter(|life| life.srq.as_deref() == Some(srq));
        own.filter(|life| self.may_hold(life)).count()
    }

    /// Receives that wait in shared queues, and may have been filled in part.
    pub(in crate::world) fn held(&self) -> impl Iterator<Item = &Entry> {
        let held = self.waiting.iter().filter(|(srq, _)| self.holders(srq) > 0);
        held.flat_map(|(_, waiting)| waiting)
            .filter_map(|index| self.entry(*index))
    }

    /// Nothing happens any more: no receive was passed over, but those that queue pairs hold.
    pub(in crate::world) fn shared_in_order(&self) -> Result<(), String> {
        for (srq, waiting) in &self.waiting {
            let own = self
                .lives
                .iter()
                .filter(|life| life.srq.as_ref() == Some(srq));
            let newest = own.flat_map(|life| &life.queues[1]).max();
            let passed = waiting.iter().filter(|index| Some(*index) < newest);
            let (passed, holders) = (passed.count(), self.holders(srq));
            if passed > holders {
                return Err(format!(
                    "{passed} receives of shared queue `{srq}` are older than one that was taken, and {holders} queue pairs may hold one"
                ));
            }
        }
        Ok(())
    }
}
