//! Where something may have become enabled: what keeps a step cheap however many queue pairs there are.

/// What can be due for a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Send,
    Respond,
    Retire,
    FlushSend,
    FlushReceive,
    CompleteSend,
    CompleteReceive,
    QpEvent,
}

impl Work {
    pub const ALL: [Self; 8] = [
        Self::Send,
        Self::Respond,
        Self::Retire,
        Self::FlushSend,
        Self::FlushReceive,
        Self::CompleteSend,
        Self::CompleteReceive,
        Self::QpEvent,
    ];
}

/// For each kind of work, the queue pairs for which it may be due. A queue pair that is not in a set has
/// no such work; one in it may have.
#[derive(Debug)]
pub(super) struct Ready {
    sets: [Set; Work::ALL.len()],
}

impl Ready {
    pub fn new(qps: usize) -> Self {
        Self {
            sets: std::array::from_fn(|_| Set::new(qps)),
        }
    }

    /// Something happened to a queue pair: all work may be due.
    pub fn touch(&mut self, qp: usize) {
        for set in &mut self.sets {
            set.insert(qp);
        }
    }

    /// The next queue pair in turn for which the work may be due.
    pub fn next(&mut self, work: Work) -> Option<usize> {
        self.sets[work as usize].next()
    }

    /// The work was looked for and is not due.
    pub fn remove(&mut self, work: Work, qp: usize) {
        self.sets[work as usize].remove(qp);
    }

    /// The queue pairs for which any work may be due, ascending.
    pub fn touched(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.sets.first().map_or(0, |set| set.words.len());
        (0..words).flat_map(|word| {
            let mut bits = self.sets.iter().fold(0, |all, set| {
                all | set.words.get(word).copied().unwrap_or(0)
            });
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits.checked_sub(1)?;
                Some(word * 64 + bit)
            })
        })
    }
}

/// A set of queue pairs with a cursor.
#[derive(Debug)]
struct Set {
    words: Vec<u64>,
    cursor: usize,
}

impl Set {
    fn new(qps: usize) -> Self {
        Self {
            words: vec![0; qps.div_ceil(64)],
            cursor: 0,
        }
    }

    fn insert(&mut self, qp: usize) {
        if let Some(word) = self.words.get_mut(qp / 64) {
            *word |= 1 << (qp % 64);
        }
    }

    fn remove(&mut self, qp: usize) {
        if let Some(word) = self.words.get_mut(qp / 64) {
            *word &= !(1 << (qp % 64));
        }
    }

    /// The first member from the cursor on, around; the cursor moves behind it.
    fn next(&mut self) -> Option<usize> {
        let count = self.words.len();
        let start = self.cursor / 64;
        for step in 0..=count {
            let word = (start + step) % count.max(1);
            let mut bits = self.words.get(word).copied()?;
            if step == 0 {
                bits &= u64::MAX << (self.cursor % 64);
            }
            if bits != 0 {
                let qp = word * 64 + bits.trailing_zeros() as usize;
                self.cursor = (qp + 1) % (count * 64);
                return Some(qp);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_take_turns() {
        let mut set = Set::new(256);
        for qp in [3, 63, 64, 200] {
            set.insert(qp);
        }
        let mut turns = Vec::new();
        for _ in 0..6 {
            turns.extend(set.next());
        }
        assert_eq!(turns, [3, 63, 64, 200, 3, 63]);
        for qp in [3, 64, 200] {
            set.remove(qp);
        }
        assert_eq!((set.next(), set.next()), (Some(63), Some(63)));
        set.remove(63);
        assert_eq!(set.next(), None);
    }

    #[test]
    fn touched_lists_each_once() {
        let mut ready = Ready::new(128);
        ready.touch(5);
        ready.touch(127);
        ready.remove(Work::Send, 5);
        assert_eq!(ready.touched().collect::<Vec<_>>(), [5, 127]);
    }
}
