//! What follows from the declaration of a world: addresses, work requests, and which byte must end up where.

use std::collections::BTreeMap;
use std::ops::Range;

use tandem_model::wire::{Psn, Token};

use super::entry;
use super::map::{
    LANDING, LIST, LOCAL, LOCAL_ADDRESS, PAGE, RECEIVE_RINGS, RING, SEND_RINGS, SLOT, SOURCES,
    page_list, region_address, region_page, token,
};
use super::world::{Key, MTU, Operation, Request, Side, Window, World};

/// Where the bytes of a request end up.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// On this node.
    pub side: Side,
    /// From this byte of its landing memory; of what is sent to a shared queue, of the receive that it gets.
    pub start: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
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
    /// A part of the node's landing memory.
    Landing(Range<usize>),
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
    /// Bytes of the landing memory, from the first on, that are receives of the shared queue.
    pub shared: usize,
    /// Landing memory at the start.
    pub before: Vec<u8>,
    /// Landing memory when all requests have succeeded.
    pub after: Vec<u8>,
    /// Its regions: where each lies in the landing memory.
    pub regions: BTreeMap<Key, Range<usize>>,
    /// Tokens that are not valid at the beginning, one bit each: of windows, and what requests register.
    pub made: u16,
}

impl NodePlan {
    /// Tokens that a registration with a page list makes valid.
    pub fn lists(&self) -> u16 {
        let windows = (0..Key::WINDOWS).map(|window| Key::Window(window).bit());
        self.made & !windows.sum::<u16>()
    }

    /// The lane whose request binds a window.
    pub fn binder(&self, window: u8) -> Option<usize> {
        let binds = |planned: &Planned| planned.request.operation == Operation::Bind(window);
        self.lanes
            .iter()
            .position(|requests| requests.iter().any(binds))
    }
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
    regions: BTreeMap<Key, (Vec<u8>, Vec<bool>)>,
    /// Tokens that are not valid at the beginning.
    made: u16,
}

impl Layout {
    fn region(&mut self, key: Key) -> &mut (Vec<u8>, Vec<bool>) {
        self.regions.entry(key).or_default()
    }

    /// The first bytes of a region.
    fn first(&mut self, key: Key, length: usize) -> &mut (Vec<u8>, Vec<bool>) {
        let region = self.region(key);
        for at in region.0.len()..length {
            region
                .0
                .push(pattern(200 + key.bit().trailing_zeros() as usize, at));
            region.1.push(false);
        }
        region
    }

    /// The next free bytes of a region, for these.
    fn reserve(&mut self, region: Key, bytes: &[u8]) -> usize {
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
        if let Some(shared) = &world.shared {
            let slots = usize::from(shared.receives);
            assert!(slots <= RING, "a ring has {RING} entries");
            layouts[Side::B as usize].landed = vec![0; slots * SLOT];
            let receives = (0..slots).map(|slot| entry::receive(slot * SLOT, SLOT));
            rings[Side::B as usize][1].push(entry::ring(receives.collect()));
            nodes[Side::B as usize].shared = slots * SLOT;
        }
        for layout in &mut layouts {
            let windows = (0..)
                .zip(world.windows)
                .map(|(window, _)| Key::Window(window));
            layout.made = windows.map(Key::bit).sum();
        }
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
                    let step = place(world, request, side, seed, own, peer, &planned);
                    sends.push(step.entry(world, index));
                    let posts = request.is_send() && !world.is_shared(side.peer());
                    let receive = posts.then(|| {
                        receives.push(entry::receive(step.place.start, step.place.bytes.len()));
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
                rings[side as usize][0].push(entry::ring(sends));
                rings[side.peer() as usize][1].push(entry::ring(receives));
            }
        }
        for (node, (layout, rings)) in nodes.iter_mut().zip(layouts.into_iter().zip(rings)) {
            finish(node, layout, &rings);
        }
        let mut plan = Self { nodes };
        plan.settle_regions(world);
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
    fn settle_regions(&mut self, world: &World) {
        let regions = self.nodes.clone().map(|node| node.regions);
        for node in &mut self.nodes {
            for planned in node.lanes.iter_mut().flatten() {
                let key = match planned.request.operation {
                    Operation::Write(key) => Some(memory(world.windows, key)),
                    _ => planned.request.sink.map(Key::Region),
                };
                let place = &mut planned.place;
                if let Some(range) = key.and_then(|key| regions[place.side as usize].get(&key)) {
                    place.start += range.start;
                }
            }
        }
    }
}

/// The region whose bytes a token gives access to.
pub(super) fn memory(windows: &[Window], key: Key) -> Key {
    match key {
        Key::Window(window) => Key::Region(windows[usize::from(window)].region),
        key => key,
    }
}

/// The number of the region of a token.
pub(super) fn region_number(windows: &[Window], key: Key) -> u8 {
    match memory(windows, key) {
        Key::Region(region) | Key::Again(region) | Key::Window(region) => region,
    }
}

fn split(layouts: &mut [Layout; 2], side: Side) -> (&mut Layout, &mut Layout) {
    let [a, b] = layouts;
    match side {
        Side::A => (a, b),
        Side::B => (b, a),
    }
}

/// A request with its places.
pub(super) struct Step {
    pub request: Request,
    place: Place,
    /// Virtual address and token of its own bytes.
    pub local: (u64, Token),
    /// Virtual address and token at the peer.
    pub remote: (u64, Token),
}

/// Lays a request out: its own bytes and those at the peer.
fn place(
    world: &World,
    request: &Request,
    side: Side,
    seed: usize,
    own: &mut Layout,
    peer: &mut Layout,
    earlier: &[Planned],
) -> Step {
    let length = request.length as usize;
    let memory = |key| memory(world.windows, key);
    let address = |key| region_address(region_number(world.windows, key));
    let mut step = Step {
        request: *request,
        place: Place {
            side: side.peer(),
            start: 0,
            bytes: bytes(seed, 0..length),
        },
        local: (LOCAL_ADDRESS + own.sources.len() as u64, LOCAL),
        remote: (0, Token::default()),
    };
    match request.from {
        Some(key) => {
            step.place.bytes = own.first(memory(key), length).0[..length].to_vec();
            step.local = (address(key), token(key));
        }
        None if !request.is_read() => own.sources.extend_from_slice(&step.place.bytes),
        None => {}
    }
    match request.operation {
        Operation::Bind(window) => {
            let key = Key::Window(window);
            own.region(memory(key));
        }
        Operation::FastRegister(key) => {
            own.made |= key.bit();
            own.region(Key::Region(region_number(world.windows, key)));
            own.region(key);
        }
        Operation::Invalidate(key) => {
            own.region(memory(key));
        }
        Operation::Send | Operation::SendInvalidate(_) => {
            if let Operation::SendInvalidate(key) = request.operation {
                // It exists, if only as a token.
                peer.region(memory(key));
            }
            if !world.is_shared(side.peer()) {
                step.place.start = peer.landed.len();
                peer.landed.extend_from_slice(&step.place.bytes);
            }
        }
        Operation::Write(key) => {
            step.place.start = peer.reserve(memory(key), &step.place.bytes);
            step.remote = (address(key) + step.place.start as u64, token(key));
        }
        Operation::Read(key) => {
            let (content, written) = peer.first(memory(key), length);
            let wrote = |planned: &Planned| matches!(planned.request.operation, Operation::Write(to) if to == key);
            assert!(
                written[..length].iter().all(|w| !w) || earlier.iter().any(wrote),
                "a read of what another lane writes"
            );
            step.remote = (address(key), token(key));
            let bytes = content[..length].to_vec();
            let start = match request.sink.map(Key::Region) {
                None => {
                    let start = own.landed.len();
                    own.landed.extend_from_slice(&bytes);
                    step.local = (LOCAL_ADDRESS + PAGE + start as u64, LOCAL);
                    start
                }
                Some(sink) => {
                    let start = own.reserve(sink, &bytes);
                    step.local = (address(sink) + start as u64, token(sink));
                    start
                }
            };
            step.place = Place { side, start, bytes };
        }
    }
    step
}

/// The host memory of a node.
fn finish(node: &mut NodePlan, layout: Layout, rings: &[Vec<Vec<u8>>; 2]) {
    let Layout {
        sources,
        landed,
        regions,
        made,
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
        content: Content::Landing(0..landed.len()),
    });
    node.before = vec![0; landed.len()];
    node.after = landed;
    node.made = made;
    for (key, (content, written)) in regions {
        let start = node.after.len();
        let initial = content.iter().zip(written);
        node.before
            .extend(initial.map(|(byte, written)| if written { 0 } else { *byte }));
        node.after.extend_from_slice(&content);
        let range = start..node.after.len();
        node.areas.push(Area {
            base: region_page(key),
            content: Content::Landing(range.clone()),
        });
        node.regions.insert(key, range);
        if made & key.bit() != 0 {
            let mut list = region_page(key).to_le_bytes().to_vec();
            list.resize(LIST as usize, 0);
            node.areas.push(fixed(page_list(key), list));
        }
    }
}

/// Bytes of a packet of a message of `length` bytes.
pub(super) fn packet_range(length: usize, packet: u32) -> Range<usize> {
    let start = (packet as usize * MTU as usize).min(length);
    start..(start + MTU as usize).min(length)
}
