//! All vectors on the Verilated engine, each action checked by the golden model; and worlds of both kinds.
#![cfg(feature = "rtl")]

use std::collections::BTreeMap;
use std::path::Path;

use tandem_testbench::vector::{self, TargetKind};
use tandem_testbench::world::{self, RunOptions};

fn run_all(options: &RunOptions) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let (mut failed, mut runs) = (Vec::new(), 0);
    for path in vector::find(&[folder]).unwrap() {
        let file =
            vector::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for vector in &file.vectors {
            runs += 1;
            if let Err(failure) = world::run(vector, options) {
                let help = failure.fault.help.unwrap_or_default();
                failed.push(format!(
                    "{}: {}\n{help}",
                    vector.title(),
                    failure.fault.message
                ));
            }
        }
    }
    assert!(failed.is_empty(), "{options:?}:\n{}", failed.join("\n"));
    assert!(runs >= 40, "only {runs} vectors");
}

#[test]
fn all_vectors_pass_on_the_engine_in_lockstep() {
    run_all(&RunOptions {
        target: TargetKind::Rtl,
        seed: 1,
        ..RunOptions::default()
    });
}

#[test]
fn all_vectors_pass_in_a_world_of_both_kinds() {
    let node_targets = BTreeMap::from([
        ("a".to_owned(), TargetKind::Model),
        ("b".to_owned(), TargetKind::Rtl),
    ]);
    let options = RunOptions {
        target: TargetKind::Rtl,
        node_targets,
        seed: 2,
        ..RunOptions::default()
    };
    run_all(&options);
}
