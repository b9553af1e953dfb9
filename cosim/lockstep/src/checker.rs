//! The checker's thread: applies commit records to the golden model and compares the effects.

use std::collections::VecDeque;

use tandem_model::abi::{CommitKind, QpState, RespondKind, RxResult, Table};
use tandem_model::engine::{Action, Config, Effect, Engine, Watch, WriteChannel};
use tandem_model::wire::Frame;

use super::channels::{Channel, Item};
use super::divergence::{Difference, Divergence, History};
use super::placement::{Gathers, Placement};
use super::service::Service;
use super::timing::{Moment, Timing};
use super::undone::undone;
use super::untimely::Untimely;
use super::whole::{self, WholeFrames};
use super::world::{Glance, Recorded, World};
use super::{Record, Standing};

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
    gathers: Gathers,
    whole: WholeFrames,
    timing: Timing,
    service: Service,
    history: History,
    effects: Vec<Effect>,
    actions: u64,
    now: Moment,
    node: String,
    seed: u64,
    watch: Option<Watch>,
}

/// Which payload effects and gather reads an effect has to wait for.
#[derive(Clone, Copy)]
struct Order {
    action: u64,
    after: u64,
    gathers: u64,
}

impl Checker {
    pub fn new(
        config: Config,
        node: String,
        seed: u64,
        world: World,
        watch: Option<Watch>,
    ) -> Self {
        let engine = Engine::new(config);
        Self {
            service: Service::new(1 << engine.config().log2_qps),
            timing: Timing::default(),
            engine,
            world,
            frames: Channel::new("frames"),
            payload: Channel::new("payload writes"),
            completion: Channel::new("completion writes"),
            frame_order: VecDeque::new(),
            completion_order: VecDeque::new(),
            placement: Placement::default(),
            gathers: Gathers::default(),
            whole: WholeFrames::default(),
            history: History::default(),
            effects: Vec::new(),
            actions: 0,
            now: Moment::default(),
            node,
            seed,
            watch,
        }
    }

    /// Works until the run ends, or to the first divergence.
    pub fn run(&mut self) -> Result<Summary, Box<Divergence>> {
        while let Some(record) = self.world.next() {
            if let Record::End {
                cycle,
                stalled,
                interrupt,
            } = record
            {
                self.pass(cycle, stalled)?;
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
            Record::Commit {
                cycle,
                stalled,
                action,
            } => {
                self.pass(cycle, stalled)?;
                self.commit(action)?;
            }
            Record::Ask { cycle, stalled } => {
                self.pass(cycle, stalled)?;
                let busy = self.timing.timer_runs() || self.may_send();
                self.world.answer(Standing { busy });
            }
            Record::BadCommit { cycle, bits, cause } => {
                self.now.cycle = cycle;
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

    /// Whether a packet may leave now, as one that only keeps the pace of its queue pair.
    fn may_send(&self) -> bool {
        let mut actions = Vec::new();
        let looked = self.engine.enabled(&mut Glance(&self.world), &mut actions);
        let sends = |action: &Action| match action.kind {
            CommitKind::SqEmit => true,
            CommitKind::Respond => action.cause == RespondKind::Cnp as u8,
            _ => false,
        };
        looked.is_err() || actions.iter().any(sends)
    }

    fn commit(&mut self, action: Action) -> Result<(), Box<Divergence>> {
        let number = self.actions;
        self.actions += 1;
        self.history.push(number, self.now.cycle, action);
        let frame = self.world.frame_of(&action);
        self.effects.clear();
        self.world.begin();
        let mut inputs = Recorded {
            world: &mut self.world,
            failure: None,
            spoiled: false,
        };
        let (engine, effects) = (&mut self.engine, &mut self.effects);
        let applied = match &mut self.watch {
            None => engine.apply(&action, &mut inputs, effects),
            Some(watch) => watch.apply(engine, &action, &mut inputs, effects),
        };
        if let Err(illegal) = applied {
            let difference = match inputs.failure.take() {
                Some(_) if self.world.broken_off() => Difference::Unfinished,
                Some(difference) => difference,
                None => Difference::illegal(&illegal),
            };
            let mut divergence = self.diverge(Some(number), difference);
            divergence.frame = frame;
            return Err(divergence);
        }
        let spoiled = inputs.spoiled;
        if whole::leaves_receive(&action) {
            self.world.keep_receive();
        }
        self.world.applied(&action, self.now.cycle, &self.engine);
        let order = Order {
            action: number,
            after: self.engine.barrier(),
            gathers: self.engine.gather_barrier(),
        };
        let reads = self.engine.gather_reads();
        self.gathers.used(reads, self.world.gathered());
        self.whole.applied(&action, reads);
        if action.kind == CommitKind::Retire {
            self.placed(order, "the retirement of a read")?;
        }
        self.time(&action)
            .map_err(|untimely| self.diverge(Some(number), untimely.into()))?;
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            let result = match effect {
                Effect::Frame(mut bytes) => {
                    if spoiled {
                        whole::spoil(&action, &mut bytes);
                    }
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
                    let gathers = order.gathers.max(self.whole.needed(&bytes));
                    self.completion_order.push_back(Order { gathers, ..order });
                    self.completion.expect(number, Item { address, bytes })
                }
            };
            self.settled(result)?;
        }
        self.effects = effects;
        Ok(())
    }

    /// Time passes.
    fn pass(&mut self, cycle: u64, stalled: u64) -> Result<(), Box<Divergence>> {
        self.now = Moment { cycle, stalled };
        let overdue = self.timing.overdue(self.now);
        overdue.map_err(|untimely| self.diverge(None, untimely.into()))
    }

    /// Whether an action just applied has come in time.
    fn time(&mut self, action: &Action) -> Result<(), Untimely> {
        let (qpn, now, interval) = (action.qpn, self.now, self.engine.cnp_interval());
        match action.kind {
            CommitKind::Timeout | CommitKind::RnrResume => self.timing.ended(qpn, now)?,
            CommitKind::Respond if action.cause == RespondKind::Cnp as u8 => {
                self.timing.cnp_left(qpn, now, interval)?;
            }
            CommitKind::RxResponse if action.cause == RxResult::Cnp as u8 => {
                self.timing.cnp_came(qpn, now, interval);
            }
            CommitKind::SqEmit => {
                let effects = &self.effects;
                let payload = || payload(effects);
                self.timing.sent(qpn, now, interval, payload)?;
            }
            CommitKind::Context
                if action.cause == Table::Qp as u8
                    && self.engine.qp_state(qpn) == Some(QpState::Init) =>
            {
                self.timing.cleared(qpn);
            }
            _ => {}
        }
        if let Some(change) = self.engine.timer_change() {
            self.timing.changed(change, now);
        }
        if let Some(change) = self.engine.due_change() {
            self.timing.put_off(change, now);
        }
        match action.kind {
            CommitKind::SqEmit if self.service.sent(qpn) => self.starved(),
            CommitKind::SqDoorbell
            | CommitKind::SqFail
            | CommitKind::RxResponse
            | CommitKind::Retire
            | CommitKind::Timeout
            | CommitKind::RnrResume => {
                self.service.touched(qpn);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether a queue pair waits for its turn longer than it must.
    fn starved(&mut self) -> Result<(), Untimely> {
        let (engine, timing, now) = (&self.engine, &self.timing, self.now);
        let world = &self.world;
        self.service.starved(|qpn| {
            timing.paced_until(qpn) < now.cycle
                && engine
                    .may_send(qpn, &mut Glance(world))
                    .is_ok_and(|may| may)
        })
    }

    fn completion_written(&mut self, address: u64, bytes: Vec<u8>) -> Result<(), Box<Divergence>> {
        let before = self.completion.compared();
        let result = self.completion.observe(Item { address, bytes });
        self.settled(result)?;
        for _ in before..self.completion.compared() {
            if let Some(order) = self.completion_order.pop_front() {
                self.placed(order, "a completion entry or event")?;
                self.gathered(order)?;
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

    /// Whether all that was sent from memory has been read before it is told that it may go.
    fn gathered(&mut self, order: Order) -> Result<(), Box<Divergence>> {
        let answered = self.gathers.answered(self.world.now());
        if order.gathers <= answered {
            return Ok(());
        }
        let difference = Difference::StillRead {
            answered,
            needed: order.gathers,
        };
        Err(self.diverge(Some(order.action), difference))
    }

    fn end(&self, interrupt: bool) -> Result<Summary, Box<Divergence>> {
        for channel in [&self.frames, &self.payload, &self.completion] {
            self.settled(channel.finish())?;
        }
        if let Some(burst) = self.world.gather_left() {
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
            cycle: self.now.cycle,
            history: self.history.of(action.map(|a| a.action)),
            action,
            difference,
            queue_pair,
            frame: None,
        })
    }
}

/// Bytes of payload of the frame among the effects of an action.
fn payload(effects: &[Effect]) -> usize {
    let payload = effects.iter().find_map(|effect| match effect {
        Effect::Frame(bytes) => Frame::parse(bytes).ok().map(|frame| frame.payload.len()),
        Effect::Write { .. } => None,
    });
    payload.unwrap_or(0)
}
