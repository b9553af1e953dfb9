//! One direction of the network: frames on their way from one node to another.

use std::collections::VecDeque;

use super::rule::{Running, Throttle};
use super::{Action, Facts, Fate, Note, alter::Alteration};

/// A frame on its way.
#[derive(Clone, Debug)]
struct Under {
    bytes: Vec<u8>,
    /// What was done to it.
    notes: Vec<Note>,
    copies: u32,
    delay: u64,
    overtake: bool,
}

impl Under {
    fn note(&mut self, fate: Fate, words: impl Into<String>) {
        self.notes.push(Note::new(fate, words));
    }
}

/// A frame with the clock at which it arrives.
#[derive(Clone, Debug)]
struct Arrival {
    at: u64,
    bytes: Vec<u8>,
    notes: Vec<Note>,
}

/// A frame that comes after so many later ones.
#[derive(Debug)]
struct Behind {
    left: u32,
    frame: Under,
}

/// A frame that arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) bytes: Vec<u8>,
    pub(super) notes: Vec<Note>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Link {
    rules: Vec<Running>,
    /// Frames that keep their order.
    line: VecDeque<Arrival>,
    /// Frames that may be overtaken, by the clock of their arrival.
    loose: Vec<Arrival>,
    behind: Vec<Behind>,
    held: Vec<Under>,
    /// When the throttle is free again, in parts of a clock: as many as it lets bytes pass.
    free_at: u128,
}

/// The greatest number of copies that one action makes.
const MAX_COPIES: u32 = 1000;

impl Link {
    /// Whether frames pass as they come.
    pub(super) fn is_clear(&self) -> bool {
        self.rules.is_empty() && self.line.is_empty() && self.loose.is_empty() && !self.keeps()
    }

    /// Whether it keeps frames that wait for others, or for a step.
    fn keeps(&self) -> bool {
        !self.behind.is_empty() || !self.held.is_empty()
    }

    /// Whether frames are on their way that arrive by themselves.
    pub(super) fn is_moving(&self) -> bool {
        !self.line.is_empty() || !self.loose.is_empty()
    }

    pub(super) fn add(&mut self, rule: Running) {
        self.rules.push(rule);
    }

    /// Takes rules away: that of a name, or all.
    pub(super) fn remove(&mut self, name: Option<&str>) {
        self.rules
            .retain(|rule| name.is_some_and(|name| rule.name.as_deref() != Some(name)));
    }

    /// Takes pauses away.
    pub(super) fn resume(&mut self) {
        self.rules.retain(|rule| rule.pause().is_none());
    }

    /// Whether the sender must wait.
    pub(super) fn pauses(&self, clock: u64) -> bool {
        let windows = self.rules.iter().filter_map(Running::pause);
        windows.into_iter().any(|window| window.contains(clock))
    }

    /// Takes a frame. What was done to it.
    pub(super) fn offer(&mut self, clock: u64, bytes: Vec<u8>) -> Vec<Note> {
        let facts = Facts::of(&bytes);
        let mut frame = Under {
            bytes,
            notes: Vec::new(),
            copies: 0,
            delay: 0,
            overtake: false,
        };
        let (mut after, mut hold) = (0, false);
        for rule in &mut self.rules {
            let name = rule
                .name
                .as_ref()
                .map_or_else(String::new, |name| format!(" ({name})"));
            let Some((action, rng)) = rule.decide(&facts) else {
                continue;
            };
            let (fate, words) = match action {
                Action::Pass => continue,
                Action::Drop => {
                    frame.note(Fate::Lost, format!("lost{name}"));
                    return frame.notes;
                }
                Action::Duplicate(copies) => {
                    frame.copies = frame.copies.saturating_add(*copies).min(MAX_COPIES);
                    (Fate::Copied, format!("{copies} times more"))
                }
                Action::Reorder(reorder) => {
                    after = reorder.frames(rng);
                    (Fate::Reordered, format!("comes after the next {after}"))
                }
                Action::Hold => {
                    hold = true;
                    (Fate::Held, "held".into())
                }
                Action::Corrupt(corruption) => match corruption.apply(rng, &mut frame.bytes) {
                    Some(words) => (Fate::Corrupted, words),
                    None => continue,
                },
                Action::Alter(alteration) => {
                    alteration.apply(&mut frame.bytes);
                    (Fate::Altered, format!("altered: {alteration}"))
                }
                Action::Delay(delay) => {
                    let clocks = delay.clocks(rng);
                    frame.delay = frame.delay.saturating_add(clocks);
                    frame.overtake |= delay.overtake;
                    (Fate::Delayed, format!("{clocks} clocks later"))
                }
            };
            frame.note(fate, words + &name);
        }
        let notes = frame.notes.clone();
        match (hold, after) {
            (true, _) => self.held.push(frame),
            (false, 0) => return self.enter(clock, frame),
            (false, left) => self.behind.push(Behind { left, frame }),
        }
        notes
    }

    /// A frame goes on its way, and after it those that waited for it.
    fn enter(&mut self, clock: u64, frame: Under) -> Vec<Note> {
        let mut notes = None;
        let mut next = VecDeque::from([frame]);
        while let Some(frame) = next.pop_front() {
            let entered = self.travel(clock, frame);
            notes.get_or_insert(entered);
            for behind in &mut self.behind {
                behind.left = behind.left.saturating_sub(1);
            }
            next.extend(
                self.behind
                    .extract_if(.., |behind| behind.left == 0)
                    .map(|behind| behind.frame),
            );
        }
        notes.unwrap_or_default()
    }

    fn travel(&mut self, clock: u64, mut frame: Under) -> Vec<Note> {
        let mut at = clock.saturating_add(frame.delay);
        let throttle = self.rules.iter().find_map(Running::throttle);
        if let Some(throttle) = throttle.filter(|_| !frame.overtake) {
            let waiting: u64 = self
                .line
                .iter()
                .map(|arrival| arrival.bytes.len() as u64)
                .sum();
            if throttle.buffer.is_some_and(|buffer| waiting > buffer) {
                frame.note(Fate::Overflowed, "lost: the buffer is full");
                return frame.notes;
            }
            if throttle.mark.is_some_and(|mark| waiting >= mark) {
                congestion_experienced(&mut frame.bytes);
                frame.note(Fate::Marked, "congestion experienced");
            }
            for _ in 0..=frame.copies {
                at = self.slot(throttle, at, frame.bytes.len());
            }
        }
        let notes = frame.notes.clone();
        if !frame.overtake {
            // A late one holds back what comes behind it.
            at = at.max(self.line.back().map_or(0, |last| last.at));
        }
        for copy in 0..=frame.copies {
            let mut notes = frame.notes.clone();
            if copy > 0 {
                notes.push(Note::new(Fate::Copied, "copy"));
            }
            let arrival = Arrival {
                at,
                bytes: frame.bytes.clone(),
                notes,
            };
            match frame.overtake {
                true => {
                    let place = self.loose.partition_point(|other| other.at <= at);
                    self.loose.insert(place, arrival);
                }
                false => self.line.push_back(arrival),
            }
        }
        notes
    }

    /// When a frame has passed a throttle.
    fn slot(&mut self, throttle: Throttle, at: u64, length: usize) -> u64 {
        let parts = u128::from(throttle.bytes.max(1));
        let cost = length as u128 * u128::from(throttle.clocks);
        self.free_at = self.free_at.max(u128::from(at) * parts) + cost;
        u64::try_from(self.free_at.div_ceil(parts)).unwrap_or(u64::MAX)
    }

    /// The next frame that has arrived by now.
    pub(super) fn arrive(&mut self, clock: u64) -> Option<Arrived> {
        let line = self.line.front().map(|arrival| arrival.at);
        let loose = self.loose.first().map(|arrival| arrival.at);
        let arrival = match (line, loose) {
            (Some(line), Some(loose)) if loose < line && loose <= clock => {
                Some(self.loose.remove(0))
            }
            (Some(line), _) if line <= clock => self.line.pop_front(),
            (_, Some(loose)) if loose <= clock => Some(self.loose.remove(0)),
            _ => None,
        }?;
        Some(Arrived {
            bytes: arrival.bytes,
            notes: arrival.notes,
        })
    }

    /// Lets frames go whose later ones do not come. Whether there were some.
    pub(super) fn let_go(&mut self, clock: u64) -> bool {
        let waiting = std::mem::take(&mut self.behind);
        let some = !waiting.is_empty();
        for behind in waiting {
            self.travel(clock, behind.frame);
        }
        some
    }

    /// Lets held frames go.
    pub(super) fn release(&mut self, clock: u64) {
        for frame in std::mem::take(&mut self.held) {
            self.enter(clock, frame);
        }
    }

    /// What is on its way arrives at once.
    pub(super) fn hurry(&mut self, clock: u64) {
        for arrival in self.line.iter_mut().chain(&mut self.loose) {
            arrival.at = arrival.at.min(clock);
        }
        self.free_at = 0;
    }
}

/// Marks a frame as a switch with a full queue does.
fn congestion_experienced(frame: &mut Vec<u8>) {
    let mark = Alteration {
        ecn: Some(3),
        ..Alteration::default()
    };
    mark.apply(frame);
}
