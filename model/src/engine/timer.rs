//! Timers and notifications of congestion, which need a clock to be timed and none to be executed.
//!
//! The engine has no clock. It tells after each action what that did to a timer
//! ([`Engine::timer_change`]); whoever has a clock sees to it that `Timeout` and `RnrResume` come neither
//! early nor late, and that two `RespondCnp` of a queue pair are far enough apart.

use super::apply::{Done, compare};
use super::expect::{Maybe, NO_QP};
use super::ready::{Work, Works};
use super::{Action, Engine, Room};
use crate::abi::{CommitKind, RespondKind};

/// What a timer that ends may bring about.
const ENDED: Works = Works::of(&[Work::Send, Work::Retire]);

/// The timer of a queue pair that runs. How long it has run is known to who has a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// For acknowledgements (WIRE-TMO-1): `Timeout` follows after `clocks`, at most four times as many.
    Acknowledge {
        /// T: TIME_UNIT × 2^timeout.
        clocks: u64,
    },
    /// For a receiver that was not ready (WIRE-RNR-5): `RnrResume` follows after `clocks`, at most four
    /// times as many.
    Rnr {
        /// RNR_UNIT × the time of the NAK's code in 10 µs.
        clocks: u64,
    },
}

impl Timer {
    /// The least time until it ends, in clocks.
    pub const fn clocks(self) -> u64 {
        match self {
            Self::Acknowledge { clocks } | Self::Rnr { clocks } => clocks,
        }
    }
}

/// What an action did to the timer of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerChange {
    /// The queue pair.
    pub qpn: u32,
    /// The timer that begins with the action, anew or for the first time; `None`: it stops.
    pub timer: Option<Timer>,
}

impl Engine {
    /// What the last applied action did to a timer, if it did something; an action concerns at most
    /// one queue pair (WIRE-TMO-1, -2, WIRE-RNR-5).
    pub fn timer_change(&self) -> Option<TimerChange> {
        self.retimed
    }

    /// The timer of a queue pair that runs.
    pub fn timer(&self, qpn: u32) -> Option<Timer> {
        let sender = self.senders.get(qpn as usize)?;
        sender.timer(self.context.qp(qpn)?, self.host.units)
    }

    /// What the end of the timer that runs would be: `Timeout` or `RnrResume`.
    pub fn timer_action(&self, qpn: u32) -> Option<Action> {
        self.expect_timer(qpn as usize).ok()
    }

    /// The congestion notification that a queue pair owes: `Respond` with `RespondCnp`.
    pub fn cnp_action(&self, qpn: u32) -> Option<Action> {
        self.expect_cnp(qpn as usize).ok()
    }

    /// Least clocks between two congestion notifications of a queue pair (CNP_INTERVAL).
    pub fn cnp_interval(&self) -> u64 {
        self.host.cnp_interval.into()
    }

    /// Whether [`Engine::step`] sends no requests of a queue pair: how a driver of the engine with a
    /// clock keeps a pace. All other calls take no notice of it.
    pub fn hold_sends(&mut self, qpn: u32, hold: bool) {
        self.ready.hold(qpn as usize, hold);
    }

    /// `Timeout` or `RnrResume` of a queue pair, whose timer may end at any time here.
    pub(super) fn expect_timer(&self, qpn: usize) -> Maybe<Action> {
        let qp = self.context.qp(qpn as u32).ok_or(NO_QP)?;
        let sender = self.senders.get(qpn).ok_or(NO_QP)?;
        let timer = sender.timer(qp, self.host.units);
        let (kind, fails) = match timer.ok_or("no timer runs")? {
            Timer::Acknowledge { .. } => (CommitKind::Timeout, sender.timeout_fails(qp)),
            Timer::Rnr { .. } => (CommitKind::RnrResume, false),
        };
        Ok(Action::new(kind, qpn as u32)
            .with_psn(sender.oldest().get())
            .with_cause(fails.into()))
    }

    /// `RespondCnp` of a queue pair.
    pub(super) fn expect_cnp(&self, qpn: usize) -> Maybe<Action> {
        let qp = self.context.qp(qpn as u32).ok_or(NO_QP)?;
        let receiver = self.receivers.get(qpn).ok_or(NO_QP)?;
        if !receiver.owes_cnp(qp.state) {
            return Err("no frame marked by the network has come");
        }
        Ok(Action::new(CommitKind::Respond, qpn as u32).with_cause(RespondKind::Cnp as u8))
    }

    pub(super) fn do_timer(&mut self, wanted: Option<&Action>, qpn: usize) -> Done {
        let action = match self.expect_timer(qpn) {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        compare(wanted, &action, Room::Send, "the timer that runs")?;
        self.begin(0);
        if action.kind == CommitKind::Timeout {
            self.host.counters.timeout();
        }
        if let Some(sender) = self.senders.get_mut(qpn) {
            match action.kind {
                CommitKind::Timeout => sender.timed_out(action.cause != 0),
                _ => sender.resume(),
            }
        }
        self.ready.touch(qpn, ENDED);
        self.retime(qpn);
        Ok(Ok(action))
    }

    /// Takes down what the action did to the timer of a queue pair.
    pub(super) fn retime(&mut self, qpn: usize) {
        if let (Some(qp), Some(sender)) = (self.context.qp(qpn as u32), self.senders.get_mut(qpn))
            && let Some(timer) = sender.timer_change(qp, self.host.units)
        {
            let qpn = qpn as u32;
            self.retimed = Some(TimerChange { qpn, timer });
        }
    }
}
