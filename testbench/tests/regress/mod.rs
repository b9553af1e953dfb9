//! What the tests of regressions have in common: vectors, a folder, and reading what lies there.
// Each test file uses its part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder that is gone when the test is over, with vectors of random traffic.
pub struct Bench(pub PathBuf);

impl Bench {
    /// So many vectors of so many requests.
    pub fn new(name: &str, vectors: u32, requests: u32) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("regress-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        let bench = Self(path);
        std::fs::create_dir_all(bench.0.join("vectors")).unwrap();
        for number in 0..vectors {
            bench.vector(number, requests);
        }
        bench
    }

    pub fn vector(&self, number: u32, requests: u32) {
        let text = format!(
            "name = \"v{number:02}\"\nabout = \"Random traffic.\"\n\n[traffic]\nrequests = {requests}\n\
             queue_pairs = {}\nmax_size = 4096\nmegabyte_every = 0\n",
            1 + number % 5
        );
        std::fs::write(self.0.join(format!("vectors/v{number:02}.toml")), text).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// `tandem regress` on the vectors, with results in a folder.
    pub fn command(&self, output: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        command
            .arg("regress")
            .args(["--output", output])
            .args(arguments)
            .current_dir(&self.0)
            .env("NO_COLOR", "1")
            .env("TANDEM_CONFIG", "")
            .env_remove("COLUMNS");
        if !arguments
            .iter()
            .any(|word| ["--resume", "--merge"].contains(word))
        {
            command.arg("vectors");
        }
        command
    }

    /// Runs it, and compares the code it ends with; what it printed, on either stream.
    pub fn ends(&self, output: &str, arguments: &[&str], code: i32) -> String {
        ended(&self.command(output, arguments).output().unwrap(), code)
    }

    /// The lines of all shards that have a name.
    pub fn lines(&self, output: &str, record: &str) -> Vec<Value> {
        let mut lines = Vec::new();
        let results = self.path(output).join("results");
        for entry in std::fs::read_dir(results).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                let text = std::fs::read_to_string(path).unwrap();
                let whole = text
                    .lines()
                    .filter_map(|line| serde_json::from_str(line).ok());
                lines.extend(whole.filter(|line: &Value| line["record"] == record));
            }
        }
        lines
    }

    pub fn report(&self, output: &str) -> Value {
        let text = std::fs::read_to_string(self.path(output).join("report.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// No run has ended twice, and so many have ended.
    pub fn each_once(&self, output: &str, runs: usize) {
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        for line in self.lines(output, "ended") {
            *counts.entry(line["run"].as_u64().unwrap()).or_default() += 1;
        }
        assert_eq!(counts.len(), runs);
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a program printed, on either stream; it must have ended with this code.
pub fn ended(output: &Output, code: i32) -> String {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    // Errors are wrapped, by the length of the paths in them.
    let text = text.concat().replace("\n  │ ", " ");
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

/// Waits until something is so.
pub fn until(what: &str, seconds: u64, so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(
            start.elapsed() < Duration::from_secs(seconds),
            "waited too long until {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to a process.
pub fn signal(name: &str, process: u32) {
    let kill = format!("kill -s {name} {process}");
    let status = Command::new("sh").args(["-c", &kill]).status();
    assert!(status.unwrap().success());
}
