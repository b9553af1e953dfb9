//! Both sides come to the same end, whatever the network does and whenever the consumers act.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tandem_model::cm::machine::{Event, State};
use tandem_model::cm::{CommId, Mad};

use crate::pair::{Pair, Side, acceptance, request};

/// What the network does with a datagram. Times are below the life of a packet.
#[derive(Clone, Debug)]
enum Fate {
    Lost,
    Delivered(u64),
    Twice(u64, u64),
}

fn fate() -> impl Strategy<Value = Fate> {
    let delay = || 1..65_000u64;
    prop_oneof![
        2 => Just(Fate::Lost),
        3 => delay().prop_map(Fate::Delivered),
        2 => (delay(), delay()).prop_map(|(a, b)| Fate::Twice(a, b)),
    ]
}

/// What a consumer does, this many nanoseconds after it is its turn.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// Accepts, or completes.
    Yes(u64),
    /// Rejects.
    No(u64),
    /// Closes.
    Close(u64),
}

/// How a consumer ends a connection.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Disconnects this many nanoseconds after it is connected, or when the peer does.
    Disconnects(u64),
    /// Closes.
    Closes(u64),
    /// Waits for the peer to disconnect, and then takes so long to do so too.
    Waits(u64),
}

fn answer() -> impl Strategy<Value = Answer> {
    let delay = || 1..2_000_000u64;
    prop_oneof![
        6 => delay().prop_map(Answer::Yes),
        1 => delay().prop_map(Answer::No),
        1 => delay().prop_map(Answer::Close),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => (1..2_000_000u64).prop_map(End::Disconnects),
        1 => (1..2_000_000u64).prop_map(End::Closes),
        2 => (1..2_000_000u64).prop_map(End::Waits),
    ]
}

#[derive(Debug)]
enum Item {
    Arrives(Side, Box<Mad>),
    Answers(Side, CommId, Answer),
    Ends(Side, CommId, End),
}

/// A run: the world, what lies ahead, and what the consumers have done.
struct Run {
    pair: Pair,
    ahead: BTreeMap<(Duration, u64), Item>,
    fates: std::vec::IntoIter<Fate>,
    count: u64,
    seen: [usize; 2],
    answers: [Answer; 2],
    ends: [End; 2],
    /// Whether a side holds the connection for made; disconnects; closed.
    made: [bool; 2],
    disconnects: [bool; 2],
    closed: [bool; 2],
}

fn index(side: Side) -> usize {
    match side {
        Side::A => 0,
        Side::B => 1,
    }
}

impl Run {
    fn schedule(&mut self, delay: u64, item: Item) {
        self.count += 1;
        let at = self.pair.now + Duration::from_nanos(delay);
        self.ahead.insert((at, self.count), item);
    }

    /// Puts what was sent on its way, and lets consumers take notice of events.
    fn settle(&mut self) {
        for (from, mad) in std::mem::take(&mut self.pair.wire) {
            // What the list does not name arrives.
            match self.fates.next().unwrap_or(Fate::Delivered(1000)) {
                Fate::Lost => {}
                Fate::Delivered(delay) => {
                    self.schedule(delay, Item::Arrives(from, Box::new(mad)));
                }
                Fate::Twice(one, two) => {
                    self.schedule(one, Item::Arrives(from, Box::new(mad)));
                    self.schedule(two, Item::Arrives(from, Box::new(mad)));
                }
            }
        }
        for side in [Side::A, Side::B] {
            let at = index(side);
            let events = self.pair.end(side).events.split_off(self.seen[at]);
            for (id, event) in &events {
                let (answer, end) = (self.answers[at], self.ends[at]);
                match event {
                    Event::Requested(_) | Event::Replied { .. } => {
                        let (Answer::Yes(delay) | Answer::No(delay) | Answer::Close(delay)) =
                            answer;
                        self.schedule(delay, Item::Answers(side, *id, answer));
                    }
                    Event::Established => {
                        self.made[at] = true;
                        self.plan_end(side, *id, end);
                    }
                    Event::Disconnected => {
                        let delay = match end {
                            End::Waits(delay) => delay,
                            _ => 1,
                        };
                        self.schedule(delay, Item::Ends(side, *id, End::Disconnects(0)));
                    }
                    Event::Failed(_) | Event::Aborted | Event::Ended { .. } => {}
                }
            }
            self.pair.end(side).events.extend(events);
            self.seen[at] = self.pair.end(side).events.len();
        }
    }

    fn plan_end(&mut self, side: Side, id: CommId, end: End) {
        match end {
            End::Disconnects(delay) | End::Closes(delay) => {
                self.schedule(delay, Item::Ends(side, id, end));
            }
            End::Waits(_) => {}
        }
    }

    fn act(&mut self, item: Item) {
        let now = self.pair.now;
        match item {
            Item::Arrives(from, mad) => self.pair.give(from, &mad),
            Item::Answers(side, id, answer) => {
                let manager = &mut self.pair.end(side).manager;
                match (answer, side) {
                    (Answer::Yes(_), Side::A) => {
                        if manager.complete(now, id).is_ok() {
                            self.made[0] = true;
                            self.plan_end(side, id, self.ends[0]);
                        }
                    }
                    (Answer::Yes(_), Side::B) => drop(manager.accept(now, id, &acceptance())),
                    (Answer::No(_), _) => drop(manager.reject(now, id, b"no")),
                    (Answer::Close(_), _) => {
                        manager.close(now, id);
                        self.closed[index(side)] = true;
                    }
                }
                self.pair.collect(side);
            }
            Item::Ends(side, id, end) => {
                let manager = &mut self.pair.end(side).manager;
                match end {
                    End::Closes(_) => {
                        manager.close(now, id);
                        self.closed[index(side)] = true;
                    }
                    _ => self.disconnects[index(side)] |= manager.disconnect(now, id).is_ok(),
                }
                self.pair.collect(side);
            }
        }
        self.settle();
    }

    /// Lets everything happen that will.
    fn play(&mut self) {
        self.settle();
        for _ in 0..2000 {
            let item = self.ahead.keys().next().map(|(at, _)| *at);
            let deadlines = [
                item,
                self.pair.a.manager.next_deadline(),
                self.pair.b.manager.next_deadline(),
            ];
            let Some(next) = deadlines.into_iter().flatten().min() else {
                return;
            };
            self.pair.now = self.pair.now.max(next);
            if item == Some(next) {
                if let Some((_, item)) = self.ahead.pop_first() {
                    self.act(item);
                }
            } else {
                self.pair.poll();
                self.settle();
            }
        }
        panic!("no end of it");
    }

    fn count(&mut self, side: Side, which: fn(&Event) -> bool) -> usize {
        self.pair
            .end(side)
            .told()
            .iter()
            .filter(|event| which(event))
            .count()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// WIRE-CM-7, -8, -10, -14, NDK-DEV-1, NDK-DISC-2, -6.
    // Covers: WIRE-CM-7, WIRE-CM-8, WIRE-CM-10, WIRE-CM-14
    #[test]
    fn both_sides_agree(
        fates in vec(fate(), 0..24),
        answers in [answer(), answer()],
        ends in [end(), end()],
    ) {
        // Fifteen retries outlast the losses in the list.
        let fates: Vec<_> = limit_losses(fates, 12);
        let mut run = Run {
            pair: Pair::new(),
            ahead: BTreeMap::new(),
            fates: fates.into_iter(),
            count: 0,
            seen: [0, 0],
            answers,
            ends,
            made: [false; 2],
            disconnects: [false; 2],
            closed: [false; 2],
        };
        let a = run.pair.connect(&request());
        run.play();

        prop_assert_eq!(run.count(Side::B, |event| matches!(event, Event::Requested(_))), 1);
        let replied = run.count(Side::A, |event| matches!(event, Event::Replied { .. }));
        prop_assert!(replied <= 1);
        prop_assert!(run.count(Side::B, |event| *event == Event::Established) <= 1);
        for side in [Side::A, Side::B] {
            let at = index(side);
            let lost = run.count(side, |e| matches!(e, Event::Disconnected | Event::Aborted));
            let ended = run.count(side, |event| matches!(event, Event::Ended { .. }));
            let failed = run.count(side, |event| matches!(event, Event::Failed(_)));
            prop_assert!(lost <= 1 && failed <= 1);
            // Every disconnect ends once, unless its consumer closes before: in answer to it, or because the peer breaks off.
            let broken = run.count(side, |event| *event == Event::Aborted);
            let ends = ended + if run.disconnects[at] { broken } else { 0 };
            prop_assert!(ended <= usize::from(run.disconnects[at]));
            prop_assert!(ends == usize::from(run.disconnects[at]) || run.closed[at]);
            prop_assert!(failed == 0 || !run.made[at]);
            let alone = run.made[at] && !run.disconnects[at] && !run.closed[at];
            let left = run.disconnects[1 - at] || run.closed[1 - at];
            prop_assert!(!(alone && left) || lost == 1, "{:?} was never told", side);
            prop_assert!(run.pair.end(side).stops <= 2);
        }

        // A connection that both hold for made, or that neither does; unless one closed in the meantime.
        prop_assert!(run.made[0] == run.made[1] || run.closed.contains(&true));
        let b = run.pair.b.events[0].0;
        let states = run.pair.states(a, b);
        let alive = states.map(|state| state == Some(State::Established));
        prop_assert_eq!(alive[0], alive[1], "{:?}", states);
        for state in states.into_iter().flatten() {
            let settled = matches!(state, State::Established | State::Over { .. });
            prop_assert!(settled, "{:?}", states);
        }
        if run.made == [true; 2] {
            let (a, b) = (run.pair.a.ready[0], run.pair.b.ready[0]);
            prop_assert_eq!((a.sq_psn, a.rq_psn), (b.rq_psn, b.sq_psn));
        }
    }
}

/// The list with no more than so many losses.
fn limit_losses(fates: Vec<Fate>, most: usize) -> Vec<Fate> {
    let mut left = most;
    fates
        .into_iter()
        .filter(|fate| match fate {
            Fate::Lost => {
                left = left.saturating_sub(1);
                left > 0
            }
            _ => true,
        })
        .collect()
}
