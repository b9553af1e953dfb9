//! Moves as the text of a vector.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::forecast::{Ends, forecast};
use super::forge::Forged;
use super::machine::State;
use super::moves::{Effect, Frames, Move, Op, Piece, Post, Receive, Refused, Region, Rule, Wrong};
use super::spec::{FAST, FAST_BYTES, SOURCE, Spec, TARGET};

const NODES: [&str; 4] = ["a", "b", "c", "d"];
/// Between the first PSNs of two connections: more than a connection sends.
const PSN_STEP: u32 = 0x4_0000;
/// The first PSN of all: a few before the wrap.
const FIRST_PSN: u32 = 0xFF_FFF0;
/// Results that may wait in a completion queue.
const DEPTH: u32 = 256;

/// Clocks of a node's unit of time: timers end soon, and not while frames wait for each other.
const TIME_UNIT: u32 = 16;

fn node(place: usize) -> &'static str {
    NODES.get(place).copied().unwrap_or("a")
}

fn qp(link: usize, side: usize) -> String {
    format!("q{link}{}", node(side))
}

fn region(place: usize, region: Region) -> String {
    let node = node(place);
    match region {
        Region::Source => format!("source_{node}"),
        Region::Target => format!("target_{node}"),
        Region::Local => format!("local_{node}"),
        Region::Doomed => format!("doomed_{node}"),
        Region::Fast(number) => format!("fast{number}_{node}"),
        Region::Privileged => format!("privileged_{node}"),
    }
}

fn bytes(region: Region) -> u32 {
    match region {
        Region::Fast(_) => FAST_BYTES,
        region if region.is_source() => SOURCE,
        _ => TARGET,
    }
}

/// A vector under way. Only what is used is written down.
struct Writer<'a> {
    spec: &'a Spec,
    state: State,
    steps: String,
    links: BTreeSet<usize>,
    regions: BTreeSet<(usize, Region)>,
    lives: Vec<u32>,
    open: Vec<[bool; 2]>,
    /// First PSNs of the connections that are there, by link.
    psns: Vec<[u32; 2]>,
    paused: bool,
    /// Lines of connections.
    connections: String,
    made: u32,
    context: u64,
}

/// The text of a vector that makes the moves.
pub(super) fn text(name: &str, seed: u64, scheduler: &str, spec: &Spec, moves: &[Move]) -> String {
    let ends = forecast(spec, moves);
    let mut writer = Writer {
        spec,
        state: State::new(spec.clone()),
        steps: String::new(),
        links: used(spec, moves),
        regions: BTreeSet::new(),
        lives: vec![0; spec.links.len()],
        open: vec![[true; 2]; spec.links.len()],
        psns: vec![[0; 2]; spec.links.len()],
        paused: false,
        connections: String::new(),
        made: 0,
        context: 0,
    };
    for link in writer.links.clone() {
        writer.connection(link);
    }
    for (made, ends) in moves.iter().zip(&ends) {
        writer.make(made, ends);
        writer.state = writer.state.after(made);
    }
    writer.settle();
    let steps = std::mem::take(&mut writer.steps);
    writer.head(name, seed, scheduler) + &steps
}

/// Links on which something happens; one at least.
fn used(spec: &Spec, moves: &[Move]) -> BTreeSet<usize> {
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
    fn nodes(&self) -> BTreeSet<usize> {
        let links = self
            .links
            .iter()
            .filter_map(|link| self.spec.links.get(*link));
        links.flat_map(|link| link.nodes).collect()
    }

    fn at(&self, link: usize, side: usize) -> usize {
        self.spec.links.get(link).map_or(0, |link| link.nodes[side])
    }

    fn line(&mut self, line: &str) {
        self.steps.push_str(line);
        self.steps.push('\n');
    }

    fn step(&mut self, line: &str) {
        self.line("\n[[steps]]");
        self.line(line);
    }

    /// Declares the next connection of a link.
    fn connection(&mut self, link: usize) {
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
        if !self.regions.is_empty() {
            text.push_str("\n[region]\n");
        }
        for (place, kind) in &self.regions {
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
            });
            text.push_str(" }\n");
        }
        text.push_str("\n[qp]\n");
        for link in &self.links {
            let Some(spec) = self.spec.links.get(*link) else {
                continue;
            };
            for side in 0..2 {
                let (end, node) = (&spec.ends[side], node(spec.nodes[side]));
                let receives = if end.apart { "r" } else { "c" };
                let _ = writeln!(
                    text,
                    "{} = {{ node = \"{node}\", initiator_cq = \"c{node}\", receive_cq = \"{receives}{node}\", receive_depth = {}, initiator_depth = {}, receive_sge = {}, initiator_sge = {}, inline = {} }}",
                    qp(*link, side),
                    end.depth,
                    end.depth,
                    end.sge.min(4),
                    end.sge,
                    end.inline
                );
            }
        }
        let _ = write!(text, "\n[connection]\n{}", self.connections);
        text
    }

    fn element(&mut self, place: usize, piece: &Piece, more: &str) -> String {
        self.regions.insert((place, piece.region));
        format!(
            "{{ region = \"{}\", offset = {}, length = {}{more} }}",
            region(place, piece.region),
            piece.offset,
            piece.length
        )
    }

    /// A list of elements, the first with a wrong token if asked for.
    fn elements(&mut self, place: usize, pieces: &[Piece], wrong: bool) -> String {
        let mut list = Vec::new();
        for (number, piece) in pieces.iter().enumerate() {
            let more = match wrong && number == 0 {
                true => format!(
                    ", token = {{ of = \"{}\", xor = 1 }}",
                    region(place, piece.region)
                ),
                false => String::new(),
            };
            list.push(self.element(place, piece, &more));
        }
        format!("sgl = [{}]", list.join(", "))
    }

    fn ends(&mut self, ends: &Ends) {
        let list: Vec<String> = ends.iter().map(|end| format!("\"{end}\"")).collect();
        if !list.is_empty() {
            self.line(&format!("ends = [{}]", list.join(", ")));
        }
    }

    fn post(&mut self, post: &Post, ends: &Ends) {
        let (own, peer) = (
            self.at(post.link, post.side),
            self.at(post.link, 1 - post.side),
        );
        let verb = match post.op {
            Op::Write => "write",
            Op::Send => "send",
            Op::SendAndInvalidate(_) => "send_and_invalidate",
            Op::Read { .. } => "read",
        };
        self.step(&format!("{verb} = \"{}\"", qp(post.link, post.side)));
        self.context += 1;
        let context = self.context;
        self.line(&format!("context = {context}"));
        let mut pieces = post.pieces.clone();
        if let Some(first) = pieces.first_mut() {
            match post.wrong {
                Wrong::LocalBounds => first.offset = bytes(first.region) - first.length + 1,
                Wrong::LocalRight => {
                    // The source may not be written.
                    first.region = Region::Source;
                    first.offset = 0;
                    first.length = first.length.min(SOURCE);
                }
                _ => {}
            }
        }
        if !pieces.is_empty() {
            let list = self.elements(own, &pieces, post.wrong == Wrong::LocalToken);
            self.line(&list);
        }
        if let Some(mut place) = post.remote {
            let length = pieces.iter().map(|piece| piece.length).sum::<u32>();
            let mut more = String::new();
            match post.wrong {
                Wrong::RemoteRight if post.op.is_read() => place.region = Region::Target,
                Wrong::RemoteRight => place.region = Region::Local,
                Wrong::RemoteBounds => {
                    place.offset = bytes(place.region).saturating_sub(length) + 1;
                }
                Wrong::RemoteToken => {
                    more = format!(
                        ", token = {{ of = \"{}\", xor = 2 }}",
                        region(peer, place.region)
                    );
                }
                _ => {}
            }
            self.regions.insert((peer, place.region));
            self.line(&format!(
                "remote = {{ region = \"{}\", offset = {}{more} }}",
                region(peer, place.region),
                place.offset
            ));
        }
        if let Op::SendAndInvalidate(token) = post.op {
            // A region that was registered the ordinary way cannot be invalidated.
            let token = match post.wrong {
                Wrong::Invalidate => Region::Target,
                _ => token,
            };
            self.regions.insert((peer, token));
            self.line(&format!("token = \"{}\"", region(peer, token)));
        }
        let names = [
            (post.flags.silent, "SILENT_SUCCESS"),
            (post.flags.fence, "READ_FENCE"),
            (post.flags.solicit, "SEND_AND_SOLICIT_EVENT"),
            (post.flags.inline, "INLINE"),
            (post.flags.defer, "DEFER"),
            (
                post.op == Op::Read { invalidate: true },
                "RDMA_READ_LOCAL_INVALIDATE",
            ),
        ];
        let names: Vec<String> = names
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, name)| format!("\"{name}\""))
            .collect();
        if !names.is_empty() {
            self.line(&format!("flags = [{}]", names.join(", ")));
        }
        self.ends(ends);
    }

    fn receive(&mut self, receive: &Receive, ends: &Ends) {
        let own = self.at(receive.link, receive.side);
        self.step(&format!("receive = \"{}\"", qp(receive.link, receive.side)));
        self.context += 1;
        let context = self.context;
        self.line(&format!("context = {context}"));
        if !receive.pieces.is_empty() {
            let list = self.elements(own, &receive.pieces, receive.wrong);
            self.line(&list);
        }
        self.ends(ends);
    }

    fn refused(&mut self, link: usize, side: usize, call: Refused) {
        let name = qp(link, side);
        let own = self.at(link, side);
        let empty = |region: Region| Piece {
            region,
            offset: 0,
            length: 0,
        };
        let far = "remote = { address = 0, token = 0 }";
        match call {
            Refused::UnknownFlag => {
                self.step(&format!("send = \"{name}\""));
                self.line("flags = 0x400");
                self.line("returns = \"STATUS_INVALID_PARAMETER\"");
            }
            Refused::InlineRead => {
                self.step(&format!("read = \"{name}\""));
                self.line(far);
                self.line("flags = [\"INLINE\"]");
                self.line("returns = \"STATUS_INVALID_PARAMETER\"");
            }
            Refused::TooManyPieces => {
                self.step(&format!("send = \"{name}\""));
                let list = self.elements(own, &[empty(Region::Source); 5], false);
                self.line(&list);
                self.line("flags = [\"DEFER\"]");
                self.line("returns = \"STATUS_DATA_OVERRUN\"");
            }
            Refused::InvalidatesNothing => {
                self.step(&format!("read = \"{name}\""));
                let list = self.elements(own, &[empty(Region::Target)], false);
                self.line(&list);
                self.line(far);
                self.line("flags = [\"RDMA_READ_LOCAL_INVALIDATE\"]");
                self.line("returns = \"STATUS_INVALID_PARAMETER\"");
            }
        }
    }

    fn forge(&mut self, link: usize, side: usize, frame: Forged) {
        let psns = self.psns.get(link).copied().unwrap_or_default();
        self.step(&format!("inject = \"{}\"", qp(link, side)));
        self.line(&frame.words(psns[side], psns[1 - side]));
        if let Some(kind) = frame.region() {
            let place = self.at(link, side);
            self.regions.insert((place, kind));
            let remote = region(place, kind);
            self.line(&format!("remote = {{ region = \"{remote}\" }}"));
        }
        if let Some(alter) = frame.alter() {
            self.line(alter);
        }
    }

    fn rule(&mut self, rule: &Rule) {
        let nodes = self.nodes();
        let absent = |place: &Option<usize>| place.is_some_and(|place| !nodes.contains(&place));
        if absent(&rule.from) || absent(&rule.to) {
            return;
        }
        let mut words = Vec::new();
        words.extend(rule.from.map(|from| format!("from = \"{}\"", node(from))));
        words.extend(rule.to.map(|to| format!("to = \"{}\"", node(to))));
        if rule.of != "all" {
            words.push(format!("of = \"{}\"", rule.of));
        }
        match rule.frames {
            Frames::Nth(number) => words.push(format!("nth = {number}")),
            Frames::Chance(chance) => {
                words.push(format!("probability = {:.3}", f64::from(chance) / 1000.0));
            }
            Frames::Every(every) => words.push(format!("every = {every}")),
            Frames::All => {}
        }
        words.push(match rule.effect {
            Effect::Drop => "drop = true".into(),
            Effect::Duplicate(copies) => format!("duplicate = {copies}"),
            Effect::Reorder(later) => format!("reorder = {later}"),
            Effect::Corrupt => "corrupt = \"random\"".into(),
            Effect::Delay {
                clocks,
                jitter,
                overtake,
            } => {
                format!("delay = {{ clocks = {clocks}, jitter = {jitter}, overtake = {overtake} }}")
            }
            Effect::Hold => "hold = true".into(),
            Effect::Throttle {
                bytes,
                clocks,
                buffer,
                mark,
            } => {
                let mut text = format!("throttle = {{ bytes = {bytes}, clocks = {clocks}");
                if let Some(buffer) = buffer {
                    let _ = write!(text, ", buffer = {buffer}");
                }
                if let Some(mark) = mark {
                    let _ = write!(text, ", mark = {mark}");
                }
                text + " }"
            }
            Effect::Pause => "pause = true".into(),
        });
        self.paused |= rule.effect == Effect::Pause;
        self.step(&format!("network = {{ {} }}", words.join(", ")));
    }

    /// Nothing ends while a node has to wait.
    fn resume(&mut self) {
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
        self.step("expect_accounted = \"settled\"");
    }

    fn close(&mut self, link: usize, side: usize) {
        // A close waits for what is under way.
        self.resume();
        self.step(&format!("close_qp = \"{}\"", qp(link, side)));
        self.line("returns = [\"STATUS_SUCCESS\", \"STATUS_PENDING\"]");
        if let Some(open) = self.open.get_mut(link) {
            open[side] = false;
        }
    }

    fn make(&mut self, made: &Move, ends: &Ends) {
        match made {
            Move::Post(post) => self.post(post, ends),
            Move::Receive(receive) => self.receive(receive, ends),
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
            Move::Close { link, side } => self.close(*link, *side),
            Move::Reopen { link } => {
                for side in 0..2 {
                    if self.open.get(*link).is_some_and(|open| open[side]) {
                        self.close(*link, side);
                    }
                }
                for side in 0..2 {
                    self.step(&format!("create_qp = \"{}\"", qp(*link, side)));
                }
                if let (Some(open), Some(life)) =
                    (self.open.get_mut(*link), self.lives.get_mut(*link))
                {
                    *open = [true; 2];
                    *life += 1;
                }
                self.connection(*link);
                let life = self.lives.get(*link).copied().unwrap_or(0);
                self.step(&format!("connect = \"link{link}_{life}\""));
            }
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
const _: () = assert!(FAST < 10);
