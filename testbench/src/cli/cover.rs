//! `tandem cover`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use miette::Result;
use serde::Serialize;
use tandem_testbench::coverage::code::Kind;
use tandem_testbench::coverage::data::Data;
use tandem_testbench::coverage::functional::POINTS;
use tandem_testbench::coverage::report::{Hole, Report, Share, Shares};
use tandem_testbench::coverage::waivers::Waivers;

use super::output::Output;

/// Where waivers are if no file is given.
pub(super) const WAIVERS: &str = "testbench/coverage/waivers.toml";

/// Arguments of `cover`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folders that `--cover` of other commands has filled
    #[arg(value_name = "DIR", required_unless_present = "points")]
    folders: Vec<PathBuf>,

    /// Show the cover points and what they are for
    #[arg(long, conflicts_with_all = ["folders", "lcov", "all"])]
    points: bool,

    /// Show all holes; without it, the first of each file and cover point
    #[arg(long)]
    all: bool,

    /// Holes of this room, file or cover point only
    #[arg(long, value_name = "TEXT")]
    of: Option<String>,

    /// Write the executed lines and branches in the format of LCOV
    #[arg(long, value_name = "FILE")]
    lcov: Option<PathBuf>,

    /// What need not be covered, and why
    #[arg(long, value_name = "FILE", default_value = WAIVERS)]
    waivers: PathBuf,

    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,

    /// Fail if less of the cover points' bins was seen, in percent
    #[arg(long, value_name = "PERCENT")]
    functional: Option<f64>,

    /// Fail if fewer lines were executed, in percent
    #[arg(long, value_name = "PERCENT")]
    lines: Option<f64>,

    /// Fail if fewer bits changed, in percent
    #[arg(long, value_name = "PERCENT")]
    toggles: Option<f64>,

    #[command(flatten)]
    output: Output,
}

/// A cover point as JSON.
#[derive(Serialize)]
struct JsonPoint<'a> {
    name: &'a str,
    doc: &'a str,
    axes: Vec<JsonAxis<'a>>,
    never: Vec<&'a str>,
}

/// One of its axes.
#[derive(Serialize)]
struct JsonAxis<'a> {
    name: &'a str,
    bins: Vec<String>,
}

/// Holes of one place that are shown if not all are.
const FEW: usize = 5;

/// Runs the command. It fails if a waiver is refuted, or less is covered than is asked for.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let output = arguments.output;
    if arguments.points {
        let points = POINTS.iter().map(|point| JsonPoint {
            name: point.name,
            doc: point.doc,
            axes: point
                .axes
                .iter()
                .map(|axis| JsonAxis {
                    name: axis.name,
                    bins: (axis.bins)().iter().map(ToString::to_string).collect(),
                })
                .collect(),
            never: point.never.iter().map(|never| never.why).collect(),
        });
        output.tell(&points.collect::<Vec<_>>(), print_points)?;
        return Ok(true);
    }
    let mut data = Data::default();
    for folder in &arguments.folders {
        let read = data.read(folder);
        read.map_err(|error| miette::miette!("{error}"))?;
    }
    let waivers = Waivers::read(&arguments.root.join(&arguments.waivers));
    let waivers = waivers.map_err(|error| miette::miette!("{error}"))?;
    if let Some(path) = &arguments.lcov {
        let written = std::fs::write(path, data.code.lcov());
        written.map_err(|error| miette::miette!("cannot write {}: {error}", path.display()))?;
    }
    let report = Report::new(&data, &waivers, &arguments.root);
    let short = too_little(arguments, &report);
    let passed = short.is_empty() && report.refuted.is_empty();
    output.tell(&report, || {
        print_refuted(&report);
        match output.quiet {
            true if passed => println!("as much is covered as is asked for"),
            true => println!("less is covered than is asked for, or a waiver is refuted"),
            false => print(arguments, &report),
        }
    })?;
    for line in &short {
        eprintln!("{line}");
    }
    Ok(passed)
}

/// What is below what was asked for, in words.
fn too_little(arguments: &Arguments, report: &Report) -> Vec<String> {
    let code = |kind| report.code.get(&kind).copied().unwrap_or_default();
    let wanted = [
        (arguments.functional, report.functional, "bins seen"),
        (arguments.lines, code(Kind::Line), "lines executed"),
        (arguments.toggles, code(Kind::Toggle), "bits changed"),
    ];
    let short = wanted.into_iter().filter_map(|(wanted, share, what)| {
        let wanted = wanted?;
        let counted = share.total > 0;
        let enough = counted && share.percent() >= wanted;
        (!enough).then(|| match counted {
            true => format!(
                "{what}: {:.2} %, and {wanted} % are asked for",
                share.percent()
            ),
            false => format!("{what}: nothing was counted, and {wanted} % are asked for"),
        })
    });
    short.collect()
}

fn print_points() {
    for point in POINTS {
        let axes: Vec<String> = point
            .axes
            .iter()
            .map(|axis| format!("{} ({})", axis.name, (axis.bins)().len()))
            .collect();
        println!(
            "{:<26}{}\n{:26}{}",
            point.name,
            point.doc,
            "",
            axes.join(" × ")
        );
        for never in point.never {
            println!("{:26}never: {}", "", never.why);
        }
    }
}

fn words(share: Share) -> String {
    let waived = match share.waived {
        0 => String::new(),
        waived => format!(", {waived} waived"),
    };
    format!(
        "{} of {} ({:.1} %{waived})",
        share.covered,
        share.total,
        share.percent()
    )
}

fn print_refuted(report: &Report) {
    for refuted in &report.refuted {
        println!(
            "REFUTED  {}\n         was covered, and is said to be impossible: {}",
            refuted.what, refuted.reason
        );
    }
}

fn print(arguments: &Arguments, report: &Report) {
    print_holes(arguments, report);
    println!("bins         {}", words(report.functional));
    for kind in Kind::ALL {
        if let Some(share) = report.code.get(&kind) {
            println!("{:<13}{}", kind.plural(), words(*share));
        }
    }
    if !report.code.is_empty() {
        println!();
        print_table("room", &report.rooms);
    }
    println!("\nof {}", report.commands.join("\n   "));
}

fn print_table(what: &str, rows: &BTreeMap<String, Shares>) {
    print!("{what:<12}");
    for kind in Kind::ALL {
        print!("{:>18}", kind.plural());
    }
    println!();
    for (name, shares) in rows {
        print!("{name:<12}");
        for kind in Kind::ALL {
            match shares.get(&kind) {
                Some(share) => print!("{:>16.1} %", share.percent()),
                None => print!("{:>18}", "-"),
            }
        }
        println!();
    }
}

/// Holes first: by cover point, then by file, those with the most of them first.
fn print_holes(arguments: &Arguments, report: &Report) {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for hole in &report.holes {
        let (place, what) = match hole {
            Hole::Bin { point, bin } => (point.clone(), bin.clone()),
            Hole::Code {
                kind,
                file,
                line,
                what,
            } => (file.clone(), format!("line {line}: {kind} {what}")),
        };
        let wanted = arguments.of.as_ref();
        if wanted.is_none_or(|text| place.contains(text.as_str())) {
            places.entry(place).or_default().push(what);
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|(_, holes)| std::cmp::Reverse(holes.len()));
    for (place, holes) in places {
        println!("{place}: {} not covered", holes.len());
        let shown = if arguments.all { holes.len() } else { FEW };
        for hole in holes.iter().take(shown) {
            println!("    {hole}");
        }
        if holes.len() > shown {
            println!("    … and {} more", holes.len() - shown);
        }
    }
    if !report.holes.is_empty() {
        println!();
    }
}
