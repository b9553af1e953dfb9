//! The golden model as a target: engine, host memory, a clock, and a scheduler that makes the engine's
//! choices.
//!
//! One action takes one clock. Timers end, notifications of congestion leave, paced queue pairs
//! send again and completion events that were put off follow by that clock, within the bounds of the contract.

mod choice;
mod clock;
mod memory;
mod pace;

pub use memory::Memory;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::abi::{CommitKind, GRACE, QpState, RespondKind, RxResult, Table};
use crate::engine::{Action, Config, Effect, Engine, Illegal, InputError, Observer, Watch};
use crate::hal::{Hal, HalError, Target};
use crate::wire::Frame;
use clock::{Clock, Due};
use pace::Pace;

/// How the next action is chosen among the enabled ones, and when in its bounds a timer ends (T is its
/// least time).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Rooms and queue pairs take turns; timers end after T.
    Fair,
    /// Uniformly among all enabled actions, timers anywhere between T and 4 T; the same seed makes the
    /// same choices.
    Random(u64),
    /// Hard on the driver and the peer: stays on one queue pair as long as it can, sends before it
    /// looks at what came in, answers as late as possible and coalesces acknowledges; timers end after 4 T.
    Adversarial,
}

/// The golden model on a bench: an engine with its own memory, driven by a [`Scheduler`].
///
/// The network is the caller's: frames go in by [`Target::send_frame`], come out by
/// [`Target::take_frames`].
pub struct ModelTarget {
    engine: Engine,
    memory: Memory,
    scheduler: Scheduler,
    rng: ChaCha8Rng,
    frames: Vec<Vec<u8>>,
    clock: Clock,
    enabled: Vec<Action>,
    effects: Vec<Effect>,
    last: Option<Action>,
    watch: Option<Watch>,
    stopped: Option<String>,
}

impl ModelTarget {
    /// Greatest host memory of a target.
    pub const MEMORY_LIMIT: usize = 1 << 30;

    /// An engine after reset, with empty memory.
    pub fn new(config: Config, scheduler: Scheduler) -> Self {
        let seed = match scheduler {
            Scheduler::Random(seed) => seed,
            _ => 0,
        };
        Self {
            engine: Engine::new(config),
            memory: Memory::new(Self::MEMORY_LIMIT),
            scheduler,
            rng: ChaCha8Rng::seed_from_u64(seed),
            frames: Vec::new(),
            clock: Clock::default(),
            enabled: Vec::new(),
            effects: Vec::new(),
            last: None,
            watch: None,
            stopped: None,
        }
    }

    /// Somebody sees each action from now on.
    pub fn watch(&mut self, observer: Box<dyn Observer>) {
        self.watch = Some(Watch::new(observer));
    }

    /// The engine, to look at.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The last action performed.
    pub fn last_action(&self) -> Option<&Action> {
        self.last.as_ref()
    }

    /// Lets one clock pass, with one action of the scheduler's choice; `false` if there was none. What is
    /// due by the clock goes before everything else.
    ///
    /// # Errors
    /// [`HalError::Stopped`] if the engine reads memory that does not exist; it stays stopped.
    pub fn step(&mut self) -> Result<bool, HalError> {
        if let Some(why) = &self.stopped {
            return Err(HalError::Stopped(why.clone()));
        }
        self.clock.tick();
        let result = match self.apply_due() {
            Ok(None) => match self.scheduler {
                Scheduler::Fair => self.take_turn(),
                _ => self.choose_and_apply(),
            },
            due => due,
        };
        match result {
            Ok(Some(action)) => {
                self.account(&action);
                self.carry_out()?;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(illegal) => Err(self.stop(illegal.to_string())),
        }
    }

    /// All actions that are enabled now, whatever the clock says: also the end of each timer that runs.
    ///
    /// # Errors
    /// If the engine would read memory that does not exist.
    pub fn enabled(&mut self) -> Result<Vec<Action>, InputError> {
        let mut all = Vec::new();
        self.engine.enabled(&mut self.memory, &mut all)?;
        Ok(all)
    }

    /// Performs one action of the caller's choice; it takes one clock.
    ///
    /// # Errors
    /// [`Illegal`] if it is not enabled; nothing has changed then. A write to memory that does not
    /// exist stops the target.
    pub fn apply(&mut self, action: &Action) -> Result<(), Illegal> {
        self.execute(action)?;
        self.clock.tick();
        self.account(action);
        // A failure is kept, and told at the next step.
        let _ = self.carry_out();
        Ok(())
    }

    /// Lets the engine execute an action.
    fn execute(&mut self, action: &Action) -> Result<(), Illegal> {
        let (engine, memory, effects) = (&mut self.engine, &mut self.memory, &mut self.effects);
        match &mut self.watch {
            None => engine.apply(action, memory, effects),
            Some(watch) => watch.apply(engine, action, memory, effects),
        }
    }

    /// Lets the engine execute the action whose turn it is.
    fn take_turn(&mut self) -> Result<Option<Action>, Illegal> {
        let (engine, memory, effects) = (&mut self.engine, &mut self.memory, &mut self.effects);
        match &mut self.watch {
            None => engine.step(memory, effects),
            Some(watch) => watch.step(engine, memory, effects),
        }
    }

    /// Performs what is due by the clock.
    fn apply_due(&mut self) -> Result<Option<Action>, Illegal> {
        while let Some(due) = self.clock.due() {
            let action = match due {
                Due::Send(qpn) => {
                    self.engine.hold_sends(qpn, false);
                    None
                }
                Due::Timer(qpn) => self.engine.timer_action(qpn),
                Due::Cnp(qpn) => self.engine.cnp_action(qpn),
                Due::CqEvent(cq) => self.engine.cq_event_action(cq),
            };
            if let Some(action) = action {
                self.execute(&action)?;
                return Ok(Some(action));
            }
        }
        Ok(None)
    }

    /// Sets the clock by an action just performed.
    fn account(&mut self, action: &Action) {
        self.last = Some(*action);
        if let Some(change) = self.engine.timer_change() {
            let clocks = change.timer.map(|timer| self.timer_end(timer.clocks()));
            self.clock.set_timer(change.qpn, clocks);
        }
        if let Some(change) = self.engine.due_change() {
            let limit = change.event.and_then(|event| event.clocks);
            let clocks = limit.map(|limit| self.put_off(limit));
            self.clock.set_cq_event(change.cq, clocks);
        }
        let qpn = action.qpn;
        match action.kind {
            CommitKind::RxResponse if action.cause == RxResult::Cnp as u8 => {
                let interval = self.engine.cnp_interval();
                self.clock.cnp_came(qpn, interval);
            }
            CommitKind::RxRequest | CommitKind::RxResponse
                if self.engine.cnp_action(qpn).is_some() =>
            {
                let late = self.cnp_lateness();
                self.clock.owe_cnp(qpn, late);
            }
            CommitKind::Respond if action.cause == RespondKind::Cnp as u8 => {
                let interval = self.engine.cnp_interval();
                self.clock.cnp_left(qpn, interval);
            }
            CommitKind::SqEmit => self.pace(qpn),
            CommitKind::Context
                if action.cause == Table::Qp as u8
                    && self.engine.qp_state(qpn) == Some(QpState::Init) =>
            {
                self.clock.clear(qpn);
            }
            _ => {}
        }
    }

    /// Clocks after which a timer of so many ends.
    fn timer_end(&mut self, clocks: u64) -> u64 {
        match self.scheduler {
            Scheduler::Fair => clocks,
            Scheduler::Random(_) => clocks + self.rng.next_u64() % (3 * clocks + 1),
            Scheduler::Adversarial => 4 * clocks,
        }
    }

    /// Clocks for which a completion event is put off that follows after `limit` at the latest.
    fn put_off(&mut self, limit: u64) -> u64 {
        match self.scheduler {
            Scheduler::Fair => limit,
            Scheduler::Random(_) => self.rng.next_u64() % (limit + 1),
            Scheduler::Adversarial => limit + GRACE,
        }
    }

    /// Clocks for which a notification of congestion is kept back longer than it must.
    fn cnp_lateness(&mut self) -> u64 {
        let interval = self.engine.cnp_interval();
        match self.scheduler {
            Scheduler::Fair => 0,
            Scheduler::Random(_) => self.rng.next_u64() % (interval + 1),
            Scheduler::Adversarial => 4 * interval,
        }
    }

    /// Holds a queue pair that has just sent a packet back, if it was slowed down.
    fn pace(&mut self, qpn: u32) {
        let level = self.clock.level(qpn, self.engine.cnp_interval());
        if level == 0 {
            return;
        }
        let payload = self.effects.iter().find_map(|effect| match effect {
            Effect::Frame(bytes) => Frame::parse(bytes).ok().map(|frame| frame.payload.len()),
            Effect::Write { .. } => None,
        });
        let gap = Pace::gap(level, payload.unwrap_or(0));
        self.clock.hold(qpn, gap);
        self.engine.hold_sends(qpn, true);
    }

    fn stop(&mut self, why: String) -> HalError {
        self.stopped = Some(why.clone());
        HalError::Stopped(why)
    }

    /// Lets the world see the effects of the last action.
    fn carry_out(&mut self) -> Result<(), HalError> {
        let mut effects = std::mem::take(&mut self.effects);
        let mut missing = None;
        for effect in effects.drain(..) {
            match effect {
                Effect::Frame(frame) => self.frames.push(frame),
                Effect::Write { address, bytes, .. } => {
                    match self.memory.get_mut(address, bytes.len()) {
                        Some(to) => to.copy_from_slice(&bytes),
                        None => missing = missing.or(Some((address, bytes.len()))),
                    }
                    self.engine.recycle(bytes);
                }
            }
        }
        self.effects = effects;
        match missing {
            None => Ok(()),
            Some((address, length)) => Err(self.stop(format!(
                "write of {length} bytes at {address:#x}: no such memory"
            ))),
        }
    }
}

impl Hal for ModelTarget {
    /// An access takes time on any bus: one action here, so that a driver which waits for a bit sees it change.
    fn read_register(&mut self, offset: u32) -> Result<u32, HalError> {
        self.step()?;
        Ok(self.engine.read_register(offset))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), HalError> {
        self.engine.write_register(offset, value);
        Ok(())
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), HalError> {
        let length = bytes.len();
        let from = self.memory.get(address, length);
        bytes.copy_from_slice(from.ok_or(HalError::Memory { address, length })?);
        Ok(())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), HalError> {
        let length = bytes.len();
        let to = self.memory.get_mut(address, length);
        to.ok_or(HalError::Memory { address, length })?
            .copy_from_slice(bytes);
        Ok(())
    }

    fn allocate(&mut self, length: usize, align: u64) -> Result<u64, HalError> {
        self.memory.allocate(length, align)
    }

    fn interrupt(&mut self) -> Result<bool, HalError> {
        Ok(self.engine.interrupt())
    }
}

impl Target for ModelTarget {
    fn send_frame(&mut self, frame: &[u8]) -> Result<(), HalError> {
        self.engine.receive_frame(frame.to_vec());
        Ok(())
    }

    fn take_frames(&mut self) -> Result<Vec<Vec<u8>>, HalError> {
        Ok(std::mem::take(&mut self.frames))
    }

    /// Where nothing happens time passes at once.
    fn advance(&mut self, steps: u32) -> Result<bool, HalError> {
        let end = self.clock.now() + u64::from(steps);
        let mut happened = false;
        while self.clock.now() < end {
            if self.step()? {
                happened = true;
                continue;
            }
            let next = self.clock.next().map_or(end, |at| at.saturating_sub(1));
            self.clock.pass_to(next.min(end));
        }
        Ok(happened)
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn next_deadline(&self) -> Option<u64> {
        self.clock.next()
    }

    fn finish(&mut self) -> Result<(), HalError> {
        if let Some(why) = &self.stopped {
            return Err(HalError::Stopped(why.clone()));
        }
        let mut left = Vec::new();
        let listed = self.engine.enabled(&mut self.memory, &mut left);
        listed.map_err(|why| HalError::Stopped(why.to_string()))?;
        match left.iter().find(|action| !choice::is_timed(action)) {
            None => Ok(()),
            Some(action) => Err(HalError::Stopped(format!("left undone: {action}"))),
        }
    }
}
