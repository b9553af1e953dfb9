//! Making requests up: kinds, sizes, pieces, flags.

use tandem_model::ndk::{LocalToken, MrFlags, OpFlags, OperationType, RemoteToken, Sge};

use super::arena::Slice;
use super::lane::{Check, FastRegion, Message, Pending};
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
}

impl Kind {
    /// For reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::SendAndInvalidate => "send and invalidate",
            Self::Read => "read",
            Self::Write => "write",
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
}

impl Traffic {
    /// Makes up a request; `None` if there is no room for it now.
    pub(super) fn request(&mut self, lane: usize) -> Result<Option<Request>> {
        let kind = match self.dice.below(100) {
            0..30 => Kind::Send,
            30..40 => Kind::SendAndInvalidate,
            40..70 => Kind::Write,
            _ => Kind::Read,
        };
        match kind {
            Kind::Send | Kind::SendAndInvalidate => self.send_request(lane, kind),
            Kind::Write => self.write_request(lane),
            Kind::Read => self.read_request(lane),
        }
    }

    fn common_flags(&mut self) -> OpFlags {
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
    fn gather(&mut self, lane: usize, length: u32, inline: bool) -> (Vec<Source>, Vec<Sge>) {
        let (node, max_sge) = (self.lanes[lane].node, self.lanes[lane].max_sge);
        let most = if inline { INLINE_PIECES } else { max_sge };
        let lengths = self.dice.cut(length, most);
        let side = &self.sides[node];
        let mut sources = Vec::new();
        let mut sgl = Vec::new();
        for length in lengths {
            let source = side.source(&mut self.dice, length, inline);
            let garbage = (inline || length == 0).then(|| self.dice.any());
            sgl.push(side.source_sge(&source, garbage));
            sources.push(source);
        }
        (sources, sgl)
    }

    fn send_request(&mut self, lane: usize, kind: Kind) -> Result<Option<Request>> {
        let peer = self.lanes[lane].peer;
        let used = self.lanes[peer].used;
        let Some(capacity) = self.lanes[peer]
            .receives
            .get(used)
            .map(|posted| posted.capacity)
        else {
            return Ok(None);
        };
        let peer_node = self.lanes[peer].node;
        let mut invalidates = None;
        if kind == Kind::SendAndInvalidate {
            if !self.sides[peer_node].has_room_for_fast() {
                return Ok(None);
            }
            let Some(place) = self.sides[peer_node].take(&mut self.dice, 16, true) else {
                return Ok(None);
            };
            invalidates = Some(self.fast_region(peer_node, place, true)?);
        }
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
        let (sources, sgl) = self.gather(lane, length, inline);
        Ok(Some(Request {
            kind,
            sgl,
            remote: (
                0,
                invalidates.map_or(RemoteToken(0), |fast: FastRegion| fast.token),
            ),
            flags,
            pending: Pending {
                context: self.context(),
                silent: flags.contains(OpFlags::SILENT_SUCCESS),
                operation: OperationType::Send,
                check: None,
                fast: None,
            },
            message: Some(Message {
                sources,
                length,
                invalidates,
            }),
        }))
    }

    fn write_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let (node, peer) = (self.lanes[lane].node, self.lanes[lane].peer);
        let peer_node = self.lanes[peer].node;
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
        let Some(places) = self.take_places(peer_node, &[length], true) else {
            return Ok(None);
        };
        let Some(place) = places.first() else {
            return Ok(None);
        };
        let remote = self.sides[peer_node].landing_remote(place);
        let (sources, sgl) = self.gather(lane, length, inline);
        Ok(Some(Request {
            kind: Kind::Write,
            sgl,
            remote,
            flags,
            pending: Pending {
                context: self.context(),
                silent: flags.contains(OpFlags::SILENT_SUCCESS),
                operation: OperationType::Write,
                check: Some(Check {
                    from: node,
                    sources,
                    to: peer_node,
                    places,
                }),
                fast: None,
            },
            message: None,
        }))
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
        Ok(Some(Request {
            kind: Kind::Read,
            sgl,
            remote: side.source_remote(&source),
            flags,
            pending: Pending {
                context: self.context(),
                silent: flags.contains(OpFlags::SILENT_SUCCESS),
                operation: OperationType::Read,
                check: Some(Check {
                    from: peer_node,
                    sources: vec![source],
                    to: node,
                    places,
                }),
                fast,
            },
            message: None,
        }))
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
