//! Which requests are posted: strategies for sends, reads, writes and receives.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::hosts::{HostState, Queue};
use super::machine::State;
use super::moves::{Flags, Move, Op, Piece, Post, Receive, Region, Rights, Wrong};
use super::spec::{FAST, Link, SHARED_ROOM, SOURCE, TARGET};

/// Greatest length of a piece, most of the time and seldom.
const SMALL: u32 = 64;
const MIDDLE: u32 = 1500;
const LARGE: u32 = 9000;
/// Greatest gap before a place.
const GAP: u32 = 9;

fn length() -> impl Strategy<Value = u32> {
    prop_oneof![5 => 0..=SMALL, 4 => 0..=MIDDLE, 1 => 0..=LARGE]
}

fn lengths(most: u32) -> impl Strategy<Value = Vec<u32>> {
    let many = vec(length(), 0..=most as usize);
    prop_oneof![1 => Just(Vec::new()), 4 => length().prop_map(|one| vec![one]), 4 => many]
}

/// Where bytes are placed: from the first free byte of a region on.
#[derive(Clone, Copy, Debug)]
struct Room {
    region: Region,
    free: u32,
    end: u32,
}

impl Room {
    fn of(state: &State, node: usize, region: Region) -> Self {
        let host = state.hosts.get(node);
        let (free, end) = host.map_or((TARGET, TARGET), |host| {
            (host.free(region), host.bytes(region))
        });
        Self { region, free, end }
    }

    /// So many bytes, or as many as fit.
    fn piece(&mut self, length: u32, gap: u32) -> Piece {
        let offset = (self.free + gap).min(self.end);
        let length = length.min(self.end - offset);
        self.free = offset + length;
        Piece {
            region: self.region,
            offset,
            length,
        }
    }
}

/// Sides that are open.
pub(super) fn sides(state: &State) -> Vec<(usize, usize)> {
    let all = state.links.iter().enumerate();
    all.flat_map(|(link, sides)| {
        let open = sides.iter().enumerate().filter(|(_, side)| side.open);
        open.map(move |(side, _)| (link, side))
    })
    .collect()
}

/// Some of the first so many bytes of a region.
pub(super) fn within(length: u32, at: Index, region: Region, bytes: u32) -> Piece {
    let length = length.min(bytes);
    Piece {
        region,
        offset: at.index((bytes - length + 1) as usize) as u32,
        length,
    }
}

fn source(length: u32, at: Index, region: Region) -> Piece {
    within(length, at, region, SOURCE)
}

/// How a request chooses among regions for FastRegister and windows.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// None of them.
    Plain,
    /// One that it can use, if there is one.
    Fitting(Index),
    /// Any that there was.
    Any(Index),
}

impl Choice {
    fn of(number: u32, at: Index) -> Self {
        match number {
            0..45 => Self::Fitting(at),
            45..48 => Self::Any(at),
            _ => Self::Plain,
        }
    }

    fn among(self, host: &HostState, fitting: Vec<Region>, windows: bool) -> Option<Region> {
        let (list, at) = match self {
            Self::Plain => return None,
            Self::Fitting(at) => (fitting, at),
            Self::Any(at) => {
                let kinds: &[bool] = if windows { &[false, true] } else { &[false] };
                let all = kinds.iter().flat_map(|windows| {
                    let mut both = host.known(*windows, true, None);
                    both.extend(host.known(*windows, false, None));
                    both
                });
                let all = all.filter(|region| host.span(*region).is_some());
                (all.collect(), at)
            }
        };
        (!list.is_empty()).then(|| *at.get(&list))
    }
}

/// Regions and windows of a node that the peer of its queue pair can use with a right.
fn far(host: &HostState, owner: Queue, right: fn(Rights) -> bool) -> Vec<Region> {
    let mut all = host.known(false, true, None);
    let windows = host.known(true, true, None).into_iter();
    all.extend(windows.filter(|window| host.span(*window).is_some_and(|span| span.owner == owner)));
    all.retain(|region| host.span(*region).is_some_and(|span| right(span.rights)));
    all
}

/// Regions of a node that its own queue pair can use.
fn near(host: &HostState, queue: Option<Queue>, is_source: bool) -> Vec<Region> {
    let mut all = host.known(false, true, queue);
    all.retain(|region| {
        let writable = host
            .span(*region)
            .is_some_and(|span| span.rights.local_write);
        region.is_source() == is_source && (is_source || writable)
    });
    all
}

/// Everything that makes a request, but for what the state says.
#[derive(Clone, Debug)]
struct Raw {
    kind: u32,
    lengths: Vec<u32>,
    at: Vec<Index>,
    gap: u32,
    region: u32,
    named: [u32; 2],
    flags: Flags,
    wrong: Wrong,
}

pub(super) fn flags() -> impl Strategy<Value = Flags> {
    let rare = |percent: u32| prop_oneof![100 - percent => Just(false), percent => Just(true)];
    (rare(25), rare(15), rare(15), rare(20), rare(15)).prop_map(
        |(silent, fence, solicit, inline, defer)| Flags {
            silent,
            fence,
            solicit,
            inline,
            defer,
        },
    )
}

fn raw(pieces: u32) -> impl Strategy<Value = Raw> {
    let wrongs = select(vec![
        Wrong::LocalToken,
        Wrong::LocalBounds,
        Wrong::LocalRight,
        Wrong::RemoteToken,
        Wrong::RemoteBounds,
        Wrong::RemoteRight,
        Wrong::RemoteOld,
        Wrong::Invalidate,
    ]);
    let wrong = prop_oneof![24 => Just(Wrong::Nothing), 1 => wrongs];
    let at = vec(any::<Index>(), 7);
    let numbers = (0u32..100, 0..=GAP, 0u32..100, [0u32..100, 0..100]);
    (numbers, lengths(pieces), at, flags(), wrong).prop_map(
        |((kind, gap, region, named), lengths, at, flags, wrong)| Raw {
            kind,
            lengths,
            at,
            gap,
            region,
            named,
            flags,
            wrong,
        },
    )
}

/// Which region of the target is used, and whether it can be invalidated.
fn sink(number: u32) -> Region {
    match number {
        0..70 => Region::Target,
        70..80 => Region::Doomed,
        other => Region::Fast(other as usize % FAST),
    }
}

/// Makes pieces shorter, the last ones first, until there are no more bytes than that.
fn shorten(lengths: &mut [u32], most: u32) {
    let mut left = most;
    for length in lengths {
        *length = (*length).min(left);
        left -= *length;
    }
}

/// A request from what was drawn.
fn post(state: &State, link: usize, side: usize, raw: Raw) -> Post {
    let (own, peer) = (state.node(link, side), state.node(link, 1 - side));
    let room = state.room(link, side);
    let awaited = room.is_some();
    let (here, there) = (state.hosts.get(own), state.hosts.get(peer));
    let (queue, owner) = ((link, side), (link, 1 - side));
    let at = |place: usize| raw.at.get(place).copied();
    let choice = |number: usize| match at(5 + number) {
        Some(at) => Choice::of(raw.named[number], at),
        None => Choice::Plain,
    };
    let op = match raw.kind {
        0..30 => Op::Write,
        30..55 => Op::Read { invalidate: false },
        55..60 => Op::Read { invalidate: true },
        // A send without receive now and then.
        60..90 if awaited || raw.kind < 63 => Op::Send,
        90.. if awaited => Op::SendAndInvalidate(
            there
                .and_then(|host| {
                    let any = |rights: Rights| rights.remote_read || rights.remote_write;
                    let mut all = far(host, owner, any);
                    all.retain(|region| host.windows_over(*region).next().is_none());
                    choice(0).among(host, all, true)
                })
                .unwrap_or(Region::Fast(raw.region as usize % FAST)),
        ),
        _ => Op::Write,
    };
    let mut flags = Flags {
        inline: raw.flags.inline && !op.is_read(),
        solicit: raw.flags.solicit && op.is_send(),
        ..raw.flags
    };
    let end = state.spec.links.get(link).map(|link| &link.ends[side]);
    let (inline, most) = end.map_or((0, 1), |end| (end.inline, end.sge));
    flags.inline &= inline > 0;
    let most = if op.is_read() { most.min(4) } else { most };
    let mut lengths = raw.lengths;
    lengths.truncate(most as usize);
    let patient = state.spec.links.get(link).is_some_and(Link::is_patient);
    if op.is_send() && patient && !awaited {
        lengths.clear();
    }
    if flags.inline {
        shorten(&mut lengths, inline);
    }
    if op.is_send()
        && let Some(room) = room
        && !raw.kind.is_multiple_of(16)
    {
        // Now and then one is too long.
        shorten(&mut lengths, room);
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut remote = None;
    if let Op::Read { invalidate } = op {
        let named = here.and_then(|host| {
            let mut all = near(host, Some(queue), false);
            let free = |region: &Region| host.windows_over(*region).next().is_none();
            all.retain(|region| !invalidate || free(region));
            choice(0).among(host, all, false)
        });
        let named = named.filter(|region| !region.is_source());
        let region = named.unwrap_or(match invalidate {
            true => Region::Fast(raw.region as usize % FAST),
            false => match sink(raw.region) {
                Region::Target if raw.region.is_multiple_of(2) => Region::Local,
                other => other,
            },
        });
        let mut room = Room::of(state, own, region);
        if invalidate && lengths.is_empty() {
            lengths.push(0);
        }
        shorten(&mut lengths, SOURCE);
        pieces.extend(lengths.iter().map(|length| room.piece(*length, raw.gap)));
        let length: u32 = pieces.iter().map(|piece| piece.length).sum();
        let named = there.and_then(|host| {
            let all = far(host, owner, |rights| rights.remote_read);
            choice(1).among(host, all, true)
        });
        let region = named.unwrap_or(Region::Source);
        let bytes = state.bytes(peer, region);
        // No more than there is.
        let mut left = bytes;
        for piece in &mut pieces {
            piece.length = piece.length.min(left);
            left -= piece.length;
        }
        let length = length.min(bytes);
        remote = at(4).map(|at| within(length, at, region, bytes));
    } else {
        let named =
            here.and_then(|host| choice(0).among(host, near(host, Some(queue), true), false));
        let named = named.filter(|region| !flags.inline && region.is_source());

        for (place, length) in lengths.iter().enumerate() {
            let Some(at) = at(place) else { continue };
            if let Some(region) = named {
                pieces.push(within(*length, at, region, state.bytes(own, region)));
                continue;
            }
            let mut piece = source(*length, at, Region::Source);
            let alike = Piece {
                region: Region::Privileged,
                ..piece
            };
            if raw.region % 10 == 9 && !flags.inline && state.is_logical(own, &alike) {
                piece = alike;
            }
            pieces.push(piece);
        }
        if flags.inline && !pieces.iter().all(|piece| state.is_logical(own, piece)) {
            flags.inline = false;
        }
        let length = pieces.iter().map(|piece: &Piece| piece.length).sum();
        if op == Op::Write {
            let named = there.and_then(|host| {
                let all = far(host, owner, |rights| rights.remote_write);
                choice(1).among(host, all, true)
            });
            let mut room = Room::of(state, peer, named.unwrap_or(sink(raw.region)));
            let place = room.piece(length, raw.gap);
            // No more than there is room for.
            let mut left = place.length;
            for piece in &mut pieces {
                piece.length = piece.length.min(left);
                left -= piece.length;
            }
            remote = Some(place);
        }
    }
    let mut post = Post {
        link,
        side,
        op,
        pieces,
        remote,
        flags,
        wrong: raw.wrong,
    };
    let renewed = |place: Piece| {
        let span = there.and_then(|host| host.span(place.region));
        span.is_some_and(|span| span.times > 1)
    };
    let renewed = post.remote.is_some_and(renewed);
    post.wrong = match applicable(&post) {
        Wrong::RemoteOld if !renewed => Wrong::RemoteToken,
        // A token of many uses, and none of them right.
        Wrong::Nothing if renewed && post.length() > 0 && raw.named[1].is_multiple_of(5) => {
            Wrong::RemoteOld
        }
        wrong => wrong,
    };
    post
}

/// What is wrong, if it can be wrong with that request.
fn applicable(post: &Post) -> Wrong {
    let first = post.pieces.first().map_or(0, |piece| piece.length);
    let fits = match post.wrong {
        Wrong::Nothing => true,
        Wrong::LocalToken | Wrong::LocalBounds => {
            first > 0
                && !post.flags.inline
                && post
                    .pieces
                    .iter()
                    .all(|piece| piece.region != Region::Privileged)
                && !matches!(post.op, Op::Read { invalidate: true })
        }
        Wrong::LocalRight => first > 0 && post.op == Op::Read { invalidate: false },
        Wrong::RemoteToken | Wrong::RemoteBounds | Wrong::RemoteRight | Wrong::RemoteOld => {
            post.length() > 0 && post.remote.is_some()
        }
        Wrong::Invalidate => matches!(post.op, Op::SendAndInvalidate(_)),
    };
    match fits {
        true => post.wrong,
        false => Wrong::Nothing,
    }
}

pub(super) fn posts(state: &State) -> BoxedStrategy<Move> {
    let at = state.clone();
    (select(sides(state)), raw(4))
        .prop_map(move |((link, side), raw)| Move::Post(post(&at, link, side, raw)))
        .boxed()
}

pub(super) fn receives(state: &State) -> BoxedStrategy<Move> {
    let at = state.clone();
    let wrong = prop_oneof![40 => Just(false), 1 => Just(true)];
    let room = prop_oneof![3 => Just(0u32), 1 => 0..=MIDDLE];
    let named = (0u32..100, any::<Index>());
    (
        select(sides(state)),
        lengths(3),
        0u32..100,
        0..=GAP,
        wrong,
        room,
        named,
    )
        .prop_map(
            move |((link, side), mut lengths, region, gap, wrong, more, named)| {
                let end = at.spec.links.get(link).map(|link| &link.ends[side]);
                lengths.truncate(end.map_or(1, |end| end.sge as usize));
                // Roomy ones, so that most sends fit.
                if let Some(first) = lengths.first_mut() {
                    *first += more;
                }
                let node = at.node(link, side);
                let named = at.hosts.get(node).and_then(|host| {
                    let all = near(host, None, false);
                    Choice::of(named.0, named.1).among(host, all, false)
                });
                let named = named.filter(|region| !region.is_source());
                // Those of a shared queue are alike, since nobody knows which send each gets.
                let shared = at.is_shared(link, side);
                let region = match shared {
                    true => Region::Target,
                    false => named.unwrap_or(sink(region)),
                };
                let length: u32 = lengths.iter().sum();
                if shared && length < SHARED_ROOM {
                    lengths.truncate(2);
                    lengths.push(SHARED_ROOM);
                }
                let mut room = Room::of(&at, node, region);
                let pieces: Vec<Piece> = lengths
                    .iter()
                    .map(|length| room.piece(*length, gap))
                    .collect();
                let wrong =
                    wrong && !shared && pieces.first().is_some_and(|piece| piece.length > 0);
                Move::Receive(Receive {
                    link,
                    side,
                    pieces,
                    wrong,
                })
            },
        )
        .boxed()
}
