//! Which moves are made: strategies for the next move from a state.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::forge::Forged;
use super::machine::State;
use super::moves::{
    Effect, Flags, Frames, Move, Op, Piece, Post, Receive, Refused, Region, Rule, Wrong,
};
use super::spec::{FAST, FAST_BYTES, Link, SOURCE, TARGET};

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
        let (free, end) = match region {
            Region::Fast(number) => {
                let free = host.and_then(|host| host.fast.get(number));
                (free.copied().unwrap_or(FAST_BYTES), FAST_BYTES)
            }
            _ => (host.map_or(TARGET, |host| host.free), TARGET),
        };
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
fn sides(state: &State) -> Vec<(usize, usize)> {
    let all = state.links.iter().enumerate();
    all.flat_map(|(link, sides)| {
        let open = sides.iter().enumerate().filter(|(_, side)| side.open);
        open.map(move |(side, _)| (link, side))
    })
    .collect()
}

fn source(length: u32, at: Index, region: Region) -> Piece {
    let length = length.min(SOURCE);
    Piece {
        region,
        offset: at.index((SOURCE - length + 1) as usize) as u32,
        length,
    }
}

/// Everything that makes a request, but for what the state says.
#[derive(Clone, Debug)]
struct Raw {
    kind: u32,
    lengths: Vec<u32>,
    at: Vec<Index>,
    gap: u32,
    region: u32,
    flags: Flags,
    wrong: Wrong,
}

fn flags() -> impl Strategy<Value = Flags> {
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
        Wrong::Invalidate,
    ]);
    let wrong = prop_oneof![24 => Just(Wrong::Nothing), 1 => wrongs];
    let at = vec(any::<Index>(), 5);
    let numbers = (0u32..100, 0..=GAP, 0u32..100);
    (numbers, lengths(pieces), at, flags(), wrong).prop_map(
        |((kind, gap, region), lengths, at, flags, wrong)| Raw {
            kind,
            lengths,
            at,
            gap,
            region,
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
    let sends = state.side(link, side).map_or(0, |side| side.sends);
    let receives = state.side(link, 1 - side).map(|side| &side.receives);
    let room = receives.and_then(|receives| receives.get(sends).copied());
    let awaited = room.is_some();
    let op = match raw.kind {
        0..30 => Op::Write,
        30..55 => Op::Read { invalidate: false },
        55..60 => Op::Read { invalidate: true },
        // A send without receive now and then.
        60..90 if awaited || raw.kind < 63 => Op::Send,
        90.. if awaited => Op::SendAndInvalidate(Region::Fast(raw.region as usize % FAST)),
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
    let at = |place: usize| raw.at.get(place).copied();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut remote = None;
    if let Op::Read { invalidate } = op {
        let region = match invalidate {
            true => Region::Fast(raw.region as usize % FAST),
            false => match sink(raw.region) {
                Region::Target if raw.region.is_multiple_of(2) => Region::Local,
                other => other,
            },
        };
        let mut room = Room::of(state, own, region);
        if invalidate && lengths.is_empty() {
            lengths.push(0);
        }
        shorten(&mut lengths, SOURCE);
        pieces.extend(lengths.iter().map(|length| room.piece(*length, raw.gap)));
        let length = pieces.iter().map(|piece| piece.length).sum();
        remote = at(4).map(|at| source(length, at, Region::Source));
    } else {
        for (place, length) in lengths.iter().enumerate() {
            let Some(at) = at(place) else { continue };
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
            let mut room = Room::of(state, peer, sink(raw.region));
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
    post.wrong = applicable(&post);
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
        Wrong::RemoteToken | Wrong::RemoteBounds | Wrong::RemoteRight => {
            post.length() > 0 && post.remote.is_some()
        }
        Wrong::Invalidate => matches!(post.op, Op::SendAndInvalidate(_)),
    };
    match fits {
        true => post.wrong,
        false => Wrong::Nothing,
    }
}

fn posts(state: &State) -> BoxedStrategy<Move> {
    let at = state.clone();
    (select(sides(state)), raw(4))
        .prop_map(move |((link, side), raw)| Move::Post(post(&at, link, side, raw)))
        .boxed()
}

fn receives(state: &State) -> BoxedStrategy<Move> {
    let at = state.clone();
    let wrong = prop_oneof![40 => Just(false), 1 => Just(true)];
    let room = prop_oneof![3 => Just(0u32), 1 => 0..=MIDDLE];
    (
        select(sides(state)),
        lengths(3),
        0u32..100,
        0..=GAP,
        wrong,
        room,
    )
        .prop_map(
            move |((link, side), mut lengths, region, gap, wrong, more)| {
                let end = at.spec.links.get(link).map(|link| &link.ends[side]);
                lengths.truncate(end.map_or(1, |end| end.sge as usize));
                // Roomy ones, so that most sends fit.
                if let Some(first) = lengths.first_mut() {
                    *first += more;
                }
                let node = at.node(link, side);
                let mut room = Room::of(&at, node, sink(region));
                let pieces: Vec<Piece> = lengths
                    .iter()
                    .map(|length| room.piece(*length, gap))
                    .collect();
                let wrong = wrong && pieces.first().is_some_and(|piece| piece.length > 0);
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

fn effects() -> BoxedStrategy<Effect> {
    let delay = (
        50u32..3000,
        prop_oneof![Just(0u32), 0u32..2000],
        any::<bool>(),
    )
        .prop_map(|(clocks, jitter, overtake)| Effect::Delay {
            clocks,
            jitter,
            overtake,
        });
    let throttle = (
        select(vec![8u32, 4, 1]),
        select(vec![1u32, 3, 10]),
        option::weighted(0.2, 2000u32..20_000),
        option::weighted(0.5, 100u32..3000),
    )
        .prop_map(|(bytes, clocks, buffer, mark)| Effect::Throttle {
            bytes,
            clocks,
            buffer,
            mark,
        });
    prop_oneof![
        5 => Just(Effect::Drop),
        3 => (1u32..=2).prop_map(Effect::Duplicate),
        3 => (1u32..=4).prop_map(Effect::Reorder),
        3 => Just(Effect::Corrupt),
        2 => delay,
        2 => throttle,
        1 => Just(Effect::Hold),
        1 => Just(Effect::Pause),
    ]
    .boxed()
}

fn network(state: &State) -> BoxedStrategy<Move> {
    let nodes = state.hosts.len();
    let frames = prop_oneof![
        4 => (1u32..8).prop_map(Frames::Nth),
        4 => (5u32..60).prop_map(Frames::Chance),
        2 => (2u32..9).prop_map(Frames::Every),
        1 => Just(Frames::All),
    ];
    let way = option::of(0..nodes);
    let of = select(vec!["all", "requests", "responses"]);
    (way.clone(), way, of, effects(), frames)
        .prop_map(|(from, to, of, effect, frames)| {
            let whole = matches!(effect, Effect::Throttle { .. } | Effect::Pause);
            Move::Network(Rule {
                from,
                to: to.filter(|to| Some(*to) != from && effect != Effect::Pause),
                of: if whole { "all" } else { of },
                effect,
                frames: if whole { Frames::All } else { frames },
            })
        })
        .boxed()
}

fn refusals(state: &State) -> BoxedStrategy<Move> {
    let calls = select(vec![
        Refused::UnknownFlag,
        Refused::InlineRead,
        Refused::TooManyPieces,
        Refused::InvalidatesNothing,
    ]);
    (select(sides(state)), calls)
        .prop_map(|((link, side), call)| Move::Refused { link, side, call })
        .boxed()
}

/// Syndromes of answers: ACK with and without credits, NAKs of every kind, RNR NAKs, reserved ones.
const SYNDROMES: [u8; 12] = [
    0x1F, 0x00, 0x60, 0x61, 0x62, 0x63, 0x64, 0x7F, 0x20, 0x3F, 0x40, 0x80,
];

fn forgeries(state: &State) -> BoxedStrategy<Move> {
    let frames = prop_oneof![
        4 => select(&SYNDROMES[..]).prop_map(Forged::Answer),
        6 => select(vec![
            Forged::ReadResponse,
            Forged::OldSend,
            Forged::OldWrite,
            Forged::OldRead,
            Forged::Ahead,
            Forged::NoQueuePair,
            Forged::NoOpcode,
            Forged::Cnp,
        ]),
    ];
    (select(sides(state)), frames)
        .prop_map(|((link, side), frame)| Move::Forge { link, side, frame })
        .boxed()
}

/// The next move.
pub(super) fn moves(state: &State) -> BoxedStrategy<Move> {
    let nodes = state.hosts.len();
    let links = state.links.len();
    let hurt: Vec<usize> = (0..links).filter(|link| state.hurt[*link]).collect();
    let arm = (
        0..nodes,
        any::<bool>(),
        select(vec!["ANY", "SOLICITED", "ERRORS"]),
    );
    let mut all: Vec<(u32, BoxedStrategy<Move>)> = vec![
        (6, Just(Move::Settle).boxed()),
        (5, Just(Move::Collect).boxed()),
        (6, (64u32..4000).prop_map(Move::Wait).boxed()),
        (
            3,
            arm.prop_map(|(node, receives, kind)| Move::Arm {
                node,
                receives,
                kind,
            })
            .boxed(),
        ),
        (1, (0..links).prop_map(|link| Move::Reopen { link }).boxed()),
    ];
    if !hurt.is_empty() {
        all.push((
            10,
            select(hurt).prop_map(|link| Move::Reopen { link }).boxed(),
        ));
    }
    let doomed = |wanted: bool| -> Vec<usize> {
        let hosts = state.hosts.iter().enumerate();
        hosts
            .filter(|(_, host)| host.doomed == wanted)
            .map(|(node, _)| node)
            .collect()
    };
    if !doomed(true).is_empty() {
        let some = select(doomed(true));
        all.push((1, some.prop_map(|node| Move::Deregister { node }).boxed()));
    }
    if !doomed(false).is_empty() {
        let some = select(doomed(false));
        all.push((3, some.prop_map(|node| Move::Register { node }).boxed()));
    }
    if state.rules > 0 {
        all.push((4, Just(Move::Heal).boxed()));
    }
    if state.rules < 3 {
        all.push((4, network(state)));
    }
    if !sides(state).is_empty() {
        let cut = select(sides(state));
        all.push((40, posts(state)));
        all.push((26, receives(state)));
        all.push((2, refusals(state)));
        all.push((3, forgeries(state)));
        all.push((
            1,
            cut.clone()
                .prop_map(|(link, side)| Move::Flush { link, side })
                .boxed(),
        ));
        all.push((
            1,
            cut.prop_map(|(link, side)| Move::Close { link, side })
                .boxed(),
        ));
    }
    proptest::strategy::Union::new_weighted(all).boxed()
}
