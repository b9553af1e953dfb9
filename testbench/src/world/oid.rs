//! OID steps.

use tandem_model::ndk::{Endpoint, EndpointKind, EndpointOwner, Oid, OidRequestType};

use super::state::{Result, State, StepError};
use crate::vector::object;
use crate::vector::step::{AddEndpoints, OidKind, OidStep};

/// What buffers hold before a request.
const FILL: u8 = 0xEE;

/// An OID request, compared with what it must do.
pub(super) fn request(state: &mut State, step: &OidStep) -> Result {
    let place = state.place(&step.oid)?;
    let oid = step.number.map_or(Oid::NDK_LOCAL_ENDPOINTS, Oid);
    let kind = match step.kind {
        OidKind::Query => OidRequestType::QueryInformation,
        OidKind::Set => OidRequestType::SetInformation,
        OidKind::Statistics => OidRequestType::QueryStatistics,
        OidKind::Method => OidRequestType::Method,
    };
    let before = vec![step.fill.unwrap_or(FILL); step.buffer];
    let mut buffer = before.clone();
    let nic = state.nic(place)?;
    let mut outcome = nic.oid_request(kind, oid, &mut buffer);
    if let Some(breach) = nic.hal().breach() {
        breach.answer(&mut outcome, &mut buffer);
    }
    if outcome.status != step.returns.0 {
        return Err(StepError::new(format!(
            "the request returned {}, expected {}",
            outcome.status, step.returns.0
        )));
    }
    let counts = [
        ("BytesWritten", step.written, outcome.bytes_written),
        ("BytesNeeded", step.needed, outcome.bytes_needed),
    ];
    for (name, expected, got) in counts {
        if let Some(expected) = expected.filter(|expected| *expected != got) {
            return Err(StepError::new(format!(
                "{name} is {got}, expected {expected}"
            )));
        }
    }
    if step.untouched && buffer != before {
        let at = buffer.iter().zip(&before).position(|(new, old)| new != old);
        return Err(StepError::new(format!(
            "byte {} of the buffer was written",
            at.unwrap_or(0)
        )));
    }
    let written = outcome.bytes_written as usize;
    if buffer.get(written..) != before.get(written..) {
        return Err(StepError::new("the buffer was written behind BytesWritten"));
    }
    for wanted in &step.answer {
        let length = wanted.hex.0.len();
        let got = buffer.get(wanted.at..wanted.at + length);
        if got != Some(wanted.hex.0.as_slice()) {
            let words = |bytes: &[u8]| -> String {
                bytes.iter().map(|byte| format!("{byte:02x} ")).collect()
            };
            return Err(
                StepError::new(format!("the answer differs at offset {}", wanted.at)).help(
                    format!(
                        "expected: {}\ngot:      {}",
                        words(&wanted.hex.0),
                        got.map_or("nothing: the buffer ends before".into(), words)
                    ),
                ),
            );
        }
    }
    Ok(())
}

/// Adds endpoints.
pub(super) fn add(state: &mut State, step: &AddEndpoints) -> Result {
    let place = state.place(&step.add_endpoints)?;
    for endpoint in &step.endpoints {
        for turn in 0..endpoint.count.unwrap_or(1) {
            let added = endpoint_at(endpoint, turn);
            state.nic(place)?.bench().add_endpoint(added);
        }
    }
    Ok(())
}

fn endpoint_at(endpoint: &object::Endpoint, turn: u16) -> Endpoint {
    let mut local = endpoint.address;
    local.set_port(local.port().wrapping_add(turn));
    Endpoint {
        local,
        tcp_port: endpoint.tcp_port.wrapping_add(turn),
        kind: match endpoint.kind {
            object::EndpointKind::Listener => EndpointKind::Listener,
            object::EndpointKind::Shared => EndpointKind::SharedEndpoint,
        },
        owner: match endpoint.pid {
            Some(pid) => EndpointOwner::UserMode { pid },
            None => EndpointOwner::Kernel,
        },
    }
}
