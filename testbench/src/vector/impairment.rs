//! Impairments of the network, as `[[network]]` tables and `network` steps write them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::part::FrameKind;
use super::value::At;
use crate::network::{Action, Alteration, Corruption, Delay, Reorder, Throttle, When, Window};

/// One or several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected one value, or a list of them")]
pub enum Several<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> Several<T> {
    /// All of them.
    pub fn all(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// A PSN, or those from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a PSN, or { from = 1, to = 3 }")]
pub enum Psns {
    /// One.
    One(u32),
    /// Those from `from` to `to`, across the wrap if `to` is smaller.
    Range {
        /// First one.
        from: u32,
        /// Last one.
        to: u32,
    },
}

/// When a node may not send: a table of clocks, or `true` in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected true, or { from = 1000, to = 2000 }")]
pub enum Pause {
    /// Until a step resumes.
    Now(bool),
    /// In these clocks.
    Clocks(Window),
}

/// What the network does to frames that pass, and to which ones. Exactly one key says what is done.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Impairment {
    /// Its name, by which a step can end it.
    pub name: Option<At<String>>,
    /// Node that sends (default: any).
    pub from: Option<At<String>>,
    /// Node that receives (default: any).
    pub to: Option<At<String>>,

    /// Only requests, or only responses (default: all frames).
    #[serde(default)]
    pub of: FrameKind,
    /// Only frames with this opcode, or with one of these.
    pub opcode: Option<At<Several<String>>>,
    /// Only frames with this PSN, or with one of a range.
    pub psn: Option<At<Psns>>,
    /// Only frames for this queue pair.
    pub qp: Option<At<String>>,

    /// The frame of this number among those meant, counted from 1; or the frames of these numbers.
    pub nth: Option<At<Several<u64>>>,
    /// Every so manieth of the frames meant.
    pub every: Option<At<u64>>,
    /// Each of the frames meant with this probability.
    pub probability: Option<At<f64>>,
    /// The first so many of the frames meant pass, and are not counted (default 0).
    #[serde(default)]
    pub after: u64,
    /// At most so many frames.
    pub times: Option<u64>,

    /// They are lost.
    #[serde(default)]
    pub drop: bool,
    /// So many copies follow.
    pub duplicate: Option<u32>,
    /// They come after so many later ones, or after a random number of them: `{ up_to = 3 }`.
    pub reorder: Option<Reorder>,
    /// They wait for a `release` step.
    #[serde(default)]
    pub hold: bool,
    /// A bit is turned over: `"random"`, or `{ byte = 60, bit = 3 }`.
    pub corrupt: Option<Corruption>,
    /// Fields get other values, with a right ICRC.
    pub alter: Option<Alteration>,
    /// They come later.
    pub delay: Option<Delay>,
    /// One action after another, on one frame meant after another.
    pub script: Option<Vec<Action>>,
    /// The direction is slow.
    pub throttle: Option<Throttle>,
    /// `from` has to wait with what it sends, which no timer counts.
    pub pause: Option<Pause>,

    /// In a step: ends the impairment of `name`, or all, and lets what was kept go.
    #[serde(default)]
    pub heal: bool,
    /// In a step: ends pauses.
    #[serde(default)]
    pub resume: bool,
    /// In a step: lets held frames go.
    #[serde(default)]
    pub release: bool,
}

/// What an impairment does, or what a step changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Doing {
    /// An action on frames.
    Act(Action),
    /// One action after another.
    Script(Vec<Action>),
    /// A slow direction.
    Throttle(Throttle),
    /// A pause.
    Pause(Window),
    /// Ends impairments.
    Heal,
    /// Ends pauses.
    Resume,
    /// Lets held frames go.
    Release,
}

impl Impairment {
    /// All that it says it does; a right one does one thing.
    pub fn doings(&self) -> Vec<Doing> {
        let act = |set: bool, action| set.then_some(Doing::Act(action));
        let pause = self.pause.and_then(|pause| match pause {
            Pause::Now(true) => Some(Doing::Pause(Window::ALWAYS)),
            Pause::Now(false) => None,
            Pause::Clocks(window) => Some(Doing::Pause(window)),
        });
        let all = [
            act(self.drop, Action::Drop),
            self.duplicate.map(|n| Doing::Act(Action::Duplicate(n))),
            self.reorder.map(|by| Doing::Act(Action::Reorder(by))),
            act(self.hold, Action::Hold),
            self.corrupt.map(|bit| Doing::Act(Action::Corrupt(bit))),
            self.alter
                .clone()
                .map(|alter| Doing::Act(Action::Alter(alter))),
            self.delay.map(|delay| Doing::Act(Action::Delay(delay))),
            self.script.clone().map(Doing::Script),
            self.throttle.map(Doing::Throttle),
            pause,
            self.heal.then_some(Doing::Heal),
            self.resume.then_some(Doing::Resume),
            self.release.then_some(Doing::Release),
        ];
        all.into_iter().flatten().collect()
    }

    /// Whether it names frames.
    pub fn selects(&self) -> bool {
        self.of != FrameKind::All
            || self.opcode.is_some()
            || self.psn.is_some()
            || self.qp.is_some()
    }

    /// Which of the frames meant.
    pub fn when(&self) -> When {
        let nth = self.nth.as_ref().map(|nth| nth.value().all().to_vec());
        When {
            nth: nth.unwrap_or_default(),
            every: self.every.as_ref().map(|every| *every.value()),
            probability: self.probability.as_ref().map(|chance| *chance.value()),
            after: self.after,
            times: self.times,
        }
    }

    /// Whether it says which of the frames meant.
    pub fn conditions(&self) -> bool {
        self.when() != When::default()
    }
}
