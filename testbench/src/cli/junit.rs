//! Results as JUnit XML, for build servers.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::Result;

use super::report;
use super::run::Run;

/// A run.
pub struct Case {
    /// Where its vector stands.
    pub file: PathBuf,
    /// Its name.
    pub name: String,
    /// How long it took.
    pub seconds: f64,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a run.
pub enum Outcome {
    /// It passed.
    Passed,
    /// It did not.
    Failed(Failed),
    /// It was not run: why.
    Error(String),
}

/// How a run failed.
pub struct Failed {
    /// What sort of failure it is, in words.
    pub kind: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What a person is told.
    pub report: String,
}

impl Case {
    fn of(run: &Run) -> Self {
        let path = &run.item.file.path;
        let outcome = match &run.outcome {
            Ok(_) => Outcome::Passed,
            Err(failure) => {
                let report = report::fault(path, &run.item.file.text, &failure.fault);
                let detail = failure.detail.as_deref().unwrap_or_default();
                Outcome::Failed(Failed {
                    kind: failure.kind.words().into(),
                    message: failure.fault.message.clone(),
                    report: format!("{}\n{detail}", report::plain(&report)),
                })
            }
        };
        Self {
            file: path.clone(),
            name: run.item.title(),
            seconds: run.time.as_secs_f64(),
            outcome,
        }
    }
}

/// Writes the file.
pub fn write(path: &Path, runs: &[Run], time: Duration) -> Result<()> {
    let cases: Vec<Case> = runs.iter().map(Case::of).collect();
    write_cases(path, &cases, time)
}

/// Writes the file, of any cases.
pub fn write_cases(path: &Path, cases: &[Case], time: Duration) -> Result<()> {
    let text = xml(cases, time);
    std::fs::write(path, text)
        .map_err(|error| miette::miette!("cannot write {}: {error}", path.display()))
}

fn xml(cases: &[Case], time: Duration) -> String {
    let count = |wanted: fn(&Outcome) -> bool| {
        let outcomes = cases.iter().map(|case| &case.outcome);
        outcomes.filter(|outcome| wanted(outcome)).count()
    };
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<testsuites><testsuite name=\"tandem\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">",
        cases.len(),
        count(|outcome| matches!(outcome, Outcome::Failed(..))),
        count(|outcome| matches!(outcome, Outcome::Error(_))),
        time.as_secs_f64()
    );
    for case in cases {
        let _ = write!(
            out,
            "<testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escaped(&case.file.display().to_string()),
            escaped(&case.name),
            case.seconds
        );
        let _ = match &case.outcome {
            Outcome::Passed => writeln!(out, "/>"),
            Outcome::Failed(failed) => writeln!(
                out,
                "><failure type=\"{}\" message=\"{}\">{}</failure></testcase>",
                escaped(&failed.kind),
                escaped(&failed.message),
                escaped(&failed.report)
            ),
            Outcome::Error(why) => {
                writeln!(out, "><error message=\"{}\"/></testcase>", escaped(why))
            }
        };
    }
    out.push_str("</testsuite></testsuites>\n");
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_breaks_the_markup() {
        assert_eq!(
            super::escaped("a<b & \"c\"\u{1b}"),
            "a&lt;b &amp; &quot;c&quot;?"
        );
    }
}
