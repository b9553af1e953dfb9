//! What a run that failed on the engine leaves behind: its vector, the report, the frames and the waves.
//!
//! The build of the engine that finds failures is the fast one, which cannot write waves. The seed makes a run, so
//! the run is done once more with the debug build, and that one writes the frames and the waves.

mod record;
mod waves;

use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use thiserror::Error;

pub(crate) use record::cause;
pub use record::{Again, Outcome, Record, RecordError, timings};

use crate::targets::{Choice, Waves};
use crate::timing::{self, Timings};
use crate::vector::{TargetKind, Vector};
use crate::world::{Failure, Report, RunOptions, Scene};
use crate::{runner, traffic};

/// Clocks of waves before the place to look at. Longer ones are large, and seldom looked into.
const WAVE_CLOCKS: u64 = 50_000;
/// Names of the files of a folder.
pub const REPORT: &str = "report.txt";
/// The vector.
pub const VECTOR: &str = "vector.toml";
/// The frames.
pub const FRAMES: &str = "frames.pcapng";
/// How it ran, for programs.
pub const RECORD: &str = "run.json";
/// What the ports of the engines did, for programs.
pub const TIMING: &str = "timing.json";
/// Folders of one name. Whoever has more of them has not looked into the first.
const MAX_FOLDERS: u32 = 1000;

/// A run that failed.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    /// What ran.
    pub vector: &'a Vector,
    /// The text of its file.
    pub text: &'a str,
    /// How it ran.
    pub options: &'a RunOptions,
    /// How it failed.
    pub failure: &'a Failure,
    /// What a person is told about it.
    pub report: &'a str,
}

/// What was left behind.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The vector, a copy.
    pub vector: PathBuf,
    /// All files, the vector among them.
    pub files: Vec<PathBuf>,
    /// What the second run did otherwise than the first, if it did.
    pub note: Option<String>,
    /// What the ports of the engines did where it failed.
    pub timings: Timings,
}

/// Nothing was left behind.
#[derive(Debug, Error)]
#[error("cannot keep the files of this failure: {}: {source}", path.display())]
pub struct KeepError {
    path: PathBuf,
    source: io::Error,
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> KeepError {
    |source| KeepError {
        path: path.into(),
        source,
    }
}

/// Nodes of a run, with the targets that its vector names.
pub(crate) fn nodes(vector: &Vector) -> Vec<(&str, Option<TargetKind>)> {
    match vector.head.traffic {
        Some(_) => traffic::NODES.iter().map(|name| (*name, None)).collect(),
        None => {
            let nodes = vector.head.node.iter();
            nodes
                .map(|(name, node)| (name.as_str(), node.target))
                .collect()
        }
    }
}

/// Nodes of a run that are engines.
pub fn engines<'a>(vector: &'a Vector, options: &RunOptions) -> Vec<&'a str> {
    let engine = |(name, own): &(&str, _)| options.kind(name, *own).is_engine();
    nodes(vector)
        .into_iter()
        .filter(engine)
        .map(|(name, _)| name)
        .collect()
}

/// Writes the files of a failed run into a new folder in `parent`.
///
/// # Errors
/// If a file cannot be written. Waves may be missing without an error; then the note says why.
pub fn keep(parent: &Path, failed: &Failed<'_>) -> Result<Kept, KeepError> {
    let folder = claim(parent, &folder_name(failed))?;
    let vector = folder.join(VECTOR);
    std::fs::write(&vector, failed.text).map_err(at(&vector))?;
    let record = folder.join(RECORD);
    std::fs::write(&record, Record::of(failed).text()).map_err(at(&record))?;
    // The second run may take long, and be stopped: what is known is written before it.
    let report = folder.join(REPORT);
    let text = format!(
        "{}\n\nrun it again with:\n  {}\n",
        failed.report.trim_end(),
        command(&vector, failed.vector, failed.options)
    );
    std::fs::write(&report, &text).map_err(at(&report))?;
    let (seen, note) = looked_at(&folder, failed);
    if let Some(note) = &note {
        std::fs::write(&report, format!("{text}\n{note}\n")).map_err(at(&report))?;
    }

    let mut looks = diagrams(&folder, &seen.timings)?;
    for (node, clock) in &seen.scene {
        let file = folder.join(format!("wave.{node}.fst"));
        if !file.is_file() {
            continue;
        }
        let spot = waves::Spot {
            file: &file,
            clock: *clock,
            report: failed.report,
        };
        for (extension, text) in [("gtkw", spot.gtkwave()), ("sucl", spot.surfer())] {
            let look = file.with_extension(extension);
            std::fs::write(&look, text).map_err(at(&look))?;
            looks.push(look);
        }
    }

    let mut files = vec![report, record, vector.clone(), folder.join(FRAMES)];
    let engines = engines(failed.vector, failed.options).into_iter();
    files.extend(engines.map(|node| folder.join(format!("wave.{node}.fst"))));
    files.extend(looks);
    files.retain(|file| file.is_file());
    Ok(Kept {
        vector,
        files,
        note,
        timings: seen.timings,
    })
}

/// Does the run once more to write frames and waves; what it did otherwise, in words. With its assertions the debug
/// build may stop long before what the fast one found: then that is the place to look at, and a third run looks there.
fn looked_at(folder: &Path, failed: &Failed<'_>) -> (Failure, Option<String>) {
    let second = around(folder, failed, &failed.failure.scene);
    let note = compare(failed.failure, &second);
    let seen = match second {
        Ok(_) => failed.failure.clone(),
        Err(second) if note.is_some() && second.scene != failed.failure.scene => {
            let third = around(folder, failed, &second.scene);
            third.err().unwrap_or(second)
        }
        Err(second) => second,
    };
    (seen, note)
}

/// Does the run once more, with eyes on a clock of each engine.
fn around(folder: &Path, failed: &Failed<'_>, scene: &Scene) -> Result<Report, Failure> {
    let clocks = || scene.iter().map(|(node, clock)| (node.clone(), *clock));
    let options = RunOptions {
        waves: Some(Waves {
            path: folder.join("wave.fst"),
            from: clocks()
                .map(|(node, clock)| (node, clock.saturating_sub(WAVE_CLOCKS)))
                .collect(),
        }),
        windows: clocks()
            .map(|(node, clock)| (node, timing::window(clock)))
            .collect(),
        cover: None,
        capture: Some(folder.join(FRAMES)),
        ..failed.options.clone()
    };
    runner::run(failed.vector, &options)
}

/// Writes what the ports did: for programs, and as pictures.
fn diagrams(folder: &Path, timings: &Timings) -> Result<Vec<PathBuf>, KeepError> {
    if timings.is_empty() {
        return Ok(Vec::new());
    }
    let file = folder.join(TIMING);
    // Writing plain values to a string does not fail.
    let text = serde_json::to_string_pretty(timings).unwrap_or_default();
    std::fs::write(&file, text + "\n").map_err(at(&file))?;
    let mut files = vec![file];
    for (node, timing) in timings {
        let file = folder.join(format!("timing.{node}.svg"));
        std::fs::write(&file, timing.svg(node)).map_err(at(&file))?;
        files.push(file);
    }
    Ok(files)
}

/// What the second run did otherwise.
fn compare(first: &Failure, second: &Result<Report, Failure>) -> Option<String> {
    match second {
        Ok(_) => Some("With the debug build the run passed.".into()),
        Err(second) => {
            let (first, second) = (Outcome::of(first), Outcome::of(second));
            // Steps do not count: a divergence is found some time after its clock, as fast as the checker is.
            (second.words() != first.words()).then(|| {
                let (kind, words) = (second.kind, second.words());
                format!("With the debug build the run ended otherwise ({kind}):\n{words}")
            })
        }
    }
}

/// The command that does a run again.
pub fn command(file: &Path, vector: &Vector, options: &RunOptions) -> String {
    let mut command = format!("tandem run {}{}", file.display(), run_words(options));
    if vector.head.scheduler.is_some() && options.choice == Choice::default() {
        // The vector would choose another one.
        command.push_str(" --scheduler fair");
    }
    if !vector.case.is_empty() {
        command.push_str(&format!(" --case '[{}]'", vector.case));
    }
    command
}

/// Options of a run, as the command line takes them.
pub fn run_words(options: &RunOptions) -> String {
    let mut words = format!(
        " --target {} --seed {}",
        options.target_words(),
        options.seed
    );
    if options.choice != Choice::default()
        && let Some(choice) = options.choice.to_possible_value()
    {
        words.push_str(&format!(" --scheduler {}", choice.get_name()));
    }
    if options.debug {
        words.push_str(" --debug");
    }
    if let Some(inject) = options.inject.and_then(|inject| inject.to_possible_value()) {
        words.push_str(&format!(" --inject {}", inject.get_name()));
    }
    words
}

/// Title and seed, in characters that every file system takes.
fn folder_name(failed: &Failed<'_>) -> String {
    let mut name = String::new();
    for c in failed.vector.title().chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.truncate(80);
    format!("{}-seed{}", name.trim_end_matches('-'), failed.options.seed)
}

/// A new folder. What an earlier run left behind stays.
fn claim(parent: &Path, name: &str) -> Result<PathBuf, KeepError> {
    std::fs::create_dir_all(parent).map_err(at(parent))?;
    let mut folder = parent.join(name);
    for number in 2..=MAX_FOLDERS {
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder = parent.join(format!("{name}-{number}"));
            }
            other => return other.map(|()| folder.clone()).map_err(at(&folder)),
        }
    }
    let full = io::Error::other("too many failures of this name are kept already");
    Err(at(&folder)(full))
}
