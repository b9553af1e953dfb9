//! Moves as the text of a vector.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::forecast::{Forecast, forecast};
use super::machine::State;
use super::manage::Managed;
use super::meetings::Meeting;
use super::moves::{Move, Region};
use super::spec::{FAST, FAST_BYTES, REGISTERED, SOURCE, Spec, TARGET, WINDOWS};

const NODES: [&str; 4] = ["a", "b", "c", "d"];
/// Between the first PSNs of two connections: more than a connection sends.
const PSN_STEP: u32 = 0x4_0000;
/// The first PSN of all: a few before the wrap.
const FIRST_PSN: u32 = 0xFF_FFF0;
/// Results that may wait in a completion queue.
const DEPTH: u32 = 256;

/// Clocks of a node's unit of time: timers end soon, and not while frames wait for each other.
const TIME_UNIT: u32 = 16;

pub(super) fn node(place: usize) -> &'static str {
    NODES.get(place).copied().unwrap_or("a")
}

pub(super) fn qp(link: usize, side: usize) -> String {
    format!("q{link}{}", node(side))
}

pub(super) fn region(place: usize, region: Region) -> String {
    let node = node(place);
    match region {
        Region::Source => format!("source_{node}"),
        Region::Target => format!("target_{node}"),
        Region::Local => format!("local_{node}"),
        Region::Doomed => format!("doomed_{node}"),
        Region::Fast(number) => format!("fast{number}_{node}"),
        Region::Privileged => format!("privileged_{node}"),
        Region::Registered(number) => format!("registered{number}_{node}"),
        Region::Window(number) => format!("window{number}_{node}"),
    }
}

/// Objects that serve calls which must fail: of another protection domain, and a region without remote access.
pub(super) fn unusual(kind: &str, place: usize) -> String {
    format!("{kind}_{}", node(place))
}

/// A vector under way. Only what is used is written down.
pub(super) struct Writer<'a> {
    pub(super) spec: &'a Spec,
    pub(super) state: State,
    steps: String,
    links: BTreeSet<usize>,
    pub(super) regions: BTreeSet<(usize, Region)>,
    /// Whether a call is refused for an object of another protection domain, or one without remote access.
    pub(super) unusual: bool,
    lives: Vec<u32>,
    open: Vec<[bool; 2]>,
    /// First PSNs of the connections that are there, by link.
    pub(super) psns: Vec<[u32; 2]>,
    pub(super) paused: bool,
    pub(super) managed: Managed,
    /// Lines of connections.
    connections: String,
    made: u32,
    pub(super) context: u64,
}

/// The text of a vector that makes the moves.
pub(super) fn text(name: &str, seed: u64, scheduler: &str, spec: &Spec, moves: &[Move]) -> String {
    let forecasts = forecast(spec, moves);
    let mut writer = Writer {
        spec,
        state: State::new(spec.clone()),
        steps: String::new(),
        links: used(spec, moves),
        regions: BTreeSet::new(),
        unusual: false,
        lives: vec![0; spec.links.len()],
        open: vec![[true; 2]; spec.links.len()],
        psns: vec![[0; 2]; spec.links.len()],
        paused: false,
        managed: Managed::new(spec.links.len()),
        connections: String::new(),
        made: 0,
        context: 0,
    };
    for fate in &spec.fates {
        writer.rule(fate);
    }
    for link in writer.links.clone() {
        let meeting = spec.links.get(link).and_then(|link| link.managed.as_ref());
        writer.connection(link, meeting);
    }
    for (made, forecast) in moves.iter().zip(&forecasts) {
        writer.make(made, forecast);
        writer.state = writer.state.after(made);
        writer.doubt(made);
    }
    writer.settle();
    let steps = std::mem::take(&mut writer.steps);
    writer.head(name, seed, scheduler) + &steps
}

/// Links on which something happens; one at least.
pub(super) fn used(spec: &Spec, moves: &[Move]) -> BTreeSet<usize> {
    let mut links: BTreeSet<usize> = moves
        .iter()
        .filter_map(Move::link)
        .filter(|link| *link < spec.links.len())
        .collect();
    if links.is_empty() {
        links.insert(0);
    }
    links
}

impl Writer<'_> {
    pub(super) fn nodes(&self) -> BTreeSet<usize> {
        let links = self
            .links
            .iter()
            .filter_map(|link| self.spec.links.get(*link));
        links.flat_map(|link| link.nodes).collect()
    }

    pub(super) fn at(&self, link: usize, side: usize) -> usize {
        self.spec.links.get(link).map_or(0, |link| link.nodes[side])
    }

    pub(super) fn line(&mut self, line: &str) {
        self.steps.push_str(line);
        self.steps.push('\n');
    }

    pub(super) fn step(&mut self, line: &str) {
        self.line("\n[[steps]]");
        self.line(line);
    }

    /// Declares the shared receive queues.
    fn shared(&self, text: &mut String) {
        let links = self.links.iter().flat_map(|link| [(*link, 0), (*link, 1)]);
        let shared = links.filter(|(link, side)| self.state.is_shared(*link, *side));
        let nodes: BTreeSet<usize> = shared.map(|(link, side)| self.at(link, side)).collect();
        if !nodes.is_empty() {
            text.push_str("\n[srq]\n");
        }
        for place in nodes {
            let threshold = self.spec.hosts.get(place).map_or(0, |host| host.threshold);
            let _ = writeln!(
                text,
                "s{0} = {{ node = \"{0}\", depth = 128, threshold = {threshold} }}",
                node(place)
            );
        }
    }

    /// Declares regions and windows.
    fn regions(&self, text: &mut String) {
        let nodes = self.nodes().into_iter().filter(|_| self.unusual);
        let nodes: Vec<usize> = nodes.collect();
        if !nodes.is_empty() {
            text.push_str("\n[pd]\n");
        }
        for place in &nodes {
            let _ = writeln!(text, "other_{0} = {{ node = \"{0}\" }}", node(*place));
        }
        let is_window = |(_, region): &&(usize, Region)| matches!(region, Region::Window(_));
        if !nodes.is_empty() || !self.regions.iter().all(|region| is_window(&region)) {
            text.push_str("\n[region]\n");
        }
        for (place, kind) in self.regions.iter().filter(|region| !is_window(region)) {
            let memory = if kind.is_source() { "source" } else { "target" };
            let _ = write!(
                text,
                "{} = {{ memory = \"{memory}_{}\"",
                region(*place, *kind),
                node(*place)
            );
            text.push_str(&match kind {
                Region::Source => ", flags = [\"ALLOW_REMOTE_READ\"]".into(),
                Region::Target | Region::Doomed => ", flags = [\"ALLOW_REMOTE_WRITE\"]".into(),
                Region::Local => ", flags = [\"ALLOW_LOCAL_WRITE\"]".into(),
                Region::Privileged => ", kind = \"privileged\"".into(),
                Region::Fast(number) => format!(
                    ", kind = \"fast\", offset = {}, length = {FAST_BYTES}, flags = [\"ALLOW_REMOTE_WRITE\"]",
                    *number as u32 * FAST_BYTES
                ),
                Region::Registered(_) | Region::Window(_) => ", kind = \"fast_register\"".into(),
            });
            text.push_str(" }\n");
        }
        for place in &nodes {
            for (name, more) in [
                ("foreign", format!("pd = \"other_{}\"", node(*place))),
                ("nearby", "remote_access = false".into()),
            ] {
                let _ = writeln!(
                    text,
                    "{} = {{ memory = \"target_{}\", kind = \"fast_register\", {more} }}",
                    unusual(name, *place),
                    node(*place)
                );
            }
        }
        if !nodes.is_empty() || self.regions.iter().any(|region| is_window(&region)) {
            text.push_str("\n[window]\n");
        }
        for (place, kind) in self.regions.iter().filter(is_window) {
            let _ = writeln!(
                text,
                "{} = {{ node = \"{}\" }}",
                region(*place, *kind),
                node(*place)
            );
        }
        for place in &nodes {
            let _ = writeln!(
                text,
                "{} = {{ node = \"{1}\", pd = \"other_{1}\" }}",
                unusual("strange", *place),
                node(*place)
            );
        }
    }

    /// Makes the next connection of a link, or declares it.
    fn connection(&mut self, link: usize, meeting: Option<&Meeting>) {
        if let Some(meeting) = meeting {
            return self.meet(link, meeting);
        }
        let (Some(spec), Some(life)) = (self.spec.links.get(link), self.lives.get(link).copied())
        else {
            return;
        };
        let psn = |number: u32| FIRST_PSN.wrapping_add(number * PSN_STEP) & 0xFF_FFFF;
        let (a, b) = (psn(2 * self.made), psn(2 * self.made + 1));
        self.made += 1;
        if let Some(psns) = self.psns.get_mut(link) {
            *psns = [a, b];
        }
        let mut line = format!(
            "link{link}_{life} = {{ a = \"{}\", b = \"{}\", mtu = {}, a_psn = {a}, b_psn = {b}",
            qp(link, 0),
            qp(link, 1),
            spec.mtu
        );
        for (name, end) in [("a", &spec.ends[0]), ("b", &spec.ends[1])] {
            let _ = write!(
                line,
                ", {name}_reads = {{ inbound = {}, outbound = {} }}",
                end.inbound, end.outbound
            );
        }
        let _ = write!(
            line,
            ", timeout = {}, retry = {}, rnr_retry = {}, rnr_timer = {}",
            spec.timeout, spec.retry, spec.rnr_retry, spec.rnr_timer
        );
        for (set, key) in [
            (spec.ipv6, "ip = 6"),
            (spec.unnegotiated, "unnegotiated = true"),
            (spec.no_read, "no_remote_read = true"),
            (spec.no_write, "no_remote_write = true"),
            (life > 0, "later = true"),
        ] {
            if set {
                let _ = write!(line, ", {key}");
            }
        }
        line.push_str(" }\n");
        self.connections.push_str(&line);
    }

    fn head(&self, name: &str, seed: u64, scheduler: &str) -> String {
        let mut text = format!(
            "name = \"{name}\"\nabout = \"Random moves, found by `tandem fuzz`.\"\nseed = {seed}\nscheduler = \"{scheduler}\"\n"
        );
        for place in self.nodes() {
            let _ = writeln!(text, "\n[node.{}]\ntime_unit = {TIME_UNIT}", node(place));
        }
        text.push_str("\n[cq]\n");
        for place in self.nodes() {
            let node = node(place);
            let _ = writeln!(text, "c{node} = {{ node = \"{node}\", depth = {DEPTH} }}");
            let _ = writeln!(text, "r{node} = {{ node = \"{node}\", depth = {DEPTH} }}");
        }
        text.push_str("\n[memory]\n");
        for place in self.nodes() {
            let Some(host) = self.spec.hosts.get(place) else {
                continue;
            };
            let node = node(place);
            for (kind, bytes, fill) in [
                ("source", SOURCE, format!("{{ random = {place} }}")),
                ("target", TARGET, "{ byte = 0xEE }".into()),
            ] {
                let _ = writeln!(
                    text,
                    "{kind}_{node} = {{ node = \"{node}\", bytes = {bytes}, fill = {fill}, pages = \"{}\", page_offset = {} }}",
                    host.pages, host.page_offset
                );
            }
        }
        self.regions(&mut text);
        self.shared(&mut text);
        text.push_str("\n[qp]\n");
        for link in &self.links {
            let Some(spec) = self.spec.links.get(*link) else {
                continue;
            };
            for side in 0..2 {
                let (end, node) = (&spec.ends[side], node(spec.nodes[side]));
                let receives = if end.apart { "r" } else { "c" };
                let own = match end.shared {
                    true => format!("srq = \"s{node}\""),
                    false => format!(
                        "receive_depth = {}, receive_sge = {}",
                        end.depth,
                        end.sge.min(4)
                    ),
                };
                let _ = writeln!(
                    text,
                    "{} = {{ node = \"{node}\", initiator_cq = \"c{node}\", receive_cq = \"{receives}{node}\", {own}, initiator_depth = {}, initiator_sge = {}, inline = {} }}",
                    qp(*link, side),
                    end.depth,
                    end.sge,
                    end.inline
                );
            }
        }
        for (kind, lines) in [
            ("connection", &self.connections),
            ("listener", &self.managed.listeners),
            ("connector", &self.managed.connectors),
        ] {
            if !lines.is_empty() {
                let _ = write!(text, "\n[{kind}]\n{lines}");
            }
        }
        text
    }

    /// Nothing ends while a node has to wait.
    pub(super) fn resume(&mut self) {
        if std::mem::take(&mut self.paused) {
            self.step("network = { resume = true }");
        }
    }

    /// Receives without which senders would wait for ever.
    fn provide(&mut self) {
        for link in self.links.clone() {
            for side in 0..2 {
                let missing = self.state.missing(link, side);
                if missing > 0 {
                    self.step(&format!("receive = \"{}\"", qp(link, side)));
                    let first = self.context + 1;
                    self.line(&format!("context = {first}\ntimes = {missing}"));
                    self.context += missing as u64;
                }
            }
        }
    }

    fn settle(&mut self) {
        self.resume();
        self.provide();
        self.settle_connections();
        self.step("expect_accounted = \"settled\"");
    }

    /// Closes a queue pair, which its connector must not hold any more.
    pub(super) fn close(&mut self, link: usize, side: usize) {
        // A close waits for what is under way.
        self.resume();
        self.step(&format!("close_qp = \"{}\"", qp(link, side)));
        self.line("returns = [\"STATUS_SUCCESS\", \"STATUS_PENDING\"]");
        if let Some(open) = self.open.get_mut(link) {
            open[side] = false;
        }
    }

    pub(super) fn create(&mut self, link: usize, side: usize) {
        self.step(&format!("create_qp = \"{}\"", qp(link, side)));
        if let Some(open) = self.open.get_mut(link) {
            open[side] = true;
        }
    }

    /// Closes what is left of a link, and makes it anew.
    fn reopen(&mut self, link: usize, meeting: Option<&Meeting>) {
        for side in 0..2 {
            self.abort(link, side);
        }
        for side in 0..2 {
            if self.open.get(link).is_some_and(|open| open[side]) {
                self.close(link, side);
            }
        }
        if (0..2).any(|side| self.state.is_shared(link, side)) {
            // What it has received is told from what it will receive.
            self.step("expect_accounted = \"now\"");
        }
        for side in 0..2 {
            self.create(link, side);
        }
        if let Some(life) = self.lives.get_mut(link) {
            *life += 1;
        }
        self.connection(link, meeting);
        if meeting.is_none() {
            let life = self.lives.get(link).copied().unwrap_or(0);
            self.step(&format!("connect = \"link{link}_{life}\""));
        }
    }

    fn make(&mut self, made: &Move, forecast: &Forecast) {
        match made {
            Move::Post(post) => self.post(post, forecast),
            Move::Local(ask) => self.ask(ask, &forecast.ends),
            Move::Receive(receive) => self.receive(receive, &forecast.ends),
            Move::Refused { link, side, call } => self.refused(*link, *side, *call),
            Move::Forge { link, side, frame } => self.forge(*link, *side, *frame),
            Move::Wait(clocks) => self.step(&format!("wait = {{ clocks = {clocks} }}")),
            Move::Settle => self.settle(),
            Move::Collect => self.step("expect_accounted = \"now\""),
            Move::Arm {
                node: place,
                receives,
                kind,
            } => {
                if self.nodes().contains(place) {
                    let queue = if *receives { "r" } else { "c" };
                    self.step(&format!("arm = \"{queue}{}\"", node(*place)));
                    self.line(&format!("type = \"{kind}\""));
                }
            }
            Move::Network(rule) => self.rule(rule),
            Move::Heal => {
                self.paused = false;
                self.step("network = { heal = true }");
            }
            Move::Flush { link, side } => self.step(&format!("flush = \"{}\"", qp(*link, *side))),
            Move::Close { link, side } => {
                self.abort(*link, *side);
                self.close(*link, *side);
            }
            Move::Disconnect { link, side } => self.disconnect(*link, *side),
            Move::Abort { link, side } => self.abort(*link, *side),
            Move::Reopen { link, meeting } => self.reopen(*link, meeting.as_ref()),
            Move::Deregister { node: place } | Move::Register { node: place } => {
                if self.nodes().contains(place) {
                    self.regions.insert((*place, Region::Doomed));
                    let verb = match made {
                        Move::Register { .. } => "register",
                        _ => "deregister",
                    };
                    self.step(&format!("{verb} = \"{}\"", region(*place, Region::Doomed)));
                }
            }
        }
    }
}

/// Names of the regions that can be invalidated are as many as there are.
const _: () = assert!(FAST < 10 && REGISTERED < 10 && WINDOWS < 10);
