//! Requests of a queue pair through windows and regions of the peer that live short lives.

use tandem_model::ndk::{OpFlags, RemoteToken};

use super::lane::{Sent, Victim};
use super::lives::{Life, Under, Use};
use super::make::{FEW, Kind, Request};
use super::owner::used;
use super::side::Source;
use super::{Result, Traffic};

impl Traffic {
    /// A queue pair, its peer, and the node of that one.
    fn ends(&self, lane: usize) -> (usize, usize, usize) {
        let peer = self.lanes[lane].peer;
        (lane, peer, self.lanes[peer].node)
    }

    /// A write to a place that has a token of its own.
    pub(super) fn write_through(&mut self, lane: usize) -> Result<Option<Request>> {
        let ends = self.ends(lane);
        let fits = |life: &Life| life.rights.remote_write && life.room() > 0;
        let Some((id, life)) = self.lives.pick_for_peer(&mut self.dice, ends, fits) else {
            return Ok(None);
        };
        let (room, node, token) = (life.room(), life.node, life.token);
        let (length, flags) = self.write_length(lane);
        let length = length.min(room);
        let Some(life) = self.lives.get(id) else {
            return Ok(None);
        };
        let Some((at, part)) = life.next_part(length) else {
            return Ok(None);
        };
        let remote = (life.address(at), token);
        let mut request = self.write_to(lane, (length, flags), remote, (node, vec![part]));
        let arrives = request
            .pending
            .check
            .as_ref()
            .map(|check| self.bytes_of(&check.sent));
        request.pending.uses.push(Use {
            life: id,
            read: false,
            arrives,
        });
        Ok(Some(request))
    }

    /// A read of something that has a token of its own.
    pub(super) fn read_through(&mut self, lane: usize) -> Result<Option<Request>> {
        let ends = self.ends(lane);
        let fits = |life: &Life| {
            let known = matches!(life.under, Under::Source(_)) || life.settled(lane).is_some();
            life.rights.remote_read && known
        };
        let Some((id, life)) = self.lives.pick_for_peer(&mut self.dice, ends, fits) else {
            return Ok(None);
        };
        let settled = life.settled(lane).map_or(0, <[u8]>::len) as u32;
        let room = match &life.under {
            Under::Source(_) => life.length,
            Under::Landing { .. } => settled,
        };
        let length = self.dice.length(self.wanted.max_size, 0).min(room);
        let at = self.dice.below(room - length + 1);
        let sent = match (&life.under, life.settled(lane)) {
            (Under::Source(source), _) => Sent::Sources {
                node: life.node,
                pieces: vec![source.part(at, length)],
            },
            (_, bytes) => {
                let bytes = bytes.and_then(|all| all.get(at as usize..(at + length) as usize));
                Sent::Bytes(bytes.unwrap_or_default().to_vec())
            }
        };
        let remote = (life.address(at), life.token);
        let node = self.lanes[lane].node;
        let lengths = self.dice.cut(length, self.lanes[lane].max_sge.min(FEW));
        let Some(places) = self.take_places(node, &lengths, false) else {
            return Ok(None);
        };
        let sgl = places
            .iter()
            .map(|place| self.sides[node].landing_sge(place))
            .collect();
        let flags = self.common_flags();
        let mut request = self.read_into(sgl, flags, (remote, sent), (node, places));
        request.pending.uses.push(used(id, true));
        Ok(Some(request))
    }

    /// A send that invalidates a token. Writes before it are done when it arrives; for reads it must wait.
    pub(super) fn invalidate_through(&mut self, lane: usize) -> Result<Option<Request>> {
        let ends = self.ends(lane);
        let fits = |life: &Life| {
            let rights = life.rights.remote_read || life.rights.remote_write;
            let free = life.has_no_window() && life.is_used_only_by(lane);
            rights && free && self.lives.is_read_no_more(life)
        };
        let Some((id, life)) = self.lives.pick_for_peer(&mut self.dice, ends, fits) else {
            return Ok(None);
        };
        let (token, reads) = (life.token, life.is_read_by(lane));
        let victim = Victim::Life(id, token);
        let Some(mut request) = self.send_request(lane, Some(victim))? else {
            return Ok(None);
        };
        if reads {
            request.flags |= OpFlags::READ_FENCE;
        }
        Ok(Some(request))
    }

    /// Something of the peer to read that its registration for long has: how it is named, and what it is.
    pub(super) fn far_source(
        &mut self,
        lane: usize,
        length: u32,
    ) -> ((u64, RemoteToken), Sent, Vec<u8>) {
        let node = self.lanes[self.lanes[lane].peer].node;
        let side = &self.sides[node];
        let source = Source {
            privileged: false,
            ..side.source(&mut self.dice, length, false)
        };
        let sent = Sent::Sources {
            node,
            pieces: vec![source],
        };
        let bytes = self.bytes_of(&sent);
        (self.sides[node].source_remote(&source), sent, bytes)
    }
}

/// What a request does through a token that lives a short life, for reports.
pub(super) fn words(kind: Kind, own: bool, region: bool) -> &'static str {
    match (kind, own, region) {
        (Kind::Read, true, _) => "reads into own regions",
        (_, true, _) => "pieces sent from own regions",
        (Kind::Read, false, true) => "reads through regions",
        (Kind::Read, false, false) => "reads through windows",
        (_, false, true) => "writes through regions",
        (_, false, false) => "writes through windows",
    }
}
