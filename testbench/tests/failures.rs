//! What a run that fails on the engine leaves behind, for each kind of failure. The engine is sound; what is wrong is
//! put in at its ports. Builds that fail are in the tests of `verilated-build`.
#![cfg(feature = "rtl")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tandem_testbench::failures::{self, Record};
use tandem_testbench::timing::{Signal, Timing};
use tandem_testbench::vector;
use tandem_testbench::world::FailureKind;

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// What was kept of the only failure.
    fn only(&self) -> PathBuf {
        let folders: Vec<PathBuf> = self
            .0
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders[0].clone()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1");
    command
}

fn tandem(arguments: &[&str], failures: &Path) -> Output {
    let mut command = command(arguments);
    command.arg("--failures").arg(failures).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The line after the one that says how to run it again, as arguments.
fn again(text: &str) -> Vec<String> {
    let line = text.split("run it again with:\n").nth(1).unwrap();
    let line = line.lines().next().unwrap().trim();
    let words = line.split_whitespace().map(str::to_owned);
    words.skip(1).collect()
}

fn begins(path: &Path, magic: &[u8]) {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(bytes.len() > magic.len(), "{} is empty", path.display());
    assert_eq!(&bytes[..magic.len()], magic, "{}", path.display());
}

/// Every file of a kept failure, without those that look into a wave.
const FILES: [&str; 9] = [
    "report.txt",
    "run.json",
    "vector.toml",
    "frames.pcapng",
    "wave.a.fst",
    "wave.b.fst",
    "timing.json",
    "timing.a.svg",
    "timing.b.svg",
];

/// All files are there and what they should be; returns the report.
fn whole(folder: &Path) -> String {
    for file in FILES {
        assert!(folder.join(file).is_file(), "no {file}");
    }
    // A header block of 329 bytes; a section header block.
    for node in ["a", "b"] {
        let wave = folder.join(format!("wave.{node}.fst"));
        begins(&wave, &[0, 0, 0, 0, 0, 0, 0, 0x01, 0x49]);
        let look = std::fs::read_to_string(wave.with_extension("gtkw")).unwrap();
        assert!(look.contains("TOP.nd_engine.commit_valid\n"), "{look}");
        assert!(wave.with_extension("sucl").is_file());
    }
    let record = std::fs::read_to_string(folder.join("run.json")).unwrap();
    assert!(record.contains("\"target\": \"rtl\""), "{record}");
    begins(&folder.join("frames.pcapng"), &[0x0A, 0x0D, 0x0D, 0x0A]);
    vector::load(&folder.join("vector.toml")).unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(folder.join("report.txt")).unwrap()
}

const FIRST: &str = "vectors/send/first.toml";

/// A failure that is provoked.
struct Provoked {
    kind: FailureKind,
    /// Options that provoke it, in a run of [`FIRST`].
    options: &'static [&'static str],
    /// What the report says of where and what.
    says: &'static [&'static str],
    /// Node whose clock is to be looked at.
    node: &'static str,
}

/// Runs it and looks at all that a person or a program is told; returns the folder with what was kept.
fn provoke(provoked: &Provoked) -> (Folder, PathBuf) {
    let words = provoked.kind.words();
    let name = words.replace(' ', "-").to_lowercase();
    let folder = Folder::new(&name);
    let junit = Folder::new(&format!("{name}.xml"));
    let arguments = [&["run", FIRST, "--target", "rtl"], provoked.options].concat();
    let mut with_junit = arguments.clone();
    with_junit.extend(["--junit", junit.0.to_str().unwrap()]);
    let output = tandem(&with_junit, &folder.0);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("0 of 1 vector runs passed"), "{said}");

    let kept = folder.only();
    let report = whole(&kept);
    let head = format!("FAILED first: {words}\n");
    // The kind, where in the vector, what.
    let mut parts = vec![head.as_str(), "vectors/send/first.toml:"];
    parts.extend(provoked.says);
    for part in parts {
        // Messages are wrapped.
        let has = |text: &str| text.contains(part) || text.replace("\n  │ ", " ").contains(part);
        assert!(has(&report), "no {part:?} in:\n{report}");
        assert!(has(&said), "no {part:?} in:\n{said}");
    }
    for file in FILES {
        let path = kept.join(file).display().to_string();
        assert!(said.contains(&path), "no {path} in:\n{said}");
    }
    let vector = std::fs::read_to_string(kept.join("vector.toml")).unwrap();
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIRST);
    assert_eq!(vector, std::fs::read_to_string(original).unwrap());

    let record = Record::read(&kept).unwrap();
    assert_eq!(record.failure.kind, provoked.kind);
    let marked = failures::timings(&kept).unwrap()[provoked.node].marked;
    assert_eq!(record.failure.scene[provoked.node], marked);

    let xml = std::fs::read_to_string(&junit.0).unwrap();
    let _ = std::fs::remove_file(&junit.0);
    assert!(xml.contains(&format!("<failure type=\"{words}\"")), "{xml}");

    // The command that it names fails in the same way, and so does `replay`.
    let second = Folder::new(&format!("{name}-again"));
    let arguments = again(&said);
    let line = format!("tandem {}", arguments.join(" "));
    assert!(report.contains(&line), "no {line} in:\n{report}");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let repeated = tandem(&arguments, &second.0);
    assert_eq!(repeated.status.code(), Some(1));
    let repeated = Record::read(&second.only()).unwrap();
    assert_eq!(repeated.failure, record.failure);
    let replayed = command(&["replay", kept.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed));
    (folder, kept)
}

/// The clock that a report names after these words.
fn clock_after(report: &str, words: &str) -> u64 {
    let rest = report.split(words).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("no {words:?} in:\n{report}"));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
    rest[..digits].parse().unwrap()
}

/// Levels as a path draws them: an edge is vertical, a level lies at one of two heights.
fn drawn(svg: &str, signal: &Signal) -> String {
    let path = svg
        .split(&format!("data-signal=\"{}\" d=\"M", signal.name))
        .nth(1);
    let path = path.unwrap_or_else(|| panic!("{} is not drawn", signal.name));
    let (start, rest) = path.split('"').next().unwrap().split_once('H').unwrap();
    let (x, y) = start.split_once(' ').unwrap();
    let mut at: (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
    let mut heights = Vec::new();
    let mut command = 'H';
    let mut rest = format!("H{rest}");
    while !rest.is_empty() {
        command = rest.chars().next().unwrap_or(command);
        let end = rest[1..].find(['H', 'V']).map_or(rest.len(), |end| end + 1);
        let to: usize = rest[1..end].parse().unwrap();
        match command {
            'H' => {
                assert!(to > at.0, "a wave goes right");
                heights.push(at.1);
                at.0 = to;
            }
            _ => at.1 = to,
        }
        rest = rest[end..].to_owned();
    }
    // A signal that never changes has one height: its label stands at the foot of the line.
    let label = svg.split(&format!(">{}<", signal.name)).next().unwrap();
    let label: usize = label
        .rsplit("y=\"")
        .next()
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let top = label - 10;
    heights
        .iter()
        .map(|height| if *height == top { '1' } else { '0' })
        .collect()
}

fn signal<'a>(timing: &'a Timing, name: &str) -> &'a Signal {
    let mut signals = timing.signals.iter();
    signals.find(|signal| signal.name == name).unwrap()
}

#[test]
fn a_divergence() {
    let (_folder, kept) = provoke(&Provoked {
        kind: FailureKind::Divergence,
        options: &["--inject", "frame"],
        says: &[
            "divergence on node a",
            "first difference at byte 64",
            "look in room wire",
        ],
        node: "a",
    });
    let report = std::fs::read_to_string(kept.join("report.txt")).unwrap();
    assert!(!report.contains("debug build"), "{report}");
    let clock = clock_after(&report, "divergence on node a in cycle ");

    // The diagram: the failing clock is marked, its decision is that of the report, and what is drawn was recorded.
    let timing = &failures::timings(&kept).unwrap()["a"];
    assert_eq!(timing.marked, clock);
    let place = (clock - timing.first) as usize;
    assert_eq!(&signal(timing, "commit_valid").levels[place..=place], "1");
    let decision = timing
        .decisions
        .iter()
        .find(|one| one.clock == clock)
        .unwrap();
    assert!(
        report.contains(&format!("in cycle {clock}: {}", decision.action)),
        "{decision:?}"
    );
    let svg = std::fs::read_to_string(kept.join("timing.a.svg")).unwrap();
    assert!(svg.contains(&format!(">clock {clock}<")), "{svg}");
    let mut edges = 0;
    for signal in &timing.signals {
        if !svg.contains(&format!(">{}<", signal.name)) {
            // Left out: nothing goes on in its group.
            continue;
        }
        assert_eq!(drawn(&svg, signal), signal.levels, "{}", signal.name);
        let levels = signal.levels.as_bytes();
        edges += levels.windows(2).filter(|pair| pair[0] != pair[1]).count();
    }
    assert!(edges > 20, "{edges} edges");
    // The frame of the report, of 122 bytes, leaves in the window: 16 beats, of which only the last one says so.
    let levels = ["m_axis_tvalid", "m_axis_tready", "m_axis_tlast"].map(|name| {
        let signal = signal(timing, name);
        signal.highs().collect::<Vec<_>>()
    });
    let beats = (0..timing.clocks()).filter(|at| levels[0][*at] && levels[1][*at]);
    let beats: Vec<bool> = beats.map(|at| levels[2][at]).collect();
    assert_eq!(beats.iter().position(|last| *last), Some(15), "{beats:?}");

    let shown = text(&command(&["show", kept.to_str().unwrap()]).output().unwrap());
    assert!(shown.contains(&format!("look at {clock}")), "{shown}");
    let line = shown
        .lines()
        .find(|line| line.trim_start().starts_with("commit_valid"))
        .unwrap();
    let marks = shown.lines().find(|line| line.trim() == "▼").unwrap();
    let at = marks.chars().position(|c| c == '▼').unwrap();
    assert_eq!(line.chars().nth(at), Some('█'), "{shown}");
}

#[test]
fn an_axi_violation() {
    let (_folder, kept) = provoke(&Provoked {
        kind: FailureKind::AxiViolation,
        options: &["--inject", "burst"],
        says: &[
            "bus rule broken: cycle ",
            "m_axi_ar: burst type 0 is not INCR; look in room host",
        ],
        node: "b",
    });
    let report = std::fs::read_to_string(kept.join("report.txt")).unwrap();
    let clock = clock_after(&report, "bus rule broken: cycle ");
    let timing = &failures::timings(&kept).unwrap()["b"];
    assert_eq!(timing.marked, clock);
    let place = (clock - timing.first) as usize;
    for name in ["m_axi_arvalid", "m_axi_arready"] {
        assert_eq!(&signal(timing, name).levels[place..=place], "1", "{name}");
    }
}

#[test]
fn a_wrong_result() {
    provoke(&Provoked {
        kind: FailureKind::WrongResult,
        options: &["--inject", "payload"],
        says: &[
            "step 5: memory `target` differs at byte 63 (1 of 64 bytes are wrong)",
            "expected: 3f",
            "got:      3e",
        ],
        node: "b",
    });
}

#[test]
fn a_time_out() {
    let (_folder, kept) = provoke(&Provoked {
        kind: FailureKind::TimeOut,
        options: &["--inject", "doorbell"],
        says: &[
            "clocks for 1 result of completion queue `ca`, 0 came; everything is idle",
            "next should be: STATUS_SUCCESS",
            "queue pair `qa` (Connected): 1 initiator requests",
        ],
        node: "a",
    });
    // The place to look at is where it last did something, not the end of the wait.
    let timing = &failures::timings(&kept).unwrap()["a"];
    let (before, after) = signal(timing, "s_axil_bvalid")
        .levels
        .split_at((timing.marked - timing.first) as usize);
    assert!(before.contains('1'), "{before}");
    assert!(!after[1..].contains('1'), "{after}");
}

#[test]
fn an_assertion() {
    let (_folder, kept) = provoke(&Provoked {
        kind: FailureKind::Assertion,
        options: &["--inject", "answer", "--debug"],
        says: &[
            "node b: cycle ",
            "rtl/receive/nd_receive_fetch.sv:",
            "assertion failed at time ",
            "TOP.nd_engine.u_receive.u_fetch.a_known",
        ],
        node: "b",
    });
    let report = std::fs::read_to_string(kept.join("report.txt")).unwrap();
    let clock = clock_after(&report, "node b: cycle ");
    let timing = &failures::timings(&kept).unwrap()["b"];
    assert_eq!(timing.marked, clock);
    // The line is that of the assertion.
    let line = clock_after(&report, "nd_receive_fetch.sv:") as usize;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/receive/nd_receive_fetch.sv");
    let source = std::fs::read_to_string(source).unwrap();
    assert!(
        source
            .lines()
            .nth(line - 1)
            .unwrap()
            .contains("a_known: assert")
    );
}

#[test]
fn what_the_fast_build_finds_late_an_assertion_explains() {
    let folder = Folder::new("explained");
    let output = tandem(
        &["run", FIRST, "--target", "rtl", "--inject", "answer"],
        &folder.0,
    );
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("FAILED first: divergence\n"), "{said}");
    let kept = folder.only();
    let report = whole(&kept);
    for part in [
        "With the debug build the run ended otherwise (assertion):\n",
        "u_fetch.a_known",
    ] {
        assert!(report.contains(part), "no {part:?} in:\n{report}");
        assert!(said.contains(part), "no {part:?} in:\n{said}");
    }
    // Waves and diagrams lead to the assertion, which is long before.
    let explained = report.split("ended otherwise").nth(1).unwrap();
    let clock = clock_after(explained, "node b: cycle ");
    assert_eq!(failures::timings(&kept).unwrap()["b"].marked, clock);
    let look = std::fs::read_to_string(kept.join("wave.b.gtkw")).unwrap();
    assert!(look.contains(&format!("clock {clock}\n")), "{look}");
}

#[test]
fn a_divergence_before_the_first_request_is_looked_at_as_well() {
    let folder = Folder::new("connecting");
    let arguments = "random --target rtl --requests 10 --connect --inject frame";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = tandem(&arguments, &folder.0);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let kept = folder.only();
    let report = whole(&kept);
    assert!(report.contains("FAILED random: divergence\n"), "{report}");
    let place = report.split("divergence on node ").nth(1).unwrap();
    let clock = clock_after(&report, &format!("node {} in cycle ", &place[..1]));
    let timing = &failures::timings(&kept).unwrap()[&place[..1]];
    assert_eq!(timing.marked, clock);
}

#[test]
fn random_traffic_that_breaks_a_bus_rule_leaves_a_vector_of_it() {
    let folder = Folder::new("random");
    let arguments = [
        "random",
        "--target",
        "rtl",
        "--seed",
        "5",
        "--qps",
        "2",
        "--requests",
        "500",
        "--inject",
        "burst",
    ];
    let output = tandem(&arguments, &folder.0);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("bus rule broken"), "{said}");
    let kept = folder.only();
    whole(&kept);
    let file = vector::load(&kept.join("vector.toml")).unwrap();
    let head = &file.vectors[0].head;
    assert_eq!(head.seed, Some(5));
    let traffic = head.traffic.as_ref().unwrap();
    assert_eq!(traffic.queue_pairs, 2);
    assert!(traffic.requests < 500, "not cut: {traffic:?}");

    let second = Folder::new("random-again");
    let arguments = again(&said);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let repeated = text(&tandem(&arguments, &second.0));
    let rule = |text: &str| {
        let from = text.find("bus rule broken").unwrap();
        text[from..].lines().next().unwrap().to_owned()
    };
    assert_eq!(rule(&repeated), rule(&said));
}

#[test]
fn a_folder_that_cannot_be_written_is_one_message_beside_the_failure() {
    let folder = Folder::new("unwritable");
    std::fs::create_dir_all(&folder.0).unwrap();
    let file = folder.0.join("file");
    std::fs::write(&file, "in the way").unwrap();
    let output = tandem(
        &["run", FIRST, "--target", "rtl", "--inject", "frame"],
        &file.join("below"),
    );
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("divergence on node a"), "{said}");
    let complaints = said.lines().filter(|line| line.contains("cannot keep"));
    assert_eq!(complaints.count(), 1, "{said}");
    assert!(said.contains(&format!("tandem run {FIRST}")), "{said}");
}

#[test]
fn a_run_without_an_engine_leaves_nothing() {
    let folder = Folder::new("model");
    let broken = "tests/broken/another_result.toml";
    let output = tandem(&["run", broken], &folder.0);
    assert_eq!(output.status.code(), Some(1));
    assert!(!folder.0.exists());
}
