//! The table at the end of a run.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tandem_testbench::targets::Checked;

use super::run::Run;

#[derive(Default)]
struct Row {
    passed: usize,
    failed: usize,
    frames: u64,
    checked: Checked,
}

/// Prints what ran, by folder.
pub fn print(runs: &[Run], targets: &str, time: Duration) {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut sum = Row::default();
    for run in runs {
        let folder = run.item.file.path.parent().and_then(Path::file_name);
        let folder = folder.map_or_else(|| ".".into(), |name| name.to_string_lossy().into_owned());
        for row in [rows.entry(folder).or_default(), &mut sum] {
            match &run.outcome {
                Ok(report) => {
                    row.passed += 1;
                    row.frames += report.frames;
                    row.checked.add(&report.checked);
                }
                Err(_) => row.failed += 1,
            }
        }
    }
    println!(
        "{:<16}{:>8}{:>8}{:>12}{:>14}{:>18}",
        "vectors in", "passed", "failed", "frames", "clocks", "actions checked"
    );
    for (folder, row) in rows.iter().map(|(folder, row)| (folder.as_str(), row)) {
        line(folder, row);
    }
    line("all", &sum);
    println!();
    verdict(runs, targets, time);
    if sum.checked.actions > 0 {
        println!(
            "each of the {} decisions of the engine was legal for the golden model and had the same effects",
            sum.checked.actions
        );
    }
    if let Some(ports) = sum.checked.ports {
        println!("every port of the netlist was the RTL's in each clock: {ports:016x}");
    }
}

/// Prints how many of them passed.
pub fn verdict(runs: &[Run], targets: &str, time: Duration) {
    let passed = runs.iter().filter(|run| run.outcome.is_ok()).count();
    println!(
        "{passed} of {} vector runs passed on target {targets} in {:.1} s",
        runs.len(),
        time.as_secs_f64()
    );
}

fn line(name: &str, row: &Row) {
    println!(
        "{name:<16}{:>8}{:>8}{:>12}{:>14}{:>18}",
        row.passed, row.failed, row.frames, row.checked.clocks, row.checked.actions
    );
}
