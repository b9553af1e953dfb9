//! `tandem run`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::Result;
use tandem_testbench::coverage::Cover;
use tandem_testbench::coverage::data::Gatherer;
use tandem_testbench::failures::{self, Failed, KeepError, Kept};
use tandem_testbench::runner;
use tandem_testbench::stop;
use tandem_testbench::targets::{Choice, Waves};
use tandem_testbench::vector::{self, Vector, VectorFile};
use tandem_testbench::world::{Failure, Report, RunOptions};

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
}

/// The run of one vector.
pub struct Run {
    /// Its file.
    pub file: Arc<VectorFile>,
    /// Which of its vectors.
    pub index: usize,
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
    /// Name, with the case.
    pub fn title(&self) -> String {
        self.file
            .vectors
            .get(self.index)
            .map_or_else(String::new, Vector::title)
    }

    /// The failure, with all that it is of.
    fn failed(&self) -> Option<Failed<'_>> {
        Some(Failed {
            vector: self.file.vectors.get(self.index)?,
            text: &self.file.text,
            options: &self.options,
            failure: self.outcome.as_ref().err()?,
            report: "",
        })
    }
}

/// One vector to run.
type Job = (usize, Arc<VectorFile>, usize);

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let start = Instant::now();
    let jobs = collect(arguments)?;
    let outputs = [&arguments.trace, &arguments.capture];
    if outputs.into_iter().any(Option::is_some) && jobs.len() != 1 {
        return Err(miette::miette!(
            help = "name one file, and one of its cases with --case",
            "--trace and --capture are for one vector, and there are {}",
            jobs.len()
        ));
    }
    check_writable(arguments)?;
    let gather = arguments.targets.gather("run")?;
    let runs = run_all(arguments, gather.as_ref(), &jobs);
    super::gathered(gather.as_ref())?;
    for failed in runs.iter().filter(|run| run.outcome.is_err()) {
        print_failure(failed);
    }
    let targets = arguments.targets.options(0).target_words();
    summary::print(&runs, &targets, start.elapsed());
    if let Some(path) = &arguments.junit {
        junit::write(path, &runs, start.elapsed())?;
    }
    if runs.len() < jobs.len() {
        println!("stopped: {} vector runs were not begun", jobs.len() - runs.len());
    }
    Ok(runs.iter().all(|run| run.outcome.is_ok()))
}

fn collect(arguments: &Arguments) -> Result<Vec<Job>> {
    let files = vector::find(&paths_or_default(&arguments.paths)).map_err(report::vector)?;
    let mut jobs = Vec::new();
    for path in files {
        let file = Arc::new(vector::load(&path).map_err(report::vector)?);
        for (index, vector) in file.vectors.iter().enumerate() {
            let wanted = arguments.case.as_ref();
            if wanted.is_none_or(|text| vector.title().contains(text.as_str())) {
                jobs.push((jobs.len(), Arc::clone(&file), index));
            }
        }
    }
    if jobs.is_empty() {
        return Err(miette::miette!("no vector has a case with that name"));
    }
    Ok(jobs)
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

/// Seed of a vector's run.
fn seed(arguments: &Arguments, file: &VectorFile, index: usize) -> u64 {
    let own = file.vectors.get(index).and_then(|vector| vector.head.seed);
    arguments.seed.or(own).unwrap_or(1)
}

/// Choices of the model in a vector's run.
fn choice(arguments: &Arguments, file: &VectorFile, index: usize) -> Choice {
    let own = file
        .vectors
        .get(index)
        .and_then(|vector| vector.head.scheduler);
    arguments.targets.scheduler.or(own).unwrap_or_default()
}

fn run_all(arguments: &Arguments, gather: Option<&Gatherer>, jobs: &[Job]) -> Vec<Run> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.jobs.unwrap_or(available).clamp(1, jobs.len());
    let bar = progress(jobs.len());
    let (give, take) = crossbeam_channel::unbounded::<Job>();
    let (done, results) = crossbeam_channel::unbounded();
    for job in jobs {
        // The receiver lives as long as this function.
        let _ = give.send(job.clone());
    }
    drop(give);
    let mut runs: Vec<(usize, Run)> = std::thread::scope(|scope| {
        for _ in 0..threads {
            let (take, done) = (take.clone(), done.clone());
            let cover = gather.map(|gather| Arc::clone(&gather.cover));
            scope.spawn(move || {
                for (order, file, index) in take {
                    if stop::asked() {
                        break;
                    }
                    let run = run_one(arguments, cover.clone(), file, index);
                    let _ = done.send((order, run));
                }
            });
        }
        drop(done);
        results
            .iter()
            .inspect(|(_, run)| {
                bar.set_message(run.title());
                bar.inc(1);
            })
            .collect()
    });
    bar.finish_and_clear();
    runs.sort_by_key(|(order, _)| *order);
    runs.into_iter().map(|(_, run)| run).collect()
}

fn run_one(
    arguments: &Arguments,
    cover: Option<Arc<Cover>>,
    file: Arc<VectorFile>,
    index: usize,
) -> Run {
    let options = RunOptions {
        waves: arguments.trace.clone().map(|path| Waves {
            path,
            ..Waves::default()
        }),
        cover,
        capture: arguments.capture.clone(),
        choice: choice(arguments, &file, index),
        ..arguments.targets.options(seed(arguments, &file, index))
    };
    let start = Instant::now();
    let outcome = match file.vectors.get(index) {
        Some(vector) => runner::run(vector, &options),
        None => Ok(Report::default()),
    };
    let mut run = Run {
        file,
        index,
        options,
        outcome,
        kept: None,
        time: start.elapsed(),
    };
    run.kept = run
        .failed()
        .and_then(|found| failed::keep(&arguments.targets.failures, &run.file.path, &found));
    run
}

fn progress(length: usize) -> ProgressBar {
    let bar = ProgressBar::new(length as u64);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn print_failure(run: &Run) {
    let Some(found) = run.failed() else {
        return;
    };
    println!("{}\n", failed::words(&run.file.path, &found));
    let again = failures::command(&run.file.path, found.vector, found.options);
    failed::print(run.kept.as_ref(), &found, &again);
}
