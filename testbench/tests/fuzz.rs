//! `tandem fuzz`: a fixed set of cases passes, and what is wrong on purpose is found, made small, and fails in the same
//! way as an ordinary vector.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tandem_testbench::fuzz::{Summary, Wish, hunt};
use tandem_testbench::targets::Inject;
use tandem_testbench::world::RunOptions;

fn wish(cases: u64, options: RunOptions) -> Wish {
    Wish {
        seed: 7,
        first: 0,
        cases,
        steps: 40,
        nodes: 4,
        time: None,
        failures: 1,
        jobs: 2,
        options,
        scheduler: None,
    }
}

fn all_pass(summary: &Summary) {
    let failed: Vec<String> = summary
        .found
        .iter()
        .map(|found| format!("{}\n{}", found.failure.fault.message, found.text))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_fixed_set_of_cases_passes_on_the_model_and_reaches_everything() {
    let summary = hunt(&wish(250, RunOptions::default()), &|_| {});
    all_pass(&summary);
    assert_eq!(summary.cases, 250);
    let tally = &summary.tally;
    for kind in [
        "send",
        "send and invalidate",
        "receive",
        "read",
        "write",
        "bind",
        "fast registration",
        "invalidation",
        "shared receive",
    ] {
        assert!(tally.requests[kind] > 50, "{kind}: {:?}", tally.requests);
    }
    for result in [
        "Send STATUS_SUCCESS",
        "Receive STATUS_SUCCESS",
        "ReceiveAndInvalidate STATUS_SUCCESS",
        "Read STATUS_SUCCESS",
        "Write STATUS_SUCCESS",
        "Write STATUS_CANCELLED",
        "Write STATUS_IO_TIMEOUT",
        "Write STATUS_REMOTE_RESOURCES",
        "Read STATUS_ACCESS_VIOLATION",
        "Receive STATUS_BUFFER_OVERFLOW",
        "Receive STATUS_CANCELLED",
        "Bind STATUS_SUCCESS",
        "Bind STATUS_ACCESS_VIOLATION",
        "FastRegister STATUS_SUCCESS",
        "Invalidate STATUS_SUCCESS",
        "Invalidate STATUS_INVALID_DEVICE_REQUEST",
    ] {
        assert!(tally.results.contains_key(result), "{:?}", tally.results);
    }
    for counter in ["GO_BACKS", "TIMEOUTS", "RNR_WAITS", "DUPLICATES"] {
        assert!(tally.counters[counter] > 0, "{:?}", tally.counters);
    }
    for done in [
        "read through a window",
        "write through a window",
        "read of a registration",
        "write to a registration",
        "registration used here",
    ] {
        assert!(summary.memory[done] > 5, "{:?}", summary.memory);
    }
    for meeting in [
        "made",
        "nobody listens",
        "request rejected",
        "reply rejected",
        "given up",
    ] {
        assert!(summary.meetings[meeting] > 3, "{:?}", summary.meetings);
    }
    for ending in ["disconnect", "abort", "reconnect"] {
        assert!(summary.moves[ending] > 5, "{:?}", summary.moves);
    }
    for impairment in [
        "drop",
        "duplicate",
        "reorder",
        "corrupt",
        "delay",
        "hold",
        "throttle",
        "pause",
    ] {
        let seen = &summary.impairments;
        assert!(seen.contains_key(impairment), "{seen:?}");
    }
}

fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(arguments)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Finds what is wrong, twice, and runs the vector that is left.
fn is_found(inject: Inject, word: &str, most: usize, says: &str) {
    let options = RunOptions {
        inject: Some(inject),
        ..RunOptions::default()
    };
    let wish = Wish {
        jobs: 1,
        ..wish(500, options)
    };
    let (first, again) = (hunt(&wish, &|_| {}), hunt(&wish, &|_| {}));
    let (found, again) = (&first.found[0], &again.found[0]);
    assert_eq!(found.text, again.text, "another vector the second time");
    assert!(found.moves[1] <= most, "{:?}\n{}", found.moves, found.text);

    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz_{word}"));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}.toml", found.name));
    std::fs::write(&file, &found.text).unwrap();
    let file = file.to_string_lossy().into_owned();
    let message = &found.failure.fault.message;
    assert!(message.contains(says), "{message}");
    let runs: Vec<String> = (0..2)
        .map(|_| {
            let output = tandem(&["run", &file, "--inject", word]);
            assert!(!output.status.success());
            text(&output).split("vectors in").next().unwrap().to_owned()
        })
        .collect();
    assert_eq!(runs[0], runs[1]);
    // A terminal breaks lines.
    let words = |text: &str| -> String {
        let words = text.split(|c: char| c.is_whitespace() || c == '│');
        words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let (told, message) = (words(&runs[0]), words(message));
    assert!(told.contains(message.as_str()), "{told}\n{message}");
    assert!(
        tandem(&["run", &file]).status.success(),
        "sound targets fail"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_peer_that_sends_wrong_bytes_is_found() {
    is_found(Inject::Payload, "payload", 2, "may hold");
}

#[test]
fn a_peer_that_accepts_what_it_refuses_is_found() {
    is_found(Inject::Refusal, "refusal", 3, "");
}

#[test]
fn a_failure_is_kept_as_a_vector_and_ends_the_command() {
    let keep = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz_keep");
    let _ = std::fs::remove_dir_all(&keep);
    let folder = keep.to_string_lossy().into_owned();
    let output = tandem(&[
        "fuzz", "--seed", "3", "--cases", "100", "--inject", "payload", "--jobs", "1", "--keep",
        &folder,
    ]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let files: Vec<_> = keep.read_dir().unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(said.contains("kept as a regression:"), "{said}");
    assert!(said.contains("tandem run "), "{said}");
    std::fs::remove_dir_all(&keep).unwrap();
    let output = tandem(&["fuzz", "--seed", "3", "--cases", "5", "--keep", &folder]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(!keep.exists());
}

#[cfg(feature = "rtl")]
mod lockstep {
    use std::collections::BTreeMap;

    use super::*;
    use tandem_testbench::vector::TargetKind;

    #[test]
    fn some_cases_pass_on_the_engine_in_lockstep() {
        let options = RunOptions {
            target: TargetKind::Rtl,
            ..RunOptions::default()
        };
        let summary = hunt(&wish(6, options), &|_| {});
        all_pass(&summary);
        assert!(summary.checked.actions > 300, "{:?}", summary.checked);
    }

    #[test]
    fn some_cases_pass_in_worlds_of_both_kinds() {
        let models = ["a", "c"].map(|node| (node.to_owned(), TargetKind::Model));
        let options = RunOptions {
            target: TargetKind::Rtl,
            node_targets: BTreeMap::from(models),
            ..RunOptions::default()
        };
        all_pass(&hunt(&wish(6, options), &|_| {}));
    }
}
