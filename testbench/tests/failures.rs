//! What a run that fails on the engine leaves behind. The engine is sound; what is wrong is put in at its ports.
#![cfg(feature = "rtl")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tandem_testbench::vector;

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

fn tandem(arguments: &[&str], failures: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(arguments)
        .arg("--failures")
        .arg(failures)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
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

/// All files are there and what they should be; returns the report.
fn whole(folder: &Path) -> String {
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

#[test]
fn a_divergence_leaves_everything_and_happens_again() {
    let folder = Folder::new("divergence");
    let output = tandem(
        &["run", FIRST, "--target", "rtl", "--inject", "frame"],
        &folder.0,
    );
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let kept = folder.only();
    let report = whole(&kept);
    for part in [
        "divergence on node a",
        "first difference at byte 64",
        "run it again with:",
    ] {
        assert!(report.contains(part), "no {part:?} in:\n{report}");
        assert!(said.contains(part), "no {part:?} in:\n{said}");
    }
    assert!(!report.contains("debug build"), "{report}");
    for file in ["report.txt", "vector.toml", "frames.pcapng", "wave.a.fst"] {
        let path = kept.join(file).display().to_string();
        assert!(said.contains(&path), "no {path} in:\n{said}");
    }
    let vector = std::fs::read_to_string(kept.join("vector.toml")).unwrap();
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIRST);
    assert_eq!(vector, std::fs::read_to_string(original).unwrap());

    let second = Folder::new("divergence-again");
    let arguments = again(&said);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let repeated = text(&tandem(&arguments, &second.0));
    let divergence = |text: &str| {
        let from = text.find("\nnode a: divergence").unwrap();
        text[from..text.find("kept of it").unwrap()].to_owned()
    };
    assert_eq!(divergence(&repeated), divergence(&said));
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
