//! Plans that are wrong, and what is said about them, word for word: `broken/<name>.txt`. To write the texts anew, run
//! with `TANDEM_BLESS=1`.

use super::repository::{compare, put, tandem, text};

const TRANSFERS: &str = "testbench/plan/ndk/transfers.toml";
const OPEN: &str = "testbench/plan/open.toml";
const VECTOR: &str = "testbench/vectors/send.toml";
const TESTS: &str = "model/tests/results.rs";
const PROOF: &str = "rtl/formal/distance.sv";

/// A name, a file, what stands there, and what shall.
const PLANS: [(&str, &str, &str, &str); 18] = [
    ("gap", TRANSFERS, "[2, \"posting\"", "[5, \"posting\""),
    ("no_duty", TRANSFERS, "\"open\"", "\"later\""),
    ("twice", TRANSFERS, "NDK-LAM\"", "NDK-READ\""),
    (
        "no_toml",
        TRANSFERS,
        "prefix = \"NDK-READ\"",
        "prefix = NDK-READ",
    ),
    ("unknown_key", TRANSFERS, "about", "abuot"),
    ("reason_of_nothing", TRANSFERS, "NDK-LAM-2 =", "NDK-LAM-9 ="),
    (
        "reason_of_the_consumer",
        TRANSFERS,
        "NDK-LAM-2 =",
        "NDK-LAM-3 =",
    ),
    (
        "reason_and_covered",
        TRANSFERS,
        "NDK-LAM-2 =",
        "NDK-READ-3 =",
    ),
    ("open_and_covered", OPEN, "NDK-LAM-1", "NDK-READ-3"),
    ("open_with_a_reason", OPEN, "NDK-LAM-1", "NDK-LAM-2"),
    (
        "open_twice",
        OPEN,
        "\"NDK-LAM-1\"",
        "\"NDK-LAM-1\", \"NDK-LAM-1\"",
    ),
    ("open_not_a_duty", OPEN, "NDK-LAM-1", "NDK-LAM-3"),
    ("open_empty_group", OPEN, "\"NDK-LAM-1\"", ""),
    (
        "open_empty",
        OPEN,
        "[[open]]\nmissing = \"logical address mappings\"\nids = [\"NDK-LAM-1\"]",
        "",
    ),
    ("covered_by_nothing", VECTOR, "\"NDK-READ-1\", ", ""),
    ("claim_of_nothing", TESTS, "NDK-READ-2", "NDK-READ-77"),
    (
        "claim_by_nothing",
        TESTS,
        "fn contexts",
        "pub struct Contexts",
    ),
    ("claim_by_no_assertion", PROOF, "a_signed: assert", "assume"),
];

#[test]
fn every_broken_plan_gets_its_message() {
    let mut wrong = Vec::new();
    for (name, file, from, to) in PLANS {
        let root = put(name, Some((file, from, to)));
        let output = tandem(&root, &["plan", "NDK-LAM-1"]);
        assert!(!output.status.success(), "{name} was taken");
        wrong.extend(compare(&format!("broken/{name}.txt"), &text(&output)).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const MATRIX: &str = "testbench/plan/matrix.toml";

/// The same of the matrix.
const MATRICES: [(&str, &str, &str, &str); 7] = [
    ("matrix_flag", MATRIX, "INLINE", "IN_LINE"),
    (
        "matrix_status",
        MATRIX,
        "STATUS_CANCELLED",
        "STATUS_CANCELED",
    ),
    ("matrix_operation", MATRIX, "\"Receive\"", "\"Recieve\""),
    ("matrix_twice", MATRIX, "\"Receive\"", "\"Send\""),
    (
        "matrix_never_of_nothing",
        MATRIX,
        "flags = [\"INLINE\"]",
        "flags = [\"DEFER\"]",
    ),
    (
        "matrix_never_without_reason",
        MATRIX,
        "why = \"inline requests have any number of elements\"",
        "",
    ),
    (
        "matrix_unforeseen",
        MATRIX,
        "flags = [\"SILENT_SUCCESS\", \"INLINE\"]",
        "flags = [\"INLINE\"]",
    ),
];

#[test]
fn every_broken_matrix_gets_its_message() {
    let mut wrong = Vec::new();
    for (name, file, from, to) in MATRICES {
        let root = put(name, Some((file, from, to)));
        let output = tandem(&root, &["list", "--matrix"]);
        assert!(!output.status.success(), "{name} was taken");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        wrong.extend(compare(&format!("broken/{name}.txt"), &said).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn requirements_and_folders_that_are_not_there() {
    let root = put("asked", None);
    let output = tandem(&root, &["plan", "NDK-READ-77"]);
    assert!(text(&output).contains("known are NDK-READ-1 to NDK-READ-4"));
    let output = tandem(&root, &["plan", "--root", "nowhere"]);
    let said = text(&output);
    assert!(
        said.contains("cannot read nowhere/testbench/plan/ndk"),
        "{said}"
    );
}
