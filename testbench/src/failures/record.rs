//! How a run that failed was done, for a program that does it again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Failed, RECORD, TIMING, VECTOR};
use crate::targets::{Choice, Inject};
use crate::timing::Timings;
use crate::vector::{self, TargetKind, Vector, VectorError, VectorFile};
use crate::world::{Failure, FailureKind, RunOptions, Scene};

/// Why a folder cannot be used.
#[derive(Debug, Error)]
pub enum RecordError {
    /// It is none of ours, or an old one.
    #[error(
        "{} is not the folder of a kept failure: it has no {RECORD} (older ones have none; report.txt has the command)",
        path.display()
    )]
    None {
        /// The folder.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file says something else.
    #[error("{}, line {line}, column {column}: {cause}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
        /// Where in it.
        column: usize,
        /// What is wrong.
        cause: String,
    },
    /// The vector beside it is wrong.
    #[error(transparent)]
    Vector(#[from] VectorError),
    /// The vector has no such case.
    #[error("{} has no case `{case}`", path.display())]
    Case {
        /// The vector.
        path: PathBuf,
        /// The case.
        case: String,
    },
}

/// How a run failed, as far as it can be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What sort of failure it is.
    pub kind: FailureKind,
    /// In a sentence.
    pub message: String,
    /// The step, counted from 1.
    pub step: Option<usize>,
    /// A report of several lines, if there is one.
    pub detail: Option<String>,
    /// Clock of each engine at which to look.
    pub scene: Scene,
}

impl Outcome {
    /// That of a failure.
    pub fn of(failure: &Failure) -> Self {
        Self {
            kind: failure.kind,
            message: failure.fault.message.clone(),
            step: failure.step,
            detail: failure.detail.clone(),
            scene: failure.scene.clone(),
        }
    }

    /// What a person compares: the report if there is one, else the sentence.
    pub fn words(&self) -> &str {
        self.detail.as_deref().unwrap_or(&self.message)
    }

    /// What stays when the run becomes smaller, which is all but the numbers.
    pub fn gist(&self) -> String {
        let message = match (self.step, self.message.split_once(": ")) {
            (Some(_), Some((step, rest))) if step.starts_with("step ") => rest,
            _ => self.message.as_str(),
        };
        let difference = self.detail.as_deref().and_then(|detail| {
            let mut lines = detail.lines().filter(|line| !line.trim().is_empty());
            lines
                .find(|line| !line.starts_with("engine, action") && !line.contains("divergence on"))
        });
        let mut gist = without_numbers(message);
        if let Some(difference) = difference {
            gist.push('\n');
            gist.push_str(&without_numbers(difference));
        }
        gist
    }
}

/// Numbers of either base become `#`.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_digit = |c: char| c.is_ascii_digit();
        let length = match rest.strip_prefix("0x") {
            Some(digits) => {
                2 + digits.len()
                    - digits
                        .trim_start_matches(|c: char| c.is_ascii_hexdigit())
                        .len()
            }
            None => rest.len() - rest.trim_start_matches(is_digit).len(),
        };
        match length {
            0 => {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
            length => {
                out.push('#');
                rest = rest.get(length..).unwrap_or_default();
            }
        }
    }
    out
}

/// See the module; it is the file `run.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Name of the vector, with its case.
    pub title: String,
    /// The case alone; empty if the vector has none.
    pub case: String,
    /// Target of nodes that do not say.
    pub target: TargetKind,
    /// Targets of nodes by their names.
    pub nodes: BTreeMap<String, TargetKind>,
    /// Seed.
    pub seed: u64,
    /// Choices of the model.
    pub scheduler: Choice,
    /// Whether the engine's build was the one with assertions.
    pub debug: bool,
    /// What was wrong with the engines on purpose.
    pub inject: Option<Inject>,
    /// How it failed.
    pub failure: Outcome,
}

/// All that it takes to do a run again.
#[derive(Clone, Debug)]
pub struct Again {
    /// How it ran.
    pub record: Record,
    /// Its file.
    pub file: VectorFile,
    /// The one of its vectors that ran.
    pub vector: Vector,
}

impl Record {
    /// That of a failed run.
    pub(super) fn of(failed: &Failed<'_>) -> Self {
        let options = failed.options;
        Self {
            title: failed.vector.title(),
            case: failed.vector.case.clone(),
            target: options.target,
            nodes: options.node_targets.clone(),
            seed: options.seed,
            scheduler: options.choice,
            debug: options.debug,
            inject: options.inject,
            failure: Outcome::of(failed.failure),
        }
    }

    /// The file.
    pub(super) fn text(&self) -> String {
        // Writing plain values to a string does not fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads that of a folder.
    ///
    /// # Errors
    /// The folder has none, or one that says something else.
    pub fn read(folder: &Path) -> Result<Self, RecordError> {
        let path = folder.join(RECORD);
        if folder.is_dir() && !path.exists() {
            return Err(RecordError::None {
                path: folder.into(),
            });
        }
        read_json(&path)
    }

    /// How to run it.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            target: self.target,
            node_targets: self.nodes.clone(),
            seed: self.seed,
            choice: self.scheduler,
            debug: self.debug,
            inject: self.inject,
            ..RunOptions::default()
        }
    }
}

impl Again {
    /// Reads a folder.
    ///
    /// # Errors
    /// It is none of ours, or something in it is wrong.
    pub fn read(folder: &Path) -> Result<Self, RecordError> {
        let record = Record::read(folder)?;
        let file = vector::load(&folder.join(VECTOR))?;
        let vector = file
            .vectors
            .iter()
            .find(|vector| vector.case == record.case);
        let vector = vector.cloned().ok_or_else(|| RecordError::Case {
            path: file.path.clone(),
            case: record.case.clone(),
        })?;
        Ok(Self {
            record,
            file,
            vector,
        })
    }
}

/// What the ports of the engines did, as far as a folder has it.
///
/// # Errors
/// The file says something else.
pub fn timings(folder: &Path) -> Result<Timings, RecordError> {
    let path = folder.join(TIMING);
    match path.exists() {
        true => read_json(&path),
        false => Ok(Timings::new()),
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    let text = std::fs::read_to_string(path).map_err(|source| RecordError::Read {
        path: path.into(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|error| RecordError::Text {
        path: path.into(),
        line: error.line(),
        column: error.column(),
        cause: cause(&error),
    })
}

/// What is wrong, without the place, which stands in front.
pub(crate) fn cause(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(message: &str, step: Option<usize>, detail: Option<&str>) -> Outcome {
        Outcome {
            kind: FailureKind::WrongResult,
            message: message.into(),
            step,
            detail: detail.map(str::to_owned),
            scene: Scene::new(),
        }
    }

    #[test]
    fn numbers_do_not_make_another_gist() {
        let one = outcome(
            "step 5: memory `m` differs at byte 63 of 0xff",
            Some(5),
            None,
        );
        let other = outcome(
            "step 2: memory `m` differs at byte 0 of 0x1a",
            Some(2),
            None,
        );
        assert_eq!(one.gist(), other.gist());
        assert_eq!(one.gist(), "memory `m` differs at byte # of #");
        let third = outcome(
            "step 2: memory `n` differs at byte 0 of 0x1a",
            Some(2),
            None,
        );
        assert_ne!(other.gist(), third.gist());
    }

    #[test]
    fn the_difference_of_a_divergence_is_of_its_gist() {
        let head = "node a: divergence on node a in cycle 12 (seed 1): look in room wire";
        let detail = |line: &str| format!("{head}\nengine, action 3 in cycle 9: SqEmit\n{line}\n");
        let one = outcome(head, None, Some(&detail("frames: expected 64 bytes")));
        let other = outcome(head, None, Some(&detail("reads: expected 64 bytes")));
        assert_ne!(one.gist(), other.gist());
        assert!(
            one.gist().ends_with("frames: expected # bytes"),
            "{}",
            one.gist()
        );
    }
}
