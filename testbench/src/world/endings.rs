//! How connections end: calls that are pending, and disconnect events.

use tandem_model::ndk::{Connector, Notification, Object};

use super::close;
use super::expect::await_notification;
use super::state::{Result, State, StepError};
use crate::vector::step;

/// How the connection of a connector ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    /// Context of the disconnect event, if its consumer wants it.
    pub(super) event: Option<u64>,
    /// Whether its consumer has disconnected; whether the connector is closed.
    called: bool,
    closed: bool,
    /// Context of the disconnect that is under way.
    call: Option<u64>,
    /// Whether the event has come; whether no step has expected it yet.
    told: bool,
    unexpected: bool,
}

impl Ending {
    /// Whether it is a reason for the peer to be told of the end.
    fn has_begun(&self) -> bool {
        self.called || self.closed
    }
}

/// NdkDisconnect.
pub(super) fn disconnect(state: &mut State, step: &step::Disconnect) -> Result {
    let name = step.disconnect.value();
    let (node, connector) = state.connector(name)?;
    cut(state, name);
    let context = step.context.0;
    let outcome = state.nic(node)?.disconnect(connector, context);
    if state.answered(node, "NdkDisconnect", outcome, step.returns.0)? {
        let ending = state.ending(name)?;
        ending.called = true;
        ending.call = Some(context);
    }
    Ok(())
}

/// NdkCloseConnector.
pub(super) fn close_connector(state: &mut State, step: &step::CloseConnector) -> Result {
    let name = step.close_connector.value();
    let (node, connector) = state.connector(name)?;
    cut(state, name);
    let ending = state.ending(name)?;
    let broken_off = !ending.has_begun();
    ending.closed = true;
    let known = state.connections.connectors.get(name);
    let peer = known.and_then(|known| state.connections.connectors.get(known.peer.as_ref()?));
    if broken_off && let Some(qp) = peer.and_then(|peer| peer.qp.clone()) {
        state.ledger.broken_off(&qp);
    }
    let outcome = state.nic(node)?.close_connector(connector);
    let object = Object::Connector(connector);
    close::ended(state, node, object, outcome, &step.returns)
}

/// What is posted on the queue pair of a connector is cancelled, if that has a connection.
fn cut(state: &mut State, connector: &str) {
    let known = state.connections.connectors.get(connector);
    let made = known.filter(|known| known.peer.is_some());
    if let Some(qp) = made.and_then(|known| known.qp.clone()) {
        state.ledger.cut(&qp);
    }
}

/// Waits until a call is complete.
pub(super) fn expect_completed(state: &mut State, step: &step::ExpectCompleted) -> Result {
    let node = state.place(&step.expect_completed)?;
    let context = step.context.0;
    let what = format!("the completion of the call with context {context:#x}");
    let found = await_notification(
        state,
        node,
        &what,
        |told| matches!(told, Notification::Completed { request_context, .. } if *request_context == context),
    )?;
    let Notification::Completed {
        connector, status, ..
    } = found
    else {
        return Ok(());
    };
    if let Some(name) = name_of(state, node, connector) {
        state.ending(&name)?.call = None;
    }
    let may = step.status.all();
    if may.iter().any(|may| may.0 == status) {
        return Ok(());
    }
    let may: Vec<String> = may.iter().map(|may| may.0.to_string()).collect();
    Err(StepError::new(format!(
        "the call with context {context:#x} ended with {status}, expected {}",
        may.join(" or ")
    )))
}

/// Waits for a disconnect event, if it has not come to account yet.
pub(super) fn expect_disconnect(state: &mut State, step: &step::ExpectDisconnect) -> Result {
    let name = step.expect_disconnect.value();
    let (node, handle) = state.connector(name)?;
    let what = format!("the disconnect event of connector `{name}`");
    let ending = state.ending(name)?;
    if std::mem::take(&mut ending.unexpected) {
        // The account has compared its context with the one that was asked for.
        let (event, expected) = (ending.event, step.context.map(|context| context.0));
        return match expected.is_none_or(|_| expected == event) {
            true => Ok(()),
            false => Err(StepError::new(format!("{what} has context {event:#x?}"))),
        };
    }
    let found = await_notification(
        state,
        node,
        &what,
        |told| matches!(told, Notification::Disconnect { connector, .. } if *connector == handle),
    )?;
    state.ending(name)?.told = true;
    match (found, step.context) {
        (Notification::Disconnect { context, .. }, Some(expected)) if context != expected.0 => {
            Err(StepError::new(format!("{what} has context {context:#x}")))
        }
        _ => Ok(()),
    }
}

fn name_of(state: &State, node: usize, connector: Connector) -> Option<String> {
    let mut known = state.connections.connectors.iter();
    let found = known.find(|(_, known)| known.node == node && known.connector == connector);
    found.map(|(name, _)| name.clone())
}

/// Whether a completion is that of a disconnect which a later step may expect.
pub(super) fn is_awaited(state: &State, node: usize, told: &Notification) -> bool {
    let Notification::Completed {
        connector,
        request_context,
        ..
    } = told
    else {
        return false;
    };
    let name = name_of(state, node, *connector);
    let known = name.and_then(|name| state.connections.connectors.get(&name));
    known.is_some_and(|known| known.ending.call == Some(*request_context))
}

/// A disconnect event has come: once, and with the context that was asked for.
pub(super) fn told(state: &mut State, node: usize, connector: Connector, context: u64) -> Result {
    let Some(name) = name_of(state, node, connector) else {
        return Err(StepError::new(
            "a disconnect event of a connector that nobody knows",
        ));
    };
    let ending = state.ending(&name)?;
    if ending.event != Some(context) {
        return Err(StepError::new(format!(
            "a disconnect event of connector `{name}` with context {context:#x}, which nobody asked for"
        )));
    }
    if std::mem::replace(&mut ending.told, true) {
        return Err(StepError::new(format!(
            "connector `{name}` told of the end twice"
        )));
    }
    ending.unexpected = true;
    Ok(())
}

/// Each end that was told of has a reason, and a queue pair that failed is one: its consumer hears of it.
pub(super) fn accounted(state: &State) -> Result {
    let connectors = &state.connections.connectors;
    for (name, known) in connectors {
        let Some(peer) = known.peer.as_ref().and_then(|peer| connectors.get(peer)) else {
            continue;
        };
        let mut lives = state.ledger.lives.iter().rev();
        let life = lives.find(|life| Some(&life.name) == known.qp.as_ref() && !life.closed);
        let failed = life.is_some_and(|life| life.told.is_some());
        let ending = &known.ending;
        if ending.told && !failed && !peer.ending.has_begun() && !ending.has_begun() {
            return Err(StepError::new(format!(
                "connector `{name}` told of the end, and nobody has ended the connection"
            )));
        }
        let wanted = ending.event.is_some() && !ending.has_begun();
        if failed && wanted && !ending.told {
            return Err(StepError::new(format!(
                "the queue pair of connector `{name}` failed, and the connector did not tell of the end"
            )));
        }
    }
    Ok(())
}
