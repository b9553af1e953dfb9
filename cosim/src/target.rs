//! The Verilated engine as a [`Target`].

use std::path::PathBuf;

use tandem_model::abi::{COMMIT, Record as AbiRecord};
use tandem_model::engine::{Action, Config};
use tandem_model::hal::{Hal, HalError, Target};

use crate::bus::{
    FrameSink, FrameSource, HostMemory, LiteMaster, LiteReply, ReadSlave, SinkEvent, Violation,
    WriteEvent, WriteSlave,
};
use crate::fault::Injector;
use crate::lockstep::{Divergence, Lockstep, Record, Summary};
use crate::options::{Options, Wave};
use crate::ports::{PortsIn, PortsOut};
use crate::recording::{Ports, Recording};
use crate::sim::{Build, Simulation, SimulationError};
use crate::trouble::Trouble;
use crate::twin::Twin;

/// Clocks that a register access may take.
const ACCESS_CLOCKS: u32 = 10_000;
/// Clocks without any traffic after which the engine counts as idle.
const IDLE_CLOCKS: u64 = 400;
/// Clocks after which an engine that gets nothing to do must be idle.
const FINISH_CLOCKS: u64 = 1_000_000;
/// Clocks of reset.
const RESET_CLOCKS: u32 = 4;
/// Clocks between looks at the checker.
const POLL_CLOCKS: u64 = 1024;

/// One engine, its buses, its memory, and its checker.
pub struct RtlTarget {
    simulation: Simulation,
    twin: Option<Twin>,
    inputs: PortsIn,
    outputs: PortsOut,
    seed: u64,
    kept: Option<Vec<PortsIn>>,
    wave: Option<Wave>,
    coverage: Option<PathBuf>,
    fault: Option<Injector>,
    recording: Option<Recording>,
    cycle: u64,
    active: u64,
    memory: HostMemory,
    lite: LiteMaster,
    read: ReadSlave,
    write: WriteSlave,
    source: FrameSource,
    sink: FrameSink,
    frames: Vec<Vec<u8>>,
    reply: Option<LiteReply>,
    write_events: Vec<WriteEvent>,
    sink_events: Vec<SinkEvent>,
    lockstep: Option<Lockstep>,
    summary: Option<Summary>,
    divergence: Option<Box<Divergence>>,
    stopped: Option<String>,
    trouble: Option<Trouble>,
}

impl RtlTarget {
    /// Builds an engine and takes it through reset.
    pub fn new(options: Options) -> Result<Self, HalError> {
        let stop = HalError::Stopped;
        options.check().map_err(|error| stop(error.to_string()))?;
        let (simulation, twin) = match options.build {
            Build::Netlist => (
                Simulation::with(Build::Netlist, &Twin::settings()),
                Some(Twin::new()),
            ),
            build => (Simulation::new(build, options.seed), None),
        };
        let simulation = simulation.map_err(|error| stop(error.to_string()))?;
        let twin = twin.transpose().map_err(|error| stop(error.to_string()))?;
        let memory = HostMemory::new(options.memory);
        let lockstep = match options.lockstep {
            true => Some(
                Lockstep::start(
                    Config::default(),
                    &options.node,
                    options.seed,
                    options.watch,
                )
                .map_err(|error| stop(format!("no thread for the checker: {error}")))?,
            ),
            false => None,
        };
        let (traffic, seed) = (options.traffic, options.seed);
        let mut target = Self {
            simulation,
            twin,
            inputs: PortsIn {
                rst: true,
                ..PortsIn::default()
            },
            outputs: PortsOut::default(),
            seed: options.seed,
            kept: options.keep_inputs.then(Vec::new),
            wave: options.wave,
            coverage: options.coverage,
            fault: options.fault.map(Injector::new),
            recording: options.record.map(Recording::new),
            cycle: 0,
            active: 0,
            lite: LiteMaster::default(),
            read: ReadSlave::new(memory.clone(), traffic, seed),
            write: WriteSlave::new(memory.clone(), traffic, seed),
            source: FrameSource::new(traffic, seed),
            sink: FrameSink::new(traffic, seed),
            memory,
            frames: Vec::new(),
            reply: None,
            write_events: Vec::new(),
            sink_events: Vec::new(),
            lockstep,
            summary: None,
            divergence: None,
            stopped: None,
            trouble: None,
        };
        let reset = target.inputs;
        for _ in 0..RESET_CLOCKS {
            target.step(&reset)?;
        }
        target.inputs.rst = false;
        Ok(target)
    }

    /// The divergence that stopped the run, if one did.
    pub fn divergence(&self) -> Option<&Divergence> {
        self.divergence.as_deref()
    }

    /// What sort of thing went wrong, if something did.
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble
    }

    /// What the ports did in the clocks that were asked for.
    pub fn recorded(&self) -> &[Ports] {
        self.recording
            .as_ref()
            .map_or(&[], |recording| recording.seen())
    }

    /// What the checker compared; there after [`Target::finish`].
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// All ports in all clocks since reset, in one number: the netlist's and the RTL's, if this is a netlist.
    pub fn ports(&self) -> Option<u64> {
        self.twin.as_ref().map(Twin::ports)
    }

    /// All inputs so far, if they are kept.
    pub fn kept_inputs(&self) -> &[PortsIn] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// Clocks another, bare engine with the kept inputs, in a loop of C++ without a bench.
    pub fn replay(&self) -> Result<(), HalError> {
        let stopped = |error: SimulationError| HalError::Stopped(error.to_string());
        let mut bare = Simulation::new(Build::Fast, self.seed).map_err(stopped)?;
        let outcome = bare.replay(self.kept_inputs());
        outcome.map_err(|error| stopped(error.into()))
    }

    /// The node's memory.
    pub fn memory(&self) -> &HostMemory {
        &self.memory
    }

    /// Whether the network takes nothing that the engine sends.
    pub fn pause(&mut self, paused: bool) {
        self.sink.pause(paused);
    }

    /// Whether a timer runs in the engine, as far as its checker knows; without checker `false`.
    ///
    /// # Errors
    /// A divergence that was found meanwhile.
    pub fn timer_runs(&mut self) -> Result<bool, HalError> {
        let (cycle, stalled) = (self.cycle, self.sink.stalled());
        if self.is_active() {
            return Ok(false);
        }
        let Some(lockstep) = &mut self.lockstep else {
            return Ok(false);
        };
        match lockstep.ask(cycle, stalled) {
            Some(standing) => Ok(standing.busy),
            None => self.poll().map(|()| false),
        }
    }

    /// The last clock in which something went on.
    pub fn last_active(&self) -> u64 {
        self.active
    }

    fn is_active(&self) -> bool {
        self.cycle - self.active < IDLE_CLOCKS
    }

    fn step(&mut self, next: &PortsIn) -> Result<(), HalError> {
        let changed;
        let driven = match &mut self.fault {
            Some(fault) => {
                changed = fault.driven(next);
                &changed
            }
            None => next,
        };
        if let Some(kept) = &mut self.kept {
            kept.push(*driven);
        }
        if let Some(wave) = self.wave.take_if(|wave| wave.from <= self.cycle) {
            let opened = self.simulation.open_wave(&wave.path);
            opened.map_err(|error| self.stop((&error).into(), error.to_string()))?;
        }
        let result = self.simulation.step(driven, &mut self.outputs);
        let twin = self.step_twin(driven);
        if let Some(fault) = &mut self.fault {
            fault.change(&self.inputs, &mut self.outputs);
        }
        self.cycle += 1;
        if let Some(recording) = &mut self.recording {
            recording.clock(self.cycle, driven, &self.outputs);
        }
        twin?;
        result.map_err(|error| {
            let cause = format!("cycle {}: {error}", self.cycle);
            self.break_off((&error).into(), cause)
        })
    }

    /// One clock of the RTL beside a netlist. From the end of reset on they are the same at every port.
    fn step_twin(&mut self, driven: &PortsIn) -> Result<(), HalError> {
        let Some(twin) = &mut self.twin else {
            return Ok(());
        };
        let result = match &self.fault {
            Some(fault) => twin.step(&fault.twin(driven)),
            None => twin.step(driven),
        };
        if let Err(error) = result {
            return Err(self.stop((&error).into(), format!("RTL: {error}")));
        }
        if self.cycle < RESET_CLOCKS.into() {
            return Ok(());
        }
        if let Err(ports) = twin.compare(&mut self.simulation, &self.outputs) {
            let cause = format!("cycle {}: netlist and RTL differ\n{ports}", self.cycle);
            return Err(self.break_off(Trouble::Netlist, cause));
        }
        Ok(())
    }

    fn stop(&mut self, trouble: Trouble, cause: String) -> HalError {
        self.trouble = Some(trouble);
        self.stopped = Some(cause.clone());
        HalError::Stopped(cause)
    }

    /// Stops because of a divergence.
    fn diverge(&mut self, divergence: Box<Divergence>) -> HalError {
        let text = divergence.to_string();
        self.divergence = Some(divergence);
        self.stop(Trouble::Divergence, text)
    }

    /// Stops because of something that may have come of a divergence that the checker had no time to tell of.
    fn break_off(&mut self, trouble: Trouble, cause: String) -> HalError {
        let earlier = self.lockstep.take().and_then(Lockstep::break_off);
        let (trouble, text) = match &earlier {
            Some(divergence) => (
                Trouble::Divergence,
                format!("{divergence}\nwhat came of it: {cause}"),
            ),
            None => (trouble, cause),
        };
        self.divergence = earlier;
        self.stop(trouble, text)
    }

    /// One clock.
    fn clock(&mut self) -> Result<(), HalError> {
        if let Some(cause) = &self.stopped {
            return Err(HalError::Stopped(cause.clone()));
        }
        let mut next = self.inputs;
        if let Err(violation) = self.buses(&mut next) {
            let cause = format!("bus rule broken: {violation}");
            return Err(self.break_off(Trouble::BusRule, cause));
        }
        self.step(&next)?;
        self.inputs = next;
        self.commit();
        if self.cycle.is_multiple_of(POLL_CLOCKS) {
            self.poll()?;
        }
        Ok(())
    }

    /// Takes the handshakes of the coming edge, and decides what is driven after it.
    fn buses(&mut self, next: &mut PortsIn) -> Result<(), Violation> {
        let (cycle, out) = (self.cycle, &self.outputs);
        if let Some(reply) = self.lite.clock(cycle, &out.lite, &mut next.lite)? {
            self.reply = Some(reply);
        }
        if let Some(burst) = self.read.clock(cycle, &out.read, &mut next.read)?
            && let Some(lockstep) = &mut self.lockstep
        {
            lockstep.push(Record::Read(burst));
        }
        self.write
            .clock(cycle, &out.write, &mut next.write, &mut self.write_events)?;
        for event in self.write_events.drain(..) {
            if let Some(lockstep) = &mut self.lockstep {
                lockstep.push(match event {
                    WriteEvent::Written { id, address, bytes } => {
                        Record::Written { id, address, bytes }
                    }
                    WriteEvent::Answered { id } => Record::Answered { id },
                });
            }
        }
        if let Some(frame) = self.source.clock(out.rx_ready, &mut next.rx)
            && let Some(lockstep) = &mut self.lockstep
        {
            lockstep.push(Record::FrameIn(frame));
        }
        self.sink
            .clock(cycle, &out.tx, &mut next.tx_ready, &mut self.sink_events)?;
        for event in self.sink_events.drain(..) {
            let record = match event {
                SinkEvent::Started => Record::FrameStarted,
                SinkEvent::Frame(frame) => {
                    self.frames.push(frame.clone());
                    Record::FrameOut(frame)
                }
            };
            if let Some(lockstep) = &mut self.lockstep {
                lockstep.push(record);
            }
        }
        let busy = out.read.arvalid
            || out.write.awvalid
            || out.write.wvalid
            || out.tx.valid
            || out.commit_valid
            || self.read.outstanding() + self.write.outstanding() + self.source.pending() > 0;
        if busy {
            self.active = cycle;
        }
        Ok(())
    }

    fn commit(&mut self) {
        let (Some(lockstep), Some(bits)) = (&mut self.lockstep, self.outputs.commit()) else {
            return;
        };
        let record = AbiRecord::from_bytes(&COMMIT, &bits.to_le_bytes());
        let (cycle, stalled) = (self.cycle, self.sink.stalled());
        lockstep.push(match Action::from_record(&record) {
            Ok(action) => Record::Commit {
                cycle,
                stalled,
                action,
            },
            Err(error) => Record::BadCommit {
                cycle,
                bits,
                cause: error.to_string(),
            },
        });
    }

    /// Stops when the checker has found a divergence.
    fn poll(&mut self) -> Result<(), HalError> {
        match self.lockstep.as_mut().and_then(Lockstep::poll) {
            Some(divergence) => Err(self.diverge(divergence)),
            None => Ok(()),
        }
    }

    fn access(&mut self, offset: u32) -> Result<LiteReply, HalError> {
        self.reply = None;
        for _ in 0..ACCESS_CLOCKS {
            self.clock()?;
            if let Some(reply) = self.reply.take() {
                return Ok(reply);
            }
        }
        let cause = format!("no answer within {ACCESS_CLOCKS} clocks");
        self.trouble = Some(Trouble::TimeOut);
        Err(HalError::Register { offset, cause })
    }
}

fn refused(offset: u32, response: u8) -> HalError {
    HalError::Register {
        offset,
        cause: format!("answered with response {response}"),
    }
}

impl Hal for RtlTarget {
    fn read_register(&mut self, offset: u32) -> Result<u32, HalError> {
        self.lite.read(offset);
        match self.access(offset)? {
            LiteReply::Read { response: 0, value } => Ok(value),
            LiteReply::Read { response, .. } | LiteReply::Written { response } => {
                Err(refused(offset, response))
            }
        }
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), HalError> {
        if let Some(lockstep) = &mut self.lockstep {
            lockstep.push(Record::Register { offset, value });
        }
        self.lite.write(offset, value);
        match self.access(offset)? {
            LiteReply::Written { response: 0 } => Ok(()),
            LiteReply::Read { response, .. } | LiteReply::Written { response } => {
                Err(refused(offset, response))
            }
        }
    }

    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), HalError> {
        self.memory.read(address, bytes)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), HalError> {
        self.memory.write(address, bytes)
    }

    fn allocate(&mut self, length: usize, align: u64) -> Result<u64, HalError> {
        self.memory.allocate(length, align)
    }

    fn interrupt(&mut self) -> Result<bool, HalError> {
        Ok(self.outputs.irq)
    }
}

impl Target for RtlTarget {
    fn send_frame(&mut self, frame: &[u8]) -> Result<(), HalError> {
        self.active = self.cycle;
        self.source.push(frame.to_vec());
        Ok(())
    }

    fn take_frames(&mut self) -> Result<Vec<Vec<u8>>, HalError> {
        Ok(std::mem::take(&mut self.frames))
    }

    fn advance(&mut self, steps: u32) -> Result<bool, HalError> {
        for _ in 0..steps {
            self.clock()?;
        }
        Ok(self.is_active())
    }

    fn now(&self) -> u64 {
        self.cycle
    }

    fn finish(&mut self) -> Result<(), HalError> {
        let end = self.cycle + FINISH_CLOCKS;
        while self.advance(64)? {
            if self.cycle > end {
                let cause = format!("still busy after {FINISH_CLOCKS} clocks without new work");
                return Err(self.stop(Trouble::TimeOut, cause));
            }
        }
        if let Some(lockstep) = self.lockstep.take() {
            match lockstep.finish(self.cycle, self.sink.stalled(), self.outputs.irq) {
                Ok(summary) => self.summary = Some(summary),
                Err(divergence) => return Err(self.diverge(divergence)),
            }
        }
        if let Some(path) = self.coverage.take() {
            let written = self.simulation.model().write_coverage(&path);
            written.map_err(|error| self.stop((&error).into(), error.to_string()))?;
        }
        Ok(())
    }
}
