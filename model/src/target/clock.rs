//! The clock of a target: when timers end, notifications leave, held queue pairs may send again, and completion
//! events that are put off follow.

use super::pace::Pace;

/// No deadline.
const NEVER: u64 = u64::MAX;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The timer of the queue pair ends.
    Timer(u32),
    /// Its congestion notification leaves.
    Cnp(u32),
    /// It may send again.
    Send(u32),
    /// The event of the completion queue that was put off is written.
    CqEvent(u32),
}

/// Deadlines of one queue pair.
#[derive(Clone, Copy, Debug)]
struct Deadlines {
    timer: u64,
    cnp: u64,
    send: u64,
    /// Before this clock no notification leaves.
    cnp_after: u64,
    pace: Pace,
}

impl Deadlines {
    const NEW: Self = Self {
        timer: NEVER,
        cnp: NEVER,
        send: NEVER,
        cnp_after: 0,
        pace: Pace::NEW,
    };

    fn first(&self) -> u64 {
        self.timer.min(self.cnp).min(self.send)
    }
}

/// A clock, and what is to happen by it. Nothing here grows with queue pairs that do nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    now: u64,
    qps: Vec<Deadlines>,
    /// Deadlines of completion queues.
    cqs: Vec<u64>,
    /// No deadline lies before this.
    earliest: u64,
}

impl Clock {
    /// Clocks so far.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// One clock passes.
    pub fn tick(&mut self) {
        self.now += 1;
    }

    /// Time passes to a clock; not backwards.
    pub fn pass_to(&mut self, clock: u64) {
        self.now = self.now.max(clock);
    }

    /// The first deadline.
    pub fn next(&self) -> Option<u64> {
        let qps = self.qps.iter().map(Deadlines::first);
        let first = qps.chain(self.cqs.iter().copied()).min();
        first.filter(|clock| *clock != NEVER)
    }

    /// What is due, taken from the list.
    pub fn due(&mut self) -> Option<Due> {
        if self.now < self.earliest {
            return None;
        }
        let now = self.now;
        for (qpn, qp) in (0..).zip(&mut self.qps) {
            let due = [
                (&mut qp.send, Due::Send(qpn)),
                (&mut qp.timer, Due::Timer(qpn)),
                (&mut qp.cnp, Due::Cnp(qpn)),
            ];
            for (deadline, due) in due {
                if *deadline <= now {
                    *deadline = NEVER;
                    return Some(due);
                }
            }
        }
        for (cq, deadline) in (0..).zip(&mut self.cqs) {
            if *deadline <= now {
                *deadline = NEVER;
                return Some(Due::CqEvent(cq));
            }
        }
        self.earliest = self.next().unwrap_or(NEVER);
        None
    }

    fn qp(&mut self, qpn: u32) -> &mut Deadlines {
        let index = qpn as usize;
        if self.qps.len() <= index {
            self.qps.resize(index + 1, Deadlines::NEW);
        }
        &mut self.qps[index]
    }

    /// The timer of a queue pair ends after so many clocks, or stops.
    pub fn set_timer(&mut self, qpn: u32, clocks: Option<u64>) {
        let deadline = clocks.map_or(NEVER, |clocks| self.now.saturating_add(clocks));
        self.earliest = self.earliest.min(deadline);
        self.qp(qpn).timer = deadline;
    }

    /// The event of a completion queue follows after so many clocks, or not by itself.
    pub fn set_cq_event(&mut self, cq: u32, clocks: Option<u64>) {
        let deadline = clocks.map_or(NEVER, |clocks| self.now.saturating_add(clocks));
        self.earliest = self.earliest.min(deadline);
        let index = cq as usize;
        if self.cqs.len() <= index {
            self.cqs.resize(index + 1, NEVER);
        }
        self.cqs[index] = deadline;
    }

    /// A queue pair owes a notification: it leaves so many clocks after it may, unless one is due already.
    pub fn owe_cnp(&mut self, qpn: u32, late: u64) {
        let now = self.now;
        let qp = self.qp(qpn);
        if qp.cnp == NEVER {
            qp.cnp = now.max(qp.cnp_after).saturating_add(late);
            let deadline = qp.cnp;
            self.earliest = self.earliest.min(deadline);
        }
    }

    /// A notification left; the next one is at least `interval` clocks later (WIRE-CNP-1).
    pub fn cnp_left(&mut self, qpn: u32, interval: u64) {
        let now = self.now;
        let qp = self.qp(qpn);
        qp.cnp = NEVER;
        qp.cnp_after = now + interval;
    }

    /// A notification came: the queue pair slows down.
    pub fn cnp_came(&mut self, qpn: u32, interval: u64) {
        let now = self.now;
        self.qp(qpn).pace.raise(now, interval);
    }

    /// The level of a queue pair now.
    pub fn level(&mut self, qpn: u32, interval: u64) -> u8 {
        let now = self.now;
        let known = self.qps.get_mut(qpn as usize);
        known.map_or(0, |qp| qp.pace.level(now, interval))
    }

    /// A queue pair sends nothing for so many clocks.
    pub fn hold(&mut self, qpn: u32, clocks: u64) {
        let deadline = self.now.saturating_add(clocks);
        self.earliest = self.earliest.min(deadline);
        self.qp(qpn).send = deadline;
    }

    /// Whether a queue pair sends nothing now.
    pub fn holds(&self, qpn: u32) -> bool {
        let known = self.qps.get(qpn as usize);
        known.is_some_and(|qp| qp.send != NEVER)
    }

    /// A queue pair begins a new life at its full pace.
    pub fn clear(&mut self, qpn: u32) {
        let qp = self.qp(qpn);
        qp.cnp = NEVER;
        qp.pace = Pace::NEW;
    }
}
