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

/// Several kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Works(u8);

impl Works {
    pub const ALL: Self = Self(u8::MAX);

    /// The kinds of the list.
    pub const fn of(list: &[Work]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < list.len() {
            bits |= 1 << list[i] as u8;
            i += 1;
        }
        Self(bits)
    }
}

/// For each kind of work, the queue pairs for which it may be due. A queue pair that is not in a set has
/// no such work; one in it may have.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    sets: [Set; Work::ALL.len()],
    /// Kinds whose set may have members.
    due: u8,
    /// Queue pairs that have ever been written.
    written: Set,
    /// Queue pairs of which nothing is sent now.
    held: Set,
}

impl Ready {
    pub fn new(qps: usize) -> Self {
        Self {
            sets: std::array::from_fn(|_| Set::new(qps)),
            due: 0,
            written: Set::new(qps),
            held: Set::new(qps),
        }
    }

    /// The context of a queue pair was written: all work may be due.
    pub fn write(&mut self, qp: usize) {
        self.written.insert(qp);
        self.touch(qp, Works::ALL);
    }

    /// Something happened to a queue pair: this work may be due.
    #[inline]
    pub fn touch(&mut self, qp: usize, works: Works) {
        self.due |= works.0;
        let mut bits = works.0;
        while bits != 0 {
            if let Some(set) = self.sets.get_mut(bits.trailing_zeros() as usize) {
                set.insert(qp);
            }
            bits &= bits - 1;
        }
    }

    /// Whether a kind of work may be due.
    #[inline]
    pub fn is_due(&self, work: Work) -> bool {
        self.due & 1 << work as u8 != 0
    }

    /// The next queue pair in turn for which the work may be due.
    pub fn next(&mut self, work: Work) -> Option<usize> {
        let next = self.sets[work as usize].next();
        if next.is_none() {
            self.due &= !(1 << work as u8);
        }
        next
    }

    /// The queue pair that had its turn has it once more.
    pub fn again(&mut self, work: Work, qp: usize) {
        self.sets[work as usize].cursor = qp;
    }

    /// The work was looked for and is not due.
    pub fn remove(&mut self, work: Work, qp: usize) {
        self.sets[work as usize].remove(qp);
    }

    /// Nothing of a queue pair is sent, or it may be sent again.
    pub fn hold(&mut self, qp: usize, hold: bool) {
        if hold {
            self.held.insert(qp);
        } else if self.held.contains(qp) {
            self.held.remove(qp);
            self.touch(qp, Works::of(&[Work::Send]));
        }
    }

    /// Whether nothing of a queue pair is sent.
    #[inline]
    pub fn holds(&self, qp: usize) -> bool {
        self.held.contains(qp)
    }

    /// The queue pairs that exist, ascending.
    pub fn written(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.written.words.iter().enumerate();
        words.flat_map(|(word, bits)| {
            let mut bits = *bits;
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits.checked_sub(1)?;
                Some(word * 64 + bit)
            })
        })
    }
}

/// A set of queue pairs with a cursor.
#[derive(Clone, Debug)]
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

    fn contains(&self, qp: usize) -> bool {
        let word = self.words.get(qp / 64);
        word.is_some_and(|word| word & 1 << (qp % 64) != 0)
    }

    /// The first member from the cursor on, around; the cursor moves behind it.
    fn next(&mut self) -> Option<usize> {
        let count = self.words.len();
        if let [word] = self.words[..] {
            // Up to 64 queue pairs: the common case, without a search.
            let after = word & u64::MAX << self.cursor;
            let bits = if after == 0 { word } else { after };
            let qp = bits.trailing_zeros() as usize;
            if bits == 0 {
                return None;
            }
            self.cursor = (qp + 1) % 64;
            return Some(qp);
        }
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
    fn work_is_due_until_looked_for() {
        let mut ready = Ready::new(128);
        ready.write(127);
        ready.touch(5, Works::of(&[Work::Retire]));
        assert_eq!(ready.written().collect::<Vec<_>>(), [127]);
        assert_eq!(ready.next(Work::Retire), Some(5));
        ready.remove(Work::Retire, 5);
        assert_eq!(ready.next(Work::Retire), Some(127));
        ready.remove(Work::Retire, 127);
        assert!(ready.is_due(Work::Retire));
        assert_eq!(ready.next(Work::Retire), None);
        assert!(!ready.is_due(Work::Retire) && ready.is_due(Work::Send));
    }
}
