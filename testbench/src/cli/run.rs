//! `tandem run`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::Result;
use serde::Serialize;
use tandem_testbench::coverage::Cover;
use tandem_testbench::failures::{self, Failed, KeepError, Kept};
use tandem_testbench::runner;
use tandem_testbench::signoff::{FailureRow, RunRow};
use tandem_testbench::suite::{self, Item};
use tandem_testbench::targets::Waves;
use tandem_testbench::world::{Failure, Report, RunOptions};

use super::output::Output;
use super::{Targets, failed, junit, paths_or_default, report, summary};

/// Arguments of `run`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Vector files or directories (default: all vectors of the repository)
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    targets: Targets,

    /// Seed of all that is random (default: the vector's, else 1)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Write waves of the engines to `wave.NODE.fst` (one vector only; uses the debug build)
    #[arg(long, value_name = "wave.fst")]
    trace: Option<PathBuf>,

    /// Write the frames to a capture file that Wireshark opens (one vector only)
    #[arg(long, value_name = "out.pcapng")]
    capture: Option<PathBuf>,

    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Vectors that run at the same time
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Run only the case whose name contains this
    #[arg(long, value_name = "TEXT")]
    case: Option<String>,

    #[command(flatten)]
    output: Output,
}

impl Arguments {
    /// All of them as they are if only targets are named.
    pub(super) fn of(targets: &Targets, jobs: Option<usize>, output: Output) -> Self {
        Self {
            paths: Vec::new(),
            targets: targets.clone(),
            seed: None,
            trace: None,
            capture: None,
            junit: None,
            jobs,
            case: None,
            output,
        }
    }
}

/// The run of one vector.
pub struct Run {
    /// Which.
    pub item: Item,
    /// How it ran.
    pub options: RunOptions,
    /// How it went.
    pub outcome: std::result::Result<Report, Failure>,
    /// What is kept of it, if it failed.
    pub kept: Option<std::result::Result<Kept, KeepError>>,
    /// How long it took.
    pub time: Duration,
}

impl Run {
    /// The failure, with all that it is of.
    pub(super) fn failed(&self) -> Option<Failed<'_>> {
        Some(Failed {
            vector: self.item.vector()?,
            text: &self.item.file.text,
            options: &self.options,
            failure: self.outcome.as_ref().err()?,
            report: "",
        })
    }

    /// The run in a table.
    pub(super) fn row(&self) -> RunRow {
        let report = self.outcome.as_ref().ok().cloned().unwrap_or_default();
        RunRow {
            title: self.item.title(),
            file: self.item.file.path.clone(),
            seed: self.options.seed,
            passed: self.outcome.is_ok(),
            frames: report.frames,
            clocks: report.checked.clocks,
            actions: report.checked.actions,
            seconds: self.time.as_secs_f64(),
        }
    }

    /// The failure in a table.
    pub(super) fn failure(&self) -> Option<FailureRow> {
        let found = self.failed()?;
        let path = &self.item.file.path;
        let command = failures::command(path, found.vector, found.options);
        let kept = self.kept.as_ref();
        Some(failed::row(self.item.title(), path, &found, kept, command))
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let start = Instant::now();
    let items = suite::collect(
        &paths_or_default(&arguments.paths),
        arguments.case.as_deref(),
    );
    let items = items.map_err(report::vector)?;
    if items.is_empty() {
        return Err(miette::miette!("no vector has a case with that name"));
    }
    let outputs = [&arguments.trace, &arguments.capture];
    if outputs.into_iter().any(Option::is_some) && items.len() != 1 {
        return Err(miette::miette!(
            help = "name one file, and one of its cases with --case",
            "--trace and --capture are for one vector, and there are {}",
            items.len()
        ));
    }
    check_writable(arguments)?;
    let gather = arguments.targets.gather("run")?;
    let cover = gather.as_ref().map(|gather| &gather.cover);
    let runs = run_all(arguments, cover, &items);
    super::gathered(gather.as_ref())?;
    let time = start.elapsed();
    if let Some(path) = &arguments.junit {
        junit::write(path, &runs, time)?;
    }
    let json = Json {
        passed: runs.iter().all(|run| run.outcome.is_ok()),
        target: arguments.targets.options(0).target_words(),
        seconds: time.as_secs_f64(),
        not_begun: items.len() - runs.len(),
        runs: runs.iter().map(Run::row).collect(),
        failures: runs.iter().filter_map(Run::failure).collect(),
    };
    let output = arguments.output;
    output.tell(&json, || {
        runs.iter().for_each(print_failure);
        match output.quiet {
            true => summary::verdict(&runs, &json.target, time),
            false => summary::print(&runs, &json.target, time),
        }
        if json.not_begun > 0 {
            println!("stopped: {} vector runs were not begun", json.not_begun);
        }
    })?;
    Ok(json.passed)
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json {
    passed: bool,
    target: String,
    seconds: f64,
    /// Runs that nobody waited for.
    not_begun: usize,
    runs: Vec<RunRow>,
    failures: Vec<FailureRow>,
}

/// A file that cannot be written is found before the run, not after it.
fn check_writable(arguments: &Arguments) -> Result<()> {
    let outputs = [&arguments.trace, &arguments.capture, &arguments.junit].into_iter();
    for path in outputs.flatten() {
        let opened = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        opened.map_err(|error| miette::miette!("cannot write {}: {error}", path.display()))?;
    }
    if let Some(path) = &arguments.trace {
        // Its name only gives those of the nodes' files.
        if path.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let _ = std::fs::remove_file(path);
        }
    }
    Ok(())
}

/// Runs vectors side by side.
pub(super) fn run_all(
    arguments: &Arguments,
    cover: Option<&Arc<Cover>>,
    items: &[Item],
) -> Vec<Run> {
    let bar = arguments.output.progress(items.len() as u64, "{msg}");
    let runs = suite::side_by_side(
        items,
        arguments.jobs.unwrap_or_else(suite::threads),
        |item| run_one(arguments, cover, item),
        |run| {
            bar.set_message(run.item.title());
            bar.inc(1);
        },
    );
    bar.finish_and_clear();
    runs
}

fn run_one(arguments: &Arguments, cover: Option<&Arc<Cover>>, item: &Item) -> Run {
    let own = item.vector().map(|vector| &vector.head);
    let seed = arguments.seed.or(own.and_then(|head| head.seed));
    let choice = arguments.targets.engines.scheduler;
    let choice = choice.or(own.and_then(|head| head.scheduler));
    let options = RunOptions {
        debug: arguments.targets.engines.debug || arguments.trace.is_some(),
        waves: arguments.trace.clone().map(|path| Waves {
            path,
            ..Waves::default()
        }),
        cover: cover.cloned(),
        capture: arguments.capture.clone(),
        choice: choice.unwrap_or_default(),
        ..arguments.targets.options(seed.unwrap_or(1))
    };
    let start = Instant::now();
    let outcome = match item.vector() {
        Some(vector) => runner::run(vector, &options),
        None => Ok(Report::default()),
    };
    let mut run = Run {
        item: item.clone(),
        options,
        outcome,
        kept: None,
        time: start.elapsed(),
    };
    run.kept = run
        .failed()
        .and_then(|found| failed::keep(&arguments.targets, &item.file.path, &found));
    run
}

fn print_failure(run: &Run) {
    let Some(found) = run.failed() else {
        return;
    };
    let path = &run.item.file.path;
    println!("{}\n", failed::words(path, &found));
    let again = failures::command(path, found.vector, found.options);
    failed::print(run.kept.as_ref(), &found, &again);
}
