//! What the bench costs: the same clocks of one engine in a bare loop of C++, on the bench, and in lockstep.
//!
//! One engine sends to itself, so that no model of a peer is in the figures. Its inputs are kept and played
//! again without a bench. What counts is the time on a processor of the thread that simulates; the checker has
//! another thread, and holds the first one up only if it works longer.

use tandem_model::ndk::OpFlags;

use super::effort::Effort;
use super::rig::{Rig, Shape};
use super::{COARSE, Figure, MeasureOptions, Result, sends, targets};
use crate::targets::TargetOptions;
use crate::vector::TargetKind;

/// Each is measured so often, in turns, and the best counts: what else the machine does slows some of them down.
const TURNS: u32 = 5;

/// Clocks of a run, and the time that it took.
struct Run {
    clocks: u64,
    effort: Effort,
}

impl Run {
    fn seconds_per_clock(&self) -> f64 {
        self.effort.own / self.clocks.max(1) as f64
    }
}

/// The figures, on buses of both kinds.
pub(super) fn measure(options: &MeasureOptions) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (buses, ideal_buses) in [("ideal buses", true), ("disturbed buses", false)] {
        let unchecked = TargetOptions {
            ideal_buses,
            ..targets(options)
        };
        let checked = TargetOptions {
            unchecked: false,
            ..unchecked.clone()
        };
        let (mut best, mut checker) = ([f64::MAX; 3], f64::MAX);
        for _ in 0..TURNS {
            let turn = [
                bare(options, &unchecked)?,
                run(options, &unchecked)?,
                run(options, &checked)?,
            ];
            for (best, run) in best.iter_mut().zip(&turn) {
                *best = best.min(run.seconds_per_clock());
            }
            let [.., Effort { own, others }] = turn.map(|run| run.effort);
            checker = checker.min(others / own);
        }
        let [bare, bench, lockstep] = best;
        let name = |what: &str| format!("{what}, {buses}");
        figures.extend([
            Figure::new(
                name("engine in a loop of C++"),
                1.0 / bare,
                "clocks/s",
                true,
            ),
            Figure::new("… on the bench : in C++", bare / bench, "", false),
            Figure::new("… in lockstep : in C++", bare / lockstep, "", false),
            Figure::new("… checker's thread : engine's", checker, "", false),
        ]);
    }
    Ok(figures)
}

fn rig(targets: &TargetOptions) -> Result<Rig> {
    Ok(Rig::new(Shape::of(&[TargetKind::Rtl], COARSE), targets)?)
}

fn work(options: &MeasureOptions, rig: &mut Rig) -> Result<()> {
    sends(rig, options.engine_requests)?;
    rig.write(1 << 20, OpFlags::NONE)?;
    Ok(rig.complete(1, 0)?)
}

fn run(options: &MeasureOptions, targets: &TargetOptions) -> Result<Run> {
    let mut rig = rig(targets)?;
    let (start, before) = (Effort::now(), rig.clock());
    work(options, &mut rig)?;
    let run = Run {
        clocks: rig.clock() - before,
        effort: start.since(),
    };
    rig.finish()?;
    Ok(run)
}

/// All clocks of a run, those of its setting up among them.
fn bare(options: &MeasureOptions, targets: &TargetOptions) -> Result<Run> {
    let kept = TargetOptions {
        keep_inputs: true,
        ..targets.clone()
    };
    let mut rig = rig(&kept)?;
    work(options, &mut rig)?;
    let start = Effort::now();
    rig.replay()?;
    Ok(Run {
        clocks: rig.clock(),
        effort: start.since(),
    })
}
