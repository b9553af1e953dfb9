//! Connection management: what both sides agree on, and the rules of the conversation.

use std::collections::HashMap;
use std::net::IpAddr;

use tandem_model::cm::{
    CmError, CommId, Datagram, Dreq, IpCm, Mad, Message, Rep, Req, TransportService, gid,
};
use tandem_model::wire::Qpn;

use super::direction::Terms;
use super::finding::{At, Findings};
use super::seen::Flow;

/// A connection that both sides agreed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreement {
    /// Place of its reply in the capture.
    pub(super) from: usize,
    /// Address, queue pair, and communication id of both sides; the active one first.
    pub(super) sides: [(IpAddr, Qpn, CommId); 2],
    /// Path MTU in bytes, if its code is legal.
    pub(super) mtu: Option<u32>,
    /// For the requests of each side.
    pub(super) terms: [Terms; 2],
}

impl Agreement {
    fn of(from: usize, active: IpAddr, req: &Req, passive: IpAddr, rep: &Rep) -> Self {
        Self {
            from,
            sides: [
                (active, req.local_qpn, req.local_comm_id),
                (passive, rep.local_qpn, rep.local_comm_id),
            ],
            mtu: (1..=5).contains(&req.path_mtu).then(|| 128 << req.path_mtu),
            terms: [
                Terms {
                    psn: Some(rep.starting_psn),
                    reads: Some(rep.responder_resources),
                    retries: None,
                    rnr_retries: Some(rep.rnr_retry_count),
                },
                Terms {
                    psn: Some(req.starting_psn),
                    reads: Some(req.responder_resources),
                    retries: Some(req.retry_count),
                    rnr_retries: Some(req.rnr_retry_count),
                },
            ],
        }
    }

    /// The flow of what a side sends.
    pub(super) fn flow(&self, side: usize) -> Option<Flow> {
        let (from, to) = (self.sides.get(side)?, self.sides.get(1 - side)?);
        Some(Flow {
            src: from.0,
            dst: to.0,
            qpn: to.1,
        })
    }

    /// The side that calls itself so.
    pub(super) fn side(&self, address: IpAddr, id: CommId) -> Option<usize> {
        self.sides
            .iter()
            .position(|side| (side.0, side.2) == (address, id))
    }
}

/// Who says something by which id.
type Speaker = (IpAddr, CommId);

/// The conversations of a capture.
#[derive(Default)]
pub(super) struct Conversations {
    requests: HashMap<Speaker, (At, Mad, Req)>,
    replies: HashMap<Speaker, (Mad, Rep)>,
    /// Disconnect requests by whom they are for.
    disconnects: HashMap<Speaker, Mad>,
    agreements: Vec<Agreement>,
}

impl Conversations {
    /// What was agreed on.
    pub(super) fn into_agreements(self) -> Vec<Agreement> {
        self.agreements
    }

    /// Takes a frame to queue pair 1, at its place in the capture.
    pub(super) fn take(&mut self, place: usize, at: At, frame: &[u8], out: &mut Findings) {
        let datagram = match Datagram::parse(frame) {
            Ok(datagram) => datagram,
            // Fields of other headers are told with the frame.
            Err(CmError::Frame(_)) => return,
            Err(error) => {
                out.violation(at, "WIRE-CM-1", error.to_string());
                return;
            }
        };
        let (src, dst) = (datagram.ip.src(), datagram.ip.dst());
        let mad = datagram.mad;
        match mad.message {
            Message::Req(req) => self.request(at, src, dst, mad, req, out),
            Message::Rep(rep) => self.reply(place, at, (src, dst), mad, rep, out),
            Message::Rtu(rtu) => {
                if let Some((reply, rep)) = self.replies.get(&(dst, rtu.remote_comm_id)) {
                    let right = rep.remote_comm_id == rtu.local_comm_id;
                    same(at, "WIRE-CM-7", &mad, reply, right, out);
                }
            }
            Message::Dreq(dreq) => self.disconnect(at, src, dst, mad, &dreq, out),
            Message::Drep(drep) => {
                if let Some(asked) = self.disconnects.get(&(src, drep.local_comm_id)) {
                    same(at, "WIRE-CM-10", &mad, asked, true, out);
                }
            }
            Message::Rej(rej) => {
                if let Some(id) = rej.remote_comm_id
                    && let Some((_, asked, _)) = self.requests.get(&(dst, id))
                    && !self.replies.contains_key(&(dst, id))
                {
                    same(at, "WIRE-CM-11", &mad, asked, true, out);
                }
            }
            Message::Mra(_) => {}
        }
    }

    fn request(
        &mut self,
        at: At,
        src: IpAddr,
        dst: IpAddr,
        mad: Mad,
        req: Req,
        out: &mut Findings,
    ) {
        if let Some((first, _, before)) = self.requests.get(&(src, req.local_comm_id))
            && *before != req
        {
            let message = format!(
                "another REQ than in frame {} under the same id",
                first.number
            );
            out.violation(at, "WIRE-CM-8", message);
        }
        if req.transport_service == TransportService::Rc && !(1..=5).contains(&req.path_mtu) {
            let message = format!("path MTU code {}", req.path_mtu);
            out.violation(at, "WIRE-CM-2", message);
        }
        if (req.primary.local_gid, req.primary.remote_gid) != (gid(src), gid(dst)) {
            let message = "the addresses of the path are not those of the datagram";
            out.violation(at, "WIRE-ADR-2", message);
        }
        if req.service_id.tcp_port().is_some() {
            let right = IpCm::parse(&req.private_data)
                .is_ok_and(|header| (header.source.ip(), header.destination) == (src, dst));
            if !right {
                let message = "the header of the private data does not name both addresses";
                out.violation(at, "WIRE-CM-5", message);
            }
        }
        self.requests
            .insert((src, req.local_comm_id), (at, mad, req));
    }

    fn reply(
        &mut self,
        place: usize,
        at: At,
        (src, dst): (IpAddr, IpAddr),
        mad: Mad,
        rep: Rep,
        out: &mut Findings,
    ) {
        let Some((_, asked, req)) = self.requests.get(&(dst, rep.remote_comm_id)) else {
            out.explained(
                at,
                "WIRE-CM-2",
                "a REP without its REQ: the capture began late, or other ids",
            );
            return;
        };
        same(at, "WIRE-CM-2", &mad, asked, true, out);
        if rep.initiator_depth > req.responder_resources {
            let message = format!(
                "the REP wants {} reads, the REQ offers {}",
                rep.initiator_depth, req.responder_resources
            );
            out.violation(at, "WIRE-CM-13", message);
        }
        let agreement = Agreement::of(place, dst, req, src, &rep);
        let known = self
            .agreements
            .iter()
            .any(|known| known.sides == agreement.sides);
        if !known {
            self.agreements.push(agreement);
        }
        let before = self.replies.insert((src, rep.local_comm_id), (mad, rep));
        if before.is_some_and(|(_, before)| before != rep) {
            out.violation(
                at,
                "WIRE-CM-14",
                "another REP than before under the same id",
            );
        }
    }

    fn disconnect(
        &mut self,
        at: At,
        src: IpAddr,
        dst: IpAddr,
        mad: Mad,
        dreq: &Dreq,
        out: &mut Findings,
    ) {
        let receiver = self.agreements.iter().find_map(|agreement| {
            let side = agreement.side(dst, dreq.remote_comm_id)?;
            agreement.side(src, dreq.local_comm_id)?;
            agreement.sides.get(side).map(|side| side.1)
        });
        if let Some(qpn) = receiver.filter(|qpn| *qpn != dreq.remote_qpn) {
            let message = format!("queue pair {}, the receiver has {qpn}", dreq.remote_qpn);
            out.violation(at, "WIRE-CM-9", message);
        }
        self.disconnects.insert((dst, dreq.remote_comm_id), mad);
    }
}

/// An answer has the transaction id of what it answers, and names it rightly.
fn same(at: At, id: &'static str, mad: &Mad, asked: &Mad, names: bool, out: &mut Findings) {
    if mad.transaction_id != asked.transaction_id {
        let message = format!(
            "a {} with transaction id {:#x}, the {} has {:#x}",
            mad.message.name(),
            mad.transaction_id,
            asked.message.name(),
            asked.transaction_id
        );
        out.violation(at, id, message);
    } else if !names {
        let message = format!("a {} with other communication ids", mad.message.name());
        out.violation(at, id, message);
    }
}

/// Whoever says with this frame that a connection is over, and the ids of both sides.
pub(super) fn ends(frame: &[u8]) -> Option<(IpAddr, CommId)> {
    let datagram = Datagram::parse(frame).ok()?;
    let id = match datagram.mad.message {
        Message::Dreq(dreq) => dreq.local_comm_id,
        Message::Drep(drep) => drep.local_comm_id,
        _ => return None,
    };
    Some((datagram.ip.src(), id))
}
