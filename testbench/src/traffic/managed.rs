//! Connections that connection management makes and ends, on the same bad network as everything else.

use std::net::{IpAddr, SocketAddr};

use tandem_model::ndk::{
    AcceptParameters, ConnectRequest, Connector, Listener, NdkError, Notification, NtStatus,
};

use super::dice::Dice;
use super::lane::Lane;
use super::{PATIENCE, Result, Traffic, TrafficError};
use crate::world::{Node, World};

/// Port of all listeners.
const PORT: u16 = 5445;
/// Connections that are made at a time.
const AT_A_TIME: usize = 8;
/// How often a connection is asked for when the peer's address is not found.
const ATTEMPTS: u32 = 10;

/// The connection of a queue pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Managed {
    connector: Connector,
    /// Whether its end is under way, and whether it has ended.
    ending: bool,
    ended: bool,
}

/// What two queue pairs ask for.
struct Wish {
    /// Lanes: who asks, and who is asked.
    active: usize,
    passive: usize,
    ipv6: bool,
    /// Reads each way, as either side wants them.
    reads: [u32; 2],
    attempts: u32,
}

/// Connects all queue pairs: each connection from a side that is drawn.
pub(super) fn connect_all(world: &mut World, lanes: &mut [Lane], dice: &mut Dice) -> Result {
    let mut listeners = Vec::new();
    for node in &mut world.nodes {
        listeners.extend(listen(node).map_err(|error| node.error(error))?);
    }
    let mut wishes: Vec<Wish> = (0..lanes.len() / 2)
        .map(|connection| {
            let turned = usize::from(dice.percent(50));
            Wish {
                active: 2 * connection + turned,
                passive: 2 * connection + 1 - turned,
                ipv6: dice.percent(40),
                reads: [1 + dice.below(4), 1 + dice.below(4)],
                attempts: 0,
            }
        })
        .collect();
    for some in wishes.chunks_mut(AT_A_TIME) {
        let mut making = Making {
            world: &mut *world,
            lanes: &mut *lanes,
            wishes: some,
        };
        making.all()?;
    }
    for (node, listener) in listeners.chunks(2).enumerate() {
        for listener in listener {
            // Connectors that it delivered are open: it stays until they are closed.
            let node = &mut world.nodes[node];
            let closed = node.nic.close_listener(*listener);
            closed.map_err(|error| node.error(error))?;
        }
    }
    Ok(())
}

fn listen(node: &mut Node) -> std::result::Result<[Listener; 2], NdkError> {
    let ips: [IpAddr; 2] = [node.address.ipv4.into(), node.address.ipv6.into()];
    let mut one = |ip| -> std::result::Result<Listener, NdkError> {
        let listener = node.nic.create_listener(0)?;
        node.nic.listen(listener, SocketAddr::new(ip, PORT))?;
        Ok(listener)
    };
    Ok([one(ips[0])?, one(ips[1])?])
}

fn ip_of(node: &Node, ipv6: bool) -> IpAddr {
    match ipv6 {
        true => node.address.ipv6.into(),
        false => node.address.ipv4.into(),
    }
}

fn wrong<T>(message: String) -> Result<T> {
    Err(TrafficError::Wrong(message))
}

/// Some connections in the making.
struct Making<'a> {
    world: &'a mut World,
    lanes: &'a mut [Lane],
    wishes: &'a mut [Wish],
}

impl Making<'_> {
    fn all(&mut self) -> Result {
        for index in 0..self.wishes.len() {
            let node = &mut self.world.nodes[self.lanes[self.wishes[index].active].node];
            let connector = node.nic.create_connector();
            let connector = connector.map_err(|error| node.error(error))?;
            self.ask(index, connector)?;
        }
        let end = self.world.clocks() + PATIENCE;
        let mut made = 0;
        while made < 2 * self.wishes.len() {
            if self.world.clocks() > end {
                let late = format!("connections are not made in {PATIENCE} clocks");
                return Err(TrafficError::Late(late));
            }
            self.world.pump()?;
            for node in 0..self.world.nodes.len() {
                for told in std::mem::take(&mut self.world.nodes[node].notifications) {
                    made += self.told(node, &told)?;
                }
            }
        }
        Ok(())
    }

    /// NdkConnect.
    fn ask(&mut self, index: usize, connector: Connector) -> Result {
        let wish = &mut self.wishes[index];
        wish.attempts += 1;
        let lane = &mut self.lanes[wish.active];
        lane.managed = Some(Managed::new(connector));
        let remote = &self.world.nodes[1 - lane.node];
        let remote = SocketAddr::new(ip_of(remote, wish.ipv6), PORT);
        let node = &mut self.world.nodes[lane.node];
        let local = SocketAddr::new(ip_of(node, wish.ipv6), 0);
        let data = (wish.passive as u32).to_be_bytes();
        let request = ConnectRequest {
            inbound_read_limit: wish.reads[0],
            outbound_read_limit: wish.reads[0],
            private_data: &data,
            ..ConnectRequest::to(remote)
        };
        let called = node
            .nic
            .connect(connector, lane.qp, local, &request, lane.context);
        pending(node, "NdkConnect", called)
    }

    /// Connections of one side that a notification makes: one or none.
    fn told(&mut self, node: usize, told: &Notification) -> Result<usize> {
        match told {
            Notification::Connect { connector, .. } => {
                self.accept(node, *connector)?;
                Ok(0)
            }
            Notification::Completed {
                connector,
                request_context,
                status,
            } => self.answered(node, *connector, *request_context, *status),
            other => wrong(format!(
                "nobody expects {other:?} while connections are made"
            )),
        }
    }

    /// A request, in whose private data is which queue pair is meant.
    fn accept(&mut self, place: usize, connector: Connector) -> Result {
        let node = &mut self.world.nodes[place];
        let asked = node.nic.connection_data(connector);
        let asked = asked.map_err(|error| node.error(error))?;
        let number = asked.private_data.first_chunk::<4>();
        let passive = number.map_or(usize::MAX, |octets| u32::from_be_bytes(*octets) as usize);
        let wish = self.wishes.iter().find(|wish| wish.passive == passive);
        let Some(wish) = wish else {
            return wrong(format!("a connect request that nobody sent: {asked:?}"));
        };
        let lane = &mut self.lanes[passive];
        if lane.node != place || lane.managed.is_some() || asked.inbound_read_limit > wish.reads[0]
        {
            return wrong(format!("node {place} got {asked:?} for {}", lane.words()));
        }
        lane.managed = Some(Managed::new(connector));
        let parameters = AcceptParameters {
            inbound_read_limit: wish.reads[1],
            outbound_read_limit: wish.reads[1],
            private_data: &(!(passive as u32)).to_be_bytes(),
            disconnect_event_context: Some(lane.context),
        };
        let called = node
            .nic
            .accept(connector, lane.qp, &parameters, lane.context);
        pending(node, "NdkAccept", called)
    }

    fn answered(
        &mut self,
        place: usize,
        connector: Connector,
        context: u64,
        status: NtStatus,
    ) -> Result<usize> {
        let found = self.wishes.iter().position(|wish| {
            let ends = [wish.active, wish.passive].map(|end| &self.lanes[end]);
            ends.iter().any(|lane| lane.is(place, connector))
        });
        let Some(index) = found else {
            return wrong(format!(
                "a call on {connector:?} of node {place} ended: nobody made it"
            ));
        };
        let wish = &self.wishes[index];
        let active = self.lanes[wish.active].is(place, connector);
        let (own, expected) = match active {
            true => (wish.active, !(wish.passive as u32)),
            false => (wish.passive, 0),
        };
        let lane = &self.lanes[own];
        if active && status == NtStatus::HOST_UNREACHABLE && wish.attempts < ATTEMPTS {
            // The network has lost the questions.
            self.ask(index, connector)?;
            return Ok(0);
        }
        if !status.is_success() || context != lane.context {
            return wrong(format!("connecting ended with {status}: {}", lane.words()));
        }
        let node = &mut self.world.nodes[place];
        if active {
            let done = node.nic.complete_connect(connector, Some(lane.context));
            done.map_err(|error| node.error(error))?;
        }
        let data = node.nic.connection_data(connector);
        let data = data.map_err(|error| node.error(error))?;
        let [a, b] = wish.reads;
        let reads = (data.inbound_read_limit, data.outbound_read_limit);
        let said = data.private_data.starts_with(&expected.to_be_bytes());
        if active && !said || reads != (a.min(b), a.min(b)) {
            return wrong(format!(
                "reads {:?} of both sides became {data:?}",
                wish.reads
            ));
        }
        Ok(1)
    }
}

fn pending(node: &Node, call: &str, outcome: std::result::Result<NtStatus, NdkError>) -> Result {
    match outcome {
        Ok(NtStatus::PENDING) => Ok(()),
        Ok(status) => wrong(format!("{call} returned {status}")),
        Err(error) => match error.status() {
            Some(status) => wrong(format!("{call} returned {status}")),
            None => Err(node.error(error).into()),
        },
    }
}

impl Managed {
    fn new(connector: Connector) -> Self {
        Self {
            connector,
            ending: false,
            ended: false,
        }
    }
}

impl Lane {
    fn is(&self, node: usize, connector: Connector) -> bool {
        let managed = self.managed.as_ref();
        self.node == node && managed.is_some_and(|managed| managed.connector == connector)
    }
}

impl Traffic {
    /// Ends all connections, each from a side that is drawn: what is posted is cancelled, and both sides are told.
    pub(super) fn disconnect_all(&mut self) -> Result {
        for connection in 0..self.lanes.len() / 2 {
            let lane = 2 * connection + self.dice.below(2) as usize;
            self.disconnect(lane)?;
        }
        let ended = |lane: &Lane| lane.managed.is_none_or(|managed| managed.ended);
        while !self.lanes.iter().all(ended) {
            self.turn()?;
        }
        for lane in 0..self.lanes.len() {
            let Some(managed) = self.lanes[lane].managed.take() else {
                continue;
            };
            let node = self.lanes[lane].node;
            let nic = &mut self.world.nodes[node].nic;
            let closed = nic.close_connector(managed.connector);
            if self.done(node, "NdkCloseConnector", closed)? != NtStatus::SUCCESS {
                return wrong("a connector that was disconnected is still in use".into());
            }
        }
        Ok(())
    }

    /// NdkDisconnect, once for each queue pair.
    fn disconnect(&mut self, lane: usize) -> Result {
        let lane = &mut self.lanes[lane];
        let Some(managed) = lane.managed.as_mut().filter(|managed| !managed.ending) else {
            return Ok(());
        };
        managed.ending = true;
        lane.flushed = true;
        let node = &mut self.world.nodes[lane.node];
        let called = node.nic.disconnect(managed.connector, lane.context);
        pending(node, "NdkDisconnect", called)
    }

    /// What a connection tells while there is traffic: that the peer has ended it, or that it is over.
    pub(super) fn connection_told(&mut self, node: usize, told: &Notification) -> Result {
        let of = |lanes: &[Lane], connector| {
            let found = lanes.iter().position(|lane| lane.is(node, connector));
            found.map(|own| (own, lanes[own].peer))
        };
        let ending = |lane: &Lane| {
            lane.managed
                .is_some_and(|managed| managed.ending && !managed.ended)
        };
        match told {
            Notification::Disconnect {
                connector, context, ..
            } => {
                let found = of(&self.lanes, *connector);
                let known = found.filter(|(own, peer)| {
                    ending(&self.lanes[*peer]) && self.lanes[*own].context == *context
                });
                if let Some((own, _)) = known {
                    return self.disconnect(own);
                }
            }
            Notification::Completed {
                connector,
                request_context,
                status,
            } => {
                let found = of(&self.lanes, *connector);
                let known = found.filter(|(own, _)| {
                    ending(&self.lanes[*own]) && self.lanes[*own].context == *request_context
                });
                if let Some((own, _)) = known
                    && status.is_success()
                    && let Some(managed) = &mut self.lanes[own].managed
                {
                    managed.ended = true;
                    return Ok(());
                }
            }
            _ => {}
        }
        wrong(format!("a notification that nobody expected: {told:?}"))
    }
}
