//! Steps, and what they show.

use super::*;
use crate::vector;

/// What the steps show, on a pair of queue pairs with one silent send of context 1 before them.
fn of(steps: &str) -> Vec<String> {
    let head = "name = \"x\"\nabout = \"x\"\nsetup = \"pair\"\n";
    let silent = "[[steps]]\nsend = \"qa\"\ncontext = 1\nflags = [\"SILENT_SUCCESS\"]\n";
    let vectors = vector::checked(&format!("{head}{silent}{steps}")).unwrap();
    let mut shown: Vec<String> = vectors
        .iter()
        .flat_map(shown)
        .map(|shown| {
            let outcome = shown.outcome.to_string().replace("STATUS_", "");
            let words: Vec<&str> = outcome.split_whitespace().collect();
            format!(
                "{:?} {:#x} {}",
                shown.operation,
                shown.flags,
                words.join(" ")
            )
        })
        .collect();
    shown.sort();
    shown
}

const SILENT: &str = "Send 0x1 completes SUCCESS";

#[test]
fn a_later_success_tells_of_silent_ones() {
    let shown = of(
        "[[steps]]\nsend = \"qa\"\ncontext = 2\n[[steps]]\nexpect_results = \"ca\"\nresults = [{ context = 2 }]",
    );
    assert_eq!(shown, ["Send 0x0 completes SUCCESS", SILENT]);
    let shown = of("[[steps]]\nexpect_no_results = \"ca\"");
    assert_eq!(shown, [SILENT]);
    let held = "[[network]]\nhold = true\n[[steps]]\nexpect_no_results = \"ca\"";
    assert!(of(held).is_empty(), "it may be under way");
}

#[test]
fn a_failing_silent_one_has_its_result() {
    let failed = "[[steps]]\nflush = \"qa\"\n[[steps]]\nexpect_results = \"ca\"\nresults = [{ status = \"STATUS_CANCELLED\", context = 1 }]";
    let expected = [
        "Flush 0x0 completes CANCELLED",
        "Send 0x1 completes CANCELLED",
    ];
    assert_eq!(of(failed), expected);
}

#[test]
fn calls_that_fail_show_their_status() {
    let refused = "[[steps]]\nreceive = \"qa\"\nreturns = \"STATUS_NO_MORE_ENTRIES\"";
    assert_eq!(of(refused), ["Receive 0x0 returns NO_MORE_ENTRIES"]);
    let unknown = "[[steps]]\nsend = \"qa\"\nflags = 0x400\nreturns = \"STATUS_INVALID_PARAMETER\"";
    assert!(of(unknown).is_empty());
}

#[test]
fn what_is_unclear_shows_nothing() {
    // A send and a receive, one completion queue, a result that could be of either.
    let either = "[[steps]]\nreceive = \"qa\"\n[[steps]]\nsend = \"qa\"\n[[steps]]\nexpect_results = \"ca\"\nresults = [{}]";
    assert!(of(either).is_empty());
    let typed = either.replace("[{}]", "[{ type = \"Receive\" }, { type = \"Send\" }]");
    let expected = [
        "Receive 0x0 completes SUCCESS",
        "Send 0x0 completes SUCCESS",
        SILENT,
    ];
    assert_eq!(of(&typed), expected);
    let other = "[[steps]]\nexpect_results = \"ca\"\nresults = [{ context = 9 }]";
    assert!(of(other).is_empty());
}

#[test]
fn accounts_count_what_a_post_says_of_itself() {
    let account = "[[steps]]\nsend = \"qa\"\nends = [\"STATUS_IO_TIMEOUT\"]\n[[steps]]\nread = \"qa\"\nremote = { address = 0, token = 0 }\nends = [\"STATUS_SUCCESS\", \"STATUS_CANCELLED\"]\n[[steps]]\nexpect_accounted = \"settled\"";
    assert_eq!(of(account), ["Send 0x0 completes IO_TIMEOUT"]);
}
