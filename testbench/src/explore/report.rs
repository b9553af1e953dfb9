//! What an exploration found, in words.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Write as _};
use std::time::Duration;

use tandem_model::abi::{CQE, Record, Status};
use tandem_model::wire::{Frame, dissect};

use super::Setting;
use super::heal::Good;
use super::invariant::{Invariant, Violation};
use super::search::{Found, Progress};
use super::state::{State, Step};
use super::turn::Note;
use super::world::Side;

/// How an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All states were visited, and everything holds.
    Holds,
    /// It gave up before all states were visited.
    Cut,
    /// An invariant does not hold.
    Broken(Counterexample),
}

/// A shortest way to a state in which an invariant does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The invariant.
    pub invariant: Invariant,
    /// How it was seen.
    pub how: String,
    /// The steps from the first state on.
    pub steps: Vec<Step>,
    /// The steps in words, with their frames.
    pub text: String,
}

/// What an exploration found.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the world.
    pub world: &'static str,
    /// States, steps, depth.
    pub progress: Progress,
    /// How long it took.
    pub time: Duration,
    /// Actions of the engines that were executed, by kind, with their causes.
    pub actions: BTreeMap<String, Vec<String>>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Report {
    pub(super) fn new(setting: &Setting, found: Found) -> Self {
        let actions = setting.coverage.kinds();
        let outcome = match found.path {
            Some((invariant, steps)) => Outcome::Broken(counterexample(setting, invariant, steps)),
            None if found.cut => Outcome::Cut,
            None => Outcome::Holds,
        };
        Self {
            world: setting.world.name,
            progress: found.progress,
            time: found.time,
            actions,
            outcome,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress {
            states,
            steps,
            depth,
        } = self.progress;
        let seconds = self.time.as_secs_f64();
        let word = match &self.outcome {
            Outcome::Holds => "holds",
            Outcome::Cut => "given up",
            Outcome::Broken(_) => "BROKEN",
        };
        write!(
            f,
            "{:<12} {word:<8} {states:>9} states, {steps:>10} steps, depth {depth:>3}, {seconds:>6.1} s",
            self.world
        )?;
        if let Outcome::Broken(found) = &self.outcome {
            write!(f, "\n\n{}\n{}", found.invariant, found.text)?;
        }
        Ok(())
    }
}

fn counterexample(setting: &Setting, invariant: Invariant, steps: Vec<Step>) -> Counterexample {
    let mut story = Story {
        setting,
        state: setting.first(),
        links: Default::default(),
        held: Default::default(),
        frames: 0,
        number: 0,
        text: String::new(),
    };
    for step in &steps {
        story.tell(*step);
    }
    let how = match &story.state.broken {
        Some(Violation { how, .. }) => how.clone(),
        None => {
            let end = setting.heal(&story.state, &Good::new());
            story.text += "the network heals\n";
            story.state = story.state.healed();
            for step in end.steps {
                story.tell(step);
            }
            end.missing.unwrap_or_default()
        }
    };
    // Writing to a string does not fail.
    let _ = writeln!(story.text, "{how}");
    Counterexample {
        invariant,
        how,
        steps,
        text: story.text,
    }
}

/// A path retold. Frames get numbers in the order in which engines make them.
struct Story<'a> {
    setting: &'a Setting,
    state: State,
    /// Numbers of the frames on their way.
    links: [VecDeque<usize>; 2],
    /// Numbers of the frames that have not left.
    held: [VecDeque<usize>; 2],
    frames: usize,
    number: usize,
    text: String,
}

impl Story<'_> {
    fn tell(&mut self, step: Step) {
        let mut notes = Vec::new();
        let state = self.setting.perform(&self.state, step, Some(&mut notes));
        self.number += 1;
        let line = self.headline(step, &notes);
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{:>4}  {line}", self.number);
        for note in notes {
            self.consequence(note);
        }
        self.state = state;
        for side in Side::BOTH {
            // What the engine held back and now lets go is on its way.
            while self.links[side as usize].len() < self.state.link(side).len() {
                match self.held[side as usize].pop_front() {
                    Some(frame) => self.links[side as usize].push_back(frame),
                    None => break,
                }
            }
        }
    }

    /// What happens, in a line; the numbers on their way move with it.
    fn headline(&mut self, step: Step, notes: &[Note]) -> String {
        let verdict = notes.iter().find_map(|note| match note {
            Note::Action(action) => Some(action.to_string()),
            _ => None,
        });
        match step {
            Step::Act(side, action) => format!("{}: {action}", side.name()),
            Step::Answer(side) => {
                format!("{}: memory answers the oldest payload write", side.name())
            }
            Step::Gather(side) => {
                format!("{}: memory answers the oldest read of payload", side.name())
            }
            Step::List(side, key) => {
                format!("{}: memory answers the page list of {key}", side.name())
            }
            Step::Ring(side, lane) => format!(
                "{}: the driver posts a receive on lane {lane}; {}",
                side.name(),
                verdict.unwrap_or_default()
            ),
            Step::Deliver(from) => {
                let frame = self.oldest(from);
                self.links[from as usize].pop_front();
                format!(
                    "{}: {frame} arrives; {}",
                    from.peer().name(),
                    verdict.unwrap_or_default()
                )
            }
            Step::Lose(from) => {
                let frame = self.oldest(from);
                self.links[from as usize].pop_front();
                format!("network: {frame} of {} is lost", from.name())
            }
            Step::Duplicate(from, at) => {
                let numbers = &mut self.links[from as usize];
                let frame = name(numbers.get(at), self.state.link(from).get(at));
                let number = numbers.get(at).copied();
                numbers.extend(number);
                format!("network: {frame} of {} will come once more", from.name())
            }
            Step::Swap(from) => {
                self.links[from as usize].swap(0, 1);
                format!(
                    "network: the oldest two frames of {} change places",
                    from.name()
                )
            }
        }
    }

    fn oldest(&self, from: Side) -> String {
        let number = self.links[from as usize].front();
        name(number, self.state.link(from).front())
    }

    fn consequence(&mut self, note: Note) {
        let line = match note {
            Note::Action(_) => return,
            Note::Frame(side, bytes, barrier) => {
                self.frames += 1;
                self.held[side as usize].push_back(self.frames);
                let mut line = format!("frame {} of {}", self.frames, side.name());
                if barrier > 0 {
                    line += &format!(" has to wait for {barrier} payload writes");
                }
                for part in dissect(&bytes).lines() {
                    line += &format!("\n            {part}");
                }
                line
            }
            Note::Write(side, address, length) => {
                format!(
                    "{}: {length} bytes are to be written to {address:#x}",
                    side.name()
                )
            }
            Note::Placed(side, address, length) => {
                format!(
                    "{}: {length} bytes are in memory at {address:#x}",
                    side.name()
                )
            }
            Note::Event(side, kind, number) => {
                format!("{}: event {kind:?} of {number}", side.name())
            }
            Note::Completion(side, entry) => {
                let entry = Record::from_bytes(&CQE, &entry);
                let queue = if entry.get("receive") == 0 {
                    "request"
                } else {
                    "receive"
                };
                let status = Status::from_bits(entry.get("status"));
                format!(
                    "{}: completion of {queue} {} of queue pair {}, {}",
                    side.name(),
                    entry.get("wqe_index"),
                    entry.get("qpn"),
                    status.map_or_else(|| "unknown status".into(), |status| format!("{status:?}"))
                )
            }
        };
        let _ = writeln!(self.text, "        {line}");
    }
}

/// A frame on its way by number and what it is.
fn name(number: Option<&usize>, bytes: Option<&super::node::Bytes>) -> String {
    let what = bytes.and_then(|bytes| {
        let frame = Frame::parse(bytes).ok()?;
        Some(format!(
            " ({} psn {})",
            frame.bth.opcode.name(),
            frame.bth.psn
        ))
    });
    format!(
        "frame {}{}",
        number.map_or(0, |number| *number),
        what.unwrap_or_default()
    )
}
