//! `tandem regress --slurm` on a real Slurm of one machine, which the test starts and ends. It needs Debian's `slurm-wlm`:
//! `cargo xtask test` runs it where that is, and says so where it is not.

#[path = "regress/mod.rs"]
mod common;
#[path = "slurm/farm.rs"]
mod farm;

use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use common::{Bench, ended, signal, until};
use farm::Farm;
use serde_json::Value;

const VECTORS: u32 = 10;
const SEEDS: usize = 4;
const RUNS: usize = VECTORS as usize * SEEDS;
const ARGUMENTS: [&str; 7] = ["--seeds", "4", "--slurm", "--shards", "4", "--poll", "0.3"];

fn start(farm: &Farm, bench: &Bench, output: &str, arguments: &[&str]) -> Child {
    let mut command = bench.command(output, arguments);
    farm.own(&mut command);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The last program that runs a shard, once it has ended a run; `None` before.
fn program(bench: &Bench, output: &str, shard: &str) -> Option<Value> {
    let done = bench.lines(output, "ended");
    done.iter().find(|line| line["shard"] == shard)?;
    let mut opened = bench.lines(output, "opened");
    opened.retain(|line| line["shard"] == shard);
    opened.pop()
}

/// Two shards are killed in the middle: the process of one, and the task of another one.
fn killed_shards_are_run_again(farm: &Farm) {
    let bench = Bench::new("slurm", VECTORS, 3000);
    let collector = start(farm, &bench, "all", &ARGUMENTS);
    until("two shards are under way", 60, || {
        ["1/4", "2/4"]
            .iter()
            .all(|shard| program(&bench, "all", shard).is_some())
    });
    let process = program(&bench, "all", "1/4").unwrap()["process"]
        .as_u64()
        .unwrap();
    signal("KILL", u32::try_from(process).unwrap());
    let task = program(&bench, "all", "2/4").unwrap()["job"]
        .as_str()
        .unwrap()
        .to_owned();
    let cancelled = farm
        .command("scancel")
        .args(["--full", "--signal=KILL", &task])
        .status();
    assert!(cancelled.unwrap().success());
    let said = ended(&collector.wait_with_output().unwrap(), 0);
    for words in [
        "shards 1/4 to 4/4",
        "shard 1/4 was lost with",
        "shard 2/4 was lost with",
    ] {
        assert!(said.contains(words), "no {words:?} in:\n{said}");
    }
    let passed = format!("PASSED: {RUNS} of {RUNS} runs passed, 0 failed, 0 flaky, 0 missing");
    assert!(said.contains(&passed), "{said}");
    bench.each_once("all", RUNS);
    let report = bench.report("all");
    let shards = report["shards"].as_array().unwrap();
    let programs = shards
        .iter()
        .map(|shard| shard["programs"].as_array().unwrap().len());
    assert_eq!(programs.collect::<Vec<_>>(), [2, 2, 1, 1], "{said}");
}

/// Ctrl-C takes the jobs out of the queue, and what there is is told; then it goes on.
fn ctrl_c_cancels_and_it_can_go_on(farm: &Farm) {
    let bench = Bench::new("slurm-stop", VECTORS, 3000);
    let collector = start(farm, &bench, "all", &ARGUMENTS);
    until("a run has ended", 60, || {
        !bench.lines("all", "ended").is_empty()
    });
    signal("INT", collector.id());
    let said = ended(&collector.wait_with_output().unwrap(), 130);
    assert!(said.contains("cancelled: jobs"), "{said}");
    assert!(
        bench.report("all")["missing"].as_u64().unwrap() > 0,
        "{said}"
    );
    until("the queue is empty", 20, || farm.active().is_empty());
    let again = ["--resume", "--slurm", "--shards", "4", "--poll", "0.3"];
    let collector = start(farm, &bench, "all", &again);
    ended(&collector.wait_with_output().unwrap(), 0);
    bench.each_once("all", RUNS);
}

/// A collector that was killed leaves its jobs; the next one finds them, and waits for them.
fn a_collector_may_be_killed(farm: &Farm) {
    let bench = Bench::new("slurm-collector", VECTORS, 3000);
    let mut collector = start(farm, &bench, "all", &ARGUMENTS);
    until("a run has ended", 60, || {
        !bench.lines("all", "ended").is_empty()
    });
    signal("KILL", collector.id());
    collector.wait().unwrap();
    let other = ["--seeds", "4", "--slurm", "--shards", "3", "--poll", "0.3"];
    let collector = start(farm, &bench, "all", &other);
    let said = ended(&collector.wait_with_output().unwrap(), 2);
    assert!(
        said.contains("still runs this regression in 4 shards"),
        "{said}"
    );
    assert_ne!(farm.active(), "", "what runs in four shards goes on");
    let collector = start(farm, &bench, "all", &ARGUMENTS);
    let said = ended(&collector.wait_with_output().unwrap(), 0);
    assert!(said.contains("in the queue already: jobs"), "{said}");
    assert!(!said.contains("lost"), "{said}");
    bench.each_once("all", RUNS);
}

/// What dies each time is submitted so many times, and then given up.
fn what_dies_always_is_given_up(farm: &Farm) {
    let bench = Bench::new("slurm-broken", 2, 20);
    let broken = bench.path("all/slurm/tandem");
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, "#!/bin/sh\necho the disk is full\nexit 7\n").unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = [
        "--slurm",
        "--shards",
        "1",
        "--poll",
        "0.3",
        "--resubmit",
        "1",
    ];
    let collector = start(farm, &bench, "all", &arguments);
    let said = ended(&collector.wait_with_output().unwrap(), 1);
    for (words, times) in [
        ("submitted again", 1),
        ("given up", 1),
        ("the disk is full", 2),
    ] {
        assert_eq!(said.matches(words).count(), times, "{words:?} in:\n{said}");
    }
    assert!(said.contains("FAILED"), "{said}");
    assert!(
        said.contains("FAILED: 0 of 2 runs passed, 0 failed, 0 flaky, 2 missing"),
        "{said}"
    );
}

/// What Slurm refuses is told in its words.
fn refusals_are_told(farm: &Farm) {
    let bench = Bench::new("slurm-refused", 1, 20);
    let arguments = ["--slurm", "--partition", "nowhere"];
    let collector = start(farm, &bench, "all", &arguments);
    let said = ended(&collector.wait_with_output().unwrap(), 2);
    assert!(
        said.contains("invalid partition specified: nowhere"),
        "{said}"
    );
    let mut command = bench.command("all", &["--slurm"]);
    let said = ended(&command.env("PATH", "").output().unwrap(), 2);
    assert!(said.contains("cannot run sbatch"), "{said}");
}

#[test]
#[ignore = "starts Slurm: cargo xtask test runs it"]
fn a_farm_runs_a_regression() {
    let farm = Farm::new();
    refusals_are_told(&farm);
    killed_shards_are_run_again(&farm);
    ctrl_c_cancels_and_it_can_go_on(&farm);
    a_collector_may_be_killed(&farm);
    what_dies_always_is_given_up(&farm);
    assert_eq!(farm.active(), "", "{}", farm.logs());
}
