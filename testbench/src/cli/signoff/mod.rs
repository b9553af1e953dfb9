//! `tandem signoff`.

mod steps;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::ValueEnum;
use miette::Result;
use serde::Serialize;
use tandem_testbench::coverage::waivers::Waivers;
use tandem_testbench::signoff::{Evidence, Signoff, Verdict, Wanted, page};

use super::output::Output;
use super::{Targets, cover, junit};
use steps::Work;

/// Where other programs leave what they found out.
const EVIDENCE: &str = "target/evidence";

/// Arguments of `signoff`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Vector files or directories (default: all vectors of the repository)
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,

    /// Folder for `index.html`, `signoff.json` and `junit.xml`
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    folder: PathBuf,

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

    #[command(flatten)]
    output: Output,
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
    let folder = &arguments.folder;
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
    let gather = arguments.targets.gather("signoff")?;
    let mut work = Work {
        arguments,
        cover: gather
            .as_ref()
            .map_or_else(Arc::default, |gather| Arc::clone(&gather.cover)),
        steps: Vec::new(),
        failures: Vec::new(),
    };
    let runs = work.vectors()?;
    let plan = work.plan()?;
    work.random()?;
    work.fuzz()?;
    work.lint()?;
    super::gathered(gather.as_ref())?;
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
    let output = arguments.output;
    output.tell(&json, || print(&signoff, &verdict, &path, output.quiet))?;
    Ok(verdict.is_passed())
}

fn print(signoff: &Signoff, verdict: &Verdict, page: &Path, quiet: bool) {
    let told = |passed| !quiet || passed == Some(false);
    for step in signoff.steps.iter().filter(|step| told(step.passed)) {
        let word = match step.passed {
            Some(true) => "ok",
            Some(false) => "FAILED",
            None => "-",
        };
        println!("{:<26}{word:<8}{}", step.name, step.summary);
    }
    let evidence = signoff.evidence.iter();
    for evidence in evidence.filter(|evidence| told(Some(evidence.passed))) {
        let word = if evidence.passed { "ok" } else { "FAILED" };
        println!("{:<26}{word:<8}{}", evidence.name, evidence.summary);
    }
    match verdict.is_passed() {
        true => println!("SIGNED OFF"),
        false => println!("NOT SIGNED OFF\n  {}", verdict.against.join("\n  ")),
    }
    if !quiet {
        println!("{}", page.display());
    }
}
