//! Signoffs to look at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tandem_testbench::coverage::Cover;
use tandem_testbench::coverage::code::Points;
use tandem_testbench::coverage::data::Data;
use tandem_testbench::coverage::report::Report;
use tandem_testbench::coverage::waivers::Waivers;
use tandem_testbench::plan::Plan;
use tandem_testbench::signoff::{
    Evidence, FailureRow, Finding, RunRow, Signoff, Step, Wanted, annotate, bug_rows, page,
    plan_rows,
};
use tandem_testbench::timing::{Decision, Signal, Timing, Timings};
use tandem_testbench::world::FailureKind;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A signoff of the repository in which all vectors have passed, as if nothing but bins were asked for.
pub fn signoff(failed: &[&str]) -> Signoff {
    let plan = Plan::read(&root()).unwrap();
    let outcomes = failed
        .iter()
        .map(|file| (PathBuf::from(file), false))
        .collect();
    let cover: Arc<Cover> = Arc::default();
    let data = Data {
        functional: cover.functional(),
        ..Data::default()
    };
    Signoff {
        commit: Some("0123abc".into()),
        made: "2026-01-02T03:04:05Z".into(),
        command: "tandem signoff".into(),
        target: "model".into(),
        seeds: vec![1, 2],
        tools: BTreeMap::from([("c++".into(), "12.2".into())]),
        steps: vec![Step {
            name: "vectors".into(),
            command: "tandem run".into(),
            passed: Some(true),
            seconds: 1.0,
            summary: "all passed".into(),
            output: String::new(),
        }],
        plan: plan_rows(&plan, &outcomes),
        field_bugs: bug_rows(&plan, &outcomes),
        coverage: Some(Report::new(&data, &Waivers::default(), &root())),
        wanted: Wanted {
            functional: 0.0,
            lines: 0.0,
            toggles: 0.0,
        },
        sources: Vec::new(),
        evidence: Vec::new(),
        runs: Vec::new(),
        failures: Vec::new(),
    }
}

/// A failure in which everything is a word of markup.
pub fn failure(timing: Timings) -> FailureRow {
    FailureRow {
        title: "<script>alert(1)</script>".into(),
        kind: FailureKind::Divergence,
        message: "a & b".into(),
        report: format!("</pre><b>bold</b>\n{}", "a long line ".repeat(40)),
        command: format!(
            "tandem run {}.toml --target rtl --seed 1",
            "long/".repeat(40)
        ),
        files: vec![format!("{}report.txt", "folder/".repeat(30)).into()],
        timing,
    }
}

/// A diagram as wide as they are.
fn timing() -> Timings {
    let signal = |group: &str, name: &str, every: usize| Signal {
        group: group.into(),
        name: name.into(),
        levels: (0..128)
            .map(|clock| if clock % every == 0 { '1' } else { '0' })
            .collect(),
    };
    let decision = |clock| Decision {
        clock,
        action: format!("SqEmit: queue pair 2, request {clock}, psn 0x000000"),
    };
    let timing = Timing {
        first: 123_400,
        marked: 123_431,
        signals: vec![
            signal("decisions", "commit_valid", 31),
            signal("frames sent", "m_axis_tvalid", 2),
            signal("frames sent", "m_axis_tready", 3),
            signal("memory read", "m_axi_arready", 1),
        ],
        decisions: vec![decision(123_400), decision(123_431)],
    };
    Timings::from([("a".into(), timing.clone()), ("b".into(), timing)])
}

/// Points of code in all lines of the engine that assign, some of them never executed.
fn points() -> Points {
    let mut text = String::from("# SystemC::Coverage-3\n");
    let rooms = root().join("rtl");
    let files = rooms
        .read_dir()
        .unwrap()
        .filter_map(|entry| entry.unwrap().path().read_dir().ok());
    for file in files.flatten().map(|entry| entry.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "sv") {
            continue;
        }
        let source = std::fs::read_to_string(&file).unwrap();
        let assigning = source
            .lines()
            .zip(1..)
            .filter(|(line, _)| line.contains(" = ") || line.contains("<="));
        for (_, number) in assigning {
            let count = number % 5;
            for page in ["line", "toggle"] {
                text.push_str(&format!(
                    "C '\u{1}f\u{2}{}\u{1}l\u{2}{number}\u{1}n\u{2}3\u{1}page\u{2}v_{page}/x\u{1}o\u{2}block' {count}\n",
                    file.display()
                ));
            }
        }
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Points::read(file.path()).unwrap()
}

/// The page of a signoff that has everything: the whole engine with its source, failures, evidence, all kinds of rows.
pub fn full_page() -> String {
    let mut all = signoff(&["testbench/vectors/send/first.toml"]);
    let cover: Arc<Cover> = Arc::default();
    let data = Data {
        functional: cover.functional(),
        code: points(),
        ..Data::default()
    };
    all.coverage = Some(Report::new(&data, &Waivers::default(), &root()));
    all.sources = annotate(&data.code, &root());
    assert!(all.sources.len() > 60, "{} files", all.sources.len());
    all.steps.push(Step {
        name: "lint and synthesis check".into(),
        command: "cargo xtask lint".into(),
        passed: Some(false),
        seconds: 12.0,
        summary: "see its output".into(),
        output: "%Warning-WIDTHTRUNC: rtl/x.sv:1:2: ".repeat(30),
    });
    all.steps.push(Step {
        passed: None,
        ..all.steps[0].clone()
    });
    all.evidence.push(Evidence {
        name: "formal".into(),
        command: "cargo xtask formal".into(),
        commit: Some("0123abc".into()),
        passed: true,
        summary: "14 properties proved".into(),
        findings: vec![Finding {
            name: "nd_fifo: nothing is lost".into(),
            passed: true,
            detail: "k = 12".into(),
        }],
    });
    let run = |number: u64| RunRow {
        title: format!("first [length = {number}]"),
        file: "testbench/vectors/send/first.toml".into(),
        seed: 1,
        passed: !number.is_multiple_of(7),
        frames: number,
        clocks: 1000 * number,
        actions: 10 * number,
        seconds: 0.125,
    };
    all.runs = (1..200).map(run).collect();
    all.failures = vec![failure(timing()), failure(Timings::new())];
    page::html(&all)
}
