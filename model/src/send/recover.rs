//! Losses and receivers that are not ready: going back, counting, waiting, and the timer.

use super::respond::{Judged, Response};
use super::{SendQueue, UNSENT};
use crate::abi::{QpState, Status};
use crate::context::QpContext;
use crate::engine::Timer;
use crate::host::TimeUnits;
use crate::wire::{Psn, rnr_delay};

/// How far a send queue is in getting over losses.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Recovery {
    /// A response told of a loss, and nothing has moved since: the same loss is told again
    /// (WIRE-NAK-13, WIRE-TMO-8).
    recovering: bool,
    /// Timer code of the RNR NAK for which the queue waits.
    pub waiting: Option<u8>,
    /// Go-backs without progress.
    go_backs: u8,
    /// Waits for RNR without progress.
    rnr_waits: u8,
    /// The acknowledgement timer begins anew.
    restarts: bool,
    /// A wait for RNR begins.
    wait_begins: bool,
    /// The timer as the world knows it.
    told: Option<Timer>,
}

impl Recovery {
    /// After `QpInit`: nothing is left but what the world knows of the timer.
    pub fn cleared(&self) -> Self {
        Self {
            told: self.told,
            ..Self::default()
        }
    }

    pub fn describe(&self) -> String {
        let mut text = String::new();
        if self.go_backs > 0 || self.rnr_waits > 0 {
            text += &format!(
                "; {} go-backs and {} waits for RNR without progress",
                self.go_backs, self.rnr_waits
            );
        }
        if self.recovering {
            text += ", recovering";
        }
        if let Some(code) = self.waiting {
            text += &format!("; waits for RNR, timer code {code}");
        }
        text
    }
}

impl SendQueue {
    /// PSN of the oldest packet not acknowledged.
    pub fn oldest(&self) -> Psn {
        self.psn(self.una)
    }

    /// Everything before `packet` is acknowledged. If that is news it is progress (WIRE-TMO-6).
    pub(super) fn acknowledge(&mut self, packet: u64) {
        if packet <= self.una {
            return;
        }
        self.una = packet;
        let recovery = &mut self.recovery;
        recovery.recovering = false;
        recovery.go_backs = 0;
        recovery.rnr_waits = 0;
        recovery.restarts = true;
        if self.next < packet {
            self.next = packet;
            self.current = self.current.filter(|current| packet < current.end);
        }
    }

    /// A response tells of a loss at `packet`, by a NAK of this `error_code` if it is not 0
    /// (WIRE-TMO-4, -7, WIRE-RNR-9).
    pub(super) fn lost(
        &self,
        packet: u64,
        qp: &QpContext,
        error_code: u8,
        why: &'static str,
    ) -> Judged {
        let Recovery {
            recovering,
            waiting,
            go_backs,
            ..
        } = self.recovery;
        let progress = packet > self.una;
        if !progress && (recovering || waiting.is_some()) {
            return (Response::Stale, "the loss is known");
        }
        if go_backs * u8::from(!progress) >= qp.retry_cnt {
            let response = Response::Fatal {
                packet,
                status: Status::RetryExceeded,
                error_code,
            };
            return (response, "retry_cnt go-backs brought no progress");
        }
        (Response::GoBack(packet), why)
    }

    /// An RNR NAK of `packet` (WIRE-RNR-7, -8).
    pub(super) fn not_ready(&self, packet: u64, qp: &QpContext, timer: u8) -> Judged {
        let Recovery {
            waiting, rnr_waits, ..
        } = self.recovery;
        let progress = packet > self.una;
        if !progress && waiting.is_some() {
            return (Response::Stale, "the queue waits already");
        }
        if qp.rnr_retry != QpContext::ENDLESS && rnr_waits * u8::from(!progress) >= qp.rnr_retry {
            let response = Response::Fatal {
                packet,
                status: Status::RnrRetryExceeded,
                error_code: 0x20 | timer,
            };
            return (response, "rnr_retry waits brought no progress");
        }
        let response = Response::RnrWait { packet, timer };
        (response, "the receiver is not ready")
    }

    /// Carries out a loss that a response told of.
    pub(super) fn recover(&mut self, packet: u64) {
        self.acknowledge(packet);
        self.count_go_back();
        self.recovery.recovering = true;
    }

    /// Carries out an RNR NAK (WIRE-RNR-6).
    pub(super) fn wait(&mut self, packet: u64, timer: u8) {
        self.acknowledge(packet);
        self.go_back();
        let recovery = &mut self.recovery;
        recovery.rnr_waits = recovery.rnr_waits.saturating_add(1);
        recovery.recovering = false;
        recovery.waiting = Some(timer);
        recovery.wait_begins = true;
    }

    /// The wait for RNR ends.
    pub fn resume(&mut self) {
        self.recovery.waiting = None;
    }

    /// Whether the acknowledgement timer, if it ends, fails the queue.
    pub fn timeout_fails(&self, qp: &QpContext) -> bool {
        self.recovery.go_backs >= qp.retry_cnt
    }

    /// The acknowledgement timer ends (WIRE-TMO-3, -4).
    pub fn timed_out(&mut self, fails: bool) {
        if fails {
            self.fail(self.una, Status::RetryExceeded, 0);
        } else {
            self.count_go_back();
            self.recovery.recovering = false;
        }
    }

    fn count_go_back(&mut self) {
        self.go_back();
        self.recovery.go_backs = self.recovery.go_backs.saturating_add(1);
    }

    /// Sending starts again at the oldest packet not acknowledged; entries and memory are read again.
    fn go_back(&mut self) {
        self.next = self.una;
        self.current = None;
        self.recovery.restarts = true;
        self.forget_local_failure();
    }

    /// A request that failed by a check here is checked again when its turn comes.
    pub(super) fn forget_local_failure(&mut self) {
        self.failure = None;
        if let Some(request) = self.in_flight.back()
            && request.end == UNSENT
        {
            self.next_index = request.index;
            self.in_flight.pop_back();
        }
    }

    /// The timer that runs (WIRE-TMO-1, -2, WIRE-RNR-10).
    pub fn timer(&self, qp: &QpContext, units: TimeUnits) -> Option<Timer> {
        if qp.state != QpState::Rts || self.fatal {
            return None;
        }
        if let Some(code) = self.recovery.waiting {
            let hundredths = rnr_delay(code).as_micros() as u64 / 10;
            let clocks = u64::from(units.rnr.max(1)) * hundredths;
            return Some(Timer::Rnr { clocks });
        }
        let clocks = u64::from(units.time.max(1)) << qp.timeout;
        (qp.timeout != 0 && self.una != self.top).then_some(Timer::Acknowledge { clocks })
    }

    /// What an action did to the timer: the one that begins now, `Some(None)` if none runs any more,
    /// `None` if nothing changed.
    pub fn timer_change(&mut self, qp: &QpContext, units: TimeUnits) -> Option<Option<Timer>> {
        let timer = self.timer(qp, units);
        let recovery = &mut self.recovery;
        let begins = match timer {
            None => false,
            Some(Timer::Acknowledge { .. }) => recovery.restarts,
            Some(Timer::Rnr { .. }) => recovery.wait_begins,
        };
        recovery.restarts = false;
        recovery.wait_begins = false;
        (begins || timer != recovery.told).then(|| {
            recovery.told = timer;
            timer
        })
    }
}
