//! Shared receive queues: what is posted, what was taken, and the limit.

use std::collections::VecDeque;

/// Run-time state of a shared receive queue.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct SharedQueue {
    /// Index after the last receive rung for.
    producer: u16,
    /// Oldest receive that no queue pair has taken.
    taken: u16,
    /// An event is due once fewer receives are left; 0: not armed.
    limit: u16,
}

impl SharedQueue {
    fn left(&self) -> u16 {
        self.producer.wrapping_sub(self.taken)
    }
}

/// All shared receive queues.
#[derive(Clone, Debug, Hash)]
pub(crate) struct SharedQueues {
    queues: Vec<SharedQueue>,
    /// Queues whose limit event is due, oldest first; each at most once.
    due: VecDeque<u16>,
}

impl SharedQueues {
    pub fn new(count: usize) -> Self {
        Self {
            queues: vec![SharedQueue::default(); count],
            due: VecDeque::new(),
        }
    }

    fn queue_mut(&mut self, number: u16) -> Option<&mut SharedQueue> {
        self.queues.get_mut(usize::from(number))
    }

    /// A queue's entry was written. An event that is due stays so.
    pub fn clear(&mut self, number: u16) {
        if let Some(queue) = self.queue_mut(number) {
            *queue = SharedQueue::default();
        }
    }

    /// The driver posted receives.
    pub fn ring(&mut self, number: u16, producer: u16) {
        if let Some(queue) = self.queue_mut(number) {
            queue.producer = producer;
        }
    }

    /// The driver arms the limit, or disarms it with 0.
    pub fn arm(&mut self, number: u16, limit: u16) {
        if let Some(queue) = self.queue_mut(number) {
            queue.limit = limit;
            self.watch(number);
        }
    }

    /// Index of the oldest receive that is posted.
    pub fn oldest(&self, number: u16) -> Option<u16> {
        let queue = self.queues.get(usize::from(number))?;
        (queue.left() != 0).then_some(queue.taken)
    }

    /// A queue pair takes the oldest receive.
    pub fn take(&mut self, number: u16) {
        if let Some(queue) = self.queue_mut(number) {
            queue.taken = queue.taken.wrapping_add(1);
            self.watch(number);
        }
    }

    /// Makes the event and disarms once fewer receives are left than the limit.
    fn watch(&mut self, number: u16) {
        let Some(queue) = self.queue_mut(number) else {
            return;
        };
        if queue.left() < queue.limit {
            queue.limit = 0;
            if !self.is_due(number) {
                self.due.push_back(number);
            }
        }
    }

    /// Whether the limit event of a queue is due.
    pub fn is_due(&self, number: u16) -> bool {
        self.due.contains(&number)
    }

    /// Queues whose limit event is due.
    pub fn due(&self) -> impl Iterator<Item = u16> + '_ {
        self.due.iter().copied()
    }

    /// The limit event of a queue was written.
    pub fn told(&mut self, number: u16) {
        self.due.retain(|due| *due != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_fires_once_below_it_and_disarms() {
        let mut queues = SharedQueues::new(2);
        queues.ring(1, 3);
        queues.arm(1, 3);
        assert!(!queues.is_due(1));
        queues.take(1);
        assert!(queues.is_due(1) && !queues.is_due(0));
        queues.told(1);
        queues.take(1);
        assert_eq!(queues.due().count(), 0);
        // Armed with fewer there: at once, but not twice while it is due.
        queues.arm(1, 2);
        queues.arm(1, 2);
        assert_eq!(queues.due().collect::<Vec<_>>(), [1]);
        queues.told(1);
        // 0 disarms; numbers outside the table do nothing.
        queues.ring(1, 4);
        queues.arm(1, 2);
        queues.arm(1, 0);
        queues.take(1);
        queues.arm(2, 9);
        queues.take(2);
        assert_eq!(queues.due().count(), 0);
        assert_eq!((queues.oldest(0), queues.oldest(1)), (None, Some(3)));
    }

    #[test]
    fn indices_wrap() {
        let mut queues = SharedQueues::new(1);
        queues.ring(0, 0xFFFF);
        for _ in 0..0xFFFF {
            queues.take(0);
        }
        assert_eq!(queues.oldest(0), None);
        queues.ring(0, 1);
        queues.arm(0, 2);
        assert!(!queues.is_due(0));
        assert_eq!(queues.oldest(0), Some(0xFFFF));
        queues.take(0);
        assert!(queues.is_due(0));
        assert_eq!(queues.oldest(0), Some(0));
    }
}
