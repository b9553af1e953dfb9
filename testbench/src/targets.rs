//! The targets that a node can run on, behind one door.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_model::abi::regs::DbSq;
use tandem_model::engine::Config;
use tandem_model::hal::{Hal, HalError, Target};
use tandem_model::target::{ModelTarget, Scheduler};
use tandem_model::wire::{Ext, Operation, Syndrome};
use tempfile::TempPath;

use crate::breach::{Border, Breach};
use crate::coverage::Cover;
use crate::timing::{Timing, Windows};
use crate::vector::TargetKind;
use crate::world::FailureKind;

/// Order in which the model makes the engine's choices.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Rooms and queue pairs take turns.
    #[default]
    Fair,
    /// By the seed.
    Random,
    /// As hard on driver and peer as can be.
    Adversarial,
}

/// Something wrong with a target, put in to see it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Inject {
    /// A bit of a frame that an engine sends.
    Frame,
    /// A rule of AXI: the kind of an engine's read bursts.
    Burst,
    /// What an engine relies on: memory answers a read that nobody asked for.
    Answer,
    /// A bit of a frame that the RTL beside a netlist receives, and the netlist does not.
    Twin,
    /// Each doorbell of a send queue: nobody hears it.
    Doorbell,
    /// The last byte of each payload, with a right checksum.
    Payload,
    /// Each refusal: it says that all is well.
    Refusal,
}

impl Inject {
    /// What does it at the border of any target; the others are in the engine's build.
    fn breach(self) -> Option<Breach> {
        match self {
            Self::Payload => Some(Breach::Sent(|frame| {
                if let Some(last) = frame.payload.last_mut() {
                    *last ^= 1;
                }
                true
            })),
            Self::Refusal => Some(Breach::Sent(|frame| {
                if let Ext::Aeth(aeth) = &mut frame.ext
                    && frame.bth.opcode.operation() == Operation::Acknowledge
                {
                    aeth.syndrome = Syndrome::ACK;
                }
                true
            })),
            Self::Doorbell => Some(Breach::Doorbell(|offset, _| offset != DbSq::OFFSET)),
            Self::Frame | Self::Burst | Self::Answer | Self::Twin => None,
        }
    }
}

/// Waves to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waves {
    /// An FST file; the node's name is put before its extension.
    pub path: PathBuf,
    /// The clock in which a node's wave begins; 0 for a node that is not named.
    pub from: BTreeMap<String, u64>,
}

impl Waves {
    /// The file of a node.
    pub fn file(&self, node: &str) -> PathBuf {
        file_of(&self.path, node, "fst")
    }
}

/// A path with the node's name put before its extension.
fn file_of(path: &Path, node: &str, extension: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{node}.{extension}"));
    path.with_file_name(name)
}

/// How to open targets.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    /// Seed of all that is random.
    pub seed: u64,
    /// Choices of the model.
    pub choice: Choice,
    /// Where the engine's waves go.
    pub waves: Option<Waves>,
    /// The engine's build with assertions, even if there are no waves to write.
    pub debug: bool,
    /// Clocks of engines in which their ports are recorded.
    pub windows: Windows,
    /// Who counts what is covered.
    pub cover: Option<Arc<Cover>>,
    /// The engine without its checker, for measurements.
    pub unchecked: bool,
    /// The engine on buses without latency, gaps and back-pressure, for measurements.
    pub ideal_buses: bool,
    /// What is wrong with the target.
    pub inject: Option<Inject>,
    /// What else is wrong.
    pub breach: Option<Breach>,
    /// Whether the engine's inputs are kept, for [`AnyTarget::replay`].
    pub keep_inputs: bool,
}

/// What a run on a target checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Clocks, or actions of the model.
    pub clocks: u64,
    /// Decisions of the engine that the model confirmed.
    pub actions: u64,
    /// All ports of netlists in all clocks in one number, which was the RTL's, too.
    pub ports: Option<u64>,
}

impl Checked {
    /// Adds what another target, or another run, checked.
    pub fn add(&mut self, other: &Self) {
        self.clocks += other.clocks;
        self.actions += other.actions;
        if let Some(ports) = other.ports {
            self.ports = Some(self.ports.unwrap_or(0).rotate_left(1) ^ ports);
        }
    }
}

/// A target of some kind.
pub struct AnyTarget {
    inner: Inner,
    kind: TargetKind,
    paused: bool,
    border: Option<Border>,
    /// Who counts the code that an engine executed, and the file in which it tells so.
    counts: Option<(Arc<Cover>, TempPath)>,
}

enum Inner {
    Model(Box<ModelTarget>),
    #[cfg(feature = "rtl")]
    Rtl(Box<tandem_cosim::RtlTarget>),
}

/// Opens a target for a node. It stays in the thread that opens it.
///
/// # Errors
/// If the kind is not in this program, or cannot start.
pub fn open(kind: TargetKind, node: &str, options: &TargetOptions) -> Result<AnyTarget, HalError> {
    let seed = options.seed ^ fingerprint(node);
    let (inner, data) = match kind {
        TargetKind::Model => {
            let scheduler = match options.choice {
                Choice::Fair => Scheduler::Fair,
                Choice::Random => Scheduler::Random(seed),
                Choice::Adversarial => Scheduler::Adversarial,
            };
            let mut target = ModelTarget::new(Config::default(), scheduler);
            if let Some(cover) = &options.cover {
                target.watch(cover.onlooker());
            }
            (Inner::Model(Box::new(target)), None)
        }
        TargetKind::Rtl | TargetKind::Netlist => open_engine(kind, node, seed, options)?,
    };
    let injected = options.inject.and_then(Inject::breach);
    Ok(AnyTarget {
        inner,
        kind,
        paused: false,
        border: options.breach.or(injected).map(Border::new),
        counts: options.cover.clone().zip(data),
    })
}

#[cfg(feature = "rtl")]
fn open_engine(
    kind: TargetKind,
    node: &str,
    seed: u64,
    options: &TargetOptions,
) -> Result<(Inner, Option<TempPath>), HalError> {
    use tandem_cosim::bus::Traffic;
    use tandem_cosim::{Build, Fault, Options, RtlTarget, Wave};
    use tandem_model::engine::Watch;

    /// A beat of a frame that is longer than an acknowledge.
    const BEAT: u64 = 8;

    let netlist = kind == TargetKind::Netlist;
    // A netlist has no waves.
    let waves = options.waves.as_ref().filter(|_| !netlist);
    let wave = waves.map(|waves| Wave {
        path: waves.file(node),
        from: waves.from.get(node).copied().unwrap_or(0),
    });
    let counts = cfg!(feature = "coverage") && options.cover.is_some();
    let build = match (&wave, counts) {
        _ if netlist => Build::Netlist,
        (Some(_), _) => Build::Debug,
        (None, true) => Build::Coverage,
        (None, false) if options.debug => Build::Debug,
        (None, false) => Build::Fast,
    };
    let data = match build {
        Build::Coverage => Some(data_file().map_err(|error| stopped(&error))?),
        _ => None,
    };
    let target = RtlTarget::new(Options {
        node: node.into(),
        seed,
        traffic: match options.ideal_buses {
            true => Traffic::IDEAL,
            false => Traffic::RANDOM,
        },
        lockstep: !options.unchecked,
        build,
        wave,
        coverage: data.as_ref().map(|path| path.to_path_buf()),
        watch: options
            .cover
            .as_ref()
            .map(|cover| Watch::new(cover.onlooker())),
        keep_inputs: options.keep_inputs,
        record: options.windows.get(node).cloned(),
        fault: options.inject.and_then(|inject| match inject {
            Inject::Frame => Some(Fault::FrameBit { beat: BEAT }),
            Inject::Burst => Some(Fault::FixedBurst),
            Inject::Answer => Some(Fault::StrayAnswer),
            Inject::Twin => Some(Fault::TwinBit { beat: BEAT }),
            Inject::Payload | Inject::Refusal | Inject::Doorbell => None,
        }),
        ..Options::default()
    })?;
    Ok((Inner::Rtl(Box::new(target)), data))
}

#[cfg(feature = "rtl")]
fn kind_of(trouble: tandem_cosim::Trouble) -> FailureKind {
    use tandem_cosim::Trouble;
    match trouble {
        Trouble::Divergence => FailureKind::Divergence,
        Trouble::BusRule => FailureKind::AxiViolation,
        Trouble::Assertion => FailureKind::Assertion,
        Trouble::TimeOut => FailureKind::TimeOut,
        Trouble::Netlist => FailureKind::Netlist,
        Trouble::Simulator => FailureKind::Stopped,
    }
}

#[cfg(not(feature = "rtl"))]
fn open_engine(
    _: TargetKind,
    _: &str,
    _: u64,
    _: &TargetOptions,
) -> Result<(Inner, Option<TempPath>), HalError> {
    Err(stopped(
        &"this program was built without the engine (feature `rtl`)",
    ))
}

/// A file for what an engine counts, taken away with the value.
#[cfg(feature = "rtl")]
fn data_file() -> std::io::Result<TempPath> {
    let file = tempfile::Builder::new().suffix(".dat").tempfile()?;
    Ok(file.into_temp_path())
}

fn stopped(cause: &dyn std::fmt::Display) -> HalError {
    HalError::Stopped(cause.to_string())
}

/// A number that differs from node to node.
fn fingerprint(node: &str) -> u64 {
    node.bytes().fold(0, |sum: u64, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    })
}

impl AnyTarget {
    /// Its kind.
    pub fn kind(&self) -> TargetKind {
        self.kind
    }

    /// What is wrong with it.
    pub(crate) fn breach(&self) -> Option<Breach> {
        self.border.as_ref().map(Border::breach)
    }

    /// What was checked; complete after [`Target::finish`].
    pub fn checked(&self) -> Checked {
        match &self.inner {
            Inner::Model(target) => Checked {
                clocks: target.now(),
                ..Checked::default()
            },
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => Checked {
                clocks: target.now(),
                actions: target.summary().map_or(0, |summary| summary.actions),
                ports: target.ports(),
            },
        }
    }

    /// Whether the network takes nothing that it sends. No timer counts the time.
    pub fn pause(&mut self, paused: bool) {
        match &mut self.inner {
            // It makes no frames then: see `advance`.
            Inner::Model(_) => self.paused = paused,
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => target.pause(paused),
        }
    }

    /// Whether a timer runs: something will happen, although nothing goes on.
    ///
    /// # Errors
    /// If the target has stopped.
    pub fn timer_runs(&mut self) -> Result<bool, HalError> {
        match &mut self.inner {
            Inner::Model(target) => Ok(target.next_deadline().is_some()),
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => target.timer_runs(),
        }
    }

    /// Clocks a bare engine with the inputs that were kept, without a bench. A model has none.
    ///
    /// # Errors
    /// What stopped it.
    pub fn replay(&self) -> Result<(), HalError> {
        match &self.inner {
            Inner::Model(_) => Ok(()),
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => target.replay(),
        }
    }

    /// Clock of an engine at which to look for what went wrong: that of the divergence, or in which it stopped; else the
    /// last one in which it did something.
    pub fn scene(&self) -> Option<u64> {
        match &self.inner {
            Inner::Model(_) => None,
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => Some(match (target.divergence(), self.trouble()) {
                (Some(divergence), _) => divergence.cycle,
                (None, None | Some(FailureKind::TimeOut)) => target.last_active(),
                (None, Some(_)) => target.now(),
            }),
        }
    }

    /// What sort of failure stopped it.
    pub fn trouble(&self) -> Option<FailureKind> {
        match &self.inner {
            Inner::Model(_) => None,
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => target.trouble().map(kind_of),
        }
    }

    /// What its ports did, as far as that was to be recorded.
    pub fn timing(&self) -> Option<Timing> {
        match &self.inner {
            Inner::Model(_) => None,
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => Timing::of(target.recorded(), self.scene()?),
        }
    }

    fn get(&self) -> &dyn Target {
        match &self.inner {
            Inner::Model(target) => target.as_ref(),
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => target.as_ref(),
        }
    }

    fn get_mut(&mut self) -> &mut dyn Target {
        match &mut self.inner {
            Inner::Model(target) => target.as_mut(),
            #[cfg(feature = "rtl")]
            Inner::Rtl(target) => target.as_mut(),
        }
    }
}

impl Hal for AnyTarget {
    fn read_register(&mut self, offset: u32) -> Result<u32, HalError> {
        self.get_mut().read_register(offset)
    }
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), HalError> {
        let Some(border) = &mut self.border else {
            return self.get_mut().write_register(offset, value);
        };
        let writes = border.register_writes(offset, value);
        let mut writes = writes.into_iter();
        writes.try_for_each(|(offset, value)| self.get_mut().write_register(offset, value))
    }
    fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), HalError> {
        self.get_mut().read_memory(address, bytes)?;
        if let Some(border) = &self.border {
            border.read(address, bytes);
        }
        Ok(())
    }
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), HalError> {
        match &self.border {
            Some(border) => {
                let bytes = border.written(address, bytes);
                self.get_mut().write_memory(address, &bytes)
            }
            None => self.get_mut().write_memory(address, bytes),
        }
    }
    fn allocate(&mut self, length: usize, align: u64) -> Result<u64, HalError> {
        self.get_mut().allocate(length, align)
    }
    fn interrupt(&mut self) -> Result<bool, HalError> {
        self.get_mut().interrupt()
    }
}

impl Target for AnyTarget {
    fn send_frame(&mut self, frame: &[u8]) -> Result<(), HalError> {
        self.get_mut().send_frame(frame)
    }
    fn take_frames(&mut self) -> Result<Vec<Vec<u8>>, HalError> {
        let frames = self.get_mut().take_frames()?;
        Ok(match self.breach() {
            Some(breach) => {
                let frames = frames.into_iter();
                frames.filter_map(|frame| breach.sent(frame)).collect()
            }
            None => frames,
        })
    }
    fn advance(&mut self, steps: u32) -> Result<bool, HalError> {
        if self.paused {
            // A model has no stream that could stall: while it is paused, time stands still for it.
            return Ok(false);
        }
        self.get_mut().advance(steps)
    }
    fn next_deadline(&self) -> Option<u64> {
        self.get().next_deadline()
    }
    fn now(&self) -> u64 {
        self.get().now()
    }
    fn finish(&mut self) -> Result<(), HalError> {
        self.get_mut().finish()?;
        match self.counts.take() {
            Some((cover, data)) => cover
                .take_code(&data)
                .map_err(|error| HalError::Stopped(error.to_string())),
            None => Ok(()),
        }
    }
}
