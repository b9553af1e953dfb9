//! `tandem show`, `diff`, `replay` and `shrink`, word for word where a person reads it: `golden/<name>.txt`. To write the
//! texts anew, run with `TANDEM_BLESS=1`. What fails is the model, with a fault that is put in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tandem_testbench::vector;

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("debugging-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}

/// Runs it, and compares the code it ends with; what it printed, on either stream.
fn ends(arguments: &[&str], code: i32) -> String {
    let output = tandem(arguments);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    // Errors are wrapped, by the length of the paths in them.
    let text = text.concat().replace("\n  │ ", " ");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}:\n{text}");
    text
}

/// Compares with a golden text; the folder of the test is not part of it.
fn golden(name: &str, text: &str, folder: &Folder) {
    let text = text.replace(&folder.0.display().to_string(), "DIR");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("TANDEM_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, wanted, "{}", path.display());
}

/// The capture of a vector's run.
fn capture(folder: &Folder, vector: &str, name: &str, more: &[&str]) -> String {
    let out = folder.file(name);
    let mut arguments = vec!["run", vector, "--capture", &out];
    arguments.extend(more);
    tandem(&arguments);
    assert!(Path::new(&out).is_file());
    out
}

/// The folder that is kept of a run of the model on which a payload is broken.
fn kept(folder: &Folder, vector: &str, seed: &str) -> String {
    let failures = folder.file("failures");
    let arguments = [
        "run",
        vector,
        "--inject",
        "payload",
        "--keep-all",
        "--failures",
        &failures,
        "--seed",
        seed,
    ];
    ends(&arguments, 1);
    let suffix = format!("seed{seed}");
    let folders = Path::new(&failures).read_dir().unwrap();
    let mut paths = folders.map(|entry| entry.unwrap().path().display().to_string());
    paths.find(|path| path.ends_with(&suffix)).unwrap()
}

/// One case of `loss/corrupted.toml`: a bit of a payload.
const CORRUPTED: &[&str] = &["--case", "byte = 60"];
const FIRST: &str = "vectors/send/first.toml";

#[test]
fn a_chart_of_a_capture() {
    let folder = Folder::new("chart");
    let lost = capture(
        &folder,
        "vectors/loss/corrupted.toml",
        "lost.pcapng",
        CORRUPTED,
    );
    golden("show.txt", &ends(&["show", &lost], 0), &folder);
    golden(
        "show-narrow.txt",
        &ends(&["show", &lost, "--width", "40", "--to", "2"], 0),
        &folder,
    );
}

#[test]
fn a_window_and_a_queue_pair() {
    let folder = Folder::new("window");
    let all = capture(
        &folder,
        "vectors/loss/one_of_thirty.toml",
        "all.pcapng",
        &[],
    );
    let numbers = |arguments: &[&str]| {
        let text = ends(&[&["show", all.as_str()], arguments].concat(), 0);
        let words = text
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let numbers: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
        numbers
    };
    let whole = numbers(&[]);
    assert!(whole.len() > 10, "{whole:?}");
    assert_eq!(numbers(&["--from", "3", "--to", "5"])[..3], [3, 4, 5]);
    assert!(ends(&["show", &all], 0).contains("[lost]"));
    // The last line counts frames if not all are shown.
    assert_eq!(numbers(&["--from", "999s"]), [0]);
    assert_eq!(numbers(&["--qp", "0xfffff0"]), [0]);
    let text = ends(&["show", &all, "--from", "soon"], 2);
    assert!(
        text.contains("neither the number of a frame nor a time"),
        "{text}"
    );
}

#[test]
fn a_chart_as_svg_needs_nothing_else() {
    let folder = Folder::new("svg");
    let all = capture(
        &folder,
        "vectors/loss/corrupted.toml",
        "all.pcapng",
        CORRUPTED,
    );
    let svg = folder.file("out.svg");
    assert_eq!(ends(&["show", &all, "--svg", &svg], 0), "");
    let text = std::fs::read_to_string(svg).unwrap();
    assert!(
        text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""),
        "{text}"
    );
    assert!(text.contains("prefers-color-scheme: dark"));
    assert!(text.contains("turned over"));
    assert!(!text.contains("href"), "{text}");
    let chart = ends(&["show", &all], 0);
    let rows = chart
        .lines()
        .filter(|line| line.contains(['▶', '◀']))
        .count();
    assert!(rows > 0);
    assert_eq!(text.matches("<g class=").count(), rows);
}

#[test]
fn captures_of_others_have_columns_by_address() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/tests/data/rxe-captures");
    let mut files: Vec<PathBuf> = data
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension.to_string_lossy().starts_with("pcap"))
    });
    assert!(!files.is_empty());
    for file in files {
        let text = ends(&["show", &file.display().to_string()], 0);
        assert!(text.contains('▶'), "{}:\n{text}", file.display());
    }
}

#[test]
fn a_bad_capture_is_one_clear_error() {
    let folder = Folder::new("bad");
    let whole = std::fs::read(capture(&folder, FIRST, "whole.pcapng", &[])).unwrap();
    let bad = folder.file("bad.pcapng");
    for length in [0, 3, 30, whole.len() - 1] {
        std::fs::write(&bad, &whole[..length]).unwrap();
        let text = ends(&["show", &bad], 2);
        assert!(
            text.contains("byte") && text.contains("ends inside"),
            "{length}: {text}"
        );
        assert!(!text.contains("panicked"), "{text}");
        assert!(ends(&["diff", &bad, &bad], 2).contains("ends inside"));
    }
    let text = ends(&["show", &folder.file("")], 2);
    assert!(text.contains("not the folder of a kept failure"), "{text}");
    assert!(ends(&["replay", &folder.file("")], 2).contains("run.json"));
}

#[test]
fn the_first_frame_that_differs_field_by_field() {
    let folder = Folder::new("diff");
    let right = capture(&folder, FIRST, "right.pcapng", &[]);
    let wrong = capture(&folder, FIRST, "wrong.pcapng", &["--inject", "payload"]);
    golden("diff.txt", &ends(&["diff", &right, &wrong], 1), &folder);
    assert_eq!(ends(&["diff", &right, &right], 0), "no difference\n");
    let other = capture(
        &folder,
        "vectors/loss/corrupted.toml",
        "other.pcapng",
        CORRUPTED,
    );
    let text = ends(&["diff", &right, &other], 1);
    assert!(text.contains(" instead of "), "{text}");
}

#[test]
fn the_first_value_of_json_that_differs() {
    let folder = Folder::new("json");
    let (a, b) = (folder.file("a.json"), folder.file("b.json"));
    std::fs::write(
        &a,
        r#"{"runs": [{"title": "x", "frames": 3}, {"title": "y", "frames": 4}]}"#,
    )
    .unwrap();
    std::fs::write(
        &b,
        r#"{"runs": [{"title": "x", "frames": 3}, {"title": "y", "frames": 5}]}"#,
    )
    .unwrap();
    golden("diff-json.txt", &ends(&["diff", &a, &b], 1), &folder);
    std::fs::write(&b, "{\"runs\": [\n 1,").unwrap();
    let text = ends(&["diff", &a, &b], 2);
    assert!(text.contains("b.json, line 2, column 3: EOF"), "{text}");
    let frames = capture(&folder, FIRST, "first.pcapng", &[]);
    assert!(ends(&["diff", &a, &frames], 2).contains("only two of a kind"));
}

#[test]
fn a_kept_failure_is_shown_replayed_and_compared() {
    let folder = Folder::new("kept");
    let first = kept(&folder, FIRST, "1");
    golden("show-kept.txt", &ends(&["show", &first], 0), &folder);
    golden("replay.txt", &ends(&["replay", &first], 0), &folder);
    let second = kept(&folder, FIRST, "2");
    let text = ends(&["diff", &first, &second], 1);
    assert!(text.contains("run.json:\nat /seed\nA 1\nB 2\n"), "{text}");
    assert_eq!(ends(&["diff", &first, &first], 0), "no difference\n");

    // Without the fault it passes, and that is not the same.
    let record = Path::new(&first).join("run.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("\"payload\"", "null")).unwrap();
    assert!(ends(&["replay", &first], 1).contains("it passes now"));
    std::fs::write(&record, "{\n  \"title\": 3\n}\n").unwrap();
    let text = ends(&["replay", &first], 2);
    assert!(
        text.contains("run.json, line 2, column 12: invalid type"),
        "{text}"
    );
}

#[test]
fn a_vector_becomes_smaller_and_fails_in_the_same_way() {
    let folder = Folder::new("shrink");
    let first = kept(&folder, FIRST, "1");
    let text = ends(&["shrink", &first, "--time", "60"], 0);
    golden("shrink.txt", &text, &folder);
    let smaller = Path::new(&first).join("smaller.toml");
    golden(
        "shrink.toml",
        &std::fs::read_to_string(&smaller).unwrap(),
        &folder,
    );
    let file = vector::load(&smaller).unwrap();
    let [small] = file.vectors.as_slice() else {
        panic!("more than one case");
    };
    let whole = vector::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(FIRST)).unwrap();
    assert!(small.steps.len() < whole.vectors[0].steps.len());
    let path = smaller.display().to_string();
    assert!(ends(&["run", &path, "--inject", "payload"], 1).contains("memory `target` differs"));
    // What it asks for is right.
    ends(&["run", &path], 0);
}

#[test]
fn of_several_cases_the_one_that_fails_is_left() {
    let folder = Folder::new("cases");
    let out = folder.file("small.toml");
    let broken = "vectors/write/sizes.toml";
    let arguments = [
        "shrink",
        broken,
        "--inject",
        "payload",
        "-o",
        &out,
        "--case",
        "length = 257",
        "--time",
        "20",
    ];
    ends(&arguments, 0);
    let file = vector::load(Path::new(&out)).unwrap();
    assert_eq!(file.vectors.len(), 1);
    assert_eq!(file.vectors[0].case, "length = 1");
    let text = ends(&["shrink", FIRST, "-o", &out], 2);
    assert!(text.contains("it passes"), "{text}");
}

#[test]
fn random_traffic_becomes_shorter() {
    let folder = Folder::new("traffic");
    let file = folder.file("traffic.toml");
    let text = "name = \"traffic\"\nabout = \"Much of it.\"\n\n[traffic]\nrequests = 200\nqueue_pairs = 2\n";
    std::fs::write(&file, text).unwrap();
    let said = ends(&["shrink", &file, "--inject", "payload", "--time", "30"], 0);
    assert!(said.contains(" of 200 requests"), "{said}");
    let small = vector::load(Path::new(&folder.file("traffic.smaller.toml"))).unwrap();
    let traffic = small.vectors[0].head.traffic.as_ref().unwrap();
    assert!(traffic.requests < 20, "{traffic:?}");
}
