//! Which requests that concern one node only are posted: Bind, FastRegister, Invalidate.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::hosts::HostState;
use super::machine::State;
use super::moves::{Ask, Flags, Local, Move, Piece, Region, Rights};
use super::requests::{flags, sides, within};
use super::spec::{FAST, REGISTERED, SOURCE, TARGET, WINDOWS};

/// Bytes of a registration: some of one page, some of several.
const MOST: u32 = 0x2400;

/// Everything that makes a request, but for what the state says.
#[derive(Clone, Copy, Debug)]
struct Raw {
    kind: u32,
    /// Whether it takes what fits, or anything.
    fits: bool,
    pick: [Index; 2],
    length: u32,
    at: Index,
    gap: u32,
    rights: [bool; 3],
    flags: Flags,
    foreign: bool,
}

fn raw() -> impl Strategy<Value = Raw> {
    let often = || prop_oneof![4 => Just(true), 1 => Just(false)];
    let rare = |times: u32| prop_oneof![times => Just(false), 1 => Just(true)];
    let length = prop_oneof![3 => 1u32..256, 3 => 1..=MOST, 1 => Just(4096u32)];
    let what = (0u32..100, rare(20), rare(60), length);
    let where_to = ([any::<Index>(), any::<Index>()], any::<Index>(), 0u32..9);
    (what, where_to, [often(), often(), often()], flags()).prop_map(
        |((kind, unfit, foreign, length), (pick, at, gap), rights, flags)| Raw {
            kind,
            fits: !unfit,
            pick,
            length,
            at,
            gap,
            rights,
            flags: Flags {
                inline: false,
                solicit: false,
                ..flags
            },
            foreign,
        },
    )
}

/// One of a list, or of so many by number.
fn one(list: &[Region], fits: bool, pick: Index, all: usize, name: fn(usize) -> Region) -> Region {
    match fits && !list.is_empty() {
        true => *pick.get(list),
        false => name(pick.index(all)),
    }
}

fn bind(host: &HostState, queue: (usize, usize), raw: &Raw) -> Local {
    let free = host.known(true, false, Some(queue));
    let window = one(&free, raw.fits, raw.pick[0], WINDOWS, Region::Window);
    let mut regions = host.known(false, true, Some(queue));
    regions.extend([Region::Source, Region::Local]);
    let region = *raw.pick[1].get(&regions);
    let bytes = host.bytes(region);
    let over = match region.is_source() {
        true => within(raw.length, raw.at, region, bytes),
        false => {
            let offset = (host.free(region) + raw.gap).min(bytes);
            Piece {
                region,
                offset,
                length: raw.length.min(bytes - offset),
            }
        }
    };
    let writable = match region {
        Region::Local => true,
        region => host
            .span(region)
            .is_some_and(|span| span.rights.local_write),
    };
    let [_, remote_read, remote_write] = raw.rights;
    Local::Bind {
        window: number(window),
        over,
        rights: Rights {
            local_write: false,
            remote_read,
            remote_write: remote_write && writable,
        },
    }
}

fn fast_register(host: &HostState, queue: (usize, usize), raw: &Raw) -> Local {
    let free = host.known(false, false, Some(queue));
    let region = one(&free, raw.fits, raw.pick[0], REGISTERED, Region::Registered);
    // Nothing is placed into the source.
    let sink = !region.is_source();
    let [local_write, remote_read, remote_write] = raw.rights;
    let remote_write = remote_write && sink;
    let (offset, length) = match region.is_source() {
        true => {
            let piece = within(raw.length, raw.at, region, SOURCE);
            (piece.offset, piece.length)
        }
        false => {
            let offset = (host.free + raw.gap).min(TARGET);
            (offset, raw.length.min(TARGET - offset))
        }
    };
    Local::FastRegister {
        region: number(region),
        offset,
        length,
        rights: Rights {
            local_write: local_write && sink || remote_write,
            remote_read,
            remote_write,
        },
    }
}

fn invalidate(host: &HostState, queue: (usize, usize), raw: &Raw) -> Local {
    let mut live = host.known(true, true, Some(queue));
    live.retain(|window| host.span(*window).is_some_and(|span| span.owner == queue));
    let regions = host.known(false, true, Some(queue)).into_iter();
    live.extend(regions.filter(|region| host.windows_over(*region).next().is_none()));
    if live.is_empty() || raw.pick[1].index(8) == 0 {
        return Local::Invalidate(Region::Fast(raw.pick[0].index(FAST)));
    }
    let any = match raw.rights[0] {
        true => (WINDOWS, Region::Window as fn(usize) -> Region),
        false => (REGISTERED, Region::Registered as fn(usize) -> Region),
    };
    Local::Invalidate(one(&live, raw.fits, raw.pick[0], any.0, any.1))
}

/// The number of a region or window.
fn number(region: Region) -> usize {
    match region {
        Region::Registered(number) | Region::Window(number) | Region::Fast(number) => number,
        _ => 0,
    }
}

pub(super) fn asks(state: &State) -> BoxedStrategy<Move> {
    let at = state.clone();
    (select(sides(state)), raw())
        .prop_map(move |((link, side), raw)| {
            let local = match (at.hosts.get(at.node(link, side)), raw.kind) {
                (None, _) => Local::Invalidate(Region::Fast(0)),
                (Some(host), 0..35) => bind(host, (link, side), &raw),
                (Some(host), 35..70) => fast_register(host, (link, side), &raw),
                (Some(host), _) => invalidate(host, (link, side), &raw),
            };
            Move::Local(Ask {
                link,
                side,
                foreign: raw.foreign && !matches!(local, Local::Invalidate(_)),
                local,
                flags: raw.flags,
            })
        })
        .boxed()
}
