//! The invariants, as the world's onlooker checks them: from what the declaration of the world says and from
//! what leaves the engines, never from the engines' state.

use tandem_model::abi::{CQE, CommitKind, Record, Status};
use tandem_model::engine::Action;
use tandem_model::wire::{Frame, Operation, Psn, Syndrome};

use super::Setting;
use super::invariant::Invariant;
use super::map::{SLOT, token};
use super::node::{Node, landing_range};
use super::plan::{Planned, memory, packet_range};
use super::turn::{Turn, lane_of};
use super::world::{Ends, Key, Operation as Request, Side};

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
        let Some(lane) = lane_of(action.qpn) else {
            return;
        };
        let requests = &setting.plan.node(side).lanes[lane];
        let found = match action.kind {
            CommitKind::SqEmit => setting.plan.find(side, lane, Psn::new(action.psn)),
            CommitKind::SqLocal => Some((action.index.into(), 0)),
            _ => None,
        };
        let Some((index, 0)) = found else {
            return;
        };
        let Some(Planned { request, .. }) = requests.get(index) else {
            return;
        };
        let node = self.node(side);
        let retired = usize::from(node.seen.qps[lane].retired);
        if matches!(request.operation, Request::Invalidate(_)) && retired != index {
            return self.break_(Invariant::Fence, || {
                format!(
                    "{} executes request {index}, an Invalidate, after {retired} requests have finished",
                    side.name()
                )
            });
        }
        if !request.fence {
            return;
        }
        let early = requests[..index]
            .iter()
            .enumerate()
            .find(|(number, planned)| {
                planned.request.is_read()
                    && (*number >= retired
                        || !is_there(
                            &node.landing,
                            Some(planned.place.start),
                            &planned.place.bytes,
                        ))
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

    /// A payload write is issued: the bytes that belong there.
    pub(super) fn check_target(&mut self, side: Side, address: u64, bytes: &[u8], action: &Action) {
        let plan = self.setting.plan.node(side);
        let Some(range) = landing_range(plan, address, bytes.len()) else {
            return self.break_(Invariant::Bytes, || {
                format!(
                    "{} writes to {address:#x}, where nothing is to land",
                    side.name()
                )
            });
        };
        let shared = lane_of(action.qpn).and_then(|lane| {
            let shares = self.setting.world.is_shared(side) && action.kind == CommitKind::RxRequest;
            let psn = Psn::new(action.psn);
            let found = self.setting.plan.find(side.peer(), lane, psn);
            let (request, packet) = found.filter(|_| shares)?;
            let planned = &self.setting.plan.node(side.peer()).lanes[lane][request];
            planned
                .request
                .is_send()
                .then_some((lane, request, packet, planned))
        });
        let right = match shared {
            None => plan.after[range] == *bytes,
            Some((lane, request, packet, planned)) => {
                self.check_slot(side, lane, request, range.start);
                let part = packet_range(planned.place.bytes.len(), packet);
                range.start % SLOT == part.start && planned.place.bytes[part] == *bytes
            }
        };
        if !right {
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
        let node = self.node(side);
        let requests = &self.setting.plan.node(side.peer()).lanes[lane];
        let missing = requests.iter().enumerate().find(|(request, planned)| {
            !planned.request.is_read()
                && (0..planned.request.packets())
                    .filter(|packet| covers((planned.first + *packet).distance(psn)))
                    .any(|packet| {
                        let start = self.setting.start(side, node, lane, *request);
                        !packet_is_there(&node.landing, planned, start, packet)
                    })
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
        // It tells of the silent ones before it, too.
        let covered = requests[told..index]
            .iter()
            .chain(succeeded.then_some(planned));
        let ended = covered.filter_map(|planned| planned.request.ends());
        let ended = ended.map(Key::bit).fold(0, |all, bit| all | bit);
        self.change(side).seen.told_dead |= ended;
        let place = &planned.place;
        let holder = self.node(place.side);
        let start = match place.side == side {
            true => Some(place.start),
            false => setting.start(place.side, holder, lane, index),
        };
        if succeeded && !is_there(&holder.landing, start, &place.bytes) {
            self.break_(Invariant::DataFirst, || {
                format!(
                    "{}: request {index} completes before its bytes are placed on {}",
                    side.name(),
                    place.side.name()
                )
            });
        }
    }

    /// A receive of a queue pair's own completes, in its turn: for which request of the peer.
    fn check_own(&mut self, side: Side, lane: usize, index: usize) -> Option<usize> {
        let received = usize::from(self.node(side).seen.qps[lane].received);
        if index != received {
            self.break_(Invariant::ExactlyOnce, || {
                format!(
                    "{}: receive {index} completes, and it is the turn of receive {received}",
                    side.name()
                )
            });
            return None;
        }
        let mut requests = self.setting.plan.node(side.peer()).lanes[lane].iter();
        requests.position(|planned| planned.receive == Some(index))
    }

    fn check_receive(&mut self, side: Side, completion: &Completion) {
        let Completion { lane, index, .. } = *completion;
        let setting = self.setting;
        let name = side.name();
        let request = match setting.world.is_shared(side) {
            true => self.check_taken(side, lane, index),
            false => self.check_own(side, lane, index),
        };
        self.change(side).seen.qps[lane].received += 1;
        if completion.status != Some(Status::Success) {
            return;
        }
        let Some(request) = request else {
            return self.break_(Invariant::ExactlyOnce, || {
                format!("{name}: receive {index} completes, for which nothing was sent")
            });
        };
        let planned = &setting.plan.node(side.peer()).lanes[lane][request];
        let bytes = &planned.place.bytes;
        let node = self.node(side);
        let start = setting.start(side, node, lane, request);
        let range = start.map(|start| start..start + bytes.len());
        if range.is_some_and(|range| node.is_under_way(setting.plan.node(side), &range)) {
            return self.break_(Invariant::DataFirst, || {
                format!("{name}: receive {index} completes while its bytes are under way")
            });
        }
        let invalidated = match planned.request.operation {
            Request::SendInvalidate(key) => Some(key),
            _ => None,
        };
        if !is_there(&node.landing, start, bytes)
            || completion.byte_len != bytes.len()
            || completion.invalidated != invalidated.map(|key| token(key).0)
        {
            return self.break_(Invariant::ExactlyOnce, || {
                format!("{name}: receive {index} completes with something else than its send")
            });
        }
        if let Some(key) = invalidated {
            self.change(side).seen.told_dead |= key.bit();
        }
        self.post(side, lane);
    }
}

impl Setting {
    /// From which byte of the landing memory of a node the bytes of a request of its peer lie; none if it is a send that
    /// has not taken its receive from the shared queue.
    pub(super) fn start(
        &self,
        side: Side,
        node: &Node,
        lane: usize,
        request: usize,
    ) -> Option<usize> {
        let planned = &self.plan.node(side.peer()).lanes[lane][request];
        if self.world.is_shared(side) && planned.request.is_send() {
            let slot = node.seen.shared.slot(lane, request);
            return slot.map(|slot| slot * SLOT);
        }
        Some(planned.place.start)
    }

    /// Where the region of a token begins in the landing memory.
    pub(super) fn region_start(&self, side: Side, key: Key) -> usize {
        let key = memory(self.world.windows, key);
        let range = self.plan.node(side).regions.get(&key);
        range.map_or(0, |range| range.start)
    }
}

/// Whether the bytes of a request are where they belong.
pub(super) fn is_there(landing: &[u8], start: Option<usize>, bytes: &[u8]) -> bool {
    start.is_some_and(|start| landing[start..start + bytes.len()] == *bytes)
}

/// Whether those of one packet are.
fn packet_is_there(landing: &[u8], planned: &Planned, start: Option<usize>, packet: u32) -> bool {
    let bytes = &planned.place.bytes;
    let range = packet_range(bytes.len(), packet);
    let start = start.map(|start| start + range.start);
    is_there(landing, start, &bytes[range])
}
