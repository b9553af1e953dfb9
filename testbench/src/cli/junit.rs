//! Results as JUnit XML, for build servers.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use miette::Result;

use super::report;
use super::run::Run;

/// Writes the file.
pub fn write(path: &Path, runs: &[Run], time: Duration) -> Result<()> {
    let text = xml(runs, time);
    std::fs::write(path, text)
        .map_err(|error| miette::miette!("cannot write {}: {error}", path.display()))
}

fn xml(runs: &[Run], time: Duration) -> String {
    let failed = runs.iter().filter(|run| run.outcome.is_err()).count();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<testsuites><testsuite name=\"tandem\" tests=\"{}\" failures=\"{failed}\" time=\"{:.3}\">",
        runs.len(),
        time.as_secs_f64()
    );
    for run in runs {
        let _ = write!(
            out,
            "<testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escaped(&run.item.file.path.display().to_string()),
            escaped(&run.item.title()),
            run.time.as_secs_f64()
        );
        match &run.outcome {
            Ok(_) => out.push_str("/>\n"),
            Err(failure) => {
                let report =
                    report::fault(&run.item.file.path, &run.item.file.text, &failure.fault);
                let _ = writeln!(
                    out,
                    "><failure type=\"{}\" message=\"{}\">{}</failure></testcase>",
                    escaped(failure.kind.words()),
                    escaped(&failure.fault.message),
                    escaped(&format!(
                        "{}\n{}",
                        report::plain(&report),
                        failure.detail.as_deref().unwrap_or_default()
                    ))
                );
            }
        }
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
