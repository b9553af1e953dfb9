//! Running cases, and making those that fail smaller.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use proptest_state_machine::Sequential;
use serde::Serialize;

use super::choose;
use super::machine::State;
use super::meetings::{Meeting, Refusal};
use super::moves::{Effect, Local, Move, Op, Region, Wrong};
use super::spec::{Spec, worlds};
use super::text::{text, used};
use crate::runner;
use crate::targets::{Checked, Choice};
use crate::vector::{self, Fault};
use crate::world::{Failure, Report, RunOptions, Tally};

/// Runs that make a failing case smaller at most.
const SHRINK_RUNS: u32 = 3000;
/// Milliseconds that this may take.
const SHRINK_TIME: u32 = 240_000;

/// Moves of a case at most, if nobody says otherwise.
pub const STEPS: usize = 40;
/// Nodes of a world at most, if nobody says otherwise.
pub const NODES: usize = 4;

/// What to look for.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Seed of everything.
    pub seed: u64,
    /// The first case.
    pub first: u64,
    /// Cases.
    pub cases: u64,
    /// Moves of a case at most.
    pub steps: usize,
    /// Nodes of a world at most.
    pub nodes: usize,
    /// No case begins after this time.
    pub time: Option<Duration>,
    /// Failures after which it stops.
    pub failures: usize,
    /// Cases that run at the same time.
    pub jobs: usize,
    /// How the cases run; each has a seed of its own.
    pub options: RunOptions,
    /// Choices of the model in all cases; without, they take turns.
    pub scheduler: Option<Choice>,
}

/// A case that failed.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its number.
    pub case: u64,
    /// Its name, which is that of the vector.
    pub name: String,
    /// The vector.
    pub text: String,
    /// How it runs.
    pub options: RunOptions,
    /// How it fails.
    pub failure: Failure,
    /// Moves at first, and those that were left.
    pub moves: [usize; 2],
}

/// What was done.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Cases that ran.
    pub cases: u64,
    /// Moves in them, by kind.
    pub moves: BTreeMap<&'static str, u64>,
    /// Impairments in them, by kind.
    pub impairments: BTreeMap<&'static str, u64>,
    /// What is done with windows and with regions that are registered by requests.
    pub memory: BTreeMap<&'static str, u64>,
    /// Connections that connection management made, and attempts that came to nothing.
    pub meetings: BTreeMap<&'static str, u64>,
    /// Requests, results and counters.
    pub tally: Tally,
    /// Frames.
    pub frames: u64,
    /// Clocks and decisions.
    pub checked: Checked,
    /// What failed.
    #[serde(skip)]
    pub found: Vec<Found>,
}

impl Summary {
    fn add(&mut self, spec: &Spec, moves: &[Move], report: &Report) {
        self.cases += 1;
        for meeting in meetings(spec, moves) {
            for word in attempts(meeting) {
                *self.meetings.entry(word).or_default() += 1;
            }
        }
        for made in moves {
            *self.moves.entry(word(made)).or_default() += 1;
            if let Move::Network(rule) = made {
                *self.impairments.entry(effect(rule.effect)).or_default() += 1;
            }
            for word in memory(made) {
                *self.memory.entry(word).or_default() += 1;
            }
        }
        self.tally.add(&report.tally);
        self.frames += report.frames;
        self.checked.add(&report.checked);
    }
}

fn word(made: &Move) -> &'static str {
    match made {
        Move::Receive(_) => "receive",
        Move::Post(_) => "initiator request",
        Move::Local(_) => "local request",
        Move::Refused { .. } => "refused call",
        Move::Forge { .. } => "forged frame",
        Move::Wait(_) => "wait",
        Move::Settle => "settle",
        Move::Collect => "collect",
        Move::Arm { .. } => "arm",
        Move::Network(_) => "impairment",
        Move::Heal => "heal",
        Move::Flush { .. } => "flush",
        Move::Close { .. } => "close",
        Move::Disconnect { .. } => "disconnect",
        Move::Abort { .. } => "abort",
        Move::Reopen { .. } => "reconnect",
        Move::Deregister { .. } => "deregister",
        Move::Register { .. } => "register",
    }
}

/// Meetings of a case: the first of each link, and those of the moves.
fn meetings<'a>(spec: &'a Spec, moves: &'a [Move]) -> impl Iterator<Item = &'a Meeting> {
    let used = used(spec, moves);
    let first = used.into_iter().filter_map(|link| spec.links.get(link));
    let later = moves.iter().filter_map(|made| match made {
        Move::Reopen { meeting, .. } => meeting.as_ref(),
        _ => None,
    });
    first.filter_map(|link| link.managed.as_ref()).chain(later)
}

/// What a meeting consists of, in words.
fn attempts(meeting: &Meeting) -> impl Iterator<Item = &'static str> {
    let refusals = meeting.refusals.iter().map(|refusal| match refusal {
        Refusal::Nobody => "nobody listens",
        Refusal::Asked(_) => "request rejected",
        Refusal::Answered(_) => "reply rejected",
        Refusal::GivenUp => "given up",
    });
    refusals.chain(["made"])
}

/// What a move does with windows and with regions that are registered by requests, in words.
fn memory(made: &Move) -> Vec<&'static str> {
    match made {
        Move::Local(ask) => vec![match (&ask.local, ask.foreign) {
            (Local::Bind { .. }, false) => "bind",
            (Local::Bind { .. }, true) => "bind of a foreign window",
            (Local::FastRegister { .. }, false) => "fast registration",
            (Local::FastRegister { .. }, true) => "fast registration of a foreign region",
            (Local::Invalidate(Region::Window(_)), _) => "window invalidated",
            (Local::Invalidate(_), _) => "region invalidated",
        }],
        Move::Post(post) => {
            let mut words = Vec::new();
            match (post.remote.map(|place| place.region), post.op.is_read()) {
                (Some(Region::Window(_)), true) => words.push("read through a window"),
                (Some(Region::Window(_)), false) => words.push("write through a window"),
                (Some(Region::Registered(_)), true) => words.push("read of a registration"),
                (Some(Region::Registered(_)), false) => words.push("write to a registration"),
                _ => {}
            }
            if post.wrong == Wrong::RemoteOld {
                words.push("old token");
            }
            let first = post.pieces.first().map(|piece| piece.region);
            match (post.op, first) {
                (Op::SendAndInvalidate(Region::Window(_)), _) => {
                    words.push("window invalidated by the peer");
                }
                (Op::SendAndInvalidate(Region::Registered(_)), _) => {
                    words.push("registration invalidated by the peer");
                }
                (Op::Read { invalidate: true }, Some(Region::Registered(_))) => {
                    words.push("registration invalidated by a read");
                }
                (_, Some(Region::Registered(_))) => words.push("registration used here"),
                _ => {}
            }
            words
        }
        _ => Vec::new(),
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Drop => "drop",
        Effect::Duplicate(_) => "duplicate",
        Effect::Reorder(_) => "reorder",
        Effect::Corrupt => "corrupt",
        Effect::Delay { .. } => "delay",
        Effect::Hold => "hold",
        Effect::Throttle { .. } => "throttle",
        Effect::Pause => "pause",
    }
}

/// A case that passed.
struct Passed {
    spec: Arc<Spec>,
    moves: Vec<Move>,
    report: Report,
}

/// A case under way.
struct Case<'a> {
    wish: &'a Wish,
    number: u64,
    name: String,
    options: RunOptions,
}

impl<'a> Case<'a> {
    fn new(wish: &'a Wish, number: u64) -> Self {
        let turns = [Choice::Fair, Choice::Random, Choice::Adversarial];
        let turn = turns[(number % 3) as usize];
        Self {
            wish,
            number,
            name: format!("fuzz_{}_{number}", wish.seed),
            options: RunOptions {
                seed: wish.seed << 20 ^ number,
                choice: wish.scheduler.unwrap_or(turn),
                ..wish.options.clone()
            },
        }
    }

    fn text(&self, spec: &Spec, moves: &[Move]) -> String {
        let scheduler = self.options.choice.to_possible_value();
        let scheduler = scheduler.map_or_else(String::new, |value| value.get_name().into());
        text(&self.name, self.options.seed, &scheduler, spec, moves)
    }

    fn run(&self, spec: &Spec, moves: &[Move]) -> Result<Report, Failure> {
        let text = self.text(spec, moves);
        let vectors = vector::checked(&text).map_err(Failure::new)?;
        let mut report = Report::default();
        for vector in &vectors {
            report = runner::run(vector, &self.options)?;
        }
        Ok(report)
    }

    /// Draws the case and runs it; nothing if nothing was drawn.
    fn draw(&self) -> Result<Option<Passed>, Box<Found>> {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.wish.seed.to_le_bytes());
        seed[8..16].copy_from_slice(&self.number.to_le_bytes());
        let config = Config {
            failure_persistence: None,
            max_shrink_iters: SHRINK_RUNS,
            max_shrink_time: SHRINK_TIME,
            ..Config::default()
        };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let steps = self.wish.steps.max(1);
        let nodes = self.wish.nodes;
        let cases = Sequential::new(
            (steps.div_ceil(4)..=steps).into(),
            move || worlds(nodes).prop_map(State::new).boxed(),
            State::permits,
            choose::moves,
            |state: State, made: &Move| state.after(made),
        );
        let passed: RefCell<Option<Passed>> = RefCell::new(None);
        // What the tree ends with need not be what failed last.
        let failed: RefCell<Option<(Arc<Spec>, Vec<Move>)>> = RefCell::new(None);
        let first: RefCell<Option<usize>> = RefCell::new(None);
        let tree = match cases.new_tree(&mut runner) {
            Ok(tree) => tree,
            // Nothing was drawn: that is no case.
            Err(_) => return Ok(None),
        };
        let outcome = runner.run_one(tree, |(state, moves, seen)| {
            if let Some(seen) = seen {
                // What comes later may be needed for the failure: shrinking must not cut it off at once.
                seen.store(moves.len(), Ordering::SeqCst);
            }
            first.borrow_mut().get_or_insert(moves.len());
            match self.run(&state.spec, &moves) {
                Ok(report) => {
                    *passed.borrow_mut() = Some(Passed {
                        spec: state.spec,
                        moves,
                        report,
                    });
                    Ok(())
                }
                Err(failure) => {
                    *failed.borrow_mut() = Some((state.spec, moves));
                    Err(TestCaseError::fail(failure.fault.message))
                }
            }
        });
        match failed.into_inner() {
            Some((spec, moves)) if outcome.is_err() => {
                let first = first.into_inner().unwrap_or(moves.len());
                Err(Box::new(self.smaller(&spec, moves, first)))
            }
            _ => Ok(passed.into_inner()),
        }
    }

    /// Leaves moves out as long as it still fails.
    fn smaller(&self, spec: &Spec, mut moves: Vec<Move>, first: usize) -> Found {
        let start = Instant::now();
        let limit = Duration::from_millis(SHRINK_TIME.into());
        loop {
            let before = moves.len();
            for place in (0..moves.len()).rev() {
                let mut fewer = moves.clone();
                fewer.remove(place);
                let in_time = start.elapsed() < limit;
                if in_time && is_permitted(spec, &fewer) && self.run(spec, &fewer).is_err() {
                    moves = fewer;
                }
            }
            if moves.len() == before {
                break;
            }
        }
        let failure = self.run(spec, &moves).err().unwrap_or_else(|| {
            let fault = Fault::new(0..0, "the failure did not come again");
            Failure::new(fault)
        });
        Found {
            case: self.number,
            name: self.name.clone(),
            text: self.text(spec, &moves),
            options: self.options.clone(),
            failure,
            moves: [first, moves.len()],
        }
    }
}

fn is_permitted(spec: &Spec, moves: &[Move]) -> bool {
    let mut state = State::new(spec.clone());
    moves.iter().all(|made| {
        let permitted = state.permits(made);
        state = state.clone().after(made);
        permitted
    })
}

/// Runs cases; `progress` is told of each that has ended.
pub fn hunt(wish: &Wish, progress: &(dyn Fn(u64) + Sync)) -> Summary {
    let start = Instant::now();
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let summary = Mutex::new(Summary::default());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            let late = wish.time.is_some_and(|time| start.elapsed() > time);
            if number >= wish.cases || late || stop.load(Ordering::SeqCst) || crate::stop::asked() {
                return;
            }
            let outcome = Case::new(wish, wish.first + number).draw();
            let Ok(mut summary) = summary.lock() else {
                return;
            };
            match outcome {
                Ok(Some(passed)) => summary.add(&passed.spec, &passed.moves, &passed.report),
                Ok(None) => summary.cases += 1,
                Err(found) => {
                    summary.cases += 1;
                    summary.found.push(*found);
                    if summary.found.len() >= wish.failures {
                        stop.store(true, Ordering::SeqCst);
                    }
                }
            }
            progress(summary.cases);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..wish.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut summary = summary.into_inner().unwrap_or_default();
    summary.found.sort_by_key(|found| found.case);
    summary
}
