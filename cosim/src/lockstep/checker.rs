//! The checker's thread: applies commit records to the golden model and compares the effects.

use std::collections::VecDeque;

use crossbeam_channel::{Receiver, Sender};
use tandem_model::abi::CommitKind;
use tandem_model::engine::{
    Action, Config, Effect, Engine, InputError, Inputs, ReadChannel, WriteChannel,
};

use super::Record;
use super::channels::{Channel, Item};
use super::divergence::{Difference, Divergence, History};
use super::placement::Placement;
use super::undone::undone;
use crate::bus::{BEAT, ReadBurst};

/// What a run without divergence was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Actions applied.
    pub actions: u64,
    /// Frames compared.
    pub frames: u64,
    /// Payload writes compared.
    pub payload_writes: u64,
    /// Completion entries and events compared.
    pub completion_writes: u64,
}

/// See the module.
pub struct Checker {
    engine: Engine,
    world: World,
    frames: Channel,
    payload: Channel,
    completion: Channel,
    frame_order: VecDeque<Order>,
    completion_order: VecDeque<Order>,
    placement: Placement,
    history: History,
    effects: Vec<Effect>,
    actions: u64,
    cycle: u64,
    node: String,
    seed: u64,
}

/// Which payload effects an effect has to wait for.
#[derive(Clone, Copy)]
struct Order {
    action: u64,
    after: u64,
}

/// The records that have come, and the reads among them that no action has used yet.
struct World {
    inbox: Receiver<Vec<Record>>,
    recycle: Sender<Vec<Record>>,
    waiting: VecDeque<Record>,
    reads: [VecDeque<ReadBurst>; 3],
    frames_in: VecDeque<Vec<u8>>,
}

impl Checker {
    pub fn new(
        config: Config,
        node: String,
        seed: u64,
        inbox: Receiver<Vec<Record>>,
        recycle: Sender<Vec<Record>>,
    ) -> Self {
        Self {
            engine: Engine::new(config),
            world: World {
                inbox,
                recycle,
                waiting: VecDeque::new(),
                reads: Default::default(),
                frames_in: VecDeque::new(),
            },
            frames: Channel::new("frames"),
            payload: Channel::new("payload writes"),
            completion: Channel::new("completion writes"),
            frame_order: VecDeque::new(),
            completion_order: VecDeque::new(),
            placement: Placement::default(),
            history: History::default(),
            effects: Vec::new(),
            actions: 0,
            cycle: 0,
            node,
            seed,
        }
    }

    /// Works until the run ends, or to the first divergence.
    pub fn run(&mut self) -> Result<Summary, Box<Divergence>> {
        while let Some(record) = self.world.next() {
            if let Record::End { cycle, interrupt } = record {
                self.cycle = cycle;
                return self.end(interrupt);
            }
            self.take(record)?;
        }
        Err(self.diverge(None, Difference::Unfinished))
    }

    fn take(&mut self, record: Record) -> Result<(), Box<Divergence>> {
        match record {
            Record::Register { offset, value } => self.engine.write_register(offset, value),
            Record::FrameIn(frame) => {
                self.world.frames_in.push_back(frame.clone());
                self.engine.receive_frame(frame);
            }
            Record::Commit { cycle, action } => {
                self.cycle = cycle;
                self.commit(action)?;
            }
            Record::BadCommit { cycle, bits, cause } => {
                self.cycle = cycle;
                return Err(self.diverge(None, Difference::BadCommit { bits, cause }));
            }
            Record::Read(burst) => self.world.store(burst),
            Record::Written {
                id: 0,
                address,
                bytes,
            } => {
                self.placement.written(bytes.len());
                let result = self.payload.observe(Item { address, bytes });
                self.settled(result)?;
            }
            Record::Written { address, bytes, .. } => self.completion_written(address, bytes)?,
            Record::Answered { id: 0 } => self.placement.answered(),
            Record::Answered { .. } => {}
            Record::FrameStarted => self.frame_started()?,
            Record::FrameOut(bytes) => {
                let result = self.frames.observe(Item { address: 0, bytes });
                self.settled(result)?;
            }
            Record::End { .. } => {}
        }
        Ok(())
    }

    fn commit(&mut self, action: Action) -> Result<(), Box<Divergence>> {
        let number = self.actions;
        self.actions += 1;
        self.history.push(number, self.cycle, action);
        let frame = self.world.frame_of(&action);
        self.effects.clear();
        let mut inputs = Recorded {
            world: &mut self.world,
            failure: None,
        };
        if let Err(illegal) = self.engine.apply(&action, &mut inputs, &mut self.effects) {
            let failure = inputs.failure.take();
            let difference = failure.unwrap_or_else(|| Difference::illegal(&illegal));
            let mut divergence = self.diverge(Some(number), difference);
            divergence.frame = frame;
            return Err(divergence);
        }
        let order = Order {
            action: number,
            after: self.engine.barrier(),
        };
        if action.kind == CommitKind::Retire {
            self.placed(order, "the retirement of a read")?;
        }
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            let result = match effect {
                Effect::Frame(bytes) => {
                    self.frame_order.push_back(order);
                    self.frames.expect(number, Item { address: 0, bytes })
                }
                Effect::Write {
                    channel: WriteChannel::Payload,
                    address,
                    bytes,
                } => {
                    self.placement.expect(bytes.len());
                    self.payload.expect(number, Item { address, bytes })
                }
                Effect::Write {
                    channel: WriteChannel::Completion,
                    address,
                    bytes,
                } => {
                    self.completion_order.push_back(order);
                    self.completion.expect(number, Item { address, bytes })
                }
            };
            self.settled(result)?;
        }
        self.effects = effects;
        Ok(())
    }

    fn completion_written(&mut self, address: u64, bytes: Vec<u8>) -> Result<(), Box<Divergence>> {
        let before = self.completion.compared();
        let result = self.completion.observe(Item { address, bytes });
        self.settled(result)?;
        for _ in before..self.completion.compared() {
            if let Some(order) = self.completion_order.pop_front() {
                self.placed(order, "a completion entry or event")?;
            }
        }
        Ok(())
    }

    fn frame_started(&mut self) -> Result<(), Box<Divergence>> {
        match self.frame_order.pop_front() {
            Some(order) => self.placed(order, "a frame that acknowledges it"),
            None => {
                let observed = "the first beat of a frame".to_owned();
                Err(self.diverge(
                    None,
                    Difference::Surplus {
                        channel: "frames",
                        observed,
                    },
                ))
            }
        }
    }

    fn placed(&self, order: Order, what: &'static str) -> Result<(), Box<Divergence>> {
        if self.placement.placed(order.after) {
            return Ok(());
        }
        let difference = Difference::TooEarly {
            what,
            placed: self.placement.count(),
            needed: order.after,
        };
        Err(self.diverge(Some(order.action), difference))
    }

    fn end(&self, interrupt: bool) -> Result<Summary, Box<Divergence>> {
        for channel in [&self.frames, &self.payload, &self.completion] {
            self.settled(channel.finish())?;
        }
        if let Some(burst) = self.world.reads[ReadChannel::Gather as usize].front() {
            let observed = format!("{} bytes at {:#x}", burst.bytes.len(), burst.address);
            return Err(self.diverge(
                None,
                Difference::Surplus {
                    channel: "gather reads",
                    observed,
                },
            ));
        }
        if !self.world.frames_in.is_empty() {
            let left = self.world.frames_in.len();
            return Err(self.diverge(None, Difference::FramesLeft { left }));
        }
        let actions = undone(&self.engine);
        if !actions.is_empty() {
            return Err(self.diverge(None, Difference::Undone { actions }));
        }
        if self.engine.interrupt() != interrupt {
            return Err(self.diverge(
                None,
                Difference::Interrupt {
                    observed: interrupt,
                },
            ));
        }
        Ok(Summary {
            actions: self.actions,
            frames: self.frames.compared(),
            payload_writes: self.payload.compared(),
            completion_writes: self.completion.compared(),
        })
    }

    fn settled(&self, result: Result<(), (u64, Difference)>) -> Result<(), Box<Divergence>> {
        result.map_err(|(action, difference)| self.diverge(Some(action), difference))
    }

    fn diverge(&self, action: Option<u64>, difference: Difference) -> Box<Divergence> {
        let action = action.and_then(|number| self.history.find(number));
        let queue_pair = action
            .map(|a| self.engine.describe_qp(a.action.qpn))
            .unwrap_or_default();
        Box::new(Divergence {
            node: self.node.clone(),
            seed: self.seed,
            cycle: self.cycle,
            history: self.history.of(action.map(|a| a.action)),
            action,
            difference,
            queue_pair,
            frame: None,
        })
    }
}

impl World {
    /// The next record, in order.
    fn next(&mut self) -> Option<Record> {
        if self.waiting.is_empty() {
            self.pull()?;
        }
        self.waiting.pop_front()
    }

    /// Waits for one more batch.
    fn pull(&mut self) -> Option<()> {
        let mut batch = self.inbox.recv().ok()?;
        self.waiting.extend(batch.drain(..));
        // Nobody may be there to take it back; then it is freed.
        let _ = self.recycle.try_send(batch);
        Some(())
    }

    fn store(&mut self, burst: ReadBurst) {
        if let Some(queue) = self.reads.get_mut(usize::from(burst.id)) {
            queue.push_back(burst);
        }
    }

    /// The frame that an action takes, if it takes one.
    fn frame_of(&mut self, action: &Action) -> Option<Vec<u8>> {
        use CommitKind::{RxDrop, RxRequest, RxResponse};
        match action.kind {
            RxDrop | RxRequest | RxResponse => self.frames_in.pop_front(),
            _ => None,
        }
    }

    /// Takes the first burst that fits from the channel, waiting for it if need be. Records that come
    /// meanwhile keep their order, but reads are stored at once.
    fn burst(
        &mut self,
        channel: ReadChannel,
        fits: impl Fn(&ReadBurst) -> bool,
    ) -> Option<ReadBurst> {
        let mut looked = 0;
        loop {
            let queue = &mut self.reads[channel as usize];
            if let Some(at) = queue.iter().position(&fits) {
                return queue.remove(at);
            }
            while looked < self.waiting.len() {
                match &self.waiting[looked] {
                    Record::End { .. } => return None,
                    Record::Read(_) => {
                        if let Some(Record::Read(burst)) = self.waiting.remove(looked) {
                            self.store(burst);
                        }
                        break;
                    }
                    _ => looked += 1,
                }
            }
            let found = self.reads[channel as usize].iter().any(&fits);
            if !found && looked >= self.waiting.len() {
                self.pull()?;
            }
        }
    }
}

/// The model's inputs, out of what the ports showed.
struct Recorded<'a> {
    world: &'a mut World,
    failure: Option<Difference>,
}

impl Inputs for Recorded<'_> {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        let mut first = address & !(BEAT as u64 - 1);
        let end = (address + bytes.len() as u64).next_multiple_of(BEAT as u64);
        let mut skip = (address - first) as usize;
        let mut filled = 0;
        while first < end {
            // Fetches are found by address; the gather channel has an order, so its oldest burst must fit.
            let ordered = matches!(channel, ReadChannel::Gather);
            let burst = self
                .world
                .burst(channel, |burst| ordered || burst.address == first);
            let fits = |burst: &ReadBurst| {
                burst.address == first && burst.bytes.len() as u64 <= end - first
            };
            let Some(burst) = burst else {
                return Err(self.fail(channel, address, bytes.len(), None));
            };
            if !fits(&burst) {
                return Err(self.fail(channel, address, bytes.len(), Some(&burst)));
            }
            let useful = &burst.bytes[skip.min(burst.bytes.len())..];
            let n = useful.len().min(bytes.len() - filled);
            bytes[filled..filled + n].copy_from_slice(&useful[..n]);
            filled += n;
            first += burst.bytes.len() as u64;
            skip = 0;
        }
        Ok(())
    }
}

impl Recorded<'_> {
    fn fail(
        &mut self,
        channel: ReadChannel,
        address: u64,
        length: usize,
        burst: Option<&ReadBurst>,
    ) -> InputError {
        self.failure = Some(Difference::Read {
            channel,
            address,
            length,
            observed: burst.map(|burst| (burst.address, burst.bytes.len())),
        });
        let cause = "the ports showed no such read".to_owned();
        InputError {
            channel,
            address,
            length,
            cause,
        }
    }
}
