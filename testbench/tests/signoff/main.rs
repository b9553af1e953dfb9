//! The signoff: what counts against it, and the page that tells so.

mod browser;
mod chromium;
mod fixture;

use std::path::Path;

use fixture::{failure, signoff};
use tandem_testbench::signoff::{Evidence, Signoff, Standing, page};
use tandem_testbench::timing::Timings;

#[test]
fn each_reason_against_it_is_told() {
    let against = |signoff: &Signoff| signoff.verdict().against.join("\n");
    let mut all = signoff(&[]);
    let usual = against(&all);
    assert!(
        usual.contains("lines of the RTL were not counted"),
        "{usual}"
    );
    assert!(!usual.contains("vectors"), "{usual}");
    all.steps[0].passed = Some(false);
    assert!(against(&all).contains("vectors failed: all passed"));
    all.steps[0].passed = None;
    assert!(against(&all).contains("vectors was left out"));
    all.wanted.functional = 100.0;
    assert!(against(&all).contains("0.00 % of the bins of cover points"));
    all.coverage = None;
    assert!(against(&all).contains("coverage was not counted"));
    all.evidence.push(Evidence {
        name: "formal".into(),
        command: "x".into(),
        commit: None,
        passed: false,
        summary: "a counterexample".into(),
        findings: Vec::new(),
    });
    assert!(against(&all).contains("formal: a counterexample"));
}

#[test]
fn a_requirement_whose_vector_failed_is_not_covered() {
    let failed = signoff(&["testbench/vectors/send/first.toml"]);
    let row = failed
        .plan
        .iter()
        .find(|row| row.id == "NDK-SEND-2")
        .unwrap();
    assert_eq!(row.standing, Standing::Failed);
    let against = failed.verdict().against.join("\n");
    assert!(
        against.contains("requirements have a vector that failed"),
        "{against}"
    );
    let row = |signoff: &Signoff| {
        let mut rows = signoff.plan.iter();
        rows.find(|row| row.id == "NDK-SEND-2").unwrap().standing
    };
    assert_eq!(row(&signoff(&[])), Standing::Covered);
}

#[test]
fn the_page_needs_nothing_else_and_lets_nothing_through() {
    let mut all = signoff(&[]);
    all.failures.push(failure(Timings::new()));
    let page = page::html(&all);
    assert!(page.contains("Not signed off"));
    assert!(!page.contains("<script>alert") && !page.contains("<b>bold"));
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Each link inside leads somewhere.
    let mut links = 0;
    for link in page.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        links += 1;
    }
    assert!(links > 500, "{links}");
    for row in &all.plan {
        assert!(page.contains(&format!("id=\"{}\"", row.id)), "{}", row.id);
    }
}

#[test]
fn evidence_is_read_or_told_to_be_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let read = || Evidence::read(folder.path()).map_err(|error| error.to_string());
    assert_eq!(read().unwrap(), []);
    let path = folder.path().join("formal.json");
    let good = r#"{"name": "formal", "command": "c", "commit": null, "passed": true, "summary": "s",
        "findings": [{"name": "n", "passed": true}]}"#;
    std::fs::write(&path, good).unwrap();
    assert_eq!(read().unwrap()[0].findings[0].name, "n");
    std::fs::write(&path, r#"{"name": "formal"}"#).unwrap();
    let error = read().unwrap_err();
    assert!(
        error.contains("formal.json") && error.contains("command"),
        "{error}"
    );
    assert_eq!(Evidence::read(Path::new("no/such/folder")).unwrap(), []);
}
