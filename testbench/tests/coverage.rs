//! The coverage build of the engine: one vector in lockstep, and the data that Verilator writes.
//!
//!     cargo test -p tandem-testbench --features coverage --test coverage
#![cfg(feature = "coverage")]

use std::path::Path;

use tandem_testbench::vector::{self, TargetKind};
use tandem_testbench::world::{self, RunOptions};

/// Points of one kind in a file: all, and those that were hit.
fn points(data: &str, kind: &str) -> (usize, usize) {
    // A line is C '<fields>' <count>, a field \x01<name>\x02<value>; the kind of a point is its page.
    let page = format!("\u{1}page\u{2}v_{kind}/");
    let counts: Vec<u64> = data
        .lines()
        .filter(|line| line.contains(&page))
        .filter_map(|line| line.rsplit(' ').next()?.parse().ok())
        .collect();
    let hit = counts.iter().filter(|count| **count > 0).count();
    (counts.len(), hit)
}

#[test]
fn a_vector_on_the_coverage_build_writes_coverage_data() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = vector::load(&root.join("vectors/send/first.toml")).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("coverage.dat");
    let options = RunOptions {
        target: TargetKind::Rtl,
        seed: 1,
        coverage: Some(path.clone()),
        ..RunOptions::default()
    };
    world::run(&file.vectors[0], &options)
        .unwrap_or_else(|failure| panic!("{}", failure.fault.message));
    for node in ["a", "b"] {
        let written = path.with_file_name(format!("coverage.{node}.dat"));
        let data = std::fs::read_to_string(&written).unwrap();
        assert!(data.starts_with("# SystemC::Coverage"), "{written:?}");
        for kind in ["line", "toggle", "expr"] {
            let (all, hit) = points(&data, kind);
            assert!(all > 100 && hit > 10, "{kind}: {hit} of {all}");
        }
        std::fs::remove_file(written).unwrap();
    }
}
