//! Broken vectors, and what is said about them, word for word.
//!
//! Each `broken/<name>.toml` has its text in `broken/<name>.txt`. To write the texts anew after a change of words, run
//! with `TANDEM_BLESS=1` and look at the difference.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken")
}

fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(arguments)
        .current_dir(folder())
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// What it printed on both channels.
fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    // Times and counts of the summary are not about the error.
    let out = out.split("vectors in ").next().unwrap_or_default();
    format!("{out}{err}").trim_end().to_owned() + "\n"
}

#[test]
fn every_broken_vector_gets_its_message() {
    let mut names: Vec<String> = folder()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 20, "{names:?}");
    let mut wrong = Vec::new();
    for name in names {
        let output = tandem(&["run", &name]);
        assert!(!output.status.success(), "{name} was taken");
        let got = text(&output);
        let golden = folder().join(name.replace(".toml", ".txt"));
        if std::env::var_os("TANDEM_BLESS").is_some() {
            std::fs::write(&golden, &got).unwrap();
            continue;
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        if got != expected {
            wrong.push(format!("{name}\nexpected:\n{expected}\ngot:\n{got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn says(arguments: &[&str], words: &str) {
    let output = tandem(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    let got = text(&output);
    assert!(got.contains(words), "{arguments:?} said:\n{got}");
}

#[test]
fn files_that_are_not_there_or_cannot_be_written() {
    says(
        &["run", "nothing.toml"],
        "cannot read nothing.toml: No such file or directory",
    );
    says(&["explain", "nothing.toml"], "cannot read nothing.toml");
    let good = "../../vectors/send/first.toml";
    says(
        &["run", good, "--junit", "no/such/folder.xml"],
        "cannot write no/such/folder.xml",
    );
    says(
        &["run", good, "--capture", "no/such/folder.pcapng"],
        "cannot write no/such/folder.pcapng",
    );
    says(
        &["run", "../../vectors/send", "--capture", "x.pcapng"],
        "are for one vector",
    );
    says(
        &["run", good, "--target", "verilog"],
        "`verilog` is not a target",
    );
    says(
        &["run", good, "--case", "nothing"],
        "no vector has a case with that name",
    );
}
