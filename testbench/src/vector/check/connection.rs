//! Checks of connection management.

use super::super::step::Step;
use super::super::{At, Fault, Vector};
use super::{Result, find, same_node};

/// Checks the objects.
pub(super) fn objects(vector: &Vector) -> Result {
    let head = &vector.head;
    let listeners = head.listener.values().map(|own| (&own.node, &own.ip));
    let endpoints = head.shared_endpoint.values();
    let endpoints = endpoints.map(|own| (&own.node, &own.ip));
    for (node, ip) in listeners.chain(endpoints) {
        find(&head.node, "node", node)?;
        if let Some(ip) = ip
            && !matches!(*ip.value(), 4 | 6)
        {
            return Err(Fault::new(ip.span(), "an IP version is 4 or 6"));
        }
    }
    for connector in head.connector.values() {
        find(&head.node, "node", &connector.node)?;
    }
    Ok(())
}

/// Checks a step.
pub(super) fn step(vector: &Vector, step: &Step) -> Result {
    let head = &vector.head;
    let listener = |name| find(&head.listener, "listener", name).map(|_| ());
    let qp = |name| find(&head.qp, "queue pair", name).map(|_| ());
    match step {
        Step::Listen(s) => listener(&s.listen),
        Step::ConnectEvents(s) => listener(&s.connect_events),
        Step::CloseListener(s) => listener(&s.close_listener),
        Step::ConnectTo(s) => {
            let node = &find(&head.connector, "connector", &s.connect_to)?.node;
            same_node(&s.qp, node, &find(&head.qp, "queue pair", &s.qp)?.node)?;
            if let Some(name) = &s.shared_endpoint {
                let found = find(&head.shared_endpoint, "shared endpoint", name)?;
                same_node(name, node, &found.node)?;
            }
            listener(&s.listener)
        }
        Step::ExpectConnect(s) => {
            if head.connector.contains_key(s.connector.value()) {
                let message = format!("`{}` is a connector already", s.connector.value());
                return Err(Fault::new(s.connector.span(), message).label("another name, please"));
            }
            listener(&s.expect_connect)
        }
        Step::Accept(s) => {
            connector(vector, &s.accept)?;
            qp(&s.qp)
        }
        Step::Reject(s) => connector(vector, &s.reject),
        Step::CompleteConnect(s) => connector(vector, &s.complete_connect),
        Step::Disconnect(s) => connector(vector, &s.disconnect),
        Step::ExpectDisconnect(s) => connector(vector, &s.expect_disconnect),
        Step::CloseConnector(s) => connector(vector, &s.close_connector),
        Step::ExpectConnection(s) => {
            if let Some(peer) = &s.peer {
                find(&head.node, "node", peer)?;
            }
            connector(vector, &s.expect_connection)
        }
        Step::ExpectCompleted(s) => find(&head.node, "node", &s.expect_completed).map(|_| ()),
        Step::CloseSharedEndpoint(s) => {
            let name = &s.close_shared_endpoint;
            find(&head.shared_endpoint, "shared endpoint", name).map(|_| ())
        }
        _ => Ok(()),
    }
}

/// A connector: declared, or named by a request that is expected.
fn connector(vector: &Vector, name: &At<String>) -> Result {
    let named = vector.steps.iter().any(|step| match step.value() {
        Step::ExpectConnect(s) => s.connector.value() == name.value(),
        _ => false,
    });
    match named {
        true => Ok(()),
        false => find(&vector.head.connector, "connector", name).map(|_| ()),
    }
}
