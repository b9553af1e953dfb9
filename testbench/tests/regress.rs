//! `tandem regress`: shards, kills, what is put together, and what is not counted twice.

#[path = "regress/mod.rs"]
mod common;

use std::path::Path;
use std::process::Stdio;

use common::{Bench, ended, signal, until};
use serde_json::Value;
use tandem_testbench::coverage::data::Data;
use tandem_testbench::regress::Shard;

/// What of each run does not depend on who ran it.
fn outcomes(report: &Value) -> Vec<Value> {
    let runs = report["runs"].as_array().unwrap().iter().cloned();
    runs.map(|mut run| {
        for name in ["seconds", "shard", "cut"] {
            run.as_object_mut().unwrap().remove(name);
        }
        run
    })
    .collect()
}

#[test]
fn results_do_not_depend_on_the_number_of_shards() {
    let bench = Bench::new("shards", 7, 30);
    let said = bench.ends("one", &["--seeds", "3"], 0);
    assert!(
        said.contains("PASSED: 21 of 21 runs passed, 0 failed, 0 flaky, 0 missing"),
        "{said}"
    );
    for shard in Shard::all(4) {
        let said = bench.ends("four", &["--seeds", "3", "--shard", &shard.to_string()], 0);
        assert!(said.contains(&format!("shard {shard}: ")), "{said}");
    }
    bench.ends("four", &["--merge"], 0);
    let (one, four) = (bench.report("one"), bench.report("four"));
    assert_eq!(outcomes(&one), outcomes(&four));
    for name in ["suite", "passed", "frames", "clocks"] {
        assert_eq!(one[name], four[name], "{name}");
    }
    bench.each_once("four", 21);
    assert_eq!(four["shards"].as_array().unwrap().len(), 4);
    let junit = std::fs::read_to_string(bench.path("four/junit.xml")).unwrap();
    assert!(
        junit.contains("tests=\"21\" failures=\"0\" errors=\"0\""),
        "{junit}"
    );
    assert!(
        junit.contains("classname=\"vectors/v03.toml\" name=\"v03, seed 2\""),
        "{junit}"
    );
}

#[test]
fn a_line_of_results_is_enough_to_do_its_run_again() {
    let bench = Bench::new("line", 1, 30);
    bench.ends("all", &["--seed", "9"], 0);
    let line = &bench.lines("all", "ended")[0];
    assert_eq!(
        line["command"],
        "tandem run vectors/v00.toml --target model --seed 9"
    );
    assert_eq!(line["seed"], 9);
    assert_eq!(line["file"], "vectors/v00.toml");
    assert_eq!(line["passed"], true);
    assert_eq!(line["suite"], bench.report("all")["suite"]);
}

/// Kills a shard when some of its runs have ended, and others have not; how many have.
fn kill(bench: &Bench, output: &str, arguments: &[&str]) -> usize {
    let before = bench.lines(output, "began").len();
    let mut shard = bench
        .command(output, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("some runs have ended", 60, || {
        bench.lines(output, "began").len() >= before + 6
    });
    signal("KILL", shard.id());
    assert_eq!(
        shard.wait().unwrap().code(),
        None,
        "it has ended before it was killed"
    );
    bench.lines(output, "ended").len() - before
}

#[test]
fn a_killed_shard_is_found_and_only_what_is_missing_is_run() {
    let bench = Bench::new("killed", 10, 2000);
    let seeds = ["--seeds", "4", "--jobs", "1"];
    bench.ends("all", &[&seeds[..], &["--shard", "2/2"]].concat(), 0);
    let done = kill(&bench, "all", &[&seeds[..], &["--shard", "1/2"]].concat());
    assert!((1..20).contains(&done), "{done}");
    // In the middle of a line.
    let lines = bench.path("all/results/shard-1-of-2.jsonl");
    let mut text = std::fs::read_to_string(&lines).unwrap();
    text.push_str("{\"record\":\"ended\",\"run\":3,\"suite\":\"");
    std::fs::write(&lines, text).unwrap();

    let said = bench.ends("all", &["--merge"], 1);
    assert!(said.contains("shard 1/2 has ended too early"), "{said}");
    assert!(!said.contains("shard 2/2"), "{said}");
    assert!(
        said.contains("was under way when its program ended"),
        "{said}"
    );
    let report = bench.report("all");
    let missing = report["missing"].as_u64().unwrap() as usize;
    assert_eq!(report["passed"].as_u64().unwrap() as usize + missing, 40);
    assert!(missing > 0);
    let junit = std::fs::read_to_string(bench.path("all/junit.xml")).unwrap();
    assert!(junit.contains(&format!("errors=\"{missing}\"")), "{junit}");

    let said = bench.ends("all", &["--merge", "--rerun"], 0);
    assert!(said.contains("going on with what was begun"), "{said}");
    assert!(said.contains("PASSED: 40 of 40 runs passed"), "{said}");
    bench.each_once("all", 40);
    // Nothing is left to do.
    let said = bench.ends("all", &seeds, 0);
    assert!(said.contains("40 of 40 runs have ended"), "{said}");
    bench.each_once("all", 40);
}

#[test]
fn coverage_of_a_killed_shard_is_counted_once() {
    let bench = Bench::new("coverage", 6, 1500);
    let arguments = ["--seeds", "2", "--jobs", "1", "--cover"];
    kill(&bench, "all", &arguments);
    let said = bench.ends("all", &arguments, 0);
    assert!(said.contains("PASSED: 12 of 12 runs passed"), "{said}");
    bench.ends("whole", &arguments, 0);
    let hits = |output: &str| {
        let mut data = Data::default();
        data.read(&bench.path(output).join("coverage")).unwrap();
        data.functional.hits()
    };
    let whole = hits("whole");
    assert!(whole.values().any(|bins| !bins.is_empty()));
    assert_eq!(hits("all"), whole);
    let said = bench.ends("all", &["--seeds", "2"], 2);
    assert!(
        said.contains("it has with coverage, this is without coverage"),
        "{said}"
    );
}

#[test]
fn another_suite_is_refused() {
    let bench = Bench::new("mixed", 3, 20);
    bench.ends("all", &["--seeds", "2"], 0);
    let said = bench.ends("all", &["--seeds", "3"], 2);
    assert!(said.contains("it has 2 seeds, this is 3 seeds"), "{said}");
    let said = bench.ends("all", &["--seeds", "2", "--scheduler", "random"], 2);
    assert!(
        said.contains("the vectors' schedulers, this is scheduler random"),
        "{said}"
    );
    bench.vector(1, 21);
    let said = bench.ends("all", &["--merge"], 2);
    assert!(
        said.contains("the vectors are not the same, or have changed"),
        "{said}"
    );
    bench.vector(3, 20);
    let said = bench.ends("all", &["--seeds", "2"], 2);
    assert!(said.contains("it has 6 runs, this is 8"), "{said}");

    // Results of another suite that somebody has put there.
    bench.ends("other", &["--seeds", "2"], 0);
    std::fs::copy(
        bench.path("all/results/shard-1-of-1.jsonl"),
        bench.path("other/results/shard-1-of-2.jsonl"),
    )
    .unwrap();
    let said = bench.ends("other", &["--merge"], 2);
    assert!(said.contains("shard 1/1 is of another suite"), "{said}");
    let said = bench.ends("other", &["--seeds", "2", "--fresh"], 0);
    assert!(said.contains("PASSED: 8 of 8 runs passed"), "{said}");
    let said = bench.ends("never", &["--merge"], 2);
    assert!(said.contains("no regression was begun here"), "{said}");
}

#[test]
fn another_build_or_commit_is_refused() {
    let bench = Bench::new("build", 1, 20);
    bench.ends("all", &[], 0);
    let path = bench.path("all/regress.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let begun: Value = serde_json::from_str(&text).unwrap();
    for (name, words) in [
        ("program", "it was begun by another build of this program"),
        ("commit", "it is of commit 0123"),
    ] {
        let mut other = begun.clone();
        if other[name].is_null() {
            // No repository, no commit.
            continue;
        }
        other[name] = "0123".into();
        std::fs::write(&path, other.to_string()).unwrap();
        let said = bench.ends("all", &["--merge"], 2);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn failures_are_done_again_and_kept() {
    let bench = Bench::new("failures", 4, 30);
    let arguments = ["--seeds", "2", "--inject", "payload", "--traces", "1"];
    let said = bench.ends("all", &arguments, 1);
    assert!(
        said.contains("FAILED: 0 of 8 runs passed, 8 failed"),
        "{said}"
    );
    assert!(
        said.contains("run it again with:\n  tandem run all/failures/"),
        "{said}"
    );
    let report = bench.report("all");
    let kinds = report["kinds"].as_array().unwrap();
    let runs = report["runs"].as_array().unwrap();
    let kept: Vec<&Value> = runs
        .iter()
        .filter(|run| run["files"] != Value::Array(vec![]))
        .collect();
    assert_eq!(kept.len(), kinds.len(), "one of each kind: {report:#}");
    for run in runs {
        assert_eq!(run["verdict"], "failed");
        assert_eq!(run["passed_again"], false);
    }
    for file in kept.iter().flat_map(|run| run["files"].as_array().unwrap()) {
        assert!(bench.path(file.as_str().unwrap()).is_file(), "{file}");
    }
    let names = ["frames.pcapng", "report.txt", "run.json", "vector.toml"];
    let folder = Path::new(kept[0]["files"][0].as_str().unwrap())
        .parent()
        .unwrap();
    for name in names {
        assert!(
            bench
                .path(&folder.join(name).display().to_string())
                .is_file(),
            "{name}"
        );
    }
    // They are not done again once more.
    bench.ends("all", &arguments, 1);
    assert_eq!(bench.lines("all", "again").len(), 8);
}

#[test]
fn what_fails_once_is_flaky_and_not_a_pass() {
    let bench = Bench::new("flaky", 3, 30);
    bench.ends("all", &["--shard", "1/1"], 0);
    // As if a run had met with a machine that was broken.
    let lines = bench.path("all/results/shard-1-of-1.jsonl");
    let text = std::fs::read_to_string(&lines).unwrap();
    let (pass, fail) = (
        "\"seed\":1,\"target\":\"model\",\"shard\":\"1/1\",\"passed\":true",
        "\"seed\":1,\"target\":\"model\",\"shard\":\"1/1\",\"passed\":false",
    );
    assert!(text.contains(pass), "{text}");
    std::fs::write(&lines, text.replacen(pass, fail, 1)).unwrap();
    let said = bench.ends("all", &["--merge"], 1);
    assert!(
        said.contains("FLAKY, failed and passed with the same seed"),
        "{said}"
    );
    assert!(
        said.contains("FAILED: 2 of 3 runs passed, 0 failed, 1 flaky, 0 missing"),
        "{said}"
    );
    let junit = std::fs::read_to_string(bench.path("all/junit.xml")).unwrap();
    assert!(junit.contains("failures=\"1\" errors=\"0\""), "{junit}");
    assert!(
        junit.contains("message=\"flaky, it passed with the same seed"),
        "{junit}"
    );
}

#[test]
fn a_shard_runs_once_at_a_time() {
    let bench = Bench::new("busy", 4, 4000);
    let mut first = bench
        .command("all", &["--seeds", "4", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("it has begun", 60, || {
        !bench.lines("all", "began").is_empty()
    });
    for arguments in [&["--seeds", "4"][..], &["--seeds", "4", "--shard", "1/2"]] {
        let said = bench.ends("all", arguments, 2);
        assert!(said.contains("shard 1/1 runs already"), "{said}");
    }
    let said = bench.ends("all", &["--seeds", "4", "--fresh"], 2);
    assert!(said.contains("a shard of it runs already"), "{said}");
    let said = bench.ends("all", &["--merge"], 1);
    assert!(said.contains("shard 1/1 runs still"), "{said}");
    signal("INT", first.id());
    assert_eq!(first.wait().unwrap().code(), Some(130));
    assert!(bench.lines("all", "ended").len() < 16);
    bench.ends("all", &["--resume"], 0);
    bench.each_once("all", 16);
    // Nor was a run counted that had been stopped before its end.
    bench.ends("whole", &["--seeds", "4"], 0);
    assert_eq!(
        bench.report("all")["frames"],
        bench.report("whole")["frames"]
    );
}

#[test]
fn what_is_asked_for_must_make_sense() {
    let bench = Bench::new("senseless", 1, 20);
    for (arguments, words) in [
        (&["--shard", "3/2"][..], "`3/2` is not a shard"),
        (&["--case", "nothing"], "there is nothing to run"),
        (&["--seeds", "0"], "0 is not in 1.."),
        (&["--rerun"], "--merge"),
    ] {
        let said = bench.ends("all", arguments, 2);
        assert!(said.contains(words), "{said}");
    }
    let said = bench.command("vectors/v00.toml/x", &[]).output().unwrap();
    let said = ended(&said, 2);
    assert!(said.contains("vectors/v00.toml"), "{said}");
    // The same vector twice is one.
    let twice = bench
        .command("all", &["vectors/v00.toml", "--json", "--seed", "4,4,5"])
        .output();
    let report: Value = serde_json::from_slice(&twice.unwrap().stdout).unwrap();
    assert_eq!(report["passed"], 2);
}

/// A program in the place of `sbatch` that keeps what it is asked for, and refuses.
fn refusing(bench: &Bench) {
    use std::os::unix::fs::PermissionsExt;
    let folder = bench.path("programs");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("sbatch");
    let text = "#!/bin/sh\nprintf '%s\\n' \"$@\" > asked\necho 'no more today' >&2\nexit 1\n";
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn options_are_passed_on_to_slurm_and_what_it_refuses_is_told() {
    let bench = Bench::new("options", 5, 20);
    refusing(&bench);
    let arguments = [
        "--slurm",
        "--seeds",
        "2",
        "--shards",
        "40",
        "--jobs",
        "3",
        "--at-once",
        "2",
        "--partition",
        "short",
        "--time",
        "1:00",
        "--sbatch=--mem=4G",
        "--sbatch=--nice",
    ];
    let mut command = bench.command("all", &arguments);
    let output = command.env("PATH", "programs:/usr/bin:/bin").output();
    let said = ended(&output.unwrap(), 2);
    assert!(said.contains("was refused: no more today"), "{said}");
    let asked = std::fs::read_to_string(bench.path("asked")).unwrap();
    let log = bench.path("all/slurm/%A_%a.log").display().to_string();
    let script = bench.path("all/slurm/shard.sh");
    let wanted = [
        "--job-name=tandem-regress",
        &format!("--output={log}"),
        "--open-mode=append",
        "--cpus-per-task=3",
        "--partition=short",
        "--time=1:00",
        "--mem=4G",
        "--nice",
        // There are no more than ten runs.
        "--array=1-10%2",
        "--parsable",
        &script.display().to_string(),
    ];
    assert_eq!(asked.lines().collect::<Vec<_>>(), wanted);
    let script = std::fs::read_to_string(script).unwrap();
    assert!(
        script.contains("--shard \"$SLURM_ARRAY_TASK_ID/10\" --jobs 3"),
        "{script}"
    );
}
