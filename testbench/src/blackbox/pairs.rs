//! Which flows are the two directions of one connection.

use std::collections::{BTreeMap, HashMap, HashSet};

use tandem_model::wire::{Frame, Psn};

use super::cm::Agreement;
use super::direction::{Mtu, Source};
use super::seen::Flow;

/// Answers of a flow that are compared with the requests of another one.
const COMPARED: usize = 64;
/// Requests before an answer among which that may be which it answers.
const OUTSTANDING: usize = 1024;
/// Path MTUs.
const MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

/// A flow in one life of its queue pair: 0 if connection management does not say, else which agreement.
pub(super) type Key = (Flow, usize);

/// What a flow carried.
#[derive(Default)]
struct Traffic {
    first: usize,
    port: u16,
    /// Place in the capture, and the PSNs that it may take.
    requests: Vec<(usize, Psn, u32)>,
    answers: Vec<(usize, Psn)>,
    /// Payload lengths: of first and middle packets, and the greatest.
    full: BTreeMap<usize, usize>,
    greatest: usize,
}

/// How two flows were found to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Connection management named both queue pairs.
    Agreed,
    /// Answers of one fit the requests of the other.
    Answers,
    /// There is no other flow between both addresses.
    Alone,
    /// The other direction was not captured.
    OneWay,
}

/// A connection: the flows of both sides.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) flows: [Option<Key>; 2],
    pub(super) agreement: Option<usize>,
    pub(super) pairing: Pairing,
    pub(super) mtu: Mtu,
}

/// All flows of a capture.
pub(super) struct Flows<'a> {
    agreements: &'a [Agreement],
    /// Lives of each flow: where it begins, and which agreement it is.
    lives: HashMap<Flow, Vec<(usize, usize)>>,
    traffic: BTreeMap<Key, Traffic>,
}

impl<'a> Flows<'a> {
    pub(super) fn new(agreements: &'a [Agreement]) -> Self {
        let mut lives: HashMap<Flow, Vec<(usize, usize)>> = HashMap::new();
        for (index, agreement) in agreements.iter().enumerate() {
            for flow in (0..2).filter_map(|side| agreement.flow(side)) {
                lives.entry(flow).or_default().push((agreement.from, index));
            }
        }
        Self {
            agreements,
            lives,
            traffic: BTreeMap::new(),
        }
    }

    /// The flow of a frame, in the life of its queue pair at that place of the capture.
    pub(super) fn key(&self, place: usize, frame: &Frame<'_>) -> Key {
        let flow = Flow::of(frame);
        let mut lives = self.lives.get(&flow).into_iter().flatten();
        let life = lives.rfind(|(from, _)| *from <= place);
        (flow, life.map_or(0, |(_, index)| index + 1))
    }

    /// Takes note of a frame of the reliable connection service.
    pub(super) fn note(&mut self, place: usize, frame: &Frame<'_>) {
        let key = self.key(place, frame);
        let traffic = self.traffic.entry(key).or_insert_with(|| Traffic {
            first: place,
            port: frame.udp_sport,
            ..Traffic::default()
        });
        let opcode = frame.bth.opcode;
        if opcode.is_response() {
            traffic.answers.push((place, frame.bth.psn));
        } else {
            let length = frame.ext.reth().map_or(0, |reth| reth.length);
            let most = length.div_ceil(MTUS[0]).max(1);
            traffic.requests.push((place, frame.bth.psn, most));
        }
        if !opcode.ends_message() {
            *traffic.full.entry(frame.payload.len()).or_default() += 1;
        }
        traffic.greatest = traffic.greatest.max(frame.payload.len());
    }

    /// The connections, by their first frames.
    pub(super) fn pair(&self) -> Vec<Pair> {
        let mut free: BTreeMap<&Key, &Traffic> = self.traffic.iter().collect();
        let mut found: Vec<([Option<Key>; 2], Option<usize>, Pairing)> = Vec::new();
        for (index, agreement) in self.agreements.iter().enumerate() {
            let flows = [0, 1].map(|side| {
                let key = (agreement.flow(side)?, index + 1);
                free.remove(&key).map(|_| key)
            });
            if flows != [None, None] {
                found.push((flows, Some(index), Pairing::Agreed));
            }
        }
        for (left, right, fit) in self.candidates(&free) {
            if free.contains_key(&left) && free.contains_key(&right) {
                free.remove(&left);
                free.remove(&right);
                let pairing = if fit {
                    Pairing::Answers
                } else {
                    Pairing::Alone
                };
                found.push(([Some(left), Some(right)], None, pairing));
            }
        }
        let rest = free.into_keys();
        found.extend(rest.map(|key| ([Some(*key), None], None, Pairing::OneWay)));
        let mut pairs: Vec<Pair> = found
            .into_iter()
            .map(|(flows, agreement, pairing)| Pair {
                mtu: self.mtu(&flows, agreement),
                flows: self.in_order(flows),
                agreement,
                pairing,
            })
            .collect();
        pairs.sort_by_key(|pair| self.first(pair.flows));
        pairs
    }

    fn traffic(&self, key: Option<Key>) -> Option<&Traffic> {
        self.traffic.get(&key?)
    }

    fn first(&self, flows: [Option<Key>; 2]) -> usize {
        let firsts = flows.map(|key| {
            self.traffic(key)
                .map_or(usize::MAX, |traffic| traffic.first)
        });
        firsts[0].min(firsts[1])
    }

    /// The flow that sent first comes first; agreements have an order of their own.
    fn in_order(&self, flows: [Option<Key>; 2]) -> [Option<Key>; 2] {
        let [left, right] = flows;
        let agreed = flows.iter().flatten().any(|key| key.1 > 0);
        let first = |key| {
            self.traffic(key)
                .map_or(usize::MAX, |traffic| traffic.first)
        };
        match agreed || first(left) <= first(right) {
            true => flows,
            false => [right, left],
        }
    }

    /// Flows of opposite directions, the best fit first, and whether answers fit at all.
    fn candidates(&self, free: &BTreeMap<&Key, &Traffic>) -> Vec<(Key, Key, bool)> {
        let mut scored = Vec::new();
        for (left, one) in free {
            for (right, other) in free {
                let opposite = left.0.src == right.0.dst && left.0.dst == right.0.src;
                if !opposite || left >= right {
                    continue;
                }
                let score = fit(one, other) + fit(other, one);
                let port = one.port == other.port;
                let apart = one.first.abs_diff(other.first);
                scored.push((-score, !port, apart, **left, **right));
            }
        }
        scored.sort();
        // Without a single answer that fits, flows belong together only if there is no choice.
        let mut flows: HashSet<Key> = HashSet::new();
        let mut crowded: HashSet<Key> = HashSet::new();
        for (.., left, right) in &scored {
            for key in [left, right] {
                if !flows.insert(*key) {
                    crowded.insert(*key);
                }
            }
        }
        scored
            .into_iter()
            .filter(|(score, .., left, right)| {
                *score < 0 || !crowded.contains(left) && !crowded.contains(right)
            })
            .map(|(score, .., left, right)| (left, right, score < 0))
            .collect()
    }

    /// The path MTU: what was agreed, what most full packets have, else the least that there can be.
    fn mtu(&self, flows: &[Option<Key>; 2], agreement: Option<usize>) -> Mtu {
        let agreed = agreement.and_then(|index| self.agreements.get(index)?.mtu);
        if let Some(bytes) = agreed {
            return Mtu {
                bytes,
                source: Source::Agreed,
            };
        }
        let mut full: BTreeMap<usize, usize> = BTreeMap::new();
        let mut greatest = 0;
        for traffic in flows.iter().filter_map(|key| self.traffic(*key)) {
            for (length, count) in &traffic.full {
                *full.entry(*length).or_default() += count;
            }
            greatest = greatest.max(traffic.greatest);
        }
        let legal = full
            .into_iter()
            .filter(|(length, _)| MTUS.iter().any(|mtu| *mtu as usize == *length))
            .max_by_key(|(length, count)| (*count, *length));
        match legal.and_then(|(length, _)| u32::try_from(length).ok()) {
            Some(bytes) => Mtu {
                bytes,
                source: Source::Seen,
            },
            None => Mtu {
                bytes: MTUS
                    .into_iter()
                    .find(|mtu| *mtu as usize >= greatest)
                    .unwrap_or(MTUS[4]),
                source: Source::Least,
            },
        }
    }
}

/// How many answers of one flow fit requests that the other sent before, less those that do not.
fn fit(requests: &Traffic, answers: &Traffic) -> i64 {
    let fits = |(place, psn): &(usize, Psn)| {
        let sent = requests.requests.partition_point(|(sent, ..)| sent < place);
        let near = requests
            .requests
            .get(sent.saturating_sub(OUTSTANDING)..sent);
        near.unwrap_or_default()
            .iter()
            .any(|(_, first, span)| psn.since(*first) < *span)
    };
    let compared = answers.answers.iter().take(COMPARED);
    compared
        .map(|answer| if fits(answer) { 1 } else { -1 })
        .sum()
}
