//! The first difference between engine and model, told so that one knows where to look.

use std::collections::VecDeque;
use std::fmt;

use tandem_model::abi::CommitKind;
use tandem_model::engine::{Action, Illegal, ReadChannel};
use tandem_model::wire;

use super::channels::Item;
use super::untimely::Untimely;
use super::{suspect, undone};

/// What differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The engine did what the model does not allow.
    Illegal {
        /// Room whose decision it was.
        room: String,
        /// What the model allows, field by field.
        allowed: String,
    },
    /// An effect has other bytes, another address or another length.
    Effect {
        /// Channel.
        channel: &'static str,
        /// What the model says.
        expected: Item,
        /// What the ports showed.
        observed: Item,
    },
    /// DMA read other bytes than the action needs, or never read them.
    Read {
        /// Channel.
        channel: ReadChannel,
        /// First byte that the model reads.
        address: u64,
        /// Bytes that the model reads.
        length: usize,
        /// Address and length of the burst that came instead, if one did.
        observed: Option<(u64, usize)>,
    },
    /// An effect came before the payload that it tells of was placed.
    TooEarly {
        /// The effect.
        what: &'static str,
        /// Payload writes placed.
        placed: u64,
        /// Payload writes that had to be.
        needed: u64,
    },
    /// A request that invalidated a token was told of while bytes were read that frames before it carry.
    StillRead {
        /// Gather reads answered, at least.
        answered: u64,
        /// Gather reads that had to be.
        needed: u64,
    },
    /// The run ended without an effect that the model expects.
    Missing {
        /// Channel.
        channel: &'static str,
        /// The effect.
        expected: String,
    },
    /// An effect that no action explains.
    Surplus {
        /// Channel.
        channel: &'static str,
        /// The effect.
        observed: String,
    },
    /// Frames that the engine took and never accounted for.
    FramesLeft {
        /// How many.
        left: usize,
    },
    /// Decisions that were due and never made.
    Undone {
        /// Some of them.
        actions: Vec<Action>,
    },
    /// The interrupt line at the end.
    Interrupt {
        /// Level of the engine's line.
        observed: bool,
    },
    /// A commit record that means nothing.
    BadCommit {
        /// Its bits.
        bits: u128,
        /// What is wrong with it.
        cause: String,
    },
    /// An action at a time at which it must not be, or one that never comes.
    Untimely(Untimely),
    /// The records ended without an end.
    Unfinished,
}

impl From<Untimely> for Difference {
    fn from(untimely: Untimely) -> Self {
        Self::Untimely(untimely)
    }
}

impl Difference {
    /// An action that the model refused.
    pub fn illegal(illegal: &Illegal) -> Self {
        Self::Illegal {
            room: suspect::of_decision(illegal),
            allowed: illegal.to_string(),
        }
    }

    /// The room to look in first, for a difference that an action of this kind caused.
    pub fn room(&self, kind: Option<CommitKind>) -> String {
        let room = match self {
            Self::Illegal { room, .. } => return room.clone(),
            Self::Effect {
                channel: "frames",
                expected,
                observed,
            } => suspect::of_frames(kind, &expected.bytes, &observed.bytes),
            Self::Effect { channel, .. }
            | Self::Missing { channel, .. }
            | Self::Surplus { channel, .. } => match *channel {
                "frames" => "wire",
                "completion writes" => "complete",
                _ => "host",
            },
            Self::Read {
                channel: ReadChannel::RqFetch,
                ..
            } => "receive",
            Self::Read {
                channel: ReadChannel::SqFetch,
                ..
            } => "send",
            Self::Read {
                channel: ReadChannel::Gather,
                ..
            } => "context or host",
            Self::TooEarly { .. } => "host or complete",
            Self::StillRead { .. } => "send",
            Self::FramesLeft { .. } => "receive",
            Self::Undone { actions } => actions
                .first()
                .and_then(undone::room_of)
                .unwrap_or("engine"),
            Self::Interrupt { .. } => "host",
            Self::Untimely(untimely) => untimely.room(),
            Self::BadCommit { .. } | Self::Unfinished => "engine",
        };
        room.to_owned()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Illegal { allowed, .. } => write!(f, "the model does not allow it: {allowed}"),
            Self::Effect {
                channel,
                expected,
                observed,
            } => {
                writeln!(f, "{channel}: expected {expected}, observed {observed}")?;
                difference(f, *channel == "frames", expected, observed)
            }
            Self::Read {
                channel,
                address,
                length,
                observed,
            } => {
                write!(
                    f,
                    "{channel}: the model reads {length} bytes at {address:#x}; the engine "
                )?;
                match observed {
                    Some((address, length)) => write!(f, "read {length} bytes at {address:#x}"),
                    None => f.write_str("never did"),
                }
            }
            Self::TooEarly {
                what,
                placed,
                needed,
            } => write!(
                f,
                "{what} came before its data: {needed} payload writes had to be placed, {placed} were"
            ),
            Self::StillRead { answered, needed } => write!(
                f,
                "an invalidation was told of before frames had their bytes: {needed} gather reads had to be answered, {answered} were"
            ),
            Self::Missing { channel, expected } => write!(f, "{channel}: {expected} never came"),
            Self::Surplus { channel, observed } => {
                write!(f, "{channel}: {observed}, which no action explains")
            }
            Self::FramesLeft { left } => {
                write!(f, "{left} received frames were never accounted for")
            }
            Self::Undone { actions } => {
                f.write_str("the engine stands still, and has not done what is due:")?;
                actions
                    .iter()
                    .try_for_each(|action| write!(f, "\n  {action}"))
            }
            Self::Interrupt { observed } => {
                let (is, not) = if *observed {
                    ("high", "low")
                } else {
                    ("low", "high")
                };
                write!(f, "the interrupt line is {is}, it should be {not}")
            }
            Self::BadCommit { bits, cause } => write!(f, "commit record {bits:#030x}: {cause}"),
            Self::Untimely(untimely) => untimely.fmt(f),
            Self::Unfinished => f.write_str("the run stopped without an end"),
        }
    }
}

fn difference(
    f: &mut fmt::Formatter<'_>,
    frames: bool,
    expected: &Item,
    observed: &Item,
) -> fmt::Result {
    let at = expected
        .bytes
        .iter()
        .zip(&observed.bytes)
        .position(|(a, b)| a != b);
    if let Some(at) = at {
        let show = |bytes: &[u8]| -> String {
            bytes[at..]
                .iter()
                .take(8)
                .map(|byte| format!("{byte:02x} "))
                .collect()
        };
        let (e, o) = (show(&expected.bytes), show(&observed.bytes));
        writeln!(
            f,
            "  first difference at byte {at}: expected {e}observed {o}"
        )?;
    }
    if frames {
        writeln!(
            f,
            "  expected frame:\n{}",
            indent(&wire::dissect(&expected.bytes))
        )?;
        write!(
            f,
            "  observed frame:\n{}",
            indent(&wire::dissect(&observed.bytes))
        )?;
    }
    Ok(())
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// An action with its place in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of the action, from 0.
    pub number: u64,
    /// Clock in which it was committed.
    pub cycle: u64,
    /// The action.
    pub action: Action,
}

/// The latest actions.
#[derive(Debug, Default)]
pub struct History(VecDeque<Step>);

/// Actions kept.
const KEPT: usize = 4096;
/// Actions of one queue pair that are printed.
const PRINTED: usize = 12;

impl History {
    /// Adds an action.
    pub fn push(&mut self, number: u64, cycle: u64, action: Action) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Step {
            number,
            cycle,
            action,
        });
    }

    /// The action of this number, if it is still kept.
    pub fn find(&self, number: u64) -> Option<Step> {
        self.0
            .iter()
            .rev()
            .find(|step| step.number == number)
            .copied()
    }

    /// The last actions of the same queue pair, or of all.
    pub fn of(&self, action: Option<Action>) -> Vec<Step> {
        let same = |step: &&Step| action.is_none_or(|action| action.qpn == step.action.qpn);
        let mut steps: Vec<Step> = self
            .0
            .iter()
            .rev()
            .filter(same)
            .take(PRINTED)
            .copied()
            .collect();
        steps.reverse();
        steps
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Node whose engine diverged.
    pub node: String,
    /// Seed of the run.
    pub seed: u64,
    /// Clock in which it was found.
    pub cycle: u64,
    /// Action that caused it, if one did.
    pub action: Option<Step>,
    /// What differs.
    pub difference: Difference,
    /// State of the model's queue pair, in words.
    pub queue_pair: String,
    /// The last actions of the queue pair.
    pub history: Vec<Step>,
    /// The received frame that the action took.
    pub frame: Option<Vec<u8>>,
}

impl Divergence {
    /// The room to look in first.
    pub fn room(&self) -> String {
        self.difference
            .room(self.action.map(|step| step.action.kind))
    }

    /// The verdict of a checker that ended without one.
    pub fn checker_lost(cycle: u64) -> Self {
        Self {
            node: String::new(),
            seed: 0,
            cycle,
            action: None,
            difference: Difference::Unfinished,
            queue_pair: String::new(),
            history: Vec::new(),
            frame: None,
        }
    }
}

impl std::error::Error for Divergence {}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "divergence on node {} in cycle {} (seed {}): look in room {}",
            self.node,
            self.cycle,
            self.seed,
            self.room()
        )?;
        if let Some(step) = self.action {
            writeln!(
                f,
                "engine, action {} in cycle {}: {}",
                step.number, step.cycle, step.action
            )?;
        }
        writeln!(f, "{}", self.difference)?;
        if let Some(frame) = &self.frame {
            write!(f, "received frame:\n{}", indent(&wire::dissect(frame)))?;
        }
        if !self.queue_pair.is_empty() {
            write!(f, "model:\n{}", indent(&self.queue_pair))?;
        }
        if !self.history.is_empty() {
            writeln!(f, "last actions:")?;
        }
        for step in &self.history {
            writeln!(
                f,
                "  {:>8} cycle {:>8}  {}",
                step.number, step.cycle, step.action
            )?;
        }
        Ok(())
    }
}
