//! Connections, their requests, and what these may end with.
//!
//! A connection on which nothing can go wrong until everything has settled is *sound*: all its requests succeed.
//! If a single request cannot succeed, and the network is whole, those before it succeed, it ends as its fault says,
//! and those behind it are cancelled. In all other cases a request may succeed, be cancelled, or end with a timeout.

use std::collections::BTreeSet;

use super::moves::Region;
use super::spec::Link;

pub(super) const SUCCESS: &str = "STATUS_SUCCESS";
pub(super) const CANCELLED: &str = "STATUS_CANCELLED";
pub(super) const TIMEOUT: &str = "STATUS_IO_TIMEOUT";
pub(super) const REFUSED: &str = "STATUS_REMOTE_RESOURCES";
pub(super) const ACCESS: &str = "STATUS_ACCESS_VIOLATION";
pub(super) const DEVICE: &str = "STATUS_INVALID_DEVICE_REQUEST";
pub(super) const TOO_LONG: &str = "STATUS_BUFFER_OVERFLOW";

/// Thousandths of frames that may be lost without a request failing for it.
pub(super) const BEARABLE: u32 = 40;

/// Statuses, those that come first being what is most likely.
pub(super) type Ends = Vec<&'static str>;

/// Whether a region can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    Valid,
    /// Depends on what comes first.
    Unsure,
    Gone,
}

/// Why a request may fail.
#[derive(Clone, Debug, Default)]
pub(super) struct Fault {
    pub(super) statuses: BTreeSet<&'static str>,
    pub(super) certain: bool,
}

impl Fault {
    pub(super) fn add(&mut self, status: &'static str, certain: bool) {
        self.statuses.insert(status);
        self.certain |= certain;
    }

    pub(super) fn uses(&mut self, status: &'static str, state: Use) {
        match state {
            Use::Valid => {}
            Use::Unsure => self.add(status, false),
            Use::Gone => self.add(status, true),
        }
    }

    fn is_any(&self) -> bool {
        !self.statuses.is_empty()
    }
}

/// A request of either queue.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Its move.
    pub(super) at: usize,
    pub(super) send: bool,
    pub(super) invalidates: bool,
    pub(super) length: u32,
    pub(super) fault: Fault,
    /// Regions that it uses, by node.
    pub(super) uses: Vec<(usize, Region)>,
    /// Those that it makes valid or free, and those on whose state that depends.
    pub(super) changes: Vec<(usize, Region)>,
    pub(super) held: bool,
    /// A Bind or a FastRegister: it may be done before what is in front of it.
    pub(super) early: bool,
    /// Posted after its queue pair was flushed.
    pub(super) late: bool,
    pub(super) ends: Option<Ends>,
}

impl Request {
    /// A receive with nothing wrong.
    pub(super) fn receive(at: usize, length: u32, late: bool) -> Self {
        Self {
            at,
            send: false,
            invalidates: false,
            length,
            fault: Fault::default(),
            uses: Vec::new(),
            changes: Vec::new(),
            held: false,
            early: false,
            late,
            ends: None,
        }
    }
}

/// A connection of two queue pairs.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) nodes: [usize; 2],
    pub(super) sends: [Vec<Request>; 2],
    pub(super) receives: [Vec<Request>; 2],
    pub(super) cut: [bool; 2],
    /// Whether receives come from the shared queue of their node.
    pub(super) shared: [bool; 2],
    /// The network was impaired while requests were under way.
    pub(super) impaired: bool,
    pub(super) heavy: bool,
    pub(super) weak: bool,
    /// Without a timer: any frame that is lost may be waited for without end.
    pub(super) timeless: bool,
    /// Sends wait for their receives without end, and get them before everything settles.
    pub(super) patient: bool,
    /// A send found no receive.
    pub(super) unready: bool,
}

impl Life {
    pub(super) fn new(link: &Link) -> Self {
        Self {
            nodes: link.nodes,
            sends: [Vec::new(), Vec::new()],
            receives: [Vec::new(), Vec::new()],
            cut: [false; 2],
            shared: [link.ends[0].shared, link.ends[1].shared],
            impaired: false,
            heavy: false,
            weak: !link.is_sound(),
            timeless: link.is_timeless(),
            patient: link.is_patient(),
            unready: false,
        }
    }

    /// Puts the faults of sends that do not fit their receives at both.
    fn pair(&mut self) {
        for side in 0..2 {
            let sends = self.sends[side].iter_mut().filter(|request| request.send);
            for (send, receive) in sends.zip(&mut self.receives[1 - side]) {
                if send.ends.is_some() {
                    continue;
                }
                if send.length > receive.length {
                    send.fault.add(REFUSED, true);
                    receive.fault.add(TOO_LONG, true);
                }
                // Its own fault, if the message reaches it.
                let placed = send.length > 0;
                let own = receive.fault.statuses.contains(ACCESS);
                if own && placed {
                    send.fault.add(REFUSED, receive.fault.certain);
                }
                if own && !placed {
                    receive.fault.statuses.remove(ACCESS);
                    receive.fault.certain = receive.fault.statuses.contains(TOO_LONG);
                }
                if send.invalidates && send.fault.statuses.contains(REFUSED) {
                    receive.fault.add(REFUSED, false);
                }
                if send.fault.certain {
                    receive.fault.certain = true;
                }
            }
        }
    }

    /// The receives that senders would wait for without end; they are none of the moves.
    fn provide(&mut self) {
        if !self.patient {
            return;
        }
        for side in 0..2 {
            let sends = self.sends[side].iter().filter(|request| request.send);
            let (wanted, late) = (sends.count(), self.cut[1 - side]);
            let receives = &mut self.receives[1 - side];
            while receives.len() < wanted {
                receives.push(Request::receive(usize::MAX, 0, late));
            }
        }
    }

    /// Whether all sends to a node that has a shared queue have succeeded for certain.
    pub(super) fn all_received(&self, node: usize) -> bool {
        let to = |side: usize| self.shared[1 - side] && self.nodes[1 - side] == node;
        let sends = (0..2)
            .filter(|side| to(*side))
            .flat_map(|side| &self.sends[side]);
        let mut sends = sends.filter(|request| request.send);
        sends.all(|request| request.ends.as_deref() == Some(&[SUCCESS]))
    }

    fn faults(&self) -> usize {
        let all = self.sends.iter().flatten();
        all.filter(|request| request.ends.is_none() && request.fault.is_any())
            .count()
    }

    fn is_sound(&self) -> bool {
        !self.heavy && !self.weak && !self.unready && self.cut == [false; 2] && self.faults() == 0
    }

    /// Everything has ended.
    pub(super) fn settle(&mut self) {
        self.provide();
        self.pair();
        if !self.is_sound() {
            return;
        }
        for side in 0..2 {
            let held = self.sends[side].iter().position(|request| request.held);
            let done = held.unwrap_or(self.sends[side].len());
            let mut count = 0;
            for request in self.sends[side].iter_mut().take(done) {
                request.ends.get_or_insert_with(|| vec![SUCCESS]);
                count += usize::from(request.send);
            }
            for receive in self.receives[1 - side].iter_mut().take(count) {
                receive.ends.get_or_insert_with(|| vec![SUCCESS]);
            }
        }
        self.impaired = false;
    }

    /// Nothing more will happen to it: what is not known yet.
    pub(super) fn end(&mut self) {
        self.settle();
        let alone = self.faults() == 1
            && !self.impaired
            && !self.heavy
            && !self.weak
            && !self.unready
            && self.cut == [false; 2];
        for side in 0..2 {
            let failing = |request: &&Request| request.ends.is_none() && request.fault.certain;
            let first = self.sends[side]
                .iter()
                .position(|request| failing(&request));
            let mut sends = 0;
            for (place, request) in self.sends[side].iter_mut().enumerate() {
                let behind = first.is_some_and(|first| first < place);
                let receive = match request.send {
                    true => self.receives[1 - side].get_mut(sends),
                    false => None,
                };
                sends += usize::from(request.send);
                if let Some(receive) = receive
                    && receive.ends.is_none()
                {
                    receive.ends = Some(match receive.late || behind {
                        true => vec![CANCELLED],
                        false => wide(&receive.fault, false),
                    });
                }
                if request.ends.is_some() {
                    continue;
                }
                let before = alone && first.is_some_and(|first| place < first) && !request.held;
                request.ends = Some(
                    match (request.late || behind, alone && first == Some(place)) {
                        (true, _) => overtaken(request),
                        (false, true) => request.fault.statuses.iter().copied().collect(),
                        (false, false) if before => vec![SUCCESS],
                        (false, false) => wide(&request.fault, true),
                    },
                );
            }
            for receive in &mut self.receives[1 - side] {
                receive.ends.get_or_insert_with(|| vec![CANCELLED]);
            }
        }
    }
}

/// Of a request that comes too late to succeed. One that was found wrong before it was sent, while others before it were
/// open, says so even if those are flushed.
fn overtaken(request: &Request) -> Ends {
    let mut ends = vec![CANCELLED];
    ends.extend((request.early && !request.late && !request.fault.certain).then_some(SUCCESS));
    let own = [ACCESS, DEVICE].into_iter();
    ends.extend(own.filter(|status| !request.late && request.fault.statuses.contains(status)));
    ends
}

fn wide(fault: &Fault, initiator: bool) -> Ends {
    let mut ends = Vec::new();
    if !fault.certain {
        ends.push(SUCCESS);
    }
    ends.push(CANCELLED);
    if initiator {
        ends.push(TIMEOUT);
    }
    ends.extend(fault.statuses.iter().copied());
    ends
}

/// The hardware is told of what was held back.
pub(super) fn tell(life: &mut Life, side: usize) {
    for request in &mut life.sends[side] {
        request.held = false;
    }
}
