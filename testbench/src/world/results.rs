//! Expected results.

use tandem_model::ndk::{NdkResult, NdkResultEx, NtStatus, OperationType};

use super::Activity;
use super::state::{Result, State, StepError};
use crate::vector::step::{ErrorCode, ExpectResults, ExpectedResult, Poll, ResultType};

/// Clocks that a step waits at most.
pub(super) const PATIENCE: u64 = 20_000_000;

/// A result, fetched in either way.
#[derive(Clone, Debug)]
pub(super) struct Got {
    result: NdkResult,
    extended: Option<NdkResultEx>,
}

impl Got {
    fn words(&self) -> String {
        let mut text = format!(
            "{}, context {:#x}, QP context {:#x}, {} bytes",
            self.result.status,
            self.result.request_context,
            self.result.qp_context,
            self.result.bytes_transferred
        );
        if let Some(result) = self.extended {
            text.push_str(&format!(
                ", {:?}, error code {:#x}, output {:#x}",
                result.operation,
                result.provider_error_code,
                result.type_specific_completion_output
            ));
        }
        text
    }
}

/// An expected result with its names looked up.
struct Wanted {
    status: NtStatus,
    context: Option<u64>,
    qp_context: Option<u64>,
    operation: Option<OperationType>,
    bytes: Option<u32>,
    token: Option<u64>,
    error_code: Option<ErrorCode>,
}

impl Wanted {
    fn words(&self) -> String {
        let mut words = vec![self.status.to_string()];
        words.extend(self.context.map(|context| format!("context {context:#x}")));
        words.extend(
            self.qp_context
                .map(|context| format!("QP context {context:#x}")),
        );
        words.extend(self.bytes.map(|bytes| format!("{bytes} bytes")));
        words.extend(self.operation.map(|operation| format!("{operation:?}")));
        words.extend(self.token.map(|token| format!("token {token:#x}")));
        words.extend(
            self.error_code
                .map(|code| format!("error code {code:?}").to_lowercase()),
        );
        words.join(", ")
    }

    fn fits(&self, got: &Got) -> bool {
        let plain = self.status == got.result.status
            && self
                .context
                .is_none_or(|context| context == got.result.request_context)
            && self
                .qp_context
                .is_none_or(|context| context == got.result.qp_context)
            && self
                .bytes
                .is_none_or(|bytes| bytes == got.result.bytes_transferred);
        let extended = got.extended.is_none_or(|result| {
            let code = result.provider_error_code;
            let code_fits = match self.error_code {
                // 0 on success, in any case (NDK-RES-9).
                None => code == 0 || !result.status.is_success(),
                Some(ErrorCode::Given) => code != 0,
                Some(ErrorCode::None) => code == 0,
                Some(ErrorCode::Is(number)) => code == number,
            };
            code_fits
                && self
                    .operation
                    .is_none_or(|operation| operation == result.operation)
                && self
                    .token
                    .is_none_or(|token| token == result.type_specific_completion_output)
        });
        plain && extended
    }
}

/// Looks names up and counts contexts up.
fn wanted(state: &mut State, place: usize, results: &[ExpectedResult]) -> Result<Vec<Wanted>> {
    let mut list = Vec::new();
    for result in results {
        let qp_context = match &result.qp {
            Some(name) => Some(state.qp(name)?.context),
            None => None,
        };
        let pd = state.default_pds.get(place).copied();
        let token = match (&result.token, pd) {
            (Some(token), Some(pd)) => Some(state.remote_token(token, place, pd)?.0.into()),
            _ => None,
        };
        for turn in 0..result.times.unwrap_or(1) {
            list.push(Wanted {
                status: result.status.0,
                context: result
                    .context
                    .map(|number| number.0.wrapping_add(turn.into())),
                qp_context,
                operation: result.r#type.map(operation),
                bytes: result.bytes,
                token,
                error_code: result.error_code,
            });
        }
    }
    Ok(list)
}

fn operation(name: ResultType) -> OperationType {
    match name {
        ResultType::Receive => OperationType::Receive,
        ResultType::Send => OperationType::Send,
        ResultType::FastRegister => OperationType::FastRegister,
        ResultType::Bind => OperationType::Bind,
        ResultType::Invalidate => OperationType::Invalidate,
        ResultType::Read => OperationType::Read,
        ResultType::Write => OperationType::Write,
        ResultType::ReceiveAndInvalidate => OperationType::ReceiveAndInvalidate,
    }
}

/// One call of NdkGetCqResults(Ex).
pub(super) fn fetch(state: &mut State, cq: &str, n: usize, plain: bool) -> Result<Vec<Got>> {
    let (place, handle) = {
        let cq = state.cq(cq)?;
        (cq.node, cq.cq)
    };
    let nic = state.nic(place)?;
    let got: std::result::Result<Vec<Got>, _> = if plain {
        let mut results = vec![NdkResult::default(); n];
        nic.get_cq_results(handle, &mut results).map(|taken| {
            let results = results.into_iter().take(taken);
            results
                .map(|result| Got {
                    result,
                    extended: None,
                })
                .collect()
        })
    } else {
        let mut results = vec![NdkResultEx::default(); n];
        nic.get_cq_results_ex(handle, &mut results).map(|taken| {
            let results = results.into_iter().take(taken);
            results
                .map(|result| Got {
                    result: result.into(),
                    extended: Some(result),
                })
                .collect()
        })
    };
    let got = got.map_err(|error| state.broken(place, error))?;
    for one in &got {
        count(state, place, one);
        if let Some(result) = &one.extended {
            state.ledger.result(place, result);
        }
    }
    Ok(got)
}

/// Takes note of a result for the words on what is outstanding.
fn count(state: &mut State, place: usize, got: &Got) {
    let receive = got
        .extended
        .is_some_and(|result| result.operation.is_receive());
    let owner = state
        .qps
        .values_mut()
        .find(|qp| qp.node == place && qp.context == got.result.qp_context);
    if let Some(qp) = owner {
        qp.seen[usize::from(receive)] += 1;
    }
}

/// Waits for results and compares them.
pub(super) fn results(state: &mut State, step: &ExpectResults) -> Result {
    let name = step.expect_results.value();
    let place = state.cq(name)?.node;
    let wanted = wanted(state, place, &step.results)?;
    let start = state.world.clocks();
    let mut got: Vec<Got> = Vec::new();
    let (mut idle, mut activity) = (0, None);
    loop {
        got.extend(fetch(state, name, wanted.len() - got.len(), step.plain)?);
        if got.len() == wanted.len() {
            break;
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
            let why = if idle > 1 {
                "everything is idle"
            } else {
                "still busy"
            };
            let next = wanted
                .get(got.len())
                .map_or_else(String::new, Wanted::words);
            return Err(StepError::late(format!(
                "waited {waited} clocks for {} of completion queue `{name}`, {} came; {why}",
                match wanted.len() {
                    1 => "1 result".into(),
                    count => format!("{count} results"),
                },
                got.len()
            ))
            .help(format!(
                "next should be: {next}\n{}{}",
                state.outstanding(),
                list(&got)
            )));
        }
    }
    if step.any_order {
        return compare_any_order(name, &wanted, &got);
    }
    compare(name, &wanted, &got)
}

fn list(got: &[Got]) -> String {
    got.iter()
        .enumerate()
        .map(|(i, got)| format!("\nresult {i}: {}", got.words()))
        .collect()
}

fn compare(name: &str, wanted: &[Wanted], got: &[Got]) -> Result {
    for (i, (wanted, one)) in wanted.iter().zip(got).enumerate() {
        if !wanted.fits(one) {
            let message = format!("result {i} of completion queue `{name}` is another one");
            return Err(StepError::new(message).help(format!(
                "expected: {}\ngot:      {}",
                wanted.words(),
                one.words()
            )));
        }
    }
    Ok(())
}

fn compare_any_order(name: &str, wanted: &[Wanted], got: &[Got]) -> Result {
    let mut left: Vec<&Got> = got.iter().collect();
    for wanted in wanted {
        match left.iter().position(|got| wanted.fits(got)) {
            Some(at) => {
                left.remove(at);
            }
            None => {
                let message =
                    format!("no result of completion queue `{name}` fits an expected one");
                return Err(StepError::new(message).help(format!(
                    "expected: {}\ngot:{}",
                    wanted.words(),
                    list(got)
                )));
            }
        }
    }
    Ok(())
}

/// One call, with what it must return.
pub(super) fn poll(state: &mut State, step: &Poll) -> Result {
    let name = step.poll.value();
    let place = state.cq(name)?.node;
    let wanted = wanted(state, place, &step.results)?;
    let got = fetch(state, name, step.n, step.plain)?;
    if got.len() != step.returns {
        return Err(StepError::new(format!(
            "the call returned {} results, expected {}",
            got.len(),
            step.returns
        ))
        .help(list(&got).trim_start().to_owned()));
    }
    compare(name, &wanted, &got)
}

/// The queue must be empty when everything has ended.
pub(super) fn no_results(state: &mut State, name: &str) -> Result {
    state.world.settle()?;
    let got = fetch(state, name, 8, false)?;
    if got.is_empty() {
        return Ok(());
    }
    let message = format!("completion queue `{name}` has a result that nobody expected");
    Err(StepError::new(message).help(list(&got).trim_start().to_owned()))
}
