//! `tandem regress`.

mod farm;
mod print;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use miette::Result;
use serde::Serialize;
use tandem_testbench::failures::Failed;
use tandem_testbench::measure::processor_seconds;
use tandem_testbench::regress::{
    Begun, Folder, Merged, RegressError, Results, Retrace, Seeds, Settings, Shard, Suite,
    Utilisation, Work, run_again, run_shard,
};
use tandem_testbench::{stop, suite};

use super::output::Output;
use super::{Engines, failed, paths_or_default, report};

/// Arguments of `regress`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Vector files or directories (default: all vectors of the repository)
    #[arg(value_name = "FILE|DIR", conflicts_with_all = ["resume", "merge"])]
    paths: Vec<PathBuf>,

    /// Folder for results, failures and reports; if it has a part of the same regression, that goes on
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    #[command(flatten)]
    engines: Engines,

    /// Seeds of each vector, one after another from its own on (from 1 if it has none)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,

    /// Run each vector with these seeds, as `3,8,21`, and not its own
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    seed: Option<Vec<u64>>,

    /// Run only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    case: Option<String>,

    /// Runs at the same time (default: one for each processor; in each task of --slurm: 1)
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Count coverage too
    #[arg(long)]
    cover: bool,

    /// Run a part only, as `2/4`, and put nothing together
    #[arg(long, value_name = "I/N", conflicts_with_all = ["merge", "slurm"])]
    shard: Option<Shard>,

    /// Put together what shards have left, do failures again, and say what is missing
    #[arg(long, conflicts_with = "slurm")]
    merge: bool,

    /// With --merge: run what is missing first
    #[arg(long)]
    rerun: bool,

    /// Go on with what was begun in the folder: vectors, seeds and targets are those of then
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,

    /// Take away what an earlier regression has left in the folder
    #[arg(long, conflicts_with_all = ["merge", "shard"])]
    fresh: bool,

    /// Keep frames, and waves of engines, of so many failures of each kind
    #[arg(long, value_name = "N", default_value_t = 3)]
    traces: usize,

    #[command(flatten)]
    farm: farm::Options,

    #[command(flatten)]
    told: Output,
}

/// How long all of it took, and how busy the machine was.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Spent {
    /// Seconds from the begin of the command.
    wall: f64,
    /// Seconds on processors, of all threads; not known everywhere.
    processors: Option<f64>,
    /// How busy the threads were; `None`: it had nothing to run itself.
    threads: Option<Utilisation>,
}

/// What is written as JSON.
#[derive(Serialize)]
struct Json<'a> {
    spent: Spent,
    #[serde(flatten)]
    merged: &'a Merged,
}

/// Runs the command. It fails unless every run has passed.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let start = Instant::now();
    let folder = Folder::new(&arguments.output);
    if arguments.rerun && !arguments.merge {
        return Err(miette::miette!(
            "--rerun says what --merge does; without it, what is missing is run anyway"
        ));
    }
    if arguments.fresh {
        folder.clear().map_err(told)?;
    }
    let settings = match arguments.resume || arguments.merge {
        true => Begun::read(&folder).map_err(told)?.settings,
        false => arguments.settings(),
    };
    let suite = Suite::load(settings).map_err(told)?;
    let begun = Begun::now(&suite).and_then(|begun| begun.begin(&folder));
    let begun = begun.map_err(told)?;
    let regress = Regress {
        arguments,
        work: Work {
            suite: &suite,
            begun: &begun,
            folder: &folder,
            jobs: arguments.jobs.unwrap_or_else(suite::threads),
            words: &words,
        },
    };
    if let Some(shard) = arguments.shard {
        return regress.shard(shard);
    }
    let threads = if arguments.farm.slurm {
        regress.farm()?;
        None
    } else if !arguments.merge || arguments.rerun {
        regress.run(Shard::WHOLE)?
    } else {
        None
    };
    if !stop::asked() {
        regress.again()?;
    }
    let merged = Merged::new(&folder, &begun, &suite).map_err(told)?;
    regress.close(
        &merged,
        Spent {
            wall: start.elapsed().as_secs_f64(),
            processors: processor_seconds(),
            threads,
        },
    )
}

impl Arguments {
    fn settings(&self) -> Settings {
        Settings {
            paths: paths_or_default(&self.paths),
            case: self.case.clone(),
            seeds: match &self.seed {
                Some(list) => Seeds::List(list.clone()),
                None => Seeds::Count(self.seeds),
            },
            target: self.engines.target.all,
            nodes: self.engines.target.nodes.clone(),
            scheduler: self.engines.scheduler,
            inject: self.engines.inject,
            debug: self.engines.debug,
            cover: self.cover,
        }
    }
}

/// What a person is told of a failed run.
fn words(file: &Path, found: &Failed<'_>) -> String {
    failed::words(file, found)
}

/// What went wrong, in this program's style.
fn told(error: RegressError) -> miette::Report {
    match error {
        RegressError::Vector(error) => report::vector(error),
        RegressError::Mixed { .. } => miette::miette!(
            help = "name another folder, or take away what is there with --fresh",
            "{error}"
        ),
        RegressError::NotBegun { .. } => miette::miette!(
            help = "begin one: tandem regress -o DIR, without --resume and --merge",
            "{error}"
        ),
        other => miette::miette!("{other}"),
    }
}

/// A regression under way.
struct Regress<'a> {
    arguments: &'a Arguments,
    work: Work<'a>,
}

impl Regress<'_> {
    /// Says something on the way.
    fn say(&self, text: &str) {
        if !self.arguments.told.quiet {
            eprintln!("{text}");
        }
    }

    fn results(&self) -> Result<Results> {
        Results::read(self.work.folder, self.work.begun).map_err(told)
    }

    /// Runs what is left of a shard.
    fn run(&self, shard: Shard) -> Result<Option<Utilisation>> {
        let left = self.results()?.missing(self.work.suite, shard).len();
        let all = (0..self.work.suite.len())
            .filter(|run| shard.has(*run))
            .count();
        if left < all {
            let begun = &self.work.begun.at;
            self.say(&format!(
                "going on with what was begun at {begun}: {} of {all} runs have ended",
                all - left
            ));
        }
        if left == 0 {
            return Ok(None);
        }
        let bar = self.bar(left, "runs, {eta} left  {msg}");
        let ran = run_shard(&self.work, shard, &mut |ended| {
            bar.set_message(ended.title.clone());
            bar.inc(1);
        });
        bar.finish_and_clear();
        ran.map(Some).map_err(told)
    }

    fn bar(&self, length: usize, behind: &str) -> indicatif::ProgressBar {
        self.arguments.told.progress(length as u64, behind)
    }

    /// Runs a shard, and says what came of it.
    fn shard(&self, shard: Shard) -> Result<bool> {
        let used = self.run(shard)?;
        let merged = Merged::new(self.work.folder, self.work.begun, self.work.suite);
        let merged = merged.map_err(told)?;
        print::shard(self.arguments, &merged, shard, used)
    }

    /// Does failures again.
    fn again(&self) -> Result<()> {
        let failed = self.results()?.to_do_again();
        if failed == 0 {
            return Ok(());
        }
        let bar = self.bar(failed, "failures done again, {eta} left");
        let retrace = Retrace {
            of_each_kind: self.arguments.traces,
        };
        let ran = run_again(&self.work, retrace, &mut |_| bar.inc(1));
        bar.finish_and_clear();
        ran.map(|_| ()).map_err(told)
    }

    /// Writes the reports, and says what came of all of it.
    fn close(&self, merged: &Merged, spent: Spent) -> Result<bool> {
        let json = Json { spent, merged };
        let text = serde_json::to_string_pretty(&json);
        let text = text.map_err(|error| miette::miette!("{error}"))? + "\n";
        let path = self.work.folder.report();
        std::fs::write(&path, &text)
            .map_err(|error| miette::miette!("cannot write {}: {error}", path.display()))?;
        let time = Duration::from_secs_f64(spent.wall);
        print::junit(&self.work.folder.junit(), merged, time)?;
        match self.arguments.told.json {
            true => print!("{text}"),
            false => print::all(self.arguments, merged, spent),
        }
        Ok(merged.is_passed())
    }
}
