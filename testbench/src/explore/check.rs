//! The invariants, as the world's onlooker checks them: from what the declaration of the world says and from
//! what leaves the engines, never from the engines' state.

use tandem_model::abi::{CQE, CommitKind, Record, RxResult, Status};
use tandem_model::engine::Action;
use tandem_model::wire::{Ext, Frame, Operation, Psn, Syndrome};

use super::build;
use super::invariant::Invariant;
use super::map::{region_of, region_token};
use super::mutation::Mutation;
use super::node::landing_range;
use super::plan::{Place, Planned, packet_range};
use super::turn::{Turn, lane_of};
use super::world::{Ends, Operation as Request, Region, Side};

/// A completion entry as the driver reads it.
struct Completion {
    lane: usize,
    index: usize,
    status: Option<Status>,
    byte_len: usize,
    invalidated: Option<u32>,
}

impl Turn<'_> {
    /// A fenced request whose first packet leaves: all earlier reads have retired, and their bytes are there.
    pub(super) fn check_fence(&mut self, side: Side, action: &Action) {
        let setting = self.setting;
        if action.kind != CommitKind::SqEmit {
            return;
        }
        let Some(lane) = lane_of(action.qpn) else {
            return;
        };
        let requests = &setting.plan.node(side).lanes[lane];
        let found = setting.plan.find(side, lane, Psn::new(action.psn));
        let Some((index, 0)) = found else {
            return;
        };
        if !requests[index].request.fence {
            return;
        }
        let node = self.node(side);
        let retired = usize::from(node.seen.qps[lane].retired);
        let early = requests[..index]
            .iter()
            .enumerate()
            .find(|(number, planned)| {
                planned.request.is_read()
                    && (*number >= retired || !is_there(&node.landing, &planned.place))
            });
        if let Some((read, _)) = early {
            self.break_(Invariant::Fence, || {
                format!(
                    "{} starts request {index}, which is fenced, before read {read} has finished",
                    side.name()
                )
            });
        }
    }

    /// A payload write is issued: through a token that is valid, and the bytes that belong there.
    pub(super) fn check_target(&mut self, side: Side, address: u64, bytes: &[u8]) {
        let plan = self.setting.plan.node(side);
        let Some((range, region)) = landing_range(plan, address, bytes.len()) else {
            return self.break_(Invariant::Bytes, || {
                format!(
                    "{} writes to {address:#x}, where nothing is to land",
                    side.name()
                )
            });
        };
        let dead = self.node(side).seen.dead;
        if let Some(region) = region
            && dead & 1 << region != 0
        {
            self.break_(Invariant::DeadToken, || {
                format!(
                    "{} writes to region {region}, whose token is invalid",
                    side.name()
                )
            });
        }
        if plan.after[range] != *bytes {
            self.break_(Invariant::Bytes, || {
                format!(
                    "{} writes other bytes to {address:#x} than belong there",
                    side.name()
                )
            });
        }
    }

    /// A frame leaves: what it acknowledges is placed.
    pub(super) fn check_leaving(&mut self, side: Side, frame: &[u8]) {
        let Ok(frame) = Frame::parse(frame) else {
            return self.break_(Invariant::Legal, || {
                "a frame that no one understands".into()
            });
        };
        let psn = frame.bth.psn;
        let covers: fn(i32) -> bool = match (frame.bth.opcode.operation(), frame.ext.aeth()) {
            (Operation::Acknowledge, Some(aeth)) => match aeth.syndrome {
                Syndrome::Ack { .. } => |distance| distance <= 0,
                _ => return,
            },
            (Operation::ReadResponse, _) => |distance| distance < 0,
            _ => return,
        };
        let Some(lane) = lane_of(frame.bth.dest_qp.get()) else {
            return;
        };
        let landing = &self.node(side).landing;
        let requests = &self.setting.plan.node(side.peer()).lanes[lane];
        let missing = requests.iter().enumerate().find(|(_, planned)| {
            !planned.request.is_read()
                && (0..planned.request.packets())
                    .filter(|packet| covers((planned.first + *packet).distance(psn)))
                    .any(|packet| !packet_is_there(landing, planned, packet))
        });
        if let Some((index, _)) = missing {
            self.break_(Invariant::AckAfterData, || {
                format!(
                    "a positive response with psn {psn} leaves {} before the bytes of request {index} of {} are placed",
                    side.name(),
                    side.peer().name()
                )
            });
        }
    }

    /// The driver sees a completion entry.
    pub(super) fn check_completion(&mut self, side: Side, entry: &[u8; 32]) {
        let record = Record::from_bytes(&CQE, entry);
        let Some(lane) = lane_of(record.get("qpn") as u32) else {
            return self.break_(Invariant::InOrder, || {
                "a completion of no queue pair".into()
            });
        };
        let completion = Completion {
            lane,
            index: record.get("wqe_index") as usize,
            status: Status::from_bits(record.get("status")),
            byte_len: record.get("byte_len") as usize,
            invalidated: (record.get("invalidated") != 0).then(|| record.get("token") as u32),
        };
        if completion.status != Some(Status::Success) && self.setting.world.ends == Ends::Success {
            self.break_(Invariant::Succeeds, || {
                format!(
                    "{}: a request completes with {:?}",
                    side.name(),
                    completion.status
                )
            });
        }
        if record.get("receive") == 0 {
            self.check_request(side, &completion);
        } else {
            self.check_receive(side, &completion);
        }
    }

    fn check_request(&mut self, side: Side, completion: &Completion) {
        let Completion { lane, index, .. } = *completion;
        let setting = self.setting;
        let requests = &setting.plan.node(side).lanes[lane];
        let told = usize::from(self.node(side).seen.qps[lane].told);
        let next = (told..requests.len())
            .find(|next| *next >= index || !requests[*next].request.silent)
            .unwrap_or(requests.len());
        let Some(planned) = requests.get(index).filter(|_| next == index) else {
            return self.break_(Invariant::InOrder, || {
                format!(
                    "{}: request {index} completes, and it is the turn of request {next}",
                    side.name()
                )
            });
        };
        self.change(side).seen.qps[lane].told = index as u8 + 1;
        let succeeded = completion.status == Some(Status::Success);
        if let Some(region) = planned.request.sink.filter(|_| succeeded) {
            self.change(side).seen.told_dead |= 1 << region;
        }
        let place = &planned.place;
        if succeeded && !is_there(&self.node(place.side).landing, place) {
            self.break_(Invariant::DataFirst, || {
                format!(
                    "{}: request {index} completes before its bytes are placed on {}",
                    side.name(),
                    place.side.name()
                )
            });
        }
    }

    fn check_receive(&mut self, side: Side, completion: &Completion) {
        let Completion { lane, index, .. } = *completion;
        let setting = self.setting;
        let name = side.name();
        let received = usize::from(self.node(side).seen.qps[lane].received);
        if index != received {
            return self.break_(Invariant::ExactlyOnce, || {
                format!(
                    "{name}: receive {index} completes, and it is the turn of receive {received}"
                )
            });
        }
        self.change(side).seen.qps[lane].received += 1;
        if completion.status != Some(Status::Success) {
            return;
        }
        let mut requests = setting.plan.node(side.peer()).lanes[lane].iter();
        let Some(planned) = requests.find(|planned| planned.receive == Some(index)) else {
            return self.break_(Invariant::ExactlyOnce, || {
                format!("{name}: receive {index} completes, for which nothing was sent")
            });
        };
        let place = &planned.place;
        let node = self.node(side);
        if node.is_under_way(setting.plan.node(side), &place.range()) {
            return self.break_(Invariant::DataFirst, || {
                format!("{name}: receive {index} completes while its bytes are under way")
            });
        }
        let invalidates = match planned.request.operation {
            Request::SendInvalidate(region) => Some(region_token(region).0),
            _ => None,
        };
        if !is_there(&node.landing, place)
            || completion.byte_len != place.bytes.len()
            || completion.invalidated != invalidates
        {
            return self.break_(Invariant::ExactlyOnce, || {
                format!("{name}: receive {index} completes with something else than its send")
            });
        }
        if let Request::SendInvalidate(region) = planned.request.operation {
            self.change(side).seen.told_dead |= 1 << region;
        }
    }

    /// Takes down which token a frame has invalidated.
    pub(super) fn follow_invalidation(&mut self, side: Side, frame: &[u8], action: &Action) {
        if action.cause != RxResult::Accept as u8 {
            return;
        }
        let Ok(frame) = Frame::parse(frame) else {
            return;
        };
        let region = match (action.kind, frame.ext) {
            (CommitKind::RxRequest, Ext::Ieth(token)) => region_of(token),
            (CommitKind::RxResponse, _)
                if frame.bth.opcode.operation() == Operation::ReadResponse =>
            {
                self.sink_done(side, &frame)
            }
            _ => None,
        };
        let Some(region) = region else {
            return;
        };
        let setting = self.setting;
        let node = self.change(side);
        node.seen.dead |= 1 << region;
        if setting.mutation == Some(Mutation::InvalidationForgotten) {
            build::write_region(&mut node.engine, setting.plan.node(side), region);
        }
    }
}

impl Turn<'_> {
    /// The region that a read has filled with this response, its last.
    fn sink_done(&self, side: Side, frame: &Frame<'_>) -> Option<Region> {
        let lane = lane_of(frame.bth.dest_qp.get())?;
        let plan = &self.setting.plan;
        let (index, packet) = plan.find(side, lane, frame.bth.psn)?;
        let request = &plan.node(side).lanes[lane][index].request;
        request.sink.filter(|_| packet + 1 == request.packets())
    }
}

/// Whether the bytes of a request are where they belong.
pub(super) fn is_there(landing: &[u8], place: &Place) -> bool {
    landing[place.range()] == place.bytes
}

/// Whether those of one packet are.
fn packet_is_there(landing: &[u8], planned: &Planned, packet: u32) -> bool {
    let place = &planned.place;
    let range = packet_range(place.bytes.len(), packet);
    landing[place.range()][range.clone()] == place.bytes[range]
}
