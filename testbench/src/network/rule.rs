//! Rules: which frames, when, and what is done to them.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use schemars::JsonSchema;
use serde::Deserialize;

use super::action::below;
use super::{Action, Facts, Selection};

/// Which of the frames that a rule is about it acts on. All conditions must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct When {
    /// The frames of these numbers, counted from 1; empty: any.
    pub nth: Vec<u64>,
    /// Every so manieth.
    pub every: Option<u64>,
    /// With this probability, 0 to 1.
    pub probability: Option<f64>,
    /// So many are let pass, and not counted, before.
    pub after: u64,
    /// At most so many.
    pub times: Option<u64>,
}

/// A slow direction: what comes faster waits in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Bytes in so many clocks.
    pub bytes: u32,
    /// Clocks (default 1).
    #[serde(default = "one")]
    pub clocks: u32,
    /// Bytes that may wait; a frame that finds more before it is lost (default: no limit).
    pub buffer: Option<u64>,
    /// A frame that finds so many bytes before it gets the mark "congestion experienced".
    pub mark: Option<u64>,
}

const fn one() -> u32 {
    1
}

/// Clocks from one up to, and without, another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// First clock (default 0).
    #[serde(default)]
    pub from: u64,
    /// Clock behind the last one (default: until a step resumes).
    #[serde(default = "never")]
    pub to: u64,
}

const fn never() -> u64 {
    u64::MAX
}

impl Window {
    /// All clocks.
    pub const ALWAYS: Self = Self {
        from: 0,
        to: u64::MAX,
    };

    /// Whether a clock lies in it.
    pub fn contains(self, clock: u64) -> bool {
        (self.from..self.to).contains(&clock)
    }
}

/// What a rule does.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// One action on some frames.
    Frames {
        /// Frames that are counted.
        selection: Selection,
        /// Which of them.
        when: When,
        /// What is done to them.
        action: Action,
    },
    /// One action after another, on one frame after another.
    Script {
        /// Frames that are counted.
        selection: Selection,
        /// The actions; behind the last one all pass.
        actions: Vec<Action>,
    },
    /// A slow direction.
    Throttle(Throttle),
    /// The network takes nothing from the node that sends.
    Pause(Window),
}

/// An impairment of one direction, or of all that fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its name, for notes and for `heal`.
    pub name: Option<String>,
    /// Place of the node that sends; `None`: any.
    pub from: Option<usize>,
    /// Place of the node that receives; `None`: any.
    pub to: Option<usize>,
    /// What it does.
    pub what: What,
}

/// A rule at work in one direction.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) name: Option<String>,
    what: What,
    rng: ChaCha8Rng,
    seen: u64,
    hits: u64,
}

impl Running {
    /// Every rule has a random source of its own in every direction: what one does never depends on another.
    pub(super) fn new(rule: &Rule, seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self {
            name: rule.name.clone(),
            what: rule.what.clone(),
            rng,
            seen: 0,
            hits: 0,
        }
    }

    /// What is to be done to a frame, and the random source for it.
    pub(super) fn decide(&mut self, facts: &Facts) -> Option<(&Action, &mut ChaCha8Rng)> {
        match &self.what {
            What::Frames {
                selection,
                when,
                action,
            } => {
                if !selection.fits(facts) {
                    return None;
                }
                self.seen += 1;
                let count = self
                    .seen
                    .checked_sub(when.after)
                    .filter(|count| *count > 0)?;
                let fits = (when.nth.is_empty() || when.nth.contains(&count))
                    && when
                        .every
                        .is_none_or(|every| count.is_multiple_of(every.max(1)))
                    && when
                        .probability
                        .is_none_or(|probability| coin(&mut self.rng, probability))
                    && when.times.is_none_or(|times| self.hits < times);
                if !fits {
                    return None;
                }
                self.hits += 1;
                Some((action, &mut self.rng))
            }
            What::Script { selection, actions } => {
                if !selection.fits(facts) {
                    return None;
                }
                let action = actions.get(usize::try_from(self.seen).ok()?)?;
                self.seen += 1;
                (*action != Action::Pass).then_some((action, &mut self.rng))
            }
            What::Throttle(_) | What::Pause(_) => None,
        }
    }

    pub(super) fn throttle(&self) -> Option<Throttle> {
        match self.what {
            What::Throttle(throttle) => Some(throttle),
            _ => None,
        }
    }

    pub(super) fn pause(&self) -> Option<Window> {
        match self.what {
            What::Pause(window) => Some(window),
            _ => None,
        }
    }
}

/// True with a probability.
fn coin(rng: &mut ChaCha8Rng, probability: f64) -> bool {
    // 53 bits are what a float can tell apart.
    const STEPS: u64 = 1 << 53;
    (below(rng, STEPS) as f64) < probability * STEPS as f64
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        if !self.nth.is_empty() {
            let numbers: Vec<String> = self.nth.iter().map(u64::to_string).collect();
            words.push(format!("number {}", numbers.join(", ")));
        }
        if let Some(every) = self.every {
            words.push(format!("one of {every}"));
        }
        if let Some(probability) = self.probability {
            words.push(format!("{} % of them, by chance", probability * 100.0));
        }
        if self.after > 0 {
            words.push(format!("after the first {}", self.after));
        }
        match self.times {
            Some(1) => words.push("once".into()),
            Some(times) => words.push(format!("at most {times} times")),
            None => {}
        }
        match words.is_empty() {
            true => f.write_str("all"),
            false => f.write_str(&words.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use tandem_model::wire::Opcode;

    use super::*;

    fn running(what: What) -> Running {
        let rule = Rule {
            name: None,
            from: None,
            to: None,
            what,
        };
        Running::new(&rule, 1, 0)
    }

    fn drops(when: When) -> Running {
        running(What::Frames {
            selection: Selection::default(),
            when,
            action: Action::Drop,
        })
    }

    /// Numbers of the frames that are hit, among so many.
    fn hit(rule: &mut Running, frames: u64) -> Vec<u64> {
        let facts = Facts::default();
        (1..=frames)
            .filter(|_| rule.decide(&facts).is_some())
            .collect()
    }

    #[test]
    fn conditions_by_number() {
        let nth = When {
            nth: vec![2, 5],
            ..When::default()
        };
        assert_eq!(hit(&mut drops(nth.clone()), 10), [2, 5]);
        let later = When { after: 3, ..nth };
        assert_eq!(hit(&mut drops(later), 10), [5, 8]);
        let every = When {
            every: Some(3),
            times: Some(2),
            ..When::default()
        };
        assert_eq!(hit(&mut drops(every), 20), [3, 6]);
        assert_eq!(hit(&mut drops(When::default()), 3), [1, 2, 3]);
    }

    #[test]
    fn chance_is_about_right_and_the_same_for_the_same_seed() {
        let when = When {
            probability: Some(0.05),
            ..When::default()
        };
        let first = hit(&mut drops(when.clone()), 10_000);
        assert!((400..600).contains(&first.len()), "{}", first.len());
        assert_eq!(first, hit(&mut drops(when), 10_000));
        let never = When {
            probability: Some(0.0),
            ..When::default()
        };
        assert!(hit(&mut drops(never), 1000).is_empty());
        let always = When {
            probability: Some(1.0),
            ..When::default()
        };
        assert_eq!(hit(&mut drops(always), 1000).len(), 1000);
    }

    #[test]
    fn only_frames_that_fit_are_counted() {
        let mut rule = running(What::Script {
            selection: Selection {
                opcodes: vec![Opcode::Acknowledge],
                ..Selection::default()
            },
            actions: vec![Action::Pass, Action::Drop],
        });
        let ack = Facts {
            opcode: Some(Opcode::Acknowledge),
            ..Facts::default()
        };
        let send = Facts {
            opcode: Some(Opcode::SendOnly),
            ..Facts::default()
        };
        let hits: Vec<bool> = [send, ack, send, ack, ack]
            .iter()
            .map(|facts| rule.decide(facts).is_some())
            .collect();
        assert_eq!(hits, [false, false, false, true, false]);
    }

    #[test]
    fn conditions_in_words() {
        let when = When {
            nth: vec![2],
            times: Some(1),
            ..When::default()
        };
        assert_eq!(when.to_string(), "number 2, once");
        assert_eq!(When::default().to_string(), "all");
    }
}
