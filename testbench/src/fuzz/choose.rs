//! Which moves are made: strategies for the next move from a state.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::asks::asks;
use super::forge::Forged;
use super::hosts::HostState;
use super::machine::State;
use super::meetings::meetings;
use super::moves::{Effect, Frames, Move, Refused, Rule};
use super::requests::{posts, receives, sides};

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
        Refused::BindNothing,
        Refused::BindBeyond,
        Refused::BindRight,
        Refused::BindFlag,
        Refused::RegisterNothing,
        Refused::RegisterNoPages,
        Refused::RegisterBeyond,
        Refused::RegisterOther,
        Refused::RegisterRight,
        Refused::InvalidateOther,
        Refused::InvalidateFlag,
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

fn reopenings(state: &State, links: Vec<usize>) -> BoxedStrategy<Move> {
    let managed: Vec<bool> = (0..state.links.len())
        .map(|link| state.is_managed(link))
        .collect();
    (select(links), meetings())
        .prop_map(move |(link, meeting)| Move::Reopen {
            link,
            meeting: managed[link].then_some(meeting),
        })
        .boxed()
}

/// Sides whose connector is there, of connections that nobody has disconnected, or of all.
fn connectors(state: &State, made: bool) -> Vec<(usize, usize)> {
    let sides = (0..state.links.len()).flat_map(|link| [(link, 0), (link, 1)]);
    let fits = |(link, side): &(usize, usize)| {
        let side = state.side(*link, *side);
        state.is_managed(*link) && side.is_some_and(|side| !(side.gone || made && side.ended))
    };
    sides.filter(fits).collect()
}

/// The next move.
pub(super) fn moves(state: &State) -> BoxedStrategy<Move> {
    let nodes = state.hosts.len();
    let links = state.links.len();
    let arm = (
        0..nodes,
        any::<bool>(),
        select(vec!["ANY", "SOLICITED", "ERRORS"]),
    );
    // What was made or taken back is used best when all know of it.
    let fresh = state.hosts.iter().any(HostState::is_fresh);
    let settle = if fresh { 20 } else { 6 };
    let mut all: Vec<(u32, BoxedStrategy<Move>)> = vec![
        (settle, Just(Move::Settle).boxed()),
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
    ];
    let whole: Vec<usize> = (0..links).filter(|link| state.can_reopen(*link)).collect();
    let hurt: Vec<usize> = whole
        .iter()
        .copied()
        .filter(|link| state.hurt[*link])
        .collect();
    for (weight, links) in [(1, whole), (10, hurt)] {
        if !links.is_empty() {
            all.push((weight, reopenings(state, links)));
        }
    }
    let (made, held) = (connectors(state, true), connectors(state, false));
    if !made.is_empty() {
        let some = select(made);
        all.push((
            4,
            some.prop_map(|(link, side)| Move::Disconnect { link, side })
                .boxed(),
        ));
    }
    if !held.is_empty() {
        let some = select(held);
        all.push((
            2,
            some.prop_map(|(link, side)| Move::Abort { link, side })
                .boxed(),
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
        all.push((20, asks(state)));
        all.push((3, refusals(state)));
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
