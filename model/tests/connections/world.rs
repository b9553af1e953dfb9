//! Two providers, their engines, and a network with a clock.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tandem_model::cm::TimeCode;
use tandem_model::engine::Config;
use tandem_model::hal::{Hal, Target};
use tandem_model::ndk::{
    AcceptParameters, AdapterConfig, ConnectRequest, ConnectionConfig, Connector, Cq, Listener,
    LocalToken, NdkResultEx, Notification, NtStatus, OpFlags, Pd, Provider, Qp, QpParameters, Sge,
};
use tandem_model::target::{ModelTarget, Scheduler};

/// Length of an engine's clock.
const NANOSECONDS: u64 = 16;
/// Port of the listener.
pub const PORT: u16 = 7174;

/// One of the two nodes.
pub struct Node {
    pub nic: Provider<ModelTarget>,
    pub ip: IpAddr,
    pub pd: Pd,
    pub cq: Cq,
    pub token: LocalToken,
    pub buffer: u64,
    /// All that was told and not yet taken.
    pub told: Vec<Notification>,
}

impl Node {
    fn new(host: u8, ip: IpAddr, scheduler: Scheduler, config: ConnectionConfig) -> Self {
        let mut adapter = AdapterConfig {
            mac: [2, 0, 0, 0, 0, host],
            connections: Some(ConnectionConfig {
                seed: host.into(),
                ..config
            }),
            ..AdapterConfig::default()
        };
        match ip {
            IpAddr::V4(ip) => adapter.ipv4 = Some(ip),
            IpAddr::V6(ip) => adapter.ipv6 = Some(ip),
        }
        let target = ModelTarget::new(Config::default(), scheduler);
        let mut nic = Provider::open(target, adapter).unwrap();
        let pd = nic.create_pd().unwrap();
        let cq = nic.create_cq(256, 0).unwrap();
        let token = nic.privileged_memory_region_token(pd).unwrap();
        let buffer = nic.hal_mut().allocate(1 << 16, 4096).unwrap();
        Self {
            nic,
            ip,
            pd,
            cq,
            token,
            buffer,
            told: Vec::new(),
        }
    }

    /// A queue pair.
    pub fn qp(&mut self) -> Qp {
        let parameters = QpParameters::new(self.cq, self.cq);
        self.nic.create_qp(self.pd, &parameters).unwrap()
    }

    /// Part of the buffer.
    pub fn sge(&self, offset: u32, length: u32) -> Sge {
        Sge {
            address: self.buffer + u64::from(offset),
            length,
            token: self.token,
        }
    }

    /// An address of the node.
    pub fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip, port)
    }

    /// How the call of a context completed, if it has; takes the notification.
    pub fn completed(&mut self, context: u64) -> Option<NtStatus> {
        let place = self.told.iter().position(|told| {
            matches!(told, Notification::Completed { request_context, .. }
                if *request_context == context)
        })?;
        match self.told.remove(place) {
            Notification::Completed { status, .. } => Some(status),
            _ => None,
        }
    }

    /// The connector of a request, if one came; takes the notification.
    pub fn incoming(&mut self) -> Option<Connector> {
        let place = self
            .told
            .iter()
            .position(|told| matches!(told, Notification::Connect { .. }))?;
        match self.told.remove(place) {
            Notification::Connect { connector, .. } => Some(connector),
            _ => None,
        }
    }

    /// Counters of OID_NDK_STATISTICS: connects, accepts, failed connects, failed connections, active ones.
    pub fn counters(&mut self) -> [u64; 5] {
        let counters = self.nic.performance_counters().unwrap();
        let [
            connect,
            accept,
            connect_failure,
            connection_error,
            active,
            ..,
        ] = counters.counters();
        [connect, accept, connect_failure, connection_error, active]
    }

    /// Results that came.
    pub fn results(&mut self) -> Vec<NdkResultEx> {
        self.nic.poll_cq(self.cq).unwrap()
    }

    /// Contexts and statuses of the results that came.
    pub fn outcomes(&mut self) -> Vec<(u64, NtStatus)> {
        let results = self.results();
        let pairs = results.iter().map(|r| (r.request_context, r.status));
        pairs.collect()
    }
}

/// What the network does with a frame: when it arrives, and how often.
pub type Fate = Box<dyn FnMut(&[u8]) -> Vec<u64> + Send>;

/// Two nodes and what is between them.
pub struct World {
    pub a: Node,
    pub b: Node,
    /// Clocks of the frame's arrivals, from now; none: it is lost.
    pub fate: Fate,
    ahead: BTreeMap<(u64, u64), (bool, Vec<u8>)>,
    count: u64,
    clock: u64,
}

/// Times short enough to wait for: packets live 1 ms, answers take 1 ms.
pub fn quick() -> ConnectionConfig {
    ConnectionConfig {
        packet_life: TimeCode::new(8),
        response_timeout: TimeCode::new(8),
        service_timeout: TimeCode::new(10),
        ack_delay: TimeCode::new(4),
        ..ConnectionConfig::default()
    }
}

/// A connection, seen from both sides.
#[derive(Clone, Copy)]
pub struct Pair {
    pub a: Connector,
    pub b: Connector,
    pub qp_a: Qp,
    pub qp_b: Qp,
}

impl World {
    /// IPv4, no losses.
    pub fn new() -> Self {
        Self::with(Scheduler::Fair, ["192.0.2.1", "192.0.2.2"], quick())
    }

    /// These addresses.
    pub fn with(scheduler: Scheduler, ips: [&str; 2], config: ConnectionConfig) -> Self {
        let [a, b] = ips.map(|ip| ip.parse().unwrap());
        Self {
            a: Node::new(1, a, scheduler, config),
            b: Node::new(2, b, scheduler, config),
            fate: Box::new(|_| vec![0]),
            ahead: BTreeMap::new(),
            count: 0,
            clock: 0,
        }
    }

    /// The time.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(NANOSECONDS * self.clock)
    }

    /// Lets time pass until neither node nor the network has anything to do.
    pub fn run(&mut self) {
        self.run_until(|_| false);
    }

    /// Lets time pass until `done`, or nothing is left to do; whether it was.
    pub fn run_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) -> bool {
        for _ in 0..2_000_000 {
            let busy = self.step();
            if done(self) {
                return true;
            }
            if !busy && !self.skip() {
                return false;
            }
        }
        panic!("no end of it");
    }

    /// Sixteen clocks; whether anything happened.
    pub fn step(&mut self) -> bool {
        self.clock += 16;
        let mut busy = false;
        while let Some(entry) = self.ahead.first_entry()
            && entry.key().0 <= self.clock
        {
            let (to_b, frame) = entry.remove();
            let node = if to_b { &mut self.b } else { &mut self.a };
            node.nic.hal_mut().send_frame(&frame).unwrap();
            busy = true;
        }
        let now = self.now();
        for from_a in [true, false] {
            let node = if from_a { &mut self.a } else { &mut self.b };
            busy |= node.nic.hal_mut().advance(16).unwrap();
            let told = node.nic.poll(now).unwrap();
            busy |= !told.is_empty();
            node.told.extend(told);
            for frame in node.nic.hal_mut().take_frames().unwrap() {
                busy = true;
                for delay in (self.fate)(&frame) {
                    self.count += 1;
                    let key = (self.clock + delay, self.count);
                    self.ahead.insert(key, (from_a, frame.clone()));
                }
            }
        }
        busy
    }

    /// To the first moment at which something will happen; `false` if there is none.
    fn skip(&mut self) -> bool {
        let mut first = self.ahead.keys().next().map(|(at, _)| *at);
        for node in [&mut self.a, &mut self.b] {
            let provider = node.nic.next_deadline();
            let clock = provider.map(|at| at.as_nanos() as u64 / NANOSECONDS + 1);
            let target = node.nic.hal();
            let left = target.next_deadline().map(|at| at - target.now());
            let engine = left.map(|left| self.clock + left);
            first = [first, clock, engine].into_iter().flatten().min();
        }
        let Some(first) = first else {
            return false;
        };
        let clocks = first.saturating_sub(self.clock + 16);
        let mut left = clocks;
        while left > 0 {
            let some = u32::try_from(left).unwrap_or(u32::MAX);
            for node in [&mut self.a, &mut self.b] {
                node.nic.hal_mut().advance(some).unwrap();
            }
            left -= u64::from(some);
        }
        self.clock += clocks;
        true
    }

    /// A listener at B.
    pub fn listener(&mut self) -> Listener {
        let listener = self.b.nic.create_listener(77).unwrap();
        self.b.nic.listen(listener, self.b.at(PORT)).unwrap();
        listener
    }

    /// A asks for a connection with this context; its connector and queue pair.
    pub fn ask(&mut self, context: u64) -> (Connector, Qp) {
        let connector = self.a.nic.create_connector().unwrap();
        let qp = self.a.qp();
        let request = ConnectRequest::to(self.b.at(PORT));
        let local = self.a.at(0);
        let status = self.a.nic.connect(connector, qp, local, &request, context);
        assert_eq!(status, Ok(NtStatus::PENDING));
        (connector, qp)
    }

    /// Lets time pass until a request has come to B; its connector.
    pub fn request(&mut self) -> Connector {
        let mut incoming = None;
        self.run_until(|world| {
            incoming = world.b.incoming();
            incoming.is_some()
        });
        incoming.expect("no request comes")
    }

    /// A connection, without losses; B has a listener.
    pub fn connect(&mut self) -> Pair {
        let (a, qp_a) = self.ask(1);
        let b = self.request();
        let qp_b = self.b.qp();
        let parameters = AcceptParameters {
            disconnect_event_context: Some(0xB),
            ..AcceptParameters::default()
        };
        let status = self.b.nic.accept(b, qp_b, &parameters, 2);
        assert_eq!(status, Ok(NtStatus::PENDING));
        assert!(self.run_until(|world| world.a.completed(1) == Some(NtStatus::SUCCESS)));
        self.a.nic.complete_connect(a, Some(0xA)).unwrap();
        assert!(self.run_until(|world| world.b.completed(2) == Some(NtStatus::SUCCESS)));
        Pair { a, b, qp_a, qp_b }
    }

    /// Sends `count` messages each way and waits until all have arrived.
    pub fn exchange(&mut self, pair: Pair, count: u64) {
        for context in 0..count {
            let (a, b) = (self.a.sge(0, 3000), self.b.sge(0, 3000));
            self.a.nic.receive(pair.qp_a, 100 + context, &[a]).unwrap();
            self.b.nic.receive(pair.qp_b, 100 + context, &[b]).unwrap();
        }
        for context in 0..count {
            let (a, b) = (self.a.sge(8192, 2500), self.b.sge(8192, 1));
            let none = OpFlags::NONE;
            self.a
                .nic
                .send(pair.qp_a, 200 + context, &[a], none)
                .unwrap();
            self.b
                .nic
                .send(pair.qp_b, 200 + context, &[b], none)
                .unwrap();
        }
        let (mut at_a, mut at_b) = (Vec::new(), Vec::new());
        self.run_until(|world| {
            at_a.extend(world.a.outcomes());
            at_b.extend(world.b.outcomes());
            at_a.len() as u64 == 2 * count && at_b.len() as u64 == 2 * count
        });
        for mut outcomes in [at_a, at_b] {
            outcomes.sort_by_key(|(context, _)| *context);
            let received = (100..100 + count).chain(200..200 + count);
            let expected: Vec<_> = received.map(|c| (c, NtStatus::SUCCESS)).collect();
            assert_eq!(outcomes, expected);
        }
    }
}
