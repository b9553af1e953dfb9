//! All vectors on the golden model, with each scheduler; and what holds for the vectors as a whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tandem_testbench::plan;
use tandem_testbench::targets::Choice;
use tandem_testbench::vector::{self, VectorFile};
use tandem_testbench::world::{self, RunOptions};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

fn all() -> Vec<VectorFile> {
    let files = vector::find(&[folder()]).unwrap();
    files
        .iter()
        .map(|path| {
            vector::load(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect()
}

fn run_all(choice: Choice, seed: u64) {
    let mut failed = Vec::new();
    for file in all() {
        for vector in &file.vectors {
            let options = RunOptions {
                seed,
                choice,
                ..RunOptions::default()
            };
            if let Err(failure) = world::run(vector, &options) {
                let help = failure.fault.help.unwrap_or_default();
                failed.push(format!(
                    "{}: {}\n{help}",
                    vector.title(),
                    failure.fault.message
                ));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{choice:?}, seed {seed}:\n{}",
        failed.join("\n")
    );
}

#[test]
fn all_vectors_pass_with_the_fair_scheduler() {
    run_all(Choice::Fair, 1);
}

#[test]
fn all_vectors_pass_with_random_schedulers() {
    for seed in 1..=3 {
        run_all(Choice::Random, seed);
    }
}

#[test]
fn all_vectors_pass_with_the_adversarial_scheduler() {
    run_all(Choice::Adversarial, 1);
}

#[test]
fn a_vector_is_called_as_its_file() {
    for file in all() {
        let stem = file
            .path
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        assert_eq!(
            file.vectors[0].head.name.value(),
            &stem,
            "{}",
            file.path.display()
        );
    }
}

#[test]
fn every_field_bug_has_a_vector_or_a_reason() {
    let covered: BTreeSet<String> = all()
        .iter()
        .flat_map(|file| file.vectors[0].head.covers.clone())
        .map(|id| id.value().clone())
        .collect();
    let wrong: Vec<&str> = plan::field_bugs()
        .iter()
        .filter(|bug| covered.contains(&bug.id) == bug.reason.is_some())
        .map(|bug| bug.id.as_str())
        .collect();
    assert!(wrong.is_empty(), "neither, or both: {wrong:?}");
}

#[test]
fn every_vector_can_be_explained() {
    for file in all() {
        let text = vector::explain(&file.vectors[0]);
        assert!(text.contains("  1. "), "{text}");
    }
}
