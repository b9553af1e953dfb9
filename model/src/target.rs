//! The golden model as a target: engine, host memory, and a scheduler that makes the engine's choices.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::abi::{CommitKind, RespondKind};
use crate::engine::{
    Action, Config, Effect, Engine, Illegal, InputError, Inputs, ReadChannel, Room,
};
use crate::hal::{Hal, HalError, Target};

/// How the next action is chosen among the enabled ones. All of them let frames wait for receive
/// doorbells: without retransmission a send that meets no receive ends its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Rooms and queue pairs take turns.
    Fair,
    /// Uniformly among all enabled actions; the same seed makes the same choices.
    Random(u64),
    /// Hard on the driver and the peer: stays on one queue pair as long as it can, sends before it
    /// looks at what came in, answers as late as possible and coalesces acknowledges.
    Adversarial,
}

/// Host memory: one range of bytes that grows as it is allocated.
#[derive(Clone, Debug)]
pub struct Memory {
    bytes: Vec<u8>,
    limit: usize,
}

impl Memory {
    /// Logical address of the first byte; nothing lies below it.
    pub const BASE: u64 = 0x1000_0000;

    /// Memory of which at most `limit` bytes may be allocated.
    pub const fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
        }
    }

    /// Reserves zeroed bytes at a multiple of `align`.
    ///
    /// # Errors
    /// [`HalError::OutOfMemory`] beyond the limit.
    pub fn allocate(&mut self, length: usize, align: u64) -> Result<u64, HalError> {
        let align = align.max(1).next_power_of_two();
        let out_of_memory = HalError::OutOfMemory { length };
        let end = Self::BASE + self.bytes.len() as u64;
        let Some(start) = end.checked_next_multiple_of(align) else {
            return Err(out_of_memory);
        };
        let needed = usize::try_from(start - Self::BASE)
            .ok()
            .and_then(|offset| offset.checked_add(length))
            .filter(|needed| *needed <= self.limit)
            .ok_or(out_of_memory)?;
        self.bytes.resize(needed, 0);
        Ok(start)
    }

    /// The bytes of a range, if it is allocated.
    pub fn get(&self, address: u64, length: usize) -> Option<&[u8]> {
        let start = usize::try_from(address.checked_sub(Self::BASE)?).ok()?;
        self.bytes.get(start..start.checked_add(length)?)
    }

    /// The bytes of a range for writing, if it is allocated.
    pub fn get_mut(&mut self, address: u64, length: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(address.checked_sub(Self::BASE)?).ok()?;
        self.bytes.get_mut(start..start.checked_add(length)?)
    }
}

impl Inputs for Memory {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        match self.get(address, bytes.len()) {
            Some(from) => {
                bytes.copy_from_slice(from);
                Ok(())
            }
            None => Err(InputError {
                channel,
                address,
                length: bytes.len(),
                cause: "no such memory".into(),
            }),
        }
    }
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
    actions: u64,
    enabled: Vec<Action>,
    effects: Vec<Effect>,
    last: Option<Action>,
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
            actions: 0,
            enabled: Vec::new(),
            effects: Vec::new(),
            last: None,
            stopped: None,
        }
    }

    /// The engine, to look at.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The last action performed.
    pub fn last_action(&self) -> Option<&Action> {
        self.last.as_ref()
    }

    /// Performs one action of the scheduler's choice; `false` if none is enabled.
    ///
    /// # Errors
    /// [`HalError::Stopped`] if the engine reads memory that does not exist; it stays stopped.
    pub fn step(&mut self) -> Result<bool, HalError> {
        if let Some(why) = &self.stopped {
            return Err(HalError::Stopped(why.clone()));
        }
        let result = match self.scheduler {
            Scheduler::Fair => self.engine.step(&mut self.memory, &mut self.effects),
            _ => self.choose_and_apply(),
        };
        match result {
            Ok(Some(action)) => {
                self.actions += 1;
                self.last = Some(action);
                self.carry_out()?;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(illegal) => Err(self.stop(illegal.to_string())),
        }
    }

    /// All actions that are enabled now.
    ///
    /// # Errors
    /// If the engine would read memory that does not exist.
    pub fn enabled(&mut self) -> Result<Vec<Action>, InputError> {
        let mut all = Vec::new();
        self.engine.enabled(&mut self.memory, &mut all)?;
        Ok(all)
    }

    /// Performs one action of the caller's choice.
    ///
    /// # Errors
    /// [`Illegal`] if it is not enabled; nothing has changed then. A write to memory that does not
    /// exist stops the target.
    pub fn apply(&mut self, action: &Action) -> Result<(), Illegal> {
        self.engine
            .apply(action, &mut self.memory, &mut self.effects)?;
        self.actions += 1;
        self.last = Some(*action);
        // A failure is kept, and told at the next step.
        let _ = self.carry_out();
        Ok(())
    }

    fn stop(&mut self, why: String) -> HalError {
        self.stopped = Some(why.clone());
        HalError::Stopped(why)
    }

    fn choose_and_apply(&mut self) -> Result<Option<Action>, Illegal> {
        self.enabled.clear();
        self.engine
            .enabled(&mut self.memory, &mut self.enabled)
            .map_err(|source| Illegal::Input {
                room: Room::Host,
                action: Action::new(CommitKind::None, 0),
                source,
            })?;
        let rung = |action: &Action| action.kind == CommitKind::RqDoorbell;
        if self.enabled.iter().any(rung) {
            self.enabled.retain(|action| {
                !matches!(
                    action.kind,
                    CommitKind::RxDrop | CommitKind::RxRequest | CommitKind::RxResponse
                )
            });
        }
        if self.enabled.is_empty() {
            return Ok(None);
        }
        let choice = match self.scheduler {
            Scheduler::Random(_) => (self.rng.next_u64() % self.enabled.len() as u64) as usize,
            _ => self.worst(),
        };
        let Some(action) = self.enabled.get(choice).copied() else {
            return Ok(None);
        };
        self.engine
            .apply(&action, &mut self.memory, &mut self.effects)?;
        Ok(Some(action))
    }

    /// The adversary's choice: the action of the greatest weight, the last of equals.
    fn worst(&self) -> usize {
        let last_qpn = self.last.map(|last| last.qpn);
        let weight = |action: &Action| {
            let kind = match action.kind {
                CommitKind::SqEmit | CommitKind::SqFail => 7,
                CommitKind::RxDrop | CommitKind::RxRequest | CommitKind::RxResponse => 6,
                CommitKind::SqDoorbell | CommitKind::RqDoorbell => 5,
                CommitKind::Flush => 4,
                CommitKind::Respond if action.cause == RespondKind::Read as u8 => 3,
                CommitKind::Respond => 2,
                CommitKind::Retire => 1,
                _ => 0,
            };
            (kind, Some(action.qpn) == last_qpn)
        };
        let greatest = self
            .enabled
            .iter()
            .enumerate()
            .max_by_key(|(_, action)| weight(action));
        greatest.map_or(0, |(i, _)| i)
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

    fn advance(&mut self, steps: u32) -> Result<bool, HalError> {
        for done in 0..steps {
            if !self.step()? {
                return Ok(done > 0);
            }
        }
        Ok(steps > 0)
    }

    fn now(&self) -> u64 {
        self.actions
    }

    fn finish(&mut self) -> Result<(), HalError> {
        if let Some(why) = &self.stopped {
            return Err(HalError::Stopped(why.clone()));
        }
        let mut left = Vec::new();
        let listed = self.engine.enabled(&mut self.memory, &mut left);
        listed.map_err(|why| HalError::Stopped(why.to_string()))?;
        match left.first() {
            None => Ok(()),
            Some(action) => Err(HalError::Stopped(format!("left undone: {action}"))),
        }
    }
}
