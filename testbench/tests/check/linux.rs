//! Captures of a real Linux peer.

use std::collections::BTreeSet;
use std::fs;

use tandem_testbench::blackbox::{self, Options, QUIRKS, Weight};

use crate::support::{linux, repository, violations};

fn names() -> Vec<String> {
    let folder = repository("model/tests/data/rxe-captures");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".pcap"))
        .collect();
    names.sort();
    names
}

#[test]
fn all_captures_of_linux_pass() {
    assert_eq!(names().len(), 35);
    let mut wrong = Vec::new();
    for name in names() {
        let packets = linux(&name);
        let report = blackbox::check(&packets, &Options::default());
        wrong.extend(
            violations(&report)
                .iter()
                .map(|line| format!("{name}, {line}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ways_of_linux_are_listed_and_count_if_asked() {
    let mut met = BTreeSet::new();
    for name in names() {
        let packets = linux(&name);
        let report = blackbox::check(&packets, &Options::default());
        for finding in report.quirks() {
            if let Weight::Quirk(quirk) = finding.weight {
                met.insert((quirk.name, finding.id));
            }
        }
        let quirks = report.quirks().count();
        let strict = Options {
            strict: true,
            ..Options::default()
        };
        let strict = blackbox::check(&packets, &strict);
        assert_eq!(strict.violations().count(), quirks, "{name}");
    }
    let expected = [
        ("mad-asks", "WIRE-CM-15"),
        ("not-filled", "WIRE-FRM-8"),
        ("rest-continues", "WIRE-RD-4"),
    ];
    assert_eq!(met, BTreeSet::from(expected));
    assert!(
        met.iter()
            .all(|(name, _)| QUIRKS.iter().any(|quirk| quirk.name == *name))
    );
}
