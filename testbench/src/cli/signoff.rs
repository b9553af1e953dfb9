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
use super::{Targets, cover, doctor, failed, junit, paths_or_default, report, run};

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
    work.random();
    work.fuzz();
    work.lint();
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

struct Work<'a> {
    arguments: &'a Arguments,
    cover: Arc<Cover>,
    steps: Vec<Step>,
    failures: Vec<FailureRow>,
}

impl Work<'_> {
    /// Whether a step is done; one that is not is noted.
    fn does(&mut self, part: Part, command: &str) -> bool {
        let left_out = self.arguments.skip.contains(&part);
        if left_out {
            self.step(part, command, None, 0.0, "left out by --skip".into());
        } else {
            eprintln!("{}", name(part));
        }
        !left_out
    }

    fn step(
        &mut self,
        part: Part,
        command: &str,
        passed: Option<bool>,
        seconds: f64,
        summary: String,
    ) {
        self.steps.push(Step {
            name: name(part),
            command: command.into(),
            passed,
            seconds,
            summary,
            output: String::new(),
        });
    }

    fn options(&self, seed: u64) -> RunOptions {
        RunOptions {
            cover: Some(Arc::clone(&self.cover)),
            ..self.arguments.targets.options(seed)
        }
    }

    fn vectors(&mut self) -> Result<Vec<Run>> {
        let target = self.arguments.targets.options(0).target_words();
        let command = format!("tandem run --target {target}");
        if !self.does(Part::Vectors, &command) {
            return Ok(Vec::new());
        }
        let start = Instant::now();
        let items = suite::collect(&paths_or_default(&self.arguments.paths), None);
        let items = items.map_err(report::vector)?;
        let arguments = run::Arguments::of(&self.arguments.targets, self.arguments.jobs);
        let runs = run::run_all(&arguments, Some(&self.cover), &items);
        let failed = runs.iter().filter(|run| run.outcome.is_err()).count();
        let whole = failed == 0 && runs.len() == items.len();
        let summary = format!("{} of {} runs passed", runs.len() - failed, items.len());
        let seconds = start.elapsed().as_secs_f64();
        self.step(Part::Vectors, &command, Some(whole), seconds, summary);
        self.failures.extend(runs.iter().filter_map(Run::row));
        Ok(runs)
    }

    fn plan(&mut self) -> Result<Plan> {
        let start = Instant::now();
        let plan = Plan::read(&self.arguments.root).map_err(report::plan)?;
        if self.does(Part::Plan, "tandem plan") {
            let duties = plan.tables.duties().count();
            let forgotten = plan.open.forgotten(&plan.tables, &plan.coverage).len();
            let open: usize = plan.open.groups().iter().map(|(_, ids)| ids.len()).sum();
            let summary = format!(
                "{duties} duties of provider and wire: {forgotten} covered by nothing, {open} known to be open"
            );
            let seconds = start.elapsed().as_secs_f64();
            self.step(
                Part::Plan,
                "tandem plan",
                Some(forgotten == 0),
                seconds,
                summary,
            );
        }
        Ok(plan)
    }

    fn random(&mut self) {
        let (seeds, requests) = (self.arguments.seeds, self.arguments.requests);
        let traffic = RandomTraffic {
            requests,
            loss: 1.0,
            duplicate: 1.0,
            reorder: 1.0,
            corrupt: 0.5,
            ..RandomTraffic::default()
        };
        let target = self.arguments.targets.options(0).target_words();
        let command = format!(
            "tandem random --requests {requests} --loss 1 --duplicate 1 --reorder 1 --corrupt 0.5 --target {target}"
        );
        if !self.does(Part::Random, &command) {
            return;
        }
        let start = Instant::now();
        let (mut done, mut failed) = (0, 0);
        for seed in 1..=seeds {
            match traffic::run(&traffic, &self.options(seed), &|_| {}) {
                Ok(report) => done += report.requests.values().sum::<u64>(),
                Err(failure) => {
                    failed += 1;
                    self.failures.push(FailureRow {
                        title: format!("random traffic, seed {seed}"),
                        message: first_line(&failure.to_string()),
                        report: failure.to_string(),
                        command: format!("{command} --seed {seed}"),
                        files: Vec::new(),
                        timing: None,
                    });
                }
            }
        }
        let summary = format!("{done} requests with {seeds} seeds, of which {failed} failed");
        let seconds = start.elapsed().as_secs_f64();
        self.step(Part::Random, &command, Some(failed == 0), seconds, summary);
    }

    fn fuzz(&mut self) {
        let (seeds, cases) = (self.arguments.seeds, self.arguments.cases);
        let target = self.arguments.targets.options(0).target_words();
        let command = format!("tandem fuzz --cases {cases} --target {target}");
        if !self.does(Part::Fuzz, &command) {
            return;
        }
        let start = Instant::now();
        let (mut done, mut failed) = (0, 0);
        for seed in 1..=seeds {
            let summary = fuzz::hunt(
                &Wish {
                    seed,
                    cases,
                    jobs: self.arguments.jobs.unwrap_or_else(suite::threads),
                    options: self.options(0),
                    scheduler: self.arguments.targets.scheduler,
                    first: 0,
                    steps: 40,
                    nodes: 4,
                    time: None,
                    failures: 1,
                },
                &|_| {},
            );
            done += summary.cases;
            failed += summary.found.len();
            self.failures
                .extend(summary.found.iter().map(|found| FailureRow {
                    title: found.name.clone(),
                    message: found.failure.fault.message.clone(),
                    report: format!(
                        "{}\n\n{}",
                        found.failure.detail.as_deref().unwrap_or_default(),
                        found.text
                    ),
                    command: format!("{command} --seed {seed} --first {} --cases 1", found.case),
                    files: Vec::new(),
                    timing: None,
                }));
        }
        let summary = format!("{done} cases with {seeds} seeds, of which {failed} failed");
        let seconds = start.elapsed().as_secs_f64();
        self.step(Part::Fuzz, &command, Some(failed == 0), seconds, summary);
    }

    fn lint(&mut self) {
        let command = "cargo xtask lint";
        if !self.does(Part::Lint, command) {
            return;
        }
        let start = Instant::now();
        let ran = Command::new("cargo")
            .args(["xtask", "lint"])
            .current_dir(&self.arguments.root)
            .output();
        let (passed, output) = match ran {
            Ok(ran) => {
                let text = [ran.stdout, ran.stderr].concat();
                let text = String::from_utf8_lossy(&text).into_owned();
                (ran.status.success(), text)
            }
            Err(error) => (false, format!("cannot run cargo: {error}")),
        };
        let summary = match passed {
            true => "no warning; every parameter set elaborates for synthesis",
            false => "see its output",
        };
        let seconds = start.elapsed().as_secs_f64();
        self.step(Part::Lint, command, Some(passed), seconds, summary.into());
        if let Some(step) = self.steps.last_mut().filter(|_| !passed) {
            step.output = output;
        }
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
            target: self.arguments.targets.options(0).target_words(),
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

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().into()
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
