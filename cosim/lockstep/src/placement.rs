//! Order between channels: nothing tells of data before the data is in memory.

use std::collections::VecDeque;

/// Counts payload writes that were answered, and holds what has to wait for them.
///
/// Payload bursts are numbered as they reach memory; the answer on B makes one *placed*.
/// The model numbers its payload effects; `bursts` maps the end of an effect to the burst that finished it.
#[derive(Debug, Default)]
pub struct Placement {
    effects: VecDeque<usize>,
    partial: usize,
    written: u64,
    answered: u64,
    ends: VecDeque<u64>,
    finished: u64,
}

impl Placement {
    /// The model expects a payload write of `length` bytes.
    pub fn expect(&mut self, length: usize) {
        self.effects.push_back(length);
        self.settle();
    }

    /// A payload burst of `length` bytes reached memory.
    pub fn written(&mut self, length: usize) {
        self.written += 1;
        self.partial += length;
        self.settle();
    }

    /// The oldest unanswered payload burst was answered.
    pub fn answered(&mut self) {
        self.answered += 1;
        self.settle();
    }

    /// Whether the first `effects` payload effects are all in memory, answered.
    pub fn placed(&self, effects: u64) -> bool {
        self.finished >= effects
    }

    /// How many are.
    pub fn count(&self) -> u64 {
        self.finished
    }

    fn settle(&mut self) {
        while let Some(&length) = self.effects.front()
            && self.partial >= length
        {
            self.partial -= length;
            self.effects.pop_front();
            self.ends.push_back(self.written);
        }
        while let Some(&burst) = self.ends.front()
            && burst <= self.answered
        {
            self.ends.pop_front();
            self.finished += 1;
        }
    }
}

/// When the gather reads of actions were answered, for what may not be seen before.
///
/// They are answered in the order of the actions, and an action may be looked at before its reads were answered.
#[derive(Debug, Default)]
pub struct Gathers {
    /// Reads of all actions up to one, and the number of the record that showed the answer to the last of them.
    ahead: VecDeque<(u64, u64)>,
    answered: u64,
}

impl Gathers {
    /// Actions have made `count` gather reads so far; record number `record` showed the answer to the newest.
    pub fn used(&mut self, count: u64, record: u64) {
        let last = self.ahead.back().map_or(self.answered, |last| last.0);
        if last < count {
            self.ahead.push_back((count, record));
        }
    }

    /// How many of the reads of actions so far were answered before record number `now`.
    pub fn answered(&mut self, now: u64) -> u64 {
        while let Some(&(count, record)) = self.ahead.front()
            && record < now
        {
            self.answered = count;
            self.ahead.pop_front();
        }
        self.answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_count_from_the_record_on_that_showed_their_answer() {
        let mut gathers = Gathers::default();
        gathers.used(2, 5);
        gathers.used(2, 5);
        gathers.used(3, 20);
        assert_eq!(gathers.answered(5), 0);
        assert_eq!(gathers.answered(6), 2);
        assert_eq!(gathers.answered(20), 2);
        assert_eq!(gathers.answered(21), 3);
    }

    #[test]
    fn an_effect_is_placed_when_its_last_burst_was_answered() {
        let mut placement = Placement::default();
        placement.expect(10);
        placement.written(4);
        placement.answered();
        assert!(!placement.placed(1));
        placement.written(6);
        assert!(!placement.placed(1));
        placement.answered();
        assert!(placement.placed(1));
        assert!(!placement.placed(2));
    }
}
