//! Steps of connection management in words.

use super::step::{closed, returns};
use crate::vector::step::Step;
use crate::vector::value::{HexBytes, Status};
use tandem_model::ndk::NtStatus;

fn data(data: &HexBytes) -> String {
    match data.0.len() {
        0 => String::new(),
        bytes => format!(", with {bytes} bytes of private data"),
    }
}

/// What a call returns, unless it is pending as usual.
fn pending(status: Status) -> String {
    match status.0 {
        NtStatus::PENDING => String::new(),
        other => returns(other),
    }
}

/// A step of connection management in words.
pub(super) fn sentence(step: &Step) -> String {
    match step {
        Step::Listen(s) => format!("{} listens{}", s.listen.value(), returns(s.returns.0)),
        Step::ConnectEvents(s) => {
            let what = if s.paused { "pauses" } else { "goes on" };
            format!("{} {what}", s.connect_events.value())
        }
        Step::ConnectTo(s) => format!(
            "{} asks listener {} for a connection of {}{}{}",
            s.connect_to.value(),
            s.listener.value(),
            s.qp.value(),
            data(&s.private_data),
            pending(s.returns)
        ),
        Step::ExpectConnect(s) => format!(
            "listener {} has a request, connector {}",
            s.expect_connect.value(),
            s.connector.value()
        ),
        Step::Accept(s) => format!(
            "{} accepts for {}{}{}",
            s.accept.value(),
            s.qp.value(),
            data(&s.private_data),
            pending(s.returns)
        ),
        Step::Reject(s) => format!(
            "{} rejects{}{}",
            s.reject.value(),
            data(&s.private_data),
            returns(s.returns.0)
        ),
        Step::CompleteConnect(s) => format!(
            "{} completes its connection{}",
            s.complete_connect.value(),
            returns(s.returns.0)
        ),
        Step::Disconnect(s) => {
            format!("{} disconnects{}", s.disconnect.value(), pending(s.returns))
        }
        Step::ExpectCompleted(s) => {
            let word = |may: &Status| {
                let name = may.0.name();
                name.map_or_else(|| may.0.to_string(), str::to_owned)
            };
            let may: Vec<String> = s.status.all().iter().map(word).collect();
            let status = may.join(" or ");
            format!(
                "the call with context {:#x} of node {} ends with {status}",
                s.context.0,
                s.expect_completed.value()
            )
        }
        Step::ExpectDisconnect(s) => {
            format!("{} is told of the end", s.expect_disconnect.value())
        }
        Step::ExpectConnection(s) => {
            format!("{} knows its connection", s.expect_connection.value())
        }
        Step::CloseConnector(s) => closed("connector", &s.close_connector, &s.returns),
        Step::CloseListener(s) => closed("listener", &s.close_listener, &s.returns),
        Step::CloseSharedEndpoint(s) => {
            closed("shared endpoint", &s.close_shared_endpoint, &s.returns)
        }
        // None of connection management.
        _ => String::new(),
    }
}
