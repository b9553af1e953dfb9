//! Measurements, as ratios and counts within one run: what they say does not depend on the machine, except where
//! it says so.

mod effort;
mod goodput;
mod regressions;
mod rig;
mod speed;

use tandem_model::ndk::OpFlags;
use thiserror::Error;

use crate::regress::RegressError;
use crate::targets::TargetOptions;
use crate::vector::TargetKind;
use crate::world::WorldError;
use effort::Effort;
pub use effort::processor_seconds;
pub(crate) use effort::thread_seconds;
use rig::{Rig, Shape};

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct MeasureOptions {
    /// Work requests of the measurements on the model.
    pub model_requests: u32,
    /// Work requests of the measurements on the engine.
    pub engine_requests: u32,
    /// Whether the engine is measured at all.
    pub engine: bool,
    /// Seed.
    pub seed: u64,
}

/// One figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Whether it depends on the machine.
    pub machine: bool,
}

impl Figure {
    fn new(name: impl Into<String>, value: f64, unit: &'static str, machine: bool) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            machine,
        }
    }
}

/// Bytes of a beat of the frame stream.
const BEAT: usize = 8;
/// Clocks between two looks at the network where frames are counted.
const FINE: u32 = 8;
/// Clocks between two looks where only speed counts.
const COARSE: u32 = 256;

/// Why there are no figures.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The world stopped.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A regression could not go on.
    #[error(transparent)]
    Regress(#[from] RegressError),
    /// A run of a regression failed.
    #[error("a run of the regression failed: {0}")]
    Run(String),
    /// Something was sent again that need not be, or not as often as it must.
    #[error("{what}: {counted} {counter}, expected {expected}")]
    Retransmissions {
        /// What was done.
        what: String,
        /// The counter.
        counter: &'static str,
        /// Its value.
        counted: u32,
        /// What it must be.
        expected: u32,
    },
}

type Result<T> = std::result::Result<T, MeasureError>;

/// Makes all measurements; `tell` is told each one as it begins.
///
/// # Errors
/// What stopped one.
pub fn measure(options: &MeasureOptions, tell: &dyn Fn(&str)) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    tell("64-byte silent sends on the golden model");
    let rate = model_rate(options)?;
    figures.push(Figure::new(
        "golden model with provider: 64-byte sends",
        rate,
        "requests/s",
        true,
    ));
    tell("what losses cost on the golden model");
    goodput::counts(&mut figures, options, TargetKind::Model)?;
    if !options.engine {
        return Ok(figures);
    }
    tell("the engine bare, on the bench, and in lockstep");
    figures.extend(speed::measure(options)?);
    for queue_pairs in [1, 16] {
        tell("clocks of a 64-byte silent send");
        let clocks = clocks_per_send(options, queue_pairs)?;
        let name = format!("64-byte silent send, {queue_pairs} queue pairs");
        figures.push(Figure::new(name, clocks, "clocks", false));
    }
    for (name, length, count) in [("1 KiB", 1024, 64), ("1 MiB", 1 << 20, 1)] {
        tell("utilisation of the frame stream");
        let utilisation = utilisation(options, length, count)?;
        let name = format!("writes of {name}: beats with data");
        figures.push(Figure::new(name, 100.0 * utilisation, "%", false));
    }
    tell("what losses cost on the engine");
    goodput::counts(&mut figures, options, TargetKind::Rtl)?;
    goodput::goodput(&mut figures, options, TargetKind::Rtl)?;
    Ok(figures)
}

/// Measures regressions: how busy they keep the processors, and how their time grows with the work requests of a run, of which
/// there are so many on each target; `tell` is told each measurement as it begins.
///
/// # Errors
/// What stopped one.
pub fn measure_regressions(
    requests: &[(TargetKind, u64)],
    tell: &dyn Fn(&str),
) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (kind, requests) in requests {
        tell(&format!("regressions on target {kind}"));
        regressions::measure(&mut figures, *requests, *kind)?;
    }
    Ok(figures)
}

/// Targets that nothing disturbs, without a checker.
fn targets(options: &MeasureOptions) -> TargetOptions {
    TargetOptions {
        seed: options.seed,
        unchecked: true,
        ideal_buses: true,
        ..TargetOptions::default()
    }
}

/// Requests that go out at once.
const BATCH: u32 = 64;

/// Sends a number of silent 64-byte messages in batches, the last of each with a completion.
fn sends(rig: &mut Rig, requests: u32) -> Result<u32> {
    let mut sent = 0;
    while sent < requests {
        rig.receives(BATCH)?;
        for turn in 1..=BATCH {
            let flags = match turn {
                BATCH => OpFlags::NONE,
                _ => OpFlags::SILENT_SUCCESS | OpFlags::DEFER,
            };
            rig.send(64, flags)?;
        }
        rig.complete(1, BATCH as usize)?;
        sent += BATCH;
    }
    Ok(sent)
}

fn model_rate(options: &MeasureOptions) -> Result<f64> {
    let shape = Shape::of(&[TargetKind::Model; 2], COARSE);
    let mut rig = Rig::new(shape, &targets(options))?;
    let start = Effort::now();
    let sent = sends(&mut rig, options.model_requests)?;
    Ok(f64::from(sent) / start.since().own)
}

/// Clocks from frame to frame, with all requests there from the start.
fn clocks_per_send(options: &MeasureOptions, queue_pairs: u32) -> Result<f64> {
    const SENDS: u32 = 512;
    let shape = Shape {
        queue_pairs,
        keep: true,
        ..Shape::of(&[TargetKind::Rtl, TargetKind::Model], FINE)
    };
    let mut rig = Rig::new(shape, &targets(options))?;
    let each = SENDS / queue_pairs;
    rig.receives(each)?;
    for turn in 1..=each {
        for pair in 0..queue_pairs {
            let flags = match turn == each {
                true => OpFlags::NONE,
                false => OpFlags::SILENT_SUCCESS | OpFlags::DEFER,
            };
            rig.send_on(pair as usize, 64, flags)?;
        }
    }
    rig.complete(queue_pairs as usize, SENDS as usize)?;
    let clocks: Vec<u64> = rig.frames().map(|(clock, _)| clock).collect();
    // The first and the last eighth belong to starting and ending.
    let skip = clocks.len() / 8;
    let middle = clocks.get(skip..clocks.len() - skip).unwrap_or(&clocks);
    let (Some(first), Some(last)) = (middle.first(), middle.last()) else {
        return Ok(0.0);
    };
    Ok((last - first) as f64 / (middle.len().max(2) - 1) as f64)
}

/// Beats with data among all clocks, from frame to frame.
fn utilisation(options: &MeasureOptions, length: u32, count: u32) -> Result<f64> {
    let shape = Shape {
        keep: true,
        ..Shape::of(&[TargetKind::Rtl, TargetKind::Model], FINE)
    };
    let mut rig = Rig::new(shape, &targets(options))?;
    for turn in 1..=count {
        let flags = match turn == count {
            true => OpFlags::NONE,
            false => OpFlags::SILENT_SUCCESS | OpFlags::DEFER,
        };
        rig.write(length, flags)?;
    }
    rig.complete(1, 0)?;
    let frames: Vec<(u64, usize)> = rig.frames().collect();
    let skip = frames.len() / 8;
    let middle = frames.get(skip..frames.len() - skip).unwrap_or(&frames);
    let (Some(first), Some(last)) = (middle.first(), middle.last()) else {
        return Ok(0.0);
    };
    // From the end of the first frame to the end of the last one.
    let beats: usize = middle
        .iter()
        .skip(1)
        .map(|(_, length)| length.div_ceil(BEAT))
        .sum();
    Ok(beats as f64 / (last.0 - first.0).max(1) as f64)
}
