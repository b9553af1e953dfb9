//! What follows from the declaration of a world: addresses, work requests, and which byte must end up where.

use std::ops::Range;

use tandem_model::abi::{RQ_WQE, Record, SGE, SQ_WQE, WqeOpcode};
use tandem_model::wire::{Psn, Token};

use super::map::{
    ENTRY, LANDING, LOCAL, LOCAL_ADDRESS, PAGE, RECEIVE_RINGS, RING, SEND_RINGS, SOURCES,
    region_address, region_page, region_token,
};
use super::world::{MTU, Operation, Region, Request, Side, World};

/// Where the bytes of a request end up.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// On this node.
    pub side: Side,
    /// From this byte of its landing memory.
    pub start: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Place {
    /// Where in the landing memory.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.bytes.len()
    }
}

/// A request, and what follows from it.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub request: Request,
    /// Its first PSN.
    pub first: Psn,
    /// Where its bytes end up.
    pub place: Place,
    /// The receive that it uses up, if it is a send.
    pub receive: Option<usize>,
}

/// A piece of host memory.
#[derive(Clone, Debug)]
pub(super) struct Area {
    /// Logical address.
    pub base: u64,
    /// What is in it.
    pub content: Content,
}

/// What is in a piece of host memory.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Bytes that never change.
    Fixed(Vec<u8>),
    /// A part of the node's landing memory; of a region, if it is one.
    Landing(Range<usize>, Option<Region>),
}

/// One node.
#[derive(Clone, Debug, Default)]
pub(super) struct NodePlan {
    /// Its requests, by lane.
    pub lanes: Vec<Vec<Planned>>,
    /// Receives posted, by lane.
    pub receives: Vec<usize>,
    /// Its host memory.
    pub areas: Vec<Area>,
    /// Landing memory at the start.
    pub before: Vec<u8>,
    /// Landing memory when all requests have succeeded.
    pub after: Vec<u8>,
    /// Lengths of its regions.
    pub regions: Vec<usize>,
}

/// Both nodes.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    nodes: [NodePlan; 2],
}

/// Byte `at` of a pattern; never 0, and another one for each seed.
fn pattern(seed: usize, at: usize) -> u8 {
    ((seed * 67 + at * 5 + at / 256 * 29) % 251 + 1) as u8
}

fn bytes(seed: usize, range: Range<usize>) -> Vec<u8> {
    range.map(|at| pattern(seed, at)).collect()
}

/// First PSN of a send queue. That of node a wraps after two packets.
pub(super) fn first_psn(world: &World, side: Side, lane: usize) -> Psn {
    let start = Psn::new(0xFF_FFFE);
    match side {
        Side::B if !world.symmetric => Psn::new(0x100 + 0x100 * lane as u32),
        _ => start + 0x1000 * lane as u32,
    }
}

/// A node while its memory is laid out.
#[derive(Default)]
struct Layout {
    sources: Vec<u8>,
    /// What receives and reads put into the landing page, in order.
    landed: Vec<u8>,
    /// Each region when all is done, and which of its bytes are written.
    regions: Vec<(Vec<u8>, Vec<bool>)>,
}

impl Layout {
    fn region(&mut self, region: Region) -> &mut (Vec<u8>, Vec<bool>) {
        let index = usize::from(region);
        if self.regions.len() <= index {
            self.regions.resize_with(index + 1, Default::default);
        }
        &mut self.regions[index]
    }

    /// The next free bytes of a region, for these.
    fn reserve(&mut self, region: Region, bytes: &[u8]) -> usize {
        let (content, written) = self.region(region);
        let start = content.len();
        assert!(
            written.iter().all(|written| *written),
            "what is written to a region comes before what is only read"
        );
        content.extend_from_slice(bytes);
        written.resize(content.len(), true);
        start
    }
}

impl Plan {
    /// The plan of a world.
    ///
    /// # Panics
    /// If its declaration makes no sense.
    pub fn new(world: &World) -> Self {
        let mut layouts: [Layout; 2] = Default::default();
        let mut nodes: [NodePlan; 2] = Default::default();
        let mut rings: [[Vec<Vec<u8>>; 2]; 2] = Default::default();
        for (number, lane) in world.lanes.iter().enumerate() {
            for side in Side::BOTH {
                let requests = lane.requests(side);
                assert!(requests.len() <= RING, "a ring has {RING} entries");
                let mut psn = first_psn(world, side, number);
                let mut planned: Vec<Planned> = Vec::new();
                let mut sends = Vec::new();
                let mut receives = Vec::new();
                for (index, request) in requests.iter().enumerate() {
                    let differs = side == Side::B && !world.symmetric;
                    let seed = 1 + (number * RING + index) * 2 + usize::from(differs);
                    let (own, peer) = split(&mut layouts, side);
                    let step = place(request, side, seed, own, peer, &planned);
                    sends.push(step.entry(index));
                    let receive = request.is_send().then(|| {
                        receives.push(receive_entry(&step.place));
                        receives.len() - 1
                    });
                    planned.push(Planned {
                        request: *request,
                        first: psn,
                        place: step.place,
                        receive,
                    });
                    psn += request.packets();
                }
                nodes[side as usize].lanes.push(planned);
                nodes[side.peer() as usize].receives.push(receives.len());
                rings[side as usize][0].push(ring(sends));
                rings[side.peer() as usize][1].push(ring(receives));
            }
        }
        for (node, (layout, rings)) in nodes.iter_mut().zip(layouts.into_iter().zip(rings)) {
            finish(node, layout, &rings);
        }
        let mut plan = Self { nodes };
        plan.settle_regions();
        plan
    }

    /// One node.
    pub fn node(&self, side: Side) -> &NodePlan {
        &self.nodes[side as usize]
    }

    /// The request of a node that a PSN belongs to, by index, and the number of the packet in it.
    pub fn find(&self, side: Side, lane: usize, psn: Psn) -> Option<(usize, u32)> {
        let requests = self.node(side).lanes.get(lane)?;
        requests.iter().enumerate().find_map(|(index, planned)| {
            let packet = psn.since(planned.first);
            (packet < planned.request.packets()).then_some((index, packet))
        })
    }

    /// Places in regions follow the landing page in the landing memory.
    fn settle_regions(&mut self) {
        let starts: Vec<Vec<usize>> = self.nodes.iter().map(region_starts).collect();
        for node in &mut self.nodes {
            for planned in node.lanes.iter_mut().flatten() {
                let region = match planned.request.operation {
                    Operation::Write(region) => Some(region),
                    _ => planned.request.sink,
                };
                if let Some(region) = region {
                    let place = &mut planned.place;
                    place.start += starts[place.side as usize][usize::from(region)];
                }
            }
        }
    }
}

/// Where each region begins in the landing memory.
fn region_starts(node: &NodePlan) -> Vec<usize> {
    let landing = node.areas.iter().filter_map(|area| match &area.content {
        Content::Landing(range, Some(_)) => Some(range.start),
        _ => None,
    });
    landing.collect()
}

fn split(layouts: &mut [Layout; 2], side: Side) -> (&mut Layout, &mut Layout) {
    let [a, b] = layouts;
    match side {
        Side::A => (a, b),
        Side::B => (b, a),
    }
}

/// A request with its places.
struct Step {
    request: Request,
    place: Place,
    /// Virtual address of its own bytes.
    local: u64,
    /// Virtual address and token at the peer.
    remote: (u64, Token),
}

/// Lays a request out: its own bytes and those at the peer.
fn place(
    request: &Request,
    side: Side,
    seed: usize,
    own: &mut Layout,
    peer: &mut Layout,
    earlier: &[Planned],
) -> Step {
    let length = request.length as usize;
    let mut step = Step {
        request: *request,
        place: Place {
            side: side.peer(),
            start: 0,
            bytes: bytes(seed, 0..length),
        },
        local: LOCAL_ADDRESS + own.sources.len() as u64,
        remote: (0, Token::default()),
    };
    if let Operation::SendInvalidate(region) = request.operation {
        // It exists, if only as a token.
        peer.region(region);
    }
    match request.operation {
        Operation::Send | Operation::SendInvalidate(_) => {
            step.place.start = peer.landed.len();
            peer.landed.extend_from_slice(&step.place.bytes);
        }
        Operation::Write(region) => {
            step.place.start = peer.reserve(region, &step.place.bytes);
            let address = region_address(region) + step.place.start as u64;
            step.remote = (address, region_token(region));
        }
        Operation::Read(region) => {
            let (content, written) = peer.region(region);
            for at in content.len()..length {
                content.push(pattern(200 + usize::from(region), at));
                written.push(false);
            }
            let wrote = |planned: &Planned| planned.request.operation == Operation::Write(region);
            assert!(
                written[..length].iter().all(|w| !w) || earlier.iter().any(wrote),
                "a read of what another lane writes"
            );
            step.remote = (region_address(region), region_token(region));
            let bytes = content[..length].to_vec();
            let start = match request.sink {
                None => own.landed.len(),
                Some(sink) => own.reserve(sink, &bytes),
            };
            step.local = start as u64
                + match request.sink {
                    None => LOCAL_ADDRESS + PAGE,
                    Some(sink) => region_address(sink),
                };
            if request.sink.is_none() {
                own.landed.extend_from_slice(&bytes);
            }
            step.place = Place { side, start, bytes };
        }
    }
    if !request.is_read() {
        own.sources.extend_from_slice(&step.place.bytes);
    }
    step
}

impl Step {
    /// Its entry in the send ring.
    fn entry(&self, index: usize) -> Vec<u8> {
        let request = &self.request;
        let (opcode, invalidates) = match request.operation {
            Operation::Send => (WqeOpcode::Send, Token::default()),
            Operation::SendInvalidate(region) => (WqeOpcode::SendInvalidate, region_token(region)),
            Operation::Write(_) => (WqeOpcode::Write, Token::default()),
            Operation::Read(_) => (WqeOpcode::Read, Token::default()),
        };
        let (address, token) = self.remote;
        let head = Record::new(&SQ_WQE)
            .with("opcode", opcode)
            .with("silent", request.silent)
            .with("read_fence", request.fence)
            .with("local_invalidate", request.sink.is_some())
            .with("num_sge", 1u8)
            .with("index", index as u16)
            .with("length", request.length)
            .with("object_token", invalidates.0)
            .with("remote_address", address)
            .with("remote_token", token.0);
        let mut entry = head.as_bytes()[..32].to_vec();
        let token = request.sink.map_or(LOCAL, region_token);
        entry.extend_from_slice(element(self.local, request.length, token).as_bytes());
        entry.resize(ENTRY, 0);
        entry
    }
}

fn element(address: u64, length: u32, token: Token) -> Record {
    Record::new(&SGE)
        .with("address", address)
        .with("length", length)
        .with("token", token.0)
}

/// The receive for a send that ends up at a place.
fn receive_entry(place: &Place) -> Vec<u8> {
    let address = LOCAL_ADDRESS + PAGE + place.start as u64;
    let mut entry = element(address, place.bytes.len() as u32, LOCAL)
        .as_bytes()
        .to_vec();
    entry.resize(RQ_WQE.bytes(), 0);
    entry
}

/// A whole ring of entries.
fn ring(entries: Vec<Vec<u8>>) -> Vec<u8> {
    let mut ring = entries.concat();
    ring.resize(RING * ENTRY, 0);
    ring
}

/// The host memory of a node.
fn finish(node: &mut NodePlan, layout: Layout, rings: &[Vec<Vec<u8>>; 2]) {
    let Layout {
        sources,
        landed,
        regions,
    } = layout;
    assert!(sources.len().max(landed.len()) <= PAGE as usize);
    let fixed = |base, bytes| Area {
        base,
        content: Content::Fixed(bytes),
    };
    node.areas.push(fixed(SEND_RINGS, rings[0].concat()));
    node.areas.push(fixed(RECEIVE_RINGS, rings[1].concat()));
    node.areas.push(fixed(SOURCES, sources));
    node.areas.push(Area {
        base: LANDING,
        content: Content::Landing(0..landed.len(), None),
    });
    node.before = vec![0; landed.len()];
    node.after = landed;
    for (number, (content, written)) in (0..).zip(regions) {
        let start = node.after.len();
        let initial = content.iter().zip(written);
        node.before
            .extend(initial.map(|(byte, written)| if written { 0 } else { *byte }));
        node.regions.push(content.len());
        node.after.extend_from_slice(&content);
        node.areas.push(Area {
            base: region_page(number),
            content: Content::Landing(start..node.after.len(), Some(number)),
        });
    }
}

/// Bytes of a packet of a message of `length` bytes.
pub(super) fn packet_range(length: usize, packet: u32) -> Range<usize> {
    let start = (packet as usize * MTU as usize).min(length);
    start..(start + MTU as usize).min(length)
}
