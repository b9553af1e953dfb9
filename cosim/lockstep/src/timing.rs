//! The bench's clock beside the model, which has none: timers that end neither early nor late, notifications of
//! congestion that are spaced, packets that keep the pace of their queue pair, events that are not put off too long.

use std::collections::BTreeMap;

use tandem_model::abi::GRACE;
use tandem_model::engine::{DueChange, Timer, TimerChange};

use super::pace::Pace;
use super::untimely::Untimely;

/// A timer ends at the latest after so many times its least time, and [`GRACE`] clocks more.
const LATEST: u64 = 4;

/// When something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    /// Clock.
    pub(super) cycle: u64,
    /// How many of the clocks so far the transmit stream was stalled: no timer counts these.
    pub(super) stalled: u64,
}

impl Moment {
    /// Clocks that timers count.
    fn counted(self) -> u64 {
        self.cycle.saturating_sub(self.stalled)
    }
}

#[derive(Clone, Copy, Debug)]
struct Running {
    timer: Timer,
    since: u64,
}

impl Running {
    fn most(&self) -> u64 {
        LATEST * self.timer.clocks() + GRACE
    }
}

/// One queue pair.
#[derive(Clone, Debug, Default)]
struct Qp {
    timer: Option<Running>,
    cnp: Option<u64>,
    pace: Pace,
    /// When the last packet was sent, and the clocks until the next one at the level of then.
    sent: Option<Sent>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    cycle: u64,
    level: u8,
    payload: usize,
}

/// An event of a completion queue that is put off.
#[derive(Clone, Copy, Debug)]
struct PutOff {
    since: u64,
    most: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Timing {
    qps: Vec<Qp>,
    /// No timer is overdue before this.
    due: u64,
    /// Events of completion queues that are put off and come by themselves.
    put_off: BTreeMap<u32, PutOff>,
}

impl Timing {
    fn qp(&mut self, qpn: u32) -> &mut Qp {
        let index = qpn as usize;
        if self.qps.len() <= index {
            self.qps.resize(index + 1, Qp::default());
        }
        &mut self.qps[index]
    }

    /// Whether something comes by itself: any timer runs, or an event is put off for a time.
    pub(super) fn timer_runs(&self) -> bool {
        !self.put_off.is_empty() || self.qps.iter().any(|qp| qp.timer.is_some())
    }

    /// Whether a timer or an event is overdue by now.
    pub(super) fn overdue(&mut self, now: Moment) -> Result<(), Untimely> {
        for (&cq, &PutOff { since, most }) in &self.put_off {
            let elapsed = now.cycle - since;
            if elapsed > most {
                return Err(Untimely::EventLate { cq, elapsed, most });
            }
        }
        let counted = now.counted();
        if counted < self.due {
            return Ok(());
        }
        self.due = u64::MAX;
        for (qpn, qp) in (0..).zip(&self.qps) {
            let Some(running) = &qp.timer else { continue };
            let (elapsed, most) = (counted - running.since, running.most());
            if elapsed > most {
                return Err(Untimely::TimerLate {
                    qpn,
                    timer: running.timer,
                    elapsed,
                    most,
                });
            }
            self.due = self.due.min(running.since + most + 1);
        }
        Ok(())
    }

    /// The timer of a queue pair ends.
    pub(super) fn ended(&mut self, qpn: u32, now: Moment) -> Result<(), Untimely> {
        let Some(running) = self.qp(qpn).timer else {
            return Ok(());
        };
        let elapsed = now.counted() - running.since;
        match elapsed < running.timer.clocks() {
            true => Err(Untimely::TimerEarly {
                timer: running.timer,
                elapsed,
            }),
            false => Ok(()),
        }
    }

    /// What an action did to a timer.
    pub(super) fn changed(&mut self, change: TimerChange, now: Moment) {
        let since = now.counted();
        let running = change.timer.map(|timer| Running { timer, since });
        if let Some(running) = &running {
            self.due = self.due.min(since + running.most() + 1);
        }
        self.qp(change.qpn).timer = running;
    }

    /// What an action did to an event that is put off.
    pub(super) fn put_off(&mut self, change: DueChange, now: Moment) {
        match change.event.and_then(|event| event.clocks) {
            Some(clocks) => {
                let (since, most) = (now.cycle, clocks + GRACE);
                self.put_off.insert(change.cq, PutOff { since, most });
            }
            None => {
                self.put_off.remove(&change.cq);
            }
        }
    }

    /// A queue pair sends a congestion notification.
    pub(super) fn cnp_left(&mut self, qpn: u32, now: Moment, least: u64) -> Result<(), Untimely> {
        let before = self.qp(qpn).cnp.replace(now.cycle);
        match before.map(|before| now.cycle - before) {
            Some(elapsed) if elapsed < least => Err(Untimely::CnpTooSoon { elapsed, least }),
            _ => Ok(()),
        }
    }

    /// A queue pair is told to slow down.
    pub(super) fn cnp_came(&mut self, qpn: u32, now: Moment, interval: u64) {
        self.qp(qpn).pace.raise(now.cycle, interval);
    }

    /// A queue pair sends a packet with so many bytes of payload.
    pub(super) fn sent(
        &mut self,
        qpn: u32,
        now: Moment,
        interval: u64,
        payload: impl FnOnce() -> usize,
    ) -> Result<(), Untimely> {
        let qp = self.qp(qpn);
        let now = now.cycle;
        let level = qp.pace.level(now, interval);
        let before = qp.sent.take();
        if level > 0 {
            qp.sent = Some(Sent {
                cycle: now,
                level,
                payload: payload(),
            });
        }
        let Some(before) = before else {
            return Ok(());
        };
        // The level may have fallen in between: the lower one counts.
        let level = level.min(before.level);
        let (elapsed, least) = (now - before.cycle, Pace::gap(level, before.payload));
        match elapsed < least {
            true => Err(Untimely::TooFast {
                level,
                elapsed,
                least,
            }),
            false => Ok(()),
        }
    }

    /// Before this clock a queue pair need not send.
    pub(super) fn paced_until(&self, qpn: u32) -> u64 {
        let sent = self.qps.get(qpn as usize).and_then(|qp| qp.sent);
        // An engine may think of the highest level.
        sent.map_or(0, |sent| sent.cycle + Pace::gap(Pace::MOST, sent.payload))
    }

    /// A queue pair begins a new life.
    pub(super) fn cleared(&mut self, qpn: u32) {
        let qp = self.qp(qpn);
        qp.pace = Pace::default();
        qp.sent = None;
    }
}

#[cfg(test)]
mod tests {
    use tandem_model::engine::DueEvent;

    use super::*;

    const TIMER: Timer = Timer::Acknowledge { clocks: 1000 };

    fn at(cycle: u64) -> Moment {
        Moment { cycle, stalled: 0 }
    }

    fn running(since: Moment) -> Timing {
        let mut timing = Timing::default();
        let timer = Some(TIMER);
        timing.changed(TimerChange { qpn: 3, timer }, since);
        timing
    }

    #[test]
    fn a_timer_ends_between_once_and_four_times_its_time() {
        for (elapsed, fits) in [(999, false), (1000, true), (4512, true)] {
            assert_eq!(running(at(50)).ended(3, at(50 + elapsed)).is_ok(), fits);
        }
        for (elapsed, fits) in [(1000, true), (4512, true), (4513, false)] {
            assert_eq!(running(at(50)).overdue(at(50 + elapsed)).is_ok(), fits);
        }
    }

    #[test]
    fn stalled_clocks_do_not_count() {
        let after = |cycle: u64, stalled: u64| Moment {
            cycle: 50 + cycle,
            stalled: 10 + stalled,
        };
        let timing = || running(after(0, 0));
        assert!(timing().ended(3, after(1100, 101)).is_err());
        assert!(timing().ended(3, after(1101, 101)).is_ok());
        assert!(timing().overdue(after(9000, 4488)).is_ok());
        assert!(timing().overdue(after(9001, 4488)).is_err());
    }

    #[test]
    fn a_timer_that_begins_anew_or_stops_is_not_overdue() {
        let mut timing = running(at(0));
        let timer = Some(TIMER);
        timing.changed(TimerChange { qpn: 3, timer }, at(4000));
        assert!(timing.overdue(at(8512)).is_ok() && timing.timer_runs());
        timing.changed(
            TimerChange {
                qpn: 3,
                timer: None,
            },
            at(8512),
        );
        assert!(timing.overdue(at(100_000)).is_ok() && !timing.timer_runs());
    }

    #[test]
    fn an_event_is_put_off_no_longer_than_it_may_be() {
        let event = |clocks| Some(DueEvent { clocks });
        let mut timing = Timing::default();
        let mut put_off = |event, since| {
            timing.put_off(DueChange { cq: 5, event }, at(since));
            [612, 613].map(|clock| timing.overdue(at(since + clock)).is_ok())
        };
        assert_eq!(put_off(event(Some(100)), 7), [true, false]);
        assert_eq!(put_off(event(None), 1007), [true, true]);
        assert_eq!(put_off(event(Some(100)), 2007), [true, false]);
        assert_eq!(put_off(None, 3007), [true, true]);
        assert!(!timing.timer_runs());
    }

    #[test]
    fn notifications_are_spaced() {
        let mut timing = Timing::default();
        assert!(timing.cnp_left(3, at(10), 100).is_ok());
        assert!(timing.cnp_left(4, at(11), 100).is_ok());
        assert!(timing.cnp_left(3, at(110), 100).is_ok());
        let early = timing.cnp_left(3, at(209), 100);
        let expected = Untimely::CnpTooSoon {
            elapsed: 99,
            least: 100,
        };
        assert_eq!(early, Err(expected));
    }

    #[test]
    fn packets_keep_the_pace_of_their_queue_pair() {
        let mut timing = Timing::default();
        let mut sent = |cycle| timing.sent(3, at(cycle), 100, || 1024);
        assert!(sent(10).is_ok() && sent(11).is_ok());
        let mut timing = Timing::default();
        timing.cnp_came(3, at(0), 100);
        let mut sent = |cycle| timing.sent(3, at(cycle), 100, || 1024);
        // Level 1: as long again as the packet.
        assert!(sent(10).is_ok() && sent(10 + 136).is_ok());
        let expected = Untimely::TooFast {
            level: 1,
            elapsed: 135,
            least: 136,
        };
        assert_eq!(sent(146 + 135), Err(expected));
    }
}
