//! A golden engine that runs as if it were hardware, with everything at its ports recorded.

use std::cell::RefCell;
use std::rc::Rc;

use tandem_cosim::bus::{BEAT, ReadBurst};
use tandem_cosim::lockstep::Record;
use tandem_model::engine::{Config, Effect, Engine, InputError, Inputs, ReadChannel, WriteChannel};
use tandem_model::hal::{Hal, HalError};
use tandem_model::ndk::bench::ConnectParameters;
use tandem_model::ndk::{
    AdapterConfig, ArmType, Mdl, MrFlags, MrUse, OpFlags, Provider, QpParameters, Sge,
};
use tandem_model::target::Memory;

/// One engine, its memory, and the records of its ports.
struct Shadow {
    engine: Engine,
    memory: Memory,
    records: Vec<Record>,
    frames: Vec<Vec<u8>>,
    cycle: u64,
}

impl Default for Shadow {
    fn default() -> Self {
        Self {
            engine: Engine::new(Config::default()),
            memory: Memory::new(16 << 20),
            records: Vec::new(),
            frames: Vec::new(),
            cycle: 0,
        }
    }
}

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Shadow>>);

/// Memory whose reads are recorded as whole bursts, as a bus does them.
struct Recording<'a> {
    memory: &'a mut Memory,
    records: &'a mut Vec<Record>,
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
            };
            let Some(action) = self.engine.step(&mut inputs, &mut effects).unwrap() else {
                return;
            };
            self.cycle += 1;
            self.records.push(Record::Commit {
                cycle: self.cycle,
                action,
            });
            self.records.append(&mut seen);
            for effect in effects.drain(..) {
                self.show(effect);
            }
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

/// A queue pair that talks to itself: a write, and a send into an armed queue. The interrupt is left high.
pub fn records() -> Vec<Record> {
    let shadow = Shared::default();
    let mac = [2, 0, 0, 0, 0, 1];
    let config = AdapterConfig {
        mac,
        ipv4: Some([10, 0, 0, 1].into()),
        ..AdapterConfig::default()
    };
    let mut nic = Provider::open(shadow.clone(), config).unwrap();
    let pd = nic.create_pd().unwrap();
    let cq = nic.create_cq(16, 0).unwrap();
    let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
    let buffer = nic.hal_mut().allocate(8192, 4096).unwrap();
    nic.hal_mut()
        .write_memory(buffer, &(0..255).collect::<Vec<u8>>())
        .unwrap();
    let mr = nic.create_mr(pd, MrUse::Register).unwrap();
    nic.register_mr(
        mr,
        &[Mdl::identity(buffer, 8192)],
        8192,
        MrFlags::ALLOW_REMOTE_WRITE,
    )
    .unwrap();
    let token = nic.local_token_from_mr(mr).unwrap();
    let remote = nic.remote_token_from_mr(mr).unwrap();
    let qpn = nic.qp_number(qp).unwrap();
    nic.bench()
        .connect(qp, &ConnectParameters::to(mac, [10, 0, 0, 1].into(), qpn))
        .unwrap();
    let sge = |offset, length| Sge {
        address: buffer + offset,
        length,
        token,
    };
    nic.arm_cq(cq, ArmType::Any).unwrap();
    nic.receive(qp, 1, &[sge(4096, 200)]).unwrap();
    nic.write(
        qp,
        2,
        &[sge(3, 77)],
        buffer + 5000,
        remote,
        OpFlags::default(),
    )
    .unwrap();
    nic.send(qp, 3, &[sge(1, 100)], OpFlags::default()).unwrap();
    loop {
        shadow.0.borrow_mut().run();
        let frames = std::mem::take(&mut shadow.0.borrow_mut().frames);
        if frames.is_empty() {
            break;
        }
        let mut shadow = shadow.0.borrow_mut();
        for frame in frames {
            shadow.records.push(Record::FrameIn(frame.clone()));
            shadow.engine.receive_frame(frame);
        }
    }
    shadow.0.take().records
}
