//! What came of a regression, for people and for build servers.

use std::path::Path;
use std::time::Duration;

use miette::Result;
use tandem_testbench::regress::{Merged, RunRow, Shard, ShardRow, Utilisation, Verdict};

use super::{Arguments, Spent};
use crate::cli::junit::{self, Case, Failed, Outcome};
use crate::cli::output;

/// Runs of a verdict that are named.
const FEW: usize = 10;

/// Says what came of a shard; whether all of it passed.
pub fn shard(
    arguments: &Arguments,
    merged: &Merged,
    shard: Shard,
    used: Option<Utilisation>,
) -> Result<bool> {
    let rows = || {
        let rows = merged.runs.iter().enumerate();
        rows.filter_map(|(run, row)| shard.has(run).then_some(row))
    };
    let count = |verdict| rows().filter(|row| row.verdict == verdict).count();
    let (all, passed) = (rows().count(), count(Verdict::Passed));
    if arguments.told.json {
        output::document(&rows().collect::<Vec<_>>())?;
        return Ok(passed == all);
    }
    if !arguments.told.quiet {
        let failed: Vec<&RunRow> = rows()
            .filter(|row| matches!(row.verdict, Verdict::Failed | Verdict::Flaky))
            .collect();
        for row in failed.iter().take(FEW) {
            failure(row);
        }
        more(failed.len(), "fail");
        if let Some(used) = used {
            println!("{}", busy(used));
        }
    }
    println!(
        "shard {shard}: {passed} of {all} runs passed, {} failed, {} flaky, {} missing, on target {}",
        count(Verdict::Failed),
        count(Verdict::Flaky),
        count(Verdict::Missing),
        merged.target
    );
    Ok(passed == all)
}

/// Says what came of all of it.
pub fn all(arguments: &Arguments, merged: &Merged, spent: Spent) {
    if !arguments.told.quiet {
        kinds(merged);
        named(
            merged,
            Verdict::Flaky,
            "FLAKY, failed and passed with the same seed",
        );
        shards(merged);
        named(merged, Verdict::Missing, "MISSING");
        if merged.damaged > 0 {
            println!(
                "{} lines of results cannot be read; their runs count as missing\n",
                merged.damaged
            );
        }
        if let Some(used) = spent.threads {
            println!("{}", busy(used));
        }
        println!("{}\n", arguments.output.join("report.json").display());
    }
    let all = merged.runs.len();
    let word = if merged.is_passed() {
        "PASSED"
    } else {
        "FAILED"
    };
    println!(
        "{word}: {} of {all} runs passed, {} failed, {} flaky, {} missing, on target {} in {:.1} s",
        merged.passed, merged.failed, merged.flaky, merged.missing, merged.target, spent.wall
    );
}

/// The first failure of each kind.
fn kinds(merged: &Merged) {
    for kind in &merged.kinds {
        let of_kind = |row: &&RunRow| {
            let failure = row.failure.as_ref();
            failure.is_some_and(|failure| failure.gist == kind.gist)
        };
        let rows: Vec<&RunRow> = merged.runs.iter().filter(of_kind).collect();
        // One of which something was kept tells more.
        let shown = rows.iter().find(|row| !row.files.is_empty());
        if let Some(row) = shown.or(rows.first()) {
            failure(row);
        }
        match rows.len() {
            0 | 1 => {}
            number => println!("{} more fail in this way\n", number - 1),
        }
    }
}

fn failure(row: &RunRow) {
    if let Some(failure) = &row.failure {
        println!("{}\n", failure.report);
    }
    if let Some(note) = &row.note {
        println!("{}\n", note.trim_end());
    }
    if !row.files.is_empty() {
        println!("kept of it:");
        for file in &row.files {
            println!("  {}", file.display());
        }
        println!();
    }
    println!("run it again with:\n  {}\n", row.command);
}

/// Names runs of a verdict.
fn named(merged: &Merged, verdict: Verdict, heading: &str) {
    let rows = merged.runs.iter();
    let mut rows: Vec<&RunRow> = rows.filter(|row| row.verdict == verdict).collect();
    if rows.is_empty() {
        return;
    }
    // It may have been they that ended their program.
    rows.sort_by_key(|row| std::cmp::Reverse(row.cut));
    println!("{heading}:");
    for row in rows.iter().take(FEW) {
        let cut = match row.cut {
            0 => String::new(),
            1 => " (was under way when its program ended)".into(),
            cut => format!(" (was under way {cut} times when its program ended)"),
        };
        println!("  {}{cut}", row.command);
    }
    more(rows.len(), "");
    println!();
}

fn more(all: usize, what: &str) {
    if all > FEW {
        println!("  … and {} more {what}", all - FEW);
    }
}

/// Shards that are not whole.
fn shards(merged: &Merged) {
    let open: Vec<&ShardRow> = merged
        .shards
        .iter()
        .filter(|row| row.ended < row.runs)
        .collect();
    for row in &open {
        let how = match (row.running, row.programs.last()) {
            (true, _) => "runs still".to_owned(),
            (false, Some(program)) => format!("has ended too early ({program})"),
            (false, None) => "was never begun".into(),
        };
        println!(
            "shard {} {how}: {} of {} runs are missing",
            row.shard,
            row.runs - row.ended,
            row.runs
        );
    }
    if !open.is_empty() {
        println!();
    }
}

fn busy(used: Utilisation) -> String {
    let (jobs, share, wall) = (used.jobs, used.busy_percent(), used.wall);
    let mut words = format!("{jobs} jobs had a run in {share:.1} % of {wall:.1} s");
    if used.processors > 0.0 {
        words += &format!(
            ", and a processor in {:.1} % of it ({:.1} % of what other programs left)",
            used.processors_percent(),
            used.left_percent()
        );
    }
    words
}

/// Writes results for build servers.
pub fn junit(path: &Path, merged: &Merged, time: Duration) -> Result<()> {
    let cases = merged.runs.iter().map(|row| {
        let failed = |before: &str| {
            let told = row.failure.as_ref();
            let message = told.map_or("", |told| &told.message);
            let report = told.map_or("", |told| &told.report);
            Outcome::Failed(Failed {
                kind: told.map_or("", |told| told.kind.words()).into(),
                message: format!("{before}{message}"),
                report: format!("{report}\n\nrun it again with:\n  {}", row.command),
            })
        };
        Case {
            file: row.file.clone(),
            name: format!("{}, seed {}", row.title, row.seed),
            seconds: row.seconds,
            outcome: match row.verdict {
                Verdict::Passed => Outcome::Passed,
                Verdict::Failed => failed(""),
                Verdict::Flaky => failed("flaky, it passed with the same seed: "),
                Verdict::Missing => Outcome::Error("it did not run to its end".into()),
            },
        }
    });
    junit::write_cases(path, &cases.collect::<Vec<_>>(), time)
}
