//! `tandem signoff`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use clap::ValueEnum;
use miette::Result;
use serde::Serialize;
use tandem_testbench::coverage::Cover;
use tandem_testbench::coverage::data::Data;
use tandem_testbench::coverage::report::Report as Coverage;
use tandem_testbench::coverage::waivers::Waivers;
use tandem_testbench::fuzz::{self, Wish};
use tandem_testbench::plan::Plan;
use tandem_testbench::signoff::{
    self, Evidence, FailureRow, RunRow, Signoff, Step, Verdict, Wanted, page,
};
use tandem_testbench::suite;
use tandem_testbench::traffic;
use tandem_testbench::vector::RandomTraffic;
use tandem_testbench::world::RunOptions;

use super::run::Run;
use super::{Targets, cover, doctor, failed, junit, paths_or_default, random, report, run};

/// Where other programs leave what they found out.
const EVIDENCE: &str = "target/evidence";

/// Arguments of `signoff`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Vector files or directories (default: all vectors of the repository)
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,

    /// Folder for `index.html`, `signoff.json` and `junit.xml`
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    #[command(flatten)]
    targets: Targets,

    /// Seeds of random traffic and of random moves, one after another from 1
    #[arg(long, value_name = "N", default_value_t = 2)]
    seeds: u64,

    /// Requests of random traffic for each seed
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    requests: u64,

    /// Cases of random moves for each seed
    #[arg(long, value_name = "N", default_value_t = 200)]
    cases: u64,

    /// Leave a step out; the verdict says so
    #[arg(long, value_enum, value_name = "STEP")]
    skip: Vec<Part>,

    /// Bins of cover points that must be seen, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = Wanted::default().functional)]
    functional: f64,

    /// Lines of the RTL that must be executed, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = Wanted::default().lines)]
    lines: f64,

    /// Bits of the RTL's signals that must change, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = Wanted::default().toggles)]
    toggles: f64,

    /// Vectors that run at the same time
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The plan
    Plan,
    /// The vectors
    Vectors,
    /// Random traffic
    Random,
    /// Random moves
    Fuzz,
    /// The RTL's warnings, style, and elaboration for synthesis
    Lint,
}

/// What is written as JSON.
#[derive(Serialize)]
struct Json<'a> {
    verdict: &'a Verdict,
    #[serde(flatten)]
    signoff: &'a Signoff,
}

/// Runs the command. It fails if it is not signed off.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let folder = &arguments.output;
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| miette::miette!("cannot write {}: {error}", path.display())
    };
    // What cannot be written is found before the hours that it takes.
    std::fs::create_dir_all(folder).map_err(wrong(folder))?;
    let waivers = Waivers::read(&arguments.root.join(cover::WAIVERS));
    let waivers = waivers.map_err(|error| miette::miette!("{error}"))?;
    let evidence = Evidence::read(&arguments.root.join(EVIDENCE));
    let evidence = evidence.map_err(|error| miette::miette!("{error}"))?;
    let start = Instant::now();
    let mut work = Work {
        arguments,
        cover: Arc::default(),
        steps: Vec::new(),
        failures: Vec::new(),
    };
    let runs = work.vectors()?;
    let plan = work.plan()?;
    work.random()?;
    work.fuzz()?;
    work.lint()?;
    junit::write(&folder.join("junit.xml"), &runs, start.elapsed())?;
    let signoff = work.close(&runs, &plan, &waivers, evidence)?;
    let verdict = signoff.verdict();
    let json = Json {
        verdict: &verdict,
        signoff: &signoff,
    };
    let text = serde_json::to_string_pretty(&json).map_err(|error| miette::miette!("{error}"))?;
    let path = folder.join("signoff.json");
    std::fs::write(&path, text + "\n").map_err(wrong(&path))?;
    let path = folder.join("index.html");
    std::fs::write(&path, page::html(&signoff)).map_err(wrong(&path))?;
    print(&signoff, &verdict, &path);
    Ok(verdict.is_passed())
}

/// What came of a step.
struct Outcome {
    passed: bool,
    summary: String,
    output: String,
}

impl Outcome {
    fn new(passed: bool, summary: String) -> Self {
        Self {
            passed,
            summary,
            output: String::new(),
        }
    }
}

struct Work<'a> {
    arguments: &'a Arguments,
    cover: Arc<Cover>,
    steps: Vec<Step>,
    failures: Vec<FailureRow>,
}

impl Work<'_> {
    /// Does a step and takes note of it; `None` if it is left out.
    fn step<T>(
        &mut self,
        part: Part,
        command: String,
        work: impl FnOnce(&mut Self) -> Result<(Outcome, T)>,
    ) -> Result<Option<T>> {
        let mut step = Step {
            name: name(part),
            command,
            passed: None,
            seconds: 0.0,
            summary: "left out by --skip".into(),
            output: String::new(),
        };
        let mut given = None;
        if !self.arguments.skip.contains(&part) {
            eprintln!("{}", step.name);
            let start = Instant::now();
            let (outcome, value) = work(self)?;
            step.seconds = start.elapsed().as_secs_f64();
            step.passed = Some(outcome.passed);
            step.summary = outcome.summary;
            step.output = outcome.output;
            given = Some(value);
        }
        self.steps.push(step);
        Ok(given)
    }

    fn options(&self, seed: u64) -> RunOptions {
        RunOptions {
            cover: Some(Arc::clone(&self.cover)),
            ..self.arguments.targets.options(seed)
        }
    }

    /// The target, as the command line takes it.
    fn target(&self) -> String {
        self.arguments.targets.options(0).target_words()
    }

    fn vectors(&mut self) -> Result<Vec<Run>> {
        let command = format!("tandem run --target {}", self.target());
        let runs = self.step(Part::Vectors, command, |work| {
            let items = suite::collect(&paths_or_default(&work.arguments.paths), None);
            let items = items.map_err(report::vector)?;
            let arguments = run::Arguments::of(&work.arguments.targets, work.arguments.jobs);
            let runs = run::run_all(&arguments, Some(&work.cover), &items);
            let failed = runs.iter().filter(|run| run.outcome.is_err()).count();
            let passed = failed == 0 && runs.len() == items.len();
            let summary = format!("{} of {} runs passed", runs.len() - failed, items.len());
            work.failures.extend(runs.iter().filter_map(Run::row));
            Ok((Outcome::new(passed, summary), runs))
        })?;
        Ok(runs.unwrap_or_default())
    }

    fn plan(&mut self) -> Result<Plan> {
        let plan = Plan::read(&self.arguments.root).map_err(report::plan)?;
        self.step(Part::Plan, "tandem plan".into(), |_| {
            let duties = plan.tables.duties().count();
            let forgotten = plan.open.forgotten(&plan.tables, &plan.coverage).len();
            let open: usize = plan.open.groups().iter().map(|(_, ids)| ids.len()).sum();
            let summary = format!(
                "{duties} duties of provider and wire: {forgotten} covered by nothing, {open} known to be open"
            );
            Ok((Outcome::new(forgotten == 0, summary), ()))
        })?;
        Ok(plan)
    }

    fn random(&mut self) -> Result<()> {
        let seeds = self.arguments.seeds;
        let traffic = RandomTraffic {
            requests: self.arguments.requests,
            loss: 1.0,
            duplicate: 1.0,
            reorder: 1.0,
            corrupt: 0.5,
            ..RandomTraffic::default()
        };
        let command = random::command(&traffic, &self.options(1));
        self.step(Part::Random, command, |work| {
            let (mut done, mut failed) = (0, 0);
            for seed in 1..=seeds {
                let options = work.options(seed);
                match traffic::run(&traffic, &options, &|_| {}) {
                    Ok(report) => done += report.requests.values().sum::<u64>(),
                    Err(failure) => {
                        failed += 1;
                        let report = failure.to_string();
                        work.failures.push(FailureRow {
                            title: format!("random traffic, seed {seed}"),
                            message: report.lines().next().unwrap_or_default().into(),
                            report,
                            command: random::command(&traffic, &options),
                            files: Vec::new(),
                            timing: None,
                        });
                    }
                }
            }
            let summary = format!("{done} requests with {seeds} seeds, of which {failed} failed");
            Ok((Outcome::new(failed == 0, summary), ()))
        })?;
        Ok(())
    }

    fn fuzz(&mut self) -> Result<()> {
        let (seeds, cases) = (self.arguments.seeds, self.arguments.cases);
        let mut words = format!("--target {}", self.target());
        let scheduler = self.arguments.targets.engines.scheduler;
        if let Some(value) = scheduler.and_then(|choice| choice.to_possible_value()) {
            words.push_str(&format!(" --scheduler {}", value.get_name()));
        }
        let command = format!("tandem fuzz --cases {cases} {words}");
        self.step(Part::Fuzz, command, |work| {
            let (mut done, mut failed) = (0, 0);
            for seed in 1..=seeds {
                let wish = Wish {
                    seed,
                    first: 0,
                    cases,
                    steps: fuzz::STEPS,
                    nodes: fuzz::NODES,
                    time: None,
                    failures: 1,
                    jobs: work.arguments.jobs.unwrap_or_else(suite::threads),
                    options: work.options(0),
                    scheduler,
                };
                let summary = fuzz::hunt(&wish, &|_| {});
                done += summary.cases;
                failed += summary.found.len();
                let rows = summary.found.iter().map(|found| FailureRow {
                    title: found.name.clone(),
                    message: found.failure.fault.message.clone(),
                    report: format!(
                        "{}\n\n{}",
                        found.failure.detail.as_deref().unwrap_or_default(),
                        found.text
                    ),
                    command: format!(
                        "tandem fuzz --seed {seed} --first {} --cases 1 {words}",
                        found.case
                    ),
                    files: Vec::new(),
                    timing: None,
                });
                work.failures.extend(rows);
            }
            let summary = format!("{done} cases with {seeds} seeds, of which {failed} failed");
            Ok((Outcome::new(failed == 0, summary), ()))
        })?;
        Ok(())
    }

    fn lint(&mut self) -> Result<()> {
        self.step(Part::Lint, "cargo xtask lint".into(), |work| {
            let ran = Command::new("cargo")
                .args(["xtask", "lint"])
                .current_dir(&work.arguments.root)
                .output();
            let outcome = match ran {
                Ok(ran) if ran.status.success() => Outcome::new(
                    true,
                    "no warning; every parameter set elaborates for synthesis".into(),
                ),
                Ok(ran) => Outcome {
                    output: String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into(),
                    ..Outcome::new(false, "see its output".into())
                },
                Err(error) => Outcome {
                    output: format!("cannot run cargo: {error}"),
                    ..Outcome::new(false, "see its output".into())
                },
            };
            Ok((outcome, ()))
        })?;
        Ok(())
    }

    fn close(
        self,
        runs: &[Run],
        plan: &Plan,
        waivers: &Waivers,
        evidence: Vec<Evidence>,
    ) -> Result<Signoff> {
        let root = &self.arguments.root;
        let words: Vec<String> = std::env::args().skip(1).collect();
        let data = Data {
            functional: self.cover.functional(),
            code: self
                .cover
                .code()
                .map_err(|cause| miette::miette!("{cause}"))?,
            commands: self.steps.iter().map(|step| step.command.clone()).collect(),
        };
        let mut outcomes = BTreeMap::new();
        for run in runs {
            let passed = outcomes.entry(run.item.file.path.clone()).or_insert(true);
            *passed &= run.outcome.is_ok();
        }
        Ok(Signoff {
            commit: commit(root),
            made: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            command: format!("tandem {}", words.join(" ")),
            target: self.target(),
            seeds: (1..=self.arguments.seeds).collect(),
            tools: doctor::versions(root),
            plan: signoff::plan_rows(plan, &outcomes),
            field_bugs: signoff::bug_rows(plan, &outcomes),
            coverage: Some(Coverage::new(&data, waivers, root)),
            wanted: Wanted {
                functional: self.arguments.functional,
                lines: self.arguments.lines,
                toggles: self.arguments.toggles,
            },
            sources: signoff::annotate(&data.code, root),
            evidence,
            runs: runs.iter().map(row).collect(),
            steps: self.steps,
            failures: self.failures,
        })
    }
}

fn name(part: Part) -> String {
    let words = match part {
        Part::Plan => "plan",
        Part::Vectors => "vectors",
        Part::Random => "random traffic",
        Part::Fuzz => "random moves",
        Part::Lint => "lint and synthesis check",
    };
    words.into()
}

fn row(run: &Run) -> RunRow {
    let report = run.outcome.as_ref().ok().cloned().unwrap_or_default();
    RunRow {
        title: run.item.title(),
        file: run.item.file.path.clone(),
        seed: run.options.seed,
        passed: run.outcome.is_ok(),
        frames: report.frames,
        clocks: report.checked.clocks,
        actions: report.checked.actions,
        seconds: run.time.as_secs_f64(),
    }
}

impl Run {
    /// What a signoff says of it, if it failed.
    fn row(&self) -> Option<FailureRow> {
        let found = self.failed()?;
        let path = &self.item.file.path;
        let kept = self.kept.as_ref().and_then(|kept| kept.as_ref().ok());
        Some(FailureRow {
            title: self.item.title(),
            message: found.failure.fault.message.clone(),
            report: failed::words(path, &found),
            command: tandem_testbench::failures::command(path, found.vector, found.options),
            files: kept.map_or_else(Vec::new, |kept| kept.files.clone()),
            timing: None,
        })
    }
}

/// The commit of a folder, with `+` if something in it differs.
fn commit(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let ran = Command::new("git")
            .args(arguments)
            .current_dir(root)
            .output();
        let ran = ran.ok().filter(|ran| ran.status.success())?;
        Some(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&["status", "--porcelain"])?;
    Some(if changed.is_empty() {
        commit
    } else {
        commit + "+"
    })
}

fn print(signoff: &Signoff, verdict: &Verdict, page: &Path) {
    for step in &signoff.steps {
        let word = match step.passed {
            Some(true) => "ok",
            Some(false) => "FAILED",
            None => "-",
        };
        println!("{:<26}{word:<8}{}", step.name, step.summary);
    }
    for evidence in &signoff.evidence {
        let word = if evidence.passed { "ok" } else { "FAILED" };
        println!("{:<26}{word:<8}{}", evidence.name, evidence.summary);
    }
    match verdict.is_passed() {
        true => println!("\nSIGNED OFF"),
        false => println!("\nNOT SIGNED OFF\n  {}", verdict.against.join("\n  ")),
    }
    println!("{}", page.display());
}
