//! Coverage: what vectors are counted as, on the model; and, with the coverage build of the engine, what of its code they
//! execute.
//!
//!     cargo test -p tandem-testbench --features coverage --test coverage

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tandem_testbench::coverage::Cover;
use tandem_testbench::coverage::data::{Data, Gatherer};
use tandem_testbench::coverage::functional::Hits;
use tandem_testbench::coverage::report::{Hole, Report};
use tandem_testbench::coverage::waivers::Waivers;
use tandem_testbench::vector::{self, TargetKind};
use tandem_testbench::world::{self, RunOptions};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs all cases of a vector.
fn run(name: &str, target: TargetKind, cover: &Arc<Cover>) {
    let path = root().join("testbench/vectors").join(name);
    let file = vector::load(&path).unwrap();
    for vector in &file.vectors {
        let options = RunOptions {
            target,
            seed: vector.head.seed.unwrap_or(1),
            choice: vector.head.scheduler.unwrap_or_default(),
            cover: Some(Arc::clone(cover)),
            ..RunOptions::default()
        };
        world::run(vector, &options).unwrap_or_else(|failure| panic!("{}", failure.fault.message));
    }
}

fn hits(name: &str) -> Hits {
    let cover = Arc::default();
    run(name, TargetKind::Model, &cover);
    cover.functional().hits()
}

/// How often a bin was seen.
fn seen(hits: &Hits, point: &str, bin: &str) -> u64 {
    let count = hits.get(point).and_then(|bins| bins.get(bin));
    count.copied().unwrap_or(0)
}

#[test]
fn a_send_is_seen_from_the_doorbell_to_the_completion() {
    let hits = hits("send/first.toml");
    for (point, bin) in [
        ("host/action", "SqDoorbell"),
        ("context/state", "Init × Rts"),
        ("send/request", "Send × none"),
        ("send/packet", "SendOnly × first time"),
        ("receive/request", "SendOnly × Accept"),
        ("receive/response", "Acknowledge × Accept"),
        ("receive/syndrome", "ACK × Accept"),
        ("send/retire", "Send × Success"),
        ("complete/entry", "send × Success"),
        ("complete/entry", "receive × Success"),
    ] {
        assert!(seen(&hits, point, bin) > 0, "{point}: {bin}");
    }
    // Nothing else happens in it.
    for (point, bin) in [
        ("send/packet", "SendOnly × again"),
        ("receive/request", "SendOnly × Duplicate"),
        ("host/action", "Timeout"),
        ("wire/network", "send × Lost"),
    ] {
        assert_eq!(seen(&hits, point, bin), 0, "{point}: {bin}");
    }
}

#[test]
fn a_loss_is_seen_on_the_network_and_in_the_engine() {
    let hits = hits("duplicates/send.toml");
    assert!(seen(&hits, "wire/network", "send × Copied") > 0, "{hits:?}");
    let duplicates = &hits["receive/request"];
    assert!(
        duplicates.keys().any(|bin| bin.ends_with("× Duplicate")),
        "{duplicates:?}"
    );
}

/// A folder of its own, taken away with the value.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn programs_are_added_up_and_holes_are_what_is_left() {
    let folder = folder();
    let mut counts = Vec::new();
    for name in ["send/first.toml", "duplicates/send.toml"] {
        let gatherer = Gatherer::new(folder.path(), "run", name).unwrap();
        run(name, TargetKind::Model, &gatherer.cover);
        gatherer.write().unwrap();
        counts.push(seen(
            &gatherer.cover.functional().hits(),
            "send/retire",
            "Send × Success",
        ));
    }
    let mut data = Data::default();
    data.read(folder.path()).unwrap();
    assert_eq!(data.commands, ["send/first.toml", "duplicates/send.toml"]);
    let all = data.functional.hits();
    assert_eq!(
        seen(&all, "send/retire", "Send × Success"),
        counts.iter().sum::<u64>()
    );
    let report = Report::new(&data, &Waivers::default(), &root());
    let hole = |bin: &str| Hole::Bin {
        point: "send/retire".into(),
        bin: bin.into(),
    };
    assert!(!report.holes.contains(&hole("Send × Success")));
    assert!(report.holes.contains(&hole("Bind × Success")));
    assert_eq!(
        report.holes.len(),
        report.functional.total - report.functional.covered
    );
}

#[test]
fn a_waiver_closes_a_hole_and_one_that_is_refuted_is_told() {
    let folder = folder();
    let gatherer = Gatherer::new(folder.path(), "run", "tandem").unwrap();
    run("send/first.toml", TargetKind::Model, &gatherer.cover);
    gatherer.write().unwrap();
    let mut data = Data::default();
    data.read(folder.path()).unwrap();
    let waivers = folder.path().join("waivers.toml");
    let waive = |bin: &str, claim: &str| {
        let text = format!(
            "[[functional]]\npoint = 'send/retire'\nbin = '{bin}'\nclaim = '{claim}'\nreason = 'for this test'\n"
        );
        std::fs::write(&waivers, text).unwrap();
        Report::new(&data, &Waivers::read(&waivers).unwrap(), &root())
    };
    let open = waive("nothing", "unreachable");
    let closed = waive("Bind × *", "unreachable");
    assert!(closed.functional.total < open.functional.total && closed.refuted.is_empty());
    let refuted = waive("Send × Success", "unreachable").refuted;
    assert_eq!(refuted.len(), 1);
    assert_eq!(refuted[0].what, "send/retire: Send × Success");
    // What could be tested may be.
    assert!(waive("Send × Success", "untested").refuted.is_empty());
}

#[test]
fn a_folder_that_is_wrong_is_told_of() {
    let folder = folder();
    let read = || Data::default().read(folder.path()).unwrap_err().to_string();
    assert!(read().contains("no coverage data"), "{}", read());
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("run-1.json", "{");
    assert!(read().contains("run-1.json"), "{}", read());
    write(
        "run-1.json",
        r#"{"format": 9, "command": "x", "functional": {}}"#,
    );
    assert!(read().contains("format 9"), "{}", read());
    write(
        "run-1.json",
        r#"{"format": 1, "command": "x", "functional": {"send/retire": {"Sand × Success": 1}}}"#,
    );
    assert!(read().contains("no bin `Sand × Success`"), "{}", read());
    write(
        "run-1.json",
        r#"{"format": 1, "command": "x", "functional": {}}"#,
    );
    write("run-1.dat", "# SystemC::Coverage-3\nC 'nothing'\n");
    assert!(read().contains("run-1.dat:2"), "{}", read());
}

#[cfg(feature = "coverage")]
#[test]
fn a_vector_on_the_coverage_build_counts_code_of_every_room() {
    use tandem_testbench::coverage::code::{Kind, room};

    let cover = Arc::default();
    run("send/first.toml", TargetKind::Rtl, &cover);
    let points = cover.code().unwrap();
    for kind in [Kind::Line, Kind::Branch, Kind::Toggle, Kind::Expr] {
        let of_kind = || points.iter().filter(|(spot, _)| spot.kind == kind);
        let hit = of_kind().filter(|(_, count)| *count > 0).count();
        assert!(of_kind().count() > 100 && hit > 10, "{kind}: {hit}");
    }
    for (spot, _) in points.iter() {
        let source = root().join(&spot.file);
        assert!(source.is_file(), "{}", spot.file);
    }
    let rooms: std::collections::BTreeSet<&str> =
        points.iter().map(|(spot, _)| room(&spot.file)).collect();
    for wanted in ["host", "context", "send", "receive", "wire", "complete"] {
        assert!(rooms.contains(wanted), "{wanted} is not among {rooms:?}");
    }
    // The engine in lockstep is seen as the model is.
    let hits = cover.functional().hits();
    assert!(seen(&hits, "send/packet", "SendOnly × first time") > 0);
}
