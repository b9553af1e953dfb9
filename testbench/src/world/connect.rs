//! Connecting queue pairs.

use tandem_model::ndk::bench::{ConnectParameters, PathMtu};

use super::state::{Peer, Result, State, StepError};
use crate::vector::object::{self, ReadLimits};

/// Code of the acknowledgement timer that nobody chose: with the bench's unit 131,072 clocks.
const TIMEOUT: u8 = 12;

/// Connects two queue pairs, each with what the other offers.
pub(super) fn connect(state: &mut State, connection: &object::Connection) -> Result {
    let sides = [&connection.a, &connection.b];
    let mut ends = Vec::new();
    for (name, limits) in sides
        .into_iter()
        .zip([connection.a_reads, connection.b_reads])
    {
        let qp = state.qp(name)?;
        let (place, qp) = (qp.node, qp.qp);
        let Some(node) = state.world.nodes.get(place) else {
            continue;
        };
        let caps = node.nic.engine_caps();
        let own = ReadLimits {
            inbound: caps.max_ird.into(),
            outbound: caps.max_ord.into(),
        };
        let limits = limits.map_or(own, |asked| ReadLimits {
            inbound: asked.inbound.min(own.inbound),
            outbound: asked.outbound.min(own.outbound),
        });
        let number = node
            .nic
            .qp_number(qp)
            .map_err(|error| state.broken(place, error))?;
        ends.push((place, qp, node.address, number, limits));
    }
    let psns = [&connection.a_psn, &connection.b_psn]
        .map(|psn| psn.as_ref().map_or(0, |psn| *psn.value()));
    let mtu = connection.mtu.as_ref().map_or(1024, |mtu| *mtu.value());
    let timers = connection.timers();
    let ipv6 = connection.ip.as_ref().is_some_and(|ip| *ip.value() == 6);
    for (own, peer) in [(0, 1), (1, 0)] {
        let (Some(&(place, qp, _, _, limits)), Some(&(_, _, address, number, offered))) =
            (ends.get(own), ends.get(peer))
        else {
            return Err(StepError::new("a connection has two ends"));
        };
        let ip = match ipv6 {
            true => address.ipv6.into(),
            false => address.ipv4.into(),
        };
        let (inbound, outbound) = match connection.unnegotiated {
            true => (limits.inbound, limits.outbound),
            false => (
                limits.inbound.min(offered.outbound),
                limits.outbound.min(offered.inbound),
            ),
        };
        let refuses = own == 1;
        let usual = ConnectParameters::to(address.mac, ip, number);
        let timers = timers.get(own).copied().unwrap_or_default();
        let parameters = ConnectParameters {
            timeout: timers.timeout.unwrap_or(TIMEOUT),
            retry_cnt: timers.retry.unwrap_or(usual.retry_cnt),
            rnr_retry: timers.rnr_retry.unwrap_or(usual.rnr_retry),
            min_rnr_timer: timers.rnr_timer.unwrap_or(usual.min_rnr_timer),
            sq_psn: psns[own],
            rq_psn: psns[peer],
            mtu: PathMtu::from_bytes(mtu).unwrap_or_default(),
            inbound_read_limit: inbound,
            outbound_read_limit: outbound,
            remote_read: !(refuses && connection.no_remote_read),
            remote_write: !(refuses && connection.no_remote_write),
            ..usual
        };
        let outcome = state.nic(place)?.bench().connect(qp, &parameters);
        state.created(place, "connecting", outcome)?;
    }
    let endless = timers.map(|timers| timers.timeout == Some(0));
    state.ledger.joined(&connection.a, &connection.b, endless);
    for (own, peer) in [(0, 1), (1, 0)] {
        let (Some(name), Some(&(node, _, _, number, _))) = (sides.get(own), ends.get(peer)) else {
            continue;
        };
        if let Some(qp) = state.qps.get_mut(name.value()) {
            qp.peer = Some(Peer { node, number, ipv6 });
        }
    }
    Ok(())
}
