//! `tandem plan`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use tandem_testbench::plan::{Cover, Duty, Kind, Plan, Requirement, State};

use super::output::Output;
use super::report;

/// Arguments of `plan`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Requirements to show, by their ids, or by what their ids begin with (`NDK-READ`)
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// Show all requirements
    #[arg(long, conflicts_with = "open")]
    all: bool,

    /// Show what is open, by what is missing
    #[arg(long, conflicts_with = "ids")]
    open: bool,

    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// Runs the command. It fails if there is a provider duty that nothing covers, and that is not known to be open.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let plan = Plan::read(&arguments.root).map_err(report::plan)?;
    let mut rows = named(&plan, &arguments.ids)?;
    if arguments.open {
        rows.retain(|row| plan.open.missing(&row.id).is_some());
    }
    let forgotten = plan.open.forgotten(&plan.tables, &plan.coverage);
    let output = arguments.output;
    output.tell(&json(&plan, &rows), || {
        if arguments.open {
            print_open(&plan);
        } else if arguments.all || !arguments.ids.is_empty() {
            rows.iter().for_each(|row| print_row(&plan, row));
        } else if output.is_full() {
            print_summary(&plan);
        } else {
            let duties = plan.tables.duties().count();
            println!("{} of {duties} duties are forgotten", forgotten.len());
        }
    })?;
    for duty in &forgotten {
        eprintln!("{} is covered by nothing, and not in open.toml", duty.id);
    }
    Ok(forgotten.is_empty())
}

/// The requirements with these ids; all if there are none.
fn named<'a>(plan: &'a Plan, ids: &[String]) -> Result<Vec<&'a Requirement>> {
    if ids.is_empty() {
        return Ok(plan.tables.rows().iter().collect());
    }
    let mut found = Vec::new();
    for id in ids {
        let set = format!("{}-", id.trim_end_matches('-'));
        let rows = plan.tables.rows().iter();
        let before = found.len();
        found.extend(rows.filter(|row| row.id == *id || row.id.starts_with(&set)));
        if found.len() == before {
            let known = plan.tables.similar(id).join(", ");
            return Err(miette::miette!(
                help = format!("known are {known}"),
                "no requirement has the id `{id}`"
            ));
        }
    }
    Ok(found)
}

fn print_row(plan: &Plan, row: &Requirement) {
    let (file, line) = &row.place;
    println!("{:<13}{}", row.id, row.title);
    println!(
        "{:13}{}, {}; {} ({}:{line})",
        "",
        row.layer,
        row.duty.word(),
        row.source,
        file.display()
    );
    for cover in plan.coverage.of(&row.id) {
        println!("{:13}{cover}", "");
    }
    if row.duty == Duty::Provider {
        match (plan.coverage.state(row), plan.open.missing(&row.id)) {
            (State::Reason, _) => println!(
                "{:13}not covered: {}",
                "",
                row.reason.as_deref().unwrap_or_default()
            ),
            (State::Open, Some(missing)) => println!("{:13}OPEN: {missing}", ""),
            (State::Open, None) => println!("{:13}NOT COVERED", ""),
            (State::Covered(_), _) => {}
        }
    }
}

fn print_open(plan: &Plan) {
    let mut count = 0;
    for (missing, ids) in plan.open.groups() {
        println!("{missing}");
        for duty in ids.iter().filter_map(|id| plan.tables.get(id)) {
            println!("  {:<13}{}", duty.id, duty.title);
        }
        count += ids.len();
    }
    println!(
        "\n{count} of {} provider duties are open",
        plan.tables.duties().count()
    );
}

fn print_summary(plan: &Plan) {
    for (name, ndk) in [("NDKPI", true), ("RoCEv2", false)] {
        let duties = plan.tables.duties().filter(|duty| duty.is_ndk() == ndk);
        let mut layers: BTreeMap<&str, Vec<State>> = BTreeMap::new();
        for duty in duties {
            let layer = layers.entry(&duty.layer).or_default();
            layer.push(plan.coverage.state(duty));
        }
        print!("{name:<13}{:>7}", "duties");
        STATES.iter().for_each(|(word, _)| print!("{word:>10}"));
        println!();
        for (layer, states) in &layers {
            print_layer(layer, states);
        }
        print_layer("all", &layers.into_values().flatten().collect::<Vec<_>>());
        println!();
    }
    println!("A duty that several cover counts for the first of them.");
}

fn print_layer(layer: &str, states: &[State]) {
    print!("{layer:<13}{:>7}", states.len());
    for (_, state) in STATES {
        let count = states.iter().filter(|other| **other == state).count();
        print!("{count:>10}");
    }
    println!();
}

/// The columns of the summary.
const STATES: [(&str, State); 6] = [
    ("vector", State::Covered(Kind::Vector)),
    ("proof", State::Covered(Kind::Proof)),
    ("property", State::Covered(Kind::Property)),
    ("test", State::Covered(Kind::Test)),
    ("reason", State::Reason),
    ("open", State::Open),
];

/// A requirement as JSON.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    layer: &'a str,
    duty: Duty,
    title: &'a str,
    source: &'a str,
    covered_by: &'a [Cover],
    reason: Option<&'a str>,
    missing: Option<&'a str>,
}

fn json<'a>(plan: &'a Plan, rows: &[&'a Requirement]) -> Vec<Row<'a>> {
    rows.iter()
        .map(|row| Row {
            id: &row.id,
            layer: &row.layer,
            duty: row.duty,
            title: &row.title,
            source: &row.source,
            covered_by: plan.coverage.of(&row.id),
            reason: row.reason.as_deref(),
            missing: plan.open.missing(&row.id),
        })
        .collect()
}
