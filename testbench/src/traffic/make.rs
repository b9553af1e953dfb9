//! Making requests up: kinds, sizes, pieces, flags.

use tandem_model::ndk::{LocalToken, MrFlags, OpFlags, OperationType, RemoteToken, Sge};

use super::arena::Slice;
use super::lane::{Check, FastRegion, Message, Pending, Sent, Victim};
use super::lives::{Life, Use};
use super::owner::Call;
use super::side::Source;
use super::{Result, Traffic};

/// Elements of a receive, and of a read.
pub(super) const FEW: u32 = 4;
/// Elements of an inline request, which knows no limit.
const INLINE_PIECES: u32 = 20;

/// Kind of an initiator request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Send,
    SendAndInvalidate,
    Read,
    Write,
    Bind,
    FastRegister,
    Invalidate,
}

impl Kind {
    /// For reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::SendAndInvalidate => "send and invalidate",
            Self::Read => "read",
            Self::Write => "write",
            Self::Bind => "bind",
            Self::FastRegister => "fast register",
            Self::Invalidate => "invalidate",
        }
    }
}

/// A request that is ready to be posted.
pub(super) struct Request {
    pub(super) kind: Kind,
    pub(super) sgl: Vec<Sge>,
    pub(super) remote: (u64, RemoteToken),
    pub(super) flags: OpFlags,
    pub(super) pending: Pending,
    pub(super) message: Option<Message>,
    /// Of one that concerns only its own adapter.
    pub(super) local: Option<Box<Local>>,
}

/// What a request that concerns only its own adapter names, and the life that begins with it.
pub(super) struct Local {
    pub(super) call: Call,
    pub(super) life: Option<Life>,
}

/// What is gathered for a request.
pub(super) struct Gathered {
    sources: Vec<Source>,
    sgl: Vec<Sge>,
    uses: Vec<Use>,
}

impl Traffic {
    /// Makes up a request; `None` if there is no room for it now.
    pub(super) fn request(&mut self, lane: usize) -> Result<Option<Request>> {
        if self.wanted.tokens > 0
            && self.dice.percent(self.wanted.tokens)
            && let Some(request) = self.short_lived(lane)?
        {
            return Ok(Some(request));
        }
        let kind = match self.dice.below(100) {
            0..30 => Kind::Send,
            30..40 => Kind::SendAndInvalidate,
            40..70 => Kind::Write,
            _ => Kind::Read,
        };
        match kind {
            Kind::SendAndInvalidate => self.invalidating_request(lane),
            Kind::Write => self.write_request(lane),
            Kind::Read => self.read_request(lane),
            _ => self.send_request(lane, None),
        }
    }

    pub(super) fn common_flags(&mut self) -> OpFlags {
        let mut flags = OpFlags::NONE;
        if self.dice.percent(35) {
            flags |= OpFlags::SILENT_SUCCESS;
        }
        if self.dice.percent(10) {
            flags |= OpFlags::READ_FENCE;
        }
        flags
    }

    /// Pieces to send, and their elements, with empty ones that mean nothing between.
    pub(super) fn gather(&mut self, lane: usize, length: u32, inline: bool) -> Gathered {
        let (node, max_sge) = (self.lanes[lane].node, self.lanes[lane].max_sge);
        let most = if inline { INLINE_PIECES } else { max_sge };
        let lengths = self.dice.cut(length, most);
        let mut gathered = Gathered {
            sources: Vec::new(),
            sgl: Vec::new(),
            uses: Vec::new(),
        };
        for length in lengths {
            if let Some((source, sge, used)) = self.own_source(lane, length, inline) {
                gathered.sources.push(source);
                gathered.sgl.push(sge);
                gathered.uses.push(used);
                continue;
            }
            let side = &self.sides[node];
            let source = side.source(&mut self.dice, length, inline);
            let garbage = (inline || length == 0).then(|| self.dice.any());
            gathered.sgl.push(side.source_sge(&source, garbage));
            gathered.sources.push(source);
        }
        gathered
    }

    /// A send that invalidates a region which is there for nothing else.
    fn invalidating_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let peer = self.lanes[lane].peer;
        let peer_node = self.lanes[peer].node;
        if self.next_capacity(peer).is_none() || !self.sides[peer_node].has_room_for_fast() {
            return Ok(None);
        }
        let Some(place) = self.sides[peer_node].take(&mut self.dice, 16, true) else {
            return Ok(None);
        };
        let region = self.fast_region(peer_node, place, true)?;
        self.send_request(lane, Some(Victim::Placed(region)))
    }

    /// A send; there must be a receive for one that invalidates something.
    pub(super) fn send_request(
        &mut self,
        lane: usize,
        invalidates: Option<Victim>,
    ) -> Result<Option<Request>> {
        let (node, peer) = (self.lanes[lane].node, self.lanes[lane].peer);
        let Some(capacity) = self.next_capacity(peer) else {
            return Ok(None);
        };
        let full = self.dice.percent(30);
        let mut length = if full {
            capacity
        } else {
            self.dice.below(capacity + 1)
        };
        let inline_limit = self.lanes[lane].inline;
        let mut flags = self.common_flags();
        let inline = inline_limit > 0 && self.dice.percent(30);
        if inline {
            length = length.min(self.dice.below(inline_limit + 1));
            flags |= OpFlags::INLINE;
        }
        if self.dice.percent(20) {
            flags |= OpFlags::SEND_AND_SOLICIT_EVENT;
        }
        let gathered = self.gather(lane, length, inline);
        Ok(Some(Request {
            kind: match invalidates {
                Some(_) => Kind::SendAndInvalidate,
                None => Kind::Send,
            },
            sgl: gathered.sgl,
            remote: (
                0,
                invalidates.map_or(RemoteToken(0), |victim| victim.token()),
            ),
            flags,
            pending: Pending {
                uses: gathered.uses,
                ..Pending::new(self.context(), flags, OperationType::Send)
            },
            message: Some(Message {
                sent: Sent::Sources {
                    node,
                    pieces: gathered.sources,
                },
                length,
                invalidates,
                tells: self.lives.untold(lane),
            }),
            local: None,
        }))
    }

    fn write_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let peer_node = self.lanes[self.lanes[lane].peer].node;
        let (length, flags) = self.write_length(lane);
        let Some(places) = self.take_places(peer_node, &[length], true) else {
            return Ok(None);
        };
        let Some(place) = places.first() else {
            return Ok(None);
        };
        let remote = self.sides[peer_node].landing_remote(place);
        Ok(Some(self.write_to(
            lane,
            (length, flags),
            remote,
            (peer_node, places),
        )))
    }

    /// Length of a write, and its flags.
    pub(super) fn write_length(&mut self, lane: usize) -> (u32, OpFlags) {
        let inline_limit = self.lanes[lane].inline;
        let inline = inline_limit > 0 && self.dice.percent(30);
        let mut flags = self.common_flags();
        let length = if inline {
            flags |= OpFlags::INLINE;
            self.dice.below(inline_limit + 1)
        } else {
            self.dice
                .length(self.wanted.max_size, self.wanted.megabyte_every)
        };
        (length, flags)
    }

    /// A write of so many bytes to a place of the peer.
    pub(super) fn write_to(
        &mut self,
        lane: usize,
        (length, flags): (u32, OpFlags),
        remote: (u64, RemoteToken),
        (to, places): (usize, Vec<Slice>),
    ) -> Request {
        let gathered = self.gather(lane, length, flags.contains(OpFlags::INLINE));
        Request {
            kind: Kind::Write,
            sgl: gathered.sgl,
            remote,
            flags,
            pending: Pending {
                uses: gathered.uses,
                check: Some(Check {
                    sent: Sent::Sources {
                        node: self.lanes[lane].node,
                        pieces: gathered.sources,
                    },
                    to,
                    places,
                }),
                ..Pending::new(self.context(), flags, OperationType::Write)
            },
            message: None,
            local: None,
        }
    }

    fn read_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let (node, peer, max_sge) = {
            let lane = &self.lanes[lane];
            (lane.node, lane.peer, lane.max_sge)
        };
        let peer_node = self.lanes[peer].node;
        let length = self
            .dice
            .length(self.wanted.max_size, self.wanted.megabyte_every);
        let lengths = self.dice.cut(length, max_sge.min(FEW));
        let invalidate = self.dice.percent(15) && self.sides[node].has_room_for_fast();
        let Some(places) = self.take_places(node, &lengths, invalidate) else {
            return Ok(None);
        };
        let mut flags = self.common_flags();
        let mut sgl: Vec<Sge> = places
            .iter()
            .map(|place| self.sides[node].landing_sge(place))
            .collect();
        let mut fast = None;
        if let (true, Some(place), Some(first)) = (invalidate, places.first(), sgl.first_mut())
            && place.length > 0
        {
            let region = self.fast_region(node, *place, false)?;
            first.token = LocalToken(region.token.to_engine());
            flags |= OpFlags::RDMA_READ_LOCAL_INVALIDATE;
            fast = Some(region);
        }
        let side = &self.sides[peer_node];
        let source = Source {
            privileged: false,
            ..side.source(&mut self.dice, length, false)
        };
        let remote = side.source_remote(&source);
        let sent = Sent::Sources {
            node: peer_node,
            pieces: vec![source],
        };
        let request = self.read_into(sgl, flags, (remote, sent), (node, places));
        Ok(Some(Request {
            pending: Pending {
                fast,
                ..request.pending
            },
            ..request
        }))
    }

    /// A read of something into places of its own node.
    pub(super) fn read_into(
        &mut self,
        sgl: Vec<Sge>,
        flags: OpFlags,
        (remote, sent): ((u64, RemoteToken), Sent),
        (to, places): (usize, Vec<Slice>),
    ) -> Request {
        Request {
            kind: Kind::Read,
            sgl,
            remote,
            flags,
            pending: Pending {
                check: Some(Check { sent, to, places }),
                ..Pending::new(self.context(), flags, OperationType::Read)
            },
            message: None,
            local: None,
        }
    }

    /// A fast-registered region over a place; `own` if the place is there for it alone.
    fn fast_region(&mut self, node: usize, place: Slice, own: bool) -> Result<FastRegion> {
        let side = &mut self.sides[node];
        let mdl = side.landing.memory.mdl(place.offset, place.length.into());
        let world_node = &mut self.world.nodes[node];
        let flags = MrFlags::ALLOW_REMOTE_WRITE;
        let nic = &mut world_node.nic;
        let placed = nic
            .bench()
            .place_fast_region(side.pd, &[mdl], place.length.into(), flags)
            .and_then(|mr| Ok((mr, nic.remote_token_from_mr(mr)?)));
        let (mr, token) = placed.map_err(|error| world_node.error(error))?;
        side.fast += 1;
        Ok(FastRegion {
            mr,
            token,
            place: own.then_some(place),
        })
    }
}
