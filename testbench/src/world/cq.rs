//! What a consumer sets of a completion queue.

use super::state::{Result, State};
use crate::vector::step::{Moderate, ResizeCq};

/// NdkResizeCq.
pub(super) fn resize(state: &mut State, step: &ResizeCq) -> Result {
    let (place, cq) = {
        let cq = state.cq(&step.resize_cq)?;
        (cq.node, cq.cq)
    };
    let outcome = state.nic(place)?.resize_cq(cq, step.depth);
    state.returned(place, "NdkResizeCq", outcome, step.returns.0)?;
    Ok(())
}

/// NdkControlCqInterruptModeration.
pub(super) fn moderate(state: &mut State, step: &Moderate) -> Result {
    let (place, cq) = {
        let cq = state.cq(&step.moderate_cq)?;
        (cq.node, cq.cq)
    };
    let nic = state.nic(place)?;
    let outcome = nic.control_cq_interrupt_moderation(cq, step.interval, step.count);
    let call = "NdkControlCqInterruptModeration";
    state.returned(place, call, outcome, step.returns.0)?;
    Ok(())
}
