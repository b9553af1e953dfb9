//! Signoff: everything that is known of a commit on one page, with a verdict and the reasons for it.
//!
//! What was done is put together as a [`Signoff`]; [`Signoff::verdict`] decides, [`page`] shows it.

mod evidence;
pub mod page;
mod plan;
mod source;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

pub use evidence::{Evidence, EvidenceError, Finding};
pub use plan::{BugRow, Claim, Outcomes, PlanRow, Standing, bug_rows, plan_rows};
pub use source::{Annotated, Line, annotate};

use crate::coverage::code::Kind;
use crate::coverage::report::Report as Coverage;
use crate::timing::Timings;
use crate::world::FailureKind;

/// What has to be covered, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wanted {
    /// Bins of cover points.
    pub functional: f64,
    /// Lines of the RTL.
    pub lines: f64,
    /// Bits of its signals, both ways.
    pub toggles: f64,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            functional: 100.0,
            lines: 98.0,
            toggles: 90.0,
        }
    }
}

/// Something that was done for it.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// The command that does it alone.
    pub command: String,
    /// Whether it passed; `None`: it was left out.
    pub passed: Option<bool>,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What came of it, in a sentence.
    pub summary: String,
    /// What it printed, if it failed.
    pub output: String,
}

/// A vector that ran.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// Its name, with the case.
    pub title: String,
    /// Its file.
    pub file: PathBuf,
    /// Seed.
    pub seed: u64,
    /// Whether it passed.
    pub passed: bool,
    /// Frames.
    pub frames: u64,
    /// Clocks.
    pub clocks: u64,
    /// Decisions checked.
    pub actions: u64,
    /// Seconds.
    pub seconds: f64,
}

/// Something that failed.
#[derive(Clone, Debug, Serialize)]
pub struct FailureRow {
    /// What.
    pub title: String,
    /// What sort of failure it is.
    pub kind: FailureKind,
    /// How, in a sentence.
    pub message: String,
    /// All that is known of it.
    pub report: String,
    /// The command that does it again.
    pub command: String,
    /// Files that were left behind.
    pub files: Vec<PathBuf>,
    /// What the ports of engines did at that spot, if it was recorded.
    pub timing: Timings,
}

/// See the module.
#[derive(Clone, Debug, Serialize)]
pub struct Signoff {
    /// Commit, with `+` if files differ from it; `None` outside a repository.
    pub commit: Option<String>,
    /// When it was made (RFC 3339).
    pub made: String,
    /// Command line.
    pub command: String,
    /// What nodes ran on.
    pub target: String,
    /// Seeds of random traffic and of random moves.
    pub seeds: Vec<u64>,
    /// Tools and their versions.
    pub tools: BTreeMap<String, String>,
    /// What was done.
    pub steps: Vec<Step>,
    /// The plan, requirement by requirement.
    pub plan: Vec<PlanRow>,
    /// Faults of others.
    pub field_bugs: Vec<BugRow>,
    /// Coverage, if it was counted.
    pub coverage: Option<Coverage>,
    /// What had to be covered.
    pub wanted: Wanted,
    /// Source files with counts of their lines.
    #[serde(skip)]
    pub sources: Vec<Annotated>,
    /// What others found out about the same commit.
    pub evidence: Vec<Evidence>,
    /// Vectors that ran.
    pub runs: Vec<RunRow>,
    /// What failed.
    pub failures: Vec<FailureRow>,
}

/// Why it is not signed off; nothing: it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// In words, the gravest first.
    pub against: Vec<String>,
}

impl Verdict {
    /// Whether it is signed off.
    pub fn is_passed(&self) -> bool {
        self.against.is_empty()
    }
}

impl Signoff {
    /// Decides.
    pub fn verdict(&self) -> Verdict {
        let mut against = Vec::new();
        for step in self.steps.iter().filter(|step| step.passed != Some(true)) {
            against.push(match step.passed {
                None => format!("{} was left out", step.name),
                _ => format!("{} failed: {}", step.name, step.summary),
            });
        }
        for evidence in self.evidence.iter().filter(|found| !found.passed) {
            against.push(format!("{}: {}", evidence.name, evidence.summary));
        }
        let count = |standing| {
            let rows = self.plan.iter();
            rows.filter(|row| row.standing == standing).count()
        };
        for (standing, words) in [
            (Standing::Failed, "requirements have a vector that failed"),
            (Standing::Forgotten, "requirements are covered by nothing"),
            (Standing::Open, "requirements are known to be open"),
        ] {
            match count(standing) {
                0 => {}
                number => against.push(format!("{number} {words}")),
            }
        }
        let bugs = self.field_bugs.iter().filter(|bug| bug.is_open()).count();
        if bugs > 0 {
            against.push(format!("{bugs} faults of others are shown by nothing"));
        }
        against.extend(self.uncovered());
        Verdict { against }
    }

    /// What is covered too little.
    fn uncovered(&self) -> Vec<String> {
        let Some(coverage) = &self.coverage else {
            return vec!["coverage was not counted".into()];
        };
        let code = |kind| coverage.code.get(&kind).copied().unwrap_or_default();
        let wanted = [
            (
                self.wanted.functional,
                coverage.functional,
                "bins of cover points",
            ),
            (self.wanted.lines, code(Kind::Line), "lines of the RTL"),
            (
                self.wanted.toggles,
                code(Kind::Toggle),
                "bits of its signals",
            ),
        ];
        let mut against: Vec<String> = wanted
            .into_iter()
            .filter_map(|(wanted, share, what)| match share.total {
                0 => Some(format!("{what} were not counted")),
                _ if share.percent() >= wanted => None,
                _ => Some(format!(
                    "{:.2} % of the {what} are covered, and {wanted} % are asked for",
                    share.percent()
                )),
            })
            .collect();
        if !coverage.refuted.is_empty() {
            let refuted = coverage.refuted.len();
            against.push(format!("{refuted} waivers are refuted"));
        }
        against
    }
}
