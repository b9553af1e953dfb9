//! Shared receive queues.

use tandem_model::ndk::{Notification, Object, Sge, SrqParameters};

use super::ledger::SRQ;
use super::state::{Result, SrqState, State, StepError};
use super::{close, expect, post};
use crate::vector::Vector;
use crate::vector::step::{CloseSrq, ModifySrq, SrqReceive};

/// Contexts that nobody chose.
const CONTEXTS: u64 = 0x5352_5100_0000_0000;

/// Creates those of a vector.
pub(super) fn create(state: &mut State, vector: &Vector) -> Result {
    for (context, (name, srq)) in (CONTEXTS..).zip(&vector.head.srq) {
        let place = state.place(&srq.node)?;
        let pd = state.pd(&srq.pd, place)?;
        let parameters = SrqParameters {
            depth: srq.depth.unwrap_or(64),
            max_receive_request_sge: srq.receive_sge.unwrap_or(4),
            notify_threshold: srq.threshold,
            notification_context: srq.context.map_or(context, |number| number.0),
        };
        let created = state.nic(place)?.create_srq(pd, &parameters);
        let what = format!("creating shared receive queue `{name}`");
        let created = state
            .created(place, &what, created)
            .map_err(|error| error.at(srq.span()))?;
        let known = SrqState {
            node: place,
            pd,
            srq: created,
            context: parameters.notification_context,
        };
        state.srqs.insert(name.clone(), known);
        if srq.threshold > 0 {
            state.ledger.armed(SRQ, name);
        }
    }
    Ok(())
}

/// NdkSrqReceive.
pub(super) fn receive(state: &mut State, step: &SrqReceive) -> Result {
    let (place, srq, pd) = {
        let srq = state.srq(&step.srq_receive)?;
        (srq.node, srq.srq, srq.pd)
    };
    let sgl: Vec<Sge> = step
        .sgl
        .iter()
        .map(|named| {
            post::element(state, named, place, pd, false).map_err(|error| error.at(named.span()))
        })
        .collect::<Result<_>>()?;
    for turn in 0..step.times.unwrap_or(1) {
        let context = step.context.0.wrapping_add(turn.into());
        let outcome = state.nic(place)?.srq_receive(srq, context, &sgl);
        let posted = state.returned(place, "NdkSrqReceive", outcome, step.returns.0)?;
        if posted.is_some() && state.ledger.is_kept() {
            let entry = post::shared_receive(state, step, context)?;
            state.ledger.posted_shared(&step.srq_receive, entry);
        }
    }
    // A send that overtakes its receive's doorbell would be refused.
    state.world.quiet()?;
    Ok(())
}

/// NdkModifySrq.
pub(super) fn modify(state: &mut State, step: &ModifySrq) -> Result {
    let (place, srq) = {
        let srq = state.srq(&step.modify_srq)?;
        (srq.node, srq.srq)
    };
    let nic = state.nic(place)?;
    let outcome = nic.modify_srq(srq, step.depth, step.threshold);
    let done = state.returned(place, "NdkModifySrq", outcome, step.returns.0)?;
    if done.is_some() {
        state.ledger.armed(SRQ, &step.modify_srq);
    }
    Ok(())
}

/// NdkCloseSrq.
pub(super) fn close(state: &mut State, step: &CloseSrq) -> Result {
    let name = step.close_srq.value();
    let (place, srq) = {
        let srq = state.srq(name)?;
        (srq.node, srq.srq)
    };
    let outcome = state.nic(place)?.close_srq(srq);
    close::ended(state, place, Object::Srq(srq), outcome, &step.returns)?;
    state.srqs.remove(name);
    Ok(())
}

/// Waits for its notification.
pub(super) fn notification(state: &mut State, name: &str) -> Result {
    let (place, handle, context) = {
        let srq = state.srq(name)?;
        (srq.node, srq.srq, srq.context)
    };
    let what = format!("a notification of shared receive queue `{name}`");
    let found = expect::await_notification(
        state,
        place,
        &what,
        |notification| matches!(notification, Notification::Srq { srq, .. } if *srq == handle),
    )?;
    match found {
        Notification::Srq { context: got, .. } if got != context => Err(StepError::new(format!(
            "{what} with another context: {got:#x}"
        ))),
        _ => Ok(()),
    }
}

/// None must have come when everything has ended.
pub(super) fn no_notification(state: &mut State, name: &str) -> Result {
    state.world.settle()?;
    let (place, handle) = {
        let srq = state.srq(name)?;
        (srq.node, srq.srq)
    };
    let is_its = |notification: &Notification| matches!(notification, Notification::Srq { srq, .. } if *srq == handle);
    let node = state.world.nodes.get(place);
    if node.is_some_and(|node| node.notifications.iter().any(is_its)) {
        let message = format!("shared receive queue `{name}` notified");
        return Err(StepError::new(message));
    }
    Ok(())
}
