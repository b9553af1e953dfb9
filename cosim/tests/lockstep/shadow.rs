//! A golden engine that runs as if it were hardware, with everything at its ports recorded.

use std::cell::RefCell;
use std::rc::Rc;

use tandem_cosim::bus::{BEAT, ReadBurst};
use tandem_cosim::lockstep::Record;
use tandem_model::abi::CommitKind;
use tandem_model::engine::{
    Action, Config, Effect, Engine, InputError, Inputs, ReadChannel, WriteChannel,
};
use tandem_model::hal::{Hal, HalError};
use tandem_model::ndk::bench::ConnectParameters;
use tandem_model::ndk::{
    AdapterConfig, ArmType, Cq, LocalToken, Mdl, MrFlags, MrUse, OpFlags, Pd, Provider, Qp,
    QpParameters, RemoteToken, Sge,
};
use tandem_model::target::Memory;

/// One engine, its memory, and the records of its ports.
struct Shadow {
    engine: Engine,
    memory: Memory,
    records: Vec<Record>,
    frames: Vec<Vec<u8>>,
    cycle: u64,
    stalled: u64,
}

impl Default for Shadow {
    fn default() -> Self {
        Self {
            engine: Engine::new(Config::default()),
            memory: Memory::new(16 << 20),
            records: Vec::new(),
            frames: Vec::new(),
            cycle: 0,
            stalled: 0,
        }
    }
}

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Shadow>>);

/// Memory whose reads are recorded as whole bursts, as a bus does them.
struct Recording<'a> {
    memory: &'a mut Memory,
    records: &'a mut Vec<Record>,
    cycle: u64,
}

impl Inputs for Recording<'_> {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        let first = address & !(BEAT as u64 - 1);
        let end = (address + bytes.len() as u64).next_multiple_of(BEAT as u64);
        let mut burst = vec![0; (end - first) as usize];
        self.memory.read(channel, first, &mut burst)?;
        let skip = (address - first) as usize;
        bytes.copy_from_slice(&burst[skip..skip + bytes.len()]);
        self.records.push(Record::Read(ReadBurst {
            id: channel as u8,
            address: first,
            bytes: burst,
            error: false,
            asked: self.cycle,
        }));
        Ok(())
    }
}

impl Shadow {
    /// Performs actions until none is left. The record of an action stands before what follows from it.
    fn run(&mut self) {
        let mut effects = Vec::new();
        loop {
            let mut seen = Vec::new();
            let mut inputs = Recording {
                memory: &mut self.memory,
                records: &mut seen,
                cycle: self.cycle + 1,
            };
            let Some(action) = self.engine.step(&mut inputs, &mut effects).unwrap() else {
                return;
            };
            self.cycle += 1;
            self.records.push(Record::Commit {
                cycle: self.cycle,
                stalled: self.stalled,
                action,
            });
            self.records.append(&mut seen);
            for effect in effects.drain(..) {
                self.show(effect);
            }
        }
    }

    /// Performs this action.
    fn commit(&mut self, action: &Action) {
        let (mut effects, mut seen) = (Vec::new(), Vec::new());
        let mut inputs = Recording {
            memory: &mut self.memory,
            records: &mut seen,
            cycle: self.cycle + 1,
        };
        self.engine
            .apply(action, &mut inputs, &mut effects)
            .unwrap();
        self.cycle += 1;
        self.records.push(Record::Commit {
            cycle: self.cycle,
            stalled: self.stalled,
            action: *action,
        });
        self.records.append(&mut seen);
        for effect in effects.drain(..) {
            self.show(effect);
        }
    }

    fn show(&mut self, effect: Effect) {
        match effect {
            Effect::Frame(frame) => {
                self.records.push(Record::FrameStarted);
                self.records.push(Record::FrameOut(frame.clone()));
                self.frames.push(frame);
            }
            Effect::Write {
                channel,
                address,
                bytes,
            } => {
                let id = match channel {
                    WriteChannel::Payload => 0,
                    WriteChannel::Completion => 1,
                };
                self.memory
                    .get_mut(address, bytes.len())
                    .unwrap()
                    .copy_from_slice(&bytes);
                self.records.push(Record::Written { id, address, bytes });
                self.records.push(Record::Answered { id });
            }
        }
    }
}

impl Hal for Shared {
    fn read_register(&mut self, offset: u32) -> Result<u32, HalError> {
        self.0.borrow_mut().run();
        Ok(self.0.borrow().engine.read_register(offset))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), HalError> {
        let mut shadow = self.0.borrow_mut();
        shadow.records.push(Record::Register { offset, value });
        shadow.engine.write_register(offset, value);
        Ok(())
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), HalError> {
        let length = bytes.len();
        let shadow = self.0.borrow();
        bytes.copy_from_slice(
            shadow
                .memory
                .get(address, length)
                .ok_or(HalError::Memory { address, length })?,
        );
        Ok(())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), HalError> {
        let length = bytes.len();
        let mut shadow = self.0.borrow_mut();
        let to = shadow
            .memory
            .get_mut(address, length)
            .ok_or(HalError::Memory { address, length })?;
        to.copy_from_slice(bytes);
        Ok(())
    }

    fn allocate(&mut self, length: usize, align: u64) -> Result<u64, HalError> {
        self.0.borrow_mut().memory.allocate(length, align)
    }

    fn interrupt(&mut self) -> Result<bool, HalError> {
        Ok(self.0.borrow().engine.interrupt())
    }
}

/// A provider on the shadow, with a queue pair connected to itself and memory.
pub(crate) struct Bench {
    shadow: Shared,
    nic: Provider<Shared>,
    pd: Pd,
    cq: Cq,
    /// Queue pairs, each connected to itself.
    qps: Vec<Qp>,
    buffer: u64,
    token: LocalToken,
    remote: RemoteToken,
}

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

impl Bench {
    /// With so many queue pairs, and this code of their timers.
    pub(crate) fn new(queue_pairs: usize, timeout: u8) -> Self {
        let shadow = Shared::default();
        let config = AdapterConfig {
            mac: MAC,
            ipv4: Some([10, 0, 0, 1].into()),
            ..AdapterConfig::default()
        };
        let mut nic = Provider::open(shadow.clone(), config).unwrap();
        let pd = nic.create_pd().unwrap();
        let cq = nic.create_cq(256, 0).unwrap();
        let qps: Vec<Qp> = (0..queue_pairs)
            .map(|_| nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap())
            .collect();
        let buffer = nic.hal_mut().allocate(8192, 4096).unwrap();
        nic.hal_mut()
            .write_memory(buffer, &(0..255).collect::<Vec<u8>>())
            .unwrap();
        let mr = nic.create_mr(pd, MrUse::Register).unwrap();
        let mdl = [Mdl::identity(buffer, 8192)];
        nic.register_mr(mr, &mdl, 8192, MrFlags::ALLOW_REMOTE_WRITE)
            .unwrap();
        let token = nic.local_token_from_mr(mr).unwrap();
        let remote = nic.remote_token_from_mr(mr).unwrap();
        for qp in &qps {
            let number = nic.qp_number(*qp).unwrap();
            let parameters = ConnectParameters {
                timeout,
                ..ConnectParameters::to(MAC, [10, 0, 0, 1].into(), number)
            };
            nic.bench().connect(*qp, &parameters).unwrap();
        }
        Self {
            shadow,
            nic,
            pd,
            cq,
            qps,
            buffer,
            token,
            remote,
        }
    }

    fn sge(&self, offset: u64, length: u32) -> Sge {
        Sge {
            address: self.buffer + offset,
            length,
            token: self.token,
        }
    }

    /// Posts a write.
    pub(crate) fn write(&mut self, qp: usize, length: u32) {
        let sge = self.sge(3, length);
        let to = self.buffer + 5000;
        let (qp, remote) = (self.qps[qp], self.remote);
        self.nic
            .write(qp, 2, &[sge], to, remote, OpFlags::default())
            .unwrap();
    }

    /// Tokens of a region that can be invalidated.
    fn fast_region(&mut self) -> (LocalToken, RemoteToken) {
        let mdl = [Mdl::identity(self.buffer, 64)];
        let flags = MrFlags::ALLOW_REMOTE_WRITE;
        let mut bench = self.nic.bench();
        let mr = bench.place_fast_region(self.pd, &mdl, 64, flags).unwrap();
        let local = self.nic.local_token_from_mr(mr).unwrap();
        (local, self.nic.remote_token_from_mr(mr).unwrap())
    }

    /// Posts a send of no bytes that invalidates a token, and the receive for it.
    pub(crate) fn send_and_invalidate(&mut self, qp: usize) {
        let (_, token) = self.fast_region();
        let qp = self.qps[qp];
        self.nic.receive(qp, 4, &[]).unwrap();
        self.nic
            .send_and_invalidate(qp, 5, &[], OpFlags::default(), token)
            .unwrap();
    }

    /// Posts a read of no bytes that invalidates the token of its sink.
    pub(crate) fn read_and_invalidate(&mut self, qp: usize) {
        let (token, _) = self.fast_region();
        let sink = Sge {
            token,
            ..self.sge(0, 0)
        };
        let flags = OpFlags::RDMA_READ_LOCAL_INVALIDATE;
        let (qp, from, remote) = (self.qps[qp], self.buffer, self.remote);
        self.nic.read(qp, 6, &[sink], from, remote, flags).unwrap();
    }

    /// Engine number of a queue pair.
    pub(crate) fn number(&self, qp: usize) -> u32 {
        self.nic.qp_number(self.qps[qp]).unwrap()
    }

    /// The engine does what it can; its frames, which nobody has got.
    pub(crate) fn run(&mut self) -> Vec<Vec<u8>> {
        let mut shadow = self.shadow.0.borrow_mut();
        shadow.run();
        std::mem::take(&mut shadow.frames)
    }

    /// The engine does what it can, but for sending on some queue pairs; its frames, which nobody has got.
    pub(crate) fn run_without(&mut self, held: &[u32]) -> Vec<Vec<u8>> {
        let mut shadow = self.shadow.0.borrow_mut();
        loop {
            let mut enabled = Vec::new();
            let Shadow { engine, memory, .. } = &mut *shadow;
            engine.enabled(memory, &mut enabled).unwrap();
            let next = enabled.into_iter().find(|action| match action.kind {
                CommitKind::Timeout | CommitKind::RnrResume => false,
                CommitKind::SqEmit => !held.contains(&action.qpn),
                _ => true,
            });
            let Some(action) = next else { break };
            shadow.commit(&action);
        }
        std::mem::take(&mut shadow.frames)
    }

    /// Sends one packet of a queue pair.
    pub(crate) fn send_one(&mut self, qpn: u32) {
        let mut shadow = self.shadow.0.borrow_mut();
        let mut enabled = Vec::new();
        let Shadow { engine, memory, .. } = &mut *shadow;
        engine.enabled(memory, &mut enabled).unwrap();
        let emit = enabled
            .iter()
            .find(|action| action.kind == CommitKind::SqEmit && action.qpn == qpn);
        shadow.commit(emit.unwrap());
    }

    /// Takes what has completed.
    pub(crate) fn poll(&mut self) -> usize {
        let mut results = vec![Default::default(); 64];
        self.nic.get_cq_results_ex(self.cq, &mut results).unwrap()
    }

    /// The engine gets a frame.
    pub(crate) fn deliver(&mut self, frame: Vec<u8>) {
        let mut shadow = self.shadow.0.borrow_mut();
        shadow.records.push(Record::FrameIn(frame.clone()));
        shadow.engine.receive_frame(frame);
    }

    /// Clocks pass.
    pub(crate) fn pass(&mut self, clocks: u64) {
        self.shadow.0.borrow_mut().cycle += clocks;
    }

    /// The transmit stream is stalled for so many clocks.
    pub(crate) fn stall(&mut self, clocks: u64) {
        let mut shadow = self.shadow.0.borrow_mut();
        shadow.cycle += clocks;
        shadow.stalled += clocks;
    }

    /// The engine does what a clock would make it do: the end of a timer, or a congestion notification.
    pub(crate) fn commit(&mut self, pick: impl Fn(&Engine) -> Option<Action>) {
        let mut shadow = self.shadow.0.borrow_mut();
        let action = pick(&shadow.engine).expect("something to commit");
        shadow.commit(&action);
    }

    /// The records, up to the end.
    pub(crate) fn records(self) -> (Vec<Record>, u64, u64) {
        drop(self.nic);
        let shadow = self.shadow.0.take();
        (shadow.records, shadow.cycle, shadow.stalled)
    }
}

/// A queue pair that talks to itself: a write, and a send into an armed queue. The interrupt is left high.
pub fn records() -> Vec<Record> {
    let mut bench = Bench::new(1, 2);
    let (cq, qp) = (bench.cq, bench.qps[0]);
    bench.nic.arm_cq(cq, ArmType::Any).unwrap();
    let sge = bench.sge(4096, 200);
    bench.nic.receive(qp, 1, &[sge]).unwrap();
    bench.write(0, 77);
    let sge = bench.sge(1, 100);
    bench.nic.send(qp, 3, &[sge], OpFlags::default()).unwrap();
    loop {
        let frames = bench.run();
        if frames.is_empty() {
            break;
        }
        for frame in frames {
            bench.deliver(frame);
        }
    }
    bench.records().0
}
