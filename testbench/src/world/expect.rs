//! Expected notifications and memory.

use tandem_model::ndk::{Notification, NtStatus};

use super::results::PATIENCE;
use super::state::{Result, State, StepError};
use super::{Activity, bytes_of};
use crate::vector::step::ExpectMemory;

/// Waits for a notification.
pub(super) fn notification(state: &mut State, name: &str, status: NtStatus) -> Result {
    let (place, handle, context) = {
        let cq = state.cq(name)?;
        (cq.node, cq.cq, cq.context)
    };
    let what = format!("a notification of completion queue `{name}`");
    let found = await_notification(
        state,
        place,
        &what,
        |notification| matches!(notification, Notification::Cq { cq, .. } if *cq == handle),
    )?;
    let expected = Notification::Cq {
        cq: handle,
        context,
        status,
    };
    if found == expected {
        return Ok(());
    }
    Err(
        StepError::new(format!("another notification of completion queue `{name}`"))
            .help(format!("expected: {expected:?}\ngot:      {found:?}")),
    )
}

/// Waits for the error of a queue pair.
pub(super) fn qp_error(state: &mut State, name: &str, expected: Option<NtStatus>) -> Result {
    let (place, handle) = {
        let qp = state.qp(name)?;
        (qp.node, qp.qp)
    };
    let what = format!("an error of queue pair `{name}`");
    let found = await_notification(
        state,
        place,
        &what,
        |notification| matches!(notification, Notification::QpError { qp, .. } if *qp == handle),
    )?;
    match (found, expected) {
        (Notification::QpError { status, .. }, Some(expected)) if status != expected => {
            Err(StepError::new(format!(
                "queue pair `{name}` failed with {status}, expected {expected}"
            )))
        }
        _ => Ok(()),
    }
}

/// Waits for a notification and takes it.
pub(super) fn await_notification(
    state: &mut State,
    place: usize,
    what: &str,
    mut fits: impl FnMut(&Notification) -> bool,
) -> Result<Notification> {
    let start = state.world.clocks();
    let (mut idle, mut activity) = (0, None);
    loop {
        if let Some(node) = state.world.nodes.get_mut(place)
            && let Some(at) = node.notifications.iter().position(&mut fits)
        {
            return Ok(node.notifications.remove(at));
        }
        activity = match activity {
            Some(last) => Some(state.world.go_on(last)?),
            None => Some(state.world.pump()?),
        };
        idle = match activity.is_some_and(Activity::is_any) {
            true => 0,
            false => idle + 1,
        };
        let waited = state.world.clocks() - start;
        if idle > 1 || waited > PATIENCE {
            return Err(
                StepError::late(format!("waited {waited} clocks for {what}"))
                    .help(state.outstanding()),
            );
        }
    }
}

/// No notification must have come when everything has ended.
pub(super) fn no_notification(state: &mut State, name: &str) -> Result {
    state.world.settle()?;
    let (place, handle) = {
        let cq = state.cq(name)?;
        (cq.node, cq.cq)
    };
    let found = state.world.nodes.get(place).and_then(|node| {
        node.notifications.iter().find(
            |notification| matches!(notification, Notification::Cq { cq, .. } if *cq == handle),
        )
    });
    match found {
        None => Ok(()),
        Some(found) => Err(StepError::new(format!(
            "completion queue `{name}` notified, which nobody expected: {found:?}"
        ))),
    }
}

/// Compares memory.
pub(super) fn memory(state: &mut State, step: &ExpectMemory) -> Result {
    let name = step.expect_memory.value();
    let memory = state.memory(name)?.clone();
    let length = step.length.unwrap_or(memory.bytes() - step.offset) as usize;
    let place = memory.node;
    let hal = state.nic(place)?.hal_mut();
    let got = memory.read(hal, step.offset, length);
    let got = got.map_err(|error| state.broken(place, error))?;
    let expected = match (&step.is, &step.same_as) {
        (Some(pattern), _) => bytes_of(pattern, step.from, length),
        (None, Some(other)) => {
            let memory = state.memory(&other.memory)?.clone();
            let hal = state.nic(memory.node)?.hal_mut();
            let bytes = memory.read(hal, other.offset, length);
            bytes.map_err(|error| state.broken(memory.node, error))?
        }
        (None, None) => memory.shadow(step.offset, length).to_vec(),
    };
    let Some(at) = got
        .iter()
        .zip(&expected)
        .position(|(got, expected)| got != expected)
    else {
        return Ok(());
    };
    let wrong = got
        .iter()
        .zip(&expected)
        .filter(|(got, expected)| got != expected)
        .count();
    let shown = |bytes: &[u8]| {
        let bytes = bytes.iter().skip(at).take(16);
        bytes.map(|byte| format!("{byte:02x} ")).collect::<String>()
    };
    let message = format!(
        "memory `{name}` differs at byte {} ({wrong} of {length} bytes are wrong)",
        step.offset + at as u64
    );
    Err(StepError::new(message).help(format!(
        "expected: {}\ngot:      {}",
        shown(&expected),
        shown(&got)
    )))
}
