//! What a signoff does, step by step.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use clap::ValueEnum;
use miette::Result;
use tandem_testbench::coverage::Cover;
use tandem_testbench::coverage::data::Data;
use tandem_testbench::coverage::report::Report as Coverage;
use tandem_testbench::coverage::waivers::Waivers;
use tandem_testbench::failures::{Failed, VECTOR};
use tandem_testbench::fuzz::{self, Found, Wish};
use tandem_testbench::plan::Plan;
use tandem_testbench::revision;
use tandem_testbench::signoff::{self, Evidence, FailureRow, Outcomes, Signoff, Step, Wanted};
use tandem_testbench::suite;
use tandem_testbench::traffic::{self, TrafficFailure};
use tandem_testbench::vector::{self, RandomTraffic};
use tandem_testbench::world::RunOptions;

use super::{Arguments, Part};
use crate::cli::run::Run;
use crate::cli::{doctor, failed, paths_or_default, random, report, run};

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

/// The work on it.
pub(super) struct Work<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) cover: Arc<Cover>,
    pub(super) steps: Vec<Step>,
    pub(super) failures: Vec<FailureRow>,
}

impl Work<'_> {
    /// Does a step and takes note of it; `None` if it is left out.
    fn step<T>(
        &mut self,
        part: Part,
        name: &str,
        command: String,
        work: impl FnOnce(&mut Self) -> Result<(Outcome, T)>,
    ) -> Result<Option<T>> {
        let mut step = Step {
            name: name.into(),
            command,
            passed: None,
            seconds: 0.0,
            summary: "left out by --skip".into(),
            output: String::new(),
        };
        let mut given = None;
        if !self.arguments.skip.contains(&part) {
            if !self.arguments.output.quiet {
                eprintln!("{name}");
            }
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

    pub(super) fn vectors(&mut self) -> Result<Vec<Run>> {
        let command = format!("tandem run --target {}", self.target());
        let runs = self.step(Part::Vectors, "vectors", command, |work| {
            let items = suite::collect(&paths_or_default(&work.arguments.paths), None);
            let items = items.map_err(report::vector)?;
            let arguments = run::Arguments::of(
                &work.arguments.targets,
                work.arguments.jobs,
                work.arguments.output,
            );
            let runs = run::run_all(&arguments, Some(&work.cover), &items);
            let failed = runs.iter().filter(|run| run.outcome.is_err()).count();
            let passed = failed == 0 && runs.len() == items.len();
            let summary = format!("{} of {} runs passed", runs.len() - failed, items.len());
            work.failures.extend(runs.iter().filter_map(Run::failure));
            Ok((Outcome::new(passed, summary), runs))
        })?;
        Ok(runs.unwrap_or_default())
    }

    pub(super) fn plan(&mut self) -> Result<Plan> {
        let plan = Plan::read(&self.arguments.root).map_err(report::plan)?;
        self.step(Part::Plan, "plan", "tandem plan".into(), |_| {
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

    pub(super) fn random(&mut self) -> Result<()> {
        let network = RandomTraffic {
            requests: self.arguments.requests,
            loss: 1.0,
            duplicate: 1.0,
            reorder: 1.0,
            corrupt: 0.5,
            ..RandomTraffic::default()
        };
        // What a run does not do by itself.
        let more = RandomTraffic {
            tokens: 50,
            srqs: 2,
            connect: true,
            ..network.clone()
        };
        self.traffic("random traffic", &network)?;
        self.traffic("random traffic, all kinds", &more)
    }

    fn traffic(&mut self, name: &str, traffic: &RandomTraffic) -> Result<()> {
        let seeds = self.arguments.seeds;
        let command = random::command(traffic, &self.options(1));
        self.step(Part::Random, name, command, |work| {
            let (mut done, mut failed) = (0, 0);
            for seed in 1..=seeds {
                let options = work.options(seed);
                match traffic::run(traffic, &options, &|_| {}) {
                    Ok(report) => done += report.requests.values().sum::<u64>(),
                    Err(failure) => {
                        failed += 1;
                        done += failure.posted;
                        work.strayed(format!("{name}, seed {seed}"), traffic, &options, &failure)?;
                    }
                }
            }
            let summary = format!("{done} requests with {seeds} seeds, of which {failed} failed");
            Ok((Outcome::new(failed == 0, summary), ()))
        })?;
        Ok(())
    }

    /// Takes note of a failure that random traffic has found.
    fn strayed(
        &mut self,
        title: String,
        traffic: &RandomTraffic,
        options: &RunOptions,
        failure: &TrafficFailure,
    ) -> Result<()> {
        let (text, vectors) = random::shorter(traffic, options, failure)?;
        for vector in &vectors {
            let found = Failed {
                vector,
                text: &text,
                options,
                failure: &random::failure(vector, failure),
                report: "",
            };
            let command = random::command(traffic, options);
            self.note(title.clone(), Path::new(VECTOR), &found, command);
        }
        Ok(())
    }

    pub(super) fn fuzz(&mut self) -> Result<()> {
        let (seeds, cases) = (self.arguments.seeds, self.arguments.cases);
        let mut words = format!("--target {}", self.target());
        let scheduler = self.arguments.targets.engines.scheduler;
        if let Some(value) = scheduler.and_then(|choice| choice.to_possible_value()) {
            words.push_str(&format!(" --scheduler {}", value.get_name()));
        }
        let command = format!("tandem fuzz --cases {cases} {words}");
        self.step(Part::Fuzz, "random moves", command, |work| {
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
                for found in &summary.found {
                    let command = format!(
                        "tandem fuzz --seed {seed} --first {} --cases 1 {words}",
                        found.case
                    );
                    work.hunted(found, &command)?;
                }
            }
            let summary = format!("{done} cases with {seeds} seeds, of which {failed} failed");
            Ok((Outcome::new(failed == 0, summary), ()))
        })?;
        Ok(())
    }

    /// Takes note of a failure that random moves have found.
    fn hunted(&mut self, hunted: &Found, command: &str) -> Result<()> {
        let vectors = vector::parse(&hunted.text);
        let vectors = vectors.map_err(|fault| miette::miette!("{}", fault.message))?;
        for vector in &vectors {
            let found = Failed {
                vector,
                text: &hunted.text,
                options: &hunted.options,
                failure: &hunted.failure,
                report: "",
            };
            self.note(
                hunted.name.clone(),
                Path::new(VECTOR),
                &found,
                command.to_owned(),
            );
        }
        Ok(())
    }

    /// Keeps what there is of a failure, and takes note of it.
    fn note(&mut self, title: String, file: &Path, found: &Failed<'_>, command: String) {
        let kept = failed::keep(&self.arguments.targets, file, found);
        let row = failed::row(title, file, found, kept.as_ref(), command);
        self.failures.push(row);
    }

    pub(super) fn lint(&mut self) -> Result<()> {
        let name = "lint and synthesis check";
        self.step(Part::Lint, name, "cargo xtask lint".into(), |work| {
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

    pub(super) fn close(
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
        let outcomes: Outcomes = runs
            .iter()
            .map(|run| (run.item.file.path.clone(), run.outcome.is_ok()))
            .collect();
        Ok(Signoff {
            commit: revision::state(root),
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
            runs: runs.iter().map(Run::row).collect(),
            steps: self.steps,
            failures: self.failures,
        })
    }
}
