//! Connections that are made and ended by connection management, as steps of a vector.

use std::fmt::Write;

use super::meetings::{Meeting, Reads, Refusal};
use super::moves::Move;
use super::text::{Writer, node, qp};

/// A port at which nobody listens.
const NOBODY: u16 = 9;
/// Clocks after which a disconnect that the peer did not answer may have been given up.
const PATIENCE: u32 = 20_000;

/// A disconnect under way.
#[derive(Clone, Copy, Debug)]
struct Call {
    context: u64,
    /// Clocks that passed by themselves.
    waited: u32,
}

/// The connector of a side.
#[derive(Clone, Debug)]
pub(super) struct Held {
    name: String,
    /// Context of the disconnect event, until it is expected; none if nobody is told.
    event: Option<u64>,
    call: Option<Call>,
    /// Whether its consumer has disconnected.
    called: bool,
    closed: bool,
    /// The peer's connector was closed while neither side had disconnected: whether the network was whole then.
    aborted: Option<bool>,
    /// Whether what the sides tell each other of the end may be lost.
    doubtful: bool,
}

impl Held {
    fn new(name: String, event: Option<u64>) -> Self {
        Self {
            name,
            event,
            call: None,
            called: false,
            closed: false,
            aborted: None,
            doubtful: false,
        }
    }

    fn has_ended(&self) -> bool {
        self.called || self.closed
    }
}

/// What is written of connection management.
#[derive(Debug, Default)]
pub(super) struct Managed {
    /// By link.
    held: Vec<[Option<Held>; 2]>,
    /// Lines of listeners and connectors.
    pub(super) listeners: String,
    pub(super) connectors: String,
    /// Connectors, and pieces of private data.
    names: u32,
    data: u32,
}

impl Managed {
    /// Nothing yet, for so many links.
    pub(super) fn new(links: usize) -> Self {
        Self {
            held: vec![[None, None]; links],
            ..Self::default()
        }
    }
}

fn reads(reads: Reads) -> String {
    let Reads { inbound, outbound } = reads;
    format!("reads = {{ inbound = {inbound}, outbound = {outbound} }}")
}

impl Writer<'_> {
    fn name(&mut self, letter: char) -> String {
        self.managed.names += 1;
        format!("{letter}{}", self.managed.names)
    }

    /// A connector of a side that asks.
    fn connector(&mut self, place: usize) -> String {
        let name = self.name('k');
        let line = format!("{name} = {{ node = \"{}\" }}\n", node(place));
        self.managed.connectors.push_str(&line);
        name
    }

    /// A listener that listens.
    fn listener(&mut self, place: usize, ipv6: bool) -> String {
        let (node, ip) = (node(place), if ipv6 { 6 } else { 4 });
        let name = format!("l{node}{ip}");
        if !self.managed.listeners.contains(&name) {
            let line = format!("{name} = {{ node = \"{node}\", ip = {ip} }}\n");
            self.managed.listeners.push_str(&line);
            self.step(&format!("listen = \"{name}\""));
        }
        name
    }

    /// Private data of so many bytes, none of which is zero.
    fn private_data(&mut self, bytes: u32) -> String {
        self.managed.data += 1;
        let first = self.managed.data * 31;
        let bytes = (0..bytes).map(|at| (first + 7 * at) % 255 + 1);
        let digits = bytes.fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        format!("private_data = \"{digits}\"")
    }

    fn call(&mut self) -> u64 {
        self.context += 1;
        self.context
    }

    fn completed(&mut self, place: usize, context: u64, may: &[&str]) {
        self.step(&format!("expect_completed = \"{}\"", node(place)));
        let may: Vec<String> = may.iter().map(|may| format!("\"STATUS_{may}\"")).collect();
        self.line(&format!(
            "context = {context}\nstatus = [{}]",
            may.join(", ")
        ));
    }

    fn close_connector(&mut self, name: &str) {
        // A close waits for what is under way.
        self.resume();
        self.step(&format!("close_connector = \"{name}\""));
        self.line("returns = [\"STATUS_SUCCESS\", \"STATUS_PENDING\"]");
    }

    fn expect_connection(&mut self, name: &str, data: &str, reads: Option<String>, peer: usize) {
        self.step(&format!("expect_connection = \"{name}\""));
        self.line(&format!("{data}\npeer = \"{}\"", node(peer)));
        if let Some(reads) = reads {
            self.line(&reads);
        }
    }

    /// Asks for a connection; context of the call, and the private data.
    fn request(
        &mut self,
        link: usize,
        meeting: &Meeting,
        asking: &str,
        port: Option<u16>,
    ) -> (u64, String) {
        let asked = self.at(link, 1 - meeting.asker);
        let ipv6 = self.spec.links.get(link).is_some_and(|link| link.ipv6);
        let listener = self.listener(asked, ipv6);
        let data = self.private_data(meeting.asked);
        let context = self.call();
        self.step(&format!("connect_to = \"{asking}\""));
        self.line(&format!(
            "qp = \"{}\"\nlistener = \"{listener}\"\n{data}\n{}\ncontext = {context}",
            qp(link, meeting.asker),
            reads(meeting.reads[meeting.asker])
        ));
        if let Some(port) = port {
            self.line(&format!("port = {port}"));
        }
        (context, data)
    }

    /// Asks, and waits for the request to be there: context of the call, and the connector of the side that is asked.
    fn reach(&mut self, link: usize, meeting: &Meeting, asking: &str) -> (u64, String) {
        let (context, data) = self.request(link, meeting, asking, None);
        let [asker, asked] = [meeting.asker, 1 - meeting.asker].map(|side| self.at(link, side));
        let ipv6 = self.spec.links.get(link).is_some_and(|link| link.ipv6);
        let listener = self.listener(asked, ipv6);
        let passive = self.name('p');
        self.step(&format!("expect_connect = \"{listener}\""));
        self.line(&format!("connector = \"{passive}\""));
        let offered = reads(meeting.reads[meeting.asker].turned());
        self.expect_connection(&passive, &data, Some(offered), asker);
        (context, passive)
    }

    /// Accepts, and waits for the reply: context of the call.
    fn accept(
        &mut self,
        link: usize,
        meeting: &Meeting,
        names: [&str; 2],
        call: u64,
        event: Option<u64>,
    ) -> u64 {
        let (asker, asked) = (meeting.asker, 1 - meeting.asker);
        let data = self.private_data(meeting.answered);
        let context = self.call();
        self.step(&format!("accept = \"{}\"", names[1]));
        self.line(&format!(
            "qp = \"{}\"\n{data}\n{}\ncontext = {context}",
            qp(link, asked),
            reads(meeting.reads[asked])
        ));
        if let Some(event) = event {
            self.line(&format!("disconnect_event = {event}"));
        }
        self.completed(self.at(link, asker), call, &["SUCCESS"]);
        let agreed = reads(meeting.reads[asker].agreed(meeting.reads[asked]));
        self.expect_connection(names[0], &data, Some(agreed), self.at(link, asked));
        context
    }

    /// An attempt that comes to nothing; the connector for the next one.
    fn refused_meeting(
        &mut self,
        link: usize,
        meeting: &Meeting,
        refusal: Refusal,
        asking: String,
    ) -> String {
        let [asker, asked] = [meeting.asker, 1 - meeting.asker].map(|side| self.at(link, side));
        match refusal {
            Refusal::Nobody => {
                let (call, _) = self.request(link, meeting, &asking, Some(NOBODY));
                self.completed(asker, call, &["CONNECTION_REFUSED"]);
                asking
            }
            Refusal::Asked(bytes) => {
                let (call, passive) = self.reach(link, meeting, &asking);
                let data = self.private_data(bytes);
                self.step(&format!("reject = \"{passive}\""));
                self.line(&data);
                self.completed(asker, call, &["CONNECTION_REFUSED"]);
                self.expect_connection(&asking, &data, None, asked);
                self.close_connector(&passive);
                asking
            }
            Refusal::Answered(bytes) => {
                let (call, passive) = self.reach(link, meeting, &asking);
                let accepted = self.accept(link, meeting, [&asking, &passive], call, None);
                let data = self.private_data(bytes);
                self.step(&format!("reject = \"{asking}\""));
                self.line(&data);
                self.completed(asked, accepted, &["CONNECTION_REFUSED"]);
                self.expect_connection(&passive, &data, None, asker);
                for name in [&asking, &passive] {
                    self.close_connector(name);
                }
                // It was ready for that connection, and is for no other.
                self.close(link, 1 - meeting.asker);
                self.create(link, 1 - meeting.asker);
                self.connector(asker)
            }
            Refusal::GivenUp => {
                let (call, passive) = self.reach(link, meeting, &asking);
                self.close_connector(&asking);
                self.completed(asker, call, &["CANCELLED"]);
                self.close_connector(&passive);
                self.connector(asker)
            }
        }
    }

    /// Makes the connection of a link.
    pub(super) fn meet(&mut self, link: usize, meeting: &Meeting) {
        let asker = self.at(link, meeting.asker);
        let mut asking = self.connector(asker);
        for refusal in &meeting.refusals {
            asking = self.refused_meeting(link, meeting, *refusal, asking);
        }
        let events = meeting.events.map(|wanted| wanted.then(|| self.call()));
        let [first, second] = [meeting.asker, 1 - meeting.asker].map(|side| events[side]);
        let (call, passive) = self.reach(link, meeting, &asking);
        let accepted = self.accept(link, meeting, [&asking, &passive], call, second);
        self.step(&format!("complete_connect = \"{asking}\""));
        if let Some(event) = first {
            self.line(&format!("disconnect_event = {event}"));
        }
        self.completed(self.at(link, 1 - meeting.asker), accepted, &["SUCCESS"]);
        let [wanted, other] = [1 - meeting.asker, meeting.asker].map(|side| meeting.reads[side]);
        self.step(&format!("expect_connection = \"{passive}\""));
        self.line(&reads(wanted.agreed(other)));
        if let Some(held) = self.managed.held.get_mut(link) {
            held[meeting.asker] = Some(Held::new(asking, first));
            held[1 - meeting.asker] = Some(Held::new(passive, second));
        }
    }

    fn held(&mut self, link: usize, side: usize) -> Option<&mut Held> {
        self.managed.held.get_mut(link)?[side].as_mut()
    }

    /// The consumer of a side disconnects.
    pub(super) fn disconnect(&mut self, link: usize, side: usize) {
        let context = self.call();
        let Some(held) = self.held(link, side) else {
            return;
        };
        let name = held.name.clone();
        held.called = true;
        held.call = Some(Call { context, waited: 0 });
        self.step(&format!("disconnect = \"{name}\""));
        self.line(&format!("context = {context}"));
        self.conclude(link);
    }

    /// The consumer of a side closes its connector, if it still holds it.
    pub(super) fn abort(&mut self, link: usize, side: usize) {
        let Some(held) = self.held(link, side).filter(|held| !held.closed) else {
            return;
        };
        held.closed = true;
        let (name, called, call) = (held.name.clone(), held.called, held.call.take());
        let whole = self.state.rules == 0;
        if let Some(peer) = self
            .held(link, 1 - side)
            .filter(|peer| !called && !peer.called)
        {
            peer.aborted = Some(whole);
        }
        self.close_connector(&name);
        if let Some(call) = call {
            // Nobody has answered: it may have been given up.
            let may: &[&str] = match call.waited > PATIENCE {
                true => &["CANCELLED", "IO_TIMEOUT"],
                false => &["CANCELLED"],
            };
            self.completed(self.at(link, side), call.context, may);
        }
        self.conclude(link);
    }

    /// Disconnects that are under way end, now that the peer has ended it too.
    fn conclude(&mut self, link: usize) {
        let whole = self.state.rules == 0;
        for side in 0..2 {
            let peer = self.held(link, 1 - side).cloned();
            let Some(peer) = peer.filter(Held::has_ended) else {
                continue;
            };
            let Some(held) = self.held(link, side) else {
                continue;
            };
            let Some(call) = held.call.take() else {
                continue;
            };
            let mut may = match (held.aborted, peer.called) {
                // What was sent first comes first.
                (Some(true), _) if whole => vec!["CONNECTION_ABORTED"],
                (None, true) => vec!["SUCCESS"],
                _ => vec!["CONNECTION_ABORTED", "SUCCESS"],
            };
            if held.doubtful || call.waited > PATIENCE {
                may.push("IO_TIMEOUT");
            }
            self.resume();
            self.completed(self.at(link, side), call.context, &may);
        }
    }

    /// Everything settles: a disconnect that the peer's consumer does not answer is given up, and who did not ask for
    /// the end has been told of it.
    pub(super) fn settle_connections(&mut self) {
        for link in 0..self.managed.held.len() {
            for side in 0..2 {
                let peer = self.held(link, 1 - side).cloned();
                let ended = peer.is_some_and(|peer| peer.has_ended());
                let Some(held) = self.held(link, side) else {
                    continue;
                };
                if let Some(call) = held.call.take() {
                    self.completed(self.at(link, side), call.context, &["IO_TIMEOUT"]);
                    continue;
                }
                let told = ended && !held.has_ended() && !held.doubtful;
                let name = held.name.clone();
                if let Some(event) = held.event.take_if(|_| told) {
                    self.step(&format!("expect_disconnect = \"{name}\""));
                    self.line(&format!("context = {event}"));
                }
            }
        }
    }

    /// What a move that was made means for the ends of connections.
    pub(super) fn doubt(&mut self, made: &Move) {
        let lost = !self.state.lets_meet();
        let passed = match made {
            Move::Wait(clocks) => *clocks,
            // They wait for something themselves.
            Move::Settle | Move::Reopen { .. } | Move::Close { .. } | Move::Abort { .. } => {
                PATIENCE + 1
            }
            _ => 0,
        };
        for held in self.managed.held.iter_mut().flatten().flatten() {
            held.doubtful |= lost;
            if let Some(call) = &mut held.call {
                call.waited = call.waited.saturating_add(passed);
            }
        }
    }
}
