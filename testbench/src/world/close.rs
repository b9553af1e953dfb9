//! Closing objects.

use tandem_model::ndk::{NdkError, Notification, NtStatus, Object};

use super::expect::await_notification;
use super::state::{Result, State, StepError};
use crate::vector::impairment::Several;
use crate::vector::value::Status;

/// What a close returned, compared with what it may return. One that is pending is waited for.
pub(super) fn ended(
    state: &mut State,
    place: usize,
    object: Object,
    outcome: std::result::Result<NtStatus, NdkError>,
    may: &Several<Status>,
) -> Result {
    let status = outcome.map_err(|error| state.broken(place, error))?;
    let may = may.all();
    if !may.iter().any(|may| may.0 == status) {
        let may: Vec<String> = may.iter().map(|may| may.0.to_string()).collect();
        let call = match object {
            Object::Pd(_) => "NdkClosePd",
            Object::Cq(_) => "NdkCloseCq",
            Object::Qp(_) => "NdkCloseQp",
            Object::Srq(_) => "NdkCloseSrq",
            Object::Mr(_) => "NdkCloseMr",
            Object::Mw(_) => "NdkCloseMw",
            Object::Connector(_) => "NdkCloseConnector",
            Object::Listener(_) => "NdkCloseListener",
            Object::SharedEndpoint(_) => "NdkCloseSharedEndpoint",
        };
        return Err(StepError::new(format!(
            "{call} returned {status}, expected {}",
            may.join(" or ")
        )));
    }
    if status == NtStatus::PENDING {
        await_notification(state, place, "the end of a close", |notification| {
            *notification == Notification::Closed(object)
        })?;
    }
    Ok(())
}
