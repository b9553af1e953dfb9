//! Actions that the model allows, at a time that the contract does not.

use std::fmt;

use tandem_model::engine::Timer;

/// What came too early, too late, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untimely {
    /// A timer ended before its time.
    TimerEarly {
        /// The timer.
        timer: Timer,
        /// Clocks since it began, without those in which the transmit stream was stalled.
        elapsed: u64,
    },
    /// A timer did not end in time.
    TimerLate {
        /// Its queue pair.
        qpn: u32,
        /// The timer.
        timer: Timer,
        /// Clocks since it began, without those in which the transmit stream was stalled.
        elapsed: u64,
        /// Clocks after which it must have ended.
        most: u64,
    },
    /// An event of a completion queue that was put off did not come in time.
    EventLate {
        /// The completion queue.
        cq: u32,
        /// Clocks since it became due, or its time began anew.
        elapsed: u64,
        /// Clocks after which it must have come.
        most: u64,
    },
    /// A congestion notification came too soon after the one before.
    CnpTooSoon {
        /// Clocks between them.
        elapsed: u64,
        /// Clocks that must be between them.
        least: u64,
    },
    /// A packet of a queue pair that was slowed down came too soon after the one before.
    TooFast {
        /// The least level that the queue pair can have.
        level: u8,
        /// Clocks between them.
        elapsed: u64,
        /// Clocks that must be between them.
        least: u64,
    },
    /// A queue pair could send and did not have its turn.
    Starved {
        /// The queue pair.
        qpn: u32,
        /// Packets of others since it could.
        others: u64,
        /// Packets of others that may go before.
        most: u64,
    },
}

impl Untimely {
    /// The room to look in first.
    pub fn room(&self) -> &'static str {
        match self {
            Self::CnpTooSoon { .. } => "receive",
            Self::EventLate { .. } => "complete",
            _ => "send",
        }
    }
}

fn name(timer: &Timer) -> &'static str {
    match timer {
        Timer::Acknowledge { .. } => "acknowledgement timer",
        Timer::Rnr { .. } => "RNR timer",
    }
}

impl fmt::Display for Untimely {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimerEarly { timer, elapsed } => write!(
                f,
                "too early: the {} ended {elapsed} clocks after it began, it lasts at least {}",
                name(timer),
                timer.clocks()
            ),
            Self::TimerLate {
                qpn,
                timer,
                elapsed,
                most,
            } => write!(
                f,
                "overdue: the {} of queue pair {qpn} began {elapsed} clocks ago, it must end within {most}",
                name(timer)
            ),
            Self::EventLate { cq, elapsed, most } => write!(
                f,
                "overdue: the event of completion queue {cq} was put off {elapsed} clocks ago, it must come within {most}"
            ),
            Self::CnpTooSoon { elapsed, least } => write!(
                f,
                "too early: a congestion notification {elapsed} clocks after the one before, {least} must be between them"
            ),
            Self::TooFast {
                level,
                elapsed,
                least,
            } => write!(
                f,
                "too fast: at level {level} the next packet comes {least} clocks after the one before, this one came after {elapsed}"
            ),
            Self::Starved { qpn, others, most } => write!(
                f,
                "starved: queue pair {qpn} could send, and {others} packets of others went before; at most {most} may"
            ),
        }
    }
}
