//! `expect_accounted`: everything that was posted, and all that came of it.

use tandem_model::hal::Hal;
use tandem_model::ndk::{Notification, QpPhase};

use super::endings;
use super::image::Image;
use super::ledger::{CQ, SRQ, Tally};
use super::results::fetch;
use super::state::{Result, State, StepError};
use crate::vector::step::Accounting;

/// Results taken with one call.
const AT_ONCE: usize = 32;

/// Counters of an engine that tell what happened.
const COUNTERS: [&str; 8] = [
    "GO_BACKS",
    "TIMEOUTS",
    "RNR_WAITS",
    "DUPLICATES",
    "NAKS_OUT",
    "CNP_IN",
    "CNP_OUT",
    "DROP_QpState",
];

/// Carries out the step.
pub(super) fn account(state: &mut State, when: Accounting) -> Result {
    match when {
        Accounting::Now => {
            drain(state)?;
        }
        Accounting::Settled => loop {
            state.world.settle()?;
            if drain(state)? == 0 {
                break;
            }
        },
    }
    notifications(state)?;
    if when == Accounting::Settled {
        for life in 0..state.ledger.lives.len() {
            let error = in_error(state, life)?;
            state.ledger.settled(life, error);
        }
    }
    check(state)?;
    if when == Accounting::Settled {
        for life in &state.ledger.lives {
            state.ledger.both_ends(life).map_err(StepError::new)?;
        }
        state.ledger.shared_in_order().map_err(StepError::new)?;
        memory(state)?;
    }
    Ok(())
}

fn check(state: &mut State) -> Result {
    let Some(wrong) = state.ledger.wrong() else {
        return Ok(());
    };
    let outstanding = state.outstanding();
    Err(StepError::new(wrong).help(outstanding))
}

/// Takes all results that are there; how many.
fn drain(state: &mut State) -> Result<usize> {
    let names: Vec<String> = state.cqs.keys().cloned().collect();
    let mut taken = 0;
    for name in &names {
        loop {
            let got = fetch(state, name, AT_ONCE, false)?.len();
            taken += got;
            if got < AT_ONCE {
                break;
            }
        }
    }
    Ok(taken)
}

/// Takes the notifications, each of which must have a reason.
fn notifications(state: &mut State) -> Result {
    for place in 0..state.world.nodes.len() {
        let all = match state.world.nodes.get_mut(place) {
            Some(node) => std::mem::take(&mut node.notifications),
            None => continue,
        };
        let (awaited, all): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|told| endings::is_awaited(state, place, told));
        if let Some(node) = state.world.nodes.get_mut(place) {
            node.notifications = awaited;
        }
        for notification in all {
            match &notification {
                Notification::QpError { qp, status, .. } => {
                    let mut lives = state.ledger.lives.iter_mut();
                    let life = lives.find(|life| life.node == place && life.handle == *qp);
                    if let Some(life) = life
                        && let Some(first) = life.told.replace(*status)
                    {
                        let message = format!(
                            "queue pair `{}` told of errors twice: {first}, {status}",
                            life.name
                        );
                        return Err(StepError::new(message));
                    }
                }
                Notification::Cq { cq, status, .. } => {
                    let known = state.cqs.iter();
                    let name = known
                        .filter(|(_, known)| known.node == place && known.cq == *cq)
                        .map(|(name, _)| name.clone())
                        .next()
                        .unwrap_or_default();
                    fired(state, CQ, &name, status.is_success())?;
                }
                Notification::Srq { srq, .. } => {
                    let known = state.srqs.iter();
                    let name = known
                        .filter(|(_, known)| known.node == place && known.srq == *srq)
                        .map(|(name, _)| name.clone())
                        .next()
                        .unwrap_or_default();
                    fired(state, SRQ, &name, true)?;
                }
                Notification::Disconnect {
                    connector, context, ..
                } => endings::told(state, place, *connector, *context)?,
                other => {
                    let message = format!("a notification that nobody expected: {other:?}");
                    return Err(StepError::new(message));
                }
            }
        }
    }
    endings::accounted(state)
}

/// A queue has notified: no oftener than it was armed.
fn fired(state: &mut State, kind: &'static str, name: &str, success: bool) -> Result {
    let queue = (kind, name.to_owned());
    let arms = state.ledger.arms.entry(queue).or_default();
    arms.fired += 1;
    if arms.fired > arms.made || !success {
        let message = format!(
            "{kind} `{name}` notified {} times{}, and was armed {} times",
            arms.fired,
            if success {
                ""
            } else {
                " with an error at last"
            },
            arms.made
        );
        return Err(StepError::new(message));
    }
    Ok(())
}

fn in_error(state: &State, life: usize) -> Result<bool> {
    let Some(life) = state.ledger.lives.get(life).filter(|life| !life.closed) else {
        return Ok(false);
    };
    let Some(node) = state.world.nodes.get(life.node) else {
        return Ok(false);
    };
    let phase = node.nic.qp_phase(life.handle);
    let phase = phase.map_err(|error| state.broken(life.node, error))?;
    Ok(phase == QpPhase::Error)
}

fn memory(state: &mut State) -> Result {
    let image = Image::of(state);
    let names: Vec<String> = state.memories.keys().cloned().collect();
    for name in names {
        let memory = state.memory(&name)?.clone();
        let length = memory.bytes() as usize;
        let got = memory.read(state.nic(memory.node)?.hal_mut(), 0, length);
        let got = got.map_err(|error| state.broken(memory.node, error))?;
        match image.compare(&name, memory.shadow(0, length), &got) {
            Ok(compared) => state.ledger.tally.bytes += compared,
            Err((at, got, may)) => {
                let may: Vec<String> = may.iter().map(|byte| format!("{byte:#04x}")).collect();
                return Err(StepError::new(format!(
                    "memory `{name}` holds {got:#04x} at byte {at}, and may hold {}",
                    may.join(" or ")
                )));
            }
        }
    }
    Ok(())
}

/// What was posted and what came of it, at the end.
pub(super) fn tally(state: &mut State) -> Result<Tally> {
    if !state.ledger.is_kept() {
        return Ok(Tally::default());
    }
    check(state)?;
    let mut tally = std::mem::take(&mut state.ledger.tally);
    for place in 0..state.world.nodes.len() {
        for name in COUNTERS {
            let Some(offset) = super::register(name) else {
                continue;
            };
            let value = state.nic(place)?.hal_mut().read_register(offset);
            let value = value.map_err(|error| state.broken(place, error))?;
            *tally.counters.entry(name.into()).or_default() += u64::from(value);
        }
    }
    Ok(tally)
}
