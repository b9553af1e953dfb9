//! Running a vector of either kind: steps, or random traffic.

use crate::traffic;
use crate::vector::Vector;
use crate::world::{self, Failure, Report, RunOptions};

/// Runs a vector.
///
/// # Errors
/// The first thing that is not as it should be.
pub fn run(vector: &Vector, options: &RunOptions) -> Result<Report, Failure> {
    let Some(wanted) = &vector.head.traffic else {
        return world::run(vector, options);
    };
    match traffic::run(wanted, options, &|_| {}) {
        Ok(report) => Ok(Report {
            frames: report.frames,
            checked: report.checked,
            ..Report::default()
        }),
        Err(failure) => Err(failure.at(wanted.span())),
    }
}
