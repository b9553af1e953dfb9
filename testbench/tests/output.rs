//! `--json` and `--quiet`, on every command: with the one the standard output is one JSON document whatever happens, with
//! the other nothing but results, failures and the verdict.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const FIRST: &str = "testbench/vectors/send/first.toml";

/// Commands whose output is for another program as it is.
const NEITHER: [&str; 3] = ["completions", "man", "help"];

/// A command line, and what is to be seen.
struct Case {
    /// Its words; `{}` stands for a folder with a capture, a kept failure and coverage.
    line: &'static str,
    status: i32,
    /// A pointer into the document, and what is there in text.
    json: (&'static str, &'static str),
    /// A part of what `--quiet` leaves.
    quiet: &'static str,
    /// Whether it leaves all: what was asked for is there in either case.
    shows: bool,
}

const fn judges(
    line: &'static str,
    status: i32,
    json: (&'static str, &'static str),
    quiet: &'static str,
) -> Case {
    Case {
        line,
        status,
        json,
        quiet,
        shows: false,
    }
}

const fn shows(
    line: &'static str,
    json: (&'static str, &'static str),
    quiet: &'static str,
) -> Case {
    Case {
        line,
        status: 0,
        json,
        quiet,
        shows: true,
    }
}

const CASES: [Case; 35] = [
    judges(
        "run testbench/vectors/send/first.toml",
        0,
        ("/passed", "true"),
        "1 of 1 vector runs passed",
    ),
    judges(
        "run testbench/vectors/send/first.toml --inject payload",
        1,
        ("/failures/0/kind", "wrong_result"),
        "FAILED first: wrong result",
    ),
    judges(
        "run testbench/vectors/send/first.toml --target netlist",
        1,
        ("/failures/0/kind", "stopped"),
        "FAILED first: stopped",
    ),
    judges(
        "run no/such/file.toml",
        2,
        ("/error", "no/such/file.toml"),
        "",
    ),
    judges(
        "random --requests 300",
        0,
        ("/report/requests/write", ""),
        "on target model",
    ),
    judges(
        "random --requests 300 --inject payload",
        1,
        ("/failures/0/command", "tandem random"),
        "FAILED",
    ),
    judges(
        "regress testbench/vectors/send/first.toml --seeds 2 -o {}/regress$",
        0,
        ("/passed", "2"),
        "PASSED: 2 of 2 runs passed",
    ),
    judges(
        "fuzz --cases 2 --keep {}",
        0,
        ("/cases", "2"),
        "2 of 2 cases passed",
    ),
    judges(
        "explore send sink",
        0,
        ("/0/outcome", "holds"),
        "2 of 2 worlds hold",
    ),
    judges(
        "explore send --fault ack-before-data",
        1,
        ("/0/outcome", "broken"),
        "BROKEN",
    ),
    judges(
        "explore nowhere",
        2,
        ("/error", "there is no world `nowhere`"),
        "",
    ),
    shows("explore --list", ("/0/name", ""), "send"),
    judges(
        "signoff testbench/vectors/send/first.toml -o {}/signoff --seeds 1 --requests 200 --cases 1 --skip lint",
        1,
        ("/verdict/against/0", ""),
        "NOT SIGNED OFF",
    ),
    judges("plan", 0, ("/0/id", "-"), "0 of"),
    shows("plan NDK-READ-1", ("/0/id", "NDK-READ-1"), "NDK-READ-1"),
    shows("plan --open", ("/0/missing", ""), "duties are open"),
    judges(
        "cover {}/cover",
        0,
        ("/functional/total", ""),
        "as much is covered as is asked for",
    ),
    judges(
        "cover {}/cover --functional 100",
        1,
        ("/functional/total", ""),
        "less is covered than is asked for",
    ),
    shows("cover --points", ("/0/axes/0/bins/0", ""), "never:"),
    judges(
        "check --capture {}/first.pcapng",
        0,
        ("/roce", "2"),
        "no violation",
    ),
    shows(
        "diff {}/first.pcapng {}/first.pcapng",
        ("/same", "true"),
        "no difference",
    ),
    shows_difference("diff {}/first.pcapng {}/kept"),
    judges(
        "replay {}/kept",
        0,
        ("/same", "true"),
        "it fails in the same way",
    ),
    judges(
        "shrink {}/kept --out {}/smaller.toml",
        0,
        ("/file", "smaller.toml"),
        "run it with",
    ),
    judges("doctor", 9, ("/0/name", "engine"), "on the engine"),
    judges("list", 0, ("/0/file", ".toml"), "first.toml"),
    judges("list --field-bugs", 0, ("/0/id", ""), "A"),
    judges("list --matrix", 0, ("/0/operation", ""), "no flag"),
    shows(
        "explain testbench/vectors/send/first.toml",
        ("/text", "node"),
        "node",
    ),
    shows("schema", ("/$schema", "json-schema"), "json-schema"),
    shows(
        "show {}/first.pcapng",
        ("/rows/0/label", "SEND Only"),
        "SEND Only",
    ),
    shows("show {}/kept", ("/end", "memory `target` differs"), "✗"),
    shows(
        "bench --model-only --model-requests 500",
        ("/0/unit", ""),
        "requests",
    ),
    judges("new {}/fresh$.toml", 0, ("/command", "tandem run"), ".toml"),
    judges(
        "new {}/first.pcapng/x.toml",
        2,
        ("/error", "cannot write"),
        "",
    ),
];

/// A difference is what was asked for, and a failure.
const fn shows_difference(line: &'static str) -> Case {
    Case {
        line,
        status: 1,
        json: ("/difference", "instead of"),
        quiet: "instead of",
        shows: true,
    }
}

fn tandem(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(words)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .env("NO_COLOR", "1")
        .env("TANDEM_CONFIG", "")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A capture, a failure that was kept, and coverage.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (capture, cover, failures) = (path("first.pcapng"), path("cover"), path("failures"));
    let ran = tandem(&["run", FIRST, "--capture", &capture, "--cover", &cover]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stdout));
    let failed = [
        "run",
        FIRST,
        "--inject",
        "payload",
        "--keep-all",
        "--failures",
        &failures,
    ];
    assert_eq!(tandem(&failed).status.code(), Some(1));
    let kept: PathBuf = Path::new(&failures).join("first-seed1");
    std::fs::rename(kept, folder.path().join("kept")).unwrap();
    folder
}

/// The words of a case, with an option more; each run has file names of its own.
fn words(case: &Case, folder: &Path, option: Option<&str>) -> Vec<String> {
    let words = case.line.split(' ').map(|word| {
        let word = word.replace("{}", folder.to_str().unwrap());
        word.replace('$', option.unwrap_or_default().trim_start_matches('-'))
    });
    words.chain(option.map(str::to_owned)).collect()
}

#[test]
fn every_command_has_a_case_or_neither_option() {
    let help = text(&tandem(&["--help"]).stdout);
    let commands = help.split("Commands:\n").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap();
    let named: BTreeSet<&str> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(named.len() > 15, "{named:?}");
    let tried = CASES.iter().filter_map(|case| case.line.split(' ').next());
    let known: BTreeSet<&str> = tried.chain(NEITHER).collect();
    assert_eq!(
        named, known,
        "each command stands in the table of this test"
    );
    for (command, option) in [("completions", "bash"), ("man", "--output=x")] {
        let refused = tandem(&[command, option, "--json"]);
        assert_eq!(refused.status.code(), Some(2), "{command}");
    }
}

#[test]
fn json_is_one_document_and_quiet_leaves_failures_and_the_verdict() {
    let folder = folder();
    for case in &CASES {
        let run = |option: Option<&str>| {
            let words = words(case, folder.path(), option);
            tandem(&words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let line = case.line;
        let full = run(None);
        let status = full.status.code();
        match case.status {
            // Whether there is an engine depends on the build.
            9 => assert!(matches!(status, Some(0 | 1)), "{line}: {status:?}"),
            wanted => assert_eq!(
                status,
                Some(wanted),
                "{line}:\n{}{}",
                text(&full.stdout),
                text(&full.stderr)
            ),
        }

        let json = run(Some("--json"));
        assert_eq!(json.status.code(), status, "{line}: {}", text(&json.stderr));
        let printed = text(&json.stdout);
        let document: Value = serde_json::from_str(&printed)
            .unwrap_or_else(|error| panic!("{line}: {error} in\n{printed}"));
        let (pointer, part) = case.json;
        let value = document.pointer(pointer);
        let value = value.unwrap_or_else(|| panic!("{line}: no {pointer} in\n{printed}"));
        assert!(
            value.to_string().contains(part),
            "{line}: {pointer} is {value}"
        );

        let quiet = run(Some("--quiet"));
        assert_eq!(quiet.status.code(), status, "{line}");
        let (full, quiet, said) = (text(&full.stdout), text(&quiet.stdout), text(&quiet.stderr));
        assert!(
            quiet.contains(case.quiet),
            "{line}: no {:?} in\n{quiet}",
            case.quiet
        );
        match case.status {
            0 => assert!(said.is_empty(), "{line}: {said}"),
            2 => assert!(!said.is_empty() && quiet.is_empty(), "{line}: {quiet}"),
            _ => {}
        }
        match case.shows {
            // Times differ from run to run.
            true => assert_eq!(full.lines().count(), quiet.lines().count(), "{line}"),
            // A failure may be all that there is to tell.
            false if case.status != 0 => assert!(
                quiet.lines().count() <= full.lines().count(),
                "{line}: {quiet}\n{full}"
            ),
            false => assert!(
                quiet.lines().count() < full.lines().count(),
                "{line}: nothing is left out of\n{full}"
            ),
        }
    }
}

#[test]
fn of_both_the_last_one_counts() {
    let told = |words: &[&str]| text(&tandem(&[&["run", FIRST], words].concat()).stdout);
    assert!(told(&["--json", "--quiet"]).starts_with("1 of 1 vector runs"));
    assert!(told(&["--quiet", "--json"]).starts_with('{'));
}
