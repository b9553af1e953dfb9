//! Captures of a real Linux peer.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use tandem_model::wire::Opcode;
use tandem_testbench::blackbox::{self, Options, QUIRKS, Weight};

use crate::change::Capture;
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

/// Whether a way of Linux is met in a capture that was changed.
fn meets(capture: &Capture, options: &Options, name: &str) -> bool {
    let report = blackbox::check(&capture.0, options);
    let named = |weight| matches!(weight, Weight::Quirk(quirk) if quirk.name == name);
    report.findings.iter().any(|finding| named(finding.weight))
}

#[test]
fn ways_that_the_captures_do_not_show_are_known_too() {
    let anywhere = Options::default();
    // What is on its way is no excuse: all of it at once, then ever later.
    let hurry = |capture: &mut Capture| {
        let start = capture.0[0].time;
        for (packet, step) in capture.0.iter_mut().zip(0u64..) {
            packet.time = start + Duration::from_micros(step * step);
        }
    };
    let mut told = Capture(linux("rnr_nak.pcap"));
    let refused = told.nth(Opcode::Acknowledge, 0);
    let at = told.copy(refused, refused + 1);
    told.syndrome(at, 0x60);
    assert!(meets(&told, &anywhere, "nak-after-rnr"));

    let mut sends = Capture(linux("rnr_nak.pcap"));
    let (refused, sent) = (
        sends.nth(Opcode::Acknowledge, 0),
        sends.nth(Opcode::SendOnly, 0),
    );
    let at = sends.copy(sent, refused + 1);
    sends.psn(at, 1);
    hurry(&mut sends);
    assert!(meets(&sends, &anywhere, "sends-during-rnr"));

    let mut endless = Capture(linux("lost_tail.a.pcap"));
    (0..8).for_each(|_| {
        endless.copy(0, 1);
    });
    let here = Options {
        at: [[10, 77, 0, 1].into()].into(),
        ..Options::default()
    };
    assert!(meets(&endless, &here, "endless-retries"));
    assert!(
        !meets(&endless, &anywhere, "endless-retries"),
        "the network may have made copies"
    );

    let mut refusal = Capture(linux("send_invalidate.pcap"));
    let at = refusal.nth(Opcode::Acknowledge, 1);
    refusal.msn(at, -1);
    assert!(meets(&refusal, &anywhere, "refusal-acknowledged"));
}

#[test]
fn frames_that_are_cut_excuse_what_is_behind_them() {
    let mut packets = linux("send_recv.pcap");
    for packet in &mut packets {
        packet.bytes.truncate(200);
    }
    let report = blackbox::check(&packets, &Options::default());
    assert_eq!(violations(&report), [""; 0]);
    assert!(report.cut > 5 && report.explained().count() > 0);
    assert!(report.connections[0].excuse.is_some());
}
