//! The plan: every requirement is in it, and every provider duty is covered or known to be open.

mod broken;
mod golden;
mod repository;

use std::path::Path;

use tandem_testbench::plan::{Duty, Matrix, Plan, Requirement};
use tandem_testbench::vector;

/// How many requirements each set has.
const COUNTS: [(&str, u16); 76] = [
    ("NDK-ACC", 4),
    ("NDK-ADDR", 3),
    ("NDK-ARM", 6),
    ("NDK-BIND", 11),
    ("NDK-CAP", 11),
    ("NDK-CCON", 5),
    ("NDK-CLS", 6),
    ("NDK-CMPL", 14),
    ("NDK-CNX", 5),
    ("NDK-CONN", 12),
    ("NDK-CQC", 4),
    ("NDK-CQCB", 5),
    ("NDK-CRT", 4),
    ("NDK-DEFER", 8),
    ("NDK-DEV", 5),
    ("NDK-DISC", 8),
    ("NDK-EPT", 5),
    ("NDK-FINI", 5),
    ("NDK-FLUSH", 4),
    ("NDK-FREG", 16),
    ("NDK-GCD", 5),
    ("NDK-GCQ", 3),
    ("NDK-HDR", 4),
    ("NDK-INVAL", 6),
    ("NDK-LAM", 8),
    ("NDK-LEE", 4),
    ("NDK-LEP", 22),
    ("NDK-LSTN", 4),
    ("NDK-MOD", 14),
    ("NDK-NCAP", 3),
    ("NDK-OBJ", 11),
    ("NDK-OIDQ", 5),
    ("NDK-OLEP", 2),
    ("NDK-OPEN", 4),
    ("NDK-OPT", 2),
    ("NDK-OVW", 5),
    ("NDK-POST", 6),
    ("NDK-QPC", 5),
    ("NDK-READ", 28),
    ("NDK-RECV", 4),
    ("NDK-REJ", 3),
    ("NDK-RES", 10),
    ("NDK-RMR", 8),
    ("NDK-RQC", 2),
    ("NDK-RSZ", 3),
    ("NDK-SEND", 9),
    ("NDK-SET", 4),
    ("NDK-SGE", 7),
    ("NDK-SINV", 29),
    ("NDK-SRQ", 7),
    ("NDK-SRQR", 3),
    ("NDK-STAT", 7),
    ("NDK-TOK", 4),
    ("NDK-WRITE", 10),
    ("WIRE-ACK", 16),
    ("WIRE-ADR", 3),
    ("WIRE-BTH", 12),
    ("WIRE-CM", 15),
    ("WIRE-CNP", 3),
    ("WIRE-DUP", 11),
    ("WIRE-EXT", 10),
    ("WIRE-FRM", 15),
    ("WIRE-ICRC", 10),
    ("WIRE-INV", 10),
    ("WIRE-KEY", 9),
    ("WIRE-MW", 4),
    ("WIRE-NAK", 16),
    ("WIRE-ORD", 6),
    ("WIRE-PSN", 8),
    ("WIRE-QP", 7),
    ("WIRE-RD", 8),
    ("WIRE-RNR", 11),
    ("WIRE-SEG", 12),
    ("WIRE-TMO", 8),
    ("WIRE-UDP", 2),
    ("WIRE-XOP", 4),
];

fn plan() -> Plan {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Plan::read(&root).unwrap_or_else(|error| panic!("{error}; `tandem plan` says where"))
}

#[test]
fn every_requirement_is_there() {
    let plan = plan();
    let counts = plan.tables.prefixes().iter();
    let counts: Vec<(&str, u16)> = counts
        .map(|(prefix, last)| (prefix.as_str(), *last))
        .collect();
    assert_eq!(counts, COUNTS);
    let of = |ndk: bool| -> Vec<&Requirement> {
        plan.tables
            .rows()
            .iter()
            .filter(|row| row.is_ndk() == ndk)
            .collect()
    };
    let duties = |rows: &[&Requirement]| {
        [Duty::Provider, Duty::Consumer, Duty::Open]
            .map(|duty| rows.iter().filter(|row| row.duty == duty).count())
    };
    assert_eq!(duties(&of(true)), [358, 24, 10]);
    assert_eq!(duties(&of(false)), [198, 2, 0]);
}

#[test]
fn the_layers_of_ndkpi_have_their_requirements() {
    let layers = [
        ("completion", 93),
        ("posting", 64),
        ("memory", 58),
        ("connection", 51),
        ("provider-sw", 49),
        ("oid", 49),
        ("engine", 17),
        ("wire", 11),
    ];
    let plan = plan();
    let rows = || plan.tables.rows().iter().filter(|row| row.is_ndk());
    for (layer, count) in layers {
        assert_eq!(
            rows().filter(|row| row.layer == layer).count(),
            count,
            "{layer}"
        );
    }
}

#[test]
fn every_provider_duty_is_covered_or_known_to_be_open() {
    let plan = plan();
    let forgotten = plan.open.forgotten(&plan.tables, &plan.coverage);
    let ids: Vec<&str> = forgotten.iter().map(|duty| duty.id.as_str()).collect();
    assert!(ids.is_empty(), "covered by nothing: {ids:?}");
}

#[test]
fn vectors_show_only_what_the_matrix_has() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = vector::find(&[here.join("vectors")]).unwrap();
    let files: Vec<_> = files
        .iter()
        .map(|path| vector::load(path).unwrap())
        .collect();
    let matrix = Matrix::read(&here.join("plan/matrix.toml"), &files).unwrap();
    assert!(matrix.unforeseen.is_empty(), "{:?}", matrix.unforeseen);
}
